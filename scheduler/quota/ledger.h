// The ledger of GPU quotas: who uses how much of what, and whether a pod has room.
//
// Every pod that holds GPUs on a node has a Charge, whatever scheduler placed it and whether or not
// a quota counts it today. The charge's amount follows from the pod's demand and the charge class
// of its node, its line from the pod's namespace and the GPU's type; so what a quota has used is a
// function of the pods, nodes, namespaces and quotas that are there, however they came to be, and a
// new process that reads them has the same ledger. When a quota, a namespace or a node changes, the
// charges are moved to where they belong now: nobody is evicted and nothing is counted twice.
//
// A question about a pod is answered by charge classes: on which GPUs it would be within its
// quota's guarantee, and on which it would borrow. A GPU type that no line of the quota names has
// no room.
//
// The ledger knows neither nodes nor the queue; nodes are numbers to it. What it keeps is in
// ledger.cc, what it answers about a pod that waits in ledger_answers.cc, a quota's account, as its
// status says it, in ledger_status.cc, and what is wrong with it in ledger_conditions.cc.
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

// What a pod takes of its namespace's quota, from when it is made until it is destroyed. Has a
// fixed address.
class Charge {
 public:
  struct Pod {
    std::string uid;
    std::string namespace_;
    std::string charged_as;  // charged_as.h; empty: there is no note
    Time created{};
  };
  // `ledger` outlives the charge.
  Charge(Ledger& ledger, Pod pod, NodeSlot node, Demand demand);
  ~Charge();
  Charge(const Charge&) = delete;
  Charge& operator=(const Charge&) = delete;

  [[nodiscard]] NodeSlot node() const { return node_; }
  [[nodiscard]] const Demand& demand() const { return demand_; }
  [[nodiscard]] const std::string& charged_as() const { return pod_.charged_as; }

 private:
  friend class Ledger;
  friend class LedgerTrial;
  Ledger& ledger_;
  Pod pod_;
  NodeSlot node_;
  Demand demand_;
  // Kept by the ledger.
  std::size_t in_namespace_ = 0;  // index in the namespace's charges
  std::size_t on_node_ = 0;       // index in the node's charges
  std::optional<QuotaId> quota_;  // that counts it; nullopt: none does
  std::size_t line_ = 0;          // of that quota
  GpuShare amount_;
};

// What has changed in a ledger since somebody asked last, for those who keep what follows from it.
struct News {
  bool terms = false;  // quotas, or the types of GPUs that are there: anything may differ
  std::vector<QuotaId> accounts{};  // what they use or hold is another
  std::vector<QuotaId> opened{};    // of these, those that have more room than before
  std::vector<PoolId> pools{};      // that have more left to lend than before
  [[nodiscard]] bool none() const { return !terms && accounts.empty(); }
};

class Ledger {
 public:
  explicit Ledger(Options options);
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  // What is there. Each returns true if pods may belong to another quota than before.
  bool upsert(const k8s::GpuQuota& quota);
  // The quota is deleted. Unless its spec or the options say otherwise it keeps the namespaces that
  // no other selects, and gives nothing, until forget_deleted(): one that is only replaced opens
  // its namespaces to nobody meanwhile.
  bool erase(const std::string& quota, Time now);
  bool upsert(const k8s::Namespace& object);
  bool erase_namespace(const std::string& name);

  // The quota was there once, and is deleted since then or since its deletionTimestamp, unless it
  // is known here: as if erase() had been told.
  bool remember(const k8s::GpuQuota& quota, Time now);
  // What remember() is to be told in a new process, of all that are there or keep their namespaces;
  // changes with its version.
  [[nodiscard]] std::vector<k8s::GpuQuota> memory() const;
  [[nodiscard]] std::uint64_t memory_version() const { return memory_version_; }

  // Forgets the deleted quotas whose time is over and to which no pod is charged any more. O(their
  // number) if there is none.
  bool forget_deleted(Time now);
  // When there will be one; nullopt: not before something else changes.
  [[nodiscard]] std::optional<Time> next_forgotten() const;

  // The class of the node of that number from now on, kNoGpuClass when it goes, and what a pod
  // would be charged that took all that the node offers. O(pods on it).
  void node_is(NodeSlot node, ChargeClassId id, GpuShare offers = {});
  [[nodiscard]] ChargeClassId intern(const NodeFacts& node, const ResourceNames& names,
                                     const gpu::SiteLabels& site = {}) {
    return classes_.intern(node, names, site);
  }
  [[nodiscard]] const ChargeClasses& classes() const { return classes_; }
  // What a pod would be charged that took all of the node's GPUs, whose class is interned.
  [[nodiscard]] GpuShare offer_of(const NodeFacts& node, const ResourceNames& names) const;

  // Whether any quota is there or the default allows nothing: else nobody need ask.
  [[nodiscard]] bool in_force() const;
  // The quota of a pod of the namespace that asks for GPUs; kUndecidedQuota, which gives nothing,
  // while the namespace's labels are needed and not known.
  [[nodiscard]] QuotaId quota_of(const std::string& namespace_) const {
    return assignment_.quota_of(namespace_);
  }

  // Where the pod has room. `is_holder`: what the quota holds is kept for this pod. `in`: as the
  // accounts would be (ledger_trial.h); null: as they are. O(classes · quota lines).
  [[nodiscard]] Admission admit(QuotaId quota, const Demand& demand, bool is_holder,
                                const LedgerTrial* in = nullptr) const;
  // The same, line by line, for those who read; one answer a line that the pod may be charged to.
  [[nodiscard]] std::vector<LineAnswer> answers(QuotaId quota, const Demand& demand, bool is_holder,
                                                const LedgerTrial* in = nullptr) const;
  // Where the quota stands for a pod with this demand. O(classes + lines of the quota).
  [[nodiscard]] Standing standing(QuotaId quota, const Demand& demand, bool is_holder,
                                  const LedgerTrial* in = nullptr) const;
  // The same if it has to borrow, whatever it would have within the guarantee.
  [[nodiscard]] Standing as_borrower(QuotaId quota, const Demand& demand, bool is_holder,
                                     const LedgerTrial* in = nullptr) const;
  // The pools from which its lines may borrow more, as far as their limits go, and where it stands
  // in each.
  [[nodiscard]] std::vector<InPool> in_pools(QuotaId quota) const;
  // Whether the pool has something left to lend.
  [[nodiscard]] bool lends(PoolId pool) const;
  // Whether the demand is beyond what the quota could ever give it, borrowed or not, on any type of
  // GPU that is there; where it allows none of those, on the types that it names.
  [[nodiscard]] bool never_fits(QuotaId quota, const Demand& demand) const;
  [[nodiscard]] bool is_strict(QuotaId quota) const;
  // "team-vision"; for kNothingQuota empty.
  [[nodiscard]] const std::string& name_of(QuotaId quota) const;
  [[nodiscard]] const std::string& uid_of(QuotaId quota) const;
  // The quota that it says it is a part of; empty: none.
  [[nodiscard]] const std::string& parent_of(QuotaId quota) const;
  // Why the quota's spec is not applied, or gives its own namespaces nothing; nullopt: it does.
  [[nodiscard]] std::optional<std::string> error_of(QuotaId quota) const;
  // Until when a deleted quota gives nothing at least, and what is charged to it; nullopt: it is
  // there.
  struct Deleted {
    Time until{};
    GpuShare used;
  };
  [[nodiscard]] std::optional<Deleted> deleted(QuotaId quota) const;

  // Whether a pod with this demand could ever be within the guarantee on one of those classes (by
  // ascending id): of other pods nothing is kept for them.
  [[nodiscard]] bool could_hold(QuotaId quota, const Demand& demand,
                                const std::vector<ChargeClassId>& classes) const;
  // Keeps what becomes free for such a pod, of the lines of those classes on that where least is
  // missing, until release(), or until quotas change. False, and nothing is kept: it could not be
  // within the guarantee even then.
  bool hold(QuotaId quota, const Demand& demand, const std::vector<ChargeClassId>& classes);
  void release(QuotaId quota);
  [[nodiscard]] bool holds(QuotaId quota) const;

  // Each thing once, in the order in which it happened first.
  [[nodiscard]] bool has_news() const { return !news_.none(); }
  [[nodiscard]] News take_news();
  // Grows with everything that changes an answer.
  [[nodiscard]] std::uint64_t version() const { return version_; }

  // The numbers of the quotas that are there, by name.
  [[nodiscard]] std::vector<QuotaId> quotas() const;
  // That of the one of that name; nullopt: it is not there. O(quotas).
  [[nodiscard]] std::optional<QuotaId> find(const std::string& name) const;
  // The line of the quota that a waiting pod asks of, and for how much: the one that would then be
  // least beyond its limit, of equals least beyond its guarantee; nullopt: of none. What others of
  // the cohort do does not matter.
  [[nodiscard]] std::optional<std::pair<std::size_t, GpuShare>> asks_of(QuotaId quota,
                                                                        const Demand& demand) const;
  // Whether a quota of that number is there.
  [[nodiscard]] bool has(QuotaId quota) const {
    return quotas_.contains(quota) && !deleted_.contains(quota);
  }
  // The quota's account, `pending` by line as its waiting pods ask. O(its lines · classes), and
  // O(lines of a pool) once for each pool that has changed.
  [[nodiscard]] k8s::GpuQuota::Status status(QuotaId quota,
                                             const std::vector<GpuShare>& pending) const;
  // The quotas whose status() may say something else than when this was last called, whatever is
  // pending; those that are gone since among them. O(their number + lines of pools that changed).
  [[nodiscard]] std::set<QuotaId> take_status_changes();
  // The uids of pods that run on borrowed GPUs of that line, in the order in which they were lent,
  // which is that of the pods' creation: the oldest are the ones within the guarantee. O(pods ·
  // log).
  [[nodiscard]] std::vector<std::string> borrowers(QuotaId quota, std::size_t line) const;

 private:
  friend class Charge;
  friend class LedgerTrial;
  using PoolKey = std::pair<std::string, std::string>;  // cohort, type_key
  using InnerKey = std::pair<QuotaId, std::size_t>;     // the parent and its line
  // Who lends what a pool has lent: its quotas by name, each as much as it can.
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
  // What all quotas guarantee of a type, and what there is of it.
  struct Cover {
    GpuShare guaranteed;
    GpuShare offered;
    friend bool operator==(const Cover&, const Cover&) = default;
  };
  struct Quota {
    std::string name;
    std::string uid;
    std::int64_t generation = 0;
    Spec said;                             // as it is written
    Spec spec;                             // as it is in force: empty where there is an error
    std::optional<std::string> error;      // what is wrong with it by itself
    std::optional<std::string> misplaced;  // what is wrong with where it is
    std::optional<QuotaId> parent;         // the quota that it is in
    std::vector<QuotaId> children;         // those that are in it
    std::vector<Pool*> inner;  // by line: of the children's lines that share it, or null
    bool opens_when_deleted = false;
    std::vector<Line> lines;             // of the spec; a last one for GPUs that none names
    std::vector<std::size_t> line_of;    // by class
    std::vector<std::size_t> lender_at;  // by line with a pool: its index in the pool's lenders
    std::optional<std::size_t> holding;  // the line that keeps something
    bool changed = false;                // is in news_.accounts
    bool opened = false;                 // is in news_.opened
  };
  // A quota with its lines as they are, or as they would be.
  struct Account {
    const Quota& quota;
    const std::vector<Line>& lines;
  };

  void add(Charge& charge);
  void remove(Charge& charge);
  void count(Charge& charge);
  void uncount(Charge& charge);
  void rebuild();
  // Which quota is in which, and whether they can be in force there; returns them so that each
  // comes after the one that it is in.
  std::vector<QuotaId> place_quotas();
  // Why a quota cannot be in that one, whose own place is known; nullopt: it can.
  [[nodiscard]] std::optional<std::string> objection_to(const Spec& child, QuotaId parent) const;
  void make_lines(QuotaId id, Quota& quota);
  // What the quotas in a quota are guaranteed of one of its lines.
  [[nodiscard]] GpuShare promised_in(const Quota& parent, std::size_t line) const;
  Pool& pool_of(const Quota& quota, const LineSpec& line);
  void forget(QuotaId id);
  [[nodiscard]] Time until(Time deleted_at) const {
    return deleted_at + options_.closed_after_deletion;
  }
  void recount(const std::string& namespace_);
  void map_classes(Quota& quota) const;
  void changed(QuotaId id, Quota& quota);
  // A parent's line counts another amount as used: all that are in it stand otherwise.
  void parent_changed(QuotaId parent);
  // The pool had so much left / in use before a change.
  void tell_of(const Pool& pool, GpuShare left, GpuShare used);
  // Charges, refunds or holds on a line of the quota, which is news.
  void change(QuotaId id, Quota& quota, std::size_t line, void (Line::*how)(GpuShare),
              GpuShare amount);

  [[nodiscard]] const Quota& at(QuotaId quota) const;
  [[nodiscard]] Quota& at(QuotaId quota);
  [[nodiscard]] Account account(QuotaId quota, const LedgerTrial* in) const;
  // The same as the public one; and whether it would be within the guarantee somewhere.
  [[nodiscard]] Standing as_borrower(const Account& of, const Demand& demand, bool is_holder,
                                     bool& within) const;
  // Where a quota stands that would borrow of that line.
  [[nodiscard]] Standing standing_of(const Quota& quota, const Line& line) const;
  // What is in use of that line: of a parent's, by all that are in it.
  [[nodiscard]] GpuShare in_use(const Quota& quota, std::size_t line) const;
  // The line to which such GPUs are charged.
  [[nodiscard]] std::size_t line_of(const Quota& quota, ChargeClassId on) const;
  [[nodiscard]] bool eligible(ChargeClassId id, const Demand& demand) const;
  // Visits (class, line index, amount) for every class that is there and that the demand allows.
  template <typename Visit>
  void for_each_choice(const Quota& quota, const Demand& demand, Visit&& visit) const;
  // Of a pod that allows no class that is there, if it asks for whole GPUs of types that it names:
  // visits (type, line index, amount) for every line to which one of them may be charged; the index
  // behind the last if none may.
  template <typename Visit>
  void for_each_absent(const Quota& quota, const Demand& demand, Visit&& visit) const;
  // Whether such a pod could have so many of no line, ever.
  [[nodiscard]] bool never_fits_absent(const Quota& quota, const Demand& demand) const;
  // Whether one pod may be given so much of that line, be it free or not.
  [[nodiscard]] static bool may_have(const Quota& quota, std::size_t line, GpuShare amount);
  [[nodiscard]] static Line::Answer ask(const Account& account, std::size_t line, GpuShare amount,
                                        bool is_holder);
  [[nodiscard]] static LineAnswer answer(const Account& account, std::size_t line, GpuShare amount,
                                         bool is_holder);
  // What would be held, and on which line.
  [[nodiscard]] std::optional<std::pair<std::size_t, GpuShare>> best_hold(
      const Quota& quota, const Demand& demand, const std::vector<ChargeClassId>& classes) const;
  [[nodiscard]] GpuShare lent(const Quota& quota, std::size_t line) const;
  void list_lenders();
  void share_out(Lending& lending) const;
  [[nodiscard]] std::vector<k8s::Condition> conditions(QuotaId id) const;
  // `has_gpus`: some node has GPUs of its types.
  [[nodiscard]] k8s::Condition ready(QuotaId id, bool has_gpus) const;
  [[nodiscard]] bool is_known(const LineSpec& line) const;
  // Sums up anew what is guaranteed and what there is.
  void sum_up_guarantees() const;
  // Lists anew which lines of a cohort are of the same GPUs, and lend each other nothing.
  void list_lent_apart();
  void list_lent_apart(const std::vector<QuotaId>& cohort, const LineSpec& type,
                       const LineSpec& other);

  Options options_;
  Assignment assignment_;
  ChargeClasses classes_;
  std::map<PoolKey, Pool> pools_;
  std::map<InnerKey, Pool> inner_pools_;
  mutable std::vector<Lending> lending_;  // by PoolId; shared out when it is asked for
  std::vector<PoolId> stale_pools_;
  mutable std::map<std::string, Cover>
      covers_;  // by type_key, where more is guaranteed than there is
  mutable bool covers_stale_ = true;
  std::map<QuotaId, std::vector<std::string>> lent_apart_;  // in words
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
  std::uint64_t memory_version_ = 0;
};

}  // namespace sched::quota
