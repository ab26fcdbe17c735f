// Any bytes as what a server sends: the first says how they are cut, the others come to a
// connection.
//
// What an answer is must not depend on the cuts, and must not take more memory than it has bytes.
#include "k8s-client/http/asio/answer_reader.h"
#include "k8s-client/status_error.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/pieces.h"

#include <cstring>
#include <limits>
#include <utility>

namespace {

using k8s::http::AnswerReader;
using Progress = AnswerReader::Progress;

// What came of the bytes.
struct Outcome {
  Progress progress = Progress::kPartial;
  std::size_t calls = 0;
  k8s::Response response;
  bool keep_alive = false;
  std::size_t unread = 0;  // behind a complete answer
};

// Keeps what it is given; stops the reader at the call of that number.
class Collector final : public k8s::http::AnswerHandler {
 public:
  Collector(AnswerReader& reader, Outcome& outcome, std::size_t stop_at)
      : reader_(reader), outcome_(outcome), stop_at_(stop_at) {}

  void on_head(k8s::Response head) override {
    fuzz::require(outcome_.calls == 0, "the head comes first, and once");
    fuzz::require(head.body.empty(), "a head has no body");
    fuzz::require(head.status >= 200 || head.status < 100, "an interim answer is no answer");
    outcome_.response = std::move(head);
    count();
  }
  void on_body(std::string_view bytes) override {
    fuzz::require(outcome_.calls > 0, "a body comes behind its head");
    fuzz::require(!bytes.empty(), "a piece of a body has bytes");
    outcome_.response.body += bytes;
    count();
  }
  void on_complete() override { fuzz::require(false, "the reader leaves the end to its caller"); }
  void on_broken(k8s::Error, bool) override { on_complete(); }

 private:
  void count() {
    fuzz::require(outcome_.calls < stop_at_, "what was stopped calls no more");
    if (++outcome_.calls == stop_at_) reader_.stop();
  }

  AnswerReader& reader_;
  Outcome& outcome_;
  const std::size_t stop_at_;
};

constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

Outcome outcome_of(std::string_view bytes, std::uint8_t cut, std::size_t stop_at = kNever) {
  AnswerReader reader;
  Outcome outcome;
  Collector collector(reader, outcome, stop_at);
  reader.start(collector);
  std::size_t left = bytes.size();
  fuzz::in_pieces(bytes, cut, [&](std::string_view piece) {
    while (!piece.empty() && outcome.progress == Progress::kPartial && outcome.calls < stop_at) {
      const std::size_t size = std::min(piece.size(), AnswerReader::kReadSize);
      std::memcpy(reader.room().data(), piece.data(), size);
      piece.remove_prefix(size);
      left -= size;
      outcome.progress = reader.take(size);
      fuzz::require(reader.unread() <= AnswerReader::kUnparsedLimit + AnswerReader::kReadSize,
                    "what waits for its end is bounded");
    }
    return outcome.progress == Progress::kPartial && outcome.calls < stop_at;
  });
  if (outcome.calls >= stop_at) return outcome;
  if (outcome.progress == Progress::kPartial) outcome.progress = reader.take_end();
  fuzz::require(outcome.progress != Progress::kPartial, "the end of the bytes decides");
  fuzz::require(!!reader.error() == (outcome.progress == Progress::kBroken), "broken has a reason");
  if (outcome.progress != Progress::kComplete) return outcome;
  outcome.keep_alive = reader.keep_alive();
  outcome.unread = reader.unread() + left;
  return outcome;
}

std::size_t size_of(const k8s::Response& response) {
  std::size_t size = response.body.size();
  for (const auto& [name, value] : response.headers) size += name.size() + value.size();
  return size;
}

// One is how the other begins, and few bytes longer: those that waited for the rest of a chunk.
bool are_nearly_same(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  return b.starts_with(a) && b.size() - a.size() < AnswerReader::kLeastOfChunk;
}

void check_same(const Outcome& whole, const Outcome& cut) {
  fuzz::require(whole.progress == cut.progress, "cuts do not decide whether an answer is whole");
  fuzz::require(whole.response.status == cut.response.status &&
                    whole.response.headers == cut.response.headers,
                "cuts do not change an answer");
  const bool is_broken = whole.progress == Progress::kBroken;
  fuzz::require(is_broken ? are_nearly_same(whole.response.body, cut.response.body)
                          : whole.response.body == cut.response.body,
                "nor its body");
  fuzz::require(whole.keep_alive == cut.keep_alive && whole.unread == cut.unread,
                "nor what is behind it");
}

// As a client makes an error of an answer that is none of the good ones.
void check_error(const k8s::Response& response, std::size_t bytes) {
  static k8s::Decoder decoder;  // used again, as by its callers
  const k8s::Error error = k8s::status_error(response, decoder);
  fuzz::require(error.http_status == response.status, "what HTTP says counts");
  fuzz::require(error.message.size() <= bytes + 64, "an error says no more than the answer");
  fuzz::require(
      !error.retry_after || (error.retry_after->count() >= 0 && error.retry_after->count() <= 300),
      "nobody makes us wait for days");
}

}  // namespace

void fuzz_one_input(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return;
  const std::uint8_t cut = data[0];
  const std::string_view bytes = fuzz::as_text(data + 1, size - 1);
  const Outcome whole = outcome_of(bytes, 0);
  fuzz::require(size_of(whole.response) <= bytes.size(), "an answer is no longer than its bytes");
  check_same(whole, outcome_of(bytes, cut));
  if (whole.calls > 0) (void)outcome_of(bytes, cut, 1 + cut % whole.calls);
  if (whole.progress == Progress::kComplete) check_error(whole.response, bytes.size());
}
