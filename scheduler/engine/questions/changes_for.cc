#include "scheduler/engine/questions/questions.h"
#include "scheduler/framework/taints.h"
#include "scheduler/gpu/wishes.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sched {
namespace {

constexpr std::size_t kMostTried = 6;
constexpr std::size_t kMostTold = 3;
constexpr const char* kTolerations = "tolerations";

// The annotations that only exclude nodes, so that a change can leave one out. The others state
// what the pod's GPU must be.
constexpr std::array kNarrowing = {gpu::kTypeAnnotation,       gpu::kMinMemoryAnnotation,
                                   gpu::kMinComputeAnnotation, gpu::kMinDriverAnnotation,
                                   gpu::kMinCudaAnnotation,    gpu::kSharingAnnotation};

struct Changed {
  k8s::Pod pod;
  PodChange change;
  std::string_view label;  // the label whose required value the change drops; empty: none
};

// A copy of the pod that also tolerates each taint of a node that keeps it off, except passing ones
// (is_passing). The same pod if there is no such taint.
k8s::Pod tolerating_more(const k8s::Pod& pod, const Nodes& nodes) {
  k8s::Pod changed = pod;
  for (NodeSlot slot = 0; slot < nodes.slots(); ++slot) {
    if (!nodes.present(slot)) continue;
    for (const k8s::Taint& taint : nodes.facts(slot).taints) {
      if (is_passing(taint) || !keeps_off(taint, changed.spec.tolerations)) continue;
      changed.spec.tolerations.push_back({.key = taint.key,
                                          .op = k8s::TolerationOperator::kExists,
                                          .value = {},
                                          .effect = std::nullopt});
    }
  }
  return changed;
}

// Copies of the pod, each with one requirement less. Only for the first kMostTried requirements,
// because a pod may have thousands. Tolerations come first, because they do not change which nodes
// the pod selects.
std::vector<Changed> changed_pods(const k8s::Pod& pod, const Nodes& nodes) {
  std::vector<Changed> all;
  const auto changed = [&](std::string what) -> Changed& {
    all.push_back({.pod = pod, .change = {.what = std::move(what)}, .label = {}});
    return all.back();
  };
  k8s::Pod tolerating = tolerating_more(pod, nodes);
  if (tolerating.spec.tolerations.size() > pod.spec.tolerations.size()) {
    changed(kTolerations).pod = std::move(tolerating);
  }
  for (const auto& [label, value] : pod.spec.node_selector) {
    if (all.size() == kMostTried) return all;
    Changed& one = changed("nodeSelector " + label);
    one.pod.spec.node_selector.erase(label);
    one.label = label;
  }
  for (const std::string_view annotation : kNarrowing) {
    if (all.size() == kMostTried) return all;
    if (pod.metadata.annotations.find(annotation) == nullptr) continue;
    changed("annotation " + std::string(annotation)).pod.metadata.annotations.erase(annotation);
  }
  if (all.size() == kMostTried) return all;
  if (pod.spec.node_affinity && pod.spec.node_affinity->required) {
    changed("required node affinity").pod.spec.node_affinity->required.reset();
  }
  return all;
}

// Completes the change by what the node has.
void name_value(const k8s::Pod& pod, const NodeFacts& node, Changed& changed) {
  PodChange& change = changed.change;
  if (!changed.label.empty()) {
    if (const std::string* value = node.labels.find(changed.label)) change.to = *value;
  } else if (change.what == kTolerations) {
    for (const k8s::Taint& taint : node.taints) {
      if (!keeps_off(taint, pod.spec.tolerations)) continue;
      change.to += (change.to.empty() ? "[" : ", ") + toleration_of(taint);
    }
    change.to += ']';
  }
}

std::int64_t gpus_of(const PodChange& change) {
  std::int64_t sum = 0;
  for (const GpuTenant& pod : change.pods) sum = saturating_add(sum, pod.pieces);
  return sum;
}

}  // namespace

std::vector<PodChange> Questions::changes_for(const k8s::Pod& pod) const {
  std::vector<PodChange> changes;
  for (Changed& changed : changed_pods(pod, world_.nodes)) {
    PodChange& change = changed.change;
    if (const auto best = candidates(changed.pod, 1, {}); !best.empty()) {
      change.node = best.front().node;
    } else if (!is_beyond_quota(changed.pod)) {
      RoomFor room = room_for(changed.pod);
      if (room.node.empty()) continue;
      // There the pod would do as it is.
      if (has_room_without(pod, room.pods, world_.nodes.find(room.node))) continue;
      change.node = std::move(room.node);
      change.pods = std::move(room.pods);
    }
    if (change.node.empty()) continue;
    name_value(pod, world_.nodes.facts(world_.nodes.find(change.node)), changed);
    changes.push_back(std::move(change));
  }
  std::stable_sort(changes.begin(), changes.end(), [](const PodChange& a, const PodChange& b) {
    return std::pair(gpus_of(a), a.pods.size()) < std::pair(gpus_of(b), b.pods.size());
  });
  if (changes.size() > kMostTold) changes.resize(kMostTold);
  return changes;
}

bool Questions::is_beyond_quota(const k8s::Pod& pod) const {
  const Asked asked(world_, pod);
  const auto by_quota = judge_by_quota(asked);
  return by_quota && (by_quota->refuses || by_quota->admission.refuses());
}

}  // namespace sched
