// Which nodes could hold instances of a MIG profile, and which never could; a sentence for each
// profile that the pod asks for. That a node could hold each of them does not say that it could
// hold them all: how GPUs may be cut for several profiles is the device owner's to choose.
#pragma once

#include "scheduler/framework/plugin.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace plugins {

// What a pod asks for of one profile.
struct InstanceAsk {
  sched::ResourceId resource{};
  std::string resource_name;  // "nvidia.com/mig-1g.10gb.me"
  std::string profile;        // as the resource writes it: "1g.10gb.me"
  std::int64_t amount = 0;    // > 0
};

[[nodiscard]] std::unique_ptr<sched::Survey> make_mig_survey(const std::vector<InstanceAsk>& asks);

}  // namespace plugins
