#include "scheduler/cluster/pod_templates.h"

#include "scheduler/base/random.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

namespace sched {
namespace {

constexpr std::uint64_t kMostOfADigest = 8;

}  // namespace

ShapeRef PodTemplates::shape(const k8s::Pod& pod) { return known_shape(pod); }

Claim PodTemplates::claim_of_bound(const k8s::Pod& pod) {
  // During an in-place resize the pod's status counts. And if it has pod-level requests, upstream
  // reads those of a bound pod differently.
  if (!asks_as_pending(pod)) return sched::claim_of_bound(pod, names_);
  return claim_of(*known_shape(pod));
}

const ShapeRef& PodTemplates::known_shape(const k8s::Pod& pod) {
  const std::size_t digest = template_digest(pod);
  const auto [from, to] = templates_.equal_range(digest);
  for (auto known = from; known != to; ++known) {
    if (same_template(known->second.sample, pod)) return known->second.shape;
  }
  ++made_;
  // Many templates may differ only in parts that the digest leaves out, such as the node affinity.
  // A random one is dropped. If the oldest were dropped, and one kind more than fits came in turn,
  // no template would ever be found.
  if (std::distance(from, to) >= static_cast<std::ptrdiff_t>(kMostOfADigest)) {
    const std::uint64_t any = bounded(mix64(made_), kMostOfADigest);
    erase(std::next(from, static_cast<std::ptrdiff_t>(any)));
  }
  Template made{.sample = template_of(pod), .shape = {}, .bytes = 0};
  made.shape = shapes_.intern(shape_of(made.sample, names_));
  made.bytes = sizeof(Templates::value_type) + heap_bytes(made.sample) + sizeof(PodShape) +
               made.shape.memory();
  if (templates_.size() >= most_ || bytes_ + made.bytes > kMostBytes) clear();
  bytes_ += made.bytes;
  return templates_.emplace(digest, std::move(made))->second.shape;
}

void PodTemplates::clear() {
  templates_.clear();
  bytes_ = 0;
}

void PodTemplates::erase(Templates::iterator known) {
  bytes_ -= known->second.bytes;
  templates_.erase(known);
}

}  // namespace sched
