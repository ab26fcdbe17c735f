// The section gpuLabels: labels made by the site that name the GPUs of a node, if neither NVIDIA's
// nor a cloud's labels do. Upstream does not have it.
//
//   gpuLabels:
//     product: [gpu-type]      the model: "H100", "a100", "NVIDIA-L4"
//     memory: [gpu-memory]     of a GPU: "80Gi", or a number of MiB
#pragma once

#include "k8s-client/yaml/object_reader.h"
#include "scheduler/gpu/labels.h"

namespace sched::config {

// The section of `document`; errors go into the reader.
[[nodiscard]] gpu::SiteLabels read_site_labels(k8s::yaml::ObjectReader& document);

}  // namespace sched::config
