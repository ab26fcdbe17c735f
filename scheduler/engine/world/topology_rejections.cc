#include "scheduler/engine/world/topology_rejections.h"

#include <algorithm>

namespace sched {

void TopologyRejections::add(const std::string& node, const Requests& requests,
                             const std::string& uid, Time now) {
  forget(now);
  auto known = std::find_if(rejections_.begin(), rejections_.end(), [&](const Rejection& each) {
    return each.node == node && each.requests == requests;
  });
  if (known == rejections_.end()) {
    if (rejections_.size() == kMost) {
      if (rejections_.front().is_out) end(rejections_.front());
      rejections_.erase(rejections_.begin());
    }
    known = rejections_.insert(rejections_.end(), {.node = node, .requests = requests, .pods = {}});
    known->is_out = false;
  }
  if (std::find(known->pods.begin(), known->pods.end(), uid) != known->pods.end()) return;
  if (known->pods.size() == kMostPods) known->pods.erase(known->pods.begin());
  known->pods.push_back(uid);
  std::chrono::minutes length = kShortest;
  for (int i = 0; i < known->times && length < kLongest; ++i) length *= 2;
  ++known->times;
  known->until = now + std::min(length, kLongest);
  if (!known->is_out) ++out_;
  known->is_out = true;
  look_ahead();
}

void TopologyRejections::node_gone(const std::string& node) {
  for (Rejection& each : rejections_) {
    if (each.node != node) continue;
    if (each.is_out) end(each);
    each.times = 0;
  }
  look_ahead();
}

void TopologyRejections::forget(Time now) {
  if (!next_change_ || now < *next_change_) return;
  for (Rejection& each : rejections_) {
    if (each.is_out && each.until <= now) end(each);
  }
  std::erase_if(rejections_, [&](const Rejection& each) { return each.until + kLongest <= now; });
  look_ahead();
}

void TopologyRejections::end(Rejection& over) {
  over.is_out = false;
  --out_;
  ++ended_;
}

void TopologyRejections::look_ahead() {
  next_end_.reset();
  next_change_.reset();
  for (const Rejection& each : rejections_) {
    if (each.is_out) next_end_ = std::min(next_end_.value_or(each.until), each.until);
    const Time change = each.is_out ? each.until : each.until + kLongest;
    next_change_ = std::min(next_change_.value_or(change), change);
  }
}

std::vector<std::string> TopologyRejections::left_out(const Requests& requests) const {
  std::vector<std::string> nodes;
  for (const Rejection& each : rejections_) {
    if (each.is_out && each.requests == requests) nodes.push_back(each.node);
  }
  return nodes;
}

}  // namespace sched
