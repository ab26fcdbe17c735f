// gpu-scheduler.io/v1alpha1 GpuQuota: how many GPUs, of which types, the pods of some namespaces
// may use together, and what they may lend to and borrow from others.
//
// A custom resource of this project, cluster-scoped; its schema and the rules that the API server
// checks are in manifests/base/crds, what it means in scheduler/quota. This is the object as it is
// read and written, and nothing more: amounts are quantities of whole GPUs, unchecked, for a server
// without those rules, or an older object, may hold anything.
#pragma once

#include "k8s-client/api/meta.h"
#include "k8s-client/api/quantity.h"
#include "k8s-client/api/selector.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace k8s {

// metav1.Condition. The time says since when `status` has been what it is.
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
  // Whether a pod that fits may pass an earlier one of its quota that does not.
  enum class Order { kBestEffort, kStrict, kUnknown };
  // What becomes of its namespaces when it is deleted: they get no GPUs for a while, or what holds
  // without a quota.
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
    // Besides those named; an empty one selects all.
    std::optional<LabelSelector> namespace_selector = {};
    std::string cohort = {};  // empty: none
    std::string parent = {};  // the GpuQuota of which this one has a part; empty: none
    // What it is worth beside its siblings where they share what is idle; absent: its guarantee.
    std::optional<std::int64_t> weight = {};
    std::vector<Line> quotas = {};
    std::optional<Quantity> max_gpus_per_pod = {};
    Order order = Order::kBestEffort;
    WhenDeleted when_deleted = WhenDeleted::kClose;
    friend bool operator==(const Spec&, const Spec&) = default;
  };

  // Amounts of one line, or of all together. What is finer than a thousandth is rounded up.
  struct Use {
    Quantity guaranteed = {};
    Quantity used = {};      // all that counts against it, borrowed included
    Quantity borrowed = {};  // of `used`, what is beyond the guarantee
    Quantity lent = {};      // of the guarantee, what others of the cohort use now
    Quantity pending = {};   // what its waiting pods ask for
    friend bool operator==(const Use&, const Use&) = default;
  };
  struct LineStatus {
    std::string gpu_type;
    Use use = {};
    friend bool operator==(const LineStatus&, const LineStatus&) = default;
  };

  struct Status {
    std::int64_t observed_generation = 0;  // of the spec that all this is about
    Use total = {};
    std::vector<LineStatus> quotas = {};     // in the order of the spec
    std::vector<Condition> conditions = {};  // Ready, NamespaceOverlap, …
    friend bool operator==(const Status&, const Status&) = default;
  };

  ObjectMeta metadata;
  Spec spec;
  std::optional<Status> status;  // absent: nobody has written one yet
  friend bool operator==(const GpuQuota&, const GpuQuota&) = default;
};

}  // namespace k8s
