// What a pod says of its charge, and when that is believed.
#include "scheduler/quota/charged_as.h"

#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <chrono>
#include <cstddef>
#include <string>

using namespace sched::quota;
using namespace std::chrono_literals;
using tests::pod;

namespace {

constexpr k8s::Timestamp kCreatedAt{1'000s};
constexpr k8s::Timestamp kNoteRead{2'000s};

k8s::Pod noted_at(const std::string& text) {
  return pod("a").created_at(kCreatedAt).annotated(kChargedAtAnnotation, text);
}

}  // namespace

TEST_CASE("a note is of a product, a time, or both") {
  CHECK_FALSE(has_note(pod("a")));
  CHECK(has_note(pod("a").annotated(kChargedAsAnnotation, "NVIDIA-L4")));
  CHECK(has_note(noted_at("")));
  const k8s::Timestamp at = kCreatedAt + 5s + 123us;
  const k8s::Pod both = pod("a")
                            .created_at(kCreatedAt)
                            .annotated(kChargedAsAnnotation, "NVIDIA-L4")
                            .annotated(kChargedAtAnnotation, text_of(at));
  CHECK(note_on(both, kNoteRead) == ChargeNote{.product = "NVIDIA-L4", .at = at});
  CHECK(no_note(both) == ChargeNote{.product = "", .at = kCreatedAt});
  k8s::Pod undated = pod("a");
  undated.metadata.creation_timestamp.reset();
  CHECK(note_on(undated, kNoteRead) == ChargeNote{});
}

TEST_CASE("a time that cannot be true is the pod's creation") {
  CHECK(note_on(noted_at("yesterday"), kNoteRead).at == kCreatedAt);
  CHECK(note_on(noted_at(text_of(kCreatedAt - 1us)), kNoteRead).at == kCreatedAt);
  // Another replica's clock may be a minute ahead.
  const k8s::Timestamp ahead = kNoteRead + 1min;
  CHECK(note_on(noted_at(text_of(ahead)), kNoteRead).at == ahead);
  CHECK(note_on(noted_at(text_of(ahead + 1us)), kNoteRead).at == kCreatedAt);
}

TEST_CASE("what is too long for the name of a product is no note of one") {
  const auto noted = [](std::size_t length) {
    const k8s::Pod made = pod("a").annotated(kChargedAsAnnotation, std::string(length, 'x'));
    return note_on(made, kNoteRead).product.size();
  };
  CHECK(noted(253) == 253);
  CHECK(noted(254) == 0);
  CHECK(noted(250'000) == 0);
}
