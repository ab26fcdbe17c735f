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
// The ledger does not depend on the nodes or the queue; it has only the numbers of nodes. ledger.cc
// has what the ledger keeps, ledger_answers.cc its answers about waiting pods, ledger_status.cc a
// quota's account for its status, and ledger_conditions.cc what is wrong with a quota.
#pragma once

#include "k8s-client/api/gpu_quota.h"
#include "k8s-client/api/namespace.h"
#include "scheduler/base/types.h"
#include "scheduler/quota/admission.h"
#include "scheduler/quota/assignment.h"
#include "scheduler/quota/charge_class.h"
#include "scheduler/quota/class_set.h"
#include "scheduler/quota/line.h"
#include "scheduler/quota/options.h"
#include "scheduler/quota/standing.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sched::quota {

class Ledger;
class LedgerTrial;

// What a pod takes of its namespace's quota, from construction to destruction. Has a fixed address.
class Charge {
 public:
  struct Pod {
    std::string uid;
    std::string namespace_;
    std::string charged_as;  // charged_as.h; empty: there is no note
    Time at{};               // when it was charged (charged_as.h): what orders loans
  };
  // `ledger` outlives the charge.
  Charge(Ledger& ledger, Pod pod, NodeSlot node, Demand demand);
  ~Charge();
  Charge(const Charge&) = delete;
  Charge& operator=(const Charge&) = delete;

  [[nodiscard]] NodeSlot node() const { return node_; }
  [[nodiscard]] const Demand& demand() const { return demand_; }
  [[nodiscard]] const std::string& charged_as() const { return pod_.charged_as; }
  [[nodiscard]] Time at() const { return pod_.at; }
  // The quota that counts it; nullopt: none.
  [[nodiscard]] std::optional<QuotaId> quota() const { return quota_; }

 private:
  friend class Ledger;
  friend class LedgerTrial;
  Ledger& ledger_;
  Pod pod_;
  NodeSlot node_;
  Demand demand_;
  // Written by the ledger.
  std::size_t in_namespace_ = 0;  // index in the namespace's charges
  std::size_t on_node_ = 0;       // index in the node's charges
  std::optional<QuotaId> quota_;
  std::size_t line_ = 0;  // of that quota
  GpuShare amount_;
};

// What a pod uses beyond its quota's guarantee.
struct Loan {
  std::string uid;         // of the pod
  std::string namespace_;  // the pod's
  Time at{};               // when it was charged
  QuotaId quota{};
  std::size_t line = 0;
  GpuShare amount;  // the part of its charge that is borrowed
  friend bool operator==(const Loan&, const Loan&) = default;
};

// What the pods of a namespace use of a line.
struct NamespaceUse {
  std::string namespace_;
  QuotaId quota{};
  std::size_t line = 0;
  std::size_t pods = 0;
  GpuShare amount;
};

// What has changed in a ledger since take_news() was last called.
struct News {
  bool terms = false;               // quotas, or the types of GPUs that exist: anything may differ
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
  // before.
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
  [[nodiscard]] std::vector<QuotaId> in_vain(const std::string& namespace_) const;

  // Where the pod has room. `rank`: of the pod among those for which the quota holds something.
  // `in`: a trial's accounts (ledger_trial.h); null: the real ones. O(classes · quota lines).
  [[nodiscard]] Admission admit(QuotaId quota, const Demand& demand, HoldRank rank,
                                const LedgerTrial* in = nullptr) const;
  // The same by line, for messages; one answer for each line that the pod may be charged to.
  [[nodiscard]] std::vector<LineAnswer> answers(QuotaId quota, const Demand& demand, HoldRank rank,
                                                const LedgerTrial* in = nullptr) const;
  // Where the quota stands for a pod with this demand. O(classes + lines of the quota).
  [[nodiscard]] Standing standing(QuotaId quota, const Demand& demand, HoldRank rank,
                                  const LedgerTrial* in = nullptr) const;
  // The same if the pod is to be charged on a node of class `on`, whatever other types it may use.
  [[nodiscard]] Standing standing_on(ChargeClassId on, QuotaId quota, const Demand& demand,
                                     HoldRank rank, const LedgerTrial* in = nullptr) const;
  // The pools from which the quota's lines may borrow more within their limits, and where the quota
  // stands in each.
  [[nodiscard]] std::vector<InPool> in_pools(QuotaId quota) const;
  // Whether the pool has something left to lend.
  [[nodiscard]] bool lends(PoolId pool) const;
  // Whether the demand is more than the quota could ever give, borrowed or not, on every type of
  // GPU that exists. If the demand allows none of those, on the types that it names.
  [[nodiscard]] bool never_fits(QuotaId quota, const Demand& demand) const;
  [[nodiscard]] bool is_strict(QuotaId quota) const;
  // "team-vision"; empty for kNothingQuota.
  [[nodiscard]] const std::string& name_of(QuotaId quota) const;
  [[nodiscard]] const std::string& uid_of(QuotaId quota) const;
  // The gpuType of its line; empty: of the GPUs that no line names.
  [[nodiscard]] const std::string& type_of(QuotaId quota, std::size_t line) const;
  // The parent that its spec names; empty: none.
  [[nodiscard]] const std::string& parent_of(QuotaId quota) const;
  // Why the quota's spec is not applied, or why it gives its own namespaces nothing; nullopt:
  // nothing is wrong.
  [[nodiscard]] std::optional<std::string> error_of(QuotaId quota) const;
  // The earliest time until which a deleted quota gives nothing, and what is charged to it;
  // nullopt: the quota is not deleted.
  struct Deleted {
    Time until{};
    GpuShare used;
  };
  [[nodiscard]] std::optional<Deleted> deleted(QuotaId quota) const;

  // Whether a pod with this demand could ever be within the guarantee.
  [[nodiscard]] bool could_be_within(QuotaId quota, const Demand& demand) const;
  // The same on one of those classes (by ascending id): whether hold() could keep quota for it if
  // nothing else were held.
  [[nodiscard]] bool could_hold(QuotaId quota, const Demand& demand,
                                const std::vector<ChargeClassId>& classes) const;
  // Holds, for such a pod, what becomes free of one line: of the lines of those classes the one
  // where least is missing. Its rank comes after those of the quota's other holds. It holds until
  // release(), or until quotas change, which ends all holds. False, and nothing is held: the line
  // would then hold more than its guarantee, or the pod could never be within that.
  bool hold(QuotaId quota, const Demand& demand, const std::vector<ChargeClassId>& classes);
  // Ends the hold of that rank; those behind it move up. Without a rank: ends all.
  void release(QuotaId quota, HoldRank rank);
  void release(QuotaId quota);
  // Grows when quotas change, or the types of GPUs that exist.
  [[nodiscard]] std::uint64_t terms_version() const { return terms_version_; }

  // Each change once, in the order of its first occurrence.
  [[nodiscard]] bool has_news() const { return !news_.none(); }
  [[nodiscard]] News take_news();
  // Grows with every change of an answer.
  [[nodiscard]] std::uint64_t version() const { return version_; }

  // The numbers of the quotas that exist, by name.
  [[nodiscard]] std::vector<QuotaId> quotas() const;
  // The number of the quota with that name; nullopt: it does not exist. O(quotas).
  [[nodiscard]] std::optional<QuotaId> find(const std::string& name) const;
  // The line of the quota that a waiting pod asks for, and how much of it: the line that would then
  // be least beyond its limit; if equal, least beyond its guarantee. Nullopt: none. What others in
  // the cohort use does not matter.
  [[nodiscard]] std::optional<std::pair<std::size_t, GpuShare>> asks_of(QuotaId quota,
                                                                        const Demand& demand) const;
  // Whether a quota of that number exists.
  [[nodiscard]] bool has(QuotaId quota) const {
    return quotas_.contains(quota) && !deleted_.contains(quota);
  }
  // The quota's account; `pending`, by line, is what its waiting pods ask for.
  // O(its lines · classes), and O(lines of a pool) once for each pool that has changed.
  [[nodiscard]] k8s::GpuQuota::Status status(QuotaId quota,
                                             const std::vector<GpuShare>& pending) const;
  // What of a pod's GPUs its quota has borrowed, as pods of another quota see it.
  struct BorrowedPart {
    // The pool from which both quotas borrow, counted from that of the other's line (0) to that of
    // its parent's (1) and on; kNoPool: they share none.
    std::size_t pool = 0;
    // The rest, which the pod's quota is guaranteed, or a parent of it that is not the other's.
    GpuShare guaranteed;
  };
  static constexpr std::size_t kNoPool = std::numeric_limits<std::size_t>::max();
  // Nullopt: nothing is borrowed. The other's line is that for GPUs like the charge's.
  [[nodiscard]] std::optional<BorrowedPart> loan_of(const Charge& charge, QuotaId seen_by,
                                                    const LedgerTrial* in = nullptr) const;
  // In how many of the pools that loan_of() counts the quota may take back what is borrowed, for a
  // pod with this demand and rank on a node of class `on`, if that stays within the guarantee of
  // its line: up to the parent that would then claim more than it is guaranteed itself.
  [[nodiscard]] std::size_t pools_to_reclaim(QuotaId quota, const Demand& demand, HoldRank rank,
                                             ChargeClassId on,
                                             const LedgerTrial* in = nullptr) const;
  // The use of each line by namespace. O(charges).
  [[nodiscard]] std::vector<NamespaceUse> uses() const;
  // What is borrowed, by pod, the latest loan first: of each line that borrows, the pods that were
  // charged last. O(charges).
  [[nodiscard]] std::vector<Loan> loans() const;
  // The quotas for which status() may have changed since the last call, apart from `pending`; also
  // those that no longer exist. O(their number + lines of pools that changed).
  [[nodiscard]] std::set<QuotaId> take_status_changes();

 private:
  friend class Charge;
  friend class LedgerTrial;
  using PoolKey = std::pair<std::string, std::string>;  // cohort, type_key
  using InnerKey = std::pair<QuotaId, std::size_t>;     // the parent and its line
  // Which quotas lend what a pool has lent, by name: each in proportion to what it has idle.
  struct Lender {
    QuotaId quota{};
    std::size_t line = 0;
    GpuShare lent;
  };
  struct Lending {
    Pool* pool = nullptr;
    std::vector<Lender> lenders;
    bool stale = false;
    bool overlent = false;  // more is borrowed than the lenders have to spare
  };
  // What all quotas together guarantee of a type, and how much of it exists.
  struct Cover {
    GpuShare guaranteed;
    GpuShare offered;
    friend bool operator==(const Cover&, const Cover&) = default;
  };
  // What is held for one pod.
  struct Held {
    std::size_t line = 0;
    GpuShare amount;
  };
  struct Quota {
    std::string name;
    std::string uid;
    std::int64_t generation = 0;
    Spec said;                             // as the object has it
    Spec spec;                             // as it is in force: empty if there is an error
    std::optional<std::string> error;      // an error in the spec itself
    std::optional<std::string> misplaced;  // why it cannot be in its parent
    std::optional<QuotaId> parent;         // the quota that this one is in
    std::vector<QuotaId> children;         // the quotas in this one
    std::vector<Pool*> inner;  // by line: the pool of the children's lines that share it, or null
    bool opens_when_deleted = false;
    std::vector<Line> lines;             // of the spec; a last one for GPUs that no line names
    std::vector<std::size_t> line_of;    // by class
    std::vector<std::size_t> lender_at;  // by line with a pool: its index in the pool's lenders
    std::vector<Held> held;              // by rank
    // What is held of that line for the pods of that rank and behind: it is not kept from the
    // first.
    [[nodiscard]] GpuShare held_from(HoldRank rank, std::size_t line) const;
    bool changed = false;  // is in news_.accounts
    bool opened = false;   // is in news_.opened
  };
  // A quota with its lines as they are, or as they would be.
  struct Account {
    const Quota& quota;
    const std::vector<Line>& lines;
  };

  void add(Charge& charge);
  void remove(Charge& charge);
  void count(Charge& charge) { count(charge, quota_of(charge.pod_.namespace_)); }
  void count(Charge& charge, QuotaId id);  // `id`: its namespace's quota
  void uncount(Charge& charge);
  void rebuild();
  // Determines each quota's parent, and whether the quota can be in force there. Returns the
  // quotas, each after its parent.
  std::vector<QuotaId> place_quotas();
  // Why a quota cannot be in `parent` (its own place is determined); nullopt: it can.
  [[nodiscard]] std::optional<std::string> objection_to(const Spec& child, QuotaId parent) const;
  void make_lines(QuotaId id, Quota& quota);
  // The sum of what the children's lines are guaranteed of one of the parent's lines.
  [[nodiscard]] GpuShare promised_in(const Quota& parent, std::size_t line) const;
  Pool& pool_of(const Quota& quota, const LineSpec& line);
  void forget(QuotaId id);
  [[nodiscard]] Time until(Time deleted_at) const {
    return deleted_at + options_.closed_after_deletion;
  }
  void recount(const std::string& namespace_);
  void map_classes(Quota& quota) const;
  void changed(QuotaId id, Quota& quota);
  // A parent's line has another used amount: the standings of all quotas in it change.
  void parent_changed(QuotaId parent);
  // Notes what has changed in the pool; before the change it had so much left / in use.
  void tell_of(const Pool& pool, GpuShare left, GpuShare used);
  // Charges, refunds or holds on a line of the quota, and notes it in news_.
  void change(QuotaId id, Quota& quota, std::size_t line, void (Line::*how)(GpuShare),
              GpuShare amount);

  [[nodiscard]] const Quota& at(QuotaId quota) const;
  [[nodiscard]] Quota& at(QuotaId quota);
  [[nodiscard]] Account account(QuotaId quota, const LedgerTrial* in) const;
  // Where a quota stands if it borrows for that line.
  [[nodiscard]] Standing standing_of(const Quota& quota, const Line& line) const;
  // What is in use of that line; of a parent's line, by all quotas in it.
  [[nodiscard]] GpuShare in_use(const Quota& quota, std::size_t line) const;
  // The line to which such GPUs are charged.
  [[nodiscard]] std::size_t line_of(const Quota& quota, ChargeClassId on) const;
  [[nodiscard]] bool eligible(ChargeClassId id, const Demand& demand) const;
  // Calls visit(class, line index, amount) for every class that exists and that the demand allows.
  template <typename Visit>
  void for_each_choice(const Quota& quota, const Demand& demand, Visit&& visit) const;
  // For a pod that allows none of the existing classes and asks for whole GPUs of types that it
  // names: calls visit(type, line index, amount) for every line to which such a GPU may be charged;
  // with the index behind the last line if there is none.
  template <typename Visit>
  void for_each_absent(const Quota& quota, const Demand& demand, Visit&& visit) const;
  // Whether no line could ever give such a pod that many GPUs.
  [[nodiscard]] bool never_fits_absent(const Quota& quota, const Demand& demand) const;
  // Whether one pod may be given that amount of the line, free or not.
  [[nodiscard]] static bool may_have(const Quota& quota, std::size_t line, GpuShare amount,
                                     const Demand& demand);
  // Whether that is more than its pods may have.
  [[nodiscard]] static bool is_too_large(const Quota& quota, GpuShare amount, const Demand& demand);
  [[nodiscard]] static Line::Answer ask(const Account& account, std::size_t line, GpuShare amount,
                                        const Demand& demand, HoldRank rank);
  [[nodiscard]] static LineAnswer answer(const Account& account, std::size_t line, GpuShare amount,
                                         const Demand& demand, HoldRank rank);
  // What hold() would hold, and on which line. `alone`: if nothing else were held.
  [[nodiscard]] std::optional<Held> best_hold(const Quota& quota, const Demand& demand,
                                              const std::vector<ChargeClassId>& classes,
                                              bool alone) const;
  [[nodiscard]] GpuShare lent(const Quota& quota, std::size_t line) const;
  void list_lenders();
  void share_out(Lending& lending) const;
  [[nodiscard]] std::vector<k8s::Condition> conditions(QuotaId id) const;
  // `has_gpus`: some node has GPUs of its types.
  [[nodiscard]] k8s::Condition ready(QuotaId id, bool has_gpus) const;
  [[nodiscard]] bool is_known(const LineSpec& line) const;
  // Computes covers_ again.
  void sum_up_guarantees() const;
  // Computes lent_apart_ again: lines of a cohort for the same GPUs that lend each other nothing.
  void list_lent_apart();
  void list_lent_apart(const std::vector<QuotaId>& cohort, const LineSpec& type,
                       const LineSpec& other);

  Options options_;
  Assignment assignment_;
  ChargeClasses classes_;
  std::map<PoolKey, Pool> pools_;
  std::map<InnerKey, Pool> inner_pools_;
  mutable std::vector<Lending> lending_;  // by PoolId; `lenders` computed on demand
  std::vector<PoolId> stale_pools_;
  mutable std::map<std::string, Cover>
      covers_;  // by type_key, where more is guaranteed than there is
  mutable bool covers_stale_ = true;
  std::map<QuotaId, std::vector<std::string>> lent_apart_;  // as text
  mutable std::set<QuotaId> status_changed_;
  std::map<QuotaId, Quota> quotas_;  // kNothingQuota is always there
  std::map<QuotaId, Time> deleted_;  // of quotas_, with no lines; since when
  std::unordered_map<std::string, std::vector<Charge*>> in_namespace_;
  std::vector<std::vector<Charge*>> on_node_;  // by slot
  std::vector<ChargeClassId> class_of_node_;   // by slot
  std::vector<GpuShare> offered_by_node_;      // by slot
  std::vector<GpuShare> offered_;              // by class, the sums
  News news_;
  std::uint64_t version_ = 0;
  std::uint64_t terms_version_ = 0;
  std::uint64_t memory_version_ = 0;
};

}  // namespace sched::quota
