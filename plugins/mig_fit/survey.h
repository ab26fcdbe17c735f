// Which nodes could hold instances of a MIG profile, and which never could; a sentence for each
// profile that the pod asks for. If a node could hold each of them, it need not be able to hold
// them all: the node's administrator chooses how its GPUs are partitioned for several profiles.
#pragma once

#include "scheduler/framework/plugin.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace plugins {

// A pod's request for one profile.
struct InstanceAsk {
  sched::ResourceId resource{};
  std::string resource_name;  // "nvidia.com/mig-1g.10gb.me"
  std::string profile;        // as the resource writes it: "1g.10gb.me"
  std::int64_t amount = 0;    // > 0
};

[[nodiscard]] std::unique_ptr<sched::Survey> make_mig_survey(const std::vector<InstanceAsk>& asks);

}  // namespace plugins
