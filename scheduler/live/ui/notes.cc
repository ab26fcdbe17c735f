#include "scheduler/live/ui/notes.h"

#include "scheduler/framework/pod_requests.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

namespace sched::live {

namespace {

UiNotes::Refusal refusal_by(const decision::Unschedulable& told) {
  const answers::Refusal refusal{.message = told.message,
                                 .details = told.details,
                                 .plugins = told.plugins,
                                 .reason = told.reason};
  return {.next = answers::short_reason(refusal),
          .headline = answers::headline_of(refusal),
          .reason = told.reason};
}

// From now on the pod waits until room is made for it, whether its quota or the nodes refused it
// before.
UiNotes::Refusal wait_for_room(const decision::Evict& told) {
  std::string reason =
      answers::short_reason({.message = told.message, .details = {}, .plugins = {}});
  return {.next = reason, .headline = std::move(reason)};
}

}  // namespace

void UiNotes::decided(const Decision& decision) {
  if (const auto* told = std::get_if<decision::Unschedulable>(&decision)) {
    return note(told->pod.uid, refusal_by(*told));
  }
  if (const auto* told = std::get_if<decision::Evict>(&decision)) {
    return note(told->pod.uid, wait_for_room(*told));
  }
  const std::lock_guard lock(mutex_);
  ++decisions_;
  const auto* bind = std::get_if<decision::Bind>(&decision);
  if (bind != nullptr && open_.size() < limits_.open) open_[bind->pod.uid] = decisions_;
}

void UiNotes::note(const std::string& uid, Refusal refusal) {
  const std::lock_guard lock(mutex_);
  ++decisions_;
  if (refusals_.size() >= limits_.refusals && !refusals_.contains(uid)) return;
  refusals_.insert_or_assign(uid, std::move(refusal));
}

void UiNotes::bound(const decision::Bind& bind, Time at) {
  const std::lock_guard lock(mutex_);
  refusals_.erase(bind.pod.uid);
  const auto number = open_.extract(bind.pod.uid);
  if (number.empty()) return;
  bound_.push_front({.number = number.mapped(), .at = at, .bind = bind});
  if (bound_.size() > limits_.bound) bound_.pop_back();
}

void UiNotes::not_bound(const std::string& uid, std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto open = open_.find(uid);
  if (open != open_.end() && open->second == number) open_.erase(open);
}

void UiNotes::waits_no_more(const std::string& uid) {
  const std::lock_guard lock(mutex_);
  refusals_.erase(uid);
}

void UiNotes::saw(const k8s::Pod& pod) {
  if (pod.spec.node_name.empty()) return;
  const std::string& uid = pod.metadata.uid;
  if (pod.is_finished()) return gone(uid);
  const bool is_named = asks_for_gpus(pod);
  const std::lock_guard lock(mutex_);
  refusals_.erase(uid);
  if (!is_named || names_.size() >= limits_.names) return;
  names_.try_emplace(uid, pod.metadata.namespace_ + "/" + pod.metadata.name);
}

void UiNotes::gone(const std::string& uid) {
  const std::lock_guard lock(mutex_);
  refusals_.erase(uid);
  names_.erase(uid);
  open_.erase(uid);
}

std::uint64_t UiNotes::decisions() const {
  const std::lock_guard lock(mutex_);
  return decisions_;
}

std::vector<UiNotes::Bound> UiNotes::last_bound(std::size_t at_most) const {
  const std::lock_guard lock(mutex_);
  const auto shown = static_cast<std::ptrdiff_t>(std::min(at_most, bound_.size()));
  return {bound_.begin(), bound_.begin() + shown};
}

std::optional<UiNotes::Refusal> UiNotes::refusal_of(const std::string& uid) const {
  const std::lock_guard lock(mutex_);
  const auto found = refusals_.find(uid);
  return found == refusals_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<answers::Chosen> UiNotes::chosen(const std::string& uid) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(bound_.begin(), bound_.end(),
                                  [&](const Bound& one) { return one.bind.pod.uid == uid; });
  if (found == bound_.end()) return std::nullopt;
  const decision::Bind& bind = found->bind;
  answers::Chosen chosen{
      .decision = found->number,
      .at = found->at,
      .score = bind.total_score,
      .fitting_nodes = bind.feasible_nodes,
      .all_nodes = bind.all_nodes,
      .attempts = bind.attempts,
      .waited = std::chrono::duration_cast<std::chrono::seconds>(found->at - bind.queued_since),
      .runner_up = std::nullopt};
  if (bind.runner_up) chosen.runner_up = {bind.runner_up->node, bind.runner_up->total_score};
  return chosen;
}

answers::PodNames UiNotes::names_of(const std::vector<GpuTenant>& pods) const {
  answers::PodNames names;
  const std::lock_guard lock(mutex_);
  for (const GpuTenant& pod : pods) {
    const auto found = names_.find(pod.uid);
    if (found != names_.end()) names.add(pod.uid, found->second);
  }
  return names;
}

std::vector<answers::Loan> UiNotes::loans_of(const std::vector<BorrowedGpus>& borrowed) const {
  std::vector<GpuTenant> pods;
  for (const BorrowedGpus& one : borrowed) pods.push_back({.uid = one.uid, .pieces = 0});
  return answers::loans_of(borrowed, names_of(pods));
}

void UiNotes::name_ends(answers::Why& why) const {
  answers::name_ends(why, names_of(answers::pods_to_end(why)));
}

}  // namespace sched::live
