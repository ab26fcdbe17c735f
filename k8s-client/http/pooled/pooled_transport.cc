#include "k8s-client/http/pooled/pooled_transport.h"

#include "k8s-client/http/base/boost_asio.h"
#include "k8s-client/http/base/tls_context.h"
#include "k8s-client/http/pooled/connection_pool.h"
#include "k8s-client/http/pooled/exchange.h"
#include "k8s-client/http/pooled/rate_limiter.h"
#include "k8s-client/http/pooled/request_check.h"

#include <boost/asio/post.hpp>

#include <cstddef>
#include <list>
#include <utility>

namespace k8s::http {
namespace {

// A handshake costs a server more than most requests, and takes long just when the server is
// overloaded, which is also when requests find no free connection. More handshakes at a time only
// make each take longer.
constexpr std::size_t kOpeningAtOnce = 4;

// A connection of the pool that is being opened. The exchange that it was meant for may have got
// another one meanwhile, or have ended; then it goes to the next exchange.
struct Opening {
  Place place;
  std::weak_ptr<Exchange> meant_for;
};

class PooledTransport final : public Transport, private ExchangeHost {
 public:
  PooledTransport(EventLoop& loop, const Endpoint& endpoint, Credentials& credentials,
                  const TransportOptions& options, std::unique_ptr<ConnectionFactory> factory)
      : loop_(loop),
        uses_tls_(endpoint.tls),
        server_(url_of(endpoint)),
        credentials_(credentials),
        connect_timeout_(options.connect_timeout),
        factory_(std::move(factory)),
        tls_(credentials),
        limiter_(options.qps, options.burst, loop.now()),
        pool_(loop, options.max_connections, options.idle_connection_limit,
              [this] { pump_soon(); }) {}

  PooledTransport(const PooledTransport&) = delete;
  PooledTransport& operator=(const PooledTransport&) = delete;
  ~PooledTransport() override;

  std::shared_ptr<Call> send(Request request, OnResponse done) override;
  std::shared_ptr<Call> stream(Request request, StreamHandler handler) override;

 private:
  Result<std::shared_ptr<Connection>> new_connection() override;
  std::chrono::milliseconds connect_timeout() const override { return connect_timeout_; }
  Result<std::optional<std::string>> bearer_token() override { return credentials_.bearer_token(); }
  void unauthorized(const Identity& identity) override;
  void forget(Exchange& exchange) override;
  const std::string& server() const override { return server_; }
  bool awaits_credentials() const override { return awaits_credentials_; }
  bool is_rate_limited() const override { return refill_ != nullptr; }

  ExchangeHost& host() { return *this; }
  // Registers it in `list`; false if that is not possible, and then it will end.
  bool enlist(const std::shared_ptr<Exchange>& exchange, ExchangeList& list);
  [[nodiscard]] Result<std::shared_ptr<TlsContext>> current_tls();
  // Whether credentials can be used now; if not, pump() is called when they can.
  [[nodiscard]] bool credentials_are_ready();
  // Starts requests while there are credentials, tokens and places; and the streams.
  void pump();
  void pump_soon();
  // Opens a connection for it, at `place`.
  void open_for(const std::shared_ptr<Exchange>& exchange, Place place);
  void on_opened(std::list<Opening>::iterator opening, const std::optional<Error>& error);
  // Gives free connections to exchanges that wait for one that is being opened.
  void lend();
  void pump_streams();
  // Takes the first exchange out of the list.
  std::shared_ptr<Exchange> next(ExchangeList& list);

  EventLoop& loop_;
  const bool uses_tls_;
  const std::string server_;
  Credentials& credentials_;
  const std::chrono::milliseconds connect_timeout_;
  const std::unique_ptr<ConnectionFactory> factory_;
  CurrentTlsContext tls_;
  RateLimiter limiter_;
  ConnectionPool pool_;
  ExchangeList waiting_;
  ExchangeList waiting_streams_;
  ExchangeList active_;  // under way, or ended and their callback not made yet
  std::list<Opening> openings_;
  std::unique_ptr<Timer> refill_;
  bool pump_is_due_ = false;
  bool awaits_credentials_ = false;
  bool closing_ = false;
  // Posted tasks hold it weakly: they may run when the transport is gone.
  std::shared_ptr<PooledTransport*> alive_ = std::make_shared<PooledTransport*>(this);
};

PooledTransport::~PooledTransport() {
  closing_ = true;
  // A callback made here may cancel others, which only marks them, and adds nothing to the lists.
  active_.splice(active_.end(), waiting_);
  active_.splice(active_.end(), waiting_streams_);
  while (!active_.empty()) {
    const auto exchange = std::move(active_.front());
    active_.pop_front();
    exchange->abandon();
  }
  openings_.clear();
}

bool PooledTransport::enlist(const std::shared_ptr<Exchange>& exchange, ExchangeList& list) {
  if (closing_) {
    exchange->abandon_soon();
    return false;
  }
  exchange->list = &list;
  exchange->position = list.insert(list.end(), exchange);
  exchange->start();
  return true;
}

std::shared_ptr<Call> PooledTransport::send(Request request, OnResponse done) {
  const auto refused = check_request(request);
  auto exchange =
      std::make_shared<SendExchange>(loop_.context(), host(), std::move(request), std::move(done));
  if (!enlist(exchange, waiting_)) return exchange;
  if (refused) exchange->reject(*refused);
  pump();
  return exchange;
}

std::shared_ptr<Call> PooledTransport::stream(Request request, StreamHandler handler) {
  const auto refused = check_request(request);
  auto exchange = std::make_shared<StreamExchange>(loop_.context(), host(), std::move(request),
                                                   std::move(handler));
  if (!enlist(exchange, waiting_streams_)) return exchange;
  if (refused) exchange->reject(*refused);
  pump_streams();
  return exchange;
}

Result<std::shared_ptr<TlsContext>> PooledTransport::current_tls() {
  if (!uses_tls_) return std::shared_ptr<TlsContext>();
  return tls_.get();
}

Result<std::shared_ptr<Connection>> PooledTransport::new_connection() {
  auto tls = current_tls();
  if (!tls) return tl::unexpected<Error>(std::move(tls.error()));
  return factory_->make(std::move(*tls));
}

// Answers to replaced credentials do not concern the present ones.
void PooledTransport::unauthorized(const Identity& identity) {
  const auto token = credentials_.bearer_token();
  const auto tls = current_tls();
  if (token && *token == identity.token && tls && *tls == identity.tls) credentials_.rejected();
}

bool PooledTransport::credentials_are_ready() {
  if (awaits_credentials_) return false;
  const auto ready = [alive = std::weak_ptr<PooledTransport*>(alive_)] {
    const auto transport = alive.lock();
    if (!transport) return;
    (*transport)->awaits_credentials_ = false;
    (*transport)->pump_streams();
    (*transport)->pump();
  };
  awaits_credentials_ = !credentials_.prepare(loop_, ready);
  return !awaits_credentials_;
}

void PooledTransport::forget(Exchange& exchange) { exchange.list->erase(exchange.position); }

void PooledTransport::pump_soon() {
  if (closing_ || pump_is_due_ || (waiting_.empty() && openings_.empty())) return;
  pump_is_due_ = true;
  asio::post(loop_.context(), [alive = std::weak_ptr<PooledTransport*>(alive_)] {
    const auto transport = alive.lock();
    if (!transport) return;
    (*transport)->pump_is_due_ = false;
    (*transport)->lend();
    (*transport)->pump();
  });
}

void PooledTransport::open_for(const std::shared_ptr<Exchange>& exchange, Place place) {
  auto connection = new_connection();
  if (!connection) return exchange->reject(connection.error());
  exchange->set_connecting();
  place.replace(*connection);
  const auto opening = openings_.insert(openings_.end(), {std::move(place), exchange});
  (*connection)
      ->open(connect_timeout_, [alive = std::weak_ptr<PooledTransport*>(alive_),
                                opening](const std::optional<Error>& error) {
        if (const auto transport = alive.lock()) (*transport)->on_opened(opening, error);
      });
}

void PooledTransport::on_opened(std::list<Opening>::iterator opening,
                                const std::optional<Error>& error) {
  Opening done = std::move(*opening);
  openings_.erase(opening);
  const auto exchange = done.meant_for.lock();
  if (exchange && exchange->is_connecting()) {
    if (error) {
      exchange->reject(*error);
    } else {
      exchange->begin(std::move(done.place), false);
    }
  }
  done.place.release();
  pump_soon();
}

// These exchanges came before the waiting ones. The list does not change meanwhile: an exchange
// that ends is removed from the loop.
void PooledTransport::lend() {
  if (openings_.empty()) return;
  const auto tls = current_tls();
  if (!tls) return;
  for (const auto& exchange : active_) {
    if (!exchange->is_connecting()) continue;
    auto place = pool_.acquire_open(*tls);
    if (!place) return;
    exchange->begin(std::move(*place), true);
  }
}

void PooledTransport::pump() {
  while (!waiting_.empty()) {
    if (waiting_.front()->ended()) {
      next(waiting_);
      continue;
    }
    if (refill_ || !credentials_are_ready()) return;
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
      next(waiting_)->reject(tls.error());
      continue;
    }
    if (auto open = pool_.acquire_open(*tls)) {
      limiter_.take();
      next(waiting_)->begin(std::move(*open), true);
      continue;
    }
    if (openings_.size() >= kOpeningAtOnce) return;
    auto place = pool_.acquire_place();
    if (!place) return;
    limiter_.take();
    open_for(next(waiting_), std::move(*place));
  }
}

void PooledTransport::pump_streams() {
  while (!waiting_streams_.empty()) {
    if (waiting_streams_.front()->ended()) {
      next(waiting_streams_);
      continue;
    }
    if (!credentials_are_ready()) return;
    next(waiting_streams_)->begin(Place(), false);
  }
}

std::shared_ptr<Exchange> PooledTransport::next(ExchangeList& list) {
  auto exchange = list.front();
  active_.splice(active_.end(), list, list.begin());
  exchange->list = &active_;
  return exchange;
}

}  // namespace

std::unique_ptr<Transport> make_pooled_transport(EventLoop& loop, const Endpoint& endpoint,
                                                 Credentials& credentials,
                                                 const TransportOptions& options,
                                                 std::unique_ptr<ConnectionFactory> factory) {
  return std::make_unique<PooledTransport>(loop, endpoint, credentials, options,
                                           std::move(factory));
}

}  // namespace k8s::http
