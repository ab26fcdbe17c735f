// Leader election by Lease as a pure state machine: answers and time in, the next request out.
//
//                 lease free, or unchanged for its duration
//   Following ──────────── update or create accepted ───────────▶ Leading ──┐ renewed every
//       │                                                          │   ▲    │ retry_period
//       │ release()                        release(), or ended by  │   └────┘
//       ▼                                  failure or another one  ▼
//     Ended ◀──────────────────────────────────────────────────────┘
//
// No I/O, no clock: LeaderElector (leader_elector.h) sends its requests and passes it the answers.
// The protocol is client-go's (tools/leaderelection): one Lease object, changed only with the
// resourceVersion at which it was read, so that of two processes that write it, one gets a 409.
//
// Clocks of different machines are never compared. A follower takes a lease as expired when it has
// seen the lease unchanged for leaseDurationSeconds of *its own* time, counted from the answer that
// first showed it. A leader counts from the moment when it *sent* the renewal that was accepted:
//
//   leader     sent S ─────────────────── valid_until() = S + duration − 1 %
//   server          │ accepted A ≥ S
//   follower             │ seen O ≥ A ────────────────────── takes over at O + duration at the
//                                                            earliest, by its own clock
//
// So the leader's claim ends first as long as the two clocks drift apart by less than 1 % (NTP
// slews each by 0.05 % at most; quartz is ten times better than that).
//
// Differences from client-go, each on the safe side:
//  * A leader that sees the lease with another holder, or with none, stops at once; client-go tries
//    on until renewDeadline, and leads again if it gets the lease back.
//  * A lease that is deleted counts as held until it would have expired, for processes that saw it.
//  * A follower tries when the lease expires, not at its next try after that, and reads the lease
//    four times per retry period: by default it sees a renewal 0.6 s late at most, not 2.4 s.
//  * If a lease is shown at an older version than before, the election ends, for leader and
//    follower alike: its store has been set back to an earlier state.
//
// By that last rule a process notices that etcd was restored from a backup. Its state of the
// cluster is then worthless: pods that it saw bound may be unbound, and pods that it saw end may be
// back on their GPUs. Its watches do not show it: a watch that is opened at a version that the
// store has not reached yet is silent, and an older list may just come from another API server's
// watch cache. A lease is proof. It is read without resourceVersion, by a quorum read, one request
// at a time; versions of a kind only grow (Kubernetes compares them as numbers, KEP-5504); and it
// is written every retry_period, so that any backup is older, even one that was restored with
// `--bump-revision`, which keeps the versions of objects. A process that ends in this way should be
// replaced by a new one, which waits, reads and binds as after any other start. Not noticed: a
// restored store that is not the lease's (--etcd-servers-overrides).
#pragma once

#include "k8s-client/api/lease.h"
#include "k8s-client/boot_clock.h"
#include "k8s-client/error.h"
#include "k8s-client/leader_election/newest_version.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <string>

namespace k8s {

struct ElectionOptions {
  std::string namespace_ = {};
  std::string name = {};
  std::string identity = {};  // unique to this process
  std::chrono::seconds lease_duration{15};
  std::chrono::milliseconds renew_deadline{10'000};
  std::chrono::milliseconds retry_period{2'000};
  std::uint64_t seed = 0;  // of the jitter
};

// What to ask the API server.
struct LeaseRequest {
  enum class Kind { kGet, kCreate, kUpdate };
  Kind kind = Kind::kGet;
  Lease lease = {};  // of kCreate and kUpdate: the new object
  std::chrono::milliseconds deadline{0};
};

// The next step: a request to send now, or a wait, or (at the end) neither.
struct ElectionStep {
  std::optional<LeaseRequest> request = {};
  std::optional<std::chrono::milliseconds> wait = {};
  // With a wait: an earlier 404 or 409 that seemed to be about the lease's version, and was not.
  std::optional<Error> problem = {};
};

// The time of an input.
struct ElectionTime {
  BootClock::time_point boot;
  Timestamp wall;  // for people: the lease's acquireTime and renewTime
};

class Election {
 public:
  using TimePoint = BootClock::time_point;

  enum class State { kFollowing, kLeading, kEnded };
  // How the lease was acquired: what is known of the previous leader.
  enum class Origin {
    kCreated,   // there was no lease, or it was given back without renewTime
    kReleased,  // its holder gave it back
    kExpired,   // its holder did not renew it for its whole duration
  };

  explicit Election(ElectionOptions options);

  // The first step.
  [[nodiscard]] ElectionStep start(ElectionTime now) { return read(now); }
  // The wait of the last step is over.
  [[nodiscard]] ElectionStep waited(ElectionTime now);
  // The answer to the request of the last step.
  [[nodiscard]] ElectionStep answered(Result<Lease> answer, ElectionTime now);
  // Gives the lease back if it is held (or a request for it is under way), then ends. Call it when
  // nothing is under way any more that only a leader may do. If it returns no step, the answer to
  // the present request comes first. `all_settled`: nothing of an earlier leader is under way
  // either. Otherwise the next one has Origin::kCreated.
  [[nodiscard]] ElectionStep release(ElectionTime now, bool all_settled = true);

  [[nodiscard]] State state() const { return state_; }
  // While leading: no other process leads before then. Advances with each renewal; the clock's
  // epoch after release() was called, because another process may hold the lease before this one
  // gets the answer.
  [[nodiscard]] TimePoint valid_until() const { return releasing_ ? TimePoint{} : valid_until_; }
  // While leading.
  [[nodiscard]] Origin origin() const { return origin_; }
  // The holder when the lease was last seen; empty: none, or not seen yet.
  [[nodiscard]] const std::string& holder() const { return observed_.spec.holder_identity; }
  // For kEnded: why leadership was lost, or why following is pointless; empty: the lease was given
  // back, or never held, or it expired while it was being given back.
  [[nodiscard]] const std::string& why_lost() const { return why_lost_; }
  // For kEnded: the lease was held, and the server has confirmed that it has no holder now: the
  // next leader need not wait.
  [[nodiscard]] bool gave_back() const { return gave_back_; }

 private:
  [[nodiscard]] ElectionStep read(ElectionTime now);
  [[nodiscard]] ElectionStep write(Lease::Spec spec, ElectionTime now);
  [[nodiscard]] ElectionStep reach_for(Origin origin, ElectionTime now);
  [[nodiscard]] ElectionStep renew(ElectionTime now);
  [[nodiscard]] ElectionStep give_back(ElectionTime now);

  [[nodiscard]] ElectionStep on_seen(Lease lease, ElectionTime now);
  [[nodiscard]] ElectionStep on_absent(ElectionTime now);
  [[nodiscard]] ElectionStep on_written(Lease lease, ElectionTime now);
  [[nodiscard]] ElectionStep on_failed(const Error& error, ElectionTime now);
  // Whether the lease is still at a version at which it was not written: then it is refused for
  // another reason, for example by a webhook or a ResourceQuota.
  [[nodiscard]] bool is_refused() const {
    return refused_at_.contains(observed_.metadata.resource_version);
  }
  [[nodiscard]] ElectionStep on_refused(ElectionTime now);

  [[nodiscard]] ElectionStep follow(ElectionTime now);
  [[nodiscard]] ElectionStep lose(std::string why);
  [[nodiscard]] ElectionStep end();
  [[nodiscard]] ElectionStep given_back();
  [[nodiscard]] bool is_ours() const { return holder() == options_.identity; }
  [[nodiscard]] TimePoint renew_by() const { return renewed_at_ + options_.renew_deadline; }
  [[nodiscard]] TimePoint expires_at() const;
  [[nodiscard]] std::chrono::milliseconds request_deadline(TimePoint now) const;

  ElectionOptions options_;
  std::mt19937_64 random_;
  State state_ = State::kFollowing;

  Lease observed_;           // as last read or written; no resourceVersion: it does not exist
  TimePoint observed_at_{};  // when that state was first seen
  bool ever_observed_ = false;
  NewestVersion newest_version_;  // of those seen

  std::optional<LeaseRequest::Kind> asked_;  // the request under way
  TimePoint sent_at_{};                      // of the last request
  Lease::Spec written_;                      // the content that this request writes
  // The versions at which a write was answered with 404 or 409 since the last wait; empty: a
  // create. And the last of these answers.
  std::set<std::string> refused_at_;
  Error refusal_;
  TimePoint renewed_at_{};  // when the last accepted renewal was sent
  TimePoint valid_until_{};
  Origin origin_ = Origin::kCreated;
  Origin origin_if_taken_ = Origin::kCreated;
  bool releasing_ = false;
  bool all_settled_ = false;  // when it gives the lease back
  bool gave_back_ = false;
  std::string why_lost_;
};

}  // namespace k8s
