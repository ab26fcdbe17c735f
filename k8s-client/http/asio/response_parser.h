// Parses the bytes of an HTTP answer and passes them on as they come, without storing them.
//
// Beast's parser does the work; this converts its events to the types of this library. Body bytes
// go directly from the read buffer to the handler. There is no limit for a body here (watches are
// endless, and Request::body_limit is enforced by the caller), but one for the header. An interim
// answer (1xx) is a complete message of its own here: then the caller starts again.
#pragma once

#include "k8s-client/http/pooled/connection.h"

#include <boost/beast/http/basic_parser.hpp>

#include <cstdint>

namespace k8s::http {

class ResponseParser final : public boost::beast::http::basic_parser<false> {
 public:
  // Only on_head and on_body are called. `handler` must outlive the parser's use.
  explicit ResponseParser(AnswerHandler& handler);
  // Ends the calls of the handler; may be called from within them.
  void stop() { handler_ = nullptr; }

  // From the status line; 0 before it is read.
  [[nodiscard]] int status() const { return status_; }
  [[nodiscard]] bool is_interim() const { return status_ >= 100 && status_ < 200; }

 private:
  using ErrorCode = boost::beast::error_code;
  using StringView = boost::beast::string_view;

  void on_request_impl(boost::beast::http::verb, StringView, StringView, int, ErrorCode&) override;
  void on_response_impl(int code, StringView reason, int version, ErrorCode&) override;
  void on_field_impl(boost::beast::http::field, StringView name, StringView value,
                     ErrorCode&) override;
  void on_header_impl(ErrorCode&) override;
  void on_body_init_impl(const boost::optional<std::uint64_t>&, ErrorCode&) override {}
  std::size_t on_body_impl(StringView body, ErrorCode&) override;
  void on_chunk_header_impl(std::uint64_t, StringView, ErrorCode&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, StringView body, ErrorCode&) override;
  void on_finish_impl(ErrorCode&) override {}

  AnswerHandler* handler_;  // nullptr: stopped
  Response head_;
  int status_ = 0;
  bool header_done_ = false;
};

}  // namespace k8s::http
