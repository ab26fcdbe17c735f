// GpuQuota objects for tests, written as sentences:
//
//   gpu_quota("team-vision").of("vision").in_cohort("research").line("H100", 8).limit(16)
//
// Amounts are whole GPUs or Kubernetes' text ("500m"). limit() and lendable() are of the last line.
#pragma once

#include "k8s-client/api/gpu_quota.h"
#include "tests/support/builders.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace tests {

class GpuQuotaBuilder {
 public:
  explicit GpuQuotaBuilder(std::string_view name) {
    quota_.metadata.name = name;
    quota_.metadata.uid = std::string(name) + "-uid";
    quota_.metadata.generation = 1;
  }

  GpuQuotaBuilder& of(std::string_view namespace_) {
    quota_.spec.namespaces.emplace_back(namespace_);
    return *this;
  }
  GpuQuotaBuilder& selects(k8s::LabelSelector selector) {
    quota_.spec.namespace_selector = std::move(selector);
    return *this;
  }
  GpuQuotaBuilder& in_cohort(std::string_view cohort) {
    quota_.spec.cohort = cohort;
    return *this;
  }
  GpuQuotaBuilder& in_quota(std::string_view parent) {
    quota_.spec.parent = parent;
    return *this;
  }
  GpuQuotaBuilder& weighs(std::int64_t weight) {
    quota_.spec.weight = weight;
    return *this;
  }
  GpuQuotaBuilder& line(std::string_view gpu_type, std::int64_t guaranteed) {
    return line(gpu_type, std::to_string(guaranteed));
  }
  GpuQuotaBuilder& line(std::string_view gpu_type, const std::string& guaranteed) {
    quota_.spec.quotas.push_back({.gpu_type = std::string(gpu_type),
                                  .guaranteed = quantity(guaranteed),
                                  .limit = std::nullopt,
                                  .lendable = std::nullopt});
    return *this;
  }
  GpuQuotaBuilder& limit(std::int64_t gpus) {
    quota_.spec.quotas.back().limit = k8s::Quantity::of(gpus);
    return *this;
  }
  GpuQuotaBuilder& lendable(std::int64_t gpus) {
    quota_.spec.quotas.back().lendable = k8s::Quantity::of(gpus);
    return *this;
  }
  GpuQuotaBuilder& most_per_pod(std::int64_t gpus) {
    quota_.spec.max_gpus_per_pod = k8s::Quantity::of(gpus);
    return *this;
  }
  GpuQuotaBuilder& opens_when_deleted() {
    quota_.spec.when_deleted = k8s::GpuQuota::WhenDeleted::kOpen;
    return *this;
  }
  GpuQuotaBuilder& strict() {
    quota_.spec.order = k8s::GpuQuota::Order::kStrict;
    return *this;
  }
  GpuQuotaBuilder& created_at(k8s::Timestamp time) {
    quota_.metadata.creation_timestamp = time;
    return *this;
  }
  GpuQuotaBuilder& generation(std::int64_t generation) {
    quota_.metadata.generation = generation;
    return *this;
  }

  // NOLINTNEXTLINE(google-explicit-constructor): a sentence is the object it describes.
  operator k8s::GpuQuota() const { return quota_; }

 private:
  k8s::GpuQuota quota_;
};
[[nodiscard]] inline GpuQuotaBuilder gpu_quota(std::string_view name) {
  return GpuQuotaBuilder(name);
}

}  // namespace tests
