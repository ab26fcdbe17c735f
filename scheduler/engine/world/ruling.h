// The ruling for one pod, which is the answer of the rules across nodes: which nodes they rule out
// and why, and how they score the others.
#pragma once

#include "scheduler/base/types.h"
#include "scheduler/engine/world/domains.h"
#include "scheduler/engine/world/tally.h"
#include "scheduler/engine/world/waiting_pod.h"
#include "scheduler/framework/plugin.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace sched {

class Ruling {
 public:
  struct Why {
    std::string_view plugin;
    std::string_view reason;
    Code code = Code::kUnschedulable;
    bool also_told = false;  // as Exclusion::also_told
  };

  // The nodes of some domains of a label.
  struct ByDomain {
    std::shared_ptr<DomainIndex> domains;
    std::vector<bool> out;  // by domain
    bool without = false;   // whether nodes without the label are ruled out, too

    [[nodiscard]] bool rules_out(DomainId domain) const {
      return domain == kNoDomain ? without : domain < out.size() && out[domain];
    }
    // All of them, ascending.
    [[nodiscard]] std::vector<NodeSlot> nodes() const;
  };

  // The nodes with too much or too little of something, where each domain is one node.
  struct ByAmount {
    std::shared_ptr<Tally> tally;
    std::int64_t at_least = std::numeric_limits<std::int64_t>::min();
    std::int64_t at_most = std::numeric_limits<std::int64_t>::max();
    bool without = false;  // whether nodes without the label are ruled out, too

    [[nodiscard]] bool rules_out(std::int64_t amount) const {
      if (amount == kNoAmount) return without;
      return amount < at_least || amount > at_most;
    }
    // All of them, ascending.
    [[nodiscard]] std::vector<NodeSlot> nodes() const;
  };

  // What a constraint prefers.
  struct Preference {
    std::string_view plugin;
    std::int64_t weight = 1;
    std::shared_ptr<const PodPreference> how;
    std::vector<std::shared_ptr<Tally>> tallies;  // by count of `how`
    std::vector<DomainCounts> tried;  // the same in a trial; empty: the nodes as they are

    [[nodiscard]] std::int64_t amount_in(std::size_t count, DomainId domain) const {
      if (domain == kNoDomain) return kNoAmount;
      return tried.empty() ? tallies[count]->counts().of(domain) : tried[count].of(domain);
    }
  };

  // Adds a rule: it rules out the nodes `out` (each once or more) and, if `only` is given, all
  // nodes except these, which ascend.
  void add(Why why, std::vector<NodeSlot> out, std::optional<std::vector<NodeSlot>> only);
  void add(Why why, ByDomain out);
  void add(Why why, ByAmount out);

  void add(Preference preference) { preferences_.push_back(std::move(preference)); }

  // Whether it rules no node out / is empty.
  [[nodiscard]] bool allows_all() const {
    return out_.empty() && !only_ && by_domain_.empty() && by_amount_.empty();
  }
  [[nodiscard]] bool none() const { return allows_all() && preferences_.empty(); }
  // Whether a single rule by domain, or the rules with `only`, rule every node out. False: not
  // known. O(domains).
  [[nodiscard]] bool rules_out_all() const;
  // The first rule that excludes the node; null: none.
  [[nodiscard]] const Why* find(NodeSlot slot) const;
  // The rules that a message names for a node that is ruled out: the first one, and those that go
  // with it (Why::also_told) and have other reasons. Empty: the node is allowed. Replaces `told`.
  void tell(NodeSlot slot, std::vector<const Why*>& told) const;
  // The reasons of these rules.
  [[nodiscard]] std::vector<std::string_view> reasons(NodeSlot slot) const;

  // The nodes that a rule names individually, as ruled out or as those that are left. Ascending.
  [[nodiscard]] std::vector<NodeSlot> named() const;

  // Ascending. The nodes that are ruled out individually; and the only ones that are left, if
  // given.
  [[nodiscard]] const std::vector<NodeSlot>& out() const { return out_; }
  [[nodiscard]] const std::optional<std::vector<NodeSlot>>& only() const { return only_; }

  // The nodes that are also ruled out by domain, or by what is counted there.
  [[nodiscard]] const std::vector<ByDomain>& by_domain() const { return by_domain_; }
  [[nodiscard]] const std::vector<ByAmount>& by_amount() const { return by_amount_; }

  [[nodiscard]] const std::vector<Preference>& preferences() const { return preferences_; }

  // The counts over single nodes that decide, each once.
  [[nodiscard]] std::vector<std::shared_ptr<Tally>> counts_by_node() const;
  // The labels with domains that decide in the other rules, each once.
  [[nodiscard]] std::vector<std::shared_ptr<DomainIndex>> labels() const;

  // For which pods the ruling holds: those of the same shape; with of_class, of the same class,
  // too; and with the same hash of what else constraints read (0: nothing). With of_pod, only for
  // this pod.
  bool of_class = false;
  std::uint64_t besides = 0;
  bool of_pod = false;
  // What sets the pod apart from others of its shape while it is parked.
  [[nodiscard]] Apart apart(const WaitingPod& pod) const;

 private:
  struct Rule {
    Why why;
    std::vector<NodeSlot> out;
    std::optional<std::vector<NodeSlot>> only;
    std::size_t by_domain = kNone;  // index in by_domain_
    std::size_t by_amount = kNone;  // index in by_amount_
  };
  [[nodiscard]] bool rules_out(const Rule& rule, NodeSlot slot) const;

  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  std::vector<Rule> rules_;
  std::vector<NodeSlot> out_;                  // the union over the rules
  std::optional<std::vector<NodeSlot>> only_;  // the intersection over the rules that have one
  std::vector<ByDomain> by_domain_;
  std::vector<ByAmount> by_amount_;
  std::vector<Preference> preferences_;
};

}  // namespace sched
