// Answers about quotas.
#pragma once

#include "scheduler/answers/pod_names.h"
#include "scheduler/engine/engine.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace sched::answers {

// As BorrowedGpus, with the pod's name.
struct Loan {
  std::string pod;  // "ml/train-0"
  std::string quota;
  std::string gpu_type;
  k8s::Quantity gpus;
  Time since{};
  friend bool operator==(const Loan&, const Loan&) = default;
};
[[nodiscard]] inline std::vector<Loan> loans_of(const std::vector<BorrowedGpus>& borrowed,
                                                const PodNames& names) {
  std::vector<Loan> loans;
  for (const BorrowedGpus& one : borrowed) {
    loans.push_back({.pod = names.of(one.uid),
                     .quota = one.quota,
                     .gpu_type = one.gpu_type,
                     .gpus = one.gpus,
                     .since = one.since});
  }
  return loans;
}

// All quotas, for a reader who may see all.
struct AllQuotas {
  std::vector<QuotaStatus> quotas;
  std::vector<QuotaUse> uses;
  std::vector<Loan> loans;
};
[[nodiscard]] inline AllQuotas all_quotas(const Engine& engine, const PodNames& names) {
  return {.quotas = engine.quota_statuses(),
          .uses = engine.quota_uses(),
          .loans = loans_of(engine.borrowed_gpus(), names)};
}

// Those that count the pods of one namespace, and where the namespace stands in their line.
struct QuotasSeen {
  std::string namespace_;
  NamespaceQuotas of;
  std::vector<Loan> loans = {};                       // `of.borrowed`, with names
  std::optional<std::chrono::seconds> data_age = {};  // as Why::data_age
  // Whether names were taken out (withhold.h): of the head in line, or of namespaces in conditions.
  bool is_withheld = false;
};

// Whether the condition says that something is wrong with its quota.
[[nodiscard]] inline bool is_warning(const k8s::Condition& condition) {
  return (condition.type == "Ready") != (condition.status == "True");
}
[[nodiscard]] inline bool has_warning(const QuotaStatus& quota) {
  return std::any_of(quota.status.conditions.begin(), quota.status.conditions.end(), is_warning);
}

// Without `loans`. Changes nothing. O(lines of these quotas + pods that wait or are charged).
[[nodiscard]] inline QuotasSeen quotas_seen(const Engine& engine, const std::string& namespace_) {
  return {.namespace_ = namespace_, .of = engine.quotas_of(namespace_)};
}

}  // namespace sched::answers
