// The configuration of an engine, besides its profiles.
#pragma once

#include "scheduler/framework/cluster_context.h"
#include "scheduler/framework/device_allocator.h"
#include "scheduler/gpu/labels.h"
#include "scheduler/quota/options.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace sched {

// How much memory may be taken by what can be computed anew, in bytes.
struct EngineMemory {
  // What is stored of shapes: enough for some 500 on 100,000 nodes (1 MB each with the hundred
  // shapes of `bench decide`).
  std::size_t shapes = std::size_t{512} << 20U;
  // The counts of rules across nodes; they may take a sixteenth more for a while.
  std::size_t counts = std::size_t{128} << 20U;
  friend bool operator==(const EngineMemory&, const EngineMemory&) = default;
};

struct EngineOptions {
  // Waiting time after a failed bind: doubles per consecutive failure, up to the maximum.
  std::chrono::milliseconds initial_backoff{1'000};
  std::chrono::milliseconds max_backoff{10'000};
  // A pod that has waited so long without being woken is tried again, and its message refreshed.
  std::chrono::seconds max_unschedulable_wait{300};
  // The shortest time between two searches for MIG configurations that would place waiting pods.
  std::chrono::seconds repartition_interval{10};
  // Chooses the devices of each placement by name; null: devices are only counted, and kubelet
  // chooses them.
  std::shared_ptr<const DeviceAllocator> devices = nullptr;
  // The kinds of pods that scores expect, if known beforehand; else they are learned from the pods
  // that come.
  std::optional<std::vector<TypicalPod>> typical_pods = std::nullopt;
  // Labels of the site that name the GPUs of a node.
  gpu::SiteLabels site_labels{};
  // Whether binds name the second-best node, for people to read. It changes no choice.
  bool names_runner_up = false;
  quota::Options quota{};
  EngineMemory memory{};
};

}  // namespace sched
