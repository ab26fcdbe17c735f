// The inside of the shell: its parts, and the calls between them.
//
//   shell.cc            makes the parts and runs them
//   shell/hooks.cc      what flows between them: events, decisions, outcomes
//   shell/probes.cc     what they say of themselves to probes
//   shell/recording.cc  what was recorded last, for people
//   shell/shutdown.cc   how they end
#pragma once

#include "k8s-client/client.h"
#include "k8s-client/event_recorder.h"
#include "k8s-client/http/event_loop.h"
#include "k8s-client/leader_election/store_mark.h"
#include "scheduler/live/engine_thread.h"
#include "scheduler/live/intake.h"
#include "scheduler/live/leadership/leader_name.h"
#include "scheduler/live/leadership/leadership.h"
#include "scheduler/live/problem_log.h"
#include "scheduler/live/record/flight_recorder.h"
#include "scheduler/live/record/recorder.h"
#include "scheduler/live/record/recording_files.h"
#include "scheduler/live/secure_port.h"
#include "scheduler/live/shell.h"
#include "scheduler/live/shell/shutdown.h"
#include "scheduler/live/ui/notes.h"
#include "scheduler/live/writes/binder.h"
#include "scheduler/live/writes/evictor.h"
#include "scheduler/live/writes/preparer.h"
#include "scheduler/live/writes/quota_memory.h"
#include "scheduler/live/writes/quota_status_writer.h"
#include "scheduler/live/writes/reporter.h"
#include "scheduler/live/writes/status_writer.h"
#include "scheduler/server/endpoints.h"
#include "scheduler/server/http_server.h"
#include "scheduler/server/metrics.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace sched::live {

// The system's clock, for times that people read. Durations are never measured with it.
[[nodiscard]] Time wall_clock();

[[nodiscard]] std::unique_ptr<FlightRecorder> make_flight_recorder(const ShellOptions& options);

class Shell::Parts {
 public:
  Parts(ShellOptions options, std::unique_ptr<Recorder> recorder);
  ~Parts();
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  k8s::Result<void> listen();
  k8s::Result<void> open_recording_dir();
  k8s::Result<void> open_secure_port();
  End run();
  void shut_down(const std::string& reason);
  void write_recording();

 private:
  using Clock = k8s::EventLoop::Clock;

  std::unique_ptr<Leadership> make_leadership(const k8s::RequestObserver& observer);
  std::unique_ptr<k8s::StoreMark> make_store_mark();
  Leadership::Hooks leadership_hooks();
  k8s::StoreMark::Hooks store_mark_hooks();
  // Of a write before a bind: its deadline, and until when this process, as leader, may send it.
  k8s::BindLimits write_limits();
  Binder::Calls binder_calls();
  Binder::Hooks binder_hooks();
  Preparer::Calls preparer_calls();
  Preparer::Hooks preparer_hooks();
  Evictor::Calls evictor_calls();
  Evictor::Hooks evictor_hooks();
  StatusWriter::Hooks status_hooks();
  QuotaStatusWriter::Hooks quota_hooks();
  QuotaMemory::Calls quota_memory_calls();
  QuotaMemory::Hooks quota_memory_hooks();
  Intake::Hooks intake_hooks();
  EngineThread::Hooks engine_hooks();

  void handle(std::vector<Decided> decisions);
  void handle(Decided decided);
  void handle(const QuotaNews& quotas);
  void note_late(const PodRef& pod);
  void on_outcome(BindOutcome outcome);
  void on_pod(const k8s::Pod& pod);
  // The pod has no plan any more: nothing further is written for it.
  void end_plan(const std::string& uid);
  // Sends the statuses and events that wait behind binds, if no bind waits.
  void tell_what_waits();
  void begin_to_decide();
  void tell_engine(Event event);
  std::vector<server::Check> liveness() const;
  std::vector<server::Check> readiness() const;
  std::string metrics_text();  // on any thread
  // How old the known state of pods and nodes is: the greater age of the two watches; nullopt: one
  // was never up to date yet.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> data_age() const;
  // Asks the engine for the totals of GPUs and waiting pods, like any other question. The next
  // scrape shows them.
  void ask_for_totals();
  // For SecurePort::Scheduler.
  std::function<void(FlightRecorder::Done)> recording_source();
  void begin_shutdown(const std::string& reason);
  // How many evictions, and writes to volumes and claims, were sent and have no answer yet.
  [[nodiscard]] std::size_t open_before_binds() const;
  Shutdown::Parts shutdown_parts();
  // Ends at once: another process may bind now, or the known state of the cluster is not valid any
  // more.
  void on_lost();
  void ask_version();

  // First, so that it ends last: the credentials in the options may have a program running on it.
  std::unique_ptr<k8s::EventLoop> loop_;
  ShellOptions options_;
  const BindTimes times_;
  std::vector<std::string> profile_names_;
  std::unordered_set<std::string> ours_;
  std::function<Time()> clock_ = steady_wall_clock(wall_clock());
  server::Metrics metrics_;
  std::atomic<bool> totals_wanted_ = false;  // a question for them is open
  ProblemLog problems_{*loop_};
  std::unique_ptr<Recorder> recorder_;
  std::unique_ptr<FlightRecorder> flight_recorder_;  // nullptr: there is none
  std::optional<RecordingFiles> recording_files_;    // nullopt: written nowhere
  std::unique_ptr<UiNotes> ui_notes_;                // nullptr: no page, no answers for tenants
  std::unique_ptr<k8s::Transport> transport_;
  std::unique_ptr<k8s::Client> client_;
  std::unique_ptr<Binder> binder_;
  std::unique_ptr<Preparer> preparer_;
  std::unique_ptr<Evictor> evictor_;
  std::unique_ptr<StatusWriter> statuses_;
  std::unique_ptr<QuotaStatusWriter> quota_statuses_;
  std::unique_ptr<QuotaMemory> quota_memory_;
  // While quota_memory_ reads, before the first decision.
  std::optional<Clock::time_point> reads_quotas_since_;
  std::unique_ptr<k8s::EventRecorder> events_;
  std::unique_ptr<Reporter> reporter_;
  std::unique_ptr<EngineThread> engine_;
  std::unique_ptr<Intake> intake_;
  std::unique_ptr<k8s::Transport> lease_transport_;
  std::unique_ptr<k8s::Client> lease_client_;
  LeaderName leader_;                           // another replica that leads
  std::unique_ptr<Leadership> leadership_;      // nullptr without leader election
  std::unique_ptr<k8s::StoreMark> store_mark_;  // nullptr with leader election
  std::unique_ptr<server::HttpServer> probes_;
  struct Begun {
    Clock::time_point at;        // of deciding
    Clock::time_point decided;   // the binder had it then
    std::uint64_t decision = 0;  // Decided::number
  };
  // When the decisions whose binds are open began, by uid.
  std::unordered_map<std::string, Begun> began_;
  struct Preparing {
    Clock::time_point since;
    std::string profile;
  };
  std::unordered_map<std::uint64_t, Preparing> preparing_;  // by plan
  bool shutting_down_ = false;
  std::unique_ptr<Shutdown> shutdown_;
  End end_ = End::kShutDown;
  // Last, so that its thread, which asks all the others, ends first.
  std::unique_ptr<SecurePort> secure_port_;
};

}  // namespace sched::live
