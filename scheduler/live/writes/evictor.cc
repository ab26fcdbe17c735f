#include "scheduler/live/writes/evictor.h"

#include "scheduler/live/log.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace sched::live {
namespace {

std::string disruption_message(const decision::Evict& decision, bool reclaimed) {
  return decision.scheduler_name + (reclaimed
                                        ? ": reclaiming GPUs that its quota has borrowed"
                                        // kube-scheduler's.
                                        : ": preempting to accommodate a higher priority pod");
}

// Whether the pod is gone, or another pod has its name now. A 409 alone does not prove that,
// because the server also returns it if a write has failed for another reason (bind_answer.h).
// Sources: Kubernetes 1.36, apimachinery pkg/api/validation, ValidateObjectMetaAccessorUpdate;
// apiserver pkg/registry/rest, BeforeDelete, and pkg/storage, Preconditions.
bool is_gone(const k8s::Error& error, bool deletes) {
  const auto says = [&](const char* words) {
    return error.message.find(words) != std::string::npos;
  };
  if (error.is_not_found()) return true;
  return deletes ? error.is_status(409) && says(" precondition")
                 : error.is_status(422) && says("metadata.uid:");
}

// Whether a repetition may succeed. That includes 401, because the token may be renewed, and 409,
// because a patch that met another write can be repeated; and a 404 that is not the API server's.
bool may_pass(const k8s::Error& error) {
  if (error.kind != k8s::ErrorKind::kStatus) return error.kind != k8s::ErrorKind::kCancelled;
  return error.is_passing() || error.is_status(401) || error.is_status(409) || error.is_misrouted();
}

}  // namespace

Evictor::Evictor(k8s::EventLoop& loop, Calls calls, Options options, Hooks hooks)
    : loop_(loop), calls_(std::move(calls)), options_(options), hooks_(std::move(hooks)) {}

void Evictor::evict(decision::Evict decision) {
  if (stopped_ || !hooks_.waits(decision.pod.uid)) return;
  const auto shared = std::make_shared<const decision::Evict>(std::move(decision));
  Task& task = tasks_[shared->plan];
  task.decision = shared;
  task.limit = loop_.after(options_.give_up_after, [this, shared] { give_up(*shared); });
  queue_.push(shared->pod.namespace_, make_step(shared, shared->pod, Kind::kNominate));
  send_more();
}

void Evictor::forget(const std::string& uid) {
  for (auto each = tasks_.begin(); each != tasks_.end();) {
    const auto& [plan, task] = *each++;
    if (task.decision->pod.uid == uid) drop(plan);
  }
}

void Evictor::ended(const std::string& uid) {
  std::vector<StepPtr> victims;
  for (const StepPtr& step : begun_) {
    if (step->kind != Kind::kNominate && step->pod.uid == uid) victims.push_back(step);
  }
  for (const StepPtr& victim : victims) {
    if (begun_.erase(victim) == 0) continue;  // its decision is over
    victim->pause.reset();
    gone_before(*victim);
  }
  if (!victims.empty()) send_more();
}

void Evictor::stop() {
  stopped_ = true;
  queue_.clear();
  begun_.clear();
  tasks_.clear();
}

Evictor::StepPtr Evictor::make_step(std::shared_ptr<const decision::Evict> decision, PodRef pod,
                                    Kind kind) {
  return std::make_shared<Step>(Step{.decision = std::move(decision),
                                     .pod = std::move(pod),
                                     .kind = kind,
                                     .back_off = k8s::BackOff(++steps_, options_.back_off)});
}

void Evictor::send_more() {
  while (hooks_.may_send()) {
    const auto step = queue_.take(kMostOpen);
    if (!step) return;
    if (tasks_.contains((*step)->decision->plan)) send(*step);
  }
}

void Evictor::send(const StepPtr& step) {
  queue_.opened(step->pod.namespace_);
  begun_.insert(step);
  auto done = [this, alive = alive_, step](const k8s::Result<void>& result) {
    if (*alive) on_answer(step, result);
  };
  switch (step->kind) {
    case Kind::kNominate:
      tasks_.at(step->decision->plan).nominates = true;
      return calls_.nominate(step->pod, step->decision->node, std::move(done));
    case Kind::kTry:
      return calls_.try_delete(step->pod, std::move(done));
    case Kind::kMark:
      return calls_.set_disruption_target(
          step->pod, disruption_message(*step->decision, step->reclaimed), std::move(done));
    case Kind::kDelete:
      return calls_.delete_pod(step->pod, std::move(done));
  }
}

void Evictor::on_answer(const StepPtr& step, const k8s::Result<void>& result) {
  queue_.answered(step->pod.namespace_);
  // Also if nothing waits for the answer any more: the pod ends.
  if (result && step->kind == Kind::kDelete) {
    hooks_.on_evicted(*step->decision, {step->pod, step->reclaimed});
  }
  if (begun_.erase(step) > 0) {
    if (result) {
      on_done(step);
    } else {
      on_failed(step, result.error());
    }
  }
  send_more();
}

void Evictor::on_done(const StepPtr& step) {
  switch (step->kind) {
    case Kind::kNominate:
      tasks_.at(step->decision->plan).nominates = false;
      return begin_victims(step->decision, Kind::kTry);
    case Kind::kTry:
      return tried(*step);
    case Kind::kMark:
      step->kind = Kind::kDelete;
      step->back_off.reset();
      // Before others of its namespace, because the condition announces a deletion that follows at
      // once.
      return queue_.push_first(step->pod.namespace_, step);
    case Kind::kDelete:
      return gone(*step);
  }
}

void Evictor::on_failed(const StepPtr& step, const k8s::Error& error) {
  const bool is_victim = step->kind != Kind::kNominate;
  if (is_victim && is_gone(error, step->kind != Kind::kMark)) return gone_before(*step);
  if (may_pass(error)) return repeat(step, error);
  // The condition was refused for good. The pod is deleted all the same.
  if (step->kind == Kind::kMark) return on_done(step);
  end(*step->decision, failure_of(*step, error));
}

void Evictor::begin_victims(const std::shared_ptr<const decision::Evict>& decision, Kind kind) {
  if (decision->victims.empty()) return end(*decision, {});
  tasks_.at(decision->plan).left = decision->victims.size();
  for (const decision::Victim& victim : decision->victims) {
    StepPtr step = make_step(decision, victim.pod, kind);
    step->reclaimed = victim.reclaimed;
    queue_.push(step->pod.namespace_, step);
  }
}

// One that is gone by now is told so by its next call.
void Evictor::tried(const Step& victim) {
  if (--tasks_.at(victim.decision->plan).left == 0) begin_victims(victim.decision, Kind::kMark);
}

void Evictor::gone(const Step& victim) {
  if (--tasks_.at(victim.decision->plan).left == 0) end(*victim.decision, {});
}

void Evictor::gone_before(const Step& victim) {
  victim.kind == Kind::kTry ? tried(victim) : gone(victim);
}

void Evictor::repeat(const StepPtr& step, const k8s::Error& error) {
  tasks_.at(step->decision->plan).last_failure = failure_of(*step, error);
  begun_.insert(step);
  // The timer belongs to the step, so its task must not own it.
  step->pause = loop_.after(step->back_off.next(loop_.now(), error.retry_after),
                            [this, weak = std::weak_ptr(step)] {
                              const StepPtr due = weak.lock();
                              if (!due) return;
                              begun_.erase(due);
                              queue_.push_first(due->pod.namespace_, due);
                              send_more();
                            });
}

void Evictor::give_up(const decision::Evict& decision) {
  Failure failure = std::move(tasks_.at(decision.plan).last_failure);
  if (failure.told.empty()) {
    failure.told = fmt::format("making room on node {} was not done in time", decision.node);
    failure.in_full = failure.told;
  }
  end(decision, std::move(failure));
}

void Evictor::end(const decision::Evict& decision, Failure failure) {
  LogLine line(failure.told.empty() ? "room made" : "room not made");
  line.with("pod", decision.pod.namespace_ + "/" + decision.pod.name)
      .with("uid", decision.pod.uid)
      .with("node", decision.node)
      .with("victims", decision.victims.size());
  if (failure.told.empty()) {
    line.debug();
  } else {
    line.with("why", failure.in_full).warning();
  }
  const std::uint64_t plan = decision.plan;
  drop(plan);
  hooks_.on_outcome(plan, std::move(failure.told));
}

// This may destroy the decision: the steps may be its last owners.
void Evictor::drop(std::uint64_t plan) {
  std::erase_if(begun_, [&](const StepPtr& step) { return step->decision->plan == plan; });
  const Task task = std::move(tasks_.extract(plan).mapped());
  if (task.nominates) hooks_.on_may_be_nominated(task.decision->pod, task.decision->node);
}

Evictor::Failure Evictor::failure_of(const Step& step, const k8s::Error& error) {
  const std::string in_full =
      fmt::format("{} failed: {}",
                  text_of(step, "pod " + step.pod.namespace_ + "/" + step.pod.name), error.message);
  if (step.pod.namespace_ == step.decision->pod.namespace_) return {in_full, in_full};
  const std::string answer = error.kind == k8s::ErrorKind::kStatus
                                 ? fmt::format("HTTP {}", error.http_status)
                             : error.got_no_answer() ? "the API server did not answer"
                                                     : "the API server's answer cannot be read";
  return {fmt::format("{} failed: {}", text_of(step, "a pod of another namespace"), answer),
          in_full};
}

std::string Evictor::text_of(const Step& step, const std::string& pod) {
  switch (step.kind) {
    case Kind::kNominate:
      return fmt::format("nominating {} for node {}", pod, step.decision->node);
    case Kind::kMark:
      return fmt::format("setting the condition DisruptionTarget of {}", pod);
    case Kind::kTry:
    case Kind::kDelete:
      break;
  }
  return fmt::format("deleting {}", pod);
}

}  // namespace sched::live
