// Leader election by Lease as a pure state machine: answers and time in, the next request out.
//
//                 lease free, or unchanged for its duration
//   Following ──────────── update or create accepted ───────────▶ Leading ──┐ renewed every
//       │                                                          │   ▲    │ retry_period
//       │ release()                        release(), or ended by  │   └────┘
//       ▼                                  failure or another one  ▼
//     Ended ◀──────────────────────────────────────────────────────┘
//
// No I/O, no clock: LeaderElector (leader_elector.h) sends what it asks for and tells it what came.
// The protocol is client-go's (tools/leaderelection): one Lease object, changed only with the
// resourceVersion it was read at, so that of two who reach for it one gets a 409.
//
// Clocks are never compared with those of others. A follower takes a lease for expired when it has
// seen it unchanged for leaseDurationSeconds of *its own* time, counted from the answer that first
// showed it. A leader counts from the moment he *sent* the renewal that was accepted:
//
//   leader     sent S ─────────────────── valid_until() = S + duration − 1 %
//   server          │ accepted A ≥ S
//   follower             │ seen O ≥ A ────────────────────── takes over at O + duration at the
//                                                            earliest, by his own clock
//
// So the leader's claim ends first as long as the two clocks drift apart by less than 1 % (NTP
// slews each by 0.05 % at most; quartz is ten times better than that).
//
// Where it differs from client-go, each time on the safe side:
//  * A leader who sees the lease in another's name, or in nobody's, stops at once; client-go tries
//    on until renewDeadline, and leads again if it gets it back.
//  * A lease that vanishes counts as held until it would have expired, for those who saw it.
//  * A follower tries when the lease expires, not at its next try after that, and reads the lease
//    four times per retry period: by default it sees a renewal 0.6 s late at most, not 2.4 s.
//  * A lease that is shown at an older version than before ends the election, for leader and
//    follower alike: its store has gone back in time.
//
// That last rule is how a process notices that etcd was restored from a backup. What it knows of
// the cluster is then worth nothing: pods that it saw bound may be unbound, those that it saw go
// may be back on their GPUs. Its watches do not tell: one that is opened at a version that the
// store has not reached yet is silent, and an older list may just be another API server's watch
// cache. A lease is proof: it is read with no resourceVersion, a quorum read, one request at a
// time; versions of a kind only grow (Kubernetes compares them as numbers, KEP-5504); and it is
// written every retry_period, so that any backup is older, also one that was restored with
// `--bump-revision`, which keeps the versions of objects. Whoever ends so should begin anew as a
// new process, which waits, reads and binds as after any other start. Not noticed: a restored store
// that is not the lease's (--etcd-servers-overrides).
#pragma once

#include "k8s-client/api/lease.h"
#include "k8s-client/boot_clock.h"
#include "k8s-client/error.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
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
  Lease lease = {};  // of kCreate and kUpdate: what it shall be
  std::chrono::milliseconds deadline{0};
};

// What follows from an input: a request to send now, or a wait, or (in the end) neither.
struct ElectionStep {
  std::optional<LeaseRequest> request = {};
  std::optional<std::chrono::milliseconds> wait = {};
};

// When an input comes.
struct ElectionTime {
  BootClock::time_point boot;
  Timestamp wall;  // what people are told: the lease's acquireTime and renewTime
};

class Election {
 public:
  using TimePoint = BootClock::time_point;

  enum class State { kFollowing, kLeading, kEnded };
  // How the lease was come by: what the one who leads now knows of who led before.
  enum class Origin {
    kCreated,   // there was no lease: nothing
    kReleased,  // whoever held it gave it back
    kExpired,   // whoever held it did not renew it for its whole duration
  };

  explicit Election(ElectionOptions options);

  // The first step.
  [[nodiscard]] ElectionStep start(ElectionTime now) { return read(now); }
  // The wait of the last step is over.
  [[nodiscard]] ElectionStep waited(ElectionTime now);
  // The answer to the request of the last step.
  [[nodiscard]] ElectionStep answered(Result<Lease> answer, ElectionTime now);
  // Gives the lease back if it is held (or was reached for), then ends. To be called when nothing
  // is done any more that only a leader may do. Without a step the one under way is waited for.
  [[nodiscard]] ElectionStep release(ElectionTime now);

  [[nodiscard]] State state() const { return state_; }
  // While leading: nobody else leads before then. Moves on with each renewal; the clock's epoch
  // once release() was called, for the lease may be another's before we hear that it is.
  [[nodiscard]] TimePoint valid_until() const { return releasing_ ? TimePoint{} : valid_until_; }
  // While leading.
  [[nodiscard]] Origin origin() const { return origin_; }
  // Who held the lease when it was last seen; empty: nobody, or not seen yet.
  [[nodiscard]] const std::string& holder() const { return observed_.spec.holder_identity; }
  // Of kEnded: why leadership was lost, or following makes no sense any more; empty: it was given
  // back, or never held, or lapsed while it was to be given back.
  [[nodiscard]] const std::string& why_lost() const { return why_lost_; }
  // Of kEnded: the lease was held, and the server has said that it is nobody's now: the next leader
  // need not wait.
  [[nodiscard]] bool gave_back() const { return gave_back_; }

 private:
  [[nodiscard]] ElectionStep read(ElectionTime now);
  [[nodiscard]] ElectionStep write(Lease::Spec spec, ElectionTime now);
  [[nodiscard]] ElectionStep reach_for(Origin origin, ElectionTime now);
  [[nodiscard]] ElectionStep renew(ElectionTime now);
  [[nodiscard]] ElectionStep give_back(ElectionTime now);

  // Whether the lease is older than one that was seen before.
  [[nodiscard]] bool goes_back(const Lease& lease);
  [[nodiscard]] ElectionStep on_seen(Lease lease, ElectionTime now);
  [[nodiscard]] ElectionStep on_absent(ElectionTime now);
  [[nodiscard]] ElectionStep on_written(Lease lease, ElectionTime now);
  [[nodiscard]] ElectionStep on_failed(const Error& error, ElectionTime now);

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

  Lease observed_;           // as it was last read or written; no resourceVersion: there is none
  TimePoint observed_at_{};  // when it was first seen like that
  bool ever_observed_ = false;
  std::uint64_t newest_version_ = 0;  // of those seen

  std::optional<LeaseRequest::Kind> asked_;  // the request under way
  TimePoint sent_at_{};                      // of the last request
  Lease::Spec written_;                      // what that request makes of it
  TimePoint renewed_at_{};                   // when the last accepted renewal was sent
  TimePoint valid_until_{};
  Origin origin_ = Origin::kCreated;
  Origin origin_if_taken_ = Origin::kCreated;
  bool releasing_ = false;
  bool gave_back_ = false;
  std::string why_lost_;
};

}  // namespace k8s
