#include "scheduler/server/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

namespace sched::server {

namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;
using Buckets = Histogram::BucketBoundaries;

Buckets doubling(double first, int count) {
  Buckets buckets;
  for (int i = 0; i < count; ++i, first *= 2) buckets.push_back(first);
  return buckets;
}

double seconds(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

constexpr std::array<std::string_view, 3> kResults{"scheduled", "unschedulable", "error"};

// Upstream's label values: "1" … "14", "15+".
constexpr int kMostAttempts = 15;
std::string attempts_label(int attempts) {
  return attempts >= kMostAttempts ? "15+" : std::to_string(attempts);
}

// For totals that are counted elsewhere.
void raise_to(Counter& counter, std::uint64_t total) {
  const double missing = static_cast<double>(total) - counter.Value();
  if (missing > 0) counter.Increment(missing);
}

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
    case GpuTotals::Reason::kRules:
      return "rules";
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

// By QueueEvent. kube-scheduler has all but PodUpdate, ObjectChange and QuotaChange.
constexpr std::array<const char*, kQueueEvents> kEvents{"PodAdd",
                                                        "PodUpdate",
                                                        "ScheduleAttemptFailure",
                                                        "BackoffComplete",
                                                        "UnschedulableTimeout",
                                                        "ObjectChange",
                                                        "QuotaChange"};

// By QueuePlace. kNone is no queue, and kRefused counts as kParked.
constexpr std::array<const char*, kQueuePlaces> kQueues{nullptr,         "active", "backoff",
                                                        "unschedulable", nullptr,  "gated"};

// The HTTP method behind a Kubernetes verb.
std::string method_of(std::string_view verb) {
  return verb == "LIST" || verb == "WATCH" ? "GET" : std::string(verb);
}

}  // namespace

struct Metrics::Families {
  struct Attempts {
    Counter* count;
    Histogram* duration;
  };
  struct Requests {
    Counter* count;
    Histogram* duration;
  };

  prometheus::Registry registry;
  Family<Counter>& attempts = prometheus::BuildCounter()
                                  .Name("scheduler_schedule_attempts_total")
                                  .Help("Attempts to schedule pods, by result.")
                                  .Register(registry);
  Family<Histogram>& attempt_durations =
      prometheus::BuildHistogram()
          .Name("scheduler_scheduling_attempt_duration_seconds")
          .Help("Duration of an attempt: the decision, and the bind if there was one.")
          .Register(registry);
  Family<Gauge>& pending_pods = prometheus::BuildGauge()
                                    .Name("scheduler_pending_pods")
                                    .Help("Pending pods, by the queue that they wait in.")
                                    .Register(registry);
  Family<Histogram>& attempts_per_pod = prometheus::BuildHistogram()
                                            .Name("scheduler_pod_scheduling_attempts")
                                            .Help("Attempts that a bound pod took.")
                                            .Register(registry);
  Family<Histogram>& sli_durations =
      prometheus::BuildHistogram()
          .Name("scheduler_pod_scheduling_sli_duration_seconds")
          .Help("Time from the first sight of a pending pod to its bind, by number of attempts.")
          .Register(registry);
  Family<Counter>& requests =
      prometheus::BuildCounter()
          .Name("rest_client_requests_total")
          .Help("API requests, by verb and status code; <error>: no answer.")
          .Register(registry);
  Family<Histogram>& request_durations = prometheus::BuildHistogram()
                                             .Name("rest_client_request_duration_seconds")
                                             .Help("Duration of API requests, by verb.")
                                             .Register(registry);
  Family<Counter>& events = prometheus::BuildCounter()
                                .Name("gpu_scheduler_events_total")
                                .Help("Kubernetes events: written, joined to a series, dropped.")
                                .Register(registry);

  Family<Histogram>& extension_points =
      prometheus::BuildHistogram()
          .Name("scheduler_framework_extension_point_duration_seconds")
          .Help("Duration of the calls that bind pods (Bind) and prepare that (PreBind).")
          .Register(registry);
  Family<Counter>& incoming = prometheus::BuildCounter()
                                  .Name("scheduler_queue_incoming_pods_total")
                                  .Help("Pods that have entered a queue, by queue and event.")
                                  .Register(registry);
  Family<Counter>& refusals =
      prometheus::BuildCounter()
          .Name("gpu_scheduler_refusals_total")
          .Help("Decisions that a pod cannot be placed, by each plugin that refused it.")
          .Register(registry);
  Counter& foreign_gpu_pods =
      prometheus::BuildCounter()
          .Name("gpu_scheduler_foreign_gpu_pods_total")
          .Help("Pods of other schedulers that took GPUs on nodes that a profile owns.")
          .Register(registry)
          .Add({});
  Family<Gauge>& watch_age =
      prometheus::BuildGauge()
          .Name("gpu_scheduler_watch_age_seconds")
          .Help("How long ago the watch of that kind was last known to be up to date.")
          .Register(registry);

  Family<Gauge>& quota_gpus =
      prometheus::BuildGauge()
          .Name("gpu_scheduler_quota_gpus")
          .Help(
              "GPUs of each line of each GpuQuota: guaranteed, used (of which borrowed), lent to "
              "others, asked for by waiting pods.")
          .Register(registry);
  Family<Gauge>& quota_problems =
      prometheus::BuildGauge()
          .Name("gpu_scheduler_quota_problems")
          .Help(
              "1 where the condition of a GpuQuota's status says that something is wrong: Ready is "
              "False, or another is True.")
          .Register(registry);
  Family<Gauge>& head_wait =
      prometheus::BuildGauge()
          .Name("gpu_scheduler_quota_head_wait_seconds")
          .Help("How long the first pod in the quota's line has waited; 0: none waits.")
          .Register(registry);
  Family<Gauge>& quota_holds =
      prometheus::BuildGauge()
          .Name("gpu_scheduler_quota_holds")
          .Help("Pods of the quota that have waited long and for which something is held.")
          .Register(registry);
  Family<Gauge>& nodes_backed_off =
      prometheus::BuildGauge()
          .Name("gpu_scheduler_nodes_backed_off")
          .Help("Nodes that get no pods with devices, since they rejected too many of them.")
          .Register(registry);
  Family<Counter>& rejected_pods =
      prometheus::BuildCounter()
          .Name("gpu_scheduler_rejected_pods_total")
          .Help("Pods with devices that failed before they began: rejected by their kubelet.")
          .Register(registry);
  Family<Gauge>& repartitions = prometheus::BuildGauge()
                                    .Name("gpu_scheduler_mig_repartitions_advised")
                                    .Help("Nodes that another nvidia.com/mig.config would help.")
                                    .Register(registry);
  Family<Gauge>& repartition_pods =
      prometheus::BuildGauge()
          .Name("gpu_scheduler_mig_repartition_pods")
          .Help("Pending pods that the advised configurations would place.")
          .Register(registry);
  Family<Gauge>& gpus = prometheus::BuildGauge()
                            .Name("gpu_scheduler_gpus")
                            .Help(
                                "GPUs by type, form and state: used, held, free, or free on nodes "
                                "that are cordoned, backed off, not ready or being cut anew.")
                            .Register(registry);
  Family<Gauge>& largest_block = prometheus::BuildGauge()
                                     .Name("gpu_scheduler_gpu_largest_block")
                                     .Help("The most GPUs that are free on one node.")
                                     .Register(registry);
  Family<Gauge>& whole_nodes = prometheus::BuildGauge()
                                   .Name("gpu_scheduler_gpu_whole_nodes_free")
                                   .Help("Nodes on which no GPU of that type and form is used.")
                                   .Register(registry);
  Family<Gauge>& free_gpus =
      prometheus::BuildGauge()
          .Name("gpu_scheduler_free_gpus")
          .Help("Whole GPUs that are free, by whether the pods that typically come could use them.")
          .Register(registry);
  Family<Gauge>& namespace_gpus =
      prometheus::BuildGauge()
          .Name("gpu_scheduler_namespace_gpus")
          .Help("Pieces of GPUs that pods of a namespace have; of all but the largest under \"\".")
          .Register(registry);
  Family<Gauge>& waiting_pods =
      prometheus::BuildGauge()
          .Name("gpu_scheduler_waiting_pods")
          .Help(
              "Pods that wait, by queue, by what they wait for, and by the type that they ask for.")
          .Register(registry);
  Family<Gauge>& waiting_gpus = prometheus::BuildGauge()
                                    .Name("gpu_scheduler_waiting_gpus")
                                    .Help("GPUs that the pods ask for that wait.")
                                    .Register(registry);
  Family<Gauge>& oldest_wait =
      prometheus::BuildGauge()
          .Name("gpu_scheduler_oldest_wait_seconds")
          .Help("How long the pod has waited that has waited longest, by queue.")
          .Register(registry);
  Family<Counter>& cpu_seconds = prometheus::BuildCounter()
                                     .Name("process_cpu_seconds_total")
                                     .Help("CPU time of the process, user and system.")
                                     .Register(registry);
  Family<Gauge>& resident_bytes = prometheus::BuildGauge()
                                      .Name("process_resident_memory_bytes")
                                      .Help("Resident memory of the process.")
                                      .Register(registry);
  Family<Gauge>& start_time = prometheus::BuildGauge()
                                  .Name("process_start_time_seconds")
                                  .Help("When the process started, in seconds since 1970.")
                                  .Register(registry);
  Family<Gauge>& open_files = prometheus::BuildGauge()
                                  .Name("process_open_fds")
                                  .Help("Open file descriptors.")
                                  .Register(registry);
  Family<Gauge>& most_open_files = prometheus::BuildGauge()
                                       .Name("process_max_fds")
                                       .Help("How many file descriptors may be open.")
                                       .Register(registry);
  Family<Gauge>& build_info = prometheus::BuildGauge()
                                  .Name("gpu_scheduler_build_info")
                                  .Help("1, with the version of the program.")
                                  .Register(registry);
  Family<Gauge>& node_complaints =
      prometheus::BuildGauge()
          .Name("gpu_scheduler_nodes_with_complaints")
          .Help("Nodes whose GPU labels or amounts contradict themselves; the log says how.")
          .Register(registry);
  Family<Gauge>& unreadable =
      prometheus::BuildGauge()
          .Name("gpu_scheduler_unreadable_objects")
          .Help("Objects of the API that cannot be read and are put aside, by kind.")
          .Register(registry);
  Family<Gauge>& recording =
      prometheus::BuildGauge()
          .Name("gpu_scheduler_recording")
          .Help("1 while --record writes, 0 once it has ended; the log says why.")
          .Register(registry);
  Gauge& last_decision =
      prometheus::BuildGauge()
          .Name("gpu_scheduler_last_decision")
          .Help("The number of the last decision, which log lines and events have as well.")
          .Register(registry)
          .Add({});
  Family<Gauge>& flight_recording =
      prometheus::BuildGauge()
          .Name("gpu_scheduler_flight_recording")
          .Help("1 while the last hour is kept, 0 once its objects alone are too large.")
          .Register(registry);
  Family<Gauge>& flight_bytes = prometheus::BuildGauge()
                                    .Name("gpu_scheduler_flight_recording_bytes")
                                    .Help("Memory of the recording of the last hour.")
                                    .Register(registry);
  Family<Gauge>& flight_seconds = prometheus::BuildGauge()
                                      .Name("gpu_scheduler_flight_recording_seconds")
                                      .Help("How long a time the recording of the last hour spans.")
                                      .Register(registry);
  Family<Counter>& flight_lost =
      prometheus::BuildCounter()
          .Name("gpu_scheduler_flight_recording_lost_total")
          .Help("Events and decisions that came too fast to be recorded.")
          .Register(registry);
  Family<Gauge>& master_status =
      prometheus::BuildGauge()
          .Name("leader_election_master_status")
          .Help("1 while this process holds the lease, 0 while it stands by.")
          .Register(registry);

  // Made at start-up: looking one up in its family costs far more than counting.
  std::map<std::pair<std::string, AttemptResult>, Attempts, std::less<>> by_profile;
  std::array<Histogram*, kMostAttempts> sli{};
  Histogram* pod_attempts = nullptr;
  Gauge* active = nullptr;
  Gauge* backoff = nullptr;
  Gauge* unschedulable = nullptr;
  Gauge* gated = nullptr;
  Gauge* backed_off = nullptr;
  Counter* rejected = nullptr;
  Gauge* advised = nullptr;
  Gauge* advised_pods = nullptr;
  Gauge* complaints = nullptr;
  Counter* events_written = nullptr;
  Counter* events_joined = nullptr;
  Counter* events_dropped = nullptr;

  // By quota, gpuType, state; by quota and condition. Only quotas() touches them, and that has one
  // caller.
  std::map<std::array<std::string, 3>, Gauge*> quota_series;
  std::map<std::array<std::string, 3>, Gauge*> problem_series;

  std::mutex totals_mutex;  // guards totals_series
  std::map<std::pair<Family<Gauge>*, prometheus::Labels>, Gauge*> totals_series;

  // As they come; only the I/O thread touches them. By extension point, profile, success; by
  // plugin.
  std::map<std::tuple<std::string, std::string, bool>, Histogram*, std::less<>> by_point;
  std::map<std::string, Counter*, std::less<>> by_plugin;

  // By place and event; those without a name are null.
  std::array<std::array<Counter*, kQueueEvents>, kQueuePlaces> entries{};

  std::mutex requests_mutex;  // guards by_request
  std::map<std::pair<std::string, int>, Requests> by_request;
};

Metrics::Metrics(const std::vector<std::string>& profiles, std::string_view version)
    : families_(std::make_unique<Families>()) {
  Families& f = *families_;
  if (!version.empty()) f.build_info.Add({{"version", std::string(version)}}).Set(1);
  for (const std::string& profile : profiles) {
    for (std::size_t i = 0; i < kResults.size(); ++i) {
      const prometheus::Labels labels{{"profile", profile}, {"result", std::string(kResults[i])}};
      f.by_profile[{profile, static_cast<AttemptResult>(i)}] = {
          &f.attempts.Add(labels), &f.attempt_durations.Add(labels, doubling(0.001, 15))};
    }
  }
  for (int attempts = 1; attempts <= kMostAttempts; ++attempts) {
    f.sli[static_cast<std::size_t>(attempts - 1)] =
        &f.sli_durations.Add({{"attempts", attempts_label(attempts)}}, doubling(0.01, 20));
  }
  f.pod_attempts = &f.attempts_per_pod.Add({}, doubling(1, 5));
  f.active = &f.pending_pods.Add({{"queue", "active"}});
  f.backoff = &f.pending_pods.Add({{"queue", "backoff"}});
  f.unschedulable = &f.pending_pods.Add({{"queue", "unschedulable"}});
  f.gated = &f.pending_pods.Add({{"queue", "gated"}});
  for (std::size_t place = 0; place < kQueuePlaces; ++place) {
    if (kQueues[place] == nullptr) continue;
    for (std::size_t event = 0; event < kQueueEvents; ++event) {
      f.entries[place][event] =
          &f.incoming.Add({{"queue", kQueues[place]}, {"event", kEvents[event]}});
    }
  }
  f.backed_off = &f.nodes_backed_off.Add({});
  f.rejected = &f.rejected_pods.Add({});
  f.advised = &f.repartitions.Add({});
  f.advised_pods = &f.repartition_pods.Add({});
  f.complaints = &f.node_complaints.Add({});
  f.events_written = &f.events.Add({{"outcome", "written"}});
  f.events_joined = &f.events.Add({{"outcome", "joined"}});
  f.events_dropped = &f.events.Add({{"outcome", "dropped"}});
}

Metrics::~Metrics() = default;

void Metrics::attempt(std::string_view profile, AttemptResult result,
                      std::chrono::nanoseconds duration) {
  const auto found = families_->by_profile.find(std::make_pair(std::string(profile), result));
  if (found == families_->by_profile.end()) return;
  found->second.count->Increment();
  found->second.duration->Observe(seconds(duration));
}

void Metrics::pod_scheduled(int attempts, std::chrono::nanoseconds since_queued) {
  attempts = std::max(attempts, 1);
  families_->pod_attempts->Observe(attempts);
  const auto index = static_cast<std::size_t>(std::min(attempts, kMostAttempts) - 1);
  families_->sli[index]->Observe(seconds(since_queued));
}

void Metrics::pending(const PendingPods& pods) {
  families_->active->Set(static_cast<double>(pods.active));
  families_->backoff->Set(static_cast<double>(pods.backoff));
  families_->unschedulable->Set(static_cast<double>(pods.unschedulable));
  families_->gated->Set(static_cast<double>(pods.gated));
}

void Metrics::queue_entries(const QueueEntries& entries) {
  const auto& refused = entries[static_cast<std::size_t>(QueuePlace::kRefused)];
  for (std::size_t place = 0; place < kQueuePlaces; ++place) {
    if (kQueues[place] == nullptr) continue;
    const bool parked = static_cast<QueuePlace>(place) == QueuePlace::kParked;
    for (std::size_t event = 0; event < kQueueEvents; ++event) {
      const std::uint64_t total = entries[place][event] + (parked ? refused[event] : 0);
      raise_to(*families_->entries[place][event], total);
    }
  }
}

void Metrics::extension_point(std::string_view point, std::string_view profile, bool succeeded,
                              std::chrono::nanoseconds duration) {
  Families& f = *families_;
  const std::tuple<std::string_view, std::string_view, bool> key(point, profile, succeeded);
  auto known = f.by_point.find(key);
  if (known == f.by_point.end()) {
    Histogram& made = f.extension_points.Add({{"extension_point", std::string(point)},
                                              {"status", succeeded ? "Success" : "Error"},
                                              {"profile", std::string(profile)}},
                                             doubling(0.0001, 12));
    known = f.by_point.emplace(key, &made).first;
  }
  known->second->Observe(seconds(duration));
}

void Metrics::refused(const std::vector<std::string>& plugins) {
  for (const std::string& plugin : plugins) {
    Counter*& counter = families_->by_plugin[plugin];
    if (counter == nullptr) counter = &families_->refusals.Add({{"plugin", plugin}});
    counter->Increment();
  }
}

void Metrics::foreign_gpu_pod() { families_->foreign_gpu_pods.Increment(); }

void Metrics::quotas(const QuotaNews& news) {
  Families& f = *families_;
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
    Series stale = take_those_of(f.quota_series, quota.name);
    const auto set = [&](const std::string& type, const char* state, const k8s::Quantity& amount) {
      const std::array<std::string, 3> key{quota.name, type, state};
      const auto known = stale.extract(key);
      Gauge* gauge =
          known ? known.mapped()
                : &f.quota_gpus.Add({{"quota", quota.name}, {"gpu_type", type}, {"state", state}});
      gauge->Set(static_cast<double>(amount.milli_value()) / 1000);
      f.quota_series[key] = gauge;
    };
    for (const auto& [type, use] : quota.status.quotas) {
      set(type, "guaranteed", use.guaranteed);
      set(type, "used", use.used);
      set(type, "borrowed", use.borrowed);
      set(type, "lent", use.lent);
      set(type, "pending", use.pending);
    }
    remove(f.quota_gpus, stale);
    for (const k8s::Condition& condition : quota.status.conditions) {
      const bool is_problem = condition.status == (condition.type == "Ready" ? "False" : "True");
      Gauge*& gauge = f.problem_series[{quota.name, condition.type, ""}];
      if (gauge == nullptr) {
        gauge = &f.quota_problems.Add({{"quota", quota.name}, {"condition", condition.type}});
      }
      gauge->Set(is_problem ? 1 : 0);
    }
  }
  for (const std::string& quota : news.gone) {
    remove(f.quota_gpus, take_those_of(f.quota_series, quota));
    remove(f.quota_problems, take_those_of(f.problem_series, quota));
  }
}

void Metrics::gpu_figures(const GpuFigures& figures) {
  families_->backed_off->Set(static_cast<double>(figures.nodes_backed_off));
  raise_to(*families_->rejected, figures.rejected_pods);
  families_->advised->Set(static_cast<double>(figures.repartitions));
  families_->advised_pods->Set(static_cast<double>(figures.repartition_pods));
}

void Metrics::no_gpu_totals() {
  Families& f = *families_;
  const std::lock_guard lock(f.totals_mutex);
  for (const auto& [key, gauge] : std::exchange(f.totals_series, {})) key.first->Remove(gauge);
}

void Metrics::gpu_totals(const GpuTotals& totals, Time now) {
  Families& f = *families_;
  const std::lock_guard lock(f.totals_mutex);
  auto stale = std::exchange(f.totals_series, {});
  const auto set = [&](Family<Gauge>& family, const prometheus::Labels& labels, double value) {
    const std::pair key(&family, labels);
    const auto known = stale.extract(key);
    Gauge* gauge = known ? known.mapped() : &family.Add(labels);
    gauge->Set(value);
    f.totals_series[key] = gauge;
  };
  for (const GpuTotals::Form& form : totals.forms) {
    const prometheus::Labels labels{{"gpu_type", form.type}, {"form", form.form}};
    const auto in_state = [&](const char* state, std::int64_t gpus) {
      prometheus::Labels all = labels;
      all["state"] = state;
      set(f.gpus, all, static_cast<double>(gpus));
    };
    in_state("used", form.used);
    in_state("held", form.held);
    in_state("free", form.free);
    for (const GpusClosed closed : {GpusClosed::kCordoned, GpusClosed::kBackedOff,
                                    GpusClosed::kNotReady, GpusClosed::kMigChange}) {
      const auto gpus = form.closed.find(closed);
      in_state(to_string(closed), gpus == form.closed.end() ? 0 : gpus->second);
    }
    set(f.largest_block, labels, static_cast<double>(form.largest_block));
    set(f.whole_nodes, labels, static_cast<double>(form.whole_nodes_free));
  }
  using Queue = GpuTotals::Queue;
  std::map<Queue, Time> oldest = {{Queue::kActive, now},
                                  {Queue::kBackoff, now},
                                  {Queue::kUnschedulable, now},
                                  {Queue::kGated, now}};
  for (const auto& [key, waiting] : totals.waiting) {
    const prometheus::Labels labels{
        {"queue", label_of(key.queue)}, {"reason", label_of(key.reason)}, {"gpu_type", key.type}};
    set(f.waiting_pods, labels, static_cast<double>(waiting.pods));
    set(f.waiting_gpus, labels, static_cast<double>(waiting.gpus));
    oldest[key.queue] = std::min(oldest[key.queue], waiting.oldest);
  }
  for (const auto& [queue, since] : oldest) {
    set(f.oldest_wait, {{"queue", label_of(queue)}}, seconds(now - since));
  }
  for (const auto& [type, causes] : totals.free_by_cause) {
    for (std::size_t cause = 0; cause < causes.size(); ++cause) {
      set(f.free_gpus, {{"gpu_type", type}, {"use", kUses[cause]}}, causes[cause]);
    }
  }
  for (const auto& [name, gpus] : totals.namespaces) {
    set(f.namespace_gpus, {{"namespace", name}}, static_cast<double>(gpus));
  }
  set(f.namespace_gpus, {{"namespace", ""}}, static_cast<double>(totals.other_namespaces));
  for (const auto& [name, quota] : totals.quotas) {
    set(f.head_wait, {{"quota", name}}, quota.since ? seconds(now - *quota.since) : 0);
    set(f.quota_holds, {{"quota", name}}, static_cast<double>(quota.holds));
  }
  for (const auto& [key, gauge] : stale) key.first->Remove(gauge);
}

void Metrics::node_complaints(std::size_t nodes) {
  families_->complaints->Set(static_cast<double>(nodes));
}

void Metrics::request(std::string_view verb, int status, std::chrono::nanoseconds duration) {
  Families::Requests found;
  {
    const std::lock_guard lock(families_->requests_mutex);
    auto [entry, is_new] = families_->by_request.try_emplace({std::string(verb), status});
    if (is_new) {
      const std::string code = status == 0 ? "<error>" : std::to_string(status);
      entry->second.count = &families_->requests.Add(
          {{"code", code}, {"method", method_of(verb)}, {"verb", std::string(verb)}});
      // The family hands out the same histogram to all codes of a verb.
      entry->second.duration =
          &families_->request_durations.Add({{"verb", std::string(verb)}}, doubling(0.001, 15));
    }
    found = entry->second;
  }
  found.count->Increment();
  found.duration->Observe(seconds(duration));
}

void Metrics::unreadable(const std::string& kind, std::size_t objects) {
  families_->unreadable.Add({{"kind", kind}}).Set(static_cast<double>(objects));
}

void Metrics::watch_age(const std::string& kind, std::chrono::nanoseconds age) {
  families_->watch_age.Add({{"kind", kind}}).Set(seconds(age));
}

void Metrics::recording(bool writes) { families_->recording.Add({}).Set(writes ? 1 : 0); }

void Metrics::last_decision(std::uint64_t number) {
  families_->last_decision.Set(static_cast<double>(number));
}

void Metrics::flight_recording(const FlightRecording& figures) {
  Families& f = *families_;
  f.flight_recording.Add({}).Set(figures.recording ? 1 : 0);
  f.flight_bytes.Add({}).Set(static_cast<double>(figures.bytes));
  f.flight_seconds.Add({}).Set(std::chrono::duration<double>(figures.span).count());
  raise_to(f.flight_lost.Add({}), figures.lost);
}

void Metrics::leads(const std::string& lease, bool leads) {
  families_->master_status.Add({{"name", lease}}).Set(leads ? 1 : 0);
}

void Metrics::process(const ProcessFigures& figures) {
  Families& f = *families_;
  Counter& cpu = f.cpu_seconds.Add({});
  if (const double more = figures.cpu_seconds - cpu.Value(); more > 0) cpu.Increment(more);
  f.resident_bytes.Add({}).Set(static_cast<double>(figures.resident_bytes));
  f.start_time.Add({}).Set(figures.start_time);
  f.open_files.Add({}).Set(static_cast<double>(figures.open_files));
  f.most_open_files.Add({}).Set(static_cast<double>(figures.most_open_files));
}

void Metrics::events(const k8s::EventRecorder::Counters& totals) {
  raise_to(*families_->events_written, totals.written);
  raise_to(*families_->events_joined, totals.joined);
  raise_to(*families_->events_dropped, totals.dropped);
}

std::string Metrics::text() const {
  return prometheus::TextSerializer().Serialize(families_->registry.Collect());
}

}  // namespace sched::server
