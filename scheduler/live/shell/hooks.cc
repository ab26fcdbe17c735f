// What flows between the parts of the shell.
#include "scheduler/live/haste.h"
#include "scheduler/live/log.h"
#include "scheduler/live/shell/parts.h"

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

namespace sched::live {

using std::chrono::milliseconds;

Leadership::Hooks Shell::Parts::leadership_hooks() {
  return {
      .on_may_decide = [this] { begin_to_decide(); },
      .on_watches_behind =
          [this] {
            LogLine("the watches do not show what has been bound; they are opened anew").warning();
            intake_->reopen();
          },
      .on_gate_open =
          [this] {
            binder_->resume();
            preparer_->resume();
            evictor_->resume();
          },
      .on_lost = [this](const std::string&) { on_lost(); },
      .on_problem = [this](const std::string& source, const k8s::Error& error,
                           milliseconds retry_in) { problems_.report(source, error, retry_in); },
      .on_progress = [this](const std::string& source) { problems_.resolved(source); },
      .on_leads =
          [this, name = options_.configuration.leader_election.resource_name](bool leads) {
            metrics_.leads(name, leads);
            if (leads) leader_.is({});
          },
      .on_leader = [this](const std::string& identity) { leader_.is(identity); }};
}

k8s::StoreMark::Hooks Shell::Parts::store_mark_hooks() {
  static const std::string kSource = "mark the store";
  return {
      .on_went_back =
          [this](const std::string& why) {
            LogLine("the state of the cluster is lost").with("why", why).error();
            on_lost();
          },
      .on_problem = [this](const k8s::Error& error,
                           milliseconds retry_in) { problems_.report(kSource, error, retry_in); },
      .on_written = [this] { problems_.resolved(kSource); },
      .on_claimed =
          [this](bool given_back) {
            if (!given_back) return;
            LogLine("the scheduler before has settled its binds: nothing is waited for").info();
            intake_->start_pods();
          }};
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
      .on_unsettled = [this](
                          const decision::Bind& bind,
                          const std::string& answer) { reporter_->bind_unsettled(bind, answer); },
      .on_set_aside = [this](std::size_t binds) { engine_->set_aside(binds); },
      .waits = [this](const std::string& uid) { return statuses_->shows(uid); },
      .may_send = [this] { return !leadership_ || leadership_->may_bind(); }};
}

namespace {

k8s::ObjectMeta meta_of(const SeenObject& seen) {
  k8s::ObjectMeta meta;
  meta.namespace_ = seen.namespace_;
  meta.name = seen.name;
  meta.uid = seen.uid;
  meta.resource_version = seen.resource_version;
  return meta;
}

k8s::ObjectMeta meta_of(const PodRef& pod) {
  k8s::ObjectMeta meta;
  meta.namespace_ = pod.namespace_;
  meta.name = pod.name;
  meta.uid = pod.uid;
  return meta;
}

}  // namespace

k8s::BindLimits Shell::Parts::write_limits() {
  k8s::BindLimits all{.deadline = times_.deadline};
  if (leadership_) all.send_by = leadership_->gate().send_by();
  return all;
}

Preparer::Calls Shell::Parts::preparer_calls() {
  return {.select_node =
              [this](const SelectNode& write, auto done) {
                client_->select_node(meta_of(write.claim), write.node, write_limits(),
                                     std::move(done));
              },
          .reserve_volume =
              [this](const ReserveVolume& write, auto done) {
                k8s::PersistentVolume volume;
                volume.metadata = meta_of(write.volume);
                const k8s::ObjectMeta claim = meta_of(write.claim);
                if (write.named_claim) {
                  volume.claim_ref = {claim.namespace_, claim.name, claim.uid};
                }
                client_->bind_volume(volume, claim, write_limits(), std::move(done));
              }};
}

Preparer::Hooks Shell::Parts::preparer_hooks() {
  return {.on_outcome =
              [this](std::uint64_t plan, std::string failure) {
                if (const auto begun = preparing_.extract(plan)) {
                  metrics_.extension_point("PreBind", begun.mapped().profile, failure.empty(),
                                           loop_->now() - begun.mapped().since);
                }
                engine_->push(event::Prepared{.plan = plan, .failure = std::move(failure)});
              },
          .on_forgotten = [this](std::uint64_t plan) { preparing_.erase(plan); },
          .waits = [this](const std::string& uid) { return statuses_->shows(uid); },
          .may_send = [this] { return !leadership_ || leadership_->may_bind(); }};
}

Evictor::Calls Shell::Parts::evictor_calls() {
  return {.nominate =
              [this](const PodRef& pod, const std::string& node, auto done) {
                client_->nominate(meta_of(pod), node, write_limits(), std::move(done));
              },
          .try_delete =
              [this](const PodRef& pod, auto done) {
                client_->try_delete_pod(meta_of(pod), write_limits(), std::move(done));
              },
          .set_disruption_target =
              [this](const PodRef& pod, const std::string& message, auto done) {
                client_->set_disruption_target(meta_of(pod), message, write_limits(),
                                               std::move(done));
              },
          .delete_pod =
              [this](const PodRef& pod, auto done) {
                client_->delete_pod(meta_of(pod), write_limits(), std::move(done));
              }};
}

Evictor::Hooks Shell::Parts::evictor_hooks() {
  return {.on_outcome =
              [this](std::uint64_t plan, std::string failure) {
                engine_->push(event::Prepared{.plan = plan, .failure = std::move(failure)});
              },
          .on_evicted =
              [this](const decision::Evict& decision, const decision::Victim& victim) {
                reporter_->evicted(decision, victim);
              },
          .on_may_be_nominated =
              [this](const PodRef& pod, const std::string& node) {
                statuses_->may_be_nominated(pod, node);
              },
          .waits = [this](const std::string& uid) { return statuses_->shows(uid); },
          .may_send = [this] { return !leadership_ || leadership_->may_bind(); }};
}

StatusWriter::Hooks Shell::Parts::status_hooks() {
  return {.binds_wait = [this] { return binder_->waiting() > 0; },
          .on_problem =
              [this](const k8s::Error& error, milliseconds retry_in) {
                problems_.report("write status", error, retry_in);
              },
          .on_answered = [this] { problems_.resolved("write status"); }};
}

QuotaStatusWriter::Hooks Shell::Parts::quota_hooks() {
  return {.wall_clock = wall_clock,
          .binds_wait = [this] { return binder_->waiting() > 0; },
          .on_problem =
              [this](const k8s::Error& error, milliseconds retry_in) {
                problems_.report("write quota status", error, retry_in);
              },
          .on_answered = [this] { problems_.resolved("write quota status"); }};
}

QuotaMemory::Calls Shell::Parts::quota_memory_calls() {
  // In the lease's namespace, with the lease's name and a suffix.
  const config::LeaderElection& lease = options_.configuration.leader_election;
  k8s::ObjectMeta own;
  own.namespace_ = lease.resource_namespace;
  own.name = lease.resource_name + "-quotas";
  return {
      .get = [this, own](
                 auto done) { client_->get_config_map(own.namespace_, own.name, std::move(done)); },
      .create =
          [this, own](const k8s::StringMap& data, auto done) {
            client_->create_config_map({.metadata = own, .data = data}, std::move(done));
          },
      .update = [this](const k8s::ConfigMap& map,
                       auto done) { client_->update_config_map(map, std::move(done)); }};
}

QuotaMemory::Hooks Shell::Parts::quota_memory_hooks() {
  return {.on_problem =
              [this](const k8s::Error& error, milliseconds retry_in) {
                problems_.report("remember quotas", error, retry_in);
              },
          .on_answered = [this] { problems_.resolved("remember quotas"); }};
}

Intake::Hooks Shell::Parts::intake_hooks() {
  return {
      .on_event = [this](Event event) { tell_engine(std::move(event)); },
      .on_pod = [this](const k8s::Pod& pod) { on_pod(pod); },
      .on_pod_gone =
          [this](const std::string& uid) {
            statuses_->forget(uid);
            binder_->forget(uid);
            end_plan(uid);
            evictor_->ended(uid);
            if (ui_notes_) ui_notes_->gone(uid);
            if (leadership_) leadership_->on_pod_gone(uid);
          },
      .on_quota = [this](const k8s::GpuQuota& quota) { quota_statuses_->observed(quota); },
      .on_quota_gone = [this](const std::string& uid) { quota_statuses_->forget(uid); },
      .on_quotas_presence =
          [](bool present) {
            LogLine(present ? "GPU quotas are in force"
                            : "GPU quotas are off: the cluster does not have the API; looked for "
                              "every few seconds")
                .info();
          },
      .on_problem =
          [this](const std::string& kind, const k8s::Error& error, milliseconds retry_in) {
            problems_.report("watch " + kind, error, retry_in);
          },
      .on_recovered = [this](const std::string& kind) { problems_.resolved("watch " + kind); },
      .on_unreadable =
          [](const std::string& kind, const k8s::Error& why) {
            LogLine("an object cannot be read and is put aside")
                .with("kind", kind)
                .with("error", why.message)
                .warning();
          },
      .on_synced =
          [this] {
            LogLine("synced").info();
            if (leadership_) return leadership_->on_watches_synced();
            begin_to_decide();
          },
  };
}

void Shell::Parts::tell_engine(Event event) {
  const Haste haste = haste_of(event, ours_);
  engine_->push(std::move(event), haste);
}

void Shell::Parts::begin_to_decide() {
  if (shutting_down_) return;
  const auto begin = [this] {
    engine_->push(event::Synced{});
    LogLine("scheduling begins").info();
  };
  if (!leadership_) return begin();
  reads_quotas_since_ = loop_->now();
  quota_memory_->read([this, begin](std::vector<k8s::GpuQuota> quotas) {
    reads_quotas_since_.reset();
    for (k8s::GpuQuota& quota : quotas) {
      engine_->push(event::QuotaRemembered{std::move(quota)});
    }
    begin();
  });
}

EngineThread::Hooks Shell::Parts::engine_hooks() {
  return {
      .on_decisions =
          [this](std::vector<Decided> decisions) {
            if (ui_notes_) {
              for (const Decided& one : decisions) ui_notes_->decided(one.decision);
            }
            loop_->post([this, batch = std::make_shared<std::vector<Decided>>(
                                   std::move(decisions))] { handle(std::move(*batch)); });
          },
      .on_pending = [this](const PendingPods& pods) { metrics_.pending(pods); },
      .on_queue_entries = [this](const QueueEntries& entries) { metrics_.queue_entries(entries); },
      .on_quotas =
          [this](QuotaNews quotas) {
            loop_->post([this, news = std::move(quotas)] { handle(news); });
          },
      .on_gpu_figures = [this](const GpuFigures& figures) { metrics_.gpu_figures(figures); },
      .clock = clock_,
      .flight_recorder = flight_recorder_.get()};
}

void Shell::Parts::handle(std::vector<Decided> decisions) {
  for (Decided& decided : decisions) handle(std::move(decided));
}

void Shell::Parts::handle(Decided decided) {
  if (flight_recorder_) flight_recorder_->decided(decided.decision);
  const auto carry_out = [&](auto& what) {
    using Kind = std::decay_t<decltype(what)>;
    if constexpr (std::is_same_v<Kind, decision::Bind>) {
      evictor_->forget(what.pod.uid);
      const Clock::time_point now = loop_->now();
      began_[what.pod.uid] = {
          .at = now - decided.duration, .decided = now, .decision = decided.number};
      binder_->bind(std::move(what));
    } else if constexpr (std::is_same_v<Kind, decision::Prepare>) {
      evictor_->forget(what.pod.uid);
      if (!what.writes.empty()) preparing_[what.plan] = {loop_->now(), what.scheduler_name};
      reporter_->preparing(what);
      preparer_->prepare(std::move(what));
    } else if constexpr (std::is_same_v<Kind, decision::Evict>) {
      note_late(what.pod);
      reporter_->evicting(what, decided.duration, decided.number);
      evictor_->evict(std::move(what));
    } else if constexpr (std::is_same_v<Kind, decision::NotPrepared>) {
      end_plan(what.pod.uid);
      reporter_->not_prepared(what, decided.duration, decided.number);
    } else if constexpr (std::is_same_v<Kind, decision::Unschedulable>) {
      note_late(what.pod);
      reporter_->unschedulable(what, decided.duration, decided.number);
    } else {
      reporter_->report(what);
    }
  };
  metrics_.last_decision(decided.number);
  std::visit(carry_out, decided.decision);
}

// The pod may be gone or being deleted, or have a node, since before it was decided.
void Shell::Parts::note_late(const PodRef& pod) {
  if (ui_notes_ && !statuses_->shows(pod.uid)) ui_notes_->waits_no_more(pod.uid);
}

void Shell::Parts::handle(const QuotaNews& quotas) {
  metrics_.quotas(quotas);
  quota_statuses_->want(quotas.changed);
  if (leadership_ && quotas.remember) quota_memory_->want(*quotas.remember);
}

namespace {

event::BindFailed::Because why_failed(BindEnd end) {
  using Because = event::BindFailed::Because;
  switch (end) {
    case BindEnd::kGivenBack:
      return Because::kNotSent;
    case BindEnd::kStuck:
      return Because::kStuck;
    case BindEnd::kUnanswered:
      return Because::kUnanswered;
    case BindEnd::kOvertaken:
      return Because::kOvertaken;
    case BindEnd::kBound:
    case BindEnd::kFailed:
      break;
  }
  return Because::kRefused;
}

}  // namespace

void Shell::Parts::on_outcome(BindOutcome outcome) {
  std::chrono::nanoseconds duration{};
  std::uint64_t decision = 0;
  if (const auto found = began_.find(outcome.bind.pod.uid); found != began_.end()) {
    duration = loop_->now() - found->second.at;
    decision = found->second.decision;
    // A decision that was given back was never sent.
    if (was_sent(outcome.end)) {
      metrics_.extension_point("Bind", outcome.bind.scheduler_name, outcome.end == BindEnd::kBound,
                               loop_->now() - found->second.decided);
    }
    began_.erase(found);
  }
  reporter_->bind_ended(outcome, duration, decision);
  // kOvertaken means that the server has answered, too.
  if (outcome.end == BindEnd::kBound || outcome.end == BindEnd::kOvertaken) {
    problems_.resolved("bind");
  }
  if (outcome.end == BindEnd::kBound) {
    if (ui_notes_) ui_notes_->bound(outcome.bind, wall_clock());
    tell_engine(event::BindSucceeded{outcome.bind.pod, outcome.bind.node});
  } else {
    if (ui_notes_) ui_notes_->not_bound(outcome.bind.pod.uid, decision);
    engine_->push(event::BindFailed{.pod = outcome.bind.pod,
                                    .node = outcome.bind.node,
                                    .message = outcome.message,
                                    .because = why_failed(outcome.end)});
  }
  // Posted, so that the binder sends its next bind first: statuses and events go out after binds.
  loop_->post([this] { tell_what_waits(); });
}

void Shell::Parts::on_pod(const k8s::Pod& pod) {
  if (leadership_) leadership_->on_pod(pod);
  if (ui_notes_) ui_notes_->saw(pod);
  if (!pod.spec.node_name.empty() || pod.is_terminating()) {
    end_plan(pod.metadata.uid);
    statuses_->forget(pod.metadata.uid);
  } else if (ours_.contains(pod.spec.scheduler_name)) {
    statuses_->observed(pod);
  }
  binder_->observed(pod);
}

void Shell::Parts::end_plan(const std::string& uid) {
  evictor_->forget(uid);
  preparer_->forget(uid);
}

void Shell::Parts::tell_what_waits() {
  if (binder_->waiting() > 0) return;
  statuses_->resume();
  quota_statuses_->resume();
  events_->resume();
}

}  // namespace sched::live
