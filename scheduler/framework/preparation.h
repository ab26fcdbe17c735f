// What must be done before a pod can be bound to its chosen node.
#pragma once

#include "scheduler/framework/object_key.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace sched {

// An object as it was when the pod was judged: a write fails if it has changed since, or if another
// object has its name.
struct SeenObject {
  std::string namespace_;  // empty if the kind has none
  std::string name;
  std::string uid;
  std::string resource_version;
  friend bool operator==(const SeenObject&, const SeenObject&) = default;
};

// A claim's volume is to be provisioned where that node can use it: the claim is annotated with
// volume.kubernetes.io/selected-node, and its provisioner does the rest.
struct SelectNode {
  SeenObject claim;
  std::string node;
  friend bool operator==(const SelectNode&, const SelectNode&) = default;
};

// A volume is bound to a claim, from its side; the volume controller does the rest.
struct ReserveVolume {
  SeenObject volume;
  SeenObject claim;
  bool named_claim = false;  // a user had already named the claim in the volume
  friend bool operator==(const ReserveVolume&, const ReserveVolume&) = default;
};

// A write to an object other than the pod. It is idempotent. If the pod is not bound after all, the
// write stays, and the next attempt begins from there.
using ObjectWrite = std::variant<SelectNode, ReserveVolume>;

struct Preparation {
  std::vector<ObjectWrite> writes;  // in this order; empty: the plan only waits
  // The longest time that the preparation may take.
  std::chrono::seconds patience{600};
  // The objects by whose changes it may become ready, or fail: readiness() is asked again when one
  // of them changes, or the node. A change of a volume is also one of the claim that it names.
  std::vector<ObjectKey> awaits{};
};

// The state of a preparation after all its writes are done.
struct Readiness {
  enum class State : std::uint8_t { kReady, kWaits, kFailed };
  State state = State::kReady;
  std::string why{};    // kWaits: for what; kFailed: the error
  bool by_node = true;  // kFailed: another node might do
  // kFailed: it cannot be done for that node, and no watched object shows that, so the next try
  // would choose the node again. After some such failures the node is left out for the pod.
  bool avoids_node = false;
};

}  // namespace sched
