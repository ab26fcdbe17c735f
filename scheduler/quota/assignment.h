// Which namespace belongs to which GpuQuota.
//
// A quota selects namespaces by name and by their labels. Of several that select one namespace
// those that name it come before those that select it by its labels, and then the oldest has it (by
// creation time, then by name, so that a restart decides alike); the others' conditions say so. A
// namespace that no quota selects follows the configured default.
//
// A quota that is deleted may keep what no other selects for a while (Ledger::erase).
//
// A pod's event may overtake that of its new namespace, for the two come by different watches.
// Until the labels are known, a quota that selects by labels may select the namespace or not: it
// belongs to no quota yet, and its pods wait for its event. A replay, which has no namespaces, must
// make an event for each all the same, if only with its name.
#pragma once

#include "k8s-client/api/gpu_quota.h"
#include "k8s-client/api/meta.h"
#include "scheduler/quota/options.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sched::quota {

// A GpuQuota by number. A name keeps its number for good.
enum class QuotaId : std::uint32_t {};
// Not a quota at all: pods are neither counted nor limited.
inline constexpr QuotaId kUnlimitedQuota{0};
// No GpuQuota, but the configured default allows nothing.
inline constexpr QuotaId kNothingQuota{1};
// No GpuQuota yet: the labels of the namespace decide, and it has not been heard of.
inline constexpr QuotaId kUndecidedQuota{2};
inline constexpr QuotaId kFirstQuota{3};

// A namespace that a quota selects and another has.
struct Overlap {
  std::string namespace_;
  std::string kept_by;
  bool by_name = false;  // that one names it, and this one does not; else it is older
  friend bool operator==(const Overlap&, const Overlap&) = default;
};

class Assignment {
 public:
  explicit Assignment(Options options) : options_(std::move(options)) {}

  // The quota's number, whether it exists or not.
  QuotaId id_of(const std::string& quota);

  // Which namespaces a quota selects now. True if one may belong elsewhere than before.
  // O(namespaces) where it selects by labels.
  bool upsert(const k8s::GpuQuota& quota);
  // The quota is deleted and keeps the namespaces that no other selects, until erase() or until
  // there is one of its name again.
  void keep_deleted(const std::string& quota);
  bool erase(const std::string& quota);
  // True if the namespace belongs elsewhere than before. O(quotas that select by labels).
  bool namespace_labels(const std::string& namespace_, const k8s::StringMap& labels);
  bool namespace_gone(const std::string& namespace_);

  [[nodiscard]] QuotaId quota_of(const std::string& namespace_) const;
  // Whether any namespace belongs to the quota, or would if it were there.
  [[nodiscard]] bool has_some(QuotaId quota) const;
  // The quota, which is known, with nothing but its name, age, and which namespaces it selects.
  [[nodiscard]] k8s::GpuQuota selection_of(QuotaId quota) const;
  // The namespaces that this quota selects in vain; by name. One that it names counts whether it
  // is known or not. O(their number).
  [[nodiscard]] std::vector<Overlap> overlaps(QuotaId quota) const;
  // The quotas whose overlaps() or has_some() may say something else than when this was last
  // called.
  [[nodiscard]] std::set<QuotaId> take_changed() { return std::exchange(changed_, {}); }

 private:
  // Which namespaces a quota selects, and how old it is.
  struct Selection {
    std::string quota;
    QuotaId id{};
    k8s::Timestamp created{};
    bool deleted = false;
    std::set<std::string> namespaces;
    std::optional<k8s::LabelSelector> selector;
    friend bool operator==(const Selection&, const Selection&) = default;
  };
  // Every namespace that is selected now: visit(name).
  template <typename Visit>
  void for_each_selected(const Selection& selection, Visit&& visit) const;
  bool put(Selection selection);
  // Whether a has the namespace if both select it.
  [[nodiscard]] bool comes_before(QuotaId a, QuotaId b, const std::string& namespace_) const;
  // The quota is / is no more one of those that select the namespace.
  void join(const Selection& selection, const std::string& namespace_);
  void leave(const Selection& selection, const std::string& namespace_);
  // The namespace belongs to another quota than before.
  void kept_by_another(const std::vector<QuotaId>& quotas, const std::string& namespace_);
  // Whether a quota that selects by labels may turn out to have the namespace.
  [[nodiscard]] bool depends_on_labels(const std::string& namespace_) const;

  Options options_;
  std::map<std::string, QuotaId> ids_;
  std::map<QuotaId, Selection> selections_;
  std::set<QuotaId> by_label_;                    // those that select by labels
  std::map<std::string, k8s::StringMap> labels_;  // of the namespaces that are there
  // By namespace, those that are there or that a quota names: the quotas that select it, the one
  // that has it first.
  std::unordered_map<std::string, std::vector<QuotaId>> selected_by_;
  std::map<QuotaId, std::size_t> selected_;           // how many namespaces
  std::map<QuotaId, std::set<std::string>> in_vain_;  // those that another quota has
  std::set<QuotaId> changed_;
};

}  // namespace sched::quota
