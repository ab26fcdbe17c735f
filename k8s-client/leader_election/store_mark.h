// A lease that nobody leads by: it is written again and again, so that a store that was set back is
// noticed where there is no leader election.
//
//            create (there is none)                     every period: update
//   read ─┬──────────────────────────▶ written ◀──────────────────────────┐
//    ▲    └─ update (there is one) ───▶   │  └────────────────────────────┘
//    └──────────── 409, 404 ──────────────┘
//
// After etcd was restored from a backup, the lease is at an older version than the one that was
// written last: the next update gets a 409, and the read that follows shows the older version
// (newest_version.h). Any backup is older, because the lease is written so often. If the backup is
// of before the lease was there, it is gone, or it is another one, with a uid of its own. So a
// lease that somebody deletes looks the same: then the process ends without need, once. Not
// noticed: a restored store that is not that of leases (--etcd-servers-overrides).
//
// Several processes may share the lease: each reads what the others wrote. Its holder and times are
// for people. Where an account may not write it, or its namespace does not exist, it is tried again
// once a minute; but once it was written, every period: an API server that starts refuses
// everything for a moment. On the event loop's thread.
#pragma once

#include "k8s-client/client.h"
#include "k8s-client/error.h"
#include "k8s-client/http/event_loop.h"
#include "k8s-client/leader_election/newest_version.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace k8s {

class StoreMark {
 public:
  static constexpr std::chrono::milliseconds kDeadline{5'000};       // of each request
  static constexpr std::chrono::milliseconds kAfterRefusal{60'000};  // then it is tried again
  struct Options {
    std::string namespace_ = {};
    std::string name = {};
    std::string identity = {};
    std::chrono::milliseconds period{2'000};
  };
  struct Hooks {
    // The store was set back. Called once, and nothing is asked after it.
    std::function<void(const std::string& why)> on_went_back;
    // A request failed; the next one follows after `retry_in`.
    std::function<void(const Error&, std::chrono::milliseconds retry_in)> on_problem;
    std::function<void()> on_written;
  };

  // `client` and `loop` must outlive it. `wall_clock`: for the lease's times.
  StoreMark(Client& client, EventLoop& loop, Options options, Hooks hooks,
            std::function<Timestamp()> wall_clock);
  ~StoreMark() { *alive_ = false; }
  StoreMark(const StoreMark&) = delete;
  StoreMark& operator=(const StoreMark&) = delete;

  void start() { read(); }
  // No hook is called after it.
  void stop();

 private:
  void read();
  void write();
  void on_read(Result<Lease> answer);
  void on_written(Result<Lease> answer);
  void on_failed(const Error& error);
  // False, and it is over, if the store was set back.
  bool accept(Lease lease);
  void went_back(const std::string& why);
  void again(std::chrono::milliseconds after, void (StoreMark::*next)());
  std::function<void(Result<Lease>)> then(void (StoreMark::*answered)(Result<Lease>));

  Client& client_;
  EventLoop& loop_;
  Options options_;
  Hooks hooks_;
  std::function<Timestamp()> wall_clock_;
  NewestVersion newest_;
  Lease lease_;  // as last read or written; no resourceVersion: it was never seen
  std::unique_ptr<Timer> timer_;
  bool stopped_ = false;
  // Tells answers that come later that this object is gone.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace k8s
