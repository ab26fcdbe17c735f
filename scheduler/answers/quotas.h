// What is said of quotas.
#pragma once

#include "scheduler/engine/engine.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace sched::answers {

// All quotas, for a reader who may see all.
struct AllQuotas {
  std::vector<QuotaStatus> quotas;
  std::vector<QuotaUse> uses;
  std::vector<BorrowedGpus> borrowed;
};
[[nodiscard]] inline AllQuotas all_quotas(const Engine& engine) {
  return {.quotas = engine.quota_statuses(),
          .uses = engine.quota_uses(),
          .borrowed = engine.borrowed_gpus()};
}

// Those that count the pods of one namespace, and where the namespace stands in their line.
struct QuotasSeen {
  std::string namespace_;
  NamespaceQuotas of;
  std::optional<std::chrono::seconds> data_age = {};  // as Why::data_age
  // Names that are not told (withhold.h): of the head in line, of namespaces in conditions.
  bool is_withheld = false;
};

// Whether the condition says that something is wrong with its quota.
[[nodiscard]] inline bool is_warning(const k8s::Condition& condition) {
  return (condition.type == "Ready") != (condition.status == "True");
}
[[nodiscard]] inline bool has_warning(const QuotaStatus& quota) {
  return std::any_of(quota.status.conditions.begin(), quota.status.conditions.end(), is_warning);
}

// Changes nothing. O(lines of these quotas + pods that wait).
[[nodiscard]] inline QuotasSeen quotas_seen(const Engine& engine, const std::string& namespace_) {
  return {.namespace_ = namespace_, .of = engine.quotas_of(namespace_)};
}

}  // namespace sched::answers
