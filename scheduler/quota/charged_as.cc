#include "scheduler/quota/charged_as.h"

#include "k8s-client/api/decode/rfc3339.h"
#include "scheduler/framework/long_lists.h"

#include <algorithm>
#include <chrono>

namespace sched::quota {

ChargeNote no_note(const k8s::Pod& pod) {
  return {.product = {}, .at = pod.metadata.creation_timestamp.value_or(k8s::Timestamp{})};
}

ChargeNote note_on(const k8s::Pod& pod, k8s::Timestamp now) {
  // Another replica's clock may be ahead.
  constexpr std::chrono::minutes kMostAhead{1};
  ChargeNote note = no_note(pod);
  const std::string* product = pod.metadata.annotations.find(kChargedAsAnnotation);
  // A tenant may write as much as the API server takes, and the note is parsed when quotas change.
  if (product != nullptr && product->size() <= kMostOfName) note.product = *product;
  const std::string* text = pod.metadata.annotations.find(kChargedAtAnnotation);
  const auto at = text == nullptr ? std::nullopt : k8s::json::parse_rfc3339(*text);
  if (at && *at <= now + kMostAhead) note.at = std::max(note.at, *at);
  return note;
}

std::string text_of(k8s::Timestamp charged_at) { return k8s::json::format_micro_time(charged_at); }

}  // namespace sched::quota
