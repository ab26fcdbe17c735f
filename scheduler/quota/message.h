// Messages in numbers for pods that wait for quota.
#pragma once

#include "scheduler/quota/ledger.h"

#include <cstddef>
#include <string>
#include <vector>

namespace sched::quota {

// "quota team-vision: NVIDIA-H100-80GB-HBM3 needs 4, 14 of 16 in use (6 borrowed from cohort
// research), first in line; 2 more must be freed". Several lines are alternatives, one after
// another. `before`: how many pods have their turn earlier. For a pod that no line refuses, the
// message gives its place in line.
[[nodiscard]] std::string waiting_message(const std::string& quota,
                                          const std::vector<LineAnswer>& answers,
                                          std::size_t before);

// For a pod of a Strict quota behind another: "quota team-vision is Strict: 3rd in line behind
// vision/train-0; …".
[[nodiscard]] std::string behind_message(const std::string& quota, const std::string& first,
                                         std::size_t before);

// Of quotas that select a namespace which `quota` counts: "quota team-b selects ml, too, and would
// count it if team-a did not". `others` is not empty; its first is the one that would.
[[nodiscard]] std::string without_effect_message(const std::vector<std::string>& others,
                                                 const std::string& quota,
                                                 const std::string& namespace_);

// For a namespace that no quota selects where the default allows nothing.
[[nodiscard]] std::string no_quota_message(const std::string& namespace_);

// For a namespace that is not known yet, if its labels decide which quota counts it.
[[nodiscard]] std::string undecided_message(const std::string& namespace_);

// For a deleted quota that keeps its namespaces: the earliest end of that, and how much is in use.
[[nodiscard]] std::string deleted_quota_message(const std::string& quota, Time until,
                                                GpuShare used);

// For a quota with an invalid spec.
[[nodiscard]] std::string invalid_quota_message(const std::string& quota, const std::string& error);

}  // namespace sched::quota
