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
  kNamed,      // it belongs to Options::default_quota; as kNone while there is none of that name
};

struct Options {
  WithoutQuota without_quota = WithoutQuota::kUnlimited;
  std::string default_quota;  // with kNamed
  // So long the first pod in line waits within its guarantee before quota and a node are held for
  // it: from its creation, or from when its scheduling gates were gone.
  std::chrono::seconds hold_after{600};
  // So long the namespaces of a deleted quota get no GPUs, unless another quota selects them; zero:
  // what holds without a quota holds for them at once.
  std::chrono::seconds closed_after_deletion{60};
  // Whether the quotas of a cohort together use no more than they guarantee: one whose guarantee is
  // lent waits for it to come back. Else it may take it at once, wherever there are GPUs.
  bool bound_cohorts = false;
  // Whether pods without quota have their turn before those of quotas, or after.
  bool pods_without_quota_first = false;
};

}  // namespace sched::quota
