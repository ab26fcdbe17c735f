// The account of a run: it gets the events of a run, in the order of time, and computes a Result.
//
// It does not depend on what decides. A replay gives it an engine's decisions, a recording the
// decisions that were made on a live cluster, so that both are measured in the same way.
//
// With `over_time`, shares are averages over time, from `measure_from` to the end, and counts are
// of the pods that came in that window. Otherwise no pod leaves, and the run is measured by how
// much GPU has arrived; a pod arrives when it is first decided on.
#pragma once

#include "bench/replay/account/figures.h"
#include "bench/replay/account/group_uses.h"
#include "bench/replay/account/kind_of_pod.h"
#include "bench/replay/account/levels.h"
#include "bench/replay/account/occupancy.h"
#include "bench/replay/account/percent_steps.h"
#include "bench/replay/account/refused_kinds.h"
#include "bench/replay/account/time_steps.h"
#include "bench/replay/account/waits.h"
#include "bench/replay/result.h"
#include "bench/replay/trace/trace.h"
#include "scheduler/framework/cluster_context.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench::replay {

struct AccountOptions {
  bool over_time = false;
  Moment measure_from{0};
  Moment horizon{0};  // expected end of the run; only over time
  // % arrived, or % of the horizon. If the run ends earlier, its end is used for those that are
  // missing.
  std::vector<double> snapshots_at = {};
  std::vector<sched::TypicalPod> typical_pods = {};  // for these free GPU is judged
};

class Account {
 public:
  // Of a pod, given by the caller: 0, 1, 2, …
  using PodId = std::size_t;

  explicit Account(AccountOptions options);

  // Nothing changed up to `now`, which never decreases. The following events happen then.
  void advance(Moment now);

  // Pods that are said to be on it may have come before: in a recording the order of kinds is any.
  void node_upserted(const sched::NodeFacts& facts);
  void node_gone(std::string_view name) { occupancy_.erase_node(name); }

  // `kind` outlives the account.
  void came(PodId pod, const KindOfPod& kind);
  // On `node`. `devices` from the decision; empty if they are only counted.
  void placed(PodId pod, const std::string& node,
              const std::vector<sched::gpu::DeviceShare>& devices);
  // The pod had its node before the run began, without a wait. Instead of placed().
  void was_there(PodId pod, const std::string& node);
  // The pod finds no node, and waits.
  void waits(PodId pod, std::string_view message, std::string_view details);
  // The pod is refused for good.
  void refused(PodId pod, std::string_view message, std::string_view details);
  // The pod is gone, wherever it was. No effect for pods that never came or are gone already.
  void left(PodId pod);

  // The pod never came.
  [[nodiscard]] bool is_new(PodId pod) const {
    return pod >= pods_.size() || is(pod, State::kUnknown);
  }
  [[nodiscard]] bool is_waiting(PodId pod) const { return is(pod, State::kWaiting); }
  [[nodiscard]] bool is_placed(PodId pod) const { return is(pod, State::kPlaced); }

  // The result so far, without the names of what was run.
  [[nodiscard]] Result result() const;

 private:
  enum class State : std::uint8_t { kUnknown, kWaiting, kPlaced, kRefused, kGone };
  struct Pod {
    const KindOfPod* kind = nullptr;
    State state = State::kUnknown;
    bool counted = false;    // as arrived
    bool in_window = false;  // came in the window
    Moment came{0};
    std::optional<Occupancy::Place> place = {};
  };

  [[nodiscard]] bool is(PodId pod, State state) const {
    return pod < pods_.size() && pods_[pod].state == state;
  }
  void begins_to_wait(const Pod& pod);
  void waits_no_longer(const Pod& pod);
  void take(PodId id, const std::string& node, const std::vector<sched::gpu::DeviceShare>& devices);
  // Gives a placed pod its place. False: no node of that name was ever seen.
  bool occupy(Pod& pod, const std::string& node,
              const std::vector<sched::gpu::DeviceShare>& devices);
  void count_arrival(Pod& pod);
  void decided(Pod& pod);
  void pass(Moment to);
  // The progress of the run: % arrived, or % of the horizon.
  [[nodiscard]] double progress() const;
  void take_snapshots(double x);
  // `at` is such a percentage.
  [[nodiscard]] Snapshot snapshot(double at) const;
  [[nodiscard]] Levels levels() const;
  [[nodiscard]] Outcome outcome(const std::vector<Step>& steps) const;
  // Those of placed pods, and of pods that still wait as long as they have so far.
  [[nodiscard]] Waits all_waits() const;
  void add_waits(Result& result) const;
  void add_groups(Result& result) const;

  AccountOptions options_;
  Occupancy occupancy_;
  Moment now_{0};
  std::vector<Pod> pods_;
  std::map<std::string, std::vector<PodId>> on_unseen_nodes_;  // placed, without a place so far
  std::size_t waiting_pods_ = 0;
  std::int64_t waiting_gpu_ = 0;  // that these ask for

  // Over the whole run.
  std::size_t arrivals_ = 0;
  std::int64_t asked_ = 0;
  std::int64_t refused_ = 0;
  // Of the pods that came in the window.
  Outcome window_;
  LevelsOverTime over_window_;
  Waits waits_;  // of placed pods; over time only

  PercentSteps percent_steps_;
  TimeSteps time_steps_;
  GroupUses by_namespace_;
  GroupUses by_product_;
  RefusedKinds refused_kinds_;
  std::vector<Snapshot> snapshots_;
  std::size_t next_snapshot_ = 0;  // in options_.snapshots_at
  double last_snapshot_ = -1;      // progress at the last snapshot
};

}  // namespace bench::replay
