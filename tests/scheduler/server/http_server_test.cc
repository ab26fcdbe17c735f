// The server over real sockets on the loopback interface.
#include "scheduler/server/http_server.h"

#include "scheduler/server/serving_certificate.h"
#include "tests/support/catch.h"
#include "tests/support/https_connection.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using sched::server::HttpServer;
using sched::server::Reply;
using sched::server::Request;
using sched::server::ServingCertificate;
using sched::server::text_reply;
using std::chrono::milliseconds;
using tests::HttpsConnection;

// A server on a free port, on a loop with a thread of its own.
class Bench {
 public:
  enum class Tls { kNo, kYes };
  explicit Bench(Tls tls = Tls::kNo, milliseconds time_limit = HttpServer::kTimeLimit) {
    if (tls == Tls::kYes) {
      auto made = ServingCertificate::make({}, "127.0.0.1", std::chrono::steady_clock::now, {});
      REQUIRE(made);
      certificate_ = std::move(*made);
    }
    auto listening = HttpServer::listen(
        *loop_,
        {.address = "127.0.0.1:0",
         .max_connections = 64,
         .time_limit = time_limit,
         .certificate = certificate_.get()},
        [this](const Request& request, HttpServer::Answer answer) {
          handle(request, std::move(answer));
        },
        {.on_problem = [this](const k8s::Error& error,
                              milliseconds retry_in) { note(error.message, retry_in); },
         .on_progress = [] {}});
    REQUIRE(listening);
    server_ = std::move(*listening);
    port = server_->port();
    thread_ = std::thread([this] { loop_->run(); });
  }
  ~Bench() {
    loop_->stop();
    thread_.join();
  }

  // Sends `request` and reads until the server closes.
  [[nodiscard]] std::string exchange(const std::string& request) const {
    return exchange(request, connect());
  }
  // The answer to a GET, over TLS where the server has it.
  [[nodiscard]] std::string get(const std::string& target) const {
    const std::string request = "GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n";
    return has_tls() ? HttpsConnection(port).exchange(request) : exchange(request);
  }
  [[nodiscard]] bool has_tls() const { return certificate_ != nullptr; }
  // The same over a connection that the kernel has taken up already.
  [[nodiscard]] static std::string exchange(const std::string& request, int socket) {
    REQUIRE(send(socket, request.data(), request.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(request.size()));
    return read_all(socket);
  }
  // Until the server closes.
  [[nodiscard]] static std::string read_all(int socket) {
    std::string answer;
    std::array<char, 4096> chunk{};
    for (ssize_t n = 0; (n = recv(socket, chunk.data(), chunk.size(), 0)) > 0;) {
      answer.append(chunk.data(), static_cast<std::size_t>(n));
    }
    close(socket);
    return answer;
  }

  int connect(int socket = ::socket(AF_INET, SOCK_STREAM, 0)) const {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
    return socket;
  }

  // Blocks until that many problems were told; the pauses told with them.
  std::vector<milliseconds> wait_for_problems(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return pauses_.size() >= count; });
    return {pauses_.begin(), pauses_.begin() + static_cast<std::ptrdiff_t>(count)};
  }
  std::string last_problem() {
    const std::lock_guard lock(mutex_);
    return problem_;
  }

  std::uint16_t port = 0;

  // Answers what asked for /later, with these parts behind the text.
  void answer_later(std::vector<std::shared_ptr<const std::string>> more = {}) {
    loop_->post([this, more = std::move(more)] {
      Reply reply = text_reply(200, "later\n");
      reply.more = more;
      for (const auto& answer : later_) answer(reply);
      later_.clear();
    });
  }
  // Blocks until so many have asked for /later; the last one's client.
  std::weak_ptr<const void> wait_for_later(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return asked_later_ >= count; });
    return client_;
  }

 private:
  void handle(const Request& request, HttpServer::Answer answer) {
    if (request.path == "/later") {
      later_.push_back(std::move(answer));
      const std::lock_guard lock(mutex_);
      ++asked_later_;
      client_ = request.client;
      changed_.notify_all();
      return;
    }
    if (request.path == "/query") {
      return answer(text_reply(200, "query " + std::string(request.query) + "\n"));
    }
    if (request.path == "/host") {
      Reply reply = text_reply(200, "host " + std::string(request.host) + "\n");
      reply.headers = {{"X-Own", "yes"}};
      return answer(std::move(reply));
    }
    if (request.path == "/large") return answer(text_reply(200, std::string(32 << 20, 'x')));
    if (request.path == "/secret" && request.bearer_token != "key") {
      return answer(text_reply(401, "no\n"));
    }
    answer(
        text_reply(request.path == "/no" ? 404 : 200, "path " + std::string(request.path) + "\n"));
  }

  void note(const std::string& problem, milliseconds retry_in) {
    const std::lock_guard lock(mutex_);
    problem_ = problem;
    pauses_.push_back(retry_in);
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string problem_;
  std::vector<milliseconds> pauses_;
  std::size_t asked_later_ = 0;
  std::weak_ptr<const void> client_;
  std::vector<HttpServer::Answer> later_;  // on the loop
  std::unique_ptr<ServingCertificate> certificate_;
  std::unique_ptr<k8s::EventLoop> loop_ = k8s::make_event_loop();
  std::unique_ptr<HttpServer> server_;
  std::thread thread_;
};

// One GET, over TLS where the server has it; the kernel takes little of the answer before it is
// read.
class SlowClient {
 public:
  SlowClient(const Bench& bench, const std::string& target) {
    constexpr int kReceiveBuffer = 64 * 1024;
    const std::string request = "GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n";
    if (bench.has_tls()) {
      secured_.emplace(bench.port, kReceiveBuffer);
      secured_->send(request);
      return;
    }
    plain_ = ::socket(AF_INET, SOCK_STREAM, 0);
    REQUIRE(setsockopt(plain_, SOL_SOCKET, SO_RCVBUF, &kReceiveBuffer, sizeof(kReceiveBuffer)) ==
            0);
    bench.connect(plain_);
    REQUIRE(send(plain_, request.data(), request.size(), MSG_NOSIGNAL) > 0);
  }
  ~SlowClient() {
    if (plain_ >= 0) close(plain_);
  }
  SlowClient(const SlowClient&) = delete;
  SlowClient& operator=(const SlowClient&) = delete;

  // So many bytes, or less if the server closes before.
  [[nodiscard]] std::string read(std::size_t size) {
    if (secured_) return secured_->read(size);
    std::string answer(size, '\0');
    std::size_t got = 0;
    for (ssize_t n = 0; (n = recv(plain_, &answer[got], size - got, 0)) > 0;) {
      got += static_cast<std::size_t>(n);
    }
    answer.resize(got);
    return answer;
  }

 private:
  std::optional<HttpsConnection> secured_;
  int plain_ = -1;
};

// As long as it lives, this process gets no further file descriptor.
class NoMoreDescriptors {
 public:
  NoMoreDescriptors() {
    REQUIRE(getrlimit(RLIMIT_NOFILE, &before_) == 0);
    // The lowest free one is the first that an accept would get.
    const int lowest = open("/dev/null", O_RDONLY);
    close(lowest);
    const rlimit none{static_cast<rlim_t>(lowest), before_.rlim_max};
    REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
  }
  ~NoMoreDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
  NoMoreDescriptors(const NoMoreDescriptors&) = delete;
  NoMoreDescriptors& operator=(const NoMoreDescriptors&) = delete;

 private:
  rlimit before_{};
};

}  // namespace

TEST_CASE("a GET is answered, and the connection closed") {
  const Bench bench;
  const std::string answer = bench.exchange("GET /ok?verbose HTTP/1.1\r\nHost: x\r\n\r\n");
  CHECK_THAT(answer, Catch::StartsWith("HTTP/1.1 200 OK\r\n"));
  CHECK_THAT(answer, Catch::EndsWith("\r\n\r\npath /ok\n"));
  CHECK_THAT(answer, Catch::Contains("Connection: close"));
  CHECK_THAT(bench.exchange("GET /no HTTP/1.1\r\nHost: x\r\n\r\n"),
             Catch::StartsWith("HTTP/1.1 404 "));
}

TEST_CASE("connections that never ask keep nobody out: one too many ends the oldest") {
  const Bench bench;
  std::vector<int> silent;
  for (int i = 0; i < 64; ++i) silent.push_back(bench.connect());
  const std::string request = "GET /ok HTTP/1.1\r\nHost: x\r\n\r\n";
  CHECK_THAT(bench.exchange(request), Catch::StartsWith("HTTP/1.1 200 "));
  char byte = 0;
  CHECK(recv(silent.front(), &byte, 1, 0) <= 0);
  close(silent.front());
  silent.erase(silent.begin());
  for (const int socket : silent) {
    CHECK_THAT(Bench::exchange(request, socket), Catch::StartsWith("HTTP/1.1 200 "));
  }
}

TEST_CASE("an answer may come later, and who is being given one keeps its place") {
  Bench bench;
  const auto ask = [&](const std::string& path) {
    const int socket = bench.connect();
    const std::string request = "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n";
    REQUIRE(send(socket, request.data(), request.size(), MSG_NOSIGNAL) > 0);
    return socket;
  };
  // The oldest, which does not read yet: it is given more than the kernel takes.
  const int served = ask("/large");
  char byte = 0;
  REQUIRE(recv(served, &byte, 1, MSG_PEEK) == 1);
  std::vector<int> waiting;
  for (std::size_t i = 0; i < 64; ++i) {
    waiting.push_back(ask("/later"));
    bench.wait_for_later(i + 1);
  }
  bench.answer_later();
  CHECK(Bench::read_all(waiting[0]).empty());  // made room for the last
  for (std::size_t i = 1; i < waiting.size(); ++i) {
    CHECK_THAT(Bench::read_all(waiting[i]), Catch::EndsWith("later\n"));
  }
  CHECK_THAT(Bench::read_all(served), Catch::EndsWith(std::string(100, 'x')));
}

TEST_CASE("a client that goes before its answer is there is known to be gone") {
  Bench bench(GENERATE(Bench::Tls::kNo, Bench::Tls::kYes));
  const std::string request = "GET /later HTTP/1.1\r\nHost: x\r\n\r\n";
  const auto has_gone = [](const std::weak_ptr<const void>& client) {
    while (!client.expired()) std::this_thread::yield();
    return true;
  };
  if (bench.has_tls()) {
    std::optional<HttpsConnection> going(bench.port);
    going->send(request);
    const auto client = bench.wait_for_later(1);
    CHECK_FALSE(client.expired());
    going.reset();
    CHECK(has_gone(client));
  } else {
    const int going = bench.connect();
    REQUIRE(send(going, request.data(), request.size(), MSG_NOSIGNAL) > 0);
    const auto client = bench.wait_for_later(1);
    // More than one request: the rest is not looked at.
    REQUIRE(send(going, request.data(), request.size(), MSG_NOSIGNAL) > 0);
    // One thread serves all: after this answer it has read the rest.
    CHECK_THAT(bench.get("/ok"), Catch::EndsWith("path /ok\n"));
    CHECK_FALSE(client.expired());
    close(going);
    CHECK(has_gone(client));
  }
  bench.answer_later();  // to nobody
  CHECK_THAT(bench.get("/ok"), Catch::EndsWith("path /ok\n"));
}

TEST_CASE("an answer that comes later is whole, and ends the connection and the client") {
  // Not the time limit ends it.
  Bench bench(GENERATE(Bench::Tls::kNo, Bench::Tls::kYes), std::chrono::hours(1));
  std::string answer;
  std::thread reader([&] { answer = bench.get("/later"); });
  const auto client = bench.wait_for_later(1);
  bench.answer_later();
  reader.join();
  CHECK_THAT(answer, Catch::StartsWith("HTTP/1.1 200 ") && Catch::EndsWith("\r\n\r\nlater\n"));
  while (!client.expired()) std::this_thread::yield();
}

TEST_CASE("each part of an answer that comes later has the time limit for itself") {
  constexpr int kParts = 4;
  const auto tls = GENERATE(Bench::Tls::kNo, Bench::Tls::kYes);
  // More than the kernel takes, so that one is sent only while the client reads.
  const auto part = std::make_shared<const std::string>(8 << 20, 'x');
  // Whether all comes to a client that takes longer for all parts than the limit, but not for one.
  const auto all_comes_within = [&](milliseconds limit) {
    Bench bench(tls, limit);
    SlowClient client(bench, "/later");
    bench.wait_for_later(1);
    bench.answer_later({kParts, part});
    const auto begin = std::chrono::steady_clock::now();
    std::size_t got = 0;
    for (int i = 1; i <= kParts; ++i) {
      std::this_thread::sleep_until(begin + i * limit * 3 / 10);
      got += client.read(part->size()).size();
    }
    // The headers, and the text before the parts.
    const std::string end = client.read(part->size());
    return got == kParts * part->size() && end.size() > 6 && end.size() < 1'000 &&
           end.ends_with('x');
  };
  // A machine that needs seconds to read a part gets a longer limit.
  CHECK((all_comes_within(milliseconds(1'500)) || all_comes_within(milliseconds(6'000)) ||
         all_comes_within(milliseconds(24'000))));
}

TEST_CASE("a query is handed on as it came") {
  const Bench bench;
  for (const auto& [target, want] :
       {std::pair("/query", "query \n"), std::pair("/query?", "query \n"),
        std::pair("/query?a=%31+2&b?c", "query a=%31+2&b?c\n")}) {
    CHECK_THAT(bench.get(target), Catch::EndsWith(std::string("\r\n\r\n") + want));
  }
}

TEST_CASE("a bearer token is handed on, and asked for where it is missing") {
  const Bench bench;
  const auto get = [&](const std::string& header) {
    return bench.exchange("GET /secret HTTP/1.1\r\nHost: x\r\n" + header + "\r\n");
  };
  CHECK_THAT(get("Authorization: Bearer key\r\n"), Catch::StartsWith("HTTP/1.1 200 "));
  CHECK_THAT(get("authorization: bearer key\r\n"), Catch::StartsWith("HTTP/1.1 200 "));
  for (const char* header : {"", "Authorization: Basic key\r\n", "Authorization: Bearer \r\n",
                             "Authorization: Bearer key2\r\n"}) {
    const std::string answer = get(header);
    CHECK_THAT(answer, Catch::StartsWith("HTTP/1.1 401 "));
    CHECK_THAT(answer, Catch::Contains("\r\nWWW-Authenticate: Bearer\r\n"));
  }
}

TEST_CASE("over TLS the same, and nothing without it") {
  const Bench bench(Bench::Tls::kYes);
  CHECK_THAT(HttpsConnection(bench.port).exchange("GET /ok HTTP/1.1\r\nHost: x\r\n\r\n"),
             Catch::StartsWith("HTTP/1.1 200 OK\r\n") && Catch::EndsWith("\r\n\r\npath /ok\n"));
  // What comes back, if anything, is an alert of TLS.
  CHECK_THAT(bench.exchange("GET /ok HTTP/1.1\r\nHost: x\r\n\r\n"), !Catch::Contains("HTTP"));
  CHECK_THAT(HttpsConnection(bench.port).exchange("HEAD /ok HTTP/1.1\r\nHost: x\r\n\r\n"),
             Catch::EndsWith("\r\n\r\n"));
}

TEST_CASE("a HEAD has no body, other methods are refused") {
  const Bench bench;
  CHECK_THAT(bench.exchange("HEAD /ok HTTP/1.1\r\nHost: x\r\n\r\n"), Catch::EndsWith("\r\n\r\n"));
  CHECK_THAT(bench.exchange("POST /ok HTTP/1.1\r\nHost: x\r\n\r\n"),
             Catch::StartsWith("HTTP/1.1 405 "));
}

TEST_CASE("what is no HTTP, and what is too large, is cut off; the next one is served") {
  const Bench bench;
  CHECK(bench.exchange("this is no request\r\n\r\n").empty());
  CHECK(bench.exchange("GET /ok HTTP/1.1\r\nX: " + std::string(9'000, 'x')).empty());
  CHECK_THAT(bench.exchange("GET /ok HTTP/1.0\r\n\r\n"), Catch::StartsWith("HTTP/1.0 200 "));
}

TEST_CASE(
    "without file descriptors it tries again ever more slowly, and serves once there are some") {
  Bench bench;
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  {
    const NoMoreDescriptors shortage;
    bench.connect(socket);
    using namespace std::chrono_literals;
    CHECK(bench.wait_for_problems(4) == std::vector<milliseconds>{5ms, 10ms, 20ms, 40ms});
    CHECK(bench.last_problem() == "accepting a connection: Too many open files");
  }
  CHECK_THAT(Bench::exchange("GET /ok HTTP/1.0\r\n\r\n", socket),
             Catch::StartsWith("HTTP/1.0 200 "));
}

TEST_CASE(
    "a token may stand in the header that proxies pass on, and Authorization goes before it") {
  const Bench bench;
  const auto status = [&](const std::string& headers) {
    return bench.exchange("GET /secret HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n").substr(9, 3);
  };
  CHECK(status("") == "401");
  CHECK(status("X-Gpu-Scheduler-Authorization: Bearer key\r\n") == "200");
  CHECK(status("X-Gpu-Scheduler-Authorization: key\r\n") == "401");
  CHECK(status("Authorization: Bearer other\r\n"
               "X-Gpu-Scheduler-Authorization: Bearer key\r\n") == "401");
}

TEST_CASE("a handler knows the host that was asked for, and answers with headers of its own") {
  const Bench bench;
  const std::string answer = bench.exchange("GET /host HTTP/1.1\r\nHost: a.example:1\r\n\r\n");
  CHECK_THAT(answer, Catch::EndsWith("host a.example:1\n"));
  CHECK_THAT(answer, Catch::Contains("X-Own: yes\r\n"));
  CHECK_THAT(bench.exchange("GET /host HTTP/1.0\r\n\r\n"), Catch::EndsWith("host \n"));
}

TEST_CASE("addresses that cannot be listened on") {
  const auto loop = k8s::make_event_loop();
  const auto message = [&](const std::string& address) {
    const auto server = HttpServer::listen(
        *loop, {.address = address},
        [](const Request&, const HttpServer::Answer& answer) { answer(Reply{}); }, {});
    return server ? std::string("listens") : server.error().message;
  };
  for (const char* address :
       {"", "10251", "localhost:1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:1x", "::1"}) {
    CHECK_THAT(message(address), Catch::Contains("is no address to listen on"));
    CHECK_FALSE(HttpServer::check_address(address));
  }
  CHECK(HttpServer::check_address("[::1]:10251"));
  const Bench taken;
  CHECK_THAT(message("127.0.0.1:" + std::to_string(taken.port)),
             Catch::Contains("Address already in use"));
}
