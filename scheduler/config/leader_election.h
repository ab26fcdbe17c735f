// The section leaderElection: whether replicas elect one who schedules, and how patiently.
//
// Fields, defaults and rules are upstream's (k8s.io/component-base/config), but for the lease's
// name and namespace, which are those of manifests/base. Flags (--leader-elect-…) win over the
// file. Upstream truncates a leaseDuration to whole seconds, since a Lease counts in these; here
// that is an error, for a promise that differs from what is written would be a trap.
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

// What flags say; empty and nullopt: nothing.
struct LeaderElectionFlags {
  std::optional<bool> leader_elect;
  std::string lease_duration;
  std::string renew_deadline;
  std::string retry_period;
  std::string resource_lock;
  std::string resource_name;
  std::string resource_namespace;
};

// The section of `document`; complaints are the reader's.
[[nodiscard]] LeaderElection read_leader_election(k8s::yaml::ObjectReader& document);

// What the file says, with what flags say in its place. An error names the flag. Flags about the
// lease of an election that is switched off have no effect, which is for scripts that always pass
// them.
[[nodiscard]] k8s::Result<LeaderElection> with_flags(LeaderElection from_file,
                                                     const LeaderElectionFlags& flags);

}  // namespace sched::config
