#include "scheduler/engine/actions/victims.h"

#include "scheduler/engine/line/quota_search.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace sched {
namespace {

// In nodes that are only looked at, some ten nanoseconds each (bench/decide/README.md). A domain, a
// budget or an occupant that is looked at costs as much.
constexpr std::uint64_t kCostOfVerdict = 20;  // or of taking a pod away
constexpr std::uint64_t kCostOfRuling = 200;
constexpr std::uint64_t kCostOfLoan = 10;
constexpr std::uint64_t kCostOfDeparture = 10;
// A search ends here.
constexpr std::uint64_t kMostCost = 2'500'000;
// Quota of a pod that is being deleted is waited for until so long after its deadline.
constexpr std::chrono::minutes kBeyondDeadline{1};

using Reclaims = Preemption::Reclaims;
using Reasons = std::vector<std::string>;

constexpr const char* kNotHelpful = "Preemption is not helpful for scheduling";
constexpr const char* kNoVictims = "No preemption victims found for incoming pod";
constexpr const char* kProtected = "node(s) with pods on lent GPUs that have not run long enough";
constexpr const char* kNoQuota = "no GPU quota after preemption";
constexpr const char* kQuotaReturns =
    "node(s) have room, but the quota is still used by pods that are being deleted";
constexpr const char* kBudgets = "PodDisruptionBudget(s) would be violated";
constexpr const char* kUnreadableBudgets = "PodDisruptionBudgets cannot be read";
constexpr const char* kNotTried = "not tried for preemption";

// The first criterion between two choices: the smaller value wins, whatever the priorities are.
auto rank_of(const Victims& victims) {
  return std::tuple(victims.violations, !victims.within_loans, victims.whose);
}

// The second criterion: the smaller value is the less harm.
auto harm_of(const Victims& victims) {
  constexpr std::int64_t kAboveAll = std::int64_t{1} << 31U;
  std::int32_t highest = 0;
  std::int64_t sum = 0;
  Time earliest = Occupant::kNotStarted;
  if (!victims.evicted.empty()) highest = victims.evicted.front()->priority;
  for (const Occupant* victim : victims.evicted) {
    sum += victim->priority + kAboveAll;
    if (victim->priority == highest) earliest = std::min(earliest, victim->since);
  }
  return std::tuple(highest, victims.gangs, sum, victims.evicted.size(),
                    // The later it has started, the less is lost.
                    -earliest.time_since_epoch());
}

}  // namespace

// The search on one node.
class VictimSearch::OnNode {
 public:
  // `ruling_cost`: nullopt: no rules across nodes concern the pod. `left`: the accounts when all
  // pods that are leaving have left, on every node; it is the same again after look().
  OnNode(const VictimSearch& search, const WaitingPod& pod, const PreparedShape& prepared,
         std::optional<std::uint64_t> ruling_cost, quota::LedgerTrial& left, NodeSlot node,
         Time now)
      : world_(search.world_),
        finder_(search.finder_),
        holds_(search.holds_),
        plans_(search.plans_),
        groups_(search.groups_),
        pod_(pod),
        policy_(*world_.profiles[pod.profile].preemption),
        prepared_(prepared),
        ruling_cost_(ruling_cost),
        left_(left),
        node_(node),
        now_(now) {}

  // The best victims on the node. nullopt: no eviction makes room there; then the reason is added
  // to `found`.
  [[nodiscard]] std::optional<Victims> look(Found& found) {
    if (has_quota() && policy_.reclaims == Reclaims::kAny) {
      pools_to_reclaim_ = world_.ledger.answers().pools_to_reclaim(
          quota_of(pod_), pod_.demand, holds_.rank_of(pod_), world_.nodes.facts(node_).charge_class,
          &left_);
    }
    std::optional<Victims> victims = least_harm(found);
    if (victims) return victims;
    if (protected_until_) {
      heeds_runtime_ = false;
      if (least_harm(found)) {
        reasons_ = {kProtected};
        found.holds_until(*protected_until_);
      }
    }
    for (const std::string& reason : reasons_) ++found.reasons[reason];
    return std::nullopt;
  }

 private:
  [[nodiscard]] std::optional<Victims> least_harm(Found& found) {
    std::optional<Victims> best;
    for (const Whose whose : {Whose::kOthers, Whose::kAny, Whose::kOwnQuota}) {
      for (const bool within_loans : {true, false}) {
        if (finds_nothing_more(whose, within_loans)) continue;
        whose_ = whose;
        within_loans_ = within_loans;
        auto victims = look_once(found);
        if (!victims || (best && rank_of(*best) <= rank_of(*victims))) continue;
        best = std::move(victims);
        if (best->violations == 0 && best->within_loans) return best;
      }
    }
    return best;
  }
  // Whether a look with these limits can find nothing that the other looks do not find.
  [[nodiscard]] bool finds_nothing_more(Whose whose, bool within_loans) const {
    if (!within_loans && (!passed_over_ || whose == Whose::kOwnQuota)) return true;
    switch (whose) {
      case Whose::kOthers:
        return pools_to_reclaim_ == 0;
      case Whose::kAny:
        return pools_to_reclaim_ > 0 && !has_own_;
      case Whose::kOwnQuota:
        return !has_quota() || (!has_own_ && !has_leaving_);
    }
    return false;
  }

  [[nodiscard]] std::optional<Victims> look_once(Found& found) {
    WorldTrial trial(world_);
    Victims victims;
    victims.node = node_;
    victims.whose = whose_;
    leave_out_own_hold(trial);
    std::vector<const Occupant*> others;
    const auto& occupants = world_.nodes.occupants(node_);
    found.cost += occupants.size();
    for (const Occupant* occupant : occupants) {
      if (occupant->kind != Occupant::Kind::kPod) continue;
      if (is_leaving(*occupant, found)) {
        take_away(*occupant, trial, found);
        victims.leaving.push_back(occupant);
        has_leaving_ = true;
      } else if (may_be_evicted(*occupant)) {
        others.push_back(occupant);
      }
    }
    if (!victims.leaving.empty() && fits(trial, found)) return victims;
    put_gangs_first(others);
    return choose(std::move(others), std::move(victims), trial, found);
  }

  // Chooses among `others` the pods that make room. If budgets may not be violated, the pods that
  // they protect stay, and others may go instead.
  [[nodiscard]] std::optional<Victims> choose(std::vector<const Occupant*> others, Victims victims,
                                              WorldTrial& trial, Found& found) {
    bool some_protected = false;  // by budgets
    while (true) {
      std::vector<const Occupant*> removed = take_away_all(others, trial, found);
      const bool fit = !removed.empty() && fits(trial, found);
      if (!fit) {
        note(some_protected ? Reasons{kBudgets} : removed.empty() ? Reasons{kNoVictims} : why_not_);
        // Protected pods may have used up what may be taken back from a quota. Without them, other
        // pods of that quota may go.
        if (removed.empty() || policy_.violates_budgets || !world_.ledger.in_force()) {
          return std::nullopt;
        }
      }
      const std::vector<bool> violates = violated_by(removed, found);
      const bool some_violate = std::find(violates.begin(), violates.end(), true) != violates.end();
      if (fit && (policy_.violates_budgets || !some_violate)) {
        return reprieve(removed, violates, std::move(victims), trial, found);
      }
      if (!some_violate) return std::nullopt;
      some_protected = fit;
      for (std::size_t i = removed.size(); i-- > 0;) {
        if (!violates[i]) continue;
        put_back(*removed[i], trial, found);
        others.erase(std::find(others.begin(), others.end(), removed[i]));
        removed.erase(removed.begin() + static_cast<std::ptrdiff_t>(i));
      }
      if (fit && !removed.empty() && fits(trial, found)) {
        return reprieve(removed, std::vector<bool>(removed.size()), std::move(victims), trial,
                        found);
      }
      for (const Occupant* one : removed) put_back(*one, trial, found);
    }
  }

  // Among those of equal priority; the others keep their order.
  void put_gangs_first(std::vector<const Occupant*>& pods) const {
    std::set<const Occupant*> in_gangs;
    for (const Occupant* pod : pods) {
      if (groups_.among_others(*pod->uid) != nullptr) in_gangs.insert(pod);
    }
    if (in_gangs.empty()) return;
    std::stable_sort(pods.begin(), pods.end(), [&](const Occupant* a, const Occupant* b) {
      if (a->priority != b->priority) return a->priority > b->priority;
      return in_gangs.contains(a) && !in_gangs.contains(b);
    });
  }

  // Takes away the pods that their quotas may lose, the least important first: pods of another
  // quota go only while that quota borrows. Returns them, the most important first.
  [[nodiscard]] std::vector<const Occupant*> take_away_all(const std::vector<const Occupant*>& pods,
                                                           WorldTrial& trial, Found& found) {
    std::vector<const Occupant*> removed;
    for (auto one = pods.rbegin(); one != pods.rend(); ++one) {
      if (!may_lose(**one, found)) continue;
      take_away(**one, trial, found);
      if (const auto* charge = charge_of(**one)) left_.take_away(*charge);
      removed.insert(removed.begin(), *one);
    }
    for (const Occupant* one : removed) {
      if (const auto* charge = charge_of(*one)) left_.put_back(*charge);
    }
    return removed;
  }

  // Puts back the pods that need not go, first those that a budget protects, the most important
  // first.
  [[nodiscard]] Victims reprieve(const std::vector<const Occupant*>& removed,
                                 const std::vector<bool>& violates, Victims victims,
                                 WorldTrial& trial, Found& found) {
    std::vector<bool> goes(removed.size());
    for (const bool violating : {true, false}) {
      for (std::size_t i = 0; i < removed.size(); ++i) {
        if (violates[i] != violating) continue;
        put_back(*removed[i], trial, found);
        if (fits(trial, found)) continue;
        take_away(*removed[i], trial, found);
        goes[i] = true;
        if (violating) ++victims.violations;
      }
    }
    for (std::size_t i = 0; i < removed.size(); ++i) {
      if (goes[i]) victims.evicted.push_back(removed[i]);
    }
    victims.within_loans = are_within_loans(victims.evicted);
    std::set<PodGroups::GroupId> gangs;
    for (const Occupant* one : victims.evicted) {
      if (one->priority < victims.evicted.front()->priority) break;
      if (const auto gang = groups_.among_others(*one->uid)) gangs.insert(gang);
    }
    victims.gangs = gangs.size();
    return victims;
  }
  // Whether all GPUs of the evicted pods that other quotas count are borrowed.
  [[nodiscard]] bool are_within_loans(const std::vector<const Occupant*>& evicted) {
    bool all = true;
    std::vector<const quota::Charge*> gone;
    for (auto one = evicted.rbegin(); one != evicted.rend(); ++one) {
      const quota::Charge* charge = charge_of(**one);
      if (charge == nullptr || !charge->quota() || is_own(charge)) continue;
      const auto loan = world_.ledger.answers().loan_of(*charge, quota_of(pod_), &left_);
      all = all && loan && loan->guaranteed.is_zero();
      left_.take_away(*charge);
      gone.push_back(charge);
    }
    for (const quota::Charge* charge : gone) left_.put_back(*charge);
    return all;
  }

  [[nodiscard]] std::vector<bool> violated_by(const std::vector<const Occupant*>& pods,
                                              Found& found) const {
    std::vector<DisruptionBudgets::Pod> covered;
    std::vector<std::size_t> of;
    for (std::size_t i = 0; i < pods.size(); ++i) {
      if (plans_.prepares(*pods[i]->uid)) continue;  // does not run yet
      covered.push_back({*pods[i]->pod_class, *record_of(*pods[i]).name()});
      of.push_back(i);
    }
    const DisruptionBudgets::Violations violations = world_.budgets.violated_by(covered);
    found.cost += violations.compared;
    std::vector<bool> violates(pods.size());
    for (std::size_t i = 0; i < of.size(); ++i) violates[of[i]] = violations.by[i];
    return violates;
  }

  // Takes away what is held on the node for the pod itself.
  void leave_out_own_hold(WorldTrial& trial) const {
    const Hold* hold = holds_.of(pod_);
    if (hold == nullptr || !hold->on || hold->on->node() != node_) return;
    trial.nodes.take_away(node_, hold->on->occupant());
  }

  [[nodiscard]] bool is_leaving(const Occupant& occupant, Found& found) const {
    if (const auto until = plans_.departures().stuck_until(*occupant.uid, now_)) {
      found.holds_until(*until);
      return false;
    }
    return occupant.terminating || plans_.departures().is_awaited(*occupant.uid);
  }
  [[nodiscard]] bool may_be_evicted(const Occupant& occupant) const {
    if (!occupant.ours || occupant.terminating) return false;
    if (!is_lower(occupant) && (pools_to_reclaim_ == 0 || whose_ == Whose::kOwnQuota)) return false;
    // The occupant has no bind yet. So nothing that runs ends with its plan, but the evictions of
    // that plan go on for the pod.
    if (plans_.prepares(*occupant.uid)) return may_take_over(occupant);
    return occupant.owner != 0 || policy_.evicts_bare_pods;
  }
  [[nodiscard]] bool may_take_over(const Occupant& occupant) const {
    if (!is_lower(occupant)) return false;
    const std::vector<std::string> evicted = plans_.evicted_for(*occupant.uid);
    return std::all_of(evicted.begin(), evicted.end(), [&](const std::string& uid) {
      const Occupant& victim = world_.pods.find(uid)->placement()->occupant();
      return is_lower(victim) && (whose_ != Whose::kOwnQuota || is_own(charge_of(victim)));
    });
  }
  [[nodiscard]] bool has_quota() const { return pod_.queue != kMainQueue; }
  [[nodiscard]] bool is_lower(const Occupant& occupant) const {
    return occupant.priority < pod_.order.priority;
  }
  [[nodiscard]] bool is_own(const quota::Charge* charge) const {
    return has_quota() && charge != nullptr && charge->quota() == quota_of(pod_);
  }
  // Whether its quota may lose the pod.
  [[nodiscard]] bool may_lose(const Occupant& occupant, Found& found) {
    const quota::Charge* charge = charge_of(occupant);
    if (is_own(charge)) {
      has_own_ = has_own_ || is_lower(occupant);
      return whose_ != Whose::kOthers && is_lower(occupant);
    }
    if (whose_ == Whose::kOwnQuota) return false;
    if (charge == nullptr || !charge->quota()) return is_lower(occupant);
    if (policy_.reclaims == Reclaims::kNever) return false;
    found.cost += kCostOfLoan;
    const auto loan = world_.ledger.answers().loan_of(*charge, quota_of(pod_), &left_);
    if (!loan) return false;
    if (!is_lower(occupant) && (loan->pool >= pools_to_reclaim_ || !has_run(occupant, *charge))) {
      return false;
    }
    const bool is_whole = loan->guaranteed.is_zero();
    passed_over_ = passed_over_ || !is_whole;
    return is_whole || !within_loans_;
  }
  // Whether it has run long enough for a pod of no higher priority.
  [[nodiscard]] bool has_run(const Occupant& occupant, const quota::Charge& charge) {
    const bool has_started = occupant.since != Occupant::kNotStarted;
    const Time until = (has_started ? occupant.since : charge.at()) + policy_.reclaim_min_runtime;
    if (until <= now_ || !heeds_runtime_) return true;
    protected_until_ = std::min(protected_until_.value_or(until), until);
    return false;
  }

  void take_away(const Occupant& occupant, WorldTrial& trial, Found& found) const {
    found.cost += kCostOfVerdict;
    trial.nodes.take_away(node_, occupant);
    if (const auto* charge = charge_of(occupant)) trial.quota.take_away(*charge);
  }
  void put_back(const Occupant& occupant, WorldTrial& trial, Found& found) const {
    found.cost += kCostOfVerdict;
    trial.nodes.put_back(node_, occupant);
    if (const auto* charge = charge_of(occupant)) trial.quota.put_back(*charge);
  }
  // Null: it holds no GPU, or there are no quotas.
  [[nodiscard]] const quota::Charge* charge_of(const Occupant& occupant) const {
    return world_.ledger.in_force() ? record_of(occupant).charged() : nullptr;
  }
  [[nodiscard]] const PodRecord& record_of(const Occupant& occupant) const {
    return *world_.pods.find(*occupant.uid);
  }

  // Whether the node would take the pod in that world; if not, why_not_ says why.
  [[nodiscard]] bool fits(const WorldTrial& trial, Found& found) {
    found.cost += kCostOfVerdict;
    if (has_quota() && !quota_allows(trial)) {
      why_not_ = {kNoQuota};
      return false;
    }
    const NodeVerdict verdict = finder_.verdict(prepared_, node_, {.trial = &trial.nodes});
    if (!verdict.is_ok()) {
      why_not_ = prepared_.reasons_of(verdict);
      return false;
    }
    if (!ruling_cost_) return true;
    found.cost += *ruling_cost_;
    const Ruling ruling = finder_.ruling_without(pod_, trial.nodes);
    if (ruling.find(node_) == nullptr) return true;
    const auto reasons = ruling.reasons(node_);
    why_not_.assign(reasons.begin(), reasons.end());
    return false;
  }
  // Keeps the first reason that is more specific than "no pod may be evicted".
  void note(const Reasons& reasons) {
    if (reasons_.empty() || reasons_ == Reasons{kNoVictims}) reasons_ = reasons;
  }
  [[nodiscard]] bool quota_allows(const WorldTrial& trial) const {
    const quota::Admission admission = world_.ledger.answers().admit(
        quota_of(pod_), pod_.demand, holds_.rank_of(pod_), &trial.quota);
    return admission.allows(world_.nodes.facts(node_).charge_class, whose_ == Whose::kOwnQuota);
  }

  const World& world_;
  Finder& finder_;
  const Holds& holds_;
  const Plans& plans_;
  const PodGroups& groups_;
  const WaitingPod& pod_;
  const Preemption& policy_;
  const PreparedShape& prepared_;
  const std::optional<std::uint64_t> ruling_cost_;
  quota::LedgerTrial& left_;
  const NodeSlot node_;
  const Time now_;
  // In how many of the pools from which other quotas have borrowed (QuotaAnswers::loan_of) the pod
  // may take GPUs back, whatever the priority of the pods there.
  std::size_t pools_to_reclaim_ = 0;
  // The limits of the present look.
  Whose whose_ = Whose::kAny;
  bool within_loans_ = true;   // only pods whose GPUs are lent whole
  bool heeds_runtime_ = true;  // how long pods have run
  // What the looks have seen so far.
  bool has_own_ = false;                 // pods of its own quota, of lower priority
  bool has_leaving_ = false;             // pods that leave anyway
  bool passed_over_ = false;             // pods whose GPUs are lent in part
  std::optional<Time> protected_until_;  // of the first pod that has not run long enough
  Reasons why_not_;                      // of the last answer that was no
  Reasons reasons_;                      // why there is no room to be made
};

VictimSearch::Found VictimSearch::search(const WaitingPod& pod, const std::string& from, Time now,
                                         bool only_first) {
  Found found;
  if (!world_.budgets.readable() && !world_.profiles[pod.profile].preemption->violates_budgets) {
    found.reasons[kUnreadableBudgets] = world_.nodes.size();
    return found;
  }
  const Ruling ruling = finder_.ruling_for(pod);
  std::optional<std::uint64_t> ruling_cost;
  if (ruling.of_class || ruling.of_pod || !pod.constraints.empty()) {
    ruling_cost = kCostOfRuling + finder_.cost_of_ruling(pod);
  }
  const ScoreCache& answers = finder_.refresh(pod.profile, pod.shape);
  const PreparedShape& prepared = answers.prepared();
  if (prepared.rejection()) {
    found.reasons[kNotHelpful] = world_.nodes.size();
    return found;
  }
  const auto rank = [&](const Victims& victims) {
    const bool nominated = world_.nodes.name(victims.node) == pod.pod.status.nominated_node_name;
    return std::tuple(!victims.evicted.empty(), !nominated, rank_of(victims), harm_of(victims));
  };
  quota::LedgerTrial left(world_.ledger);
  quota::LedgerTrial soon(world_.ledger);  // without those that should have left by now
  std::optional<Time> until;               // when the first of the others should
  std::uint64_t departures = 0;
  if (world_.ledger.in_force()) {
    plans_.departures().for_each([&](const std::string& uid) {
      ++departures;
      if (plans_.departures().stuck_until(uid, now)) return;
      const quota::Charge* charge = world_.pods.find(uid)->charged();
      if (charge == nullptr) return;
      left.take_away(*charge);
      const auto deadline = plans_.departures().deadline_of(uid);
      const Time end = deadline ? *deadline + kBeyondDeadline : Time::max();
      if (end <= now) return;
      soon.take_away(*charge);
      until = std::min(until.value_or(Time::max()), end);
    });
  }
  // Where a node takes the pod as it is, only quota is missing. If pods that are leaving, wherever
  // they are, give enough of it back in time, they are waited for.
  std::optional<quota::Admission> returns;
  if (pod.queue != kMainQueue && until) {
    returns = world_.ledger.answers().admit(quota_of(pod), pod.demand, holds_.rank_of(pod), &soon);
  }
  // Such nodes; within the guarantee alone, because what others may borrow is not the pod's.
  const auto takes_it_then = [&](NodeSlot slot) {
    return returns && returns->allows(world_.nodes.facts(slot).charge_class, false) &&
           !answers.verdict(slot) && ruling.find(slot) == nullptr;
  };
  std::size_t takers = 0;
  for (NodeSlot slot = 0; returns && slot < world_.nodes.slots(); ++slot) {
    if (world_.nodes.present(slot) && takes_it_then(slot)) ++takers;
  }
  const auto look_at = [&](NodeSlot slot) {
    const auto verdict = answers.verdict(slot);
    const Ruling::Why* excluded = verdict ? nullptr : ruling.find(slot);
    const Code code = verdict ? verdict->code : excluded != nullptr ? excluded->code : Code::kOk;
    if (code == Code::kUnresolvable) {
      ++found.reasons[kNotHelpful];
      return;
    }
    Found of_taker;  // which is counted as one, whatever else there is to say of it
    Found& of_node = takes_it_then(slot) ? of_taker : found;
    auto victims = OnNode(*this, pod, prepared, ruling_cost, left, slot, now).look(of_node);
    found.cost += of_taker.cost;
    if (takers > 0 && victims && !victims->evicted.empty()) return;
    if (victims && (!found.best || rank(*victims) < rank(*found.best))) {
      found.best = std::move(victims);
    }
  };
  const auto& nodes = world_.nodes.by_name();
  std::size_t tried = 0;
  for (auto next = nodes.lower_bound(from); next != nodes.end(); ++next) {
    const auto& [name, slot] = *next;
    if (!world_.nodes.present(slot)) continue;
    if (++found.cost > kMostCost) {
      found.ended_at = name;
      break;
    }
    look_at(slot);
    ++tried;
    if (only_first) break;
  }
  // At the end: it must not keep a search from getting on, however many they are.
  found.cost += kCostOfDeparture * departures;
  if (tried < world_.nodes.size()) found.reasons[kNotTried] = world_.nodes.size() - tried;
  if (takers > 0) {
    found.reasons[kQuotaReturns] = takers;
    found.holds_until(*until);
  }
  return found;
}

}  // namespace sched
