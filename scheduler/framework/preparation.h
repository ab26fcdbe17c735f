// What has to be so before a pod can be bound to the node that was chosen for it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace sched {

// An object as it was judged: a write fails where it has changed since, or is another of its name.
struct SeenObject {
  std::string namespace_;  // empty where the kind has none
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
  bool named_claim = false;  // it named the claim before, by a user's hand
  friend bool operator==(const ReserveVolume&, const ReserveVolume&) = default;
};

// A write to an object other than the pod. Done twice it is as if done once, and where the pod is
// not bound after all it stays: the next attempt begins from there.
using ObjectWrite = std::variant<SelectNode, ReserveVolume>;

struct Preparation {
  std::vector<ObjectWrite> writes;  // in this order; may be empty: then it is only waited
  // It is given up when it has taken so long.
  std::chrono::seconds patience{600};
};

// How far a preparation is, whose writes are done.
struct Readiness {
  enum class State : std::uint8_t { kReady, kWaits, kFailed };
  State state = State::kReady;
  std::string why;  // kWaits: for what; kFailed: what went wrong
};

}  // namespace sched
