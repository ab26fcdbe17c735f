// gpu-scheduler.io/v1alpha1 GpuQuota: how many GPUs, of which types, the pods of some namespaces
// may use together, and what they may lend to and borrow from others.
//
// A custom resource of this project, cluster-scoped. Its schema and the rules that the API server
// checks are in manifests/base/crds, its meaning in scheduler/quota. Here is only the object as it
// is read and written: amounts are quantities of whole GPUs, unchecked, because a server without
// those rules, or an older object, may hold any value.
#pragma once

#include "k8s-client/api/kind.h"
#include "k8s-client/api/meta.h"
#include "k8s-client/api/quantity.h"
#include "k8s-client/api/selector.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace k8s {

// metav1.Condition. The time is that of the last change of `status`.
struct Condition {
  std::string type;
  std::string status;  // "True", "False", "Unknown"
  std::int64_t observed_generation = 0;
  std::optional<Timestamp> last_transition_time = {};
  std::string reason = {};
  std::string message = {};
  friend bool operator==(const Condition&, const Condition&) = default;
};

struct GpuQuota {
  static constexpr ObjectKind kKind{"GpuQuota", "gpu-scheduler.io/v1alpha1", "gpuquotas"};
  // Whether a pod that fits may pass an earlier pod of its quota that does not fit.
  enum class Order { kBestEffort, kStrict, kUnknown };
  // What happens to its namespaces when it is deleted: they get no GPUs for a while, or are treated
  // at once as namespaces without quota.
  enum class WhenDeleted { kClose, kOpen };

  struct Line {
    std::string gpu_type;  // a product, a class ("H100"), or "*": any other
    Quantity guaranteed = {};
    std::optional<Quantity> limit = {};  // absent: the guarantee, and all that the cohort can lend
    std::optional<Quantity> lendable = {};  // absent: all of the guarantee
    friend bool operator==(const Line&, const Line&) = default;
  };

  struct Spec {
    std::vector<std::string> namespaces = {};
    // In addition to the named ones; an empty selector selects all.
    std::optional<LabelSelector> namespace_selector = {};
    std::string cohort = {};  // empty: none
    std::string parent = {};  // the GpuQuota that this one is a part of; empty: none
    // Its weight among its siblings when they share what is idle; absent: its guarantee.
    std::optional<std::int64_t> weight = {};
    std::vector<Line> quotas = {};
    std::optional<Quantity> max_gpus_per_pod = {};
    Order order = Order::kBestEffort;
    WhenDeleted when_deleted = WhenDeleted::kClose;
    friend bool operator==(const Spec&, const Spec&) = default;
  };

  // Amounts of one line, or of all together, rounded up to a thousandth.
  struct Use {
    Quantity guaranteed = {};
    Quantity used = {};      // everything that counts against it, including what is borrowed
    Quantity borrowed = {};  // the part of `used` beyond the guarantee
    Quantity lent = {};      // the part of the guarantee that others of the cohort use now
    Quantity pending = {};   // what its waiting pods ask for
    friend bool operator==(const Use&, const Use&) = default;
  };
  struct LineStatus {
    std::string gpu_type;
    Use use = {};
    friend bool operator==(const LineStatus&, const LineStatus&) = default;
  };

  struct Status {
    std::int64_t observed_generation = 0;  // of the spec that the rest is about
    Use total = {};
    std::vector<LineStatus> quotas = {};     // in the order of the spec
    std::vector<Condition> conditions = {};  // Ready, NamespaceOverlap, …
    friend bool operator==(const Status&, const Status&) = default;
  };

  ObjectMeta metadata;
  Spec spec;
  std::optional<Status> status;  // absent: not written yet
  friend bool operator==(const GpuQuota&, const GpuQuota&) = default;
};

}  // namespace k8s
