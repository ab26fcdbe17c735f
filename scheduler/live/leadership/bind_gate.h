// When a bind may be sent: only while no other leader can begin before the bind has been carried
// out, or never will be.
//
// The API server does not check which process leads; it carries out a bind from any sender,
// whenever it arrives. So a leader itself must stop early enough, by its own clock (BootClock,
// which continues while the machine sleeps):
//
//   renewal sent         last bind may be sent                     no other leader before
//        S ───────────────────────┼──────────┼───────────────┼──────────┤
//                              send_by    margin         deadline    valid_until = S + lease − 1 %
//                                                                       (k8s-client/…/election.h)
//
//  * A bind is sent at send_by at the latest. The transport checks that right before the first byte
//    goes to the socket. So earlier waits (this process's queues, a connection, a process that was
//    stopped and continues) do not count.
//  * The server has it `margin` later or never: the local kernel drops bytes that are not
//    acknowledged by then, even if this process is stopped or dead (TransportOptions::
//    unacknowledged_limit). A network that was cut in two delivers nothing late.
//  * The server ends its work on it `deadline` after it began (?timeout=).
//
// So at valid_until every bind of this leader has been carried out or never will be, and the next
// leader finds the whole state in the cluster. Its own lease begins even later, by the time between
// S and its read of that renewal. A slow server delays renewals and so closes the gate: binds wait,
// and continue when a renewal succeeds.
//
// Not covered, because nothing here could cover it:
//  * a process that is stopped between that check and the following system call, some microseconds,
//    and continues after the lease has another holder;
//  * an API server that is itself stopped after its kernel took the bytes, while another one serves
//    the next leader;
//  * a load balancer or tunnel before the API servers (haproxy, a cloud's, konnectivity) that takes
//    the bytes, acknowledges them, and delivers them when its own connection allows: the local
//    kernel cannot take back what another has accepted. Connect the scheduler to an API server
//    directly, or keep the time for which such a proxy may hold a request below `margin`;
//  * a write that the API server has passed to etcd when its time is up: it cannot be cancelled,
//    and is committed late if etcd does so;
//  * a virtual machine that its host pauses, with its clocks, for longer than the lease.
// In each of these cases kubelet refuses a pod too many. Within one process the Binder waits longer
// before it concludes that a bind can no longer be carried out (Binder::Options::margin).
#pragma once

#include "k8s-client/boot_clock.h"

#include <chrono>

namespace sched::live {

// The times of a bind.
struct BindTimes {
  std::chrono::milliseconds deadline{5'000};  // for the server
  std::chrono::milliseconds margin{1'000};    // for the way there
  friend bool operator==(const BindTimes&, const BindTimes&) = default;
};

// For a lease of that duration: the deadline is a third of it, and the margin a fifteenth, but at
// most the defaults above. So at least three fifths of the lease remain for sending.
[[nodiscard]] BindTimes bind_times(std::chrono::milliseconds lease_duration);

class BindGate {
 public:
  using TimePoint = k8s::BootClock::time_point;

  // Closed until a lease is held.
  explicit BindGate(BindTimes times) : times_(times) {}

  // The lease is held, or was renewed. Without effect after close().
  void held_until(TimePoint valid_until);
  // Closes the gate for ever.
  void close();

  // The last moment for a bind's first byte. In the past: closed.
  [[nodiscard]] TimePoint send_by() const { return send_by_; }
  [[nodiscard]] bool is_open(TimePoint now) const { return now <= send_by_; }

 private:
  const BindTimes times_;
  TimePoint send_by_{};  // the clock's epoch: never
  bool closed_ = false;
};

}  // namespace sched::live
