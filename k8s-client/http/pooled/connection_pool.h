// A limited number of connections; those not in use are kept open for the next request.
//
// The connection used last is used first, so that a quiet client closes those that it no longer
// needs. A connection comes back to the pool only if its answer was read to the end. Requests do
// not wait here: the transport has one queue of requests and is notified when a place has become
// free.
#pragma once

#include "k8s-client/http/event_loop.h"
#include "k8s-client/http/pooled/connection.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace k8s::http {

class ConnectionPool;

// A place in the pool, and its connection, if there is one yet. Without a pool it is the sole owner
// of a connection, for streams. Given back when destroyed.
class Place {
 public:
  Place() = default;
  Place(ConnectionPool* pool, std::shared_ptr<Connection> connection)
      : pool_(pool), connection_(std::move(connection)) {}
  Place(Place&& other) noexcept;
  Place& operator=(Place&& other) noexcept;
  ~Place() { release(); }

  [[nodiscard]] Connection* connection() const { return connection_.get(); }
  // Closes the connection, if there is one. The place stays taken.
  void replace(std::shared_ptr<Connection> connection);
  void release();

 private:
  ConnectionPool* pool_ = nullptr;
  std::shared_ptr<Connection> connection_;
};

class ConnectionPool {
 public:
  // `on_free` is called when a place has become free, from within that release.
  ConnectionPool(EventLoop& loop, std::size_t max_connections, std::chrono::seconds idle_limit,
                 std::function<void()> on_free);
  ConnectionPool(const ConnectionPool&) = delete;
  ConnectionPool& operator=(const ConnectionPool&) = delete;
  // All places must have been released.
  ~ConnectionPool();

  // An open connection made with `tls`; nullopt if all are in use.
  [[nodiscard]] std::optional<Place> acquire_open(const std::shared_ptr<TlsContext>& tls);
  // A place for a new connection; nullopt if all are taken.
  [[nodiscard]] std::optional<Place> acquire_place();

 private:
  friend class Place;
  struct Idle {
    std::shared_ptr<Connection> connection;
    EventLoop::Clock::time_point since;
  };

  void give_back(std::shared_ptr<Connection> connection);
  void drop(Idle& idle);
  void sweep_later();
  void sweep();

  EventLoop& loop_;
  std::size_t max_connections_;
  std::chrono::seconds idle_limit_;
  std::function<void()> on_free_;
  std::vector<Idle> idle_;  // the longest unused first
  std::size_t places_ = 0;  // taken, by those in use and by idle connections
  std::unique_ptr<Timer> sweeping_;
};

}  // namespace k8s::http
