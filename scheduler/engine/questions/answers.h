// What the engine answers about the cluster as a whole, as plain structs: for a person who looks at
// a terminal or a page. Pods that hold something are named by their uids, since of a bound pod the
// engine keeps no name.
#pragma once

#include "scheduler/base/types.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sched {

// One GPU resource of a node.
struct GpuPieces {
  enum class Kind : std::uint8_t {
    kWhole,     // a piece is a GPU, also under a name of somebody's own
    kReplica,   // a turn on a shared GPU or instance
    kInstance,  // a MIG instance
  };
  std::string resource;  // "nvidia.com/gpu"
  Kind kind = Kind::kWhole;
  std::string profile;  // of an instance, or of a replica of one: "1g.10gb"; else empty
  std::int64_t total = 0;
  std::int64_t used = 0;  // by all unfinished pods there; may be more than `total`
  [[nodiscard]] std::int64_t free() const { return total > used ? total - used : 0; }
  // How a piece is called beside its type: "mig-1g.10gb", "shared", "mig-1g.10gb.shared"; empty: a
  // whole GPU.
  [[nodiscard]] std::string form() const;
  friend bool operator==(const GpuPieces&, const GpuPieces&) = default;
};

// A pod on a node, and how many pieces of GPUs it has there.
struct GpuTenant {
  std::string uid;
  std::int64_t pieces = 0;
  friend bool operator==(const GpuTenant&, const GpuTenant&) = default;
};

// A node that has GPUs, or that says it should have some.
struct GpuNode {
  std::string node;
  // "H100-80GB": class and memory; the product's name where the class is not known; empty where the
  // labels name none.
  std::string type;
  std::vector<GpuPieces> pieces;  // by resource name
  // Why no pod gets any of its GPUs now, free or not; empty: nothing stands in the way.
  std::string closed;
  bool backed_off = false;         // `closed` because its kubelet rejected pods
  std::vector<GpuTenant> tenants;  // those with the most first
  friend bool operator==(const GpuNode&, const GpuNode&) = default;
};

// Why a node gives its GPUs to no pod.
enum class GpusClosed : std::uint8_t { kCordoned, kBackedOff, kNotReady, kMigChange, kNoneOffered };

// "cordoned", "backed_off", "mig_change" or "not_ready": as metrics and the page call it. A node
// that offers none has no GPU that could be counted.
[[nodiscard]] constexpr const char* to_string(GpusClosed closed) {
  switch (closed) {
    case GpusClosed::kCordoned:
      return "cordoned";
    case GpusClosed::kBackedOff:
      return "backed_off";
    case GpusClosed::kMigChange:
      return "mig_change";
    case GpusClosed::kNotReady:
    case GpusClosed::kNoneOffered:
      break;
  }
  return "not_ready";
}

// All GPUs, and all pods that wait, in numbers that are few however large the cluster is.
struct GpuTotals {
  // The pieces of one type in one form.
  struct Form {
    std::string type;  // the class, "H100"; the product's name where the class is not known
    std::string form;  // as GpuPieces::form()
    std::int64_t used = 0;
    std::int64_t free = 0;                      // on nodes that are not closed
    std::map<GpusClosed, std::int64_t> closed;  // free, and nobody gets them
    std::int64_t largest_block = 0;             // free on one node that is not closed
    std::int64_t whole_nodes_free = 0;          // not closed, and nothing of them is used
    friend bool operator==(const Form&, const Form&) = default;
  };
  enum class Queue : std::uint8_t { kActive, kBackoff, kUnschedulable, kGated };
  struct Waiting {
    std::int64_t pods = 0;
    std::int64_t gpus = 0;  // pieces that they ask for
    Time oldest{};          // since when the one that waits longest has waited
    friend bool operator==(const Waiting&, const Waiting&) = default;
  };
  std::vector<Form> forms;  // by type and form
  // By queue, and by the type that the pods ask for: a class ("H100"), "any", "other" (several, or
  // in other words), "none" (no GPU).
  std::map<std::pair<Queue, std::string>, Waiting> waiting;
  friend bool operator==(const GpuTotals&, const GpuTotals&) = default;
};

// A pod of ours without a node.
struct PodInLine {
  enum class Place : std::uint8_t { kActive, kBackoff, kParked, kRefused, kGated };
  PodRef pod;
  std::string quota;  // empty: none counts it
  Place place = Place::kActive;
  std::int32_t priority = 0;
  Time created{};
  std::int64_t gpus = 0;  // pieces under every name of GPUs, a MIG instance or a share being one
  std::string asks;       // "8 H100", "1 mig-1g.10gb"; empty: no GPU
  // What is wrong with the pod itself, so that no node can ever take it; empty: nothing.
  std::string never;
};

// What would make room for a pod that no node takes.
struct RoomFor {
  // A node that would take it if nothing else ran there; empty: none would.
  std::string if_empty;
  std::string if_empty_type;  // as GpuNode::type
  // The node on which the fewest GPUs would have to be given back, of such nodes the one with the
  // fewest pods that have them, and these pods; none: no such node.
  std::string node;
  std::vector<GpuTenant> pods;
  friend bool operator==(const RoomFor&, const RoomFor&) = default;
};

}  // namespace sched
