#include "scheduler/engine/health/black_holes.h"

#include <algorithm>

namespace sched {

bool BlackHoles::rejected(const event::PodRejected& pod, Time now) {
  drop_old(now);
  if (pod.at < now - limits_.within) return false;
  Record& record = records_[pod.node];
  if (is_known(record, pod)) return false;
  record.last = std::max(record.last, pod.at);
  ++rejections_;
  // Pods that were on their way when the back-off began say nothing new.
  if (record.backoff) return false;

  if (now >= record.trial_ends) record.in_a_row = 0;
  ++record.rejected;
  record.recent.push_back({pod.pod.uid, pod.at});
  if (!is_too_many(record)) {
    if (record.recent.size() == static_cast<std::size_t>(limits_.pods)) {
      record.recent.erase(record.recent.begin());
    }
    return false;
  }
  back_off(pod.node, record, pod, now);
  return true;
}

bool BlackHoles::is_known(const Record& record, const event::PodRejected& pod) {
  // What led to a back-off is not kept, but it is not later than `last`.
  if (record.in_a_row > 0) return pod.at <= record.last;
  return std::any_of(record.recent.begin(), record.recent.end(),
                     [&](const Rejection& each) { return each.uid == pod.pod.uid; });
}

bool BlackHoles::is_too_many(const Record& record) const {
  if (record.in_a_row > 0) return true;  // on trial
  const auto in_time = [&](const Rejection& each) {
    return each.at > record.last - limits_.within;
  };
  return std::count_if(record.recent.begin(), record.recent.end(), in_time) >= limits_.pods;
}

void BlackHoles::back_off(const std::string& node, Record& record, const event::PodRejected& pod,
                          Time now) {
  ++record.in_a_row;
  const auto length = length_of(record.in_a_row);
  record.backoff = {.until = now + length,
                    .rejected = record.rejected,
                    .reason = pod.reason,
                    .last_pod = pod.pod.namespace_ + "/" + pod.pod.name};
  record.trial_ends = record.backoff->until + std::max(length, limits_.within);
  record.recent.clear();
  record.rejected = 0;
  ends_.emplace(record.backoff->until, node);
}

std::chrono::seconds BlackHoles::length_of(int in_a_row) const {
  auto length = limits_.initial_backoff;
  for (int i = 1; i < in_a_row && length < limits_.max_backoff; ++i) length *= 2;
  return std::min(length, limits_.max_backoff);
}

bool BlackHoles::started(const std::string& node, Time admitted) {
  const auto found = records_.find(node);
  if (found == records_.end() || admitted <= found->second.last) return false;
  return forget(node);
}

bool BlackHoles::forget(const std::string& node) {
  const auto found = records_.find(node);
  if (found == records_.end()) return false;
  const bool was_backed_off = found->second.backoff.has_value();
  if (was_backed_off) ends_.erase({found->second.backoff->until, node});
  records_.erase(found);
  return was_backed_off;
}

std::vector<std::string> BlackHoles::end(Time now) {
  std::vector<std::string> nodes;
  while (!ends_.empty() && ends_.begin()->first <= now) {
    nodes.push_back(ends_.begin()->second);
    Record& record = records_.at(nodes.back());
    record.backoff.reset();
    ends_.erase(ends_.begin());
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

std::optional<Time> BlackHoles::next_end() const {
  if (ends_.empty()) return std::nullopt;
  return ends_.begin()->first;
}

const gpu::AdmissionBackoff* BlackHoles::backoff(const std::string& node) const {
  const auto found = records_.find(node);
  if (found == records_.end() || !found->second.backoff) return nullptr;
  return &*found->second.backoff;
}

int BlackHoles::in_a_row(const std::string& node) const {
  const auto found = records_.find(node);
  return found == records_.end() ? 0 : found->second.in_a_row;
}

void BlackHoles::drop_old(Time now) {
  if (now < drop_at_) return;
  drop_at_ = now + limits_.within;
  std::erase_if(records_, [&](const auto& entry) {
    const Record& record = entry.second;
    return !record.backoff && now >= record.trial_ends && record.last < now - limits_.within;
  });
}

}  // namespace sched
