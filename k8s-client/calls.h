// Arguments of the calls of client.h that are not objects of the API.
#pragma once

#include "k8s-client/api/meta.h"

#include <cstdint>
#include <optional>
#include <string>

namespace k8s {

struct Binding {
  std::string namespace_;
  std::string pod;
  std::string pod_uid;  // the server refuses a pod of that name with another uid (409)
  std::string node;
  StringMap annotations = {};  // the server adds them to those of the pod
};

// The condition PodScheduled, as a scheduler writes it.
struct PodScheduledCondition {
  std::string status;  // "True", "False"
  std::string reason = {};
  std::string message = {};
  std::int64_t observed_generation = 0;
  // status.nominatedNodeName, written beside it. Empty: it is removed. Nullopt: it stays as it is.
  std::optional<std::string> nominated_node = {};
};

}  // namespace k8s
