#include "scheduler/live/writes/quota_status_writer.h"

#include <optional>
#include <utility>

namespace sched::live {

namespace {

using k8s::GpuQuota;

GpuQuota::Status without_times(GpuQuota::Status status) {
  for (k8s::Condition& condition : status.conditions) condition.last_transition_time.reset();
  return status;
}

bool says(const std::optional<GpuQuota::Status>& carried, const GpuQuota::Status& wanted) {
  return carried && without_times(*carried) == without_times(wanted);
}

// A condition's time is when its status changed last.
GpuQuota::Status with_times(GpuQuota::Status wanted, const std::optional<GpuQuota::Status>& carried,
                            k8s::Timestamp now) {
  for (k8s::Condition& condition : wanted.conditions) {
    condition.last_transition_time = now;
    if (!carried) continue;
    for (const k8s::Condition& before : carried->conditions) {
      if (before.type == condition.type && before.status == condition.status &&
          before.last_transition_time) {
        condition.last_transition_time = before.last_transition_time;
      }
    }
  }
  return wanted;
}

// The write succeeded; or the object has changed or is gone, and the watch will show it.
bool is_answer(const k8s::Result<void>& result) {
  return result || result.error().is_status(409) || result.error().is_status(404);
}

}  // namespace

struct QuotaStatusWriter::State {
  explicit State(k8s::BackOff own) : back_off(own) {}

  k8s::ObjectMeta metadata;                 // from the watch
  std::optional<GpuQuota::Status> carried;  // from the watch
  std::optional<GpuQuota::Status> wanted;   // nullopt: none from the engine yet
  // The last write, and the version of the object that it was for; empty if it failed. It is not
  // sent for that version again: the watch will show what came of it, or nothing did, where the
  // server does not keep all of a status (an older definition).
  std::optional<GpuQuota::Status> sent;
  std::string sent_for;
  bool is_ready = false;  // has a place in the queue
  bool in_flight = false;
  bool forgotten = false;             // while a write was under way
  k8s::BackOff back_off;              // after a write that fails
  std::unique_ptr<k8s::Timer> pause;  // until the next write may be sent
};

QuotaStatusWriter::QuotaStatusWriter(k8s::EventLoop& loop, Write write, Options options,
                                     Hooks hooks)
    : loop_(loop), write_(std::move(write)), options_(options), hooks_(std::move(hooks)) {}

QuotaStatusWriter::~QuotaStatusWriter() { *alive_ = false; }

void QuotaStatusWriter::observed(const GpuQuota& quota) {
  auto& state = quotas_[quota.metadata.uid];
  if (!state) {
    state = std::make_unique<State>(k8s::BackOff(++seen_, options_.back_off));
  }
  state->metadata = quota.metadata;
  state->carried = quota.status;
  state->forgotten = false;
  consider(quota.metadata.uid, *state);
}

void QuotaStatusWriter::forget(const std::string& uid) {
  const auto found = quotas_.find(uid);
  if (found == quotas_.end()) return;
  if (found->second->in_flight) {
    found->second->forgotten = true;
  } else {
    quotas_.erase(found);
  }
}

void QuotaStatusWriter::want(const std::vector<QuotaStatus>& statuses) {
  for (const QuotaStatus& each : statuses) {
    // The engine may still report a quota that the watch has shown to be gone.
    const auto found = quotas_.find(each.uid);
    if (found == quotas_.end()) continue;
    found->second->wanted = each.status;
    consider(each.uid, *found->second);
  }
}

bool QuotaStatusWriter::is_due(const State& state) {
  if (state.in_flight || state.pause) return false;
  if (!state.wanted || says(state.carried, *state.wanted)) return false;
  return state.sent_for != state.metadata.resource_version || !says(state.sent, *state.wanted);
}

void QuotaStatusWriter::consider(const std::string& uid, State& state) {
  if (!is_due(state) || std::exchange(state.is_ready, true)) return;
  queue_.push(uid, uid);
  send_more();
}

void QuotaStatusWriter::send_more() {
  while (!stopped_) {
    const auto uid = take();
    if (!uid) return;
    const auto found = quotas_.find(*uid);
    if (found == quotas_.end()) continue;
    found->second->is_ready = false;
    if (is_due(*found->second)) send(*uid, *found->second);
  }
}

std::optional<std::string> QuotaStatusWriter::take() {
  if (queue_.open() >= options_.max_open) return std::nullopt;
  return hooks_.binds_wait() ? queue_.take_behind_binds() : queue_.take(options_.max_open);
}

void QuotaStatusWriter::send(const std::string& uid, State& state) {
  state.in_flight = true;
  const bool behind_binds = hooks_.binds_wait();
  queue_.opened(uid, behind_binds);
  // metav1.Time is in whole seconds.
  const auto now = std::chrono::floor<std::chrono::seconds>(hooks_.wall_clock());
  const GpuQuota::Status status = with_times(*state.wanted, state.carried, now);
  state.sent = status;
  state.sent_for = state.metadata.resource_version;
  write_(state.metadata, status,
         [this, alive = alive_, uid, behind_binds](const k8s::Result<void>& result) {
           if (!*alive) return;
           queue_.answered(uid, behind_binds);
           on_result(uid, result);
         });
}

// How long to pause after a write to the object with this outcome.
std::chrono::milliseconds QuotaStatusWriter::delay_after(State& state,
                                                         const k8s::Result<void>& result) {
  if (is_answer(result)) {
    state.back_off.reset();
    return options_.interval;
  }
  const auto delay = state.back_off.next(loop_.now(), result.error().retry_after);
  hooks_.on_problem(result.error(), delay);
  return delay;
}

void QuotaStatusWriter::on_result(const std::string& uid, const k8s::Result<void>& result) {
  if (is_answer(result)) hooks_.on_answered();
  take_in(uid, result);
  send_more();
}

void QuotaStatusWriter::take_in(const std::string& uid, const k8s::Result<void>& result) {
  const auto found = quotas_.find(uid);
  if (found == quotas_.end()) return;
  State& state = *found->second;
  state.in_flight = false;
  if (state.forgotten) {
    quotas_.erase(found);
    return;
  }
  if (!result) state.sent_for.clear();
  state.pause = loop_.after(delay_after(state, result), [this, uid] {
    const auto due = quotas_.find(uid);
    if (due == quotas_.end()) return;
    due->second->pause.reset();
    consider(uid, *due->second);
  });
}

}  // namespace sched::live
