#include "scheduler/engine/actions/victims.h"

#include "scheduler/engine/line/quota_search.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

namespace sched {
namespace {

// In nodes that are only looked at, some ten nanoseconds each (bench/decide/README.md). A domain, a
// budget or an occupant that is looked at costs as much.
constexpr std::uint64_t kCostOfVerdict = 20;  // or of taking a pod away
constexpr std::uint64_t kCostOfRuling = 200;
// A search ends here.
constexpr std::uint64_t kMostCost = 2'500'000;

using Reclaims = Preemption::Reclaims;

constexpr const char* kNotHelpful = "Preemption is not helpful for scheduling";
constexpr const char* kNoVictims = "No preemption victims found for incoming pod";
constexpr const char* kProtected = "pods on lent GPUs have not run long enough";
constexpr const char* kNoQuota = "no GPU quota after preemption";
constexpr const char* kBudgets = "PodDisruptionBudget(s) would be violated";
constexpr const char* kUnreadableBudgets = "PodDisruptionBudgets cannot be read";
constexpr const char* kNotTried = "not tried for preemption";

// Less means that its end does less harm.
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
  return std::tuple(victims.violations, highest, sum, victims.evicted.size(),
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
        pod_(pod),
        policy_(*world_.profiles[pod.profile].preemption),
        prepared_(prepared),
        ruling_cost_(ruling_cost),
        left_(left),
        node_(node),
        now_(now) {}

  // Adds to `found` the reason, if there is no room to be made.
  [[nodiscard]] std::optional<Victims> look(Found& found) {
    const bool has_quota = pod_.queue != kMainQueue;
    if (has_quota && policy_.reclaims == Reclaims::kAny) {
      lends_in_ = world_.ledger.pools_to_reclaim(quota_of(pod_), pod_.demand,
                                                 world_.nodes.facts(node_).charge_class, &left_);
    }
    std::optional<Victims> victims;
    if (lends_in_ > 0) victims = look(Whose::kOthers, found);
    if (!victims) victims = look(Whose::kAny, found);
    if (!victims && has_quota) victims = look(Whose::kOwnQuota, found);
    if (!victims) {
      for (const std::string& reason : reasons_) ++found.reasons[reason];
    }
    return victims;
  }

 private:
  [[nodiscard]] std::optional<Victims> look(Whose whose, Found& found) {
    whose_ = whose;
    WorldTrial trial(world_);
    Victims victims;
    victims.node = node_;
    victims.whose = whose;
    leave_out_own_hold(trial);
    std::vector<const Occupant*> others;
    const auto& occupants = world_.nodes.occupants(node_);
    found.cost += occupants.size();
    for (const Occupant* occupant : occupants) {
      if (occupant->kind != Occupant::Kind::kPod) continue;
      if (is_leaving(*occupant)) {
        take_away(*occupant, trial, found);
        victims.leaving.push_back(occupant);
      } else if (may_be_evicted(*occupant)) {
        others.push_back(occupant);
      }
    }
    if (!victims.leaving.empty() && fits(trial, found)) return victims;
    const std::vector<const Occupant*> removed = take_away_all(others, trial, found);
    if (removed.empty()) {
      reasons_ = {some_protected_ ? kProtected : kNoVictims};
      return std::nullopt;
    }
    if (!fits(trial, found)) return std::nullopt;
    return reprieve(removed, std::move(victims), trial, found);
  }

  // Takes away those that their quotas may lose, the least important first: of another quota pods
  // go only while it borrows. Returns them, the most important first.
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

  // Puts back whoever need not go, first those that a budget protects, the most important first.
  [[nodiscard]] std::optional<Victims> reprieve(const std::vector<const Occupant*>& removed,
                                                Victims victims, WorldTrial& trial, Found& found) {
    const std::vector<bool> violates = violated_by(removed, found);
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
    if (victims.violations > 0 && !policy_.violates_budgets) {
      reasons_ = {kBudgets};
      return std::nullopt;
    }
    for (std::size_t i = 0; i < removed.size(); ++i) {
      if (goes[i]) victims.evicted.push_back(removed[i]);
    }
    return victims;
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

  // What is held on the node for the pod itself.
  void leave_out_own_hold(WorldTrial& trial) const {
    const Hold* hold = holds_.of(pod_);
    if (hold == nullptr || !hold->on || hold->on->node() != node_) return;
    trial.nodes.take_away(node_, hold->on->occupant());
  }

  [[nodiscard]] bool is_leaving(const Occupant& occupant) const {
    if (plans_.is_stuck(*occupant.uid, now_)) return false;
    return occupant.terminating || plans_.counts_on(*occupant.uid);
  }
  [[nodiscard]] bool may_be_evicted(const Occupant& occupant) const {
    if (!occupant.ours || occupant.terminating) return false;
    if (!is_lower(occupant) && (lends_in_ == 0 || whose_ == Whose::kOwnQuota)) return false;
    // To undo a plan ends nothing.
    if (plans_.prepares(*occupant.uid)) return true;
    return occupant.owner != 0 || policy_.evicts_bare_pods;
  }
  [[nodiscard]] bool is_lower(const Occupant& occupant) const {
    return occupant.priority < pod_.order.priority;
  }
  // Whether its quota may lose the pod.
  [[nodiscard]] bool may_lose(const Occupant& occupant, Found& found) {
    const quota::Charge* charge = charge_of(occupant);
    const bool counts = charge != nullptr && charge->quota();
    const bool is_own = counts && pod_.queue != kMainQueue && *charge->quota() == quota_of(pod_);
    if (is_own) return whose_ != Whose::kOthers && is_lower(occupant);
    if (whose_ == Whose::kOwnQuota) return false;
    if (!counts) return is_lower(occupant);
    if (policy_.reclaims == Reclaims::kNever) return false;
    const auto lent_in = world_.ledger.lent_in(*charge, quota_of(pod_), &left_);
    if (!lent_in || is_lower(occupant)) return lent_in.has_value();
    // A pod that has been decided on keeps its turn, and may run for as long as others.
    if (*lent_in >= lends_in_ || plans_.prepares(*occupant.uid)) return false;
    return has_run(occupant, found);
  }
  // Whether it has run long enough for a pod of no higher priority.
  [[nodiscard]] bool has_run(const Occupant& occupant, Found& found) {
    if (policy_.reclaim_min_runtime.count() == 0) return true;
    // No change of the node tells that a pod has started: not earlier than now.
    const Time until = std::min(occupant.since, now_) + policy_.reclaim_min_runtime;
    if (until <= now_) return true;
    some_protected_ = true;
    found.protected_until = std::min(found.protected_until.value_or(until), until);
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

  // Whether the node would take the pod in that world; if not, sets the reasons.
  [[nodiscard]] bool fits(const WorldTrial& trial, Found& found) {
    found.cost += kCostOfVerdict;
    if (pod_.queue != kMainQueue && !quota_allows(trial)) {
      reasons_ = {kNoQuota};
      return false;
    }
    const NodeVerdict verdict = finder_.verdict(prepared_, node_, {.trial = &trial.nodes});
    if (!verdict.is_ok()) {
      reasons_ = prepared_.reasons_of(verdict);
      return false;
    }
    if (!ruling_cost_) return true;
    found.cost += *ruling_cost_;
    const Ruling ruling = finder_.ruling_without(pod_, trial.nodes);
    if (ruling.find(node_) == nullptr) return true;
    const auto reasons = ruling.reasons(node_);
    reasons_.assign(reasons.begin(), reasons.end());
    return false;
  }
  [[nodiscard]] bool quota_allows(const WorldTrial& trial) const {
    const quota::Admission admission =
        world_.ledger.admit(quota_of(pod_), pod_.demand, holds_.rank_of(pod_), &trial.quota);
    return admission.allows(world_.nodes.facts(node_).charge_class, whose_ == Whose::kOwnQuota);
  }

  const World& world_;
  Finder& finder_;
  const Holds& holds_;
  const Plans& plans_;
  const WaitingPod& pod_;
  const Preemption& policy_;
  const PreparedShape& prepared_;
  const std::optional<std::uint64_t> ruling_cost_;
  quota::LedgerTrial& left_;
  const NodeSlot node_;
  const Time now_;
  Whose whose_ = Whose::kAny;
  // In so many of the pools from which others have borrowed (Ledger::lent_in) the pod may take
  // back, whatever their priority.
  std::size_t lends_in_ = 0;
  bool some_protected_ = false;       // because they have not run long enough
  std::vector<std::string> reasons_;  // of the last answer that was no
};

VictimSearch::Found VictimSearch::search(const WaitingPod& pod, const std::string& from, Time now) {
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
    return std::tuple(!victims.evicted.empty(), !nominated, victims.whose, harm_of(victims));
  };
  quota::LedgerTrial left(world_.ledger);
  if (world_.ledger.in_force()) {
    for (const std::string& uid : plans_.leaving()) {
      const quota::Charge* charge = world_.pods.find(uid)->charged();
      if (charge != nullptr) left.take_away(*charge);
    }
  }
  const auto look_at = [&](NodeSlot slot) {
    const auto verdict = answers.verdict(slot);
    const Ruling::Why* excluded = verdict ? nullptr : ruling.find(slot);
    const Code code = verdict ? verdict->code : excluded != nullptr ? excluded->code : Code::kOk;
    if (code == Code::kUnresolvable) {
      ++found.reasons[kNotHelpful];
      return;
    }
    auto victims = OnNode(*this, pod, prepared, ruling_cost, left, slot, now).look(found);
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
  }
  if (tried < world_.nodes.size()) found.reasons[kNotTried] = world_.nodes.size() - tried;
  return found;
}

}  // namespace sched
