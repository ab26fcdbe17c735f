// Reads answers off the bytes of a connection, wherever these were cut: no sockets, no time.
//
// One answer at a time: start(), then take() for whatever arrives, until it is complete or broken.
// An interim answer (1xx) is passed over. What may wait here for its end is bounded, whatever the
// server sends; the body does not wait, it is handed on as it comes.
#pragma once

#include "k8s-client/http/asio/response_parser.h"
#include "k8s-client/http/base/boost_asio.h"
#include "k8s-client/http/pooled/connection.h"

#include <boost/beast/core/flat_buffer.hpp>

#include <cstddef>
#include <optional>

namespace k8s::http {

class AnswerReader {
 public:
  // A TLS record is 16 KiB at most, and one read brings at most one record.
  static constexpr std::size_t kReadSize = 16 * 1024;
  // What may wait unparsed for its end: a header, a chunk's extensions, trailers.
  static constexpr std::size_t kUnparsedLimit = 256 * 1024;

  enum class Progress { kPartial, kComplete, kBroken };

  // The bytes from here on are an answer: `handler` is called with its head and body, until stop().
  void start(AnswerHandler& handler);
  // Calls the handler no more; from within its calls, too. What take() returns then means nothing.
  void stop();

  // Where the next bytes are to be written, kReadSize at most.
  [[nodiscard]] asio::mutable_buffer room() { return bytes_.prepare(kReadSize); }
  // That so many were. Bytes behind a complete answer stay where they are.
  [[nodiscard]] Progress take(std::size_t size);
  // That no more will come: complete, or broken.
  [[nodiscard]] Progress take_end();

  // Of kBroken: why.
  [[nodiscard]] const ErrorCode& error() const { return error_; }
  // Whether anything has come since start(), broken or not.
  [[nodiscard]] bool any_bytes() const { return any_bytes_; }
  // Of a complete answer: whether the server means to keep the connection open.
  [[nodiscard]] bool keep_alive() const { return keep_alive_; }
  // Bytes that have been taken and not been read.
  [[nodiscard]] std::size_t unread() const { return bytes_.size(); }

 private:
  [[nodiscard]] Progress broken(ErrorCode error);
  [[nodiscard]] Progress complete();

  AnswerHandler* handler_ = nullptr;  // nullptr: nothing is read
  boost::beast::flat_buffer bytes_;
  std::optional<ResponseParser> parser_;
  ErrorCode error_;
  bool any_bytes_ = false;
  bool keep_alive_ = true;
};

}  // namespace k8s::http
