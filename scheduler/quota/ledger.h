// The ledger of GPU quotas: how much each quota uses of each GPU type, and whether a pod has room.
//
// Every pod that holds GPUs on a node has a Charge, whichever scheduler placed it and whether or
// not a quota counts it today. The amount of the charge follows from the pod's demand and the
// charge class of its node; its line follows from the pod's namespace and the GPU's type. So what a
// quota has used is a function of the pods, nodes, namespaces and quotas that exist, in whatever
// order they came, and a new process that reads them has the same ledger. When a quota, a namespace
// or a node changes, the charges are moved to where they belong now. No pod is evicted and nothing
// is counted twice.
//
// A question about a pod is answered by charge class: on which GPUs it would be within its quota's
// guarantee, and on which it would borrow. A GPU type that no line of the quota names has no room.
//
// The ledger does not depend on the nodes or the queue; it has only the numbers of nodes. It
// charges and holds, and says what has changed. Its parts: quotas.h has the quotas with their
// accounts, charges.h what pods take, quota_answers.h where a pod has room, quota_report.h what
// people are shown.
#pragma once

#include "k8s-client/api/gpu_quota.h"
#include "k8s-client/api/namespace.h"
#include "scheduler/base/types.h"
#include "scheduler/quota/admission.h"
#include "scheduler/quota/assignment.h"
#include "scheduler/quota/charge_class.h"
#include "scheduler/quota/charges.h"
#include "scheduler/quota/demand.h"
#include "scheduler/quota/gpu_share.h"
#include "scheduler/quota/line.h"
#include "scheduler/quota/options.h"
#include "scheduler/quota/quota_answers.h"
#include "scheduler/quota/quota_report.h"
#include "scheduler/quota/quotas.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sched::quota {

// What has changed in a ledger since take_news() was last called.
struct News {
  bool terms = false;               // quotas, or the types of GPUs that exist: anything may differ
  std::set<QuotaId> replaced{};     // quotas that are new, or deleted and keep their namespaces
  std::vector<QuotaId> accounts{};  // their used or held amounts have changed
  std::vector<QuotaId> opened{};    // those of `accounts` that have more room than before
  std::vector<PoolId> pools{};      // those with more left to lend than before
  [[nodiscard]] bool none() const { return !terms && accounts.empty(); }
};

class Ledger {
 public:
  explicit Ledger(Options options);
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  // The objects that exist. Each function returns true if pods may belong to another quota than
  // before. What a quota's change means for all accounts is worked out with the next question: a
  // thousand quotas that come together are arranged once.
  bool upsert(const k8s::GpuQuota& quota);
  // The quota is deleted. It keeps the namespaces that no other quota selects, and gives nothing,
  // until forget_deleted(). So no pod gets GPUs without quota while a quota is being replaced.
  // Exception: its spec or the options say otherwise.
  bool erase(const std::string& quota, Time now);
  bool upsert(const k8s::Namespace& object);
  bool erase_namespace(const std::string& name);

  // The quota existed in an earlier process. Unless it is known here, it counts as deleted, as by
  // erase(): since its deletionTimestamp, or since `now` if it has none.
  bool remember(const k8s::GpuQuota& quota, Time now);
  // The input of remember() for a new process: all quotas that exist or that keep their namespaces.
  // It changes when memory_version() does.
  [[nodiscard]] std::vector<k8s::GpuQuota> memory() const;
  [[nodiscard]] std::uint64_t memory_version() const { return memory_version_; }

  // Forgets the deleted quotas that have no time left and to which no pod is charged any more.
  // O(deleted quotas) if there is none to forget.
  bool forget_deleted(Time now);
  // When there will be one to forget; nullopt: not before something else changes.
  [[nodiscard]] std::optional<Time> next_forgotten() const;

  // Sets the node's class, kNoGpuClass when the node is removed. `offers`: what a pod would be
  // charged that took everything that the node offers. O(pods on it).
  void node_is(NodeSlot node, ChargeClassId id, GpuShare offers = {});
  [[nodiscard]] ChargeClassId intern(const NodeFacts& node, const ResourceNames& names,
                                     const gpu::SiteLabels& site = {}) {
    return classes_.intern(node, names, site);
  }
  [[nodiscard]] const ChargeClasses& classes() const { return classes_; }
  // What a pod would be charged that took all GPUs of the node. The node's class is interned.
  [[nodiscard]] GpuShare offer_of(const NodeFacts& node, const ResourceNames& names) const;

  // Whether any quota exists or the default allows nothing. If not, nothing needs to be asked.
  [[nodiscard]] bool in_force() const;
  // The quota of a pod of the namespace that asks for GPUs; kUndecidedQuota, which gives nothing,
  // while the namespace's labels are needed and not known.
  [[nodiscard]] QuotaId quota_of(const std::string& namespace_) const {
    return assignment_.quota_of(namespace_);
  }

  // The quotas to which pods of the namespace count: its own, then the one that this is a part of,
  // and so on. Also a deleted one that keeps the namespace. Empty: none exists.
  [[nodiscard]] std::vector<QuotaId> counting(const std::string& namespace_) const;
  // The quotas that select the namespace, though pods of it count to none of them; by precedence.
  [[nodiscard]] std::vector<QuotaId> selecting_without_effect(const std::string& namespace_) const;

  // The quotas that exist, with their lines.
  [[nodiscard]] const Quotas& quotas() const {
    arrange();
    return quotas_;
  }
  // "team-vision"; empty for kNothingQuota.
  [[nodiscard]] const std::string& name_of(QuotaId quota) const { return quotas_.at(quota).name; }
  // The earliest time until which a deleted quota gives nothing, and what is charged to it;
  // nullopt: the quota is not deleted.
  struct Deleted {
    Time until{};
    GpuShare used;
  };
  [[nodiscard]] std::optional<Deleted> deleted(QuotaId quota) const;

  // Where pods have room, and what people are shown.
  [[nodiscard]] const QuotaAnswers& answers() const {
    arrange();
    return answers_;
  }
  [[nodiscard]] const QuotaReport& report() const {
    arrange();
    return report_;
  }
  // QuotaReport::take_changes().
  [[nodiscard]] std::set<QuotaId> take_status_changes() {
    arrange();
    return report_.take_changes();
  }

  // Holds, for a pod with this demand, what becomes free of one line: of the lines of those classes
  // (ascending) the one where least is missing. Its rank comes after those of the quota's other
  // holds. It holds until release(), or until quotas change, which ends all holds. False, and
  // nothing is held: the line would then hold more than its guarantee, or the pod could never be
  // within that.
  bool hold(QuotaId quota, const Demand& demand, const std::vector<ChargeClassId>& classes);
  // Ends the hold of that rank; those behind it move up. Without a rank: ends all.
  void release(QuotaId quota, HoldRank rank);
  void release(QuotaId quota);
  // Grows when quotas change, or the types of GPUs that exist.
  [[nodiscard]] std::uint64_t terms_version() const { return terms_version_; }

  // Each change once, in the order of its first occurrence.
  [[nodiscard]] bool has_news() const { return !news_.none(); }
  // Whether quotas may allow something that they did not before; not only that more is in use.
  [[nodiscard]] bool has_openings() const {
    return news_.terms || !news_.opened.empty() || !news_.pools.empty();
  }
  [[nodiscard]] News take_news();
  // Grows with every change of an answer.
  [[nodiscard]] std::uint64_t version() const {
    arrange();
    return version_;
  }

 private:
  friend class Charge;
  struct Node {
    ChargeClassId on = kNoGpuClass;
    GpuShare offers;
  };

  void add(Charge& charge);
  void remove(Charge& charge);
  void count(Charge& charge) { count(charge, quota_of(charge.pod_.namespace_)); }
  void count(Charge& charge, QuotaId id);  // `id`: its namespace's quota
  void uncount(Charge& charge);
  // Quotas have changed: all accounts are to be made anew. Holds are dropped; the caller asks for
  // them again.
  void quotas_changed();
  // Makes them, if so. Nothing that depends on the quotas' lines is right before.
  void arrange() const {
    if (to_arrange_) const_cast<Ledger*>(this)->rebuild();
  }
  void rebuild();
  void forget(QuotaId id);
  [[nodiscard]] Time until(Time deleted_at) const {
    return deleted_at + options_.closed_after_deletion;
  }
  // The namespace belongs to another quota than its charges do.
  void recount(const std::string& namespace_);
  void changed(QuotaId id, Quota& quota);
  // A parent's line has another used amount: the standings of all quotas in it change.
  void parent_changed(QuotaId parent);
  // A pool before a change.
  struct PoolWas {
    const Pool* pool = nullptr;
    GpuShare left{};
    GpuShare used{};
    GpuShare in_use{};  // of the parent's line
  };
  // Notes what has changed in the pool.
  void tell_of(const PoolWas& was);
  // Charges, refunds or holds on a line of the quota, and notes it in news_.
  void change(QuotaId id, Quota& quota, std::size_t line, void (Line::*how)(GpuShare),
              GpuShare amount);

  Options options_;
  Assignment assignment_;
  ChargeClasses classes_;
  Quotas quotas_;
  Charges charges_;
  QuotaAnswers answers_;
  QuotaReport report_;
  std::vector<Node> nodes_;  // by slot
  News news_;
  bool to_arrange_ = false;
  std::uint64_t version_ = 0;
  std::uint64_t terms_version_ = 0;
  std::uint64_t memory_version_ = 0;
};

}  // namespace sched::quota
