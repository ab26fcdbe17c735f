// UnsupportedConstraints: a pod whose hard constraints gpu-scheduler cannot honour yet is placed
// nowhere.
//
// Resource claims; in-line disks, which one node at a time can mount; more required pod affinity
// terms and topology spread constraints than are counted for. To place such a pod by the rest of
// its spec would be to ignore what it asks for. It waits, and its message says for what. Without
// arguments.
#pragma once

#include "scheduler/framework/registry.h"

namespace plugins {

[[nodiscard]] sched::PluginInstance make_unsupported_constraints(k8s::yaml::ObjectReader& args);

}  // namespace plugins
