// Keeps a reader up to date with all objects of one kind: list once, then watch, for ever.
//
// The reflector drives a Watcher (a pure state machine, watcher.h) over a Transport: it sends the
// requests, keeps deadlines and the idle limit, waits out back-offs. Its reader sees a simple
// stream: upserts and deletions, and once, when everything that existed has been delivered, synced.
// After a relist (410) objects that vanished meanwhile come as deletions, so the reader needs to
// know nothing of watches breaking off. All calls happen on the event loop's thread.
//
// What the reader may rely on:
//   * An object is upserted any number of times, also unchanged; the same resource version twice
//     means nothing new. It is never taken back to an older state.
//   * No object is reported gone because a list has not come to it yet: deletions follow from a
//     DELETED event or from a complete list. Each is of an object that was upserted before.
//   * An object that was deleted and created anew under its name unnoticed comes as the deletion of
//     the old uid followed by the upsert of the new one.
//   * A list page is delivered whole or not at all.
//
// An object that cannot be read (a field that is no quantity) is put aside: the others of its kind
// go on. It is reported once, with its name and the field. The handler may name what stands in for
// the object meanwhile: a pod that is missed may have its GPUs given to another. Otherwise the
// object counts as not there. It is back as soon as it can be read.
//
// Where not even name, uid and resource version can be read, it is the list or the stream that is
// bad: a list that contains such an item is a failed list, and such an event leads to a relist.
// Each attempt is reported by on_problem and tried again after a back-off of at most a minute;
// until it succeeds, the reader keeps what it knew and is not told that it is synced.
// last_contact() stands still meanwhile, so that a readiness check can tell.
#pragma once

#include "k8s-client/back_off.h"
#include "k8s-client/client.h"
#include "k8s-client/error.h"
#include "k8s-client/http/event_loop.h"
#include "k8s-client/http/transport.h"
#include "k8s-client/watch/object_key.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace k8s {

// Which objects: "/api/v1/pods", "/apis/resource.k8s.io/v1/deviceclasses".
struct ResourcePath {
  std::string path;
  std::string field_selector;
  std::string label_selector;
};

template <typename T>
struct ReflectorHandler {
  std::function<void(T)> on_upsert;
  std::function<void(ObjectKey)> on_delete;
  // What goes on in place of an object that cannot be read, of which `partial` is what could be; to
  // be upserted under its uid. Nothing: the object counts as not there.
  std::function<std::optional<T>(T partial)> stand_in = {};
  // An object is put aside; once for each, until it could be read or was gone.
  std::function<void(const Error&)> on_unreadable = {};
  // Once, after the first complete list.
  std::function<void()> on_synced;
  // Of an optional kind: whether the cluster has it and shows it to us; when that is first known,
  // and when it changes.
  std::function<void(bool)> on_presence = {};
  // A list or watch failed; it is tried again after `retry_in`. One call per failure, for the log.
  std::function<void(const Error&, std::chrono::milliseconds retry_in)> on_problem;
  // After problems: the reader is up to date again (as last_contact() has it). Not when the kind
  // turned out to be absent, which is what the problem said. Once per row of problems.
  std::function<void()> on_recovered = {};
};

struct ReflectorOptions {
  // 404 means that the cluster does not have this kind: report the problem, count as synced with
  // nothing, and look again after each absent_interval. So does a 403 that has lasted for
  // `hidden_after`: the cluster does not show it to us; nullopt: never. Any other failure is what
  // it is for every kind.
  bool optional = false;
  std::optional<std::chrono::milliseconds> hidden_after = {};
  std::chrono::milliseconds absent_interval = std::chrono::minutes{3};
  std::size_t page_size = 500;
  // Ask for a streamed list (WatchList) first; falls back to paged lists where the server refuses.
  bool watch_list = true;
  // A watch silent for longer than this (no event, no bookmark) is taken for dead and re-opened.
  // Servers send a bookmark about every minute.
  std::chrono::seconds idle_limit{120};
  // For one page of a list; for the response headers of a watch.
  std::chrono::milliseconds deadline{60'000};
  BackOffOptions back_off = {};  // between failures
  std::uint64_t seed = 0;        // of its jitter
};

// T: Pod, Node, Namespace, PersistentVolumeClaim, PersistentVolume, StorageClass, CsiNode,
// CsiDriver, CsiStorageCapacity, VolumeAttachment, DeviceClass, Service, ReplicationController,
// ReplicaSet, StatefulSet, GpuQuota.
template <typename T>
class Reflector {
 public:
  // `transport` and `loop` must outlive it. `observer` is told of each finished list page ("LIST")
  // and of each watch when it is answered ("WATCH").
  Reflector(Transport& transport, EventLoop& loop, ResourcePath resource,
            ReflectorHandler<T> handler, ReflectorOptions options = {},
            RequestObserver observer = {});
  ~Reflector();  // stops
  Reflector(const Reflector&) = delete;
  Reflector& operator=(const Reflector&) = delete;

  // Sends the first request. To be called once.
  void start();
  // No callback comes after it. May be called from within a callback.
  void stop();
  // Opens the watch anew, where there is one, and goes on from where it stood: for a caller that
  // knows from elsewhere that it is behind. It may hang on a server that is dead, which shows only
  // after idle_limit. A list goes on.
  void reopen();

  // When the reader was last known to be up to date: a list was complete, a watch was opened or
  // brought an event or bookmark, or an optional kind was found absent. For /readyz and metrics.
  // The clock's epoch before the first.
  [[nodiscard]] EventLoop::Clock::time_point last_contact() const;

  // How many objects are put aside now.
  [[nodiscard]] std::size_t unreadable() const;

 private:
  struct Parts;
  std::shared_ptr<Parts> parts_;  // shared with callbacks in progress
};

}  // namespace k8s
