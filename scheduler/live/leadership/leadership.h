// Whether this process may decide and bind, at each moment.
//
// Standby: its watches run and its engine has the state of the cluster, but decides nothing. When
// it holds the lease, it waits until
//
//   1. no bind of an earlier leader can be carried out any more. This is so already if the lease
//      was given back (that leader had settled its binds) or had expired (bind_gate.h). If there
//      was no lease, it is not known what scheduled before: a process without election, or a
//      process with a lease that has been deleted. Then it waits for a lease's duration, or for the
//      time that such a process needs for its last bind, whichever is longer. That happens once per
//      cluster. If the process ends before, the next leader waits, too;
//   2. the pods' watch has shown everything that was bound (catch_up.h);
//   3. all watches have been delivered once.
//
// Then on_may_decide comes, once, and binds may be sent while the gate is open. A leader that loses
// the lease never leads again: on_lost requests the end of the process, as kube-scheduler ends. A
// new process starts with a fresh state, and the other replica is ready.
//
// On the event loop's thread.
#pragma once

#include "k8s-client/client.h"
#include "k8s-client/error.h"
#include "k8s-client/http/event_loop.h"
#include "k8s-client/http/transport.h"
#include "k8s-client/leader_election/leader_elector.h"
#include "scheduler/live/leadership/bind_gate.h"
#include "scheduler/live/leadership/catch_up.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sched::live {

class Leadership {
 public:
  struct Hooks {
    std::function<void()> on_may_decide;
    // The watches are behind what was read after the takeover and may hang (catch_up.h).
    std::function<void()> on_watches_behind = [] {};
    // The gate has opened, or may have: waiting binds may be sent.
    std::function<void()> on_gate_open;
    std::function<void(const std::string& why)> on_lost;
    // `source`: "lease", or "read pods after the takeover"; `retry_in` zero: soon.
    std::function<void(const std::string& source, const k8s::Error&,
                       std::chrono::milliseconds retry_in)>
        on_problem;
    // `source` works.
    std::function<void(const std::string& source)> on_progress;
    std::function<void(bool leads)> on_leads;  // for the gauge
    // Another replica was seen to lead, or (empty) none.
    std::function<void(const std::string& identity)> on_leader = [](const std::string&) {};
  };
  struct Options {
    k8s::ElectionOptions election;
    BindTimes bind_times;  // of this process
    std::vector<std::string> scheduler_names;
  };
  // The API for the election: a client with a transport of its own; and the transport of everything
  // else.
  struct Api {
    k8s::Client& lease_client;
    k8s::Transport& transport;
    k8s::RequestObserver observer;
  };

  Leadership(Api api, k8s::EventLoop& loop, Options options, Hooks hooks,
             k8s::LeaderElector::Clock clock = k8s::LeaderElector::system_time);
  Leadership(const Leadership&) = delete;
  Leadership& operator=(const Leadership&) = delete;
  ~Leadership() = default;

  void start();
  // All watches have delivered what there is.
  void on_watches_synced();
  // The watch shows the pod.
  void on_pod(const k8s::Pod& pod) { catch_up_.shown(pod); }
  // The watch shows that the pod is gone.
  void on_pod_gone(const std::string& uid) { catch_up_.gone(uid); }

  // Whether a bind may be sent now; until gate().send_by().
  [[nodiscard]] bool may_bind() const { return gate_.is_open(clock_().boot); }
  [[nodiscard]] const BindGate& gate() const { return gate_; }
  [[nodiscard]] bool leads() const { return elector_.leads(); }

  // Gives the lease back; call it when every bind of this process is settled. `done` is called
  // after `limit` at the latest, and no hook after it.
  void release(std::chrono::milliseconds limit, std::function<void()> done);
  // Ends without giving anything back; no hook is called after it.
  void stop();

 private:
  k8s::LeaderElector::Hooks elector_hooks();
  void on_started_leading();
  void on_stopped_leading(const std::string& why);
  void on_caught_up();
  void decide_if_ready();
  void end();

  k8s::EventLoop& loop_;
  Options options_;
  Hooks hooks_;
  k8s::LeaderElector::Clock clock_;
  BindGate gate_;
  k8s::LeaderElector elector_;
  CatchUp catch_up_;
  std::unique_ptr<k8s::Timer> unknown_predecessor_;
  bool watches_synced_ = false;
  bool caught_up_ = false;
  bool told_to_decide_ = false;
  bool led_ = false;  // ever
  bool ending_ = false;
};

}  // namespace sched::live
