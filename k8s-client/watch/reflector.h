// Keeps a reader up to date with all objects of one kind: list once, then watch, for ever.
//
// The reflector drives a Watcher (a pure state machine, watcher.h) over a Transport: it sends the
// requests, keeps deadlines and the idle limit, waits out back-offs. Its reader sees a simple
// stream: upserts and deletions, and once, when everything that existed has been delivered, synced.
// After a relist (410) objects that vanished meanwhile come as deletions, so the reader needs to
// know nothing of watches breaking off. All calls happen on the event loop's thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "k8s-client/client.h"
#include "k8s-client/error.h"
#include "k8s-client/http/event_loop.h"
#include "k8s-client/http/transport.h"

namespace k8s {

// Which objects: "/api/v1/pods", "/apis/resource.k8s.io/v1/deviceclasses".
struct ResourcePath {
  std::string path;
  std::string field_selector;
  std::string label_selector;
};

struct ObjectKey {
  std::string namespace_;
  std::string name;
  std::string uid;
  friend bool operator==(const ObjectKey&, const ObjectKey&) = default;
};

template <typename T>
struct ReflectorHandler {
  std::function<void(T)> on_upsert;
  std::function<void(ObjectKey)> on_delete;
  // Once, after the first complete list.
  std::function<void()> on_synced;
  // A list or watch failed; it is tried again after `retry_in`. One call per failure, for the log.
  std::function<void(const Error&, std::chrono::milliseconds retry_in)> on_problem;
};

struct ReflectorOptions {
  // 403 and 404 mean that the cluster does not have, or does not show us, this kind: report the
  // problem, count as synced with nothing, and look again every few minutes.
  bool optional = false;
  std::size_t page_size = 500;
  // Ask for a streamed list (WatchList) first; falls back to paged lists where the server refuses.
  bool watch_list = true;
  // A watch silent for longer than this (no event, no bookmark) is taken for dead and re-opened.
  std::chrono::seconds idle_limit{120};
  std::uint64_t seed = 0;  // of the jitter
};

// T: Pod, Node, Namespace, PersistentVolumeClaim, PersistentVolume, DeviceClass.
template <typename T>
class Reflector {
 public:
  Reflector(Transport& transport, EventLoop& loop, ResourcePath resource, ReflectorHandler<T> handler,
            ReflectorOptions options = {}, RequestObserver observer = {});
  ~Reflector();  // stops
  Reflector(const Reflector&) = delete;
  Reflector& operator=(const Reflector&) = delete;

  void start();
  // No callback comes after it.
  void stop();

  // When the last answer, event or bookmark came; for /readyz and metrics.
  [[nodiscard]] EventLoop::Clock::time_point last_contact() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace k8s
