// An answer is the same wherever its bytes are cut; no sockets.
#include "k8s-client/http/asio/answer_reader.h"

#include "tests/support/catch.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

using k8s::http::AnswerReader;
using Progress = AnswerReader::Progress;

namespace {

struct Kept final : k8s::http::AnswerHandler {
  void on_head(k8s::Response head) override { response = std::move(head); }
  void on_body(std::string_view bytes) override { response.body += bytes; }
  void on_complete() override { FAIL("the reader leaves the end to its caller"); }
  void on_broken(k8s::Error, bool) override { FAIL("the reader leaves the end to its caller"); }

  k8s::Response response;
};

// What take() returns for the last of the pieces.
Progress take(AnswerReader& reader, std::string_view bytes, std::size_t first, std::size_t others) {
  Progress progress = Progress::kPartial;
  for (std::size_t size = first; !bytes.empty(); size = others) {
    CHECK(progress == Progress::kPartial);
    size = std::min(size, bytes.size());
    std::memcpy(reader.room().data(), bytes.data(), size);
    bytes.remove_prefix(size);
    progress = reader.take(size);
  }
  return progress;
}

}  // namespace

TEST_CASE("an answer in chunks is whole wherever it is cut") {
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string chunks :
       {"0\r\n\r\n", "5\r\nhello\r\n0\r\n\r\n", "0\r\nTrailer: 1\r\n\r\n"}) {
    const std::string bytes = head + chunks;
    for (std::size_t first = 1; first < bytes.size(); ++first) {
      for (std::size_t others = 1; others <= 3; ++others) {
        CAPTURE(chunks, first, others);
        Kept kept;
        AnswerReader reader;
        reader.start(kept);
        CHECK(take(reader, bytes, first, others) == Progress::kComplete);
        CHECK(kept.response.status == 200);
        CHECK(kept.response.body == (chunks.front() == '5' ? "hello" : ""));
        CHECK(reader.unread() == 0);
      }
    }
  }
}

TEST_CASE("an answer without a header is whole wherever it is cut") {
  const std::string bytes = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\nhi";
  for (std::size_t first = 1; first < bytes.size(); ++first) {
    for (std::size_t others = 1; others <= 3; ++others) {
      CAPTURE(first, others);
      Kept kept;
      AnswerReader reader;
      reader.start(kept);
      CHECK(take(reader, bytes, first, others) == Progress::kPartial);
      CHECK(reader.take_end() == Progress::kComplete);
      CHECK(kept.response.body == "hi");
    }
  }
}

TEST_CASE("an answer that ends within its last chunk is broken") {
  Kept kept;
  AnswerReader reader;
  reader.start(kept);
  CHECK(take(reader, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r", 1, 1) ==
        Progress::kPartial);
  CHECK(reader.take_end() == Progress::kBroken);
}
