#include "scheduler/engine/backoffs/black_holes.h"

#include <algorithm>
#include <utility>

namespace sched {
namespace {

std::set<std::string> names_of(const BlackHoles::Devices& devices) {
  std::set<std::string> names;
  for (const auto& [name, amount] : devices) names.insert(name);
  return names;
}

}  // namespace

bool BlackHoles::rejected(const event::PodRejected& pod, Time now) {
  drop_old(now);
  if (pod.at < now - limits_.within) return false;
  Record& record = records_[pod.node];
  if (is_known(record, pod)) return false;
  if (pod.at > now) {
    record.ahead.push_back(pod.pod.uid);
    if (record.ahead.size() > kMostAhead) record.ahead.pop_front();
    record.latest_ahead = std::max(record.latest_ahead, pod.at);
  }
  // If one clock was ahead once, later rejections must not count as old.
  const Time at = std::min(pod.at, now);
  record.last = std::max(record.last, at);
  ++rejections_;
  // Pods that were already bound when the back-off began prove nothing new.
  if (record.backoff) return false;

  if (now >= record.trial_ends) record.in_a_row = 0;
  ++record.rejected;
  record.recent.push_back({pod.pod.uid, at, names_of(pod.devices)});
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
  if (std::find(record.ahead.begin(), record.ahead.end(), pod.pod.uid) != record.ahead.end()) {
    return true;
  }
  if (pod.at <= record.proven) return true;
  // The rejections that led to a back-off are not stored, but they are not later than `last`.
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

BlackHoles::Names BlackHoles::devices_in_common(const Record& record) {
  if (record.recent.empty()) return record.broken;
  Names common = record.in_a_row > 0 ? record.broken : record.recent.front().devices;
  for (const Rejection& each : record.recent) {
    std::erase_if(common, [&](const std::string& name) { return !each.devices.contains(name); });
  }
  return common;
}

void BlackHoles::back_off(const std::string& node, Record& record, const event::PodRejected& pod,
                          Time now) {
  record.broken = devices_in_common(record);
  ++record.in_a_row;
  const auto length = length_of(record.in_a_row);
  record.backoff = {.until = now + length, .rejected = record.rejected, .reason = pod.reason};
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

bool BlackHoles::started(const std::string& node, const Devices& devices, Time admitted, Time now) {
  const auto found = records_.find(node);
  if (found == records_.end()) return false;
  Record& record = found->second;
  if (admitted <= record.last) return false;
  const Names suspects = devices_in_common(record);
  const bool proves =
      suspects.empty() || std::any_of(devices.begin(), devices.end(), [&](const auto& device) {
        return suspects.contains(device.first);
      });
  return proves && clear(node, record, std::min(admitted, now));
}

bool BlackHoles::clear(const std::string& node, Record& record, Time proven) {
  const bool was_backed_off = record.backoff.has_value();
  if (was_backed_off) ends_.erase({record.backoff->until, node});
  // Not erased, so that repeated events of earlier rejections are recognised as old.
  Record cleared;
  cleared.last = cleared.proven = proven;
  cleared.ahead = std::move(record.ahead);
  cleared.latest_ahead = record.latest_ahead;
  record = std::move(cleared);
  return was_backed_off;
}

bool BlackHoles::forget(const std::string& node) {
  const auto found = records_.find(node);
  if (found == records_.end()) return false;
  return clear(node, found->second, found->second.last);
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
    return !record.backoff && now >= record.trial_ends &&
           std::max(record.last, record.latest_ahead) < now - limits_.within;
  });
}

}  // namespace sched
