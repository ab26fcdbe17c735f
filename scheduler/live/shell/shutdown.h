// The order in which a scheduler ends, once nothing is decided any more.
//
//   1. writes that only a leader may send are settled: binds, evictions, and those before binds;
//      and conditions are written;
//   2. the lease is given back if all of these writes are settled. If a bind may still be carried
//      out, or another call is open, it is not given back: the next leader then waits for the
//      lease's end. A call other than a bind is settled when it has failed, whatever the cause: it
//      names the uid or the version of its object, so no GPU is given twice if it is carried out;
//   3. events are written.
//
// All this takes at most `limit`. The last part of it, `reserve`, is kept for the lease and the
// events, so that writes to a slow server do not delay the next leader. The default limit is the
// longest time until a bind is settled, plus the reserve. It leaves the transport some of the
// seconds that kubelet grants (terminationGracePeriodSeconds, 30).
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
    // Some writes of a leader were sent and are not settled; some conditions are on their way.
    std::function<bool()> writes_open;
    std::function<bool()> statuses_open;
    // Called repeatedly while any of these is open: sends what waits behind binds.
    std::function<void()> go_on;
    // Gives the lease back; without leader election, the lease of the store mark. Calls `done`
    // after that, at the latest after `limit`. Empty: there is none.
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
