// A GpuQuota's spec, checked and in the ledger's own units.
//
// The API server checks the same rules (manifests/base/crds), except one that needs knowledge of
// GPUs: that no two lines mean the same type ("H100" and "h100"). A server may also hold objects
// that are older than a rule. A spec that is not valid is never half applied: the quota's
// namespaces get nothing new until the spec is repaired, and the condition Ready gives the reason.
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

// How many levels of quotas there may be: company, division, department, team.
inline constexpr std::size_t kMostLevels = 4;

struct LineSpec {
  std::string gpu_type;  // a product, a class, or kAnyType
  gpu::TypeName means;   // unless kAnyType
  std::string type_key;  // equal if lines mean the same GPUs, however they write it
  GpuShare guaranteed;
  std::optional<GpuShare> limit;  // ≥ guaranteed; absent: whatever the cohort can lend
  GpuShare lendable;              // ≤ guaranteed
  friend bool operator==(const LineSpec&, const LineSpec&) = default;
};

struct Spec {
  std::string cohort;  // empty: none; without a cohort and a parent nothing is borrowed or lent
  std::string parent;  // the quota that this quota is in; empty: none
  // GPUs; the weight of each line's share of what is idle. Absent: the line's guarantee.
  std::optional<GpuShare> weight;
  std::vector<LineSpec> lines;
  std::optional<GpuShare> most_per_pod;
  bool strict = false;
  friend bool operator==(const Spec&, const Spec&) = default;
};

// An error reads "spec.quotas[1].limit: 4 is less than guaranteed, 8".
[[nodiscard]] k8s::Result<Spec> spec_of(const k8s::GpuQuota& quota);

// Whether GPUs of the product may be charged to the line.
[[nodiscard]] bool names(const LineSpec& line, const gpu::Product& product);

// Whether all GPUs that `some` means are among those that `all` means.
[[nodiscard]] bool includes(const LineSpec& all, const LineSpec& some);

// The parent's line to which a child's line is charged: the line of the same type, else the most
// specific line that includes it; lines.size(): none.
[[nodiscard]] std::size_t line_above(const std::vector<LineSpec>& lines, const LineSpec& line);

// The line to which a GPU of the product is charged: the line of the product itself, else the most
// specific line of its class ("A100-80GB" before "A100"), else "*"; lines.size(): none.
[[nodiscard]] std::size_t line_for(const std::vector<LineSpec>& lines, const gpu::Product& product);

}  // namespace sched::quota
