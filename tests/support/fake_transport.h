// A transport without a network: the test is the server.
//
// Requests pile up until the test answers them, one by one through next(), or by a function given
// to serve(). It keeps the contract of transport.h: callbacks never run from within the call that
// registered them, each request ends exactly once, deadlines and idle limits (in the loop's virtual
// time) end it with kTimeout, and cancelling with kCancelled.
#pragma once

#include "k8s-client/http/transport.h"
#include "tests/support/manual_loop.h"

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tests {

// A request as the server sees it, and its ways to answer. Once it has ended, answers go nowhere.
class FakeCall final : public k8s::Call, public std::enable_shared_from_this<FakeCall> {
 public:
  FakeCall(ManualLoop& loop, k8s::Request request, k8s::Transport::OnResponse done);
  FakeCall(ManualLoop& loop, k8s::Request request, k8s::StreamHandler handler);

  [[nodiscard]] const k8s::Request& request() const { return request_; }
  [[nodiscard]] bool is_stream() const { return stream_; }
  [[nodiscard]] bool has_ended() const { return ended_; }
  [[nodiscard]] bool was_cancelled() const { return cancelled_; }

  // The whole answer; of a stream: its headers, one chunk and the end.
  void respond(int status, std::string body = "", k8s::Headers headers = {});
  // Ends it, as if the network had failed.
  void fail(k8s::ErrorKind kind, std::string message = "", bool may_have_acted = false);

  // Of a stream.
  void open(int status = 200, k8s::Headers headers = {});
  void send(std::string chunk);
  void end();

  void cancel() override;

  // Starts the deadline; called by the transport once.
  void start();

 private:
  void finish(std::function<void(FakeCall&)> last);
  void later(std::function<void(FakeCall&)> task);
  void restart_idle_limit();

  ManualLoop& loop_;
  const k8s::Request request_;
  const bool stream_;
  k8s::Transport::OnResponse done_;
  k8s::StreamHandler handler_;
  std::unique_ptr<k8s::Timer> timer_;  // the deadline, then the idle limit
  bool ended_ = false;
  bool cancelled_ = false;
};

class FakeTransport final : public k8s::Transport {
 public:
  explicit FakeTransport(ManualLoop& loop) : loop_(loop) {}
  ~FakeTransport() override;
  FakeTransport(const FakeTransport&) = delete;
  FakeTransport& operator=(const FakeTransport&) = delete;

  std::shared_ptr<k8s::Call> send(k8s::Request request, OnResponse done) override;
  std::shared_ptr<k8s::Call> stream(k8s::Request request, k8s::StreamHandler handler) override;

  // Answers every request from now on, as soon as the loop runs.
  void serve(std::function<void(const std::shared_ptr<FakeCall>&)> server) {
    server_ = std::move(server);
  }

  // The oldest request that was not taken yet; fails the test if there is none.
  [[nodiscard]] std::shared_ptr<FakeCall> next();
  [[nodiscard]] bool has_next() const { return !arrived_.empty(); }

  // All requests that came in so far, as "GET /api/v1/pods?limit=500".
  [[nodiscard]] const std::vector<std::string>& seen() const { return seen_; }

 private:
  void arrive(const std::shared_ptr<FakeCall>& call);

  ManualLoop& loop_;
  std::function<void(const std::shared_ptr<FakeCall>&)> server_;
  std::deque<std::shared_ptr<FakeCall>> arrived_;
  std::vector<std::shared_ptr<FakeCall>> open_;  // not ended yet
  std::vector<std::string> seen_;
};

}  // namespace tests
