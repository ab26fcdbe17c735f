// Connects a socket to the first of several addresses that accepts.
//
// A name often stands for several servers, and one that does not answer must not use up the time of
// all. So each address has an equal share of the time that is left at its turn, as in Go's dialer;
// the last one has all of it, and the caller limits that time.
#pragma once

#include "k8s-client/http/base/boost_asio.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace k8s::http {

class Connector : public std::enable_shared_from_this<Connector> {
 public:
  using Address = asio::ip::tcp::endpoint;
  using Clock = std::chrono::steady_clock;
  using OnDone = std::function<void(ErrorCode)>;

  // At least one address. `socket` must exist until `done` has run or cancel() has been called, and
  // may be closed only after that.
  Connector(Socket& socket, std::vector<Address> addresses)
      : socket_(socket), addresses_(std::move(addresses)), timer_(socket.get_executor()) {}

  // Calls `done` once, from the loop: success, or the error of the last address tried.
  void start(Clock::time_point until, OnDone done);
  // `done` will not be called any more.
  void cancel();

 private:
  void try_next();
  void on_tried(const ErrorCode& error);
  void close();

  Socket& socket_;
  std::vector<Address> addresses_;
  std::size_t tried_ = 0;
  bool gave_up_ = false;  // for the present address
  AsioTimer timer_;
  Clock::time_point until_{};
  OnDone done_;
};

}  // namespace k8s::http
