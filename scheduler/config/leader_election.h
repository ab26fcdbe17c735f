// The section leaderElection: whether replicas elect a leader, which alone schedules, and its
// times.
//
// Fields, defaults and rules are upstream's (k8s.io/component-base/config), except for the lease's
// name and namespace, which are those of manifests/base. These name the lease of a process without
// election, too (k8s-client/leader_election/store_mark.h). Flags (--leader-elect-…) have precedence
// over the file. Upstream truncates a leaseDuration to whole seconds, the unit of a Lease. Here a
// fraction is an error, because the lease would otherwise be shorter than configured.
#pragma once

#include "k8s-client/error.h"
#include "k8s-client/yaml/object_reader.h"

#include <chrono>
#include <optional>
#include <string>

namespace sched::config {

struct LeaderElection {
  bool leader_elect = true;
  std::chrono::milliseconds lease_duration{15'000};  // whole seconds
  std::chrono::milliseconds renew_deadline{10'000};
  std::chrono::milliseconds retry_period{2'000};
  std::string resource_name = "gpu-scheduler";
  std::string resource_namespace = "gpu-scheduler";
  friend bool operator==(const LeaderElection&, const LeaderElection&) = default;
};

// The values of flags; empty and nullopt: not set.
struct LeaderElectionFlags {
  std::optional<bool> leader_elect;
  std::string lease_duration;
  std::string renew_deadline;
  std::string retry_period;
  std::string resource_lock;
  std::string resource_name;
  std::string resource_namespace;
};

// The section of `document`; errors go into the reader.
[[nodiscard]] LeaderElection read_leader_election(k8s::yaml::ObjectReader& document);

// The settings of the file, replaced by those of flags. An error names the flag. If leader election
// is off, flags about the lease's times have no effect; so scripts may always pass them.
[[nodiscard]] k8s::Result<LeaderElection> with_flags(LeaderElection from_file,
                                                     const LeaderElectionFlags& flags);

}  // namespace sched::config
