#include "scheduler/live/shell.h"

#include "scheduler/live/leadership/settings.h"
#include "scheduler/live/log.h"
#include "scheduler/live/shell/parts.h"
#include "scheduler/live/transports.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace sched::live {

namespace {

using std::chrono::milliseconds;

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

std::vector<std::string> names_of(const std::vector<Profile>& profiles) {
  std::vector<std::string> names;
  for (const Profile& profile : profiles) names.push_back(profile.scheduler_name);
  return names;
}

}  // namespace

Time wall_clock() {
  return std::chrono::time_point_cast<Time::duration>(std::chrono::system_clock::now());
}

Shell::Parts::Parts(ShellOptions options, std::unique_ptr<Recorder> recorder)
    : loop_(k8s::make_event_loop()),
      options_(std::move(options)),
      times_(bind_times(options_.configuration.leader_election)),
      profile_names_(names_of(options_.configuration.profiles)),
      ours_(profile_names_.begin(), profile_names_.end()),
      metrics_(profile_names_, options_.version),
      recorder_(std::move(recorder)),
      flight_recorder_(make_flight_recorder(options_)) {
  const k8s::RequestObserver observer = [this](std::string_view verb, int status,
                                               std::chrono::nanoseconds duration) {
    metrics_.request(verb, status, duration);
  };
  // The credentials report each cause once themselves, but not its end.
  options_.cluster.credentials->on_problem([](const k8s::Error& problem) {
    LogLine("problem").with("what", "credentials").with("error", problem.message).warning();
  });
  transport_ =
      make_transport(*loop_, options_.cluster, options_.configuration.client_connection, times_);
  client_ = std::make_unique<k8s::Client>(*transport_, *loop_);
  client_->set_observer(observer);
  Binder::Options binder_options;
  binder_options.deadline = times_.deadline;
  binder_ = std::make_unique<Binder>(*loop_, binder_calls(), binder_options, binder_hooks());
  preparer_ = std::make_unique<Preparer>(preparer_calls(), preparer_hooks());
  evictor_ =
      std::make_unique<Evictor>(*loop_, evictor_calls(), Evictor::Options{}, evictor_hooks());
  statuses_ = std::make_unique<StatusWriter>(
      *loop_,
      [this](const k8s::Pod& pod, const k8s::PodScheduledCondition& condition, auto done) {
        client_->set_pod_scheduled(pod, condition, std::move(done));
      },
      StatusWriter::Options{}, status_hooks());
  quota_statuses_ = std::make_unique<QuotaStatusWriter>(
      *loop_,
      [this](const k8s::ObjectMeta& quota, const k8s::GpuQuota::Status& status, auto done) {
        client_->set_gpu_quota_status(quota, status, std::move(done));
      },
      QuotaStatusWriter::Options{}, quota_hooks());
  quota_memory_ = std::make_unique<QuotaMemory>(*loop_, quota_memory_calls(),
                                                QuotaMemory::Options{}, quota_memory_hooks());
  events_ = std::make_unique<k8s::EventRecorder>(*client_, *loop_, k8s::EventRecorder::Options{},
                                                 [this] { return binder_->waiting() == 0; });
  reporter_ = std::make_unique<Reporter>(*statuses_, *events_, metrics_, host_name(),
                                         Reporter::Clocks{clock_, wall_clock});
  for (const Profile& profile : options_.configuration.profiles) {
    if (profile.preemption) reporter_->nominates_for(profile.scheduler_name);
  }
  const Intake::Options reads{.reads = changes_read(options_.configuration.profiles),
                              .disruption_budgets = preempts(options_.configuration.profiles)};
  const bool is_read = options_.ui || options_.answers;
  if (is_read && options_.secure_port) ui_notes_ = std::make_unique<UiNotes>();
  options_.configuration.engine.names_runner_up = ui_notes_ != nullptr;
  engine_ = std::make_unique<EngineThread>(
      Engine(std::move(options_.configuration.profiles), options_.configuration.engine),
      engine_hooks(), recorder_.get());
  intake_ = std::make_unique<Intake>(*transport_, *loop_, intake_hooks(), observer, reads);
  lease_transport_ = make_lease_transport(*loop_, options_.cluster,
                                          options_.configuration.client_connection, times_);
  lease_client_ = std::make_unique<k8s::Client>(*lease_transport_, *loop_);
  lease_client_->set_observer(observer);
  if (options_.configuration.leader_election.leader_elect) {
    leadership_ = make_leadership(observer);
  } else {
    store_mark_ = make_store_mark();
  }
}

std::unique_ptr<Leadership> Shell::Parts::make_leadership(const k8s::RequestObserver& observer) {
  const config::LeaderElection& election = options_.configuration.leader_election;
  metrics_.leads(election.resource_name, false);
  return std::make_unique<Leadership>(
      Leadership::Api{*lease_client_, *transport_, observer}, *loop_,
      Leadership::Options{.election = election_options(election, host_name()),
                          .bind_times = times_,
                          .scheduler_names = profile_names_},
      leadership_hooks());
}

std::unique_ptr<k8s::StoreMark> Shell::Parts::make_store_mark() {
  const config::LeaderElection& names = options_.configuration.leader_election;
  const k8s::ElectionOptions election = election_options(names, host_name());
  return std::make_unique<k8s::StoreMark>(*lease_client_, *loop_,
                                          k8s::StoreMark::Options{.namespace_ = election.namespace_,
                                                                  .name = election.name + "-store",
                                                                  .identity = election.identity},
                                          store_mark_hooks(), wall_clock);
}

k8s::Result<void> Shell::Parts::listen() {
  if (options_.http_bind_address == "0") return {};
  server::ProbeEndpoints endpoints{.liveness = [this] { return liveness(); },
                                   .readiness = [this] { return readiness(); }};
  auto server = server::HttpServer::listen(
      *loop_, {.address = options_.http_bind_address},
      [endpoints = std::move(endpoints)](const server::Request& request,
                                         const server::HttpServer::Answer& answer) {
        answer(endpoints.get(request.path, request.query));
      },
      {.on_problem = [this](const k8s::Error& error,
                            milliseconds retry_in) { problems_.report("serve", error, retry_in); },
       .on_progress = [this] { problems_.resolved("serve"); }});
  if (!server) return tl::unexpected<k8s::Error>(std::move(server.error()));
  probes_ = std::move(*server);
  return {};
}

k8s::Result<void> Shell::Parts::open_secure_port() {
  if (!options_.secure_port) return {};
  // On the engine's thread, as decisions: so the newest text of a pod is the last one here, too.
  const auto on_judged = [this](const answers::Why& why) {
    if (!why.told) return;
    loop_->post([this, pod = why.pod, told = *why.told] { reporter_->judged(pod, told); });
  };
  const auto find_data_age = [this](auto done) { loop_->post([this, done] { done(data_age()); }); };
  std::optional<UiPage::Scheduler> ui;
  if (options_.ui) {
    ui = UiPage::Scheduler{.notes = ui_notes_.get(),
                           .about = {.replica = host_name(),
                                     .version = options_.version,
                                     .scheduler_names = profile_names_},
                           .clock = wall_clock,
                           .data_age = find_data_age,
                           .on_judged = on_judged};
  }
  std::optional<TenantAnswers::Scheduler> answers;
  if (options_.answers) {
    answers = TenantAnswers::Scheduler{.notes = ui_notes_.get(),
                                       .names = {profile_names_.begin(), profile_names_.end()},
                                       .clock = wall_clock,
                                       .data_age = find_data_age,
                                       .on_judged = on_judged};
  }
  auto port = SecurePort::open(
      std::move(*options_.secure_port),
      {.metrics = [this] { return metrics_text(); },
       .ask = [this](Question question) { engine_->ask(std::move(question)); },
       .names = ours_,
       .on_request =
           [this](std::string_view verb, int status, std::chrono::nanoseconds duration) {
             metrics_.request(verb, status, duration);
           },
       .leader = [this] { return leader_.get(); },
       .recording = recording_source(),
       .ui = std::move(ui),
       .answers = std::move(answers)});
  if (!port) return tl::unexpected<k8s::Error>(std::move(port.error()));
  secure_port_ = std::move(*port);
  return {};
}

Shell::End Shell::Parts::run() {
  LogLine line("starting");
  line.with("cluster", options_.cluster.description)
      .with("profiles", fmt::format("{}", fmt::join(profile_names_, ",")));
  if (probes_) line.with("http_port", probes_->port());
  if (secure_port_) line.with("secure_port", secure_port_->port());
  line.info();
  if (!options_.cluster.warning.empty()) LogLine(options_.cluster.warning).warning();
  engine_->start();
  loop_->post([this] {
    intake_->start(leadership_ ? milliseconds(0) : times_.deadline + times_.margin);
    if (leadership_) leadership_->start();
    if (store_mark_) store_mark_->start();
    ask_version();
  });
  loop_->run();
  engine_->stop();
  return end_;
}

// The recorder's thread may call back into the secure port, so it ends before the members are
// destroyed.
Shell::Parts::~Parts() {
  if (flight_recorder_) flight_recorder_->stop();
}

void Shell::Parts::ask_version() {
  client_->server_version([](const k8s::Result<std::string>& version) {
    if (version) LogLine("connected").with("server_version", *version).info();
  });
}

std::string Shell::Parts::metrics_text() {
  metrics_.events(events_->counters());
  // The watches belong to the event loop: their figures appear in the next scrape.
  loop_->post([this] {
    for (const Intake::Source& source : intake_->sources()) {
      metrics_.unreadable(source.kind, source.unreadable);
      if (source.age) metrics_.watch_age(source.kind, *source.age);
    }
  });
  if (recorder_) metrics_.recording(recorder_->is_writing());
  if (flight_recorder_) {
    const FlightRecorder::Figures figures = flight_recorder_->figures();
    metrics_.flight_recording({.recording = figures.is_recording,
                               .bytes = figures.bytes,
                               .span = figures.span,
                               .lost = figures.lost});
  }
  if (const auto figures = server::process_figures()) metrics_.process(*figures);
  ask_for_totals();
  return metrics_.text();
}

std::optional<std::chrono::nanoseconds> Shell::Parts::data_age() const {
  std::optional<std::chrono::nanoseconds> oldest;
  for (const Intake::Source& source : intake_->sources()) {
    if (source.kind != "pods" && source.kind != "nodes") continue;
    if (!source.age) return std::nullopt;
    oldest = std::max(oldest.value_or(*source.age), *source.age);
  }
  return oldest;
}

void Shell::Parts::ask_for_totals() {
  if (totals_wanted_.exchange(true)) return;
  engine_->ask({.answer =
                    [this](const Engine& engine) {
                      metrics_.gpu_totals(engine.gpu_totals(), clock_());
                      totals_wanted_ = false;
                    },
                .refuse =
                    [this](Unanswered) {
                      metrics_.no_gpu_totals();
                      totals_wanted_ = false;
                    },
                .is_wanted = [] { return true; }});
}

k8s::Result<std::unique_ptr<Shell>> Shell::create(ShellOptions options) {
  std::unique_ptr<Recorder> recorder;
  if (!options.record_file.empty()) {
    auto created = Recorder::create(
        options.record_file, {options.config_file, options.config_text},
        [](const std::string& error) {
          LogLine("the recording ends here: it cannot be written").with("error", error).error();
        },
        {.bytes = options.record_limit, .on_full = [limit = options.record_limit] {
           LogLine("the recording ends here: it has reached --record-limit")
               .with("bytes", limit)
               .warning();
         }});
    if (!created) return tl::unexpected<k8s::Error>(std::move(created.error()));
    recorder = std::move(*created);
  }
  auto parts = std::make_unique<Parts>(std::move(options), std::move(recorder));
  for (const auto open : {&Parts::open_recording_dir, &Parts::listen, &Parts::open_secure_port}) {
    if (auto opened = (*parts.*open)(); !opened) {
      return tl::unexpected<k8s::Error>(std::move(opened.error()));
    }
  }
  return std::unique_ptr<Shell>(new Shell(std::move(parts)));
}

Shell::Shell(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Shell::~Shell() = default;

Shell::End Shell::run() { return parts_->run(); }
void Shell::shut_down(const std::string& reason) { parts_->shut_down(reason); }
void Shell::write_recording() { parts_->write_recording(); }

}  // namespace sched::live
