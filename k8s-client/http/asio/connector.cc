#include "k8s-client/http/asio/connector.h"

#include <utility>

namespace k8s::http {

void Connector::start(Clock::time_point until, OnDone done) {
  until_ = until;
  done_ = std::move(done);
  try_next();
}

void Connector::cancel() {
  done_ = nullptr;
  timer_.cancel();
}

void Connector::try_next() {
  const auto left = addresses_.size() - tried_;
  const Address& address = addresses_[tried_++];
  gave_up_ = false;
  if (left > 1) {
    timer_.expires_after((until_ - Clock::now()) / static_cast<int>(left));
    timer_.async_wait([self = shared_from_this(), mine = tried_](const ErrorCode& error) {
      if (error || !self->done_ || self->tried_ != mine) return;
      self->gave_up_ = true;
      self->close();
    });
  }
  socket_.async_connect(
      address, [self = shared_from_this()](const ErrorCode& error) { self->on_tried(error); });
}

void Connector::on_tried(const ErrorCode& error) {
  if (!done_) return;
  timer_.cancel();
  const bool connected = !error && !gave_up_;
  if (connected || tried_ == addresses_.size()) return std::exchange(done_, nullptr)(error);
  close();
  try_next();
}

void Connector::close() {
  ErrorCode ignored;
  socket_.close(ignored);
}

}  // namespace k8s::http
