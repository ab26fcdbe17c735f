// Makes room for pods that no node takes, by evicting others (victims.h): only where their profile
// enables DefaultPreemption and their spec.preemptionPolicy is not Never.
//
// A pod evicts when it has its turn and finds no room, by quota or on nodes. It is then assumed on
// its node and charged, and bound when the victims are gone (plans.h). So it preempts once, no
// other pod takes its room, and the next decision sees everything.
//
// A search for victims costs as much as some thousand decisions, and most searches find nothing. So
// pods that ask for the same are one kind, and a search is made for one pod of it: again only after
// something has changed, and at most every kBetweenSearches. All searches together get
// kCostPerSecond. Kinds for which nothing is left of that wait for a search, without a turn: higher
// priorities first, then each namespace in turn, then those that have waited longest. If a search
// finds victims, the first pod of the kind gets a turn. That turn may search in any case; so may
// the turn of a pod for which room was being made, and that was to go elsewhere (plans.h): if it
// does not find room there, no other may take what becomes free for it.
#pragma once

#include "scheduler/base/allowance.h"
#include "scheduler/engine/actions/victims.h"
#include "scheduler/engine/decision.h"
#include "scheduler/engine/finder/finder.h"
#include "scheduler/engine/line/holds.h"
#include "scheduler/engine/line/quota_search.h"
#include "scheduler/engine/plans/plans.h"
#include "scheduler/engine/world/world.h"
#include "scheduler/queue/queues.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace sched {

// The parts of the engine that it uses; they outlive it.
struct PreemptParts {
  World& world_;
  Finder& finder_;
  Queues& queue_;
  Holds& holds_;
  const QuotaSearch& search_;
  AssumedPods& assumed_;
  Plans& plans_;
  const PodGroups& groups_;
};

class Preempt : private PreemptParts {
 public:
  explicit Preempt(const PreemptParts& parts)
      : PreemptParts(parts), victims_(world_, finder_, holds_, plans_, groups_) {}

  // The pod had its turn and was refused as `told` says. Makes room for it, if that is possible; if
  // not, adds to the report why.
  [[nodiscard]] Decision attempt(WaitingPod& pod, decision::Unschedulable told, Time now);
  // Gives a turn to pods for which there were no victims, and there are some now.
  void wake(Time now);
  // When wake() will have something to do; nullopt: not before an event.
  [[nodiscard]] std::optional<Time> next() const;

 private:
  static constexpr std::chrono::seconds kBetweenSearches{2};
  // The time between two checks of which kinds may be searched for.
  static constexpr std::chrono::milliseconds kBetweenLooks{100};
  // The time after which it is looked again whether constraints refuse all pods of a kind.
  static constexpr std::chrono::seconds kBetweenRefusals{10};
  // The cost of all searches, in the unit of victims.cc (nodes looked at): about a tenth of a
  // processor.
  static constexpr std::int64_t kCostPerSecond = 5'000'000;
  // In the same unit: the cost of checking whether one kind is due, and of asking about one of its
  // pods whether constraints refuse it.
  static constexpr std::size_t kCostOfLook = 100;

  // Namespace, profile, shape, priority, queue, and what rules across nodes read besides. Pods with
  // equal keys could evict the same pods.
  using Key = std::tuple<std::uint64_t, std::size_t, ShapeId, std::int32_t, QueueId, Apart>;
  // What the answer depends on: nodes and their pods, quotas, budgets, what constraints read.
  using Versions = std::array<std::uint64_t, 4>;
  // Waiting pods with equal keys, for which no room and no victims are known.
  struct Kind {
    ShapeRef shape;  // so that their ids stay the same
    PodClassRef pod_class;
    std::map<QueueOrder, std::string> pods;  // their uids; some pods may be gone
    std::size_t pruned_at = 0;               // the size of `pods` after the last prune()
    std::string words = "not tried yet.";
    std::optional<Versions>
        seen{};                // by the last search; nullopt: there was none, or it found some
    Time until = Time::max();  // the answer ends then, even if nothing changes
    Time searched{};           // last; or when it began to wait for that
    Time again{};              // no search before, nor is it asked whether constraints refuse them
    // The name of the node at which the next search goes on; empty: it begins at the first node.
    // And the versions when the first of these searches began.
    std::string from;
    Versions begun{};
    std::string has_turn;  // uid of the pod for which the last search found victims
  };
  using Kinds = std::map<Key, Kind>;

  // Whether evictions could help the pod, which was refused.
  [[nodiscard]] bool could_help(const WaitingPod& pod) const;
  [[nodiscard]] Key key_of(const WaitingPod& pod);
  // The kind of the pod, which is one of its pods from now on.
  [[nodiscard]] Kind& kind_of(const WaitingPod& pod, Time now);
  // Whether the kind's last search would find the same now.
  [[nodiscard]] bool is_current(const Kind& kind, Time now) const {
    return kind.seen == versions() && now < kind.until;
  }
  // When the kind may be searched for, though nothing changes; Time::max(): never.
  [[nodiscard]] Time due(const Kind& kind, Time now) const {
    return is_current(kind, now) ? std::max(kind.until, kind.again) : kind.again;
  }
  [[nodiscard]] Versions versions() const {
    return {world_.nodes.changes().end(), world_.ledger.version(), world_.budgets.version(),
            queue_.changes().others};
  }
  [[nodiscard]] VictimSearch::Found search(Kind& kind, WaitingPod& pod, Time now);
  // The victims on the node that the pod is nominated for, if some are being deleted: that was
  // begun before, by another process for example. It goes on even where no search may be made,
  // because others would get what becomes free meanwhile.
  [[nodiscard]] std::optional<Victims> begun_for(const WaitingPod& pod, Time now);
  [[nodiscard]] decision::Evict evict(WaitingPod& pod, const Victims& victims,
                                      const decision::Unschedulable& told, Time now);
  // The pod, if it still waits and evictions could help it; else null.
  [[nodiscard]] WaitingPod* find(const std::string& uid) const;
  // The first pod of the kind that no constraint refuses; null: none. Nobody is evicted for a pod
  // that could not be placed anyway, because its claim is missing, for example. `refused`:
  // increased by the pods that are refused.
  [[nodiscard]] WaitingPod* first_of(Kind& kind, std::size_t& refused) const;
  // The same among the pods that are still of that kind. A pod that asks for something else by now
  // is none of them: victims for it say nothing of the others. It is of its present kind from now
  // on, which is added to `others`. `looked_at`: increased by the pods that are refused, or of
  // another kind.
  [[nodiscard]] WaitingPod* first_of_its_own(Kinds::iterator kind,
                                             std::vector<Kinds::iterator>& others,
                                             std::size_t& looked_at, Time now);
  [[nodiscard]] static bool is_refused(const WaitingPod& pod);
  // Whether its pod with victims still waits for its turn.
  [[nodiscard]] bool has_turn(const Kind& kind) const;
  // Erases the pods that are gone, if there may be many.
  void prune(Kind& kind) const;
  // Puts kinds into the order in which they are searched for.
  void sort(std::vector<Kinds::iterator>& kinds) const;

  VictimSearch victims_;
  Kinds kinds_;
  Time last_look_{};
  std::optional<Versions> looked_at_;  // what was there at the last look; nullopt: there was none
  bool some_wait_ = false;             // because the last look ran out of cost
  Time due_ = Time::max();             // the next look, though nothing changes
  Allowance searches_{kCostPerSecond};
};

}  // namespace sched
