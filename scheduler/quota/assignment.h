// Which namespace belongs to which GpuQuota.
//
// A quota selects namespaces by name and by their labels. If several quotas select one namespace,
// those that name it come before those that select it by labels; among these the oldest gets it (by
// creation time, then by name, so that a restart decides alike). The conditions of the other quotas
// report that. A namespace that no quota selects follows the configured default.
//
// A deleted quota may keep for a while the namespaces that no other quota selects (Ledger::erase).
//
// A pod's event may arrive before the event of its new namespace, because they come from different
// watches. Until the labels are known, a quota that selects by labels may select the namespace or
// not. The namespace then belongs to no quota yet, and its pods wait for its event. A replay has no
// namespaces, but must make an event for each, if only with its name.
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

// The number of a GpuQuota. A name always keeps its number.
enum class QuotaId : std::uint32_t {};
// No quota: pods are neither counted nor limited.
inline constexpr QuotaId kUnlimitedQuota{0};
// No GpuQuota, but the configured default allows nothing.
inline constexpr QuotaId kNothingQuota{1};
// No GpuQuota yet: the labels of the namespace decide, and no event has brought them yet.
inline constexpr QuotaId kUndecidedQuota{2};
inline constexpr QuotaId kFirstQuota{3};

// A namespace that this quota selects and that belongs to another quota.
struct Overlap {
  std::string namespace_;
  std::string kept_by;
  bool by_name = false;  // the other quota names it, this one does not; else the other is older
  friend bool operator==(const Overlap&, const Overlap&) = default;
};

class Assignment {
 public:
  explicit Assignment(Options options) : options_(std::move(options)) {}

  // The quota's number, whether it exists or not.
  QuotaId id_of(const std::string& quota);

  // Sets which namespaces a quota selects. True if a namespace may belong to another quota than
  // before. O(namespaces) if it selects by labels.
  bool upsert(const k8s::GpuQuota& quota);
  // The quota is deleted and keeps the namespaces that no other quota selects, until erase() or
  // until there is a quota of its name again.
  void keep_deleted(const std::string& quota);
  bool erase(const std::string& quota);
  // True if the namespace belongs to another quota than before. O(quotas that select by labels).
  bool namespace_labels(const std::string& namespace_, const k8s::StringMap& labels);
  bool namespace_gone(const std::string& namespace_);

  [[nodiscard]] QuotaId quota_of(const std::string& namespace_) const;
  // The quotas that select the namespace, though it belongs to another; by precedence.
  [[nodiscard]] std::vector<QuotaId> selecting_without_effect(const std::string& namespace_) const;
  // Whether any namespace belongs to the quota, or would if the namespace existed.
  [[nodiscard]] bool has_some(QuotaId quota) const;
  // The quota, which must be known, with only its name, its age and its selection of namespaces.
  [[nodiscard]] k8s::GpuQuota selection_of(QuotaId quota) const;
  // The namespaces that this quota selects and that belong to other quotas, by name. A namespace
  // that the quota names counts even if it is not known. O(their number).
  [[nodiscard]] std::vector<Overlap> overlaps(QuotaId quota) const;
  // The quotas for which overlaps() or has_some() may have changed since the last call.
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
  // Calls visit(name) for every namespace that the selection selects now.
  template <typename Visit>
  void for_each_selected(const Selection& selection, Visit&& visit) const;
  bool put(Selection selection);
  // Whether the namespace belongs to a rather than b if both select it.
  [[nodiscard]] bool comes_before(QuotaId a, QuotaId b, const std::string& namespace_) const;
  // The quota now selects / no longer selects the namespace.
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
  std::map<std::string, k8s::StringMap> labels_;  // of the namespaces that exist
  // By namespace that exists or that a quota names: the quotas that select it. It belongs to the
  // first.
  std::unordered_map<std::string, std::vector<QuotaId>> selected_by_;
  std::map<QuotaId, std::size_t> selected_;                  // how many namespaces belong to it
  std::map<QuotaId, std::set<std::string>> without_effect_;  // those that belong to another quota
  std::set<QuotaId> changed_;
};

}  // namespace sched::quota
