#include "scheduler/live/leadership/settings.h"

#include "k8s-client/leader_election/leader_elector.h"

#include <chrono>
#include <random>

namespace sched::live {

BindTimes bind_times(const config::LeaderElection& election) {
  return election.leader_elect ? bind_times(election.lease_duration) : BindTimes{};
}

k8s::ElectionOptions election_options(const config::LeaderElection& election,
                                      const std::string& host_name) {
  std::random_device random;
  return {
      .namespace_ = election.resource_namespace,
      .name = election.resource_name,
      .identity = k8s::make_identity(host_name),
      .lease_duration = std::chrono::duration_cast<std::chrono::seconds>(election.lease_duration),
      .renew_deadline = election.renew_deadline,
      .retry_period = election.retry_period,
      .seed = random()};
}

}  // namespace sched::live
