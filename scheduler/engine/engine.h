// The engine: cluster state, queue and scheduling cycle behind three functions.
//
//   apply(event, now)   tells it what happened
//   step(now)           makes the next decision, if there is one to make
//   next_wakeup()       when it wants to be asked again although nothing happened
//
// It has no clock, does no I/O, starts no threads and takes no locks; it is used from one thread.
// The same sequence of calls gives the same decisions, bit for bit, so a recorded sequence can be
// computed again and a trace can be replayed in virtual time.
//
// A decision to bind is carried out at once in the engine's own state (the pod is *assumed* on its
// node), so the next decision sees the node as it will be. The capacity is given back only when the
// bind is known to have failed, or when the pod turns out to be gone or elsewhere.
#pragma once

#include "scheduler/base/event.h"
#include "scheduler/engine/decision.h"
#include "scheduler/engine/options.h"
#include "scheduler/engine/questions/answers.h"
#include "scheduler/framework/profile.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sched {

// A GpuQuota's account as it is now.
struct QuotaStatus {
  std::string name;
  std::string uid;
  k8s::GpuQuota::Status status;  // its conditions without times of transition
  std::string parent{};          // the name of the quota that it is a part of; empty: none
  friend bool operator==(const QuotaStatus&, const QuotaStatus&) = default;
};

// What has changed in the accounts of quotas.
struct QuotaNews {
  std::vector<QuotaStatus> changed;
  std::vector<std::string> gone;  // by name
  // All that a new process is to be told by QuotaRemembered, where that has changed.
  std::optional<std::vector<k8s::GpuQuota>> remember{};
};

// How many pods wait where; kube-scheduler's scheduler_pending_pods.
struct PendingPods {
  std::size_t active = 0;
  std::size_t backoff = 0;
  std::size_t unschedulable = 0;
  std::size_t gated = 0;
  friend bool operator==(const PendingPods&, const PendingPods&) = default;
};

// What is the matter with GPUs, in numbers.
struct GpuFigures {
  std::size_t nodes_backed_off = 0;  // black holes, now
  std::uint64_t rejected_pods = 0;   // by kubelets, ever
  std::size_t repartitions = 0;      // nodes whose MIG configuration is advised to change, now
  std::size_t repartition_pods = 0;  // pods that these would place
  friend bool operator==(const GpuFigures&, const GpuFigures&) = default;
};

// Why (or that) a pod may run on one node, in words: for explain and for comparison with upstream.
struct NodeExplanation {
  std::string node;
  Code code = Code::kOk;
  std::string plugin;                // who said no first; empty when ok
  std::vector<std::string> reasons;  // in kube-scheduler's words, sorted
  std::vector<std::string> numbers;  // the numbers behind them
};
struct Explanation {
  // A refusal of the pod as a whole, before any node was asked.
  std::optional<std::string> rejection_plugin;
  std::optional<std::string> rejection;
  std::vector<NodeExplanation> nodes;  // by name
  std::string message;                 // FitError text; empty when some node fits
  bool by_quota = false;               // the message is the quota's, whatever nodes say
  std::string details;
};

// A node that may run a pod, with its scores.
struct Candidate {
  std::string node;
  std::int64_t total_score = 0;
  std::vector<PluginScore> scores;
  friend bool operator==(const Candidate&, const Candidate&) = default;
};

class Engine {
 public:
  Engine(std::vector<Profile> profiles, EngineOptions options);
  ~Engine();
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;

  // `now` never decreases over the calls of apply and step. Of an object of ours that waits the
  // engine keeps the whole, so an event is best moved here.
  void apply(Event event, Time now);

  // The next decision, or nothing: then there is nothing to decide until an event or next_wakeup().
  [[nodiscard]] std::optional<Decision> step(Time now);

  // When step() may have something to say without an event; nullopt: never.
  [[nodiscard]] std::optional<Time> next_wakeup() const;

  [[nodiscard]] PendingPods pending() const;
  [[nodiscard]] GpuFigures gpu_figures() const;

  // The accounts of all quotas, by name. O(quotas · (lines + shapes that wait) · GPU types).
  [[nodiscard]] std::vector<QuotaStatus> quota_statuses() const;
  // Those that may have changed since this was last asked; at first all. The same for those alone,
  // and O(lines of a cohort) for each cohort that lends or borrows more or less.
  [[nodiscard]] QuotaNews take_quota_news();
  // Grows whenever quota_statuses() may have changed; the same number means the same answer.
  [[nodiscard]] std::uint64_t quota_version() const;

  // How the pod would be judged now, if it were pending; changes nothing. O(nodes).
  [[nodiscard]] Explanation explain(const k8s::Pod& pod) const;

  // The nodes that may run the pod, the best first, in the order of the profile's tie-break where
  // they are as good as each other (random: by name); `at_most` of them. Under a quota those on
  // which the pod is within the guarantee come before those on which it would borrow; none where
  // quota has no room. Judged as if the pod held nothing: right after its bind these are the nodes
  // it was chosen from, but for a node that was held for it. Whether others have their turn before
  // it is not asked. Changes nothing. O(nodes).
  [[nodiscard]] std::vector<Candidate> candidates(const k8s::Pod& pod, std::size_t at_most) const;

  // What would make room for the pod, judged as if it held nothing. Quotas, taints and rules across
  // nodes are as they are now. Empty for a pod that is refused as a whole. O(pods on nodes that
  // would take it if they were empty).
  [[nodiscard]] RoomFor room_for(const k8s::Pod& pod) const;

  // The nodes with GPUs, by name. O(nodes + pods there).
  [[nodiscard]] std::vector<GpuNode> gpu_nodes() const;
  // The pods of ours that wait, in no order. O(pods + their shapes).
  [[nodiscard]] std::vector<PodInLine> in_line() const;
  // Both in sums. O(nodes + pods that wait).
  [[nodiscard]] GpuTotals gpu_totals() const;
  // A pod of ours that waits, by its uid, until the next apply() or step(); null: there is none.
  [[nodiscard]] const k8s::Pod* waiting_pod(const std::string& uid) const;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace sched
