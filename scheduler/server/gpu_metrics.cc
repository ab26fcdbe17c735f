#include "scheduler/server/gpu_metrics.h"

#include <algorithm>
#include <utility>

namespace sched::server {

namespace {

using prometheus::Family;
using prometheus::Gauge;

const char* label_of(GpuTotals::Queue queue) {
  switch (queue) {
    case GpuTotals::Queue::kBackoff:
      return "backoff";
    case GpuTotals::Queue::kUnschedulable:
      return "unschedulable";
    case GpuTotals::Queue::kGated:
      return "gated";
    case GpuTotals::Queue::kActive:
      break;
  }
  return "active";
}

const char* label_of(GpuTotals::Reason reason) {
  switch (reason) {
    case GpuTotals::Reason::kBackoff:
      return "backoff";
    case GpuTotals::Reason::kGates:
      return "gates";
    case GpuTotals::Reason::kQuota:
      return "quota";
    case GpuTotals::Reason::kQuotaChange:
      return "quota_change";
    case GpuTotals::Reason::kNever:
      return "never";
    case GpuTotals::Reason::kRules:
      return "rules";
    case GpuTotals::Reason::kGroup:
      return "group";
    case GpuTotals::Reason::kNode:
      return "node";
    case GpuTotals::Reason::kTurn:
      break;
  }
  return "turn";
}

// By FreeGpuCause.
constexpr std::array<const char*, kFreeGpuCauses> kUses{
    "lack_both", "lack_gpu", "usable", "lack_cpu", "no_gpu_asked", "no_gpu_asked_lack_cpu",
    "no_access"};

}  // namespace

void GpuMetrics::quotas(const QuotaNews& news) {
  using Series = std::map<std::array<std::string, 3>, Gauge*>;
  const auto take_those_of = [](Series& all, const std::string& quota) {
    Series series;
    auto next = all.lower_bound({quota, "", ""});
    while (next != all.end() && next->first[0] == quota) series.insert(all.extract(next++));
    return series;
  };
  const auto remove = [](Family<Gauge>& family, const Series& series) {
    for (const auto& [key, gauge] : series) family.Remove(gauge);
  };
  for (const QuotaStatus& quota : news.changed) {
    Series stale = take_those_of(quota_series_, quota.name);
    const auto set = [&](const std::string& type, const char* state, const k8s::Quantity& amount) {
      const std::array<std::string, 3> key{quota.name, type, state};
      const auto known = stale.extract(key);
      Gauge* gauge =
          known ? known.mapped()
                : &quota_gpus_.Add({{"quota", quota.name}, {"gpu_type", type}, {"state", state}});
      gauge->Set(static_cast<double>(amount.milli_value()) / 1000);
      quota_series_[key] = gauge;
    };
    for (const auto& [type, use] : quota.status.quotas) {
      set(type, "guaranteed", use.guaranteed);
      set(type, "used", use.used);
      set(type, "borrowed", use.borrowed);
      set(type, "lent", use.lent);
      set(type, "pending", use.pending);
    }
    remove(quota_gpus_, stale);
    for (const k8s::Condition& condition : quota.status.conditions) {
      const bool is_problem = condition.status == (condition.type == "Ready" ? "False" : "True");
      Gauge*& gauge = problem_series_[{quota.name, condition.type, ""}];
      if (gauge == nullptr) {
        gauge = &quota_problems_.Add({{"quota", quota.name}, {"condition", condition.type}});
      }
      gauge->Set(is_problem ? 1 : 0);
    }
  }
  for (const std::string& quota : news.gone) {
    remove(quota_gpus_, take_those_of(quota_series_, quota));
    remove(quota_problems_, take_those_of(problem_series_, quota));
  }
}

void GpuMetrics::figures(const GpuFigures& figures) {
  nodes_backed_off_.Set(static_cast<double>(figures.nodes_backed_off));
  raise_to(rejected_pods_, figures.rejected_pods);
  repartitions_.Set(static_cast<double>(figures.repartitions));
  repartition_pods_.Set(static_cast<double>(figures.repartition_pods));
}

void GpuMetrics::no_totals() {
  const std::lock_guard lock(totals_mutex_);
  for (const auto& [key, gauge] : std::exchange(totals_series_, {})) key.first->Remove(gauge);
}

void GpuMetrics::totals(const GpuTotals& totals, Time now) {
  const std::lock_guard lock(totals_mutex_);
  auto stale = std::exchange(totals_series_, {});
  const auto set = [&](Family<Gauge>& family, const prometheus::Labels& labels, double value) {
    const std::pair key(&family, labels);
    const auto known = stale.extract(key);
    Gauge* gauge = known ? known.mapped() : &family.Add(labels);
    gauge->Set(value);
    totals_series_[key] = gauge;
  };
  for (const GpuTotals::Form& form : totals.forms) {
    const prometheus::Labels labels{{"gpu_type", form.type}, {"form", form.form}};
    const auto in_state = [&](const char* state, std::int64_t gpus) {
      prometheus::Labels all = labels;
      all["state"] = state;
      set(gpus_, all, static_cast<double>(gpus));
    };
    in_state("used", form.used);
    in_state("held", form.held);
    in_state("free", form.free);
    for (const GpusClosed closed :
         {GpusClosed::kCordoned, GpusClosed::kBackedOff, GpusClosed::kNotReady,
          GpusClosed::kMigChange, GpusClosed::kUnhealthy}) {
      const auto gpus = form.closed.find(closed);
      in_state(to_string(closed), gpus == form.closed.end() ? 0 : gpus->second);
    }
    set(largest_block_, labels, static_cast<double>(form.largest_block));
    set(whole_nodes_, labels, static_cast<double>(form.whole_nodes_free));
  }
  using Queue = GpuTotals::Queue;
  std::map<Queue, Time> oldest = {{Queue::kActive, now},
                                  {Queue::kBackoff, now},
                                  {Queue::kUnschedulable, now},
                                  {Queue::kGated, now}};
  for (const auto& [key, waiting] : totals.waiting) {
    const prometheus::Labels labels{
        {"queue", label_of(key.queue)}, {"reason", label_of(key.reason)}, {"gpu_type", key.type}};
    set(waiting_pods_, labels, static_cast<double>(waiting.pods));
    set(waiting_gpus_, labels, static_cast<double>(waiting.gpus));
    oldest[key.queue] = std::min(oldest[key.queue], waiting.oldest);
  }
  for (const auto& [queue, since] : oldest) {
    set(oldest_wait_, {{"queue", label_of(queue)}}, seconds(now - since));
  }
  for (const auto& [type, causes] : totals.free_by_cause) {
    for (std::size_t cause = 0; cause < causes.size(); ++cause) {
      set(free_gpus_, {{"gpu_type", type}, {"use", kUses[cause]}}, causes[cause]);
    }
  }
  for (const auto& [name, gpus] : totals.namespaces) {
    set(namespace_gpus_, {{"namespace", name}}, static_cast<double>(gpus));
  }
  set(namespace_gpus_, {{"namespace", ""}}, static_cast<double>(totals.other_namespaces));
  for (const auto& [name, quota] : totals.quotas) {
    set(head_wait_, {{"quota", name}}, quota.since ? seconds(now - *quota.since) : 0);
    set(quota_holds_, {{"quota", name}}, static_cast<double>(quota.holds));
  }
  for (const auto& [key, gauge] : stale) key.first->Remove(gauge);
}

void GpuMetrics::node_complaints(std::size_t nodes) {
  node_complaints_.Set(static_cast<double>(nodes));
}

}  // namespace sched::server
