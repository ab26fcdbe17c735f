// The free GPU of a node, by what keeps typical pods from using it.
//
// For each typical pod the free GPU of a node has one of seven causes (FreeGpuCause); weighted by
// how often such pods come, this shows how the free GPU of a cluster is fragmented.
// Source: Weng et al., "Beware of Fragmentation", ATC'23, §3. If a GPU is large enough for the pod
// (q3), the devices that are too small for it count as "no GPU large enough" (q2), as in the
// paper's artefact. Memory is not considered, nor are MIG instances.
//
// Exact: amounts are thousandths of a GPU times the number of pods, so that additions and
// subtractions over a run leave no error.
#pragma once

#include "scheduler/framework/cluster_context.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace sched {

// Why free GPU cannot be used by the typical pods; FGD's seven cases.
enum class FreeGpuCause : std::uint8_t {
  kLackBoth,       // q1: neither enough CPU nor a GPU large enough
  kLackGpu,        // q2: no GPU large enough, or too few
  kSatisfied,      // q3: usable: not fragmented
  kLackCpu,        // q4: GPU enough, CPU not
  kNoGpuAsked,     // xl: the pod asks for none, its CPU fits
  kNoGpuAskedCpu,  // xr: the pod asks for none, its CPU does not fit
  kNoAccess,       // the node's model is not allowed
};
inline constexpr std::size_t kFreeGpuCauses = 7;

// The first of `kinds` that together cover 95 % of the pods, those without GPU included: the
// typical pods. `kinds` as in ClusterContext::pods. Source: the paper's artefact
// (podPopularityThreshold 95).
[[nodiscard]] std::span<const TypicalPod> covering(std::span<const TypicalPod> kinds);

// By cause; thousandths of a GPU × Fragmentation::weight().
using FreeByCause = std::array<std::int64_t, kFreeGpuCauses>;

class Fragmentation {
 public:
  // Without typical pods everything free counts as usable.
  explicit Fragmentation(std::span<const TypicalPod> typical_pods);

  // The divisor that makes thousandths of a GPU of a FreeByCause; at least 1.
  [[nodiscard]] std::int64_t weight() const { return weight_; }

  // An id for a GPU model, for free_by_cause().
  [[nodiscard]] std::size_t product_id(const std::string& product);

  // Of a node with this much free on each device and this much free CPU.
  // O(typical pods × devices).
  [[nodiscard]] FreeByCause free_by_cause(std::size_t product, std::int64_t free_cpu,
                                          std::span<const std::int32_t> free_milli) const;
  // The same for so many free GPUs, all of them whole. O(typical pods).
  [[nodiscard]] FreeByCause free_by_cause(std::size_t product, std::int64_t free_cpu,
                                          std::int64_t whole_gpus) const;

 private:
  struct Typical {
    std::int64_t cpu = 0;
    std::int64_t gpus = 0;
    std::int64_t milli = 0;
    std::int64_t count = 0;
  };
  struct Kind {
    Typical pod;
    std::vector<std::string> products;  // empty: any
  };
  // The free devices of a node that are large enough for a pod.
  struct Devices {
    std::int64_t count = 0;
    std::int64_t milli = 0;
  };
  template <typename LargeEnough>
  [[nodiscard]] FreeByCause sum_up(std::size_t product, std::int64_t free_cpu, std::int64_t free,
                                   LargeEnough&& large_enough) const;

  std::vector<Kind> kinds_;
  std::int64_t weight_ = 0;
  std::map<std::string, std::size_t, std::less<>> product_ids_;
  // By product id: the pods that may run there, and how many of the others came.
  struct Allowed {
    std::vector<Typical> pods;
    std::int64_t no_access = 0;
  };
  std::vector<Allowed> allowed_;
};

}  // namespace sched
