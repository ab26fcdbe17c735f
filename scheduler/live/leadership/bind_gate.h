// When a bind may be sent: only while no other leader can begin before it has landed, or never
// will.
//
// The API server does not know who leads; it carries out a bind whoever sends it, and whenever it
// comes. So a leader must have stopped early enough by himself. All by his own clock (BootClock,
// which counts on while the machine sleeps):
//
//   renewal sent         last bind may be sent                     nobody else leads before
//        S ───────────────────────┼──────────┼───────────────┼──────────┤
//                              send_by    margin         deadline    valid_until = S + lease − 1 %
//                                                                       (k8s-client/…/election.h)
//
//  * A bind leaves at send_by at the latest. Looked at by the transport, right before its first
//    byte goes to the socket, so what it waits for before (this process's queues, a connection, a
//    process that was stopped and goes on) does not count.
//  * It is in the server's hands `margin` later or never: bytes that are not acknowledged by then
//    are dropped by our kernel, even if we are stopped or dead (TransportOptions::
//    unacknowledged_limit). A network that was cut in two brings nothing late.
//  * The server ends its work on it `deadline` after it began (?timeout=).
//
// So at valid_until every bind of this leader has landed or never will, and the next leader finds
// in the cluster what there is to know. Its own lease begins later still, by what passed between S
// and its seeing the renewal. A slow server makes renewals late, and with them the gate: it closes,
// binds wait, and they go on when a renewal gets through.
//
// What this does not cover, since nothing here could:
//  * a process stopped between that look and the system call after it, some microseconds, which
//    goes on after the lease has changed hands;
//  * an API server that is itself stopped after its kernel took the bytes, while another one serves
//    the next leader;
//  * a load balancer or tunnel before the API servers (haproxy, a cloud's, konnectivity) that takes
//    the bytes, acknowledges them, and delivers them when its own connection allows: our kernel
//    cannot take back what another has accepted. Let the scheduler talk to an API server itself, or
//    keep what such a proxy may hold a request for below `margin`;
//  * a write that the API server has handed to etcd when its time is up: it cannot be called back,
//    and commits late if etcd does;
//  * a virtual machine that its host pauses for longer than the lease, with its clocks.
// kubelet refuses a pod too many in each of these cases. Within one process the Binder waits longer
// before it takes a bind for one that can land no more (Binder::Options::margin).
#pragma once

#include "k8s-client/boot_clock.h"

#include <chrono>

namespace sched::live {

// What a bind is granted.
struct BindTimes {
  std::chrono::milliseconds deadline{5'000};  // for the server
  std::chrono::milliseconds margin{1'000};    // for the way there
  friend bool operator==(const BindTimes&, const BindTimes&) = default;
};

// For a lease that long: a third of it, and a fifteenth, but no more than without a lease. So three
// fifths are left to send in.
[[nodiscard]] BindTimes bind_times(std::chrono::milliseconds lease_duration);

class BindGate {
 public:
  using TimePoint = k8s::BootClock::time_point;

  // Closed until a lease is held.
  explicit BindGate(BindTimes times) : times_(times) {}

  // The lease is held, or was renewed. Without effect after close().
  void held_until(TimePoint valid_until);
  // For good.
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
