// corev1.Node, the fields in use.
#pragma once

#include "k8s-client/api/kind.h"
#include "k8s-client/api/meta.h"
#include "k8s-client/api/quantity.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace k8s {

enum class TaintEffect { kNoSchedule, kPreferNoSchedule, kNoExecute, kUnknown };

struct Taint {
  std::string key;
  std::string value;
  TaintEffect effect = TaintEffect::kUnknown;

  friend bool operator==(const Taint&, const Taint&) = default;
};

// Resource name → quantity, in the order of the object, each name once.
using ResourceList = std::vector<std::pair<std::string, Quantity>>;

struct NodeCondition {
  std::string type;
  std::string status;  // "True", "False", "Unknown"
  std::string reason;

  friend bool operator==(const NodeCondition&, const NodeCondition&) = default;
};

// An image that the node has, with all its names there.
struct ContainerImage {
  std::vector<std::string> names;
  std::int64_t size_bytes = 0;

  friend bool operator==(const ContainerImage&, const ContainerImage&) = default;
};

struct Node {
  static constexpr ObjectKind kKind{"Node", "v1", "nodes"};
  ObjectMeta metadata;
  struct Spec {
    bool unschedulable = false;
    std::vector<Taint> taints;
    friend bool operator==(const Spec&, const Spec&) = default;
  } spec;
  struct Status {
    ResourceList capacity;
    ResourceList allocatable;
    std::vector<NodeCondition> conditions;
    std::vector<ContainerImage> images;
    std::vector<std::string> declared_features;  // of its kubelet, sorted
    friend bool operator==(const Status&, const Status&) = default;
  } status;

  friend bool operator==(const Node&, const Node&) = default;
};

}  // namespace k8s
