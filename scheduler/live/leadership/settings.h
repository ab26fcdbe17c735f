// The configuration's leaderElection, as settings of the parts that use it.
#pragma once

#include "k8s-client/leader_election/election.h"
#include "scheduler/config/leader_election.h"
#include "scheduler/live/leadership/bind_gate.h"

#include <string>

namespace sched::live {

// Without election: the longest times.
[[nodiscard]] BindTimes bind_times(const config::LeaderElection& election);

// With an identity that is new at each call.
[[nodiscard]] k8s::ElectionOptions election_options(const config::LeaderElection& election,
                                                    const std::string& host_name);

}  // namespace sched::live
