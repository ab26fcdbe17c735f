// NodeAffinity: nodeSelector and the node affinity of pods, and of the profile itself.
//
// The argument `addedAffinity` applies to every pod of the profile, before the pod's own affinity.
// By its required terms a scheduler owns a part of the nodes (owns()), so that it does not compete
// with another scheduler for them. Argument names are kube-scheduler's NodeAffinityArgs.
#include "plugins/factories.h"
#include "plugins/node_affinity/args.h"
#include "plugins/node_affinity/required_nodes.h"
#include "plugins/node_affinity/terms.h"
#include "plugins/node_affinity/wanted_labels.h"

#include <algorithm>

namespace plugins {

namespace {

using namespace sched;

using Required = std::optional<k8s::NodeSelector>;
using Preferred = std::vector<k8s::PreferredNodeTerm>;

Required required_of(const std::optional<k8s::NodeAffinity>& affinity) {
  if (!affinity || !affinity->required) return std::nullopt;
  return usable_terms(*affinity->required);
}

// The preferred terms that can add to a score.
void add_preferred(const std::optional<k8s::NodeAffinity>& affinity, Preferred& terms) {
  if (!affinity) return;
  for (const k8s::PreferredNodeTerm& preferred : affinity->preferred) {
    const auto& term = preferred.preference;
    const bool empty = term.match_expressions.empty() && term.match_fields.empty();
    if (preferred.weight > 0 && !empty && !problem_of(term)) terms.push_back(preferred);
  }
}

class AffinityCheck final : public NodeFilter {
 public:
  // `added` is the plugin's and outlives the check.
  AffinityCheck(const Required& added, const PodShape& shape) : added_(added), required_(shape) {}

  Verdict check(const NodeView& node) const override {
    const NodeFacts& facts = node.facts;
    if (added_ && !added_->matches(facts.name, facts.labels)) {
      return Verdict::unresolvable(1U << kEnforced);
    }
    return required_.match(facts) ? Verdict::ok() : Verdict::unresolvable(1U << kOfPod);
  }

  bool reads_usage() const override { return false; }

  const std::vector<std::string>& reasons() const override {
    static const std::vector<std::string> kReasons = {
        "node(s) didn't match scheduler-enforced node affinity",
        "node(s) didn't match Pod's node affinity/selector"};
    return kReasons;
  }

  std::unique_ptr<Survey> survey() const override { return survey_wanted_labels(required_); }

 private:
  enum Reason : unsigned { kEnforced, kOfPod };

  const Required& added_;
  RequiredNodes required_;
};

class AffinityFilter final : public FilterPlugin {
 public:
  explicit AffinityFilter(Required added) : added_(std::move(added)) {}

  std::string_view name() const override { return "NodeAffinity"; }

  FilterPreparation prepare(const PodShape& shape, const PrepareContext&) const override {
    FilterPreparation preparation;
    const bool required = shape.node_affinity && shape.node_affinity->required;
    if (!required && !added_ && shape.node_selector.empty()) return preparation;
    preparation.filter = std::make_unique<AffinityCheck>(added_, shape);
    if (!required) return preparation;
    // Unreadable terms count here: upstream looks for names before it parses.
    preparation.only_nodes = named_nodes(*shape.node_affinity->required);
    if (preparation.only_nodes && preparation.only_nodes->empty()) {
      preparation.only_nodes.reset();
      preparation.rejection = "pod affinity terms conflict";
    }
    return preparation;
  }

  bool owns(const NodeFacts& node) const override {
    return added_ && added_->matches(node.name, node.labels);
  }

 private:
  Required added_;
};

// The sum of the weights of the terms that match.
class Sum final : public NodeScore {
 public:
  explicit Sum(Preferred terms) : terms_(std::move(terms)) {}

  std::int64_t score(const NodeView& node) const override {
    std::int64_t sum = 0;
    for (const k8s::PreferredNodeTerm& term : terms_) {
      if (term.preference.matches(node.facts.name, node.facts.labels)) sum += term.weight;
    }
    return sum;
  }
  bool reads_usage() const override { return false; }

 private:
  Preferred terms_;
};

class AffinityScore final : public ScorePlugin {
 public:
  explicit AffinityScore(Preferred added) : added_(std::move(added)) {}

  std::string_view name() const override { return "NodeAffinity"; }
  Normalisation normalisation() const override { return Normalisation::kMax; }

  std::unique_ptr<NodeScore> prepare(const PodShape& shape, const PrepareContext&) const override {
    Preferred terms = added_;
    add_preferred(shape.node_affinity, terms);
    if (terms.empty()) return nullptr;
    return std::make_unique<Sum>(std::move(terms));
  }

 private:
  Preferred added_;
};

}  // namespace

PluginInstance make_node_affinity(k8s::yaml::ObjectReader& args) {
  const NodeAffinityArgs read = read_node_affinity_args(args);
  Preferred preferred;
  add_preferred(read.added_affinity, preferred);
  return {.filter = std::make_unique<AffinityFilter>(required_of(read.added_affinity)),
          .score = std::make_unique<AffinityScore>(std::move(preferred))};
}

}  // namespace plugins
