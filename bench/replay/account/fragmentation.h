// The free GPU of a node, by what keeps typical pods from using it.
//
// For each typical pod the free GPU of a node has one of seven causes (bench::replay::Cause);
// weighted by how often such pods come, this shows how the free GPU of a cluster is fragmented.
// Source: Weng et al., "Beware of Fragmentation", ATC'23, §3. If a GPU is large enough for the pod
// (q3), the devices that are too small for it count as "no GPU large enough" (q2), as in the
// paper's artefact. Memory is not considered, nor are MIG instances.
//
// Exact: amounts are thousandths of a GPU times the number of pods, so that additions and
// subtractions over a run leave no error.
#pragma once

#include "bench/replay/result.h"
#include "scheduler/framework/cluster_context.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench::replay {

// By cause; thousandths of a GPU × Fragmentation::weight().
using FreeByCause = std::array<std::int64_t, kCauses>;

class Fragmentation {
 public:
  // Without typical pods everything free counts as usable.
  explicit Fragmentation(const std::vector<sched::TypicalPod>& typical_pods);

  // The divisor that makes thousandths of a GPU of a FreeByCause; at least 1.
  [[nodiscard]] std::int64_t weight() const { return weight_; }

  // An id for a GPU model, for of().
  [[nodiscard]] std::size_t product_id(const std::string& product);

  // Of a node with this much free on each device and this much free CPU.
  // O(typical pods × devices).
  [[nodiscard]] FreeByCause free_by_cause(std::size_t product, std::int64_t free_cpu,
                                          std::span<const std::int32_t> free_milli) const;

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
  static void add(const Typical& pod, std::int64_t free_cpu,
                  std::span<const std::int32_t> free_milli, std::int64_t free, FreeByCause& sum);

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

}  // namespace bench::replay
