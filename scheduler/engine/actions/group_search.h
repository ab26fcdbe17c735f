// Where the pods of a group may go together.
//
// The pods are seated one after the other in a trial: each on its best node, with those before it
// in place and charged. So the answer is the one that the same pods would get if they were placed
// in this order, and nothing is changed if some find no room. The largest are seated first. For
// pods that ask for the same, without rules across nodes, this finds room wherever there is some.
// Pods that a rule keeps near others of the group are tried again once those have seats. If the
// first seat decides in which domain all others have to be (required affinity), and there is too
// little room, other domains are tried. No other seat is tried again.
#pragma once

#include "scheduler/engine/finder/finder.h"
#include "scheduler/engine/line/holds.h"
#include "scheduler/engine/line/quota_search.h"
#include "scheduler/engine/world/waiting_pod.h"
#include "scheduler/engine/world/world.h"
#include "scheduler/engine/world/world_trial.h"
#include "scheduler/quota/charge_class.h"

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace sched {

class GroupSearch {
 public:
  // All outlive it.
  GroupSearch(const World& world, Finder& finder, QuotaSearch& search, const Holds& holds)
      : world_(world), finder_(finder), search_(search), holds_(holds) {}

  struct Seat {
    WaitingPod* pod = nullptr;
    NodeSlot node = kNoSlot;
    Scope scope{};
  };
  struct Found {
    std::vector<Seat> seats;  // as many as start together, or fewer
    // The classes on which a seat is borrowed.
    std::set<quota::ChargeClassId> borrowed;

    // If there are too few seats: what room for one more waits for, and why there is none. All of
    // it is about the first pod without a seat.
    WaitsFor waits_for = 0;
    bool by_rules = false;                     // rules across nodes leave nodes out for some pod
    bool never = false;                        // no node can ever take it
    bool by_quota = false;                     // its quota has no room; then there is no message
    const WaitingPod* without_seat = nullptr;  // that pod
    std::string message;                       // fit_error.h
    std::vector<std::string> plugins;

    std::size_t cost = 0;      // answers of single nodes
    std::size_t searched = 0;  // of these, those that Finder::searched() has counted
    bool ended = false;        // it would have cost too much; what it waits for is not known
  };
  // `without`: pods of the group that are left out.
  [[nodiscard]] Found find(const WaitingGroup& group, const std::set<const WaitingPod*>& without);

  // No search costs much more: about half a second. That is enough but for hundreds of pods with
  // rules across nodes in a very large cluster.
  static constexpr std::size_t kMostCost = 3'000'000;

 private:
  struct Asked {
    const WaitingGroup& group;
    std::vector<WaitingPod*> pods;      // in the order of their seats
    bool by_rules = false;              // rules across nodes matter to some of them
    std::vector<NodeSlot> not_first{};  // where the first seat is not to be, ascending
  };
  void search(const Asked& asked, Found& found);
  // Whether it has found one.
  bool seat(WaitingPod& pod, const Asked& asked, WorldTrial& trial, Found& found);
  // The nodes of the domain in which the others have to be if the first has that seat: it need not
  // have a seat on any of them again. Empty: they need not be together. `found`: with the pod that
  // has found no seat; what the answer costs is added.
  [[nodiscard]] std::vector<NodeSlot> tried_with(const Seat& first, Found& found);
  // Why no node takes the pod in the trial.
  void word(const ScoreCache& answers, const Where& where, Found& found) const;
  [[nodiscard]] bool reads_rules(const WaitingPod& pod) const;

  const World& world_;
  Finder& finder_;
  QuotaSearch& search_;
  const Holds& holds_;
};

}  // namespace sched
