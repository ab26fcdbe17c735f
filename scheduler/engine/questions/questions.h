// State → answers about a pod, without changing anything: how it would be judged now, node by node,
// and which nodes it could go to.
//
// They look at every node and keep nothing; what they find is what the finder finds by what it
// keeps, which tests compare.
#pragma once

#include "scheduler/engine/engine.h"
#include "scheduler/engine/line/holds.h"
#include "scheduler/engine/line/quota_search.h"
#include "scheduler/engine/report/quota_words.h"
#include "scheduler/engine/world/world.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace sched {

class Questions {
 public:
  // All borrowed things outlive it.
  Questions(const World& world, const Holds& holds, const QuotaSearch& search,
            const QuotaWords& words)
      : world_(world), holds_(holds), search_(search), words_(words) {}

  // As Engine's functions.
  [[nodiscard]] Explanation explain(const k8s::Pod& pod) const;
  [[nodiscard]] std::vector<Candidate> candidates(const k8s::Pod& pod, std::size_t at_most) const;

 private:
  // What quota says of a pod that is asked about.
  struct Judgement {
    quota::Admission admission;
    bool refuses = false;  // whatever the nodes say
    std::string words;
    [[nodiscard]] bool allows(quota::ClassId id) const {
      return id == quota::kNoGpuClass || admission.has(id);
    }
  };
  // Where quota lets the pod go, as if it held nothing; nullopt: no quota counts it.
  [[nodiscard]] std::optional<quota::Admission> admission_anew(const k8s::Pod& pod,
                                                               const PodShape& shape,
                                                               const ResourceNames& names) const;
  // nullopt: no quota counts the pod.
  [[nodiscard]] std::optional<Judgement> judge_by_quota(const k8s::Pod& pod, const PodShape& shape,
                                                        const ResourceNames& names) const;

  const World& world_;
  const Holds& holds_;
  const QuotaSearch& search_;
  const QuotaWords& words_;
};

}  // namespace sched
