#include "k8s-client/http/asio_transport.h"

#include "k8s-client/http/asio/asio_event_loop.h"
#include "k8s-client/http/asio/connection_pool.h"
#include "k8s-client/http/asio/exchange.h"
#include "k8s-client/http/asio/rate_limiter.h"
#include "k8s-client/http/asio/request_writer.h"
#include "k8s-client/http/asio/tls_context.h"

#include <boost/asio/post.hpp>

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace k8s {
namespace http {
namespace {

AsioEventLoop& asio_loop(EventLoop& loop) {
  if (auto* found = dynamic_cast<AsioEventLoop*>(&loop)) return *found;
  std::fputs("make_asio_transport: the loop is not one of make_asio_event_loop()\n", stderr);
  std::abort();
}

// Requests wait in one queue, first come first served, for both a token of the rate limiter and a
// place in the pool.
class AsioTransport final : public Transport, private ExchangeHost {
 public:
  AsioTransport(AsioEventLoop& loop, Endpoint endpoint, Credentials& credentials,
                const AsioTransportOptions& options)
      : loop_(loop),
        endpoint_(std::move(endpoint)),
        server_((endpoint_.tls ? "https://" : "http://") + host_and_port(endpoint_) +
                endpoint_.path_prefix),
        credentials_(credentials),
        connect_timeout_(options.connect_timeout),
        writer_(endpoint_, options.user_agent),
        tls_(credentials),
        limiter_(options.qps, options.burst, loop.now()),
        pool_(loop, options.max_connections, options.idle_connection_limit,
              [this] { pump_soon(); }) {}

  AsioTransport(const AsioTransport&) = delete;
  AsioTransport& operator=(const AsioTransport&) = delete;
  ~AsioTransport() override;

  std::shared_ptr<Call> send(Request request, OnResponse done) override;
  std::shared_ptr<Call> stream(Request request, StreamHandler handler) override;

 private:
  Result<std::shared_ptr<Connection>> new_connection() override;
  std::chrono::milliseconds connect_timeout() const override { return connect_timeout_; }
  std::optional<Error> write(const Request& request, std::string& out) override;
  void unauthorized() override { credentials_.rejected(); }
  void forget(Exchange& exchange) override;
  const std::string& server() const override { return server_; }

  ExchangeHost& host() { return *this; }
  // Registers it in `list`; false, and its end is near, when that cannot be.
  bool enlist(const std::shared_ptr<Exchange>& exchange, ExchangeList& list);
  [[nodiscard]] Result<std::shared_ptr<TlsContext>> current_tls();
  // Lets requests go while there are tokens and places.
  void pump();
  void pump_soon();
  // The first that waits, which waits no longer.
  std::shared_ptr<Exchange> next();

  AsioEventLoop& loop_;
  const Endpoint endpoint_;
  const std::string server_;
  Credentials& credentials_;
  const std::chrono::milliseconds connect_timeout_;
  const RequestWriter writer_;
  CurrentTlsContext tls_;
  RateLimiter limiter_;
  ConnectionPool pool_;
  ExchangeList waiting_;
  ExchangeList active_;  // going on, or ended with their callback due
  std::unique_ptr<Timer> refill_;
  bool pump_is_due_ = false;
  bool closing_ = false;
  // Posted tasks hold it weakly: they may run when the transport is gone.
  std::shared_ptr<AsioTransport*> alive_ = std::make_shared<AsioTransport*>(this);
};

AsioTransport::~AsioTransport() {
  closing_ = true;
  // A callback made here may cancel others, which only marks them, and adds nothing to the lists.
  active_.splice(active_.end(), waiting_);
  while (!active_.empty()) {
    const auto exchange = std::move(active_.front());
    active_.pop_front();
    exchange->abandon();
  }
}

bool AsioTransport::enlist(const std::shared_ptr<Exchange>& exchange, ExchangeList& list) {
  if (closing_) {
    exchange->abandon_soon();
    return false;
  }
  exchange->list = &list;
  exchange->position = list.insert(list.end(), exchange);
  exchange->start();
  return true;
}

std::shared_ptr<Call> AsioTransport::send(Request request, OnResponse done) {
  const auto refused = RequestWriter::check(request);
  auto exchange =
      std::make_shared<SendExchange>(loop_.context(), host(), std::move(request), std::move(done));
  if (!enlist(exchange, waiting_)) return exchange;
  if (refused) exchange->reject(*refused);
  pump();
  return exchange;
}

std::shared_ptr<Call> AsioTransport::stream(Request request, StreamHandler handler) {
  const auto refused = RequestWriter::check(request);
  auto exchange = std::make_shared<StreamExchange>(loop_.context(), host(), std::move(request),
                                                   std::move(handler));
  if (!enlist(exchange, active_)) return exchange;
  if (refused) {
    exchange->reject(*refused);
  } else {
    exchange->begin(Lease());
  }
  return exchange;
}

Result<std::shared_ptr<TlsContext>> AsioTransport::current_tls() {
  if (!endpoint_.tls) return std::shared_ptr<TlsContext>();
  return tls_.get();
}

Result<std::shared_ptr<Connection>> AsioTransport::new_connection() {
  auto tls = current_tls();
  if (!tls) return tl::unexpected<Error>(std::move(tls.error()));
  return std::make_shared<Connection>(loop_.context(), endpoint_, std::move(*tls));
}

std::optional<Error> AsioTransport::write(const Request& request, std::string& out) {
  auto token = credentials_.bearer_token();
  if (!token) return std::move(token.error());
  return writer_.write(request, *token, out);
}

void AsioTransport::forget(Exchange& exchange) { exchange.list->erase(exchange.position); }

void AsioTransport::pump_soon() {
  if (waiting_.empty() || pump_is_due_ || closing_) return;
  pump_is_due_ = true;
  asio::post(loop_.context(), [alive = std::weak_ptr<AsioTransport*>(alive_)] {
    const auto transport = alive.lock();
    if (!transport) return;
    (*transport)->pump_is_due_ = false;
    (*transport)->pump();
  });
}

void AsioTransport::pump() {
  while (!waiting_.empty()) {
    if (waiting_.front()->ended()) {
      next();
      continue;
    }
    if (refill_) return;
    const auto wait = limiter_.wait(loop_.now());
    if (wait > EventLoop::Clock::duration::zero()) {
      refill_ = loop_.after(wait, [this] {
        refill_.reset();
        pump();
      });
      return;
    }
    auto tls = current_tls();
    if (!tls) {
      next()->reject(tls.error());
      continue;
    }
    auto lease = pool_.acquire(*tls);
    if (!lease) return;
    limiter_.take();
    next()->begin(std::move(*lease));
  }
}

std::shared_ptr<Exchange> AsioTransport::next() {
  auto exchange = waiting_.front();
  active_.splice(active_.end(), waiting_, waiting_.begin());
  exchange->list = &active_;
  return exchange;
}

}  // namespace
}  // namespace http

std::unique_ptr<Transport> make_asio_transport(EventLoop& loop, Endpoint endpoint,
                                               Credentials& credentials,
                                               AsioTransportOptions options) {
  return std::make_unique<http::AsioTransport>(http::asio_loop(loop), std::move(endpoint),
                                               credentials, options);
}

}  // namespace k8s
