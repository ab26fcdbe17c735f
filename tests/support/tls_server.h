// An HTTPS server inside the test, which does to its clients what the test's script says.
//
// Each connection has a thread that runs the script from top to bottom: shake hands, read a
// request, wait at a gate, send some bytes, break off. Blocking code reads like the story it tells.
// Nothing waits for time: a script waits for a Gate that the test opens, and the test learns of
// every event through `changed`. It shares no code with the client under test.
#pragma once

#include "tests/support/certificates.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace tests {

// Closed until it is opened, once and for all.
class Gate {
 public:
  void open();
  // False if it was not opened before the stop was asked for.
  bool wait(const std::stop_token& stop);

 private:
  std::mutex mutex_;
  std::condition_variable_any opened_;
  bool open_ = false;
};

struct ReceivedRequest {
  int connection = 0;  // from 1, in the order of acceptance
  std::string method;
  std::string target;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;

  // The value, or nothing said ("").
  [[nodiscard]] std::string header(const std::string& name) const;
};

class ServerConnection;
using Script = std::function<void(ServerConnection&)>;

struct ServerOptions {
  Identity identity = {};
  std::string client_ca_pem = {};  // not empty: a client certificate of this authority is required
  bool tls = true;
  std::function<void()> changed = {};  // called from other threads after each event
};

class TlsServer {
 public:
  TlsServer(ServerOptions options, Script script);
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;
  // Breaks off all connections and waits for their scripts to end.
  ~TlsServer();

  [[nodiscard]] std::uint16_t port() const { return port_; }

  // What has been received so far, in order.
  [[nodiscard]] std::vector<ReceivedRequest> requests() const;
  [[nodiscard]] int accepted() const;
  // Connections with a script that has not ended, now and at most.
  [[nodiscard]] int open_now() const;
  [[nodiscard]] int open_at_most() const;
  // Scripts that saw the client's end of the connection closed while they waited for a request.
  [[nodiscard]] int closed_by_client() const;

 private:
  friend class ServerConnection;
  struct Tls;
  struct Counts {
    int accepted = 0;
    int open_now = 0;
    int open_at_most = 0;
    int closed_by_client = 0;
  };

  void accept_connections(const std::stop_token& stop);
  void serve(int socket, int number, const std::stop_token& stop);
  void note(const std::function<void(Counts&)>& change);

  ServerOptions options_;
  Script script_;
  std::unique_ptr<Tls> tls_;
  int listening_ = -1;
  std::uint16_t port_ = 0;

  mutable std::mutex mutex_;
  Counts counts_;
  std::vector<ReceivedRequest> requests_;
  std::vector<int> sockets_;  // of the connections being served
  std::vector<std::jthread> serving_;
  std::jthread accepting_;
};

// One connection, as a script sees it. It is closed, cleanly, when the script ends.
class ServerConnection {
 public:
  ServerConnection(TlsServer& server, int socket, int number, std::stop_token stop);
  ServerConnection(const ServerConnection&) = delete;
  ServerConnection& operator=(const ServerConnection&) = delete;
  ~ServerConnection();

  [[nodiscard]] int number() const { return number_; }

  // False if it failed; a plain server has nothing to do. To be called first.
  bool handshake();
  // The next request, whole; nullopt if the client closed the connection or the server stops.
  std::optional<ReceivedRequest> read_request();
  // False if the client is gone, or did not read for as long as is set here.
  bool send(std::string_view bytes);
  void give_up_sending_after(std::chrono::milliseconds patience);
  // False if the server stops.
  bool wait(Gate& gate) { return gate.wait(stop_); }
  [[nodiscard]] bool stopping() const { return stop_.stop_requested(); }
  // Reads and drops until the client closes.
  void wait_for_close();
  // The server name that the client asked for in its handshake; empty: none.
  [[nodiscard]] std::string server_name() const;
  // The common name of the client's certificate; empty: it showed none.
  [[nodiscard]] std::string client_name() const;

  // Without a word of farewell in TLS: a FIN, or an RST.
  void drop();
  void reset();

 private:
  struct Session;
  int read_some(char* into, int size);

  TlsServer& server_;
  int socket_;
  int number_;
  std::stop_token stop_;
  std::unique_ptr<Session> session_;
  std::string buffered_;
};

// "HTTP/1.1 200 OK" with that body.
[[nodiscard]] std::string ok(std::string_view body);
[[nodiscard]] std::string answer(int status, std::string_view headers, std::string_view body);

// Shakes hands, then answers each request by what `handler` makes of it, until the client closes.
[[nodiscard]] Script answering(std::function<std::string(const ReceivedRequest&)> handler);

}  // namespace tests
