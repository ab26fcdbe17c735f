#include "k8s-client/leader_election/election.h"

#include <algorithm>
#include <utility>

namespace k8s {

namespace {

using std::chrono::milliseconds;
using Kind = LeaseRequest::Kind;

// How often a follower reads the lease per retry period. A renewal that is seen late delays a
// takeover: the last renewal of a dead leader counts from when it was seen.
constexpr int kReadsPerRetry = 4;

// Of a follower's waits, so that several followers do not read at the same time.
constexpr double kJitter = 0.2;

// How much a holder's clock and a follower's may drift apart: a hundredth.
std::chrono::nanoseconds without_drift(std::chrono::nanoseconds duration) {
  return duration - duration / 100;
}

milliseconds rounded_up(std::chrono::nanoseconds duration) {
  return std::max(std::chrono::ceil<milliseconds>(duration), milliseconds(0));
}

}  // namespace

Election::Election(ElectionOptions options)
    : options_(std::move(options)), random_(options_.seed) {}

ElectionStep Election::waited(ElectionTime now) {
  if (state_ == State::kEnded) return {};
  refused_at_.clear();
  if (state_ == State::kFollowing) return releasing_ ? end() : read(now);
  return releasing_ ? give_back(now) : renew(now);
}

ElectionStep Election::answered(Result<Lease> answer, ElectionTime now) {
  const auto asked = std::exchange(asked_, std::nullopt);
  if (state_ == State::kEnded || !asked) return {};
  if (answer) {
    if (auto why = newest_version_.seen(answer->metadata, "the lease")) {
      return lose(*std::move(why));
    }
    return *asked == Kind::kGet ? on_seen(std::move(*answer), now)
                                : on_written(std::move(*answer), now);
  }
  const Error& error = answer.error();
  if (*asked != Kind::kGet && (error.is_status(404) || error.is_status(409))) {
    refused_at_.insert(observed_.metadata.resource_version);
    refusal_ = error;
  }
  // For a create it means that the namespace does not exist.
  if (error.is_status(404) && *asked != Kind::kCreate) return on_absent(now);
  // Another process changed or created it after the last read; or an earlier request of this
  // process did, and its answer was lost.
  if (error.is_status(409) && *asked != Kind::kGet) return read(now);
  return on_failed(error, now);
}

ElectionStep Election::release(ElectionTime now, bool all_settled) {
  releasing_ = true;
  all_settled_ = all_settled;
  if (state_ == State::kEnded || asked_) return {};
  return state_ == State::kLeading ? give_back(now) : end();
}

// ---- requests

ElectionStep Election::read(ElectionTime now) {
  asked_ = Kind::kGet;
  sent_at_ = now.boot;
  return {.request = LeaseRequest{.kind = Kind::kGet, .deadline = request_deadline(now.boot)}};
}

// Creates the lease, or updates it as it was last seen.
ElectionStep Election::write(Lease::Spec spec, ElectionTime now) {
  written_ = std::move(spec);
  LeaseRequest request{.kind = Kind::kUpdate, .deadline = request_deadline(now.boot)};
  if (observed_.metadata.resource_version.empty()) {
    request.kind = Kind::kCreate;
    request.lease.metadata.namespace_ = options_.namespace_;
    request.lease.metadata.name = options_.name;
  } else {
    request.lease.metadata = observed_.metadata;
  }
  request.lease.spec = written_;
  asked_ = request.kind;
  sent_at_ = now.boot;
  return {.request = std::move(request)};
}

ElectionStep Election::reach_for(Origin origin, ElectionTime now) {
  const bool created = observed_.metadata.resource_version.empty();
  origin_if_taken_ = origin;
  return write(
      {.holder_identity = options_.identity,
       .lease_duration_seconds = static_cast<std::int32_t>(options_.lease_duration.count()),
       .acquire_time = now.wall,
       .renew_time = now.wall,
       .lease_transitions = created ? 0 : observed_.spec.lease_transitions + 1},
      now);
}

ElectionStep Election::renew(ElectionTime now) {
  Lease::Spec spec = observed_.spec;
  spec.lease_duration_seconds = static_cast<std::int32_t>(options_.lease_duration.count());
  spec.renew_time = now.wall;
  return write(std::move(spec), now);
}

// Without a renewTime it is for the next leader like a lease that was never held (see follow()).
ElectionStep Election::give_back(ElectionTime now) {
  return write({.holder_identity = {},
                .lease_duration_seconds = 1,
                .acquire_time = now.wall,
                .renew_time = all_settled_ ? std::optional(now.wall) : std::nullopt,
                .lease_transitions = observed_.spec.lease_transitions},
               now);
}

// ---- answers

ElectionStep Election::on_seen(Lease lease, ElectionTime now) {
  // The resource version does not count: a change of a label is not a renewal.
  const bool news = !std::exchange(ever_observed_, true) || lease.spec != observed_.spec;
  if (news) observed_at_ = now.boot;
  observed_ = std::move(lease);
  if (is_refused()) return on_refused(now);
  if (state_ == State::kFollowing) return follow(now);
  // No holder: this process gave it back, and the answer was lost.
  if (releasing_ && holder().empty()) return given_back();
  if (!is_ours()) {
    return lose(holder().empty() ? "another process gave the lease back in our name"
                                 : "the lease is held by " + holder());
  }
  return releasing_ ? give_back(now) : renew(now);
}

ElectionStep Election::on_absent(ElectionTime now) {
  observed_.metadata.resource_version.clear();
  if (is_refused()) return on_refused(now);
  if (state_ == State::kLeading) return releasing_ ? end() : renew(now);
  if (releasing_) return end();
  const bool somebody_leads = !holder().empty() && !is_ours() && now.boot < expires_at();
  if (somebody_leads) return {.wait = rounded_up(expires_at() - now.boot)};
  return reach_for(Origin::kCreated, now);
}

ElectionStep Election::on_written(Lease lease, ElectionTime now) {
  ever_observed_ = true;
  refused_at_.clear();
  observed_.metadata = std::move(lease.metadata);
  observed_.spec = written_;
  observed_at_ = now.boot;
  if (holder().empty()) return given_back();
  renewed_at_ = sent_at_;
  valid_until_ = sent_at_ + without_drift(options_.lease_duration);
  if (state_ == State::kFollowing) {
    state_ = State::kLeading;
    origin_ = origin_if_taken_;
  }
  if (releasing_) return give_back(now);
  return {.wait = rounded_up(sent_at_ + options_.retry_period - now.boot)};
}

ElectionStep Election::on_failed(const Error& error, ElectionTime now) {
  const bool too_late = state_ == State::kLeading && now.boot >= renew_by();
  if (releasing_ && (too_late || state_ == State::kFollowing)) return end();
  if (too_late) {
    const auto since = std::chrono::floor<milliseconds>(now.boot - renewed_at_);
    return lose("the lease was not renewed for " + std::to_string(since.count()) +
                " ms: " + error.message);
  }
  // A server that asks for a longer pause does not get it: a leader would lose the lease meanwhile,
  // and a follower would not see that it is free.
  auto wait = options_.retry_period;
  if (state_ == State::kLeading) wait = std::min(wait, rounded_up(renew_by() - now.boot));
  return {.wait = wait};
}

// Without a wait the write would be refused again at once, and so on.
ElectionStep Election::on_refused(ElectionTime now) {
  ElectionStep step = on_failed(refusal_, now);
  if (step.wait) step.problem = refusal_;
  return step;
}

// ---- what follows

// The lease exists and this process does not lead.
ElectionStep Election::follow(ElectionTime now) {
  // An update of this process was accepted, and its answer lost: its origin still holds.
  if (is_ours()) return releasing_ ? give_back(now) : reach_for(origin_if_taken_, now);
  if (releasing_) return end();
  if (holder().empty()) {
    // A lease that was never held, for example made by hand, proves as little as none. So does one
    // that was given back without renewTime.
    return reach_for(observed_.spec.renew_time ? Origin::kReleased : Origin::kCreated, now);
  }
  if (now.boot >= expires_at()) return reach_for(Origin::kExpired, now);
  std::uniform_real_distribution<double> jitter(1.0, 1.0 + kJitter);
  const auto next_read = std::chrono::duration_cast<milliseconds>(options_.retry_period /
                                                                  kReadsPerRetry * jitter(random_));
  return {.wait = std::min(next_read, rounded_up(expires_at() - now.boot))};
}

ElectionStep Election::lose(std::string why) {
  why_lost_ = std::move(why);
  return end();
}

ElectionStep Election::end() {
  state_ = State::kEnded;
  return {};
}

ElectionStep Election::given_back() {
  gave_back_ = true;
  return end();
}

Election::TimePoint Election::expires_at() const {
  const auto said = std::chrono::seconds(observed_.spec.lease_duration_seconds);
  return observed_at_ + (said > said.zero() ? said : options_.lease_duration);
}

// A hanging request must leave time for another one before the renew deadline.
milliseconds Election::request_deadline(TimePoint now) const {
  const milliseconds half = options_.renew_deadline / 2;
  if (state_ != State::kLeading || now >= renew_by()) return half;
  return std::clamp(rounded_up(renew_by() - now), milliseconds(1), half);
}

}  // namespace k8s
