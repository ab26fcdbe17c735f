#include "scheduler/framework/long_lists.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sched {
namespace {

// The key of the term that is left in place of dropped lists. Its value has blanks, so no label of
// a node can match.
constexpr std::string_view kDropped = "gpu-scheduler.io/list-too-long";

std::size_t size_of(const k8s::NodeSelectorTerm& term) {
  std::size_t size = 1;
  for (const auto* requirements : {&term.match_expressions, &term.match_fields}) {
    for (const k8s::SelectorRequirement& each : *requirements) size += 1 + each.values.size();
  }
  return size;
}

std::size_t size_of(const k8s::NodeAffinity& affinity) {
  std::size_t size = 0;
  if (affinity.required) {
    for (const k8s::NodeSelectorTerm& term : affinity.required->terms) size += size_of(term);
  }
  for (const k8s::PreferredNodeTerm& term : affinity.preferred) size += size_of(term.preference);
  return size;
}

// What the lists that drop_long_lists() has dropped were; null: none was.
const std::string* dropped_from(const std::optional<k8s::NodeAffinity>& affinity) {
  if (!affinity || !affinity->required || affinity->required->terms.size() != 1) return nullptr;
  const auto& requirements = affinity->required->terms.front().match_expressions;
  if (requirements.size() != 1 || requirements.front().key != kDropped) return nullptr;
  const std::vector<std::string>& values = requirements.front().values;
  return values.size() == 1 ? &values.front() : nullptr;
}

// Frees its memory, too.
template <typename Entry>
void drop(std::vector<Entry>& list) {
  std::vector<Entry>().swap(list);
}

template <typename Term>
void cut(std::vector<Term>& terms) {
  if (terms.size() <= kMostTermsAcrossNodes) return;
  terms.resize(kMostTermsAcrossNodes);
  terms.shrink_to_fit();
}

void cut(std::optional<k8s::PodAffinity>& affinity) {
  if (!affinity) return;
  cut(affinity->required);
  cut(affinity->preferred);
}

}  // namespace

std::optional<std::string> long_list_of(const k8s::Pod& pod) {
  const k8s::Pod::Spec& spec = pod.spec;
  if (const std::string* dropped = dropped_from(spec.node_affinity)) return *dropped;
  if (spec.tolerations.size() > kMostTolerations) {
    return fmt::format("more than {} tolerations", kMostTolerations);
  }
  if (std::max(spec.volumes.size(), spec.image_volumes.size()) > kMostVolumes) {
    return fmt::format("more than {} volumes", kMostVolumes);
  }
  if (spec.node_affinity && size_of(*spec.node_affinity) > kMostOfNodeAffinity) {
    return fmt::format("a node affinity of more than {} terms, expressions and values",
                       kMostOfNodeAffinity);
  }
  return std::nullopt;
}

void drop_long_lists(k8s::Pod& pod) {
  k8s::Pod::Spec& spec = pod.spec;
  cut(spec.pod_affinity);
  cut(spec.pod_anti_affinity);
  cut(spec.topology_spread_constraints);
  auto too_long = long_list_of(pod);
  if (!too_long) return;
  drop(spec.tolerations);
  drop(spec.volumes);
  drop(spec.image_volumes);
  k8s::NodeSelectorTerm never;
  never.match_expressions.push_back({.key = std::string(kDropped),
                                     .op = k8s::SelectorOperator::kIn,
                                     .values = {*std::move(too_long)}});
  spec.node_affinity.emplace().required.emplace().terms.push_back(std::move(never));
}

}  // namespace sched
