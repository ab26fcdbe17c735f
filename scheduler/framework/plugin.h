// The contract between the engine and its plugins.
//
// A plugin has up to three roles. A FilterPlugin says on which nodes a pod may run, a ScorePlugin
// which of them is best, a ClusterConstraint answers by what it knows of other pods and objects:
// whether a pod may be placed at all, and which nodes are ruled out for it. Filters and scores work
// in two steps, so that the work per node is small:
//
//   prepare(shape)  → a checker for that shape, or nothing when the plugin does not apply to it
//   check(node)     → a Verdict;   score(node) → 0 … kMaxScore
//
// A ClusterConstraint may score as well, by what is counted in topology domains (PodPreference).
//
// Locality: what a checker answers depends on its shape, on the one node it is shown and on the
// version of the cluster's statistics it was prepared with, on nothing else: no clock, no
// randomness, no other node, no state that changes. The engine relies on it: it keeps each answer
// until the node changes or a new version is published. And what is taken on a node besides never
// turns a filter's no into a yes: pods that fit nowhere are looked at again when something is given
// back or a node's facts change, not when one more pod arrives. Everything is called on the
// engine's thread. Plugins do not throw; what can go wrong with their configuration goes wrong when
// they are made.
#pragma once

#include "k8s-client/api/pod.h"
#include "scheduler/base/resources.h"
#include "scheduler/framework/cluster_change.h"
#include "scheduler/framework/cluster_context.h"
#include "scheduler/framework/domain_counts.h"
#include "scheduler/framework/node_view.h"
#include "scheduler/framework/pod_class.h"
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

// What plugins may know besides shape and node when they prepare.
struct PrepareContext {
  const ResourceNames& resources;  // outlives whatever is prepared with it; grows meanwhile
  ClusterContextPtr cluster = std::make_shared<const ClusterContext>();
};

// What a filter has to say of all nodes that refuse a shape, in the message of a pod that fits
// nowhere: "2 nodes have it, none of them one free; 3 could hold it after a repartition". Made for
// one message, told of each node once, in no particular order.
class Survey {
 public:
  Survey() = default;
  Survey(const Survey&) = delete;
  Survey& operator=(const Survey&) = delete;
  virtual ~Survey() = default;

  struct Refusal {
    std::string_view plugin;  // the filter that said no first
    bool alone = false;       // every other filter would let the pod pass
  };
  virtual void add(const NodeView& node, const Refusal& refusal) = 0;
  // Whole sentences; empty: there is nothing to add.
  [[nodiscard]] virtual std::string text() const = 0;
};

// Checks nodes for one shape. Made by FilterPlugin::prepare; outlived by the plugin that made it.
class NodeFilter {
 public:
  NodeFilter() = default;
  NodeFilter(const NodeFilter&) = delete;
  NodeFilter& operator=(const NodeFilter&) = delete;
  virtual ~NodeFilter() = default;

  [[nodiscard]] virtual Verdict check(const NodeView& node) const = 0;

  // False: what is taken on the node does not matter, only its facts. Such a filter is asked anew
  // when the facts of a node change, not at every pod that comes or goes there.
  [[nodiscard]] virtual bool reads_usage() const { return true; }

  // check() refuses every node that has less than this free of the resource; 0 says nothing.
  [[nodiscard]] virtual std::int64_t least_free(ResourceId /*resource*/) const { return 0; }

  // Every reason that check() may give, in Kubernetes' words ("Insufficient cpu"); bit i of a
  // verdict is entry i. Fixed after construction.
  [[nodiscard]] virtual const std::vector<std::string>& reasons() const = 0;

  // The numbers behind reason `index` on this node: "asked 4, free 1 of 8". Empty when there are
  // none to give. Only asked for when somebody reads it.
  [[nodiscard]] virtual std::string numbers(const NodeView& /*node*/, unsigned /*index*/) const {
    return {};
  }

  // For a quantity reason: how much of what was asked this node could still give, so that the
  // engine can name the node that comes closest; nullopt for reasons that are not quantities.
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

  // A look at all nodes that refuse the shape; null: nothing to add to what single nodes say. The
  // filter outlives it.
  [[nodiscard]] virtual std::unique_ptr<Survey> survey() const { return nullptr; }
};

// What a filter makes of a shape. Default: it does not apply.
struct FilterPreparation {
  std::unique_ptr<NodeFilter> filter;  // nullptr: every node passes
  // The pod can run nowhere; kube-scheduler's words ("pod affinity terms conflict"). Counts as
  // unresolvable on every node.
  std::optional<std::string> rejection;
  // Only these nodes (by name, sorted) come into question; the others are not even asked
  // (kube-scheduler's PreFilterResult).
  std::optional<std::vector<std::string>> only_nodes;
};

class FilterPlugin {
 public:
  FilterPlugin() = default;
  FilterPlugin(const FilterPlugin&) = delete;
  FilterPlugin& operator=(const FilterPlugin&) = delete;
  virtual ~FilterPlugin() = default;

  // Kubernetes' name where there is one: "NodeResourcesFit".
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual FilterPreparation prepare(const PodShape& shape,
                                                  const PrepareContext& context) const = 0;
  // True if the configuration reserves this node for this scheduler (addedAffinity): pods of other
  // schedulers that take GPUs there are worth a warning.
  [[nodiscard]] virtual bool owns(const NodeFacts& /*node*/) const { return false; }
  // True if the plugin refuses every GPU whose type the pod's annotation gpu-type does not name.
  // Quota then asks about the named types alone.
  [[nodiscard]] virtual bool enforces_gpu_types() const { return false; }
  // How often a kubelet may reject pods with devices until the engine marks its node as backed off
  // (NodeFacts::health), for this plugin to read; nullopt: it does not read it.
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

  // With Normalisation::kNone 0 … ScorePlugin::max_score(); otherwise any value ≥ 0. Only asked of
  // nodes that passed every filter.
  [[nodiscard]] virtual std::int64_t score(const NodeView& node) const = 0;

  // As NodeFilter::reads_usage.
  [[nodiscard]] virtual bool reads_usage() const { return true; }

  // For a pod that takes a part of one GPU, on a node whose GPUs are kept one by one: the part that
  // the score was reckoned with. nullopt: no preference; the first score of the profile that has
  // one decides, else the engine's DeviceAllocator.
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

// The least and the greatest raw score of the nodes that are measured by each other.
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
  // The greatest score without normalisation. More than kMaxScore only where a hundred steps are
  // too coarse; its weight then counts per point all the same.
  [[nodiscard]] virtual std::int64_t max_score() const { return kMaxScore; }
  // Whether this score goes before all others: of two nodes the one that has more of it is better,
  // whatever the others say. Its weight is then found by the engine, not configured.
  [[nodiscard]] virtual bool goes_first() const { return false; }
  // Whether scores depend on the statistics in PrepareContext::cluster.
  [[nodiscard]] virtual bool reads_statistics() const { return false; }
  // nullptr: this plugin has nothing to say about such pods; it adds 0 on every node.
  [[nodiscard]] virtual std::unique_ptr<NodeScore> prepare(const PodShape& shape,
                                                           const PrepareContext& context) const = 0;
};

// Nodes by name.
struct NamedNodes {
  std::vector<std::string> names;
  bool all_others = false;  // all but these
};

// Nodes that are ruled out for a pod by what they are. What it borrows is the constraint's, and
// holds until its next change.
struct Exclusion {
  std::string_view plugin;  // whose rule it is, by kube-scheduler's name
  std::string_view reason;  // in kube-scheduler's words
  Code code = Code::kUnschedulable;
  // The nodes that are left: whose labels match, never null; or these; or for which it holds, which
  // is asked of every node.
  std::variant<const k8s::NodeSelector*, NamedNodes, std::function<bool(const NodeFacts&)>> allowed;
  // Of a node that several exclude the first is told; this one as well where that is of the same
  // plugin.
  bool also_told = false;
};

// What is counted of the pods on nodes, and of nodes themselves, for a rule that bounds how much
// there may be in a domain, or for a score. The answers never change, but for amount_of_node() of
// nodes that the constraint hands out as recounted.
class Counted {
 public:
  Counted() = default;
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  virtual ~Counted() = default;

  // How much a pod of that class adds to the domain of its node: of most classes 0; a score may
  // take off.
  [[nodiscard]] virtual std::int32_t amount(const PodClass& pod) const = 0;
  // How much the node itself adds to its domain, whatever pods are there.
  [[nodiscard]] virtual std::int32_t amount_of_node(const NodeFacts& /*node*/) const { return 0; }
  // Whether a pod that is being deleted adds it still.
  [[nodiscard]] virtual bool counts_terminating() const { return true; }
  // False: what is on that node does not count, nor the node as one of its domain.
  [[nodiscard]] virtual bool counts_on(const NodeFacts& /*node*/) const { return true; }
};

// One count that a rule needs, by domain. The engine keeps it, in whatever world is asked about.
struct DomainCount {
  // Counts of one id are kept once for all rules: it says everything that decides what is counted.
  std::string id;
  // The label whose values are the domains. Empty, with by_node: every node is one.
  std::string key;
  std::shared_ptr<const Counted> what;
  // Each node that carries the label is a domain of its own, also where others have its value.
  bool by_node = false;
};

// Nodes that are ruled out by what is counted in their domain.
struct DomainBound {
  std::size_t count = 0;  // index in PodRule::counts()
  // In the domain of a node that is not ruled out there is so much.
  std::int64_t at_least = std::numeric_limits<std::int64_t>::min();
  std::int64_t at_most = std::numeric_limits<std::int64_t>::max();
  bool needs_label = false;  // nodes without the label are ruled out
  std::string_view plugin;   // as in Exclusion, for the plugin's life
  std::string_view reason;
  Code code = Code::kUnschedulable;
};

// What a constraint demands of the domains for pods of one class and shape.
class PodRule {
 public:
  PodRule() = default;
  PodRule(const PodRule&) = delete;
  PodRule& operator=(const PodRule&) = delete;
  virtual ~PodRule() = default;

  // Fixed after construction.
  [[nodiscard]] virtual const std::vector<DomainCount>& counts() const = 0;
  // Where counts() are as given. Of a node that several bounds rule out the first is told.
  [[nodiscard]] virtual std::vector<DomainBound> bounds(
      std::span<const DomainCounts* const> counted) const = 0;
};

// What a constraint would rather have for pods of one class and shape: it scores the nodes on which
// they may run, by what is counted in their domains. Such a node is measured by the others.
class PodPreference {
 public:
  PodPreference() = default;
  PodPreference(const PodPreference&) = delete;
  PodPreference& operator=(const PodPreference&) = delete;
  virtual ~PodPreference() = default;

  // Fixed after construction.
  [[nodiscard]] virtual const std::vector<DomainCount>& counts() const = 0;
  // Whether nodes that lack the label of one of the counts are left out: they score 0, and nothing
  // is measured by them.
  [[nodiscard]] virtual bool needs_labels() const { return false; }
  // How much each count weighs where the nodes that are measured lie in so many domains of it:
  // those without its label in one more, and each in its own where the count is by node.
  [[nodiscard]] virtual std::vector<double> weights(std::span<const std::size_t> domains) const = 0;
  // Of a node that is measured, in whose domains there is so much: kNoAmount where it lacks the
  // label.
  [[nodiscard]] virtual std::int64_t raw(std::span<const std::int64_t> amounts,
                                         std::span<const double> weights) const = 0;
  // 0 … kMaxScore of a raw score.
  [[nodiscard]] virtual std::int64_t score(std::int64_t raw, const Extremes& extremes) const = 0;
};

// Why a pod cannot be placed anywhere now.
struct Refusal {
  std::string reason;  // text for the pod's message
  // It is worth asking again once one of these has come, changed or gone. Empty: only a change of
  // the pod itself helps.
  std::vector<ObjectKey> awaits{};
  friend bool operator==(const Refusal&, const Refusal&) = default;
};

// A rule across nodes. Keeps, by events, what it must know of the cluster besides what is counted.
class ClusterConstraint {
 public:
  ClusterConstraint() = default;
  ClusterConstraint(const ClusterConstraint&) = delete;
  ClusterConstraint& operator=(const ClusterConstraint&) = delete;
  virtual ~ClusterConstraint() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;

  // Whether it may ever say something of that pod besides rules and preferences. Follows from the
  // pod alone; asked once, so that pods to which it means nothing cost nothing.
  [[nodiscard]] virtual bool concerns(const k8s::Pod& /*pod*/) const { return true; }
  // nullopt: no objection to placing the pod.
  [[nodiscard]] virtual std::optional<Refusal> refuses(const k8s::Pod& /*pod*/) const {
    return std::nullopt;
  }
  // The nodes that the pod may not use now, whatever filters say; none: it excludes none.
  [[nodiscard]] virtual std::vector<Exclusion> excludes(const k8s::Pod& /*pod*/) const {
    return {};
  }
  // What it demands of topology domains for pods like this one; null: nothing. It may read of the
  // pod what PodShape and PodClass hold and reads_besides() says, and is kept for all pods that are
  // the same in these until rules_version() is another. Only asked where is_ruled(), which is
  // cheap, is true.
  [[nodiscard]] virtual bool is_ruled(const k8s::Pod& /*pod*/) const { return false; }
  [[nodiscard]] virtual std::unique_ptr<PodRule> rule_for(const k8s::Pod& /*pod*/) const {
    return nullptr;
  }
  // What it would rather have, in the same way; asked of a constraint that has a weight.
  [[nodiscard]] virtual bool prefers(const k8s::Pod& /*pod*/) const { return false; }
  [[nodiscard]] virtual std::unique_ptr<PodPreference> preference_for(
      const k8s::Pod& /*pod*/) const {
    return nullptr;
  }
  // What else these read of the pod, or of other objects by the pod, as text. What follows from the
  // text needs no rules_version().
  [[nodiscard]] virtual std::string reads_besides(const k8s::Pod& /*pod*/) const { return {}; }
  [[nodiscard]] virtual std::uint64_t rules_version() const { return 0; }
  // What has to be done, or waited for, before the pod can be bound to that node, which nothing
  // rules out; nullopt: nothing. The writes are told to all constraints as assumed, which see to it
  // that no other pod counts on what they take.
  [[nodiscard]] virtual std::optional<Preparation> preparation_for(
      const k8s::Pod& /*pod*/, const NodeFacts& /*node*/) const {
    return std::nullopt;
  }
  // How far that is, once all writes are done. Asked again after changes of objects.
  [[nodiscard]] virtual Readiness readiness(const k8s::Pod& /*pod*/,
                                            const NodeFacts& /*node*/) const {
    return {};
  }
  // What is worth adding to the message of a pod that found no node; empty: nothing.
  [[nodiscard]] virtual std::string note(const k8s::Pod& /*pod*/) const { return {}; }

  // The kinds of changes that it reads: it is told of no others.
  [[nodiscard]] virtual ChangeMask reads() const { return kAnyChange; }
  // Every such change of a cluster object, before anything is decided on it. False: whatever it
  // says of pods is as before.
  virtual bool apply(const ClusterChange& change) = 0;
  // The nodes, by name, of which something that it counts has become another by what was applied;
  // some twice. Each is handed out once.
  [[nodiscard]] virtual std::vector<std::string> take_recounted() { return {}; }
};

}  // namespace sched
