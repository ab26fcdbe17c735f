// The contract between the engine and its plugins.
//
// A plugin has up to three roles. A FilterPlugin decides on which nodes a pod may run. A
// ScorePlugin decides which of them is best. A ClusterConstraint answers by other pods and objects:
// whether a pod may be placed at all, and which nodes are ruled out for it. Filters and scores work
// in two steps, so that the work per node is small:
//
//   prepare(shape)  → a checker for that shape, or nothing if the plugin does not apply to it
//   check(node)     → a Verdict;   score(node) → 0 … kMaxScore
//
// A ClusterConstraint may also score, by what is counted in topology domains (PodPreference).
//
// Locality: the answer of a checker depends only on its shape, on the one node that it is given,
// and on the version of the cluster's statistics that it was prepared with; not on a clock,
// randomness, another node, or changing state. The engine relies on it: it stores each answer until
// the node changes or a new version is published. Also, more usage of a node never turns a filter's
// refusal into an acceptance: pods that fit nowhere are checked again when something is given back
// or a node's facts change, not when another pod arrives. All calls come from the engine's thread.
// Plugins do not throw; an error in their configuration is found when they are made.
#pragma once

#include "k8s-client/api/pod.h"
#include "scheduler/base/resources.h"
#include "scheduler/framework/cluster_change.h"
#include "scheduler/framework/cluster_context.h"
#include "scheduler/framework/domain_counts.h"
#include "scheduler/framework/node_view.h"
#include "scheduler/framework/pod_class.h"
#include "scheduler/framework/pod_difference.h"
#include "scheduler/framework/pod_shape.h"
#include "scheduler/framework/preparation.h"
#include "scheduler/framework/verdict.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sched {

// The best score of a node, kube-scheduler's MaxNodeScore.
inline constexpr std::int64_t kMaxScore = 100;

// What plugins may read besides shape and node when they prepare.
struct PrepareContext {
  const ResourceNames& resources;  // outlives what is prepared with it; grows meanwhile
  ClusterContextPtr cluster = std::make_shared<const ClusterContext>();
};

// A filter's statement about all nodes that refuse a shape, for the message of a pod that fits
// nowhere: "2 nodes have it, none of them one free; 3 could hold it after a repartition". Made for
// one message; each node is added once, in no particular order.
class Survey {
 public:
  Survey() = default;
  Survey(const Survey&) = delete;
  Survey& operator=(const Survey&) = delete;
  virtual ~Survey() = default;

  struct Refusal {
    std::string_view plugin;  // the first filter that refused
    bool alone = false;       // every other filter would pass the node
  };
  // The node's facts outlive the survey.
  virtual void add(const NodeView& node, const Refusal& refusal) = 0;
  // Whole sentences; empty: there is nothing to add.
  [[nodiscard]] virtual std::string text() const = 0;
};

// Checks nodes for one shape. Made by FilterPlugin::prepare; the plugin outlives it.
class NodeFilter {
 public:
  NodeFilter() = default;
  NodeFilter(const NodeFilter&) = delete;
  NodeFilter& operator=(const NodeFilter&) = delete;
  virtual ~NodeFilter() = default;

  [[nodiscard]] virtual Verdict check(const NodeView& node) const = 0;

  // False: the answer depends on the node's facts alone. Such a filter is asked again when the
  // facts of a node change, not at every pod that comes or goes there.
  [[nodiscard]] virtual bool reads_usage() const { return true; }

  // check() refuses every node with less than this free of the resource; 0: no such bound.
  [[nodiscard]] virtual std::int64_t least_free(ResourceId /*resource*/) const { return 0; }

  // Every reason that check() may give, in Kubernetes' words ("Insufficient cpu"); bit i of a
  // verdict is entry i. Fixed after construction.
  [[nodiscard]] virtual const std::vector<std::string>& reasons() const = 0;

  // The numbers behind reason `index` on this node: "asked 4, free 1 of 8". Empty if there are
  // none. Called only to make a text.
  [[nodiscard]] virtual std::string numbers(const NodeView& /*node*/, unsigned /*index*/) const {
    return {};
  }

  // For a reason that is an amount: how much of what was asked this node could still give, so that
  // the engine can name the node that comes closest; nullopt for other reasons.
  struct Shortage {
    ResourceId resource{};
    std::int64_t asked = 0;
    std::int64_t free = 0;
    std::int64_t capacity = 0;
  };
  [[nodiscard]] virtual std::optional<Shortage> shortage(const NodeView& /*node*/,
                                                         unsigned /*index*/) const {
    return std::nullopt;
  }

  // A statement about all nodes that refuse the shape; null: none. The filter outlives it.
  [[nodiscard]] virtual std::unique_ptr<Survey> survey() const { return nullptr; }
};

// A filter's result for a shape. Default: the filter does not apply.
struct FilterPreparation {
  std::unique_ptr<NodeFilter> filter;  // nullptr: every node passes
  // The pod can run nowhere, in kube-scheduler's words ("pod affinity terms conflict"). Counts as
  // unresolvable on every node.
  std::optional<std::string> rejection;
  // Only these nodes (by name, sorted) are in question; the others are not asked (kube-scheduler's
  // PreFilterResult).
  std::optional<std::vector<std::string>> only_nodes;
};

class FilterPlugin {
 public:
  FilterPlugin() = default;
  FilterPlugin(const FilterPlugin&) = delete;
  FilterPlugin& operator=(const FilterPlugin&) = delete;
  virtual ~FilterPlugin() = default;

  // Kubernetes' name if it has one: "NodeResourcesFit".
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual FilterPreparation prepare(const PodShape& shape,
                                                  const PrepareContext& context) const = 0;
  // True if the configuration reserves this node for this scheduler (addedAffinity): then pods of
  // other schedulers that take GPUs there are reported.
  [[nodiscard]] virtual bool owns(const NodeFacts& /*node*/) const { return false; }
  // True if the plugin refuses every GPU of a type that the pod's annotation gpu-type does not
  // name. Quota then asks about the named types only.
  [[nodiscard]] virtual bool enforces_gpu_types() const { return false; }
  // Why the plugin keeps all pods with devices off the node (except pods that tolerate that by
  // name), in a few words. nullopt: it does not, or its reason is something else in NodeHealth than
  // alarms. For figures of the cluster.
  [[nodiscard]] virtual std::optional<std::string> keeps_devices_off(
      const NodeFacts& /*node*/) const {
    return std::nullopt;
  }
  // After how many rejections of pods with devices by a kubelet the engine marks the node as backed
  // off (NodeFacts::health); nullopt: the plugin does not read that.
  [[nodiscard]] virtual std::optional<gpu::RejectionLimits> rejection_limits() const {
    return std::nullopt;
  }
};

// Scores nodes for one shape.
class NodeScore {
 public:
  NodeScore() = default;
  NodeScore(const NodeScore&) = delete;
  NodeScore& operator=(const NodeScore&) = delete;
  virtual ~NodeScore() = default;

  // With Normalisation::kNone 0 … ScorePlugin::max_score(); otherwise any value ≥ 0. Called only
  // for nodes that passed every filter.
  [[nodiscard]] virtual std::int64_t score(const NodeView& node) const = 0;

  // As NodeFilter::reads_usage.
  [[nodiscard]] virtual bool reads_usage() const { return true; }

  // For a pod that takes a part of one GPU, on a node with devices that are kept one by one: the
  // part that the score was computed with. nullopt: no preference. The first score of the profile
  // with a preference decides, else the engine's DeviceAllocator.
  [[nodiscard]] virtual std::optional<gpu::DeviceShare> choose_device(
      const NodeView& /*node*/) const {
    return std::nullopt;
  }
};

// How raw scores become 0 … kMaxScore, over the nodes on which the pod may run.
enum class Normalisation : std::uint8_t {
  kNone,
  kMax,       // 100·raw/max; all 0 when max is 0
  kReversed,  // 100 − 100·raw/max; all 100 when max is 0
  kMinMax,    // 100·(raw − min)/(max − min); all 0 when max is min
};

// The least and the greatest raw score among the nodes in question.
struct Extremes {
  std::int64_t min = 0;
  std::int64_t max = 0;
  friend bool operator==(const Extremes&, const Extremes&) = default;
};

class ScorePlugin {
 public:
  ScorePlugin() = default;
  ScorePlugin(const ScorePlugin&) = delete;
  ScorePlugin& operator=(const ScorePlugin&) = delete;
  virtual ~ScorePlugin() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual Normalisation normalisation() const { return Normalisation::kNone; }
  // The greatest score without normalisation. More than kMaxScore only if a hundred steps are too
  // coarse; its weight then still counts per point.
  [[nodiscard]] virtual std::int64_t max_score() const { return kMaxScore; }
  // Whether this score goes before all others: of two nodes the one with the higher score is
  // better, whatever the other scores. The engine then computes its weight; it is not configured.
  [[nodiscard]] virtual bool goes_first() const { return false; }
  // Whether scores depend on the statistics in PrepareContext::cluster.
  [[nodiscard]] virtual bool reads_statistics() const { return false; }
  // nullptr: the plugin does not score such pods; it adds 0 on every node.
  [[nodiscard]] virtual std::unique_ptr<NodeScore> prepare(const PodShape& shape,
                                                           const PrepareContext& context) const = 0;
};

// Nodes by name.
struct NamedNodes {
  std::vector<std::string> names;
  bool all_others = false;  // all but these
};

// Nodes that are ruled out for a pod by their facts. What it refers to belongs to the constraint,
// and is valid until the constraint's next change.
struct Exclusion {
  std::string_view plugin;  // the plugin of the rule, by kube-scheduler's name
  std::string_view reason;  // in kube-scheduler's words
  Code code = Code::kUnschedulable;
  // The nodes that are left: those with labels that match the selector, never null; or the named
  // ones; or those for which the function returns true (it is called for every node).
  std::variant<const k8s::NodeSelector*, NamedNodes, std::function<bool(const NodeFacts&)>> allowed;
  // If several exclusions exclude a node, only the first is reported. True: this one is reported
  // beside it if both are of the same plugin.
  bool also_told = false;
  // What a call of the function costs, in looks at a node.
  std::size_t cost = 1;
};

// What is counted of the pods on nodes, and of nodes themselves, for a rule with bounds for a
// domain, or for a score. The answers never change, except amount_of_node() of nodes that the
// constraint returns from take_recounted().
class Counted {
 public:
  Counted() = default;
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  virtual ~Counted() = default;

  // How much a pod of that class adds to the domain of its node: 0 for most classes; may be
  // negative for a score.
  [[nodiscard]] virtual std::int32_t amount(const PodClass& pod) const = 0;
  // How much the node itself adds to its domain, whatever pods are there.
  [[nodiscard]] virtual std::int32_t amount_of_node(const NodeFacts& /*node*/) const { return 0; }
  // Whether a pod that is being deleted still counts.
  [[nodiscard]] virtual bool counts_terminating() const { return true; }
  // False: nothing on that node counts, and it does not count as a node of its domain.
  [[nodiscard]] virtual bool counts_on(const NodeFacts& /*node*/) const { return true; }
  // Bytes, approximately, if it may hold more than the terms of one pod.
  [[nodiscard]] virtual std::size_t memory() const { return 0; }
};

// One count that a rule needs, by domain. The engine keeps it, for the world of the question.
struct DomainCount {
  // Counts with equal ids are kept once for all rules, of all profiles: the id includes everything
  // that decides what is counted, the plugin's arguments, too.
  std::string id;
  // The label; its values are the domains. Empty, with by_node: every node is a domain.
  std::string key;
  std::shared_ptr<const Counted> what;
  // Each node that carries the label is a domain of its own, even if others have the same value.
  bool by_node = false;
};

// Nodes that are ruled out by what is counted in their domain.
struct DomainBound {
  std::size_t count = 0;  // index in PodRule::counts()
  // The bounds for the amount in the domain of a node; outside of them the node is ruled out.
  std::int64_t at_least = std::numeric_limits<std::int64_t>::min();
  std::int64_t at_most = std::numeric_limits<std::int64_t>::max();
  bool needs_label = false;  // nodes without the label are ruled out
  std::string_view plugin;   // as in Exclusion; valid while the plugin exists
  std::string_view reason;
  Code code = Code::kUnschedulable;
};

// The counts that a rule or a preference needs.
class NeedsCounts {
 public:
  NeedsCounts() = default;
  NeedsCounts(const NeedsCounts&) = delete;
  NeedsCounts& operator=(const NeedsCounts&) = delete;
  virtual ~NeedsCounts() = default;

  // Fixed after construction.
  [[nodiscard]] const std::vector<DomainCount>& counts() const { return counts_; }
  // For the engine, once it counts: what is counted is then kept with the counts alone, once for
  // all rules.
  void leave_to_counts() {
    for (DomainCount& count : counts_) {
      count.id = {};
      count.what = nullptr;
    }
  }

 protected:
  std::vector<DomainCount> counts_;
};

// What a constraint demands of the domains for pods of one class and shape.
class PodRule : public NeedsCounts {
 public:
  // The bounds for the given counts(). If several bounds rule a node out, the first is reported.
  [[nodiscard]] virtual std::vector<DomainBound> bounds(
      std::span<const DomainCounts* const> counted) const = 0;
};

// What a constraint prefers for pods of one class and shape: it scores the nodes on which they may
// run, by what is counted in their domains. The scores are relative to those nodes.
class PodPreference : public NeedsCounts {
 public:
  // Whether nodes that lack the label of one of the counts are left out: they score 0, and do not
  // affect other nodes' scores.
  [[nodiscard]] virtual bool needs_labels() const { return false; }
  // The weight of each count, given the number of its domains that the nodes in question are in.
  // Nodes without its label are one more domain; if the count is by node, each node is one.
  [[nodiscard]] virtual std::vector<double> weights(std::span<const std::size_t> domains) const = 0;
  // The raw score of a node in question, with those amounts in its domains; kNoAmount: it lacks the
  // label.
  [[nodiscard]] virtual std::int64_t raw(std::span<const std::int64_t> amounts,
                                         std::span<const double> weights) const = 0;
  // 0 … kMaxScore of a raw score.
  [[nodiscard]] virtual std::int64_t score(std::int64_t raw, const Extremes& extremes) const = 0;
};

// Why a pod cannot be placed anywhere now.
struct Refusal {
  std::string reason;  // text for the pod's message
  // Ask again after one of these has appeared, changed or gone. Empty: only a change of the pod
  // itself helps.
  std::vector<ObjectKey> awaits{};
  friend bool operator==(const Refusal&, const Refusal&) = default;
};

// A rule across nodes. From events it stores what it needs of the cluster besides counts.
//
// A question may be about a trial, in which some pods have left their nodes and others are added
// (engine/world/trial.h). The engine's own counts are then those of the trial. A constraint that
// itself stores data of pods on nodes gets the difference as an argument, and answers as if events
// had reported it.
class ClusterConstraint {
 public:
  ClusterConstraint() = default;
  ClusterConstraint(const ClusterConstraint&) = delete;
  ClusterConstraint& operator=(const ClusterConstraint&) = delete;
  virtual ~ClusterConstraint() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;

  // Whether it may ever refuse, exclude or prepare for that pod. Follows from the pod alone; asked
  // once, so that it costs nothing for other pods.
  [[nodiscard]] virtual bool concerns(const k8s::Pod& /*pod*/) const { return true; }
  // nullopt: the pod may be placed. Not for rules about pods on nodes, because it gets no trial.
  [[nodiscard]] virtual std::optional<Refusal> refuses(const k8s::Pod& /*pod*/) const {
    return std::nullopt;
  }
  // The nodes that the pod may not use now, whatever the filters answer; empty: none.
  [[nodiscard]] virtual std::vector<Exclusion> excludes(const k8s::Pod& /*pod*/,
                                                        const PodDifference& /*trial*/) const {
    return {};
  }
  // What excludes() reads of the pod besides its shape, as text. Waiting pods with equal texts are
  // tried again as one; by default each is one of its own.
  [[nodiscard]] virtual std::string excludes_by(const k8s::Pod& pod) const {
    return pod.metadata.uid;
  }
  // What it demands of topology domains for pods like this one; null: nothing. rule_for() may read
  // what PodShape and PodClass hold of the pod, and what reads_besides() returns. Unless it is
  // about a trial, its result is stored for all pods that are equal in these, until
  // rules_changed(). It is called if is_ruled(), which is cheap, returns true, and in a trial that
  // adds pods.
  [[nodiscard]] virtual bool is_ruled(const k8s::Pod& /*pod*/) const { return false; }
  [[nodiscard]] virtual std::unique_ptr<PodRule> rule_for(const k8s::Pod& /*pod*/,
                                                          const PodDifference& /*trial*/) const {
    return nullptr;
  }
  // Whether its rule for that pod differs in a trial in which pods are gone, because it reads what
  // the constraint itself stores of them.
  [[nodiscard]] virtual bool rule_reads_pods(const k8s::Pod& /*pod*/) const { return false; }
  // What it prefers, in the same way; asked of a constraint that has a weight.
  [[nodiscard]] virtual bool prefers(const k8s::Pod& /*pod*/) const { return false; }
  [[nodiscard]] virtual std::unique_ptr<PodPreference> preference_for(
      const k8s::Pod& /*pod*/, const PodDifference& /*trial*/) const {
    return nullptr;
  }
  // What else rule_for() and preference_for() read of the pod, or of other objects because of the
  // pod, as text; of the real state, not of a trial. If this text changes, rules_version() need not
  // change.
  [[nodiscard]] virtual std::string reads_besides(const k8s::Pod& /*pod*/) const { return {}; }
  // Changes if rule_for() or preference_for() may answer otherwise for some pod.
  [[nodiscard]] virtual std::uint64_t rules_version() const { return 0; }
  // Whether they may answer otherwise for that pod than in an earlier version.
  [[nodiscard]] virtual bool rules_changed(const k8s::Pod& /*pod*/, std::uint64_t since) const {
    return since != rules_version();
  }
  // What must be done, or waited for, before the pod can be bound to that node, which nothing rules
  // out; nullopt: nothing. All constraints get the writes as assumed, and ensure that no other pod
  // counts on what they take.
  [[nodiscard]] virtual std::optional<Preparation> preparation_for(
      const k8s::Pod& /*pod*/, const NodeFacts& /*node*/) const {
    return std::nullopt;
  }
  // The state of that preparation, after all writes are done. Asked again after changes of the
  // objects that it awaits, and of the node.
  [[nodiscard]] virtual Readiness readiness(const k8s::Pod& /*pod*/,
                                            const NodeFacts& /*node*/) const {
    return {};
  }
  // An addition to the message of a pod that found no node, whether it concerns the pod or not;
  // empty: none.
  [[nodiscard]] virtual std::string note(const k8s::Pod& /*pod*/) const { return {}; }

  // The kinds of changes that it reads; it gets no others.
  [[nodiscard]] virtual ChangeMask reads() const { return kAnyChange; }
  // Gets every such change of a cluster object before any decision depends on it. False: none of
  // its answers changes.
  virtual bool apply(const ClusterChange& change) = 0;
  // The nodes, by name, whose counts the changes since the last call have changed; a name may be
  // repeated.
  [[nodiscard]] virtual std::vector<std::string> take_recounted() { return {}; }
};

}  // namespace sched
