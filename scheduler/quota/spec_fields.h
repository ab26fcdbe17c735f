// The fields of a GpuQuota's spec, for readers of files: an API server drops others and says so,
// and a misspelt amount would be read as none. Those of manifests/base/crds/gpuquotas.yaml, sorted.
#pragma once

#include <array>
#include <string_view>

namespace sched::quota {

inline constexpr std::array<std::string_view, 9> kSpecFields = {
    "cohort", "maxGpusPerPod", "namespaceSelector", "namespaces", "order", "parent",
    "quotas", "weight",        "whenDeleted"};
inline constexpr std::array<std::string_view, 4> kLineFields = {"gpuType", "guaranteed", "lendable",
                                                                "limit"};

}  // namespace sched::quota
