#include "scheduler/live/writes/binder.h"

#include "scheduler/live/writes/bind_answer.h"
#include "scheduler/quota/charged_as.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace sched::live {

namespace {

using std::chrono::milliseconds;

// How often stale decisions are looked for.
constexpr milliseconds kLookForStale{250};

k8s::Binding binding_of(const decision::Bind& bind) {
  k8s::Binding binding{.namespace_ = bind.pod.namespace_,
                       .pod = bind.pod.name,
                       .pod_uid = bind.pod.uid,
                       .node = bind.node};
  if (bind.charged_as) {
    binding.annotations.set(quota::kChargedAsAnnotation, *bind.charged_as);
    binding.annotations.set(quota::kChargedAtAnnotation, quota::text_of(bind.charged_at));
  }
  return binding;
}

}  // namespace

// One decision, from the first call to its outcome.
struct Binder::Attempt {
  Attempt(Id id_, BindQueue::Waiting taken, k8s::BackOff back_off_)
      : id(id_),
        group(std::move(taken.group)),
        bind(std::move(taken.bind)),
        waited_since(taken.since),
        back_off(back_off_) {}

  Id id;
  BindGroup group;
  decision::Bind bind;
  TimePoint waited_since;
  k8s::BackOff back_off;
  int calls = 0;
  TimePoint first_sent{};
  TimePoint read_at{};  // when the last read began
  // Until then a call of this attempt may be carried out without an answer; nullopt: every call so
  // far was answered for certain.
  std::optional<TimePoint> may_land_until;
  bool is_aside = false;
  bool unanswered = false;  // a call's outcome was unknown, or the server asked for a pause
  bool again = false;       // the pod's last attempt ended in that way
  bool told = false;
  bool is_put_off = false;  // certainly not done; it is sent again when its timer ends
  // What the watch has shown. It ends the attempt, unless an answer does so before.
  std::optional<Settled> shown;
  // Why the last call did not bind the pod, for the outcome's message.
  std::string last_error;
  std::unique_ptr<k8s::Timer> timer;
};

Binder::Binder(k8s::EventLoop& loop, Calls calls, Options options, Hooks hooks)
    : loop_(loop),
      calls_(std::move(calls)),
      options_(options),
      hooks_(std::move(hooks)),
      queue_(options.queue) {}

Binder::~Binder() { *alive_ = false; }

void Binder::bind(decision::Bind decision) {
  if (dropping_) return;
  BindGroup group{decision.pod.namespace_, unanswered_.contains(decision.pod.uid)};
  queue_.push(std::move(group), std::move(decision), loop_.now());
  send_more();
}

void Binder::drop_waiting() {
  dropping_ = true;
  queue_.clear();
  for (auto next = attempts_.begin(); next != attempts_.end();) {
    Attempt& attempt = *next++->second;
    if (attempt.is_put_off) put_off(attempt);
  }
}

// ---- decisions that wait

void Binder::send_more() {
  while (hooks_.may_send()) {
    auto taken = queue_.take();
    if (!taken) break;
    const Id id = next_id_++;
    auto attempt =
        std::make_unique<Attempt>(id, std::move(*taken), k8s::BackOff(id, options_.back_off));
    attempt->again = unanswered_.contains(attempt->bind.pod.uid);
    of_pod_.emplace(attempt->bind.pod.uid, id);
    send(*attempts_.emplace(id, std::move(attempt)).first->second);
  }
  give_back_stale();
}

void Binder::give_back_stale() {
  for (BindQueue::Stale& stale : queue_.take_stale(loop_.now())) {
    // Other causes of delay, the server or the lease, are logged once and not reported for each
    // pod.
    const BindEnd end = stale.stuck ? BindEnd::kStuck : BindEnd::kGivenBack;
    std::string why = stale.stuck ? "the binds of this namespace before it are not answered" : "";
    hooks_.on_outcome({std::move(stale.bind), end, std::move(why)});
  }
  if (queue_.size() == 0 || stale_timer_) return;
  stale_timer_ = loop_.after(kLookForStale, [this] {
    stale_timer_.reset();
    send_more();
  });
}

// The bind may not be sent now.
void Binder::put_off(Attempt& attempt) {
  if (attempt.may_land_until) return look_later(attempt, nullptr);
  // No call of it is under way: the bind returns to the queue.
  take_back(attempt);
  const auto taken = take_out(attempt);
  if (!dropping_) {
    queue_.put_back({std::move(taken->group), std::move(taken->bind), taken->waited_since});
  }
  give_back_stale();
}

// ---- calls and answers

void Binder::send(Attempt& attempt) {
  if (!hooks_.may_send()) return put_off(attempt);
  attempt.is_put_off = false;
  if (attempt.calls++ == 0) attempt.first_sent = loop_.now();
  queue_.opened(attempt.group);
  calls_.bind(binding_of(attempt.bind), options_.deadline,
              [this, alive = alive_, id = attempt.id,
               group = attempt.group](const k8s::Result<void>& result) {
                if (*alive) on_answer(id, group, result);
              });
}

void Binder::on_answer(Id id, const BindGroup& group, const k8s::Result<void>& result) {
  queue_.answered(group);
  Attempt* attempt = find(id);
  if (attempt == nullptr) return send_more();  // the watch has settled it
  if (result) return finish(*attempt, BindEnd::kBound, {});
  if (attempt->shown) return finish_as_shown(*attempt);
  const k8s::Error& error = result.error();
  attempt->last_error = error.message;
  switch (bind_answer(error)) {
    case BindAnswer::kConflict:
      set_aside(*attempt);
      look(*attempt);
      break;
    case BindAnswer::kLater:
      on_later(*attempt, error);
      break;
    case BindAnswer::kUnknown:
      // The server counts its deadline from the arrival of the request. That was before this
      // answer, or timeout, came, so counting from now on is safe; the margin is for the
      // transmission.
      attempt->may_land_until = loop_.now() + options_.deadline + options_.margin;
      attempt->unanswered = true;
      set_aside(*attempt);
      look_later(*attempt, &error);
      break;
    case BindAnswer::kNotAllowed:
      on_refused(*attempt, error, BindEnd::kUnanswered);
      break;
    case BindAnswer::kRefused: {
      const bool answered = error.kind == k8s::ErrorKind::kStatus && !error.is_misrouted();
      on_refused(*attempt, error, answered ? BindEnd::kFailed : BindEnd::kUnanswered);
      break;
    }
  }
  send_more();
}

// `end`: the outcome, unless the pod is gone or an earlier call may have bound it.
void Binder::on_refused(Attempt& attempt, const k8s::Error& error, BindEnd end) {
  // It waited for a connection until it was too late to send it. It may be sent again by now.
  const bool is_closed = error.kind != k8s::ErrorKind::kStatus && !hooks_.may_send();
  if (error.too_late || is_closed) return put_off(attempt);
  // An earlier call may still be carried out, whatever the answer to this one is.
  if (attempt.may_land_until) return look_later(attempt, &error);
  if (error.is_not_found()) return finish(attempt, BindEnd::kOvertaken, "the pod is gone");
  hooks_.on_problem(error, milliseconds(0));
  finish(attempt, end, error.message);
}

void Binder::on_later(Attempt& attempt, const k8s::Error& error) {
  attempt.unanswered = true;
  if (attempt.may_land_until) return look_later(attempt, &error);
  const milliseconds pause = next_pause(attempt, &error);
  hooks_.on_problem(error, pause);
  const bool late = loop_.now() + pause >= attempt.first_sent + options_.tell_after;
  if (late || attempt.again) return finish(attempt, BindEnd::kUnanswered, error.message);
  if (dropping_) return put_off(attempt);
  set_aside(attempt);
  attempt.is_put_off = true;
  after(pause, attempt, &Binder::send);
}

// ---- what is set aside

void Binder::set_aside(Attempt& attempt) {
  if (std::exchange(attempt.is_aside, true)) return;
  queue_.set_aside(attempt.group, loop_.now());
  hooks_.on_set_aside(++aside_);
}

void Binder::take_back(Attempt& attempt) {
  if (!std::exchange(attempt.is_aside, false)) return;
  queue_.settled(attempt.group);
  hooks_.on_set_aside(--aside_);
}

void Binder::look(Attempt& attempt) {
  looks_.push_back(attempt.id);
  read_more();
}

// Reads the pod after a pause. It ends at the latest when the next report is due, and when an
// unbound pod begins to settle the outcome.
void Binder::look_later(Attempt& attempt, const k8s::Error* error) {
  milliseconds pause = next_pause(attempt, error);
  const auto not_beyond = [&](TimePoint at) {
    const auto until = std::chrono::ceil<milliseconds>(at - loop_.now());
    if (until > milliseconds(0)) pause = std::min(pause, until);
  };
  if (!attempt.told && !attempt.again) not_beyond(attempt.first_sent + options_.tell_after);
  if (attempt.may_land_until) not_beyond(*attempt.may_land_until);
  if (error != nullptr) hooks_.on_problem(*error, pause);
  after(pause, attempt, &Binder::look);
}

void Binder::read_more() {
  while (!looks_.empty() && open_reads_ < options_.max_open_reads) {
    const Id id = looks_.front();
    looks_.pop_front();
    if (Attempt* attempt = find(id)) read(*attempt);
  }
}

void Binder::read(Attempt& attempt) {
  const PodRef& pod = attempt.bind.pod;
  attempt.read_at = loop_.now();
  ++open_reads_;
  calls_.get_pod(pod.namespace_, pod.name,
                 [this, alive = alive_, id = attempt.id](const k8s::Result<k8s::Pod>& result) {
                   if (!*alive) return;
                   --open_reads_;
                   on_read(id, result);
                   read_more();
                 });
}

void Binder::on_read(Id id, const k8s::Result<k8s::Pod>& result) {
  Attempt* attempt = find(id);
  if (attempt == nullptr) return;
  if (attempt->shown) return finish_as_shown(*attempt);
  if (!result) {
    if (result.error().is_not_found()) {
      return finish(*attempt, BindEnd::kOvertaken, "the pod is gone");
    }
    tell_if_due(*attempt);
    return look_later(*attempt, &result.error());
  }
  if (auto settled = settled_by(*result, attempt->bind)) {
    return finish(*attempt, settled->end, std::move(settled->message));
  }
  on_unbound(*attempt);
}

void Binder::on_unbound(Attempt& attempt) {
  // The read began after the last moment at which a call could be carried out: its result is final.
  const bool final = !attempt.may_land_until || attempt.read_at >= *attempt.may_land_until;
  const BindEnd end = attempt.unanswered ? BindEnd::kUnanswered : BindEnd::kFailed;
  if (final) return finish(attempt, end, attempt.last_error);
  tell_if_due(attempt);
  if (may_send_again(attempt)) return send(attempt);
  look_later(attempt, nullptr);
}

bool Binder::may_send_again(const Attempt& attempt) const {
  if (attempt.again || dropping_ || !hooks_.may_send()) return false;
  const bool early = loop_.now() < attempt.first_sent + options_.send_again_within;
  return (early || attempt.calls == 1) && queue_.has_room(attempt.group);
}

void Binder::tell_if_due(Attempt& attempt) {
  if (attempt.again || loop_.now() < attempt.first_sent + options_.tell_after) return;
  if (std::exchange(attempt.told, true)) return;
  unanswered_.insert(attempt.bind.pod.uid);
  hooks_.on_unsettled(attempt.bind, attempt.last_error);
}

milliseconds Binder::next_pause(Attempt& attempt, const k8s::Error* error) {
  return attempt.back_off.next(loop_.now(), error != nullptr ? error->retry_after : std::nullopt);
}

void Binder::after(milliseconds delay, Attempt& attempt, Action action) {
  attempt.timer = loop_.after(delay, [this, id = attempt.id, action] {
    if (Attempt* found = find(id)) (this->*action)(*found);
  });
}

// ---- what the watch shows

// A pod's node and the mark that it is being deleted never change again, so all of this is certain
// however old it is.
std::optional<Binder::Settled> Binder::settled_by(const k8s::Pod& pod, const decision::Bind& bind) {
  if (pod.metadata.uid != bind.pod.uid) {
    return Settled{BindEnd::kOvertaken, "the pod is gone; another one has its name"};
  }
  const std::string& node = pod.spec.node_name;
  if (node == bind.node) return Settled{BindEnd::kBound, {}};
  if (!node.empty()) {
    return Settled{BindEnd::kOvertaken, "the pod was bound to " + node + " meanwhile"};
  }
  if (pod.is_terminating()) return Settled{BindEnd::kOvertaken, "the pod is being deleted"};
  return std::nullopt;
}

void Binder::observed(const k8s::Pod& pod) {
  const auto [begin, end] = of_pod_.equal_range(pod.metadata.uid);
  for (auto each = begin; each != end; ++each) {
    Attempt& attempt = *attempts_.at(each->second);
    if (auto settled = settled_by(pod, attempt.bind)) on_shown(attempt, *std::move(settled));
  }
}

void Binder::forget(const std::string& uid) {
  unanswered_.erase(uid);
  const auto [begin, end] = of_pod_.equal_range(uid);
  for (auto each = begin; each != end; ++each) {
    on_shown(*attempts_.at(each->second), {BindEnd::kOvertaken, "the pod is gone"});
  }
}

// As a rule the watch shows a bind before its call is answered, and the answer comes at once. So
// only a bind that is set aside ends by this, and a moment later: the engine gets what the watch
// shows first.
void Binder::on_shown(Attempt& attempt, Settled outcome) {
  attempt.shown = std::move(outcome);
  if (attempt.is_aside) after(milliseconds(0), attempt, &Binder::finish_as_shown);
}

void Binder::finish_as_shown(Attempt& attempt) {
  finish(attempt, attempt.shown->end, attempt.shown->message);
}

// ---- outcomes

void Binder::finish(Attempt& attempt, BindEnd end, std::string message) {
  const std::string& uid = attempt.bind.pod.uid;
  const bool failed = end == BindEnd::kFailed || end == BindEnd::kUnanswered;
  if (failed && attempt.unanswered && hooks_.waits(uid)) {
    unanswered_.insert(uid);
  } else {
    unanswered_.erase(uid);
  }
  if (end == BindEnd::kBound) queue_.bound(attempt.group);
  take_back(attempt);
  const auto taken = take_out(attempt);
  hooks_.on_outcome({std::move(taken->bind), end, std::move(message)});
  send_more();
}

std::unique_ptr<Binder::Attempt> Binder::take_out(const Attempt& attempt) {
  const auto [begin, end] = of_pod_.equal_range(attempt.bind.pod.uid);
  of_pod_.erase(
      std::find_if(begin, end, [&](const auto& each) { return each.second == attempt.id; }));
  return std::move(attempts_.extract(attempt.id).mapped());
}

Binder::Attempt* Binder::find(Id id) {
  const auto found = attempts_.find(id);
  return found == attempts_.end() ? nullptr : found->second.get();
}

}  // namespace sched::live
