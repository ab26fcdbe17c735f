// TaintToleration: keeps pods off nodes with NoSchedule and NoExecute taints that they do not
// tolerate, and prefers nodes with few PreferNoSchedule taints that they do not tolerate. Without
// arguments.
#include "plugins/factories.h"
#include "plugins/support/one_reason.h"
#include "scheduler/framework/taints.h"

#include <algorithm>

namespace plugins {

namespace {

using namespace sched;
using k8s::Taint;
using k8s::TaintEffect;
using Tolerations = std::vector<k8s::Toleration>;

bool is_tolerated(const Taint& taint, const Tolerations& tolerations) {
  return std::any_of(tolerations.begin(), tolerations.end(),
                     [&](const k8s::Toleration& each) { return each.tolerates(taint); });
}

class TaintCheck final : public OneReasonFilter {
 public:
  explicit TaintCheck(Tolerations tolerations)
      : OneReasonFilter("node(s) had untolerated taint(s)"), tolerations_(std::move(tolerations)) {}

  Verdict check(const NodeView& node) const override {
    return untolerated(node) == nullptr ? Verdict::ok() : Verdict::unresolvable(kTheReason);
  }

  bool reads_usage() const override { return false; }

  // The taint: kube-scheduler no longer reports it.
  std::string numbers(const NodeView& node, unsigned) const override {
    const Taint* taint = untolerated(node);
    if (taint == nullptr) return "";
    return "taint " + text_of(*taint) +
           (is_passing(*taint) ? "" : ", tolerated by " + toleration_of(*taint));
  }

 private:
  const Taint* untolerated(const NodeView& node) const {
    return first_untolerated(node.facts.taints, tolerations_);
  }

  Tolerations tolerations_;
};

class TaintFilter final : public FilterPlugin {
 public:
  std::string_view name() const override { return "TaintToleration"; }

  FilterPreparation prepare(const PodShape& shape, const PrepareContext&) const override {
    FilterPreparation preparation;
    preparation.filter = std::make_unique<TaintCheck>(shape.tolerations);
    return preparation;
  }
};

// Counts the soft taints that the pod does not tolerate.
class Count final : public NodeScore {
 public:
  explicit Count(Tolerations tolerations) : tolerations_(std::move(tolerations)) {}

  std::int64_t score(const NodeView& node) const override {
    return std::count_if(node.facts.taints.begin(), node.facts.taints.end(),
                         [&](const Taint& taint) {
                           return taint.effect == TaintEffect::kPreferNoSchedule &&
                                  !is_tolerated(taint, tolerations_);
                         });
  }
  bool reads_usage() const override { return false; }

 private:
  Tolerations tolerations_;
};

class TaintScore final : public ScorePlugin {
 public:
  std::string_view name() const override { return "TaintToleration"; }
  Normalisation normalisation() const override { return Normalisation::kReversed; }

  std::unique_ptr<NodeScore> prepare(const PodShape& shape, const PrepareContext&) const override {
    return std::make_unique<Count>(shape.tolerations);
  }
};

}  // namespace

PluginInstance make_taint_toleration(k8s::yaml::ObjectReader&) {
  return {.filter = std::make_unique<TaintFilter>(), .score = std::make_unique<TaintScore>()};
}

}  // namespace plugins
