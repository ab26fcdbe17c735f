// A GpuQuota's spec, checked and in the ledger's own units.
//
// The API server checks the same rules (manifests/base/crds), all but one that needs to know GPUs:
// that no two lines mean the same type ("H100" and "h100"). A server may also hold objects from
// before a rule. One that is not valid is never half applied: its namespaces get nothing new until
// it is repaired, and its condition Ready says why.
#pragma once

#include "k8s-client/api/gpu_quota.h"
#include "k8s-client/error.h"
#include "scheduler/gpu/type_name.h"
#include "scheduler/quota/charge_class.h"
#include "scheduler/quota/gpu_share.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace sched::quota {

inline constexpr const char* kAnyType = "*";

// So many quotas may be in each other: company, division, department, team.
inline constexpr std::size_t kMostLevels = 4;

struct LineSpec {
  std::string gpu_type;           // a product, a class, or kAnyType
  gpu::TypeName means;            // unless kAnyType
  std::string type_key;           // equal where lines mean the same GPUs, however they write it
  GpuShare guaranteed;            //
  std::optional<GpuShare> limit;  // ≥ guaranteed; absent: whatever the cohort can lend
  GpuShare lendable;              // ≤ guaranteed
  friend bool operator==(const LineSpec&, const LineSpec&) = default;
};

struct Spec {
  std::string cohort;  // empty: none; without it and a parent nothing is borrowed or lent
  std::string parent;  // the quota that it is in; empty: none
  // GPUs; of each line's share of what is idle. Absent: the line's guarantee.
  std::optional<GpuShare> weight;
  std::vector<LineSpec> lines;
  std::optional<GpuShare> most_per_pod;
  bool strict = false;
  friend bool operator==(const Spec&, const Spec&) = default;
};

// The error is "spec.quotas[1].limit: 4 is less than guaranteed, 8".
[[nodiscard]] k8s::Result<Spec> spec_of(const k8s::GpuQuota& quota);

// Whether GPUs of the product may be charged to the line.
[[nodiscard]] bool names(const LineSpec& line, const gpu::Product& product);

// Whether all GPUs of the second are GPUs of the first.
[[nodiscard]] bool includes(const LineSpec& all, const LineSpec& some);

// The line of a parent's to which a line of a quota in it is charged: that of the same type, else
// that which includes it and says most; lines.size(): none.
[[nodiscard]] std::size_t line_above(const std::vector<LineSpec>& lines, const LineSpec& line);

// The line that a GPU of the product is charged to: that of the product itself, else that of its
// class (of several the one that says most: "A100-80GB" before "A100"), else "*"; lines.size():
// none.
[[nodiscard]] std::size_t line_for(const std::vector<LineSpec>& lines, const gpu::Product& product);

}  // namespace sched::quota
