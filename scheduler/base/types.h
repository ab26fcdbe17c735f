// The few types that every part of the scheduler uses to name time, pods and nodes.
#pragma once

#include "k8s-client/api/pod.h"

#include <cstdint>
#include <limits>
#include <string>

namespace sched {

// Wall-clock time, given by the shell. It never goes backwards.
using Time = k8s::Timestamp;

// A pod. The uid identifies it; the rest is for messages and for API paths.
struct PodRef {
  std::string namespace_;
  std::string name;
  std::string uid;
  friend bool operator==(const PodRef&, const PodRef&) = default;
};

[[nodiscard]] inline PodRef ref_of(const k8s::Pod& pod) {
  return {pod.metadata.namespace_, pod.metadata.name, pod.metadata.uid};
}

// Index of a node in Nodes. It is stable while the node, or a pod on it, is known, and is reused
// afterwards.
using NodeSlot = std::uint32_t;
inline constexpr NodeSlot kNoSlot = std::numeric_limits<NodeSlot>::max();

// A topology domain: the nodes that carry one value of a label. Numbered separately for each label;
// the number of a domain without nodes may be given to another.
using DomainId = std::uint32_t;
inline constexpr DomainId kNoDomain = std::numeric_limits<DomainId>::max();

}  // namespace sched
