// The watches of the API server, as events for the engine.
//
// Start-up rule: nothing may be bound before no bind of an earlier process can land any more. With
// leader election the lease takes care of that (leadership/leadership.h), and all watches start at
// once. Without, this is the argument: a bind that a predecessor sent is carried out by the server
// at most `bind deadline` after it arrived there (the deadline travels with it), and the
// predecessor is dead when we start. So once that time, and a margin for bytes still on their way,
// has passed since our start, every bind of his has landed or never will. The pods' watch begins
// only then, and its first list is consistent: what landed is in it. All other watches start at
// once. on_synced comes when every required kind has been delivered completely once; the engine
// decides nothing before it is told.
//
// Pods that have finished hold nothing and are not asked for; when one finishes, the server reports
// it as deleted, in the state it was in before. So those that failed have a watch of their own
// ("failedpods"), of which only what kubelets rejected goes on, as small events; the rest costs a
// key each, and Kubernetes keeps their number within bounds (--terminated-pod-gc-threshold).
//
// Services, ReplicationControllers, ReplicaSets and StatefulSets are watched only where a profile
// spreads pods by default (plugins/pod_topology_spread/): no other needs the right to read them.
//
// These, device classes, the kinds of storage.k8s.io and GPU quotas are optional: a cluster that
// says it has no such API (404) works too, and when they appear they are read. A 403 says less: a
// server that has just started refuses until it knows its roles. For quotas it never is an answer,
// since to take hidden ones for none would place pods beyond them: nothing is decided until they
// can be read, and if that right is lost later, those last seen stay in force.
//
// For the others half a minute of 403 is an answer, and they count as none. Every Kubernetes has
// storage.k8s.io, but a ClusterRole from before the scheduler read it does not show it, and then:
// without storage classes no claim is known to wait for its pod's node, so a pod whose claims are
// unbound waits until they are bound; without CSINodes and VolumeAttachments no attach limit is
// known, so kubelet may leave a pod with one volume too many in ContainerCreating; without
// CSIDrivers no driver is known to say where it has room, and without CSIStorageCapacities one that
// does has room nowhere. What a ClusterRole does not show of that which selects pods spreads none
// by default.
//
// An object that cannot be read holds up nobody but itself (stand_in.h): of a pod that has a node,
// that node, of a node itself, of a quota its namespaces. Of the other kinds it counts as not
// there.
#pragma once

#include "k8s-client/client.h"
#include "k8s-client/error.h"
#include "k8s-client/http/event_loop.h"
#include "k8s-client/http/transport.h"
#include "k8s-client/watch/reflector.h"
#include "scheduler/base/event.h"
#include "scheduler/framework/cluster_change.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sched::live {

class Intake {
 public:
  struct Hooks {
    std::function<void(Event)> on_event;
    // Each pod as the watch shows it, before its event; and the uid of one that is gone.
    std::function<void(const k8s::Pod&)> on_pod;
    std::function<void(const std::string& uid)> on_pod_gone;
    // Each quota likewise.
    std::function<void(const k8s::GpuQuota&)> on_quota = [](const k8s::GpuQuota&) {};
    std::function<void(const std::string& uid)> on_quota_gone = [](const std::string&) {};
    // Whether the cluster has GPU quotas; when it is known, and when it changes.
    std::function<void(bool)> on_quotas_presence = [](bool) {};
    // `kind` is the plural: "pods".
    std::function<void(const std::string& kind, const k8s::Error&,
                       std::chrono::milliseconds retry_in)>
        on_problem;
    // After problems: the watch is up to date again.
    std::function<void(const std::string& kind)> on_recovered;
    // An object cannot be read, and is put aside; once for each.
    std::function<void(const std::string& kind, const k8s::Error&)> on_unreadable =
        [](const std::string&, const k8s::Error&) {};
    std::function<void()> on_synced;
  };
  // How one watch is doing.
  struct Source {
    std::string kind;
    bool synced = false;
    bool in_contact = false;     // heard of within the time in which a living watch is heard of
    std::size_t unreadable = 0;  // objects that are put aside
  };

  // Whether a cluster may lack that kind. Only its absence holds nothing back (see above): any
  // other failure of its first list does, as of every kind.
  [[nodiscard]] static bool is_optional(std::string_view kind);

  struct Options {
    // How long a cluster may refuse an optional kind but quotas before it counts as hidden. One
    // that starts refuses for a while.
    std::chrono::milliseconds hidden_after{30'000};
    // What is read of the cluster (changes_read): what selects pods is watched only for it.
    ChangeMask reads = 0;
  };

  // `transport` and `loop` must outlive it.
  Intake(k8s::Transport& transport, k8s::EventLoop& loop, Hooks hooks,
         const k8s::RequestObserver& observer, Options options);
  ~Intake();
  Intake(const Intake&) = delete;
  Intake& operator=(const Intake&) = delete;

  // The watch of pods starts `pods_after` from now.
  void start(std::chrono::milliseconds pods_after);
  // No hook is called after it.
  void stop();
  // Opens all watches anew, since they are known to be behind: they may hang.
  void reopen();

  [[nodiscard]] std::vector<Source> sources() const;

 private:
  struct Watch;
  template <typename Object>
  struct Observer;
  template <typename Object>
  void add(std::string_view kind, std::string path, Observer<Object> observer = {});
  template <typename Object>
  void add_watch(const std::string& kind, k8s::ResourcePath resource,
                 k8s::ReflectorHandler<Object> handler);
  void add_failed_pods();
  void add_reflectors();
  void add_what_selects_pods();
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
