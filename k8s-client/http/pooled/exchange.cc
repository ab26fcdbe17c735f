#include "k8s-client/http/pooled/exchange.h"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace k8s::http {
namespace {

// The most memory that is reserved because of an announced body size, before the body comes.
constexpr std::size_t kReservedAtOnce = 32 * 1024 * 1024;

constexpr int kUnauthorized = 401;

// kube-apiserver classifies a request only after it has authenticated it, and names the class in
// the answer. So a 401 with this header does not refuse the credentials: an admission webhook,
// which chooses its status freely, has denied the request, or an aggregated API has. A server
// without API Priority and Fairness sets no such header, and there each 401 counts. Source:
// kubernetes staging/src/k8s.io/apiserver, DefaultBuildHandlerChain and WithPriorityAndFairness.
constexpr const char* kFlowSchema = "X-Kubernetes-PF-FlowSchema-UID";

constexpr const char* kTooLate = "too late to be sent";

std::size_t announced_size(const Response& head) {
  std::size_t size = 0;
  if (const auto text = head.header("Content-Length")) {
    std::from_chars(text->data(), text->data() + text->size(), size);
  }
  return size;
}

}  // namespace

Exchange::Exchange(asio::io_context& context, ExchangeHost& host, Request request)
    : context_(context), host_(&host), request_(std::move(request)), timer_(context) {}

void Exchange::start() { arm(std::chrono::steady_clock::now() + request_.deadline); }

void Exchange::arm(std::chrono::steady_clock::time_point when) {
  timer_.expires_at(when);
  timer_.async_wait([self = shared_from_this()](const ErrorCode& error) {
    if (!error && !self->ended_) self->on_timer();
  });
}

void Exchange::on_timer() {
  if (!watching_silence_) {
    end(failure(ErrorKind::kTimeout, "deadline of " + std::to_string(request_.deadline.count()) +
                                         " ms passed while " + stage()));
    return;
  }
  // Without a limit there is no timer, but the one of the deadline may have expired a moment before
  // the head came.
  if (request_.idle_limit <= std::chrono::milliseconds::zero()) return;
  const auto due = last_activity_ + request_.idle_limit;
  if (due > std::chrono::steady_clock::now()) return arm(due);
  end(failure(ErrorKind::kTimeout,
              "no data for " + std::to_string(request_.idle_limit.count()) + " ms"));
}

void Exchange::watch_silence() {
  watching_silence_ = true;
  note_activity();
  if (request_.idle_limit > std::chrono::milliseconds::zero()) {
    arm(last_activity_ + request_.idle_limit);
  } else {
    timer_.cancel();
  }
}

void Exchange::begin(Place place, bool used_before) {
  connecting_ = false;
  place_ = std::move(place);
  if (place_.connection() == nullptr) return open();
  reused_ = used_before;
  talk();
}

void Exchange::open() {
  auto connection = host_->new_connection();
  if (!connection) return reject(connection.error());
  place_.replace(*connection);
  (*connection)
      ->open(host_->connect_timeout(), [self = shared_from_this()](std::optional<Error> error) {
        if (self->ended_) return;
        if (!error) return self->talk();
        self->end(self->failure(error->kind, error->message));
      });
}

void Exchange::talk() {
  Connection& connection = *place_.connection();
  auto token = host_->bearer_token();
  if (!token) return reject(token.error());
  identity_ = {.token = std::move(*token), .tls = connection.tls()};
  if (is_too_late()) return end_too_late();
  const auto error = connection.converse(request_, identity_.token, shared_from_this());
  if (error) return reject(*error);
  conversing_ = true;
}

const char* Exchange::stage() {
  if (connecting_) return "connecting";
  if (place_.connection() == nullptr) {
    if (host_->awaits_credentials()) return "waiting for credentials";
    return host_->is_rate_limited() ? "waiting for this client's rate limit"
                                    : "waiting for a free connection";
  }
  return stop_sending() ? "waiting for the answer" : "connecting";
}

bool Exchange::stop_sending() {
  Connection* connection = place_.connection();
  return conversing_ && connection != nullptr && connection->stop_sending();
}

void Exchange::on_complete() {
  if (!ended_) end(std::nullopt);
}

bool Exchange::is_too_late() const {
  return request_.send_by && BootClock::now() > *request_.send_by;
}

void Exchange::end_too_late() {
  Error error = failure(ErrorKind::kTimeout, kTooLate);
  error.too_late = true;
  end(std::move(error));
}

void Exchange::on_broken(Error error, bool any_answer) {
  if (ended_) return;
  if (!any_answer && is_too_late() && !stop_sending()) {
    return end_too_late();
  }
  // A kept-alive connection that the server has closed meanwhile, or during the write.
  if (reused_ && !any_answer && (request_.repeatable || !stop_sending())) {
    reused_ = false;
    conversing_ = false;
    open();
    return;
  }
  end(failure(error.kind, error.message));
}

void Exchange::cancel() {
  if (!ended_) end(failure(ErrorKind::kCancelled, "cancelled"));
}

void Exchange::abandon() {
  detach();
  finish();
}

void Exchange::abandon_soon() {
  detach();
  finish_soon();
}

void Exchange::detach() {
  if (!ended_) {
    outcome_ = failure(ErrorKind::kCancelled, "the transport is shutting down");
    ended_ = true;
  }
  timer_.cancel();
  place_.release();
  host_ = nullptr;
}

void Exchange::end(std::optional<Error> error) {
  if (ended_) return;
  ended_ = true;
  outcome_ = std::move(error);
  timer_.cancel();
  place_.release();
  finish_soon();
}

void Exchange::finish_soon() {
  asio::post(context_, [self = shared_from_this()] { self->finish(); });
}

void Exchange::finish() {
  if (std::exchange(finished_, true)) return;
  if (auto* host = std::exchange(host_, nullptr)) host->forget(*this);
  deliver(std::move(outcome_));
}

void Exchange::note_status(const Response& head) {
  if (head.status != kUnauthorized || head.header(kFlowSchema)) return;
  host_->unauthorized(identity_);
}

Error Exchange::failure(ErrorKind kind, const std::string& why) {
  Error error;
  error.kind = kind;
  error.message = std::string(to_string(request_.method)) + " " + host_->server() +
                  request_.target + ": " + why;
  error.may_have_acted = stop_sending();
  return error;
}

void SendExchange::on_head(Response head) {
  if (ended()) return;
  note_status(head);
  response_ = std::move(head);
  const std::size_t announced = announced_size(response_);
  if (announced > request().body_limit) return refuse_body();
  response_.body.reserve(std::min(announced, kReservedAtOnce));
}

void SendExchange::on_body(std::string_view bytes) {
  if (ended()) return;
  if (bytes.size() > request().body_limit - response_.body.size()) return refuse_body();
  response_.body.append(bytes);
}

void SendExchange::refuse_body() {
  response_.body = {};
  end(failure(ErrorKind::kTooLarge,
              "the answer is longer than " + std::to_string(request().body_limit) + " bytes"));
}

void SendExchange::deliver(std::optional<Error> error) {
  const auto done = std::exchange(done_, nullptr);
  if (error) {
    done(tl::unexpected<Error>(std::move(*error)));
  } else {
    done(std::move(response_));
  }
}

void StreamExchange::on_head(Response head) {
  if (ended()) return;
  note_status(head);
  watch_silence();
  const auto handler = handler_;
  if (handler->on_response) handler->on_response(head);
}

void StreamExchange::on_body(std::string_view bytes) {
  if (ended()) return;
  const auto handler = handler_;
  if (handler->on_data) handler->on_data(bytes);
  note_activity();
}

void StreamExchange::deliver(std::optional<Error> error) {
  const auto handler = std::exchange(handler_, nullptr);
  if (handler->on_end) handler->on_end(std::move(error));
}

}  // namespace k8s::http
