// Reads answers from the bytes of a connection, however these are cut: no sockets, no time.
//
// One answer at a time: start(), then take() for the bytes that arrive, until it is complete or
// broken. An interim answer (1xx) is skipped. What is buffered until it is complete has a limit,
// whatever the server sends; the body is not buffered, it is passed on as it comes.
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
  // The limit for unparsed bytes: a header, a chunk's extensions, trailers.
  static constexpr std::size_t kUnparsedLimit = 256 * 1024;

  // The length of the shortest last chunk. Beast's parser asserts this length if it is called again
  // while the end of the last chunk is missing. So within a chunk, the parser gets no bytes until
  // at least this many are buffered. If no more bytes come, the answer is broken, and the handler
  // does not get the buffered ones.
  static constexpr std::size_t kLeastOfChunk = 5;

  enum class Progress { kPartial, kComplete, kBroken };

  // The following bytes are an answer: `handler` is called with its head and body, until stop().
  void start(AnswerHandler& handler);
  // Ends the calls of the handler; may be called from within them. Then the result of take() is
  // undefined.
  void stop();

  // Where to write the next bytes, at most kReadSize.
  [[nodiscard]] asio::mutable_buffer room() { return bytes_.prepare(kReadSize); }
  // So many bytes were written. Bytes after a complete answer stay where they are.
  [[nodiscard]] Progress take(std::size_t size);
  // No more bytes will come: complete, or broken.
  [[nodiscard]] Progress take_end();

  // For kBroken: the reason.
  [[nodiscard]] const ErrorCode& error() const { return error_; }
  // Whether anything has come since start(), even if broken.
  [[nodiscard]] bool any_bytes() const { return any_bytes_; }
  // For a complete answer: whether the server will keep the connection open.
  [[nodiscard]] bool keep_alive() const { return keep_alive_; }
  // Bytes that were taken and not read yet.
  [[nodiscard]] std::size_t unread() const { return bytes_.size(); }

 private:
  [[nodiscard]] Progress broken(ErrorCode error);
  [[nodiscard]] Progress complete();

  AnswerHandler* handler_ = nullptr;  // nullptr: nothing is read
  boost::beast::flat_buffer bytes_;
  std::optional<ResponseParser> parser_;
  ErrorCode error_;
  bool in_chunk_ = false;  // in its header, or in trailers
  bool any_bytes_ = false;
  bool keep_alive_ = true;
};

}  // namespace k8s::http
