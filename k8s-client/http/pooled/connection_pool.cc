#include "k8s-client/http/pooled/connection_pool.h"

#include <algorithm>
#include <utility>

namespace k8s::http {
namespace {

// How often idle connections are checked: often enough not to keep those that the server has
// closed.
constexpr std::chrono::seconds kLongestSweep{10};

}  // namespace

Place::Place(Place&& other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)), connection_(std::move(other.connection_)) {}

Place& Place::operator=(Place&& other) noexcept {
  release();
  pool_ = std::exchange(other.pool_, nullptr);
  connection_ = std::move(other.connection_);
  return *this;
}

void Place::replace(std::shared_ptr<Connection> connection) {
  if (connection_) connection_->close();
  connection_ = std::move(connection);
}

void Place::release() {
  auto connection = std::exchange(connection_, nullptr);
  if (auto* pool = std::exchange(pool_, nullptr)) {
    pool->give_back(std::move(connection));
  } else if (connection) {
    connection->close();
  }
}

ConnectionPool::ConnectionPool(EventLoop& loop, std::size_t max_connections,
                               std::chrono::seconds idle_limit, std::function<void()> on_free)
    : loop_(loop),
      max_connections_(std::max<std::size_t>(max_connections, 1)),
      idle_limit_(idle_limit),
      on_free_(std::move(on_free)) {}

ConnectionPool::~ConnectionPool() {
  for (Idle& idle : idle_) drop(idle);
}

std::optional<Place> ConnectionPool::acquire_open(const std::shared_ptr<TlsContext>& tls) {
  while (!idle_.empty()) {
    Idle last = std::move(idle_.back());
    idle_.pop_back();
    if (last.connection->tls() == tls && last.connection->is_reusable()) {
      return Place(this, std::move(last.connection));
    }
    drop(last);
  }
  return std::nullopt;
}

std::optional<Place> ConnectionPool::acquire_place() {
  if (places_ >= max_connections_) return std::nullopt;
  ++places_;
  return Place(this, nullptr);
}

void ConnectionPool::give_back(std::shared_ptr<Connection> connection) {
  if (connection && connection->is_reusable()) {
    idle_.push_back({std::move(connection), loop_.now()});
    sweep_later();
  } else {
    if (connection) connection->close();
    --places_;
  }
  on_free_();
}

void ConnectionPool::drop(Idle& idle) {
  idle.connection->close();
  --places_;
}

void ConnectionPool::sweep_later() {
  if (sweeping_ || idle_.empty()) return;
  const auto age = loop_.now() - idle_.front().since;
  const auto left = std::max<EventLoop::Clock::duration>(idle_limit_ - age, {});
  sweeping_ = loop_.after(std::min<EventLoop::Clock::duration>(left, kLongestSweep), [this] {
    sweeping_.reset();
    sweep();
  });
}

void ConnectionPool::sweep() {
  const auto now = loop_.now();
  const auto stale = [&](Idle& idle) {
    if (now - idle.since < idle_limit_ && idle.connection->is_reusable()) return false;
    drop(idle);
    return true;
  };
  idle_.erase(std::remove_if(idle_.begin(), idle_.end(), stale), idle_.end());
  sweep_later();
}

}  // namespace k8s::http
