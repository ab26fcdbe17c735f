// The figures of GPUs and quotas, which the engine knows: a part of Metrics, in the same registry.
#pragma once

#include "scheduler/engine/engine.h"
#include "scheduler/server/metric_families.h"

#include <array>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace sched::server {

// Thread-safe, but for quotas(), which has one caller.
class GpuMetrics {
 public:
  // `registry` outlives it.
  explicit GpuMetrics(prometheus::Registry& registry) : registry_(registry) {}

  // As the functions of Metrics.
  void quotas(const QuotaNews& news);
  void figures(const GpuFigures& figures);
  void totals(const GpuTotals& totals, Time now);
  void no_totals();
  void node_complaints(std::size_t nodes);

 private:
  using Gauges = prometheus::Family<prometheus::Gauge>;

  prometheus::Registry& registry_;
  Gauges& quota_gpus_ =
      gauges(registry_, "gpu_scheduler_quota_gpus",
             "GPUs of each line of each GpuQuota: guaranteed, used (of which borrowed), lent to "
             "others, asked for by waiting pods.");
  Gauges& quota_problems_ =
      gauges(registry_, "gpu_scheduler_quota_problems",
             "1 where the condition of a GpuQuota's status says that something is wrong: Ready is "
             "False, or another is True.");
  Gauges& head_wait_ =
      gauges(registry_, "gpu_scheduler_quota_head_wait_seconds",
             "How long the first pod in the quota's line has waited; 0: none waits.");
  Gauges& quota_holds_ =
      gauges(registry_, "gpu_scheduler_quota_holds",
             "Pods of the quota that have waited long and for which something is held.");
  prometheus::Gauge& nodes_backed_off_ =
      gauges(registry_, "gpu_scheduler_nodes_backed_off",
             "Nodes that get no pods with devices, since they rejected too many of them.")
          .Add({});
  prometheus::Counter& rejected_pods_ =
      counters(registry_, "gpu_scheduler_rejected_pods_total",
               "Pods with devices that failed before they began: rejected by their kubelet.")
          .Add({});
  prometheus::Gauge& repartitions_ = gauges(registry_, "gpu_scheduler_mig_repartitions_advised",
                                            "Nodes that another nvidia.com/mig.config would help.")
                                         .Add({});
  prometheus::Gauge& repartition_pods_ =
      gauges(registry_, "gpu_scheduler_mig_repartition_pods",
             "Pending pods that the advised configurations would place.")
          .Add({});
  Gauges& gpus_ =
      gauges(registry_, "gpu_scheduler_gpus",
             "GPUs by type, form and state: used, held, free, or free on nodes that are cordoned, "
             "backed off, not ready, unhealthy or being repartitioned.");
  Gauges& largest_block_ = gauges(registry_, "gpu_scheduler_gpu_largest_block",
                                  "The most GPUs that are free on one node.");
  Gauges& whole_nodes_ = gauges(registry_, "gpu_scheduler_gpu_whole_nodes_free",
                                "Nodes on which no GPU of that type and form is used or held.");
  Gauges& free_gpus_ =
      gauges(registry_, "gpu_scheduler_free_gpus",
             "Whole GPUs that are free, by whether the pods that typically come could use them.");
  Gauges& namespace_gpus_ =
      gauges(registry_, "gpu_scheduler_namespace_gpus",
             "Pieces of GPUs that pods of a namespace have; of all but the largest under \"\".");
  Gauges& waiting_pods_ =
      gauges(registry_, "gpu_scheduler_waiting_pods",
             "Pods that wait, by queue, by what they wait for, and by the type that they ask for.");
  Gauges& waiting_gpus_ =
      gauges(registry_, "gpu_scheduler_waiting_gpus", "GPUs that the pods ask for that wait.");
  Gauges& oldest_wait_ = gauges(registry_, "gpu_scheduler_oldest_wait_seconds",
                                "How long the pod has waited that has waited longest, by queue.");
  prometheus::Gauge& node_complaints_ =
      gauges(
          registry_, "gpu_scheduler_nodes_with_complaints",
          "Nodes whose GPU labels contradict each other, or that offer fewer GPUs than they have.")
          .Add({});

  // By quota, gpuType, state; by quota and condition. Only quotas() touches them.
  std::map<std::array<std::string, 3>, prometheus::Gauge*> quota_series_;
  std::map<std::array<std::string, 3>, prometheus::Gauge*> problem_series_;

  std::mutex totals_mutex_;  // guards totals_series_
  std::map<std::pair<Gauges*, prometheus::Labels>, prometheus::Gauge*> totals_series_;
};

}  // namespace sched::server
