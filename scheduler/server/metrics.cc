#include "scheduler/server/metrics.h"

#include "scheduler/server/gpu_metrics.h"
#include "scheduler/server/metric_families.h"

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

constexpr std::array<std::string_view, 3> kResults{"scheduled", "unschedulable", "error"};

// Upstream's label values: "1" … "14", "15+".
constexpr int kMostAttempts = 15;
std::string attempts_label(int attempts) {
  return attempts >= kMostAttempts ? "15+" : std::to_string(attempts);
}

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
  Family<Counter>& attempts = counters(registry, "scheduler_schedule_attempts_total",
                                       "Attempts to schedule pods, by result.");
  Family<Histogram>& attempt_durations =
      histograms(registry, "scheduler_scheduling_attempt_duration_seconds",
                 "Duration of an attempt: the decision, and the bind if there was one.");
  Family<Gauge>& pending_pods =
      gauges(registry, "scheduler_pending_pods", "Pending pods, by the queue that they wait in.");
  Family<Histogram>& attempts_per_pod =
      histograms(registry, "scheduler_pod_scheduling_attempts", "Attempts that a bound pod took.");
  Family<Histogram>& sli_durations =
      histograms(registry, "scheduler_pod_scheduling_sli_duration_seconds",
                 "Time from the first sight of a pending pod to its bind, by number of attempts.");
  Family<Counter>& requests =
      counters(registry, "rest_client_requests_total",
               "API requests, by verb and status code; <error>: no answer.");
  Family<Histogram>& request_durations = histograms(
      registry, "rest_client_request_duration_seconds", "Duration of API requests, by verb.");
  Family<Counter>& events = counters(registry, "gpu_scheduler_events_total",
                                     "Kubernetes events: written, joined to a series, dropped.");

  Family<Histogram>& extension_points =
      histograms(registry, "scheduler_framework_extension_point_duration_seconds",
                 "Duration of the calls that bind pods (Bind) and prepare that (PreBind).");
  Family<Counter>& incoming = counters(registry, "scheduler_queue_incoming_pods_total",
                                       "Pods that have entered a queue, by queue and event.");
  Family<Counter>& refusals =
      counters(registry, "gpu_scheduler_refusals_total",
               "Decisions that a pod cannot be placed, by each plugin that refused it.");
  Counter& preemption_attempts =
      counters(registry, "scheduler_preemption_attempts_total",
               "Decisions to make room for a pod by evicting others, or by waiting for their end.")
          .Add({});
  Histogram& preemption_victims =
      histograms(registry, "scheduler_preemption_victims",
                 "Pods that were chosen for eviction, by decision to evict.")
          .Add({}, doubling(1, 7));
  Counter& reclaimed_pods =
      counters(registry, "gpu_scheduler_reclaimed_pods_total",
               "Pods of no lower priority evicted because their quota had borrowed the GPUs.")
          .Add({});
  Counter& foreign_gpu_pods =
      counters(registry, "gpu_scheduler_foreign_gpu_pods_total",
               "Pods of other schedulers that took GPUs on nodes that a profile owns.")
          .Add({});
  Family<Gauge>& watch_age =
      gauges(registry, "gpu_scheduler_watch_age_seconds",
             "How long ago the watch of that kind was last known to be up to date.");

  Family<Counter>& cpu_seconds =
      counters(registry, "process_cpu_seconds_total", "CPU time of the process, user and system.");
  Family<Gauge>& resident_bytes =
      gauges(registry, "process_resident_memory_bytes", "Resident memory of the process.");
  Family<Gauge>& start_time = gauges(registry, "process_start_time_seconds",
                                     "When the process started, in seconds since 1970.");
  Family<Gauge>& open_files = gauges(registry, "process_open_fds", "Open file descriptors.");
  Family<Gauge>& most_open_files =
      gauges(registry, "process_max_fds", "How many file descriptors may be open.");
  Family<Gauge>& build_info =
      gauges(registry, "gpu_scheduler_build_info", "1, with the version of the program.");
  Family<Gauge>& unreadable =
      gauges(registry, "gpu_scheduler_unreadable_objects",
             "Objects of the API that cannot be read and are put aside, by kind.");
  Family<Gauge>& recording =
      gauges(registry, "gpu_scheduler_recording",
             "1 while --record writes, 0 once it has ended; the log says why.");
  Gauge& last_decision =
      gauges(registry, "gpu_scheduler_last_decision",
             "The number of the last decision, which log lines and events have as well.")
          .Add({});
  Family<Gauge>& flight_recording =
      gauges(registry, "gpu_scheduler_flight_recording",
             "1 while the last hour is kept, 0 once its objects alone are too large.");
  Family<Gauge>& flight_bytes = gauges(registry, "gpu_scheduler_flight_recording_bytes",
                                       "Memory of the recording of the last hour.");
  Family<Gauge>& flight_seconds = gauges(registry, "gpu_scheduler_flight_recording_seconds",
                                         "How long a time the recording of the last hour spans.");
  Family<Counter>& flight_lost =
      counters(registry, "gpu_scheduler_flight_recording_lost_total",
               "Events and decisions that came too fast to be recorded.");
  Family<Gauge>& master_status =
      gauges(registry, "leader_election_master_status",
             "1 while this process holds the lease, 0 while it stands by.");

  GpuMetrics gpus{registry};

  // Made at start-up: looking one up in its family costs far more than counting.
  std::map<std::pair<std::string, AttemptResult>, Attempts, std::less<>> by_profile;
  std::array<Histogram*, kMostAttempts> sli{};
  Histogram* pod_attempts = nullptr;
  Gauge* active = nullptr;
  Gauge* backoff = nullptr;
  Gauge* unschedulable = nullptr;
  Gauge* gated = nullptr;
  Counter* events_written = nullptr;
  Counter* events_joined = nullptr;
  Counter* events_dropped = nullptr;

  // Made when first needed; only the I/O thread uses them. By extension point, profile, success; by
  // plugin.
  std::map<std::tuple<std::string, std::string, bool>, Histogram*> by_point;
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
  const std::tuple<std::string, std::string, bool> key(point, profile, succeeded);
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

void Metrics::preempts(std::size_t victims) {
  families_->preemption_attempts.Increment();
  if (victims > 0) families_->preemption_victims.Observe(static_cast<double>(victims));
}

void Metrics::reclaimed() { families_->reclaimed_pods.Increment(); }

void Metrics::foreign_gpu_pod() { families_->foreign_gpu_pods.Increment(); }

void Metrics::quotas(const QuotaNews& news) { families_->gpus.quotas(news); }

void Metrics::gpu_figures(const GpuFigures& figures) { families_->gpus.figures(figures); }

void Metrics::no_gpu_totals() { families_->gpus.no_totals(); }

void Metrics::gpu_totals(const GpuTotals& totals, Time now) { families_->gpus.totals(totals, now); }

void Metrics::node_complaints(std::size_t nodes) { families_->gpus.node_complaints(nodes); }

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
