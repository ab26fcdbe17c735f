#include "scheduler/live/shell.h"

#include "k8s-client/client.h"
#include "k8s-client/event_recorder.h"
#include "k8s-client/http/event_loop.h"
#include "scheduler/live/engine_thread.h"
#include "scheduler/live/intake.h"
#include "scheduler/live/leadership/leadership.h"
#include "scheduler/live/leadership/settings.h"
#include "scheduler/live/log.h"
#include "scheduler/live/problem_log.h"
#include "scheduler/live/record/recorder.h"
#include "scheduler/live/transports.h"
#include "scheduler/live/writes/binder.h"
#include "scheduler/live/writes/quota_status_writer.h"
#include "scheduler/live/writes/reporter.h"
#include "scheduler/live/writes/status_writer.h"
#include "scheduler/server/endpoints.h"
#include "scheduler/server/http_server.h"
#include "scheduler/server/metrics.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace sched::live {

namespace {

using Clock = k8s::EventLoop::Clock;
using std::chrono::milliseconds;

// How often a shutdown looks whether it is done.
constexpr milliseconds kShutdownPoll{20};

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

Time wall_clock() {
  return std::chrono::time_point_cast<Time::duration>(std::chrono::system_clock::now());
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

}  // namespace

class Shell::Parts {
 public:
  Parts(ShellOptions options, std::unique_ptr<Recorder> recorder);

  k8s::Result<void> listen();
  End run();
  void shut_down(const std::string& reason);

 private:
  std::unique_ptr<Leadership> make_leadership(const k8s::RequestObserver& observer);
  Leadership::Hooks leadership_hooks();
  Binder::Calls binder_calls();
  Binder::Hooks binder_hooks();
  StatusWriter::Hooks status_hooks();
  QuotaStatusWriter::Hooks quota_hooks();
  Intake::Hooks intake_hooks();
  EngineThread::Hooks engine_hooks();

  void handle(std::vector<Decided> decisions);
  void handle(Decided decided);
  void handle(const std::vector<QuotaStatus>& quotas);
  void tell(const Decision& decision);
  void on_outcome(BindOutcome outcome);
  void on_pod(const k8s::Pod& pod);
  // Lets what waits behind binds go, once none waits.
  void tell_what_waits();
  void begin_to_decide();
  std::vector<server::Check> readiness() const;
  std::string metrics_text();
  void begin_shutdown(const std::string& reason);
  void continue_shutdown();
  void finish_shutdown();
  void on_leadership_lost();
  void ask_version();

  ShellOptions options_;
  const BindTimes times_;
  std::vector<std::string> profile_names_;
  std::unordered_set<std::string> ours_;
  std::function<Time()> clock_ = steady_wall_clock();
  server::Metrics metrics_;
  ProblemLog problems_;
  std::unique_ptr<Recorder> recorder_;
  std::unique_ptr<k8s::EventLoop> loop_;
  std::unique_ptr<k8s::Transport> transport_;
  std::unique_ptr<k8s::Client> client_;
  std::unique_ptr<Binder> binder_;
  std::unique_ptr<StatusWriter> statuses_;
  std::unique_ptr<QuotaStatusWriter> quota_statuses_;
  std::unique_ptr<k8s::EventRecorder> events_;
  std::unique_ptr<Reporter> reporter_;
  std::unique_ptr<EngineThread> engine_;
  std::unique_ptr<Intake> intake_;
  std::unique_ptr<k8s::Transport> lease_transport_;
  std::unique_ptr<k8s::Client> lease_client_;
  std::unique_ptr<Leadership> leadership_;  // nullptr without leader election
  std::unique_ptr<server::HttpServer> http_;
  // When the decisions whose binds are open began, by uid.
  std::unordered_map<std::string, Clock::time_point> began_;
  bool shutting_down_ = false;
  Clock::time_point shutdown_end_{};
  std::unique_ptr<k8s::Timer> shutdown_timer_;
  End end_ = End::kShutDown;
};

Shell::Parts::Parts(ShellOptions options, std::unique_ptr<Recorder> recorder)
    : options_(std::move(options)),
      times_(bind_times(options_.configuration.leader_election)),
      profile_names_(names_of(options_.configuration.profiles)),
      ours_(profile_names_.begin(), profile_names_.end()),
      metrics_(profile_names_),
      recorder_(std::move(recorder)),
      loop_(k8s::make_asio_event_loop()) {
  const k8s::RequestObserver observer = [this](std::string_view verb, int status,
                                               std::chrono::nanoseconds duration) {
    metrics_.request(verb, status, duration);
  };
  options_.cluster.credentials->on_problem([](const k8s::Error& problem) {
    LogLine("problem").with("what", "credentials").with("error", problem.message).warning();
  });
  transport_ =
      make_transport(*loop_, options_.cluster, options_.configuration.client_connection, times_);
  client_ = std::make_unique<k8s::Client>(*transport_, *loop_);
  client_->set_observer(observer);
  Binder::Options binder_options;
  binder_options.deadline = times_.deadline;
  binder_options.margin = times_.margin;
  binder_ = std::make_unique<Binder>(*loop_, binder_calls(), binder_options, binder_hooks());
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
  events_ = std::make_unique<k8s::EventRecorder>(
      *client_, *loop_, k8s::EventRecorder::Options{},
      [this] { return binder_->waiting() == 0 && !statuses_->has_ready(); });
  reporter_ = std::make_unique<Reporter>(*statuses_, *events_, metrics_, host_name(),
                                         Reporter::Clocks{clock_, wall_clock});
  engine_ = std::make_unique<EngineThread>(
      Engine(std::move(options_.configuration.profiles), options_.configuration.engine),
      engine_hooks(), recorder_.get());
  intake_ = std::make_unique<Intake>(*transport_, *loop_, intake_hooks(), observer);
  if (options_.configuration.leader_election.leader_elect) {
    leadership_ = make_leadership(observer);
  }
}

std::unique_ptr<Leadership> Shell::Parts::make_leadership(const k8s::RequestObserver& observer) {
  const config::LeaderElection& election = options_.configuration.leader_election;
  lease_transport_ =
      make_lease_transport(*loop_, options_.cluster, options_.configuration.client_connection);
  lease_client_ = std::make_unique<k8s::Client>(*lease_transport_, *loop_);
  lease_client_->set_observer(observer);
  metrics_.leads(election.resource_name, false);
  return std::make_unique<Leadership>(
      Leadership::Api{*lease_client_, *transport_, observer}, *loop_,
      Leadership::Options{.election = election_options(election, host_name()),
                          .bind_times = times_,
                          .scheduler_names = profile_names_},
      leadership_hooks());
}

Leadership::Hooks Shell::Parts::leadership_hooks() {
  return {
      .on_may_decide = [this] { begin_to_decide(); },
      .on_gate_open = [this] { binder_->resume(); },
      .on_lost = [this](const std::string&) { on_leadership_lost(); },
      .on_problem = [this](const std::string& source, const k8s::Error& error,
                           milliseconds retry_in) { problems_.report(source, error, retry_in); },
      .on_progress = [this](const std::string& source) { problems_.resolved(source); },
      .on_leads = [this, name = options_.configuration.leader_election.resource_name](
                      bool leads) { metrics_.leads(name, leads); }};
}

Binder::Calls Shell::Parts::binder_calls() {
  return {.bind =
              [this](const k8s::Binding& binding, milliseconds deadline, auto done) {
                k8s::BindLimits limits{.deadline = deadline};
                if (leadership_) limits.send_by = leadership_->gate().send_by();
                client_->bind(binding, limits, std::move(done));
              },
          .get_pod = [this](const std::string& namespace_, const std::string& name,
                            auto done) { client_->get_pod(namespace_, name, std::move(done)); }};
}

Binder::Hooks Shell::Parts::binder_hooks() {
  return {
      .on_outcome = [this](BindOutcome outcome) { on_outcome(std::move(outcome)); },
      .on_problem = [this](const k8s::Error& error,
                           milliseconds retry_in) { problems_.report("bind", error, retry_in); },
      .may_send = [this] { return !leadership_ || leadership_->may_bind(); }};
}

StatusWriter::Hooks Shell::Parts::status_hooks() {
  return {.binds_wait = [this] { return binder_->waiting() > 0; },
          .on_problem =
              [this](const k8s::Error& error, milliseconds retry_in) {
                problems_.report("write status", error, retry_in);
              },
          .on_written = [this] { problems_.resolved("write status"); },
          .on_all_sent = [this] { events_->resume(); }};
}

QuotaStatusWriter::Hooks Shell::Parts::quota_hooks() {
  return {.wall_clock = wall_clock,
          .on_problem =
              [this](const k8s::Error& error, milliseconds retry_in) {
                problems_.report("write quota status", error, retry_in);
              },
          .on_written = [this] { problems_.resolved("write quota status"); }};
}

Intake::Hooks Shell::Parts::intake_hooks() {
  return {
      .on_event = [this](Event event) { engine_->push(std::move(event)); },
      .on_pod = [this](const k8s::Pod& pod) { on_pod(pod); },
      .on_pod_gone =
          [this](const std::string& uid) {
            statuses_->forget(uid);
            if (leadership_) leadership_->on_pod_gone(uid);
          },
      .on_quota = [this](const k8s::GpuQuota& quota) { quota_statuses_->observed(quota); },
      .on_quota_gone = [this](const std::string& uid) { quota_statuses_->forget(uid); },
      .on_quotas_presence =
          [](bool present) {
            LogLine(present ? "GPU quotas are in force"
                            : "GPU quotas are off: the cluster has none, or does not show them; "
                              "looked for every few seconds")
                .info();
          },
      .on_problem =
          [this](const std::string& kind, const k8s::Error& error, milliseconds retry_in) {
            problems_.report("watch " + kind, error, retry_in);
          },
      .on_progress = [this](const std::string& kind) { problems_.resolved("watch " + kind); },
      .on_synced =
          [this] {
            LogLine("synced").info();
            if (leadership_) return leadership_->on_watches_synced();
            begin_to_decide();
          },
  };
}

void Shell::Parts::begin_to_decide() {
  if (shutting_down_) return;
  engine_->push(event::Synced{});
  LogLine("scheduling begins").info();
}

EngineThread::Hooks Shell::Parts::engine_hooks() {
  return {.on_decisions =
              [this](std::vector<Decided> decisions) {
                loop_->post([this, batch = std::make_shared<std::vector<Decided>>(
                                       std::move(decisions))] { handle(std::move(*batch)); });
              },
          .on_pending = [this](const PendingPods& pods) { metrics_.pending(pods); },
          .on_quotas =
              [this](std::vector<QuotaStatus> quotas) {
                loop_->post([this, all = std::move(quotas)] { handle(all); });
              },
          .on_gpu_figures = [this](const GpuFigures& figures) { metrics_.gpu_figures(figures); },
          .clock = clock_};
}

k8s::Result<void> Shell::Parts::listen() {
  if (options_.http_bind_address == "0") return {};
  server::Endpoints endpoints{.readiness = [this] { return readiness(); },
                              .metrics = [this] { return metrics_text(); }};
  auto server = server::HttpServer::listen(
      *loop_, options_.http_bind_address,
      [endpoints = std::move(endpoints)](std::string_view path) { return endpoints.get(path); });
  if (!server) return tl::unexpected<k8s::Error>(std::move(server.error()));
  http_ = std::move(*server);
  return {};
}

Shell::End Shell::Parts::run() {
  LogLine line("starting");
  line.with("cluster", options_.cluster.description).with("profiles", joined(profile_names_));
  if (http_) line.with("http_port", http_->port());
  line.info();
  engine_->start();
  loop_->post([this] {
    intake_->start(leadership_ ? milliseconds(0) : times_.deadline + times_.margin);
    if (leadership_) leadership_->start();
    ask_version();
  });
  loop_->run();
  engine_->stop();
  return end_;
}

void Shell::Parts::ask_version() {
  client_->server_version([](const k8s::Result<std::string>& version) {
    if (version) LogLine("connected").with("server_version", *version).info();
  });
}

void Shell::Parts::handle(std::vector<Decided> decisions) {
  for (Decided& decided : decisions) handle(std::move(decided));
}

void Shell::Parts::handle(Decided decided) {
  if (auto* bind = std::get_if<decision::Bind>(&decided.decision)) {
    began_[bind->pod.uid] = loop_->now() - decided.duration;
    binder_->bind(std::move(*bind));
  } else if (const auto* no = std::get_if<decision::Unschedulable>(&decided.decision)) {
    reporter_->unschedulable(*no, decided.duration);
  } else {
    tell(decided.decision);
  }
}

// What is news to people, and to nobody else.
void Shell::Parts::tell(const Decision& decision) {
  if (const auto* foreign = std::get_if<decision::ForeignGpuPod>(&decision)) {
    reporter_->foreign_gpu_pod(*foreign);
  } else if (const auto* backed_off = std::get_if<decision::NodeBackedOff>(&decision)) {
    reporter_->node_backed_off(*backed_off);
  } else if (const auto* released = std::get_if<decision::NodeReleased>(&decision)) {
    reporter_->node_released(*released);
  } else if (const auto* advice = std::get_if<decision::MigRepartition>(&decision)) {
    reporter_->mig_repartition(*advice);
  } else if (const auto* complaint = std::get_if<decision::NodeComplaint>(&decision)) {
    reporter_->node_complaint(*complaint);
  }
}

void Shell::Parts::handle(const std::vector<QuotaStatus>& quotas) {
  metrics_.quotas(quotas);
  quota_statuses_->want(quotas);
}

void Shell::Parts::on_outcome(BindOutcome outcome) {
  std::chrono::nanoseconds duration{};
  if (const auto found = began_.find(outcome.bind.pod.uid); found != began_.end()) {
    duration = loop_->now() - found->second;
    began_.erase(found);
  }
  reporter_->bind_ended(outcome, duration);
  if (outcome.end == BindEnd::kBound) {
    problems_.resolved("bind");
    engine_->push(event::BindSucceeded{outcome.bind.pod, outcome.bind.node});
  } else {
    engine_->push(event::BindFailed{outcome.bind.pod, outcome.bind.node, outcome.message});
  }
  // After the callback: what waits behind this bind is looked at once the next bind has gone out.
  loop_->post([this] { tell_what_waits(); });
}

void Shell::Parts::on_pod(const k8s::Pod& pod) {
  if (leadership_) leadership_->on_pod(pod);
  if (!pod.spec.node_name.empty()) {
    statuses_->bound(pod.metadata.uid);
  } else if (ours_.contains(pod.spec.scheduler_name)) {
    statuses_->observed(pod);
  }
}

void Shell::Parts::tell_what_waits() {
  if (binder_->waiting() > 0) return;
  statuses_->resume();
  events_->resume();
}

std::vector<server::Check> Shell::Parts::readiness() const {
  std::vector<server::Check> checks;
  for (const Intake::Source& source : intake_->sources()) {
    const bool passed = source.synced && source.in_contact;
    checks.push_back({.name = "watch-" + source.kind,
                      .passed = passed,
                      .why_not = source.synced ? "no sign of life from the API server for minutes"
                                               : "not synced yet"});
  }
  if (leadership_) {
    // A standby that knows the cluster is as ready as can be.
    checks.push_back({.name = "leader-election",
                      .passed = !leadership_->leads() || leadership_->may_bind(),
                      .why_not = "leads, but the lease has not been renewed in time to bind"});
  }
  checks.push_back(
      {.name = "shutdown", .passed = !shutting_down_, .why_not = "the process is shutting down"});
  return checks;
}

std::string Shell::Parts::metrics_text() {
  metrics_.events(events_->counters());
  return metrics_.text();
}

void Shell::Parts::shut_down(const std::string& reason) {
  loop_->post([this, reason] {
    if (!std::exchange(shutting_down_, true)) begin_shutdown(reason);
  });
}

void Shell::Parts::begin_shutdown(const std::string& reason) {
  LogLine("shutting down")
      .with("reason", reason)
      .with("binds_in_flight", binder_->in_flight())
      .with("binds_dropped", binder_->waiting())
      .info();
  shutdown_end_ = loop_->now() + options_.shutdown_limit;
  quota_statuses_->stop();
  intake_->stop();
  engine_->stop();
  binder_->drop_waiting();
  continue_shutdown();
}

void Shell::Parts::continue_shutdown() {
  tell_what_waits();
  const auto left = shutdown_end_ - loop_->now();
  const bool writing = binder_->in_flight() > 0 || !statuses_->is_idle();
  if (writing && left > kShutdownPoll) {
    shutdown_timer_ = loop_->after(kShutdownPoll, [this] { continue_shutdown(); });
    return;
  }
  if (!leadership_ || binder_->in_flight() > 0) return finish_shutdown();
  const auto limit = std::max(std::chrono::duration_cast<milliseconds>(left), kShutdownPoll);
  leadership_->release(limit, [this] { finish_shutdown(); });
}

void Shell::Parts::finish_shutdown() {
  const auto left = shutdown_end_ - loop_->now();
  const auto limit = std::max(std::chrono::duration_cast<milliseconds>(left), kShutdownPoll);
  events_->flush(limit, [this] {
    LogLine("stopped")
        .with("binds_unsettled", binder_->in_flight())
        .with("events_dropped", events_->counters().dropped)
        .info();
    loop_->stop();
  });
}

// Another one may bind soon: not even what is decided may be told any more.
void Shell::Parts::on_leadership_lost() {
  end_ = End::kLeadershipLost;
  quota_statuses_->stop();
  intake_->stop();
  engine_->stop();
  loop_->stop();
}

k8s::Result<std::unique_ptr<Shell>> Shell::create(ShellOptions options) {
  std::unique_ptr<Recorder> recorder;
  if (!options.record_file.empty()) {
    auto created = Recorder::create(
        options.record_file, {options.config_file, options.config_text},
        [](const std::string& error) {
          LogLine("the recording ends here: it cannot be written").with("error", error).error();
        });
    if (!created) return tl::unexpected<k8s::Error>(std::move(created.error()));
    recorder = std::move(*created);
  }
  auto parts = std::make_unique<Parts>(std::move(options), std::move(recorder));
  if (auto listening = parts->listen(); !listening) {
    return tl::unexpected<k8s::Error>(std::move(listening.error()));
  }
  return std::unique_ptr<Shell>(new Shell(std::move(parts)));
}

Shell::Shell(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Shell::~Shell() = default;

Shell::End Shell::run() { return parts_->run(); }
void Shell::shut_down(const std::string& reason) { parts_->shut_down(reason); }

}  // namespace sched::live
