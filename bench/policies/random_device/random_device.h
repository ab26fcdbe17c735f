// RandomDevice: puts a share of a GPU on any of the node's devices that have room, drawn from a
// seed.
//
// All nodes score 0: with `tieBreak: random` this is the Random baseline of Weng et al., "Beware of
// Fragmentation" (ATC'23), where node and device are drawn. What is drawn depends on the seed, the
// pod's share, and on the node's name and devices as they are, on nothing else; so the answer can
// be kept until the node changes, and a replay draws the same again.
//
// Arguments (RandomDeviceArgs): seed (0).
#pragma once

#include "scheduler/framework/registry.h"

#include <cstdint>

namespace bench {

[[nodiscard]] sched::PluginInstance make_random_device(std::uint64_t seed);
[[nodiscard]] sched::PluginInstance make_random_device(k8s::yaml::ObjectReader& args);

}  // namespace bench
