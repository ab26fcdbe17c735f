// Published results of the openb traces, for comparison: mean and spread over ten seeds of the
// allocated share at each whole percent of arrival, six policies on 17 traces.
//
// Source: Weng et al., "Beware of Fragmentation", USENIX ATC'23; data of its artefact,
// hkust-adsl/kubernetes-scheduler-simulator@8f3d641, analysis_allo_discrete.csv (Apache-2.0),
// condensed to means and population standard deviations in openb_published.csv, which is built in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bench::replay {

struct PublishedCurve {
  std::string policy;             // the published name: "FGD", "BestFit", "Random", …
  std::vector<double> allocated;  // % of GPUs, mean, at x = 0, 1, … 130 % of arrival
  std::vector<double> deviation;  // of each
};

// For the trace of that name ("openb_pod_list_default"); empty: none were published.
[[nodiscard]] const std::vector<PublishedCurve>& published_curves(std::string_view trace);

// The published name of a policy of this project ("fgd" → "FGD"); empty: none.
[[nodiscard]] std::string_view published_name(std::string_view policy);
// And the other way round ("FGD" → "fgd").
[[nodiscard]] std::string_view policy_published_as(std::string_view name);

}  // namespace bench::replay
