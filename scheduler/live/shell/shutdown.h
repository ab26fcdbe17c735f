// The order in which a scheduler ends, once nothing is decided any more.
//
//   1. binds that were sent are settled, and conditions written;
//   2. the lease is given back, if every bind is settled: one that may still land keeps the next
//      leader waiting for the lease's end;
//   3. events are written.
//
// All within `limit`, of which the last `reserve` is kept for the lease and the events: whatever
// waits for a server in trouble must not keep the next leader waiting, too. The default limit is
// what a bind takes to be settled at most, with the reserve behind it, and leaves the transport
// some seconds of those that the kubelet grants (terminationGracePeriodSeconds, 30).
//
// On the event loop's thread.
#pragma once

#include "k8s-client/http/event_loop.h"

#include <chrono>
#include <functional>
#include <memory>

namespace sched::live {

class Shutdown {
 public:
  struct Options {
    std::chrono::milliseconds limit{22'500};
    std::chrono::milliseconds reserve{2'500};
  };
  struct Parts {
    // Some binds were sent and are not settled; some conditions are on their way.
    std::function<bool()> binds_open;
    std::function<bool()> statuses_open;
    // Called again and again while anything of that is open: what waits behind binds may go.
    std::function<void()> go_on;
    // Gives the lease back; calls `done` when that is through, at the latest after `limit`. Empty
    // without leader election.
    std::function<void(std::chrono::milliseconds limit, std::function<void()> done)> release;
    // Writes the events that wait, likewise.
    std::function<void(std::chrono::milliseconds limit, std::function<void()> done)> flush_events;
    std::function<void()> on_done;
  };

  Shutdown(k8s::EventLoop& loop, Options options, Parts parts);

  void begin();

 private:
  void look();
  void end_writes();
  void flush();
  [[nodiscard]] std::chrono::milliseconds left() const;

  k8s::EventLoop& loop_;
  const Options options_;
  const Parts parts_;
  k8s::EventLoop::Clock::time_point end_{};
  std::unique_ptr<k8s::Timer> next_look_;
};

}  // namespace sched::live
