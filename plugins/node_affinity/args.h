// The arguments of NodeAffinity (node_affinity.cc).
#pragma once

#include "k8s-client/api/pod.h"
#include "k8s-client/yaml/object_reader.h"

#include <optional>

namespace plugins {

struct NodeAffinityArgs {
  std::optional<k8s::NodeAffinity> added_affinity;
  friend bool operator==(const NodeAffinityArgs&, const NodeAffinityArgs&) = default;
};

// Errors go into the reader: wrong types, and terms that no API server accepts.
[[nodiscard]] NodeAffinityArgs read_node_affinity_args(k8s::yaml::ObjectReader& args);

}  // namespace plugins
