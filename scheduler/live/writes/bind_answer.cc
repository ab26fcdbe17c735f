#include "scheduler/live/writes/bind_answer.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace sched::live {

namespace {

// Names contain no blanks, so no name matches these. A webhook may use these words, too; its
// refusal is also certain.
constexpr std::array<std::string_view, 4> kCertain = {
    "is already assigned to node", "is being deleted, cannot be assigned",
    "has non-empty .spec.schedulingGates", "Precondition failed: UID in precondition"};

constexpr std::string_view kOfTheAuthorizer = "cannot create resource \"pods/binding\"";

bool has_words(const k8s::Error& error, std::string_view words) {
  return error.message.find(words) != std::string::npos;
}

bool looked_at_the_pod(const k8s::Error& conflict) {
  return std::any_of(kCertain.begin(), kCertain.end(),
                     [&](std::string_view words) { return has_words(conflict, words); });
}

bool is_about_this_process(const k8s::Error& error) {
  return error.is_status(401) || (error.is_status(403) && has_words(error, kOfTheAuthorizer));
}

}  // namespace

BindAnswer bind_answer(const k8s::Error& error) {
  if (error.is_status(409)) {
    return looked_at_the_pod(error) ? BindAnswer::kConflict : BindAnswer::kUnknown;
  }
  if (error.may_have_acted) return BindAnswer::kUnknown;
  if (is_about_this_process(error)) return BindAnswer::kNotAllowed;
  return error.asks_for_patience() ? BindAnswer::kLater : BindAnswer::kRefused;
}

}  // namespace sched::live
