// The few types that every part of the scheduler uses to name time, pods and nodes.
#pragma once

#include "k8s-client/api/pod.h"

#include <cstdint>
#include <limits>
#include <string>

namespace sched {

// Wall-clock time as the shell states it. It never goes backwards.
using Time = k8s::Timestamp;

// Which pod. The uid decides; the rest is for messages and for API paths.
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

// A topology domain: the nodes that carry one value of a label. Numbered for each label by itself;
// one that loses its last node may become another.
using DomainId = std::uint32_t;
inline constexpr DomainId kNoDomain = std::numeric_limits<DomainId>::max();

}  // namespace sched
