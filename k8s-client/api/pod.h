// corev1.Pod, the fields that decide where it may run and what it takes there.
//
// Fields are optional if absent and empty mean different things.
#pragma once

#include "k8s-client/api/kind.h"
#include "k8s-client/api/meta.h"
#include "k8s-client/api/node.h"
#include "k8s-client/api/selector.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace k8s {

// A port of the node that a container takes: its hostPort, or with hostNetwork also its
// containerPort. Other ports are not stored.
struct ContainerPort {
  std::int32_t host_port = 0;
  std::string host_ip;   // empty means 0.0.0.0
  std::string protocol;  // empty means TCP
  friend bool operator==(const ContainerPort&, const ContainerPort&) = default;
};

struct Container {
  std::string name;
  std::string image;
  ResourceList requests;
  ResourceList limits;
  std::vector<ContainerPort> ports;
  // For an init container: restartPolicy Always, which makes it a sidecar.
  bool restart_always = false;
  // One of its restartPolicyRules has the action RestartAllContainers.
  bool restarts_all_containers = false;
  friend bool operator==(const Container&, const Container&) = default;
};

enum class TolerationOperator { kEqual, kExists, kLt, kGt, kUnknown };

struct Toleration {
  std::string key;                                     // empty with kExists: every key
  TolerationOperator op = TolerationOperator::kEqual;  // absent means Equal
  std::string value;
  std::optional<TaintEffect> effect;  // absent: every effect
  // Whether this toleration covers `taint`. Lt and Gt (alpha, off by default) never do.
  [[nodiscard]] bool tolerates(const Taint& taint) const;
  friend bool operator==(const Toleration&, const Toleration&) = default;
};

struct PreferredNodeTerm {
  std::int32_t weight = 0;
  NodeSelectorTerm preference;
  friend bool operator==(const PreferredNodeTerm&, const PreferredNodeTerm&) = default;
};

struct NodeAffinity {
  std::optional<NodeSelector> required;      // requiredDuringSchedulingIgnoredDuringExecution
  std::vector<PreferredNodeTerm> preferred;  // without those that match nothing
  friend bool operator==(const NodeAffinity&, const NodeAffinity&) = default;
};

struct PodAffinityTerm {
  std::optional<LabelSelector> label_selector;  // absent: matches no pod
  std::vector<std::string> namespaces;
  std::optional<LabelSelector> namespace_selector;  // absent: `namespaces`, or the pod's own
  std::string topology_key;
  std::vector<std::string> match_label_keys;
  std::vector<std::string> mismatch_label_keys;
  friend bool operator==(const PodAffinityTerm&, const PodAffinityTerm&) = default;
};

struct WeightedPodAffinityTerm {
  std::int32_t weight = 0;
  PodAffinityTerm term;
  friend bool operator==(const WeightedPodAffinityTerm&, const WeightedPodAffinityTerm&) = default;
};

struct PodAffinity {
  std::vector<PodAffinityTerm> required;
  std::vector<WeightedPodAffinityTerm> preferred;
  friend bool operator==(const PodAffinity&, const PodAffinity&) = default;
};

struct TopologySpreadConstraint {
  std::int32_t max_skew = 1;
  std::string topology_key;
  bool do_not_schedule = true;  // whenUnsatisfiable: DoNotSchedule, or ScheduleAnyway
  std::optional<LabelSelector> label_selector;
  std::optional<std::int32_t> min_domains;
  bool node_affinity_honor = true;  // nodeAffinityPolicy, default Honor
  bool node_taints_honor = false;   // nodeTaintsPolicy, default Ignore
  std::vector<std::string> match_label_keys;
  friend bool operator==(const TopologySpreadConstraint&,
                         const TopologySpreadConstraint&) = default;
};

// A disk that a pod mounts in-line, without a claim. It is identified by its volume's source and by
// the fields here.
struct Disk {
  std::string id;  // the source's field that disk_source() (words.h) names
  bool read_only = false;
  std::vector<std::string> monitors;  // only for rbd
  std::string pool;                   // only for rbd
  friend bool operator==(const Disk&, const Disk&) = default;
};

// A volume as far as it can bind a pod to nodes. Volumes that every node can mount (emptyDir,
// configMap, secret, projected, downwardAPI, hostPath, image, nfs, in-line csi …) are not stored:
// no plugin of kube-scheduler reads them.
struct Volume {
  enum class Kind {
    kPersistentVolumeClaim,  // claim_name
    kEphemeral,              // generic ephemeral: its claim is named <pod>-<volume>
    kDisk,                   // disk
    kUnknown,                // an unknown source
  };
  std::string name;
  Kind kind = Kind::kPersistentVolumeClaim;
  std::string claim_name;
  std::string source;  // the volume source's field name: "persistentVolumeClaim", "iscsi", …
  Disk disk{};
  friend bool operator==(const Volume&, const Volume&) = default;
};

struct PodResourceClaim {
  std::string name;
  friend bool operator==(const PodResourceClaim&, const PodResourceClaim&) = default;
};

enum class PodPhase { kPending, kRunning, kSucceeded, kFailed, kUnknown };

struct PodCondition {
  std::string type;
  std::string status;
  std::string reason;
  std::string message;
  std::int64_t observed_generation = 0;
  friend bool operator==(const PodCondition&, const PodCondition&) = default;
};

// The node's values for a container during an in-place resize.
struct ContainerStatus {
  std::string name;
  std::optional<ResourceList> allocated_resources;  // status.containerStatuses[].allocatedResources
  // status.containerStatuses[].resources.requests; present where `resources` is, if only as {}.
  std::optional<ResourceList> requests;
  friend bool operator==(const ContainerStatus&, const ContainerStatus&) = default;
};

struct Pod {
  static constexpr ObjectKind kKind{"Pod", "v1", "pods", kNamespaced};
  ObjectMeta metadata;
  struct Spec {
    std::string scheduler_name;
    std::string node_name;  // empty: not bound
    std::int32_t priority = 0;
    std::string priority_class_name;
    std::string preemption_policy;
    std::vector<Container> init_containers;
    std::vector<Container> containers;
    // Pod-level: spec.resources.requests and limits.
    std::optional<ResourceList> resource_requests;
    std::optional<ResourceList> resource_limits;
    ResourceList overhead;
    StringMap node_selector;
    std::optional<NodeAffinity> node_affinity;
    std::optional<PodAffinity> pod_affinity;
    std::optional<PodAffinity> pod_anti_affinity;
    std::vector<Toleration> tolerations;
    std::vector<TopologySpreadConstraint> topology_spread_constraints;
    std::vector<std::string> scheduling_gates;  // names
    std::vector<Volume> volumes;
    std::vector<std::string> image_volumes;  // images that are mounted as volumes
    std::vector<PodResourceClaim> resource_claims;
    bool host_network = false;
    bool user_namespace = false;  // hostUsers is false: the pod has its own user ids
    friend bool operator==(const Spec&, const Spec&) = default;
  } spec;
  struct Status {
    PodPhase phase = PodPhase::kPending;
    std::string reason;
    // When the kubelet accepted the pod, by its clock; for a rejected pod, when it rejected it.
    std::optional<Timestamp> start_time;
    std::string nominated_node_name;
    std::vector<PodCondition> conditions;
    std::vector<ContainerStatus> init_container_statuses;
    std::vector<ContainerStatus> container_statuses;
    // Pod-level, as ContainerStatus has them: status.resources.requests (present where
    // status.resources is) and status.allocatedResources.
    std::optional<ResourceList> resource_requests;
    std::optional<ResourceList> allocated_resources;
    friend bool operator==(const Status&, const Status&) = default;
  } status;

  // Finished pods hold nothing on their node.
  [[nodiscard]] bool is_finished() const {
    return status.phase == PodPhase::kSucceeded || status.phase == PodPhase::kFailed;
  }
  [[nodiscard]] bool is_terminating() const { return metadata.deletion_timestamp.has_value(); }
  // The condition of that type, or nullptr.
  [[nodiscard]] const PodCondition* condition(std::string_view type) const;

  friend bool operator==(const Pod&, const Pod&) = default;
};

}  // namespace k8s
