#include "scheduler/live/writes/status_writer.h"

#include <utility>

namespace sched::live {

namespace {

bool same(const k8s::PodScheduledCondition& a, const k8s::PodScheduledCondition& b) {
  return a.status == b.status && a.reason == b.reason && a.message == b.message &&
         a.observed_generation == b.observed_generation;
}

// Whether sending it again later may help. It may after 401 and 403, since a server that has just
// started may not know tokens and roles yet, and after 409, with which the server gives up when
// others keep writing in between. What does not help is that the pod is gone (404), or that another
// one has its name (422).
bool worth_repeating(const k8s::Error& error) {
  if (error.kind != k8s::ErrorKind::kStatus) return error.kind != k8s::ErrorKind::kCancelled;
  return error.is_passing() || error.is_status(401) || error.is_status(403) || error.is_status(409);
}

k8s::Pod pod_as_seen(const PodRef& ref, const std::optional<k8s::PodScheduledCondition>& carries) {
  k8s::Pod pod;
  pod.metadata.namespace_ = ref.namespace_;
  pod.metadata.name = ref.name;
  pod.metadata.uid = ref.uid;
  if (carries) {
    pod.status.conditions.push_back({.type = "PodScheduled",
                                     .status = carries->status,
                                     .reason = carries->reason,
                                     .message = carries->message,
                                     .observed_generation = carries->observed_generation});
  }
  return pod;
}

}  // namespace

struct StatusWriter::PodState {
  explicit PodState(k8s::BackOff own) : back_off(own) {}

  PodRef pod;
  std::optional<k8s::PodScheduledCondition> wanted;   // to be written; nullopt: nothing
  std::optional<k8s::PodScheduledCondition> written;  // what the server has, as far as we know
  bool in_flight = false;
  bool may_land = false;   // a write failed without an answer that says what became of it
  bool forgotten = false;  // while a write was under way
  bool bound = false;      // while one was under way or could land; what is wanted is the last
  k8s::BackOff back_off;
  std::unique_ptr<k8s::Timer> retry_timer;
};

StatusWriter::StatusWriter(k8s::EventLoop& loop, Write write, Options options, Hooks hooks)
    : loop_(loop), write_(std::move(write)), options_(options), hooks_(std::move(hooks)) {}

StatusWriter::~StatusWriter() { *alive_ = false; }

StatusWriter::PodState& StatusWriter::state_of(const std::string& uid) {
  auto& state = pods_[uid];
  if (!state) state = std::make_unique<PodState>(k8s::BackOff(++seen_, options_.back_off));
  return *state;
}

void StatusWriter::write(const PodRef& pod, k8s::PodScheduledCondition condition) {
  PodState& state = state_of(pod.uid);
  if (state.bound) return;
  state.pod = pod;
  state.forgotten = false;
  const bool queued = state.wanted.has_value();
  if (state.written && same(*state.written, condition) && !state.in_flight) {
    // What waits, if anything, is out of date too. Its place in the queue finds nothing to do.
    state.wanted.reset();
    return;
  }
  state.wanted = std::move(condition);
  if (queued || state.in_flight || state.retry_timer) return;
  ready_.push_back(pod.uid);
  send_more();
}

void StatusWriter::observed(const k8s::Pod& pod) {
  const k8s::PodCondition* condition = pod.condition("PodScheduled");
  if (condition == nullptr) return;
  PodState& state = state_of(pod.metadata.uid);
  if (state.written || state.in_flight) return;
  state.written = k8s::PodScheduledCondition{.status = condition->status,
                                             .reason = condition->reason,
                                             .message = condition->message,
                                             .observed_generation = condition->observed_generation};
}

void StatusWriter::bound(const std::string& uid) {
  const auto found = pods_.find(uid);
  if (found == pods_.end() || found->second->bound) return;
  PodState& state = *found->second;
  if (!state.in_flight && !state.may_land) return forget(uid);
  state.bound = true;
  state.wanted = k8s::PodScheduledCondition{.status = "True"};
}

void StatusWriter::forget(const std::string& uid) {
  const auto found = pods_.find(uid);
  if (found == pods_.end()) return;
  PodState& state = *found->second;
  if (state.retry_timer) --retrying_;
  state.retry_timer.reset();
  state.wanted.reset();
  if (state.in_flight) {
    state.forgotten = true;
  } else {
    pods_.erase(found);
  }
}

void StatusWriter::send_more() {
  while (!ready_.empty() && in_flight_ < (hooks_.binds_wait() ? 1 : options_.max_in_flight)) {
    const std::string uid = std::move(ready_.front());
    ready_.pop_front();
    if (const auto found = pods_.find(uid); found != pods_.end()) {
      PodState& state = *found->second;
      if (state.wanted && !state.in_flight && !state.retry_timer) send(uid, state);
    }
    if (ready_.empty()) hooks_.on_all_sent();
  }
}

void StatusWriter::send(const std::string& uid, PodState& state) {
  state.in_flight = true;
  ++in_flight_;
  const k8s::Pod seen = pod_as_seen(state.pod, state.written);
  state.written = std::exchange(state.wanted, std::nullopt);
  write_(seen, *state.written, [this, alive = alive_, uid](const k8s::Result<void>& result) {
    if (*alive) on_result(uid, result);
  });
}

void StatusWriter::on_result(const std::string& uid, const k8s::Result<void>& result) {
  --in_flight_;
  if (result || result.error().is_status(404)) hooks_.on_answered();
  if (const auto found = pods_.find(uid); found != pods_.end()) {
    PodState& state = *found->second;
    state.in_flight = false;
    if (state.forgotten) {
      pods_.erase(found);
    } else if (result) {
      written(uid, state);
    } else if (worth_repeating(result.error())) {
      retry(uid, state, result.error());
    } else {
      give_up(uid, state, result.error());
    }
  }
  send_more();
}

void StatusWriter::written(const std::string& uid, PodState& state) {
  state.back_off.reset();
  state.may_land = false;
  if (state.wanted && same(*state.wanted, *state.written)) state.wanted.reset();
  if (state.wanted) {
    ready_.push_back(uid);
  } else if (state.bound) {
    pods_.erase(uid);
  }
}

void StatusWriter::give_up(const std::string& uid, PodState& state, const k8s::Error& error) {
  if (!error.is_status(404)) hooks_.on_problem(error, std::chrono::milliseconds(0));
  // Nothing is known of the pod any more, so whatever is said of it next is news.
  if (!state.wanted) {
    pods_.erase(uid);
    return;
  }
  state.written.reset();
  ready_.push_back(uid);
}

void StatusWriter::retry(const std::string& uid, PodState& state, const k8s::Error& error) {
  const auto delay = state.back_off.next(loop_.now(), error.retry_after);
  state.may_land |= error.may_have_acted;
  // A newer text, if there is one, goes out in its place.
  if (!state.wanted) state.wanted = std::move(state.written);
  state.written.reset();
  hooks_.on_problem(error, delay);
  ++retrying_;
  state.retry_timer = loop_.after(delay, [this, uid] {
    const auto found = pods_.find(uid);
    if (found == pods_.end()) return;
    --retrying_;
    found->second->retry_timer.reset();
    ready_.push_back(uid);
    send_more();
  });
}

}  // namespace sched::live
