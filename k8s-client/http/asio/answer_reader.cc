#include "k8s-client/http/asio/answer_reader.h"

#include <boost/beast/http/error.hpp>

namespace k8s::http {

void AnswerReader::start(AnswerHandler& handler) {
  handler_ = &handler;
  parser_.emplace(handler);
  error_ = {};
  in_chunk_ = false;
  any_bytes_ = false;
}

void AnswerReader::stop() {
  handler_ = nullptr;
  if (parser_) parser_->stop();
}

AnswerReader::Progress AnswerReader::take(std::size_t size) {
  bytes_.commit(size);
  if (size > 0) any_bytes_ = true;
  while (bytes_.size() > 0) {
    if (in_chunk_ && bytes_.size() < kLeastOfChunk) return Progress::kPartial;
    ErrorCode error;
    bytes_.consume(parser_->put(bytes_.data(), error));
    if (handler_ == nullptr) return Progress::kPartial;
    const bool needs_more = error == boost::beast::http::error::need_more;
    in_chunk_ = needs_more && parser_->is_header_done();
    if (needs_more) {
      if (bytes_.size() <= kUnparsedLimit) return Progress::kPartial;
      error = boost::beast::http::error::header_limit;
    }
    if (error) return broken(error);
    if (!parser_->is_done()) continue;
    if (!parser_->is_interim()) return complete();
    parser_.emplace(*handler_);
  }
  return Progress::kPartial;
}

AnswerReader::Progress AnswerReader::take_end() {
  if (!any_bytes_ || !parser_->got_some()) return broken(asio::error::eof);
  ErrorCode truncated;
  parser_->put_eof(truncated);
  return truncated ? broken(truncated) : complete();
}

AnswerReader::Progress AnswerReader::broken(ErrorCode error) {
  error_ = error;
  return Progress::kBroken;
}

AnswerReader::Progress AnswerReader::complete() {
  keep_alive_ = parser_->keep_alive();
  parser_.reset();
  return Progress::kComplete;
}

}  // namespace k8s::http
