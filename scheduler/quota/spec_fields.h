// The names of a GpuQuota's fields, for readers of files: an API server leaves a field out that it
// does not know, and says so. Here a misspelt amount would be read as none.
#pragma once

#include "k8s-client/error.h"
#include "k8s-client/yaml/value.h"

#include <optional>
#include <string>

namespace sched::quota {

// An error, with its place, for a field that manifests/base/crds/gpuquotas.yaml does not have.
// `file` is only for messages; empty: the path without file and line.
[[nodiscard]] std::optional<k8s::Error> unknown_field(const k8s::yaml::Value& quota,
                                                      const std::string& file);

}  // namespace sched::quota
