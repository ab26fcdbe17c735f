#include "scheduler/engine/world/ruling.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sched {
namespace {

bool contains(const std::vector<NodeSlot>& ascending, NodeSlot slot) {
  return std::binary_search(ascending.begin(), ascending.end(), slot);
}

}  // namespace

void Ruling::add(Why why, std::vector<NodeSlot> out, std::optional<std::vector<NodeSlot>> only) {
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  std::vector<NodeSlot> all_out;
  std::set_union(out_.begin(), out_.end(), out.begin(), out.end(), std::back_inserter(all_out));
  out_ = std::move(all_out);
  if (only && only_) {
    std::vector<NodeSlot> both;
    std::set_intersection(only_->begin(), only_->end(), only->begin(), only->end(),
                          std::back_inserter(both));
    only_ = std::move(both);
  } else if (only) {
    only_ = only;
  }
  rules_.push_back({.why = why, .out = std::move(out), .only = std::move(only)});
}

void Ruling::add(Why why, ByDomain out) {
  rules_.push_back({.why = why, .out = {}, .only = {}, .by_domain = by_domain_.size()});
  by_domain_.push_back(std::move(out));
}

void Ruling::add(Why why, ByAmount out) {
  rules_.push_back({.why = why, .out = {}, .only = {}, .by_amount = by_amount_.size()});
  by_amount_.push_back(std::move(out));
}

bool Ruling::rules_out_all() const {
  if (only_ && only_->empty()) return true;
  return std::any_of(by_domain_.begin(), by_domain_.end(), [](const ByDomain& each) {
    if (!each.without && !each.domains->without().empty()) return false;
    for (DomainId domain = 0; domain < each.domains->size(); ++domain) {
      if (!each.rules_out(domain) && !each.domains->in(domain).empty()) return false;
    }
    return true;
  });
}

std::vector<NodeSlot> Ruling::named() const {
  std::vector<NodeSlot> all = out_;
  for (const Rule& rule : rules_) {
    if (rule.only) all.insert(all.end(), rule.only->begin(), rule.only->end());
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::vector<NodeSlot> Ruling::ByAmount::nodes() const {
  const DomainIndex& domains = *tally->domains();
  std::vector<NodeSlot> all;
  if (without) all = domains.without();
  for (DomainId domain = 0; domain < domains.size(); ++domain) {
    if (!rules_out(tally->counts().of(domain))) continue;
    all.insert(all.end(), domains.in(domain).begin(), domains.in(domain).end());
  }
  // They are usually sorted already.
  if (!std::is_sorted(all.begin(), all.end())) std::sort(all.begin(), all.end());
  return all;
}

std::vector<NodeSlot> Ruling::ByDomain::nodes() const {
  std::vector<NodeSlot> all;
  if (without) all = domains->without();
  for (DomainId domain = 0; domain < out.size(); ++domain) {
    if (out[domain]) all.insert(all.end(), domains->in(domain).begin(), domains->in(domain).end());
  }
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<std::shared_ptr<Tally>> Ruling::counts_by_node() const {
  std::vector<std::shared_ptr<Tally>> all;
  const auto add_once = [&](const std::shared_ptr<Tally>& tally) {
    if (std::find(all.begin(), all.end(), tally) == all.end()) all.push_back(tally);
  };
  for (const ByAmount& each : by_amount_) add_once(each.tally);
  for (const Preference& each : preferences_) {
    for (const auto& tally : each.tallies) {
      const DomainIndex& domains = *tally->domains();
      if (domains.size() > 0 && domains.one_node_each()) add_once(tally);
    }
  }
  return all;
}

std::vector<std::shared_ptr<DomainIndex>> Ruling::labels() const {
  std::vector<std::shared_ptr<DomainIndex>> all;
  const auto add_once = [&](const std::shared_ptr<DomainIndex>& domains) {
    if (std::find(all.begin(), all.end(), domains) == all.end()) all.push_back(domains);
  };
  for (const ByDomain& each : by_domain_) add_once(each.domains);
  for (const Preference& each : preferences_) {
    for (const auto& tally : each.tallies) {
      const std::shared_ptr<DomainIndex>& domains = tally->domains();
      if (domains->size() > 0 && !domains->one_node_each()) add_once(domains);
    }
  }
  return all;
}

bool Ruling::rules_out(const Rule& rule, NodeSlot slot) const {
  if (contains(rule.out, slot) || (rule.only && !contains(*rule.only, slot))) return true;
  if (rule.by_amount != kNone) {
    const ByAmount& out = by_amount_[rule.by_amount];
    if (out.rules_out(out.tally->amount_at(slot))) return true;
  }
  if (rule.by_domain == kNone) return false;
  const ByDomain& out = by_domain_[rule.by_domain];
  return out.rules_out(out.domains->of(slot));
}

const Ruling::Why* Ruling::find(NodeSlot slot) const {
  const auto first = std::find_if(rules_.begin(), rules_.end(),
                                  [&](const Rule& rule) { return rules_out(rule, slot); });
  return first == rules_.end() ? nullptr : &first->why;
}

void Ruling::tell(NodeSlot slot, std::vector<const Why*>& told) const {
  told.clear();
  for (const Rule& rule : rules_) {
    const bool goes_with =
        told.empty() || (rule.why.also_told && rule.why.plugin == told.front()->plugin);
    if (!goes_with || !rules_out(rule, slot)) continue;
    const bool is_told = std::any_of(
        told.begin(), told.end(), [&](const Why* each) { return each->reason == rule.why.reason; });
    if (!is_told) told.push_back(&rule.why);
  }
}

std::vector<std::string_view> Ruling::reasons(NodeSlot slot) const {
  std::vector<const Why*> told;
  tell(slot, told);
  std::vector<std::string_view> reasons;
  for (const Why* why : told) reasons.push_back(why->reason);
  return reasons;
}

Apart Ruling::apart(const WaitingPod& pod) const {
  Apart apart;
  if (of_class) apart.pod_class = 1 + static_cast<std::uint64_t>(pod.pod_class.id());
  if (besides != 0) {
    apart.besides = besides;
    apart.tenant = pod.tenant;
  }
  if (of_pod) apart.arrival = pod.order.arrival;
  return apart;
}

}  // namespace sched
