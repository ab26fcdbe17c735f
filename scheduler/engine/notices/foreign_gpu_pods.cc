#include "scheduler/engine/notices/foreign_gpu_pods.h"

#include <utility>

namespace sched {

void ForeignGpuPods::seen(decision::ForeignGpuPod pod, bool node_is_owned) {
  const std::string uid = pod.pod.uid;
  const auto [found, is_new] = pods_.try_emplace(uid);
  if (!is_new) return;
  found->second.pod = std::move(pod);
  if (node_is_owned) {
    report_later(uid, found->second);
  } else {
    harmless_on_[found->second.pod.node].insert(uid);
  }
}

void ForeignGpuPods::node_owned(const std::string& node) {
  const auto found = harmless_on_.find(node);
  if (found == harmless_on_.end()) return;
  for (const std::string& uid : found->second) report_later(uid, pods_.find(uid)->second);
  harmless_on_.erase(found);
}

void ForeignGpuPods::gone(const std::string& uid) {
  const auto found = pods_.find(uid);
  if (found == pods_.end()) return;
  const auto there = harmless_on_.find(found->second.pod.node);
  if (there != harmless_on_.end()) {
    there->second.erase(uid);
    if (there->second.empty()) harmless_on_.erase(there);
  }
  if (found->second.state == State::kUnreported) unreported_.erase(found->second.number);
  pods_.erase(found);
}

std::optional<decision::ForeignGpuPod> ForeignGpuPods::next() {
  if (unreported_.empty()) return std::nullopt;
  Entry& entry = pods_.find(unreported_.begin()->second)->second;
  unreported_.erase(unreported_.begin());
  entry.state = State::kReported;
  return entry.pod;
}

void ForeignGpuPods::report_later(const std::string& uid, Entry& entry) {
  entry.state = State::kUnreported;
  entry.number = ++numbers_;
  unreported_.emplace(entry.number, uid);
}

}  // namespace sched
