// The watches of the API server, as events for the engine.
//
// Start-up rule: no bind may be sent until no bind of an earlier process can be carried out any
// more. With leader election the lease ensures that (leadership/leadership.h), and all watches
// start at once. Without it, this is the argument: the server carries out a bind at most `bind
// deadline` after the bind arrived there (the deadline is part of the request), and the earlier
// process has ended when this one starts. So when that time, and a margin for bytes still under
// way, has passed since the start of this process, every bind of the earlier one has been carried
// out or never will be. The pods' watch begins only then, and its first list is consistent: it
// contains every bind that was carried out. No other watch waits for that. on_synced comes when
// every required kind has been delivered completely once; before it the engine decides nothing.
//
// Pods that have finished hold nothing and are not requested; when a pod finishes, the server
// reports it as deleted, in its previous state. So failed pods have a watch of their own
// ("failedpods"). Of these only the pods that kubelets rejected are passed on, as small events; the
// others cost a key each, and Kubernetes limits their number (--terminated-pod-gc-threshold).
//
// Services, ReplicationControllers, ReplicaSets and StatefulSets are watched only if a profile
// spreads pods by default (plugins/pod_topology_spread/), and PodDisruptionBudgets only if a
// profile preempts: other configurations need no right to read them.
//
// These, device classes, the kinds of storage.k8s.io and GPU quotas are optional: a cluster without
// such an API (404) works, too, and when they appear they are read. A load balancer without a
// server behind it may answer so, too. So they are asked for only when some kind that every cluster
// has is read completely. If a kind was there before, it is absent only when nothing but 404 has
// come for half a minute. A 403 is less certain: a server that has just started refuses until it
// has read its roles. For quotas a 403 is never an answer, because if hidden quotas counted as
// none, pods would be placed beyond them: nothing is decided until they can be read. If that right
// is lost later, the quotas last seen stay in force.
//
// For the others, half a minute of 403 is an answer, and they count as none. Every Kubernetes has
// storage.k8s.io, but a ClusterRole that is older than the scheduler's need for it may not grant
// it. Then: without storage classes no claim is known to wait for its pod's node, so a pod with
// unbound claims waits until they are bound; without CSINodes and VolumeAttachments no attach limit
// is known, so kubelet may leave a pod with one volume too many in ContainerCreating; without
// CSIDrivers no driver is known to report its capacity, and without CSIStorageCapacities a driver
// that reports capacity has none anywhere. Objects that select pods and that a ClusterRole does not
// grant spread no pods by default. While PodDisruptionBudgets cannot be read, the engine knows it
// (event::DisruptionBudgetsReadable), and preempts only in profiles that may violate them.
//
// An object that cannot be read blocks only what depends on it (stand_in.h): a pod that has a node
// blocks that node, a node itself, a quota its namespaces. An object of another kind counts as
// absent.
#pragma once

#include "k8s-client/client.h"
#include "k8s-client/error.h"
#include "k8s-client/http/event_loop.h"
#include "k8s-client/http/transport.h"
#include "k8s-client/watch/reflector.h"
#include "scheduler/base/event.h"
#include "scheduler/base/watched_kinds.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sched::live {

class Intake {
 public:
  struct Hooks {
    std::function<void(Event)> on_event;
    // Each pod of the watch, before its event; and the uid of a pod that is gone.
    std::function<void(const k8s::Pod&)> on_pod;
    std::function<void(const std::string& uid)> on_pod_gone;
    // The same for quotas.
    std::function<void(const k8s::GpuQuota&)> on_quota = [](const k8s::GpuQuota&) {};
    std::function<void(const std::string& uid)> on_quota_gone = [](const std::string&) {};
    // Whether the cluster has GPU quotas: called when that is known, and when it changes.
    std::function<void(bool)> on_quotas_presence = [](bool) {};
    // `kind` is the plural: "pods".
    std::function<void(const std::string& kind, const k8s::Error&,
                       std::chrono::milliseconds retry_in)>
        on_problem;
    // After problems: the watch is up to date again.
    std::function<void(const std::string& kind)> on_recovered;
    // An object cannot be read, and is put aside; called once for each.
    std::function<void(const std::string& kind, const k8s::Error&)> on_unreadable =
        [](const std::string&, const k8s::Error&) {};
    std::function<void()> on_synced;
  };
  // The state of one watch.
  struct Source {
    std::string kind;
    bool synced = false;
    // Since it was last known to be up to date; nullopt: it has not been yet.
    std::optional<std::chrono::nanoseconds> age;
    bool in_contact = false;     // a sign of life came within the time for a working watch
    std::size_t unreadable = 0;  // objects that are put aside
  };

  // Whether a cluster may be without that kind. Only its absence blocks nothing (see above); any
  // other failure of its first list does, as for every kind.
  [[nodiscard]] static Needed needed(std::string_view kind);

  struct Options {
    // How long a cluster may refuse an optional kind, except quotas, before the kind counts as
    // hidden. A cluster that is starting refuses for a while.
    std::chrono::milliseconds hidden_after{30'000};
    // The changes that constraints read (changes_read), for kinds that are watched only then.
    ChangeMask reads = 0;
    // Whether a profile preempts (preempts()): only then PodDisruptionBudgets are watched.
    bool disruption_budgets = false;
  };

  // `transport` and `loop` must outlive it.
  Intake(k8s::Transport& transport, k8s::EventLoop& loop, Hooks hooks,
         const k8s::RequestObserver& observer, Options options);
  ~Intake();
  Intake(const Intake&) = delete;
  Intake& operator=(const Intake&) = delete;

  // The watch of pods starts `pods_after` from now, or when start_pods() is called.
  void start(std::chrono::milliseconds pods_after);
  // Without effect once it has started.
  void start_pods();
  // No hook is called after it.
  void stop();
  // Opens all watches again, because they are known to be behind and may hang.
  void reopen();

  [[nodiscard]] std::vector<Source> sources() const;

 private:
  struct Watch;
  template <typename Object>
  struct Observer;
  template <typename Object>
  Observer<Object> observer_of();
  template <typename Object>
  void add(const Watched<Object>& kind);
  template <typename Object>
  void add_watch(const std::string& kind, std::string field_selector,
                 k8s::ReflectorHandler<Object> handler);
  void add_failed_pods();
  void begin(Watch& watch);
  void on_watch_synced(Watch& watch);

  k8s::Transport& transport_;
  k8s::EventLoop& loop_;
  Hooks hooks_;
  k8s::RequestObserver observer_;
  Options options_;
  std::vector<std::unique_ptr<Watch>> watches_;
  std::unique_ptr<k8s::Timer> pods_timer_;
  bool announced_ = false;
};

}  // namespace sched::live
