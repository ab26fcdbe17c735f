// How much a pod prefers some domains to others, by its own affinity and that of running pods.
#pragma once

#include "plugins/inter_pod_affinity/terms.h"
#include "scheduler/framework/plugin.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace plugins {

// The preferred terms of a pod, and the required affinity of a running pod, which draws other pods
// to it. Each with its weight, below 0 for anti-affinity.
struct WeighedTerm {
  Term term;
  std::int32_t weight = 0;
};
using WeighedTerms = std::vector<WeighedTerm>;
[[nodiscard]] WeighedTerms preferred_terms(const std::optional<k8s::PodAffinity>& affinity,
                                           const std::optional<k8s::PodAffinity>& anti_affinity,
                                           const std::string& in);

// For a pod with the own terms, which the running pods' terms select. Null: there are none.
// `required_weight`: of each required affinity term of a running pod, 0 … 100.
// `namespaces_version`: counts that read the labels of namespaces are valid for one version.
// `numbered_with`: stands before that number, and before those of terms, in the ids of counts.
[[nodiscard]] std::unique_ptr<sched::PodPreference> make_preference(
    const WeighedTerms& own, std::map<std::string, RunningTerms::Selecting> running,
    std::int32_t required_weight, const std::shared_ptr<const Namespaces>& namespaces,
    std::uint64_t namespaces_version, const std::string& numbered_with);

}  // namespace plugins
