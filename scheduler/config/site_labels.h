// The section gpuLabels: labels that a site has made itself and that say what GPUs a node has,
// where neither NVIDIA's nor a cloud's do. Not one of upstream's.
//
//   gpuLabels:
//     product: [gpu-type]      the model: "H100", "a100", "NVIDIA-L4"
//     memory: [gpu-memory]     of a GPU: "80Gi", or a number of MiB
#pragma once

#include "k8s-client/yaml/object_reader.h"
#include "scheduler/gpu/labels.h"

namespace sched::config {

// The section of `document`; complaints are the reader's.
[[nodiscard]] gpu::SiteLabels read_site_labels(k8s::yaml::ObjectReader& document);

}  // namespace sched::config
