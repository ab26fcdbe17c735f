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

#include <optional>
#include <string>
#include <vector>

namespace sched::quota {

inline constexpr const char* kAnyType = "*";

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
  std::string cohort;  // empty: none; then nothing is borrowed or lent
  std::vector<LineSpec> lines;
  std::optional<GpuShare> most_per_pod;
  bool strict = false;
  friend bool operator==(const Spec&, const Spec&) = default;
};

// The error is "spec.quotas[1].limit: 4 is less than guaranteed, 8".
[[nodiscard]] k8s::Result<Spec> spec_of(const k8s::GpuQuota& quota);

// Whether GPUs of the product may be charged to the line.
[[nodiscard]] bool names(const LineSpec& line, const gpu::Product& product);

// The line that a GPU of the product is charged to: that of the product itself, else that of its
// class (of several the one that says most: "A100-80GB" before "A100"), else "*"; lines.size():
// none.
[[nodiscard]] std::size_t line_for(const std::vector<LineSpec>& lines, const gpu::Product& product);

}  // namespace sched::quota
