#include "plugins/inter_pod_affinity/preference.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace plugins {

namespace {

using namespace sched;

// Each pod counts with the weights of the terms that select it, and of its own terms that select
// the pod to be placed.
class Attraction final : public Counted {
 public:
  Attraction(WeighedTerms own, TermRefs running, std::int32_t required_weight,
             std::shared_ptr<const Namespaces> namespaces)
      : own_(std::move(own)),
        running_(std::move(running)),
        required_weight_(required_weight),
        namespaces_(std::move(namespaces)) {}

  std::int32_t amount(const PodClass& pod) const override {
    std::int32_t all = 0;
    const k8s::StringMap& labels = namespaces_->labels_of(pod.namespace_);
    for (const WeighedTerm& own : own_) {
      if (own.term.selector.selects_for_its_pod(pod.namespace_, pod.labels, labels)) {
        all += own.weight;
      }
    }
    if (running_.empty()) return all;
    const auto selects = [&](const Term& term) { return contains(running_, term); };
    for (const WeighedTerm& each :
         preferred_terms(pod.affinity, pod.anti_affinity, pod.namespace_)) {
      if (selects(each.term)) all += each.weight;
    }
    if (required_weight_ == 0) return all;
    const Terms required = required_terms(pod.affinity, pod.namespace_);
    return all + required_weight_ * static_cast<std::int32_t>(
                                        std::count_if(required.begin(), required.end(), selects));
  }
  std::size_t memory() const override { return running_.size() * sizeof(TermRef); }

 private:
  WeighedTerms own_;
  TermRefs running_;  // sorted
  std::int32_t required_weight_;
  std::shared_ptr<const Namespaces> namespaces_;
};

class AffinityPreference final : public PodPreference {
 public:
  explicit AffinityPreference(std::vector<DomainCount> counts) { counts_ = std::move(counts); }
  std::vector<double> weights(std::span<const std::size_t>) const override { return {}; }
  std::int64_t raw(std::span<const std::int64_t> amounts, std::span<const double>) const override {
    return std::accumulate(amounts.begin(), amounts.end(), std::int64_t{0},
                           [](std::int64_t all, std::int64_t amount) {
                             return amount == kNoAmount ? all : all + amount;
                           });
  }
  // In kube-scheduler's steps, because integers would be rounded differently.
  std::int64_t score(std::int64_t raw, const Extremes& extremes) const override {
    if (extremes.min == extremes.max) return 0;
    const double part =
        static_cast<double>(raw - extremes.min) / static_cast<double>(extremes.max - extremes.min);
    return static_cast<std::int64_t>(static_cast<double>(kMaxScore) * part);
  }
};

}  // namespace

WeighedTerms preferred_terms(const std::optional<k8s::PodAffinity>& affinity,
                             const std::optional<k8s::PodAffinity>& anti_affinity,
                             const std::string& in) {
  WeighedTerms terms;
  const auto add = [&](const std::optional<k8s::PodAffinity>& from, std::int32_t sign) {
    if (!from) return;
    for (const k8s::WeightedPodAffinityTerm& each : from->preferred) {
      terms.push_back({{PodSelector(each.term, in), each.term.topology_key}, sign * each.weight});
    }
  };
  add(affinity, 1);
  add(anti_affinity, -1);
  return terms;
}

std::unique_ptr<PodPreference> make_preference(
    const WeighedTerms& own, std::map<std::string, RunningTerms::Selecting> running,
    std::int32_t required_weight, const std::shared_ptr<const Namespaces>& namespaces,
    std::uint64_t namespaces_version, const std::string& numbered_with) {
  std::map<std::string, WeighedTerms> own_by_key;
  for (const WeighedTerm& each : own) {
    own_by_key[each.term.key].push_back(each);
    running.try_emplace(each.term.key);
  }
  if (running.empty()) return nullptr;
  std::vector<DomainCount> counts;
  for (auto& [key, selecting] : running) {
    WeighedTerms& terms = own_by_key[key];
    DomainCount count{.id = "preferred:", .key = key, .what = nullptr};
    append_key(count.id, key);
    bool reads_namespaces = false;
    for (const WeighedTerm& each : terms) {
      append_key(count.id, each.term.selector.key());
      count.id += std::to_string(each.weight) + ";";
      reads_namespaces = reads_namespaces || each.term.selector.reads_namespaces();
    }
    if (reads_namespaces) count.id += "@" + numbered_with + std::to_string(namespaces_version);
    if (!selecting.terms.empty()) count.id += "held:" + numbered_with + selecting.id;
    count.what = std::make_shared<Attraction>(std::move(terms), std::move(selecting.terms),
                                              required_weight, namespaces);
    counts.push_back(std::move(count));
  }
  return std::make_unique<AffinityPreference>(std::move(counts));
}

}  // namespace plugins
