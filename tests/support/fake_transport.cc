#include "tests/support/fake_transport.h"

#include <stdexcept>
#include <utility>

namespace tests {
namespace {

k8s::Error network_error(k8s::ErrorKind kind, std::string message, bool may_have_acted) {
  k8s::Error error;
  error.kind = kind;
  error.message = message.empty() ? "the test's network failed" : std::move(message);
  error.may_have_acted = may_have_acted;
  return error;
}

}  // namespace

FakeCall::FakeCall(ManualLoop& loop, k8s::Request request, k8s::Transport::OnResponse done)
    : loop_(loop), request_(std::move(request)), stream_(false), done_(std::move(done)) {}

FakeCall::FakeCall(ManualLoop& loop, k8s::Request request, k8s::StreamHandler handler)
    : loop_(loop), request_(std::move(request)), stream_(true), handler_(std::move(handler)) {}

void FakeCall::start() {
  timer_ = loop_.after(request_.deadline,
                       [this] { fail(k8s::ErrorKind::kTimeout, "the deadline has passed", true); });
}

void FakeCall::respond(int status, std::string body, k8s::Headers headers) {
  if (stream_) {
    open(status, std::move(headers));
    if (!body.empty()) send(std::move(body));
    end();
    return;
  }
  finish([response = k8s::Response{status, std::move(headers), std::move(body)}](FakeCall& self) {
    self.done_(response);
  });
}

void FakeCall::fail(k8s::ErrorKind kind, std::string message, bool may_have_acted) {
  finish([error = network_error(kind, std::move(message), may_have_acted)](FakeCall& self) {
    if (self.stream_) {
      self.handler_.on_end(error);
    } else {
      self.done_(tl::unexpected(error));
    }
  });
}

void FakeCall::open(int status, k8s::Headers headers) {
  if (ended_) return;
  restart_idle_limit();
  later([response = k8s::Response{status, std::move(headers), ""}](FakeCall& self) {
    self.handler_.on_response(response);
  });
}

void FakeCall::send(std::string chunk) {
  if (ended_) return;
  restart_idle_limit();
  later([chunk = std::move(chunk)](FakeCall& self) { self.handler_.on_data(chunk); });
}

void FakeCall::end() {
  finish([](FakeCall& self) { self.handler_.on_end(std::nullopt); });
}

void FakeCall::cancel() {
  if (ended_) return;
  cancelled_ = true;
  fail(k8s::ErrorKind::kCancelled, "cancelled");
}

void FakeCall::finish(std::function<void(FakeCall&)> last) {
  if (ended_) return;
  ended_ = true;
  timer_.reset();
  loop_.post([self = shared_from_this(), last = std::move(last)] {
    last(*self);
    // What the callbacks hold (often the caller) is let go when the request is over.
    self->done_ = nullptr;
    self->handler_ = {};
  });
}

void FakeCall::later(std::function<void(FakeCall&)> task) {
  loop_.post([self = shared_from_this(), task = std::move(task)] {
    if (!self->cancelled_) task(*self);
  });
}

void FakeCall::restart_idle_limit() {
  if (request_.idle_limit.count() == 0) {
    timer_.reset();
    return;
  }
  timer_ = loop_.after(request_.idle_limit, [this] {
    fail(k8s::ErrorKind::kTimeout, "nothing came for longer than the idle limit", true);
  });
}

FakeTransport::~FakeTransport() {
  for (const auto& call : open_) call->cancel();
}

std::shared_ptr<k8s::Call> FakeTransport::send(k8s::Request request, OnResponse done) {
  auto call = std::make_shared<FakeCall>(loop_, std::move(request), std::move(done));
  arrive(call);
  return call;
}

std::shared_ptr<k8s::Call> FakeTransport::stream(k8s::Request request, k8s::StreamHandler handler) {
  auto call = std::make_shared<FakeCall>(loop_, std::move(request), std::move(handler));
  arrive(call);
  return call;
}

void FakeTransport::arrive(const std::shared_ptr<FakeCall>& call) {
  call->start();
  std::erase_if(open_, [](const auto& known) { return known->has_ended(); });
  open_.push_back(call);
  seen_.push_back(std::string(to_string(call->request().method)) + " " + call->request().target);
  if (!server_) {
    arrived_.push_back(call);
    return;
  }
  loop_.post([call, server = server_] {
    if (!call->has_ended()) server(call);
  });
}

std::shared_ptr<FakeCall> FakeTransport::next() {
  loop_.run_ready();
  if (arrived_.empty()) throw std::logic_error("no request is waiting for an answer");
  auto call = std::move(arrived_.front());
  arrived_.pop_front();
  return call;
}

}  // namespace tests
