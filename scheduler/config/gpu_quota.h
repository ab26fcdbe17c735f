// The section gpuQuota: the rules for namespaces without GpuQuota, and when quota is held for the
// first pod in line. Upstream does not have it.
//
//   gpuQuota:
//     defaultQuota: Unlimited     for namespaces that no GpuQuota selects: Unlimited, None (no GPUs
//                                 for their pods), or the name of the GpuQuota that they share
//     holdAfter: 10m              after that time quota and a node are held for the first in line
//     closedAfterDeletion: 1m     so long the namespaces of a deleted GpuQuota get no GPUs; "0":
//                                 defaultQuota holds for them at once
//     podsWithoutQuota: Last      whether they have their turn First or Last
#pragma once

#include "k8s-client/yaml/object_reader.h"
#include "scheduler/quota/options.h"

namespace sched::config {

// The section of `document`; errors go into the reader.
[[nodiscard]] quota::Options read_gpu_quota(k8s::yaml::ObjectReader& document);

}  // namespace sched::config
