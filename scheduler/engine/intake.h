// Events → the world and the queue. Events may repeat, come late or overtake each other: two
// watches and the outcomes of binds are not ordered among each other.
#pragma once

#include "scheduler/base/event.h"
#include "scheduler/engine/backoffs/node_backoffs.h"
#include "scheduler/engine/line/pod_groups.h"
#include "scheduler/engine/line/waking.h"
#include "scheduler/engine/notices/foreign_gpu_pods.h"
#include "scheduler/engine/notices/misnamed_schedulers.h"
#include "scheduler/engine/notices/node_complaints.h"
#include "scheduler/engine/plans/plans.h"
#include "scheduler/engine/world/world.h"
#include "scheduler/queue/queues.h"

#include <cstddef>
#include <string>
#include <vector>

namespace sched {

// The parts of the engine that it uses; they outlive it.
struct IntakeParts {
  World& world_;
  Queues& queue_;
  Waking& waking_;
  PodGroups& groups_;
  Plans& plans_;
  NodeBackoffs& backoffs_;
  ForeignGpuPods& foreign_;
  MisnamedSchedulers& misnamed_;
  NodeComplaints& complaints_;
};

class Intake : private IntakeParts {
 public:
  explicit Intake(const IntakeParts& parts) : IntakeParts(parts) {}

  void apply(Event&& event, Time now);
  // Ends the back-offs of nodes, and what is awaited from nodes, that are over by `now`.
  void advance(Time now);

  // Whether Synced has come: before that nothing is decided.
  [[nodiscard]] bool synced() const { return synced_; }

 private:
  void on(const event::NodeUpserted& event, Time now);
  void on(const event::NodeDeleted& event, Time now);
  void on(event::PodUpserted&& event, Time now);
  void on(const event::PodDeleted& event, Time now);
  void on(const event::NamespaceUpserted& event, Time now);
  void on(const event::NamespaceDeleted& event, Time now);
  void on(event::DisruptionBudgetUpserted&& event, Time now);
  void on(const event::DisruptionBudgetDeleted& event, Time now);
  void on(const event::DisruptionBudgetsReadable& event, Time now);
  void on(const event::QuotaUpserted& event, Time now);
  void on(const event::QuotaDeleted& event, Time now);
  void on(const event::PodRejected& event, Time now);
  void on(const event::QuotaRemembered& event, Time now);
  void on(const event::Synced& event, Time now);
  void on(const event::Prepared& event, Time now);
  void on(const event::BindSucceeded& event, Time now);
  void on(const event::BindFailed& event, Time now);
  // Objects that only constraints read.
  template <typename Object>
  void on(const event::Upserted<Object>& event, Time now);
  template <typename Object>
  void on(const event::Deleted<Object>& event, Time now);

  // The pods that run on a node keep the GPUs that are awaited from it, so they count as before.
  [[nodiscard]] quota::ChargeClassId charge_class_of(const NodeFacts& facts);
  // Makes these the facts of the node. True if they have changed.
  bool publish(NodeFacts facts);
  void pod_bound(const k8s::Pod& pod, Time now);
  void pod_waits(k8s::Pod pod, std::size_t profile, Time now);
  void pod_changed(PodRecord& record, k8s::Pod pod, Time now);
  void pod_gone(const std::string& uid);
  void take_over(WaitingPod& waiting, k8s::Pod pod);
  // Which devices a bound pod takes, if devices are chosen one by one: those that it had, else any.
  [[nodiscard]] std::vector<gpu::DeviceShare> devices_of_bound(const k8s::Pod& pod,
                                                               const PodRecord& record,
                                                               NodeSlot node);
  void enqueue(WaitingPod& waiting, QueueEvent event = QueueEvent::kPodAdd);
  void leave_queue(WaitingPod& waiting);
  void note_foreign(const k8s::Pod& pod, NodeSlot node, const Claim& claim);
  void note_misnamed(const k8s::Pod& pod);

  bool synced_ = false;
};

}  // namespace sched
