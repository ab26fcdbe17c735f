// How much a pod would rather be in some domains than in others, by the affinity of all concerned.
#pragma once

#include "plugins/inter_pod_affinity/terms.h"
#include "scheduler/framework/plugin.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace plugins {

// The terms of a pod that say what it would rather have, and the required affinity of a running
// one: others are drawn to where they are required. Each with its weight, below 0 where it is to be
// kept away from.
struct WeighedTerm {
  Term term;
  std::int32_t weight = 0;
};
using WeighedTerms = std::vector<WeighedTerm>;
[[nodiscard]] WeighedTerms preferred_terms(const std::optional<k8s::PodAffinity>& affinity,
                                           const std::optional<k8s::PodAffinity>& anti_affinity,
                                           const std::string& in);

// For a pod with these terms of its own, which these terms of running pods select. Null: there are
// none. `required_weight`: of each required affinity term of a running pod, 0 … 100.
// `namespaces_version`: counts that read the labels of namespaces are kept for one version.
[[nodiscard]] std::unique_ptr<sched::PodPreference> make_preference(
    const WeighedTerms& own, std::map<std::string, RunningTerms::Selecting> running,
    std::int32_t required_weight, const std::shared_ptr<const Namespaces>& namespaces,
    std::uint64_t namespaces_version);

}  // namespace plugins
