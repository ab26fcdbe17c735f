#include "scheduler/live/writes/binder.h"

#include "scheduler/quota/charged_as.h"

#include <optional>
#include <utility>

namespace sched::live {

namespace {

k8s::Binding binding_of(const decision::Bind& bind) {
  k8s::Binding binding{.namespace_ = bind.pod.namespace_,
                       .pod = bind.pod.name,
                       .pod_uid = bind.pod.uid,
                       .node = bind.node};
  if (bind.charged_as) binding.annotations.set(quota::kChargedAsAnnotation, *bind.charged_as);
  return binding;
}

// What a failed bind call says of the bind.
enum class Meaning {
  kRefused,   // certain: this call has not bound the pod, and there is no point in repeating it
  kConflict,  // 409: see what the pod looks like
  kLater,     // certain: not done, the server asks for patience
  kUnknown,   // may have been done, or may still be
};

Meaning meaning_of(const k8s::Error& error) {
  if (error.is_status(409)) return Meaning::kConflict;
  if (error.may_have_acted) return Meaning::kUnknown;
  return error.asks_for_patience() ? Meaning::kLater : Meaning::kRefused;
}

}  // namespace

// One decision on its way, from the first call to its outcome.
struct Binder::Attempt {
  Attempt(Id id_, decision::Bind bind_, k8s::BackOff back_off_)
      : id(id_), bind(std::move(bind_)), back_off(back_off_) {}

  Id id;
  decision::Bind bind;
  k8s::BackOff back_off;
  k8s::EventLoop::Clock::time_point sent{};
  // Until then a call of this attempt may land without our knowing; nullopt: every call so far was
  // answered for certain.
  std::optional<k8s::EventLoop::Clock::time_point> may_land_until;
  // It was found unbound while an earlier call could still land, and bound again.
  bool sent_again = false;
  // Why the last call did not bind the pod, for the outcome's message.
  std::string last_error;
  std::unique_ptr<k8s::Timer> timer;
};

Binder::Binder(k8s::EventLoop& loop, Calls calls, Options options, Hooks hooks)
    : loop_(loop), calls_(std::move(calls)), options_(options), hooks_(std::move(hooks)) {}

Binder::~Binder() { *alive_ = false; }

void Binder::bind(decision::Bind decision) {
  if (dropping_) return;
  waiting_.push_back(std::move(decision));
  send_more();
}

void Binder::drop_waiting() {
  dropping_ = true;
  waiting_.clear();
}

void Binder::send_more() {
  while (!waiting_.empty() && in_flight_.size() < options_.max_in_flight && hooks_.may_send()) {
    const Id id = next_id_++;
    auto attempt = std::make_unique<Attempt>(id, std::move(waiting_.front()),
                                             k8s::BackOff(id, options_.back_off));
    waiting_.pop_front();
    send(*in_flight_.emplace(id, std::move(attempt)).first->second);
  }
}

// May not be sent now.
void Binder::put_off(Attempt& attempt) {
  if (attempt.may_land_until) {
    return after(attempt.back_off.next(loop_.now()), attempt, &Binder::read_back);
  }
  // Nothing of it is under way: as if it had never been taken up.
  if (!dropping_) waiting_.push_front(std::move(attempt.bind));
  in_flight_.erase(attempt.id);
}

void Binder::send(Attempt& attempt) {
  if (!hooks_.may_send()) return put_off(attempt);
  attempt.sent = loop_.now();
  calls_.bind(binding_of(attempt.bind), options_.deadline,
              [this, alive = alive_, id = attempt.id](const k8s::Result<void>& result) {
                if (*alive) on_bind_result(id, result);
              });
}

void Binder::on_bind_result(Id id, const k8s::Result<void>& result) {
  Attempt* attempt = find(id);
  if (attempt == nullptr) return;
  if (result) return finish(*attempt, BindEnd::kBound, {});
  attempt->last_error = result.error().message;
  switch (meaning_of(result.error())) {
    case Meaning::kConflict:
      return read_back(*attempt);
    case Meaning::kLater:
      return retry(*attempt, result.error(), &Binder::send);
    case Meaning::kUnknown:
      // The server starts to count when the request reaches it; that was before this answer, or
      // silence, came, so the count from now on is safe, and the margin is for the way.
      attempt->may_land_until = loop_.now() + options_.deadline + options_.margin;
      return retry(*attempt, result.error(), &Binder::read_back);
    case Meaning::kRefused:
      // It waited for a connection until it was too late to be sent.
      if (result.error().kind != k8s::ErrorKind::kStatus && !hooks_.may_send()) {
        return put_off(*attempt);
      }
      if (may_still_land(*attempt)) return retry(*attempt, result.error(), &Binder::read_back);
      if (attempt->may_land_until) return read_back(*attempt);
      if (result.error().is_status(404)) {
        return finish(*attempt, BindEnd::kOvertaken, "the pod is gone");
      }
      hooks_.on_problem(result.error(), std::chrono::milliseconds(0));
      return finish(*attempt, BindEnd::kFailed, result.error().message);
  }
}

void Binder::read_back(Attempt& attempt) {
  const PodRef& pod = attempt.bind.pod;
  attempt.sent = loop_.now();
  calls_.get_pod(pod.namespace_, pod.name,
                 [this, alive = alive_, id = attempt.id](const k8s::Result<k8s::Pod>& result) {
                   if (*alive) on_read_back(id, result);
                 });
}

void Binder::on_read_back(Id id, const k8s::Result<k8s::Pod>& result) {
  Attempt* attempt = find(id);
  if (attempt == nullptr) return;
  if (!result) {
    const k8s::Error& error = result.error();
    if (error.is_status(404)) return finish(*attempt, BindEnd::kOvertaken, "the pod is gone");
    return retry(*attempt, error, &Binder::read_back);
  }
  if (result->metadata.uid != attempt->bind.pod.uid) {
    return finish(*attempt, BindEnd::kOvertaken, "the pod is gone; another one has its name");
  }
  const std::string& node = result->spec.node_name;
  if (node == attempt->bind.node) return finish(*attempt, BindEnd::kBound, {});
  if (!node.empty())
    return finish(*attempt, BindEnd::kOvertaken, "the pod was bound to " + node + " meanwhile");
  if (result->is_terminating())
    return finish(*attempt, BindEnd::kOvertaken, "the pod is being deleted");
  on_unbound(*attempt);
}

void Binder::on_unbound(Attempt& attempt) {
  // The read began after the last moment at which a call could land: what it saw is final.
  const bool final = !attempt.may_land_until || attempt.sent >= *attempt.may_land_until;
  if (final) return finish(attempt, BindEnd::kFailed, attempt.last_error);
  if (!hooks_.may_send()) return put_off(attempt);
  if (!std::exchange(attempt.sent_again, true)) return send(attempt);
  after(attempt.back_off.next(loop_.now()), attempt, &Binder::send);
}

void Binder::retry(Attempt& attempt, const k8s::Error& error, Action action) {
  const auto delay = attempt.back_off.next(loop_.now(), error.retry_after);
  hooks_.on_problem(error, delay);
  after(delay, attempt, action);
}

void Binder::after(std::chrono::milliseconds delay, Attempt& attempt, Action action) {
  attempt.timer = loop_.after(delay, [this, id = attempt.id, action] {
    if (Attempt* found = find(id)) (this->*action)(*found);
  });
}

void Binder::finish(Attempt& attempt, BindEnd end, std::string message) {
  BindOutcome outcome{std::move(attempt.bind), end, std::move(message)};
  in_flight_.erase(attempt.id);
  hooks_.on_outcome(std::move(outcome));
  send_more();
}

bool Binder::may_still_land(const Attempt& attempt) const {
  return attempt.may_land_until && loop_.now() < *attempt.may_land_until;
}

Binder::Attempt* Binder::find(Id id) {
  const auto found = in_flight_.find(id);
  return found == in_flight_.end() ? nullptr : found->second.get();
}

}  // namespace sched::live
