// Which namespace belongs to which GpuQuota.
//
// A quota claims namespaces by name and by a selector over their labels. Of several that claim one
// namespace the oldest keeps it (by creation time, then by name, so that a restart decides alike);
// the others are told in their conditions. A namespace that nobody claims follows the configured
// default.
#pragma once

#include "k8s-client/api/gpu_quota.h"
#include "k8s-client/api/meta.h"
#include "scheduler/quota/options.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace sched::quota {

// A GpuQuota by number. A name keeps its number for good.
enum class QuotaId : std::uint32_t {};
// Not a quota at all: pods are neither counted nor limited.
inline constexpr QuotaId kUnlimitedQuota{0};
// No GpuQuota, but the configured default allows nothing.
inline constexpr QuotaId kNothingQuota{1};
inline constexpr QuotaId kFirstQuota{2};

// A namespace that a quota claims and an older one has.
struct Overlap {
  std::string namespace_;
  std::string kept_by;
  friend bool operator==(const Overlap&, const Overlap&) = default;
};

class Assignment {
 public:
  explicit Assignment(Options options) : options_(std::move(options)) {}

  // The quota's number, whether it exists or not.
  QuotaId id_of(const std::string& quota);

  // What a quota claims now. True if a namespace may belong elsewhere than before.
  bool upsert(const k8s::GpuQuota& quota);
  bool erase(const std::string& quota);
  // True if the namespace belongs elsewhere than before. O(quotas).
  bool namespace_labels(const std::string& namespace_, const k8s::StringMap& labels);
  bool namespace_gone(const std::string& namespace_);

  [[nodiscard]] QuotaId quota_of(const std::string& namespace_) const;
  // Of the namespaces that are known, those that this quota claims in vain; by name.
  [[nodiscard]] std::vector<Overlap> overlaps(const std::string& quota) const;

 private:
  struct Claim {
    std::string quota;
    QuotaId id{};
    k8s::Timestamp created{};
    std::vector<std::string> namespaces;
    std::optional<k8s::LabelSelector> selector;
    friend bool operator==(const Claim&, const Claim&) = default;
  };
  [[nodiscard]] bool claims(const Claim& claim, const std::string& namespace_) const;
  [[nodiscard]] const Claim* keeper(const std::string& namespace_) const;

  Options options_;
  std::map<std::string, QuotaId> ids_;
  std::vector<Claim> claims_;                     // the oldest first
  std::map<std::string, k8s::StringMap> labels_;  // of the namespaces that are there
  // Answers of quota_of(), until something changes.
  mutable std::unordered_map<std::string, QuotaId> answers_;
};

}  // namespace sched::quota
