// The quotas that exist, which of them is a part of which, and the accounts of their lines.
//
// arrange() makes all lines and pools anew from the specs, with nothing charged. The ledger calls
// it once when specs have changed, and charges everything again.
#pragma once

#include "scheduler/base/types.h"
#include "scheduler/quota/admission.h"
#include "scheduler/quota/assignment.h"
#include "scheduler/quota/charge_class.h"
#include "scheduler/quota/gpu_share.h"
#include "scheduler/quota/line.h"
#include "scheduler/quota/options.h"
#include "scheduler/quota/spec.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sched::quota {

// A quota and its account.
struct Quota {
  // What is held for one pod.
  struct Held {
    std::size_t line = 0;
    GpuShare amount;
  };

  std::string name;
  std::string uid;
  std::int64_t generation = 0;
  Spec said;                             // as the object has it
  Spec spec;                             // as it is in force: empty if there is an error
  std::optional<std::string> error;      // an error in the spec itself
  std::optional<std::string> misplaced;  // why it cannot be in its parent
  std::optional<QuotaId> parent;         // the quota that this one is in
  std::vector<QuotaId> children;         // the quotas in this one
  bool opens_when_deleted = false;
  std::vector<Line> lines;           // of the spec; a last one for GPUs that no line names
  std::vector<Pool*> inner;          // by line: that of the children's lines that share it, or null
  std::vector<std::size_t> line_of;  // by class, as far as known: Quotas::line_of()
  std::vector<Held> held;            // by rank
  bool changed = false;              // is in the ledger's News::accounts
  bool opened = false;               // is in News::opened

  // What is held of that line for the pods of that rank and behind it. It is not kept from the pod
  // of that rank.
  [[nodiscard]] GpuShare held_from(HoldRank rank, std::size_t line) const {
    GpuShare sum;
    for (auto i = static_cast<std::size_t>(rank); i < held.size(); ++i) {
      if (held[i].line == line) sum += held[i].amount;
    }
    return sum;
  }
  // Whether so many pods that start together may be given that amount of the line, free or not.
  [[nodiscard]] bool may_give(std::size_t line, GpuShare amount, std::int64_t pods) const {
    if (!children.empty()) return false;  // its GPUs belong to its children
    return !is_too_large(amount, pods) && line != spec.lines.size();
  }
  // Whether that is more than so many pods may have, each at most Spec::most_per_pod.
  [[nodiscard]] bool is_too_large(GpuShare amount, std::int64_t pods) const {
    return spec.most_per_pod && amount > spec.most_per_pod->times(pods);
  }
};

class Quotas {
 public:
  // `classes` outlives the object.
  Quotas(const Options& options, const ChargeClasses& classes);
  Quotas(const Quotas&) = delete;
  Quotas& operator=(const Quotas&) = delete;

  // The quota, new or known. True: it is new, or was deleted.
  std::pair<Quota&, bool> add(QuotaId id);
  // It is deleted, and keeps its namespaces until erase().
  void set_deleted(QuotaId id, Time at) { deleted_.emplace(id, at); }
  void erase(QuotaId id);

  // Those that are deleted and not erased, and since when.
  [[nodiscard]] const std::map<QuotaId, Time>& deleted() const { return deleted_; }
  // Whether a quota of that number exists, and is not deleted.
  [[nodiscard]] bool has(QuotaId id) const {
    return quotas_.contains(id) && !deleted_.contains(id);
  }
  // Of a number that no quota has: kNothingQuota, which is always there.
  [[nodiscard]] const Quota& at(QuotaId id) const;
  [[nodiscard]] Quota& at(QuotaId id);
  // All of them, with kNothingQuota and those that are deleted.
  [[nodiscard]] const std::map<QuotaId, Quota>& all() const { return quotas_; }
  // Whether its order is Strict: none of its pods has its turn before those in line before it.
  [[nodiscard]] bool is_strict(QuotaId id) const { return at(id).spec.strict; }
  // The gpuType of its line; empty: of the GPUs that no line names.
  [[nodiscard]] const std::string& type_of(QuotaId id, std::size_t line) const {
    return at(id).lines[line].spec().gpu_type;
  }
  // The numbers of those that exist, by name.
  [[nodiscard]] std::vector<QuotaId> by_name() const;
  // The number of the quota with that name; nullopt: it does not exist. O(quotas).
  [[nodiscard]] std::optional<QuotaId> find(const std::string& name) const;

  // Determines each quota's parent and whether the quota can be in force there, and makes lines and
  // pools. Holds are dropped.
  void arrange();
  // The pool of that number; null: there is none. Valid until the next arrange().
  [[nodiscard]] const Pool* pool(PoolId id) const {
    return id < by_id_.size() ? by_id_[id] : nullptr;
  }
  // How many pools there are; their numbers are less.
  [[nodiscard]] std::size_t pools() const { return by_id_.size(); }

  // The line to which GPUs of that class are charged.
  [[nodiscard]] std::size_t line_of(const Quota& quota, ChargeClassId on) const {
    if (on < quota.line_of.size()) return quota.line_of[on];
    return line_for(quota.spec.lines, classes_[on].product);
  }
  // The same; found faster the next time.
  std::size_t line_of(Quota& quota, ChargeClassId on);

 private:
  using PoolKey = std::pair<std::string, std::string>;  // cohort, type_key
  using InnerKey = std::pair<QuotaId, std::size_t>;     // the parent and its line

  // Returns the quotas, each after its parent.
  std::vector<QuotaId> find_parents();
  // Why a quota cannot be in `parent` (its own place is determined); nullopt: it can.
  [[nodiscard]] std::optional<std::string> objection_to(const Spec& child, QuotaId parent) const;
  void make_lines(QuotaId id, Quota& quota);
  // The sum of what the children's lines are guaranteed of one of the parent's lines.
  [[nodiscard]] GpuShare promised_in(const Quota& parent, std::size_t line) const;
  Pool& pool_of(const Quota& quota, const LineSpec& line);
  // Gives a new pool its number.
  Pool& number(Pool& pool);

  const ChargeClasses& classes_;
  bool bound_cohorts_;               // Options
  std::map<QuotaId, Quota> quotas_;  // kNothingQuota is always there
  std::map<QuotaId, Time> deleted_;  // of quotas_, with no lines
  std::map<PoolKey, Pool> pools_;
  std::map<InnerKey, Pool> inner_pools_;
  std::vector<Pool*> by_id_;  // of both
};

}  // namespace sched::quota
