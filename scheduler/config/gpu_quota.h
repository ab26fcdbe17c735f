// The section gpuQuota: what holds where no GpuQuota says anything, and how patient the first pod
// in line is. Not one of upstream's.
//
//   gpuQuota:
//     defaultQuota: Unlimited     of namespaces that no GpuQuota claims: Unlimited, None (no GPUs
//                                 for their pods), or the name of the GpuQuota that they share
//     holdAfter: 10m              quota and a node are held for the first in line after that time
//     closedAfterDeletion: 1m     so long the namespaces of a deleted GpuQuota get no GPUs; "0":
//                                 what defaultQuota says holds for them at once
//     podsWithoutQuota: Last      whether they have their turn First or Last
#pragma once

#include "k8s-client/yaml/object_reader.h"
#include "scheduler/quota/options.h"

namespace sched::config {

// The section of `document`; complaints are the reader's.
[[nodiscard]] quota::Options read_gpu_quota(k8s::yaml::ObjectReader& document);

}  // namespace sched::config
