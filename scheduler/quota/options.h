// What the configuration says about GPU quotas.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace sched::quota {

// What holds for a namespace that no GpuQuota selects.
enum class WithoutQuota : std::uint8_t {
  kUnlimited,  // its pods use what they find
  kNone,       // its pods get no GPUs
  kNamed,      // it belongs to Options::default_quota; as kNone if there is no such quota
};

struct Options {
  WithoutQuota without_quota = WithoutQuota::kUnlimited;
  std::string default_quota;  // with kNamed
  // How long the first pods in line wait within their guarantee before quota and nodes are held for
  // them; measured from a pod's creation, or from when its scheduling gates were gone, or from when
  // it was last seen to ask for more than its quota guarantees.
  std::chrono::seconds hold_after{600};
  // How long the namespaces of a deleted quota get no GPUs, unless another quota selects them.
  // Zero: they are treated at once as namespaces without quota.
  std::chrono::seconds closed_after_deletion{60};
  // Whether the quotas of a cohort together use at most what they guarantee. Then a quota with a
  // lent guarantee waits until it is given back. Otherwise the quota may take it at once, wherever
  // there are GPUs.
  bool bound_cohorts = false;
  // Whether pods without quota have their turn before those of quotas, or after.
  bool pods_without_quota_first = false;
};

}  // namespace sched::quota
