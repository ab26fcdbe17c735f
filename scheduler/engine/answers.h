// The engine's answers about the cluster as a whole, as plain structs for people at a terminal or a
// page. Pods that hold something are identified by uid, because the engine stores no name of a
// bound pod.
#pragma once

#include "k8s-client/api/gpu_quota.h"
#include "scheduler/base/types.h"
#include "scheduler/cluster/fragmentation.h"
#include "scheduler/engine/decision.h"
#include "scheduler/framework/verdict.h"

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sched {

// What a question supposes: the state as it is now, but for some pods.
struct Supposed {
  struct Placed {
    std::string uid;   // of a pod of ours that waits
    std::string node;  // by name
  };
  std::vector<std::string> ended;  // pods that hold something, by uid
  std::vector<Placed> placed;
};

// Why a pod may or may not run on one node, as text: for explain and for comparison with upstream.
struct NodeExplanation {
  std::string node;
  Code code = Code::kOk;
  std::string plugin;                // the first plugin that refused; empty when ok
  std::vector<std::string> reasons;  // in kube-scheduler's words, sorted
  std::vector<std::string> numbers;  // the numbers behind them
};
// Nodes that refuse a pod for the same reasons.
struct RefusedAlike {
  std::size_t nodes = 0;
  NodeExplanation first;  // of them, by name
};
struct Explanation {
  // A refusal of the pod as a whole, before any node was checked.
  std::optional<std::string> rejection_plugin;
  std::optional<std::string> rejection;
  std::size_t all_nodes = 0;
  std::size_t fitting_nodes = 0;
  std::vector<NodeExplanation> nodes;  // explain: by name
  std::vector<RefusedAlike> refused;   // explain_alike: in the order of their first nodes
  std::string message;                 // FitError text; empty when some node fits
  bool by_quota = false;               // the message is the quota's, whatever nodes say
  bool never_by_quota = false;         // its quota can never give so much, or such GPUs
  std::string details;
};

// A node that may run a pod, with its scores.
struct Candidate {
  std::string node;
  std::int64_t total_score = 0;
  std::vector<PluginScore> scores;
  friend bool operator==(const Candidate&, const Candidate&) = default;
};

// A GpuQuota's account as it is now.
struct QuotaStatus {
  std::string name;
  std::string uid;
  k8s::GpuQuota::Status status;  // its conditions without times of transition
  std::string parent{};          // the name of its parent; empty: none
  friend bool operator==(const QuotaStatus&, const QuotaStatus&) = default;
};

// GPUs that a pod uses beyond its quota's guarantee.
struct BorrowedGpus {
  std::string uid;         // of the pod
  std::string namespace_;  // the pod's
  std::string quota;
  std::string gpu_type;  // of the quota's line
  k8s::Quantity gpus;    // the borrowed part of what it uses
  Time since{};          // when it was charged
  friend bool operator==(const BorrowedGpus&, const BorrowedGpus&) = default;
};

// The quotas of a namespace, and the line in which its pods wait.
struct NamespaceQuotas {
  // The quota that counts its pods, then the one that this is a part of, and so on.
  std::vector<QuotaStatus> quotas;
  // Why its pods get no GPUs, whatever is free; empty: they may.
  std::string without;
  std::size_t in_line = 0;               // pods in the line of its quota, as PodInLine::line_length
  std::optional<PodRef> head;            // the first of them; nullopt: there is none
  Time head_since{};                     // since when the head waits
  std::size_t first_place = 0;           // of the first pod of the namespace; 0: none is in line
  std::vector<BorrowedGpus> borrowed{};  // by its pods, the latest loan first
  // Quotas that select the namespace, too, and do not count it.
  std::vector<std::string> selecting_without_effect{};
};

// What the pods of a namespace use of a quota's line.
struct QuotaUse {
  std::string quota;
  std::string gpu_type;  // of the line; empty: of GPUs that none of its lines names
  std::string namespace_;
  std::size_t pods = 0;
  k8s::Quantity gpus;
  friend bool operator==(const QuotaUse&, const QuotaUse&) = default;
};

// What has changed in the accounts of quotas.
struct QuotaNews {
  std::vector<QuotaStatus> changed;
  std::vector<std::string> gone;  // by name
  // What a new process must be given as QuotaRemembered; nullopt: unchanged.
  std::optional<std::vector<k8s::GpuQuota>> remember{};
};

// One GPU resource of a node.
struct GpuPieces {
  enum class Kind : std::uint8_t {
    kWhole,     // a piece is a GPU, under any name
    kReplica,   // a share of a shared GPU or instance
    kInstance,  // a MIG instance
  };
  std::string resource;  // "nvidia.com/gpu"
  Kind kind = Kind::kWhole;
  std::string profile;  // of an instance, or of a replica of one: "1g.10gb"; else empty
  std::int64_t total = 0;
  std::int64_t used = 0;  // by all unfinished pods there; may be more than `total`
  std::int64_t held = 0;  // for a pod that has waited long: no other pod gets them
  [[nodiscard]] std::int64_t free() const { return std::max<std::int64_t>(total - used - held, 0); }
  // The form of a piece, besides its type: "mig-1g.10gb", "shared", "mig-1g.10gb.shared"; empty: a
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

// A node that has GPUs, or with labels that state that it has some.
struct GpuNode {
  std::string node;
  // "H100-80GB": class and memory; the product's name if the class is not known; empty if the
  // labels name none.
  std::string type;
  std::vector<GpuPieces> pieces;  // that it offers, by resource name
  // Why no pod gets any of its GPUs now, free or not; empty: pods can get them.
  std::string closed;
  bool backed_off = false;         // `closed` because its kubelet rejected pods
  std::size_t pods = 0;            // that have some of them
  std::vector<GpuTenant> tenants;  // these, with the most pieces first, if they were asked for
  friend bool operator==(const GpuNode&, const GpuNode&) = default;
};

// Why no pod gets GPUs of a node.
enum class GpusClosed : std::uint8_t {
  kCordoned,
  kBackedOff,
  kNotReady,
  kMigChange,
  kUnhealthy,  // FilterPlugin::keeps_devices_off()
  kNoneOffered
};

// "cordoned", "backed_off", "mig_change", "unhealthy" or "not_ready": as metrics and the page call
// it. A node that offers none has no GPU that could be counted as free.
[[nodiscard]] constexpr const char* to_string(GpusClosed closed) {
  switch (closed) {
    case GpusClosed::kCordoned:
      return "cordoned";
    case GpusClosed::kBackedOff:
      return "backed_off";
    case GpusClosed::kMigChange:
      return "mig_change";
    case GpusClosed::kUnhealthy:
      return "unhealthy";
    case GpusClosed::kNotReady:
    case GpusClosed::kNoneOffered:
      break;
  }
  return "not_ready";
}

// All GPUs and all waiting pods, in a small number of figures whatever the size of the cluster.
struct GpuTotals {
  // The pieces of one type in one form.
  struct Form {
    std::string type;  // the class, "H100"; the product's name if the class is not known
    std::string form;  // as GpuPieces::form()
    std::int64_t used = 0;
    std::int64_t held = 0;                      // for pods that have waited long
    std::int64_t free = 0;                      // on nodes that are not closed
    std::map<GpusClosed, std::int64_t> closed;  // free, but no pod gets them
    std::int64_t largest_block = 0;             // free on one node that is not closed
    std::int64_t whole_nodes_free = 0;          // nodes that are not closed, none used or held
    friend bool operator==(const Form&, const Form&) = default;
  };
  enum class Queue : std::uint8_t { kActive, kBackoff, kUnschedulable, kGated };
  // What a pod waits for. If it is several things, the first of these.
  enum class Reason : std::uint8_t {
    kBackoff,      // the end of the back-off after a failed bind
    kGates,        // the removal of its scheduling gates
    kQuotaChange,  // a change of its quota, which can never give so much
    kQuota,        // room in its quota
    kNever,        // a change of the pod itself: no node can ever take it as it is written
    kRules,        // other pods or objects, by a rule across nodes
    kGroup,        // pods of its group that are not there yet
    kNode,         // room on a node
    kTurn,         // its turn
  };
  struct WaitsIn {
    Queue queue = Queue::kActive;
    Reason reason = Reason::kTurn;
    std::string type;  // that it asks for: "H100"; "any", "other" (several, or by other means),
                       // "none" (no GPU)
    friend auto operator<=>(const WaitsIn&, const WaitsIn&) = default;
  };
  struct Waiting {
    std::int64_t pods = 0;
    std::int64_t gpus = 0;  // pieces that they ask for
    Time oldest{};          // since when the one that has waited longest waits
    friend bool operator==(const Waiting&, const Waiting&) = default;
  };
  std::vector<Form> forms;  // by type and form
  std::map<WaitsIn, Waiting> waiting;

  // The whole GPUs that are free on nodes that are not closed, of one type, by whether typical pods
  // could use them (scheduler/cluster/fragmentation.h). In GPUs.
  std::map<std::string, std::array<double, kFreeGpuCauses>> free_by_cause;
  // Pieces that the pods of a namespace use, for those with the most; and the sum of the others.
  static constexpr std::size_t kMostNamespaces = 50;
  std::map<std::string, std::int64_t> namespaces;
  std::int64_t other_namespaces = 0;

  struct Quota {
    std::size_t holds = 0;      // pods for which quota, or a node, is held
    std::optional<Time> since;  // since when the first pod in line waits; nullopt: none waits
    friend bool operator==(const Quota&, const Quota&) = default;
  };
  std::map<std::string, Quota> quotas;  // by name; those that no pod has waited in may be missing
  friend bool operator==(const GpuTotals&, const GpuTotals&) = default;
};

// A pod of this scheduler without a node.
struct PodInLine {
  enum class Place : std::uint8_t { kActive, kBackoff, kParked, kRefused, kGated };
  PodRef pod;
  std::string group;         // with which it waits to start; empty: it waits alone
  std::string group_waits;   // why that waits; empty: it has had no turn yet
  bool misses_pods = false;  // that is why: pods of the group are missing
  std::string quota;         // empty: no quota counts it
  Place place = Place::kActive;
  std::int32_t priority = 0;
  Time created{};
  std::int64_t gpus = 0;       // pieces under all names of GPUs; an instance or a share counts 1
  std::int64_t instances = 0;  // of these, the MIG instances that it asks for by name
  std::string asks;            // "8 H100", "1 mig-1g.10gb"; empty: no GPU
  // Why no node can ever take the pod; empty: the pod itself is in order.
  std::string never;
  // Its place, from 1, among the pods of its quota that wait for room or for the end of a back-off,
  // and how many these are. 0: it is not one of them, or no quota counts it.
  std::size_t place_in_line = 0;
  std::size_t line_length = 0;
};

// What would make room for a pod that no node takes.
struct RoomFor {
  // A node that would take it if nothing else ran there; empty: there is none.
  std::string if_empty;
  std::string if_empty_type;  // as GpuNode::type
  // The node on which the fewest GPUs would have to be freed (among equals the fewest pods would
  // have to end), and these pods; empty: there is no such node.
  std::string node;
  std::vector<GpuTenant> pods;
  friend bool operator==(const RoomFor&, const RoomFor&) = default;
};

// A change to a pod that no node takes, after which one would.
struct PodChange {
  std::string what;               // "nodeSelector example.com/zone", "tolerations"
  std::string to{};               // what it would have to be; empty: it would have to go
  std::string node{};             // that would take the pod
  std::vector<GpuTenant> pods{};  // that would have to end there first
  friend bool operator==(const PodChange&, const PodChange&) = default;
};

}  // namespace sched
