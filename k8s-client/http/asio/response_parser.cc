#include "k8s-client/http/asio/response_parser.h"

#include "k8s-client/http/base/boost_asio.h"

#include <limits>
#include <utility>

namespace k8s::http {
namespace {

constexpr std::uint32_t kHeaderLimit = 64 * 1024;
constexpr std::size_t kTypicalHeaders = 12;

std::string to_std(boost::beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

ResponseParser::ResponseParser(AnswerHandler& handler) : handler_(&handler) {
  eager(true);
  header_limit(kHeaderLimit);
  // Not boost::none: Beast 1.74 compares an announced length with it and concludes that it is too
  // long.
  body_limit(std::numeric_limits<std::uint64_t>::max());
  head_.headers.reserve(kTypicalHeaders);
}

void ResponseParser::on_request_impl(boost::beast::http::verb, StringView, StringView, int,
                                     ErrorCode&) {}

void ResponseParser::on_response_impl(int code, StringView, int, ErrorCode&) { status_ = code; }

void ResponseParser::on_field_impl(boost::beast::http::field, StringView name, StringView value,
                                   ErrorCode&) {
  // Trailers come this way, too, after the header has been passed on.
  if (!header_done_) head_.headers.emplace_back(to_std(name), to_std(value));
}

void ResponseParser::on_header_impl(ErrorCode& error) {
  header_done_ = true;
  if (status_ == 101) {  // this client never asks to switch protocols
    error = boost::beast::http::error::bad_status;
    return;
  }
  if (is_interim()) return;
  head_.status = status_;
  if (handler_ != nullptr) handler_->on_head(std::move(head_));
}

std::size_t ResponseParser::on_body_impl(StringView body, ErrorCode&) {
  if (handler_ != nullptr) handler_->on_body({body.data(), body.size()});
  return body.size();
}

std::size_t ResponseParser::on_chunk_body_impl(std::uint64_t, StringView body, ErrorCode&) {
  // The last chunk, of no bytes, is announced as well.
  if (handler_ != nullptr && !body.empty()) handler_->on_body({body.data(), body.size()});
  return body.size();
}

}  // namespace k8s::http
