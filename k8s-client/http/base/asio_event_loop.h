// The event loop on Boost.Asio, with its io_context in reach of AsioTransport.
//
// Internal to k8s-client/http: everybody else knows EventLoop alone (event_loop.h).
#pragma once

#include "k8s-client/http/base/boost_asio.h"
#include "k8s-client/http/event_loop.h"

namespace k8s::http {

class AsioEventLoop final : public EventLoop {
 public:
  AsioEventLoop();

  void post(std::function<void()> task) override;
  [[nodiscard]] std::unique_ptr<Timer> after(Clock::duration delay,
                                             std::function<void()> task) override;
  [[nodiscard]] Clock::time_point now() const override { return Clock::now(); }
  // May be called again after it returned; a stop() before it makes it return at once.
  void run() override;
  void stop() override { context_.stop(); }

  [[nodiscard]] asio::io_context& context() { return context_; }

 private:
  asio::io_context context_;
  // Keeps run() from returning when nothing is pending.
  asio::executor_work_guard<asio::io_context::executor_type> work_;
};

}  // namespace k8s::http
