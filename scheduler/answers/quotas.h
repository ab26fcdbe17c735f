// The quotas that count the pods of one namespace, and where the namespace stands in their line:
// for a reader who may not see all quotas.
#pragma once

#include "scheduler/engine/engine.h"

#include <chrono>
#include <optional>
#include <string>

namespace sched::answers {

struct QuotasSeen {
  std::string namespace_;
  NamespaceQuotas of;
  std::optional<std::chrono::seconds> data_age = {};  // as Why::data_age
  // Names that are not told (withhold.h): of the head in line, of namespaces in conditions.
  bool is_withheld = false;
};

// Changes nothing. O(lines of these quotas + pods that wait).
[[nodiscard]] inline QuotasSeen quotas_seen(const Engine& engine, const std::string& namespace_) {
  return {.namespace_ = namespace_, .of = engine.quotas_of(namespace_)};
}

}  // namespace sched::answers
