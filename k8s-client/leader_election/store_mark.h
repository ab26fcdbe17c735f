// A lease for a process that runs without leader election: no process leads by it. It is written
// again and again, so that the process notices when the store was set back. It is given back at the
// end, so that the next process need not wait for binds of this one.
//
//            create (there is none)                     every period: update
//   read ─┬──────────────────────────▶ written ◀──────────────────────────┐
//    ▲    └─ update (there is one) ───▶   │  └────────────────────────────┘
//    └──────────── 409, 404 ──────────────┤
//                                         └─ give_back(): update without a holder
//
// After etcd was restored from a backup, the lease is at an older version than the one that was
// written last: the next update gets a 409, and the read that follows shows the older version
// (newest_version.h). Any backup is older, because the lease is written so often. If the backup is
// older than the lease itself, the lease is missing, or another one with another uid is there. A
// lease that a user deletes looks the same: then the process ends once without need. Not noticed:
// the store that was restored is not the one of leases (--etcd-servers-overrides).
//
// Several processes may share the lease: each reads what the others wrote. Then none of them gives
// it back, because that would say of the others' binds, too, that they are over. So a process gives
// it back only after four writes in a row: another process would have written between them, and by
// then no bind of one that ended before can be carried out any more. Its times are for people. If
// the account may not write the lease, or its namespace does not exist, the write is tried again
// once a minute. After the first successful write it is tried again every period, because an API
// server that starts refuses everything for a moment. On the event loop's thread.
#pragma once

#include "k8s-client/client.h"
#include "k8s-client/error.h"
#include "k8s-client/http/event_loop.h"
#include "k8s-client/leader_election/newest_version.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
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
    // It was written for the first time. `given_back`: by the process that had it before, so that
    // none of that one's writes can be carried out any more.
    std::function<void(bool given_back)> on_claimed;
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

  // All writes of this process are settled: the next one need not wait for them. Calls `done` when
  // that is written, cannot be, or `limit` is over; no other hook is called after it.
  void give_back(std::chrono::milliseconds limit, std::function<void()> done);

 private:
  void read();
  void write();
  void on_read(Result<Lease> answer);
  void on_written(Result<Lease> answer);
  void on_failed(const Error& error);
  // Whether the lease, as just read, is still at the version at which it was not written: then it
  // is refused for another reason, for example by a webhook.
  [[nodiscard]] bool is_refused() const { return refused_at_ == lease_.metadata.resource_version; }
  // False, and it is over, if the store was set back.
  bool accept(Lease lease);
  void went_back(const std::string& why);
  // Whether no other process has the mark.
  [[nodiscard]] bool is_alone() const;
  void write_given_back();
  void finish_giving_back();
  void again(std::chrono::milliseconds after, void (StoreMark::*next)());
  std::function<void(Result<Lease>)> then(void (StoreMark::*answered)(Result<Lease>));

  Client& client_;
  EventLoop& loop_;
  Options options_;
  Hooks hooks_;
  std::function<Timestamp()> wall_clock_;
  NewestVersion newest_;
  Lease lease_;  // as last read or written; no resourceVersion: it was never seen
  // The version at which the last write was answered with 404 or 409; empty: it was a create. And
  // that answer. Nullopt after a pause: a read that shows the same version is news.
  std::optional<std::string> refused_at_;
  Error refusal_;
  bool claimed_ = false;           // it was written once
  bool found_given_back_ = false;  // when another process was last seen to have written it
  int writes_in_a_row_ = 0;        // since another process wrote it
  bool asking_ = false;            // a request is open
  std::unique_ptr<Timer> timer_;
  std::function<void()> given_back_;  // what give_back() has to call
  std::unique_ptr<Timer> give_back_limit_;
  bool stopped_ = false;
  // Tells answers that come later that this object is gone.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace k8s
