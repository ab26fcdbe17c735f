// Detects when the pods' watch has shown everything that earlier leaders bound.
//
// A standby watches the cluster as the leader does, but how far behind its watch is cannot be seen:
// a quiet watch looks the same as one that hangs. A decision right after a takeover could give away
// what the previous leader has just given. A new list of all pods would show the state, but takes
// many seconds in a large cluster. However, only binds of this scheduler's pods matter, and only
// the leader makes those. So a new leader
//
//   1. reads the pods that name its schedulers, consistently (the answer is not older than the
//      request, and the request not older than the previous leader's last bind), and
//   2. waits until the watch has shown each of those that have a node with its node, or gone.
//
// The watch stays the only source of the engine's events, in its order; this class only determines
// the time. Usually the watch has been faster than the list, and nothing is waited for. A watch may
// also hang unnoticed for minutes, for example on an API server that failed together with the
// previous leader. So if a second read some seconds later still finds something missing, the
// watch is opened again.
//
// Not covered: binds of an earlier leader for a scheduler name that this configuration no longer
// has. Cost: one read of this scheduler's own pods, once per takeover, and until then a set of the
// uids of its bound pods. On the event loop's thread.
#pragma once

#include "k8s-client/api/pod.h"
#include "k8s-client/client.h"
#include "k8s-client/error.h"
#include "k8s-client/http/event_loop.h"
#include "k8s-client/http/transport.h"
#include "k8s-client/watch/reflector.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

namespace sched::live {

class CatchUp {
 public:
  struct Hooks {
    // Called once.
    std::function<void()> on_done;
    // The watch is some seconds behind. Repeated from time to time while it is.
    std::function<void()> on_behind;
    // The read failed; tried again after `retry_in`.
    std::function<void(const k8s::Error&, std::chrono::milliseconds retry_in)> on_problem;
  };

  // `transport` and `loop` must outlive it.
  CatchUp(k8s::Transport& transport, k8s::EventLoop& loop, std::vector<std::string> scheduler_names,
          Hooks hooks, k8s::RequestObserver observer);
  ~CatchUp();
  CatchUp(const CatchUp&) = delete;
  CatchUp& operator=(const CatchUp&) = delete;

  // What the pods' watch shows, starting with its first list.
  void shown(const k8s::Pod& pod);
  void gone(const std::string& uid);

  // Starts the read; call it when no bind of an earlier leader can be carried out any more.
  void start();
  // No hook is called after it.
  void stop();

 private:
  // Reads the pods of one scheduler name. A reflector's first list is a consistent read with
  // repetition after failures; its later events are not used.
  using Read = k8s::Reflector<k8s::Pod>;

  [[nodiscard]] bool is_ours(const k8s::Pod& pod) const;
  void on_read_pod(const k8s::Pod& pod);
  void on_read_complete();
  void check_done();

  k8s::Transport& transport_;
  k8s::EventLoop& loop_;
  std::vector<std::string> scheduler_names_;
  Hooks hooks_;
  k8s::RequestObserver observer_;
  std::unordered_set<std::string> bound_;    // uids that the watch has shown with a node
  std::unordered_set<std::string> missing_;  // uids read with a node, not in bound_
  std::vector<std::unique_ptr<Read>> reads_;
  std::size_t open_reads_ = 0;
  int rounds_ = 0;  // of reads
  std::unique_ptr<k8s::Timer> again_;
  bool reading_ = false;
  bool done_ = false;
};

}  // namespace sched::live
