#include "scheduler/live/writes/status_writer.h"

#include <algorithm>
#include <utility>

namespace sched::live {

namespace {

// More than one, so that their number grows while they succeed.
constexpr int kTriedAfterSuccess = 2;

// Whether the pod has all that is wanted. `nominated`: the node for which it is nominated, if
// known.
bool has_it(const k8s::PodScheduledCondition& has, const std::optional<std::string>& nominated,
            const k8s::PodScheduledCondition& wanted) {
  return has.status == wanted.status && has.reason == wanted.reason &&
         has.message == wanted.message && has.observed_generation == wanted.observed_generation &&
         (!wanted.nominated_node || wanted.nominated_node == nominated);
}

// Perhaps for ever; but a server that has just started may not have read tokens and roles yet.
bool is_refusal(const k8s::Error& error) { return error.is_status(401) || error.is_status(403); }

// Whether sending it again later may help. After a refusal it may; after a redirect or a 404 that
// comes from something between; and after 409, with a newer version of the pod. It does not help if
// the pod is gone (404), or if another pod has its name (422).
bool worth_repeating(const k8s::Error& error) {
  if (error.kind != k8s::ErrorKind::kStatus) return error.kind != k8s::ErrorKind::kCancelled;
  const bool is_redirect = error.http_status >= 300 && error.http_status < 400;
  return error.is_passing() || is_redirect || is_refusal(error) || error.is_misrouted() ||
         error.is_status(409);
}

// The write succeeded; or the pod has changed or is gone, and the watch will show it.
bool watch_tells(const k8s::Result<void>& result) {
  return result || result.error().is_not_found() || result.error().is_status(409);
}

// `status`: of its condition PodScheduled; empty: it has none.
k8s::Pod pod_as_seen(const PodRef& ref, const std::string& version, const std::string& status) {
  k8s::Pod pod;
  pod.metadata.namespace_ = ref.namespace_;
  pod.metadata.name = ref.name;
  pod.metadata.uid = ref.uid;
  pod.metadata.resource_version = version;
  if (!status.empty()) {
    pod.status.conditions.push_back(
        {.type = "PodScheduled", .status = status, .reason = {}, .message = {}});
  }
  return pod;
}

}  // namespace

struct StatusWriter::PodState {
  explicit PodState(k8s::BackOff own) : back_off(own) {}

  PodRef pod;
  std::string version;                                // from the watch
  std::string status;                                 // of its condition then; empty: it has none
  std::string sent_at;                                // the version of the last write; empty: none
  std::optional<k8s::PodScheduledCondition> wanted;   // to be written; nullopt: nothing
  std::optional<k8s::PodScheduledCondition> written;  // what the server has, as far as known
  // status.nominatedNodeName there, as the watch shows it or the last write has left it; nullopt:
  // not known.
  std::optional<std::string> nominated;
  bool in_flight = false;
  bool forgotten = false;   // while a write was under way
  bool conflicted = false;  // `version` was refused; try a newer one at once
  bool failed = false;      // the last write did, whatever the version
  k8s::BackOff back_off;
  std::unique_ptr<k8s::Timer> retry_timer;
};

StatusWriter::StatusWriter(k8s::EventLoop& loop, Write write, Options options, Hooks hooks)
    : loop_(loop), write_(std::move(write)), options_(options), hooks_(std::move(hooks)) {}

StatusWriter::~StatusWriter() { *alive_ = false; }

void StatusWriter::write(const PodRef& pod, k8s::PodScheduledCondition condition) {
  if (!shows(pod.uid)) return;
  PodState& state = *pods_.at(pod.uid);
  state.pod = pod;
  const bool queued = state.wanted.has_value();
  if (const auto late = late_nominations_.find(pod.uid);
      late != late_nominations_.end() && condition.nominated_node) {
    late->second.instead = *condition.nominated_node;
  }
  // A change of the nomination that is not written yet is kept if the newer text does not set the
  // nomination.
  if (queued && !condition.nominated_node) condition.nominated_node = state.wanted->nominated_node;
  // The evictor nominates such a pod, too (evictor.h), and the watch may not show that yet: what
  // the server has is not known.
  const bool is_nominated = condition.nominated_node && !condition.nominated_node->empty();
  if (is_nominated && condition.nominated_node != state.nominated) state.nominated = std::nullopt;
  if (state.written && has_it(*state.written, state.nominated, condition) && !state.in_flight) {
    // A waiting text is outdated, too. Its place in the queue then has nothing to write.
    state.wanted.reset();
    return;
  }
  state.wanted = std::move(condition);
  if (queued || state.in_flight || state.retry_timer) return;
  make_ready(pod.uid, state);
}

void StatusWriter::replace(const PodRef& pod, k8s::PodScheduledCondition condition) {
  const auto found = pods_.find(pod.uid);
  if (found == pods_.end()) return;
  const PodState& state = *found->second;
  if (state.written || state.wanted) write(pod, std::move(condition));
}

void StatusWriter::may_be_nominated(const PodRef& pod, const std::string& node) {
  if (shows(pod.uid)) late_nominations_[pod.uid] = {.node = node, .instead = {}};
}

// The pod keeps what else it says, or is about to.
void StatusWriter::end_late_nomination(const k8s::Pod& pod, const PodState& state) {
  const auto late = late_nominations_.find(pod.metadata.uid);
  if (late == late_nominations_.end() || state.nominated != late->second.node) return;
  const auto& [node, instead] = late->second;
  const auto& says = state.wanted ? state.wanted : state.written;
  if (!instead || instead == node || !says) return;
  k8s::PodScheduledCondition condition = *says;
  condition.nominated_node = instead;
  // Otherwise the watch may show an earlier nomination, which is about to be removed.
  const bool is_late = !state.wanted && !state.in_flight;
  if (is_late) late_nominations_.erase(late);
  write({pod.metadata.namespace_, pod.metadata.name, pod.metadata.uid}, std::move(condition));
}

void StatusWriter::observed(const k8s::Pod& pod) {
  const std::string& uid = pod.metadata.uid;
  auto& known = pods_[uid];
  if (!known) known = std::make_unique<PodState>(k8s::BackOff(++seen_, options_.back_off));
  PodState& state = *known;
  state.version = pod.metadata.resource_version;
  state.forgotten = false;
  state.nominated = pod.status.nominated_node_name;
  // At the version of the last write the watch shows the state before it. What it shows later
  // contains that write, and what others have written since, or an earlier write of this process
  // that was carried out late.
  const bool is_later = state.version != state.sent_at;
  const k8s::PodCondition* condition = pod.condition("PodScheduled");
  state.status = condition != nullptr ? condition->status : "";
  if (condition != nullptr && !state.in_flight && (is_later || !state.written)) {
    state.written =
        k8s::PodScheduledCondition{.status = condition->status,
                                   .reason = condition->reason,
                                   .message = condition->message,
                                   .observed_generation = condition->observed_generation};
  }
  end_late_nomination(pod, state);
  if (!state.conflicted || state.version == state.sent_at) return;
  end_pause(state);
  make_ready(uid, state);
}

void StatusWriter::forget(const std::string& uid) {
  const auto found = pods_.find(uid);
  if (found == pods_.end()) return;
  PodState& state = *found->second;
  late_nominations_.erase(uid);
  end_pause(state);
  state.wanted.reset();
  if (state.in_flight) {
    state.forgotten = true;
  } else {
    pods_.erase(found);
  }
}

bool StatusWriter::shows(const std::string& uid) const {
  const auto found = pods_.find(uid);
  return found != pods_.end() && !found->second->forgotten;
}

void StatusWriter::repeat_nothing() {
  ending_ = true;
  for (const auto& [uid, state] : pods_) {
    if (!state->retry_timer) continue;
    end_pause(*state);
    state->wanted.reset();
  }
}

void StatusWriter::make_ready(const std::string& uid, const PodState& state) {
  queue_.push(state.pod.namespace_, uid);
  send_more();
}

void StatusWriter::end_pause(PodState& state) {
  state.conflicted = false;
  if (!state.retry_timer) return;
  state.retry_timer.reset();
  --retrying_;
  failed_.erase({state.pod.namespace_, state.pod.uid});
}

// Of that namespace, then of those after it in the order of names.
void StatusWriter::retry_others(const std::string& namespace_) {
  for (int left = kTriedAfterSuccess; left > 0 && !failed_.empty(); --left) {
    auto next = failed_.lower_bound({namespace_, std::string()});
    if (next == failed_.end()) next = failed_.begin();
    const auto [its_namespace, uid] = *next;
    end_pause(*pods_.at(uid));
    queue_.push(its_namespace, uid);
  }
}

std::optional<std::string> StatusWriter::take() {
  if (!hooks_.binds_wait()) return queue_.take(options_.max_in_flight);
  if (queue_.open() >= options_.max_in_flight) return std::nullopt;
  return queue_.take_behind_binds();
}

void StatusWriter::send_more() {
  while (const auto uid = take()) {
    const auto found = pods_.find(*uid);
    if (found == pods_.end()) continue;
    PodState& state = *found->second;
    // The pod may have that status by now.
    if (state.wanted && state.written && has_it(*state.written, state.nominated, *state.wanted)) {
      if (!state.in_flight) state.wanted.reset();
    }
    if (state.wanted && !state.in_flight && !state.retry_timer) send(*uid, state);
  }
}

void StatusWriter::send(const std::string& uid, PodState& state) {
  state.in_flight = true;
  const bool behind_binds = hooks_.binds_wait();
  queue_.opened(state.pod.namespace_, behind_binds);
  state.sent_at = state.version;
  const k8s::Pod seen = pod_as_seen(state.pod, state.version, state.status);
  state.written = std::exchange(state.wanted, std::nullopt);
  k8s::PodScheduledCondition news = *state.written;
  if (news.nominated_node == state.nominated) news.nominated_node.reset();
  write_(seen, news,
         [this, alive = alive_, uid, namespace_ = state.pod.namespace_,
          behind_binds](const k8s::Result<void>& result) {
           if (!*alive) return;
           queue_.answered(namespace_, behind_binds);
           on_result(uid, result);
         });
}

void StatusWriter::on_result(const std::string& uid, const k8s::Result<void>& result) {
  if (watch_tells(result)) hooks_.on_answered();
  if (const auto found = pods_.find(uid); found != pods_.end()) {
    PodState& state = *found->second;
    state.in_flight = false;
    if (state.forgotten) {
      pods_.erase(found);
    } else if (!result) {
      on_failed(uid, state, result.error());
    } else {
      state.back_off.reset();
      if (std::exchange(state.failed, false)) retry_others(state.pod.namespace_);
      // Otherwise the watch has shown this write, or a later one, already.
      const bool is_newest = state.version == state.sent_at;
      if (is_newest && state.written->nominated_node) {
        state.nominated = state.written->nominated_node;
      }
      if (state.wanted) queue_.push(state.pod.namespace_, uid);
    }
  }
  send_more();
}

void StatusWriter::on_failed(const std::string& uid, PodState& state, const k8s::Error& error) {
  const auto failed = std::exchange(state.written, std::nullopt);
  if (worth_repeating(error)) {
    // A newer text, if there is one, goes out in its place.
    if (!state.wanted) state.wanted = failed;
    if (!state.wanted->nominated_node) state.wanted->nominated_node = failed->nominated_node;
    return retry(uid, state, error);
  }
  if (!error.is_not_found()) hooks_.on_problem(error, std::chrono::milliseconds(0));
  if (state.wanted) queue_.push(state.pod.namespace_, uid);
}

void StatusWriter::retry(const std::string& uid, PodState& state, const k8s::Error& error) {
  if (ending_) return state.wanted.reset();
  const bool changed = error.is_status(409);
  if (changed && state.version != state.sent_at) return queue_.push(state.pod.namespace_, uid);
  auto delay = state.back_off.next(loop_.now(), error.retry_after);
  state.failed = !changed;
  if (state.failed) {
    failed_.emplace(state.pod.namespace_, uid);
    const auto failed = static_cast<std::int64_t>(failed_.size());
    delay = std::max(delay, options_.between_failed * failed);
    hooks_.on_problem(error, delay);
  }
  state.conflicted = changed;
  ++retrying_;
  state.retry_timer = loop_.after(delay, [this, uid] {
    const auto found = pods_.find(uid);
    if (found == pods_.end()) return;
    end_pause(*found->second);
    make_ready(uid, *found->second);
  });
}

}  // namespace sched::live
