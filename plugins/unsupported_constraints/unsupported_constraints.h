// UnsupportedConstraints: a pod with hard constraints that gpu-scheduler does not support yet is
// placed nowhere.
//
// These are: resource claims; in-line disks that one node at a time can mount; and more required
// pod affinity terms and topology spread constraints than are counted. To place such a pod by the
// rest of its spec would ignore what it asks for. It waits, and its message names the reason.
// Without arguments.
#pragma once

#include "scheduler/framework/registry.h"

namespace plugins {

[[nodiscard]] sched::PluginInstance make_unsupported_constraints(k8s::yaml::ObjectReader& args);

}  // namespace plugins
