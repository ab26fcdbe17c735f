// The engine: cluster state, queue and scheduling cycle behind three functions.
//
//   apply(event, now)   gives it an event
//   step(now)           makes the next decision, if there is one to make
//   next_wakeup()       when to call step() again even without an event
//
// It has no clock, does no I/O, starts no threads and takes no locks; it is used from one thread.
// The same sequence of calls gives the same decisions, bit for bit, so a recorded sequence can be
// computed again and a trace can be replayed in virtual time.
//
// The engine carries out a decision to bind in its own state at once (the pod is *assumed* on its
// node), so the next decision sees the node as it will be. The capacity is given back only when the
// bind is known to have failed, or when the pod is found to be deleted or on another node.
#pragma once

#include "scheduler/base/event.h"
#include "scheduler/engine/answers.h"
#include "scheduler/engine/decision.h"
#include "scheduler/engine/options.h"
#include "scheduler/framework/profile.h"
#include "scheduler/queue/entity.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sched {

// How many pods wait in each place; as kube-scheduler's scheduler_pending_pods.
struct PendingPods {
  std::size_t active = 0;
  std::size_t backoff = 0;
  std::size_t unschedulable = 0;
  std::size_t gated = 0;
  friend bool operator==(const PendingPods&, const PendingPods&) = default;
};

// Faults of GPUs and advice, in numbers.
struct GpuFigures {
  std::size_t nodes_backed_off = 0;  // black holes now
  std::uint64_t rejected_pods = 0;   // by kubelets, ever
  std::size_t repartitions = 0;      // nodes that should get another MIG configuration, now
  std::size_t repartition_pods = 0;  // pods that these changes would place
  friend bool operator==(const GpuFigures&, const GpuFigures&) = default;
};

class Engine {
 public:
  Engine(std::vector<Profile> profiles, EngineOptions options);
  ~Engine();
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;

  // `now` never decreases over the calls of apply and step. The engine keeps whole objects of its
  // own waiting pods, so move the event.
  void apply(Event event, Time now);

  // The next decision; nullopt: there is none until an event or next_wakeup().
  [[nodiscard]] std::optional<Decision> step(Time now);

  // When step() may have a decision without an event; nullopt: never.
  [[nodiscard]] std::optional<Time> next_wakeup() const;

  [[nodiscard]] PendingPods pending() const;
  [[nodiscard]] const QueueEntries& queue_entries() const;
  [[nodiscard]] GpuFigures gpu_figures() const;

  // The accounts of all quotas, by name. O(quotas · (lines + shapes that wait) · GPU types).
  [[nodiscard]] std::vector<QuotaStatus> quota_statuses() const;
  // The accounts that may have changed since the last call; at first all. The cost is that of
  // quota_statuses() for these accounts only, and O(lines of a cohort) for each cohort in which the
  // lent amount has changed.
  [[nodiscard]] QuotaNews take_quota_news();
  // The accounts of the quotas that count the pods of the namespace. O(lines of these quotas + pods
  // that wait).
  [[nodiscard]] NamespaceQuotas quotas_of(const std::string& namespace_) const;
  // The use of quotas, by quota, type and namespace. O(pods with GPUs).
  [[nodiscard]] std::vector<QuotaUse> quota_uses() const;
  // What quotas borrow, by pod, the latest loan first. O(pods with GPUs).
  [[nodiscard]] std::vector<BorrowedGpus> borrowed_gpus() const;
  // Grows whenever quota_statuses() may have changed; the same number means the same answer.
  [[nodiscard]] std::uint64_t quota_version() const;

  // How the pod would be judged now if it were pending, in the state that `supposed` describes;
  // pods and nodes named there that do not exist are ignored. Changes nothing. O(nodes).
  [[nodiscard]] Explanation explain(const k8s::Pod& pod, const Supposed& supposed = {}) const;
  // The same, but nodes that refuse for the same reasons share one text. This takes only a part of
  // the time.
  [[nodiscard]] Explanation explain_alike(const k8s::Pod& pod) const;

  // The nodes that may run the pod, at most `at_most`, the best first; equally good nodes in the
  // order of the profile's tie-break (random: by name). Under a quota, nodes on which the pod is
  // within the guarantee come before nodes on which it would borrow; nodes on which quota has no
  // room are left out. Judged as if the pod held nothing: right after its bind these are the nodes
  // that it was chosen from, except for a node that was held for it. It does not matter whether
  // other pods have their turn before it. Changes nothing. O(nodes).
  [[nodiscard]] std::vector<Candidate> candidates(const k8s::Pod& pod, std::size_t at_most,
                                                  const Supposed& supposed = {}) const;

  // What would make room for the pod, judged as if it held nothing. Quotas and taints are as they
  // are now, and so are rules across nodes in the search; pods are named only if the rules would
  // let the pod in after these have ended. Empty for a pod that is refused as a whole. O(pods on
  // nodes that would take it if they were empty).
  [[nodiscard]] RoomFor room_for(const k8s::Pod& pod) const;
  // Changes to a pod that no node takes; each of them alone would be enough. A change leaves out a
  // line of its nodeSelector, an annotation about GPUs, or its required node affinity, or adds
  // tolerations of a node's taints, except passing ones (taints.h). At most three: first those
  // after which a node would take the pod now, then those after which the fewest GPUs would have to
  // be freed. Six changes are tried, and each costs as much as candidates() and room_for().
  [[nodiscard]] std::vector<PodChange> changes_for(const k8s::Pod& pod) const;

  // The nodes with GPUs, by name: without their tenants, which take most of the time / with them.
  // O(nodes + pods there).
  [[nodiscard]] std::vector<GpuNode> gpu_nodes() const;
  [[nodiscard]] std::vector<GpuNode> gpu_nodes_with_tenants() const;
  // One of these with its tenants; nullopt: there is none of that name. O(log nodes + pods there).
  [[nodiscard]] std::optional<GpuNode> gpu_node(const std::string& name) const;
  // The pods of ours that wait, in no order; of that namespace alone, where one is given.
  // O(pods + their shapes).
  [[nodiscard]] std::vector<PodInLine> in_line(std::string_view namespace_ = {}) const;
  // One of them; nullopt: it does not wait. By uid in O(1), by name in O(pods that wait).
  [[nodiscard]] std::optional<PodInLine> find_in_line(const std::string& uid) const;
  [[nodiscard]] std::optional<PodInLine> find_in_line(std::string_view namespace_,
                                                      std::string_view name) const;
  // The pending pods whose schedulerName is at an edit distance of one from a profile's, in the
  // order in which they came; of that namespace alone, where one is given. O(all such pods).
  [[nodiscard]] std::vector<decision::MisnamedScheduler> misnamed(
      std::string_view namespace_ = {}) const;
  // Whether a node of that name exists, or existed and something of it is still stored. O(log
  // nodes).
  [[nodiscard]] bool knows_node(std::string_view name) const;
  // Sums over all GPUs and all waiting pods. O(nodes + pods that wait).
  [[nodiscard]] GpuTotals gpu_totals() const;
  // A pod of ours that waits, by its uid, until the next apply() or step(); null: there is none.
  [[nodiscard]] const k8s::Pod* waiting_pod(const std::string& uid) const;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace sched
