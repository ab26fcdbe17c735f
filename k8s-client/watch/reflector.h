// Keeps a reader up to date with all objects of one kind: lists once, then watches, without end.
//
// The reflector drives a Watcher (a pure state machine, watcher.h) over a Transport: it sends the
// requests, enforces deadlines and the idle limit, and waits between failures. Its reader sees a
// simple stream: upserts and deletions, and once, when everything that existed has been delivered,
// synced. After a relist (410), objects that vanished meanwhile come as deletions, so the reader
// need not handle interrupted watches. All calls happen on the event loop's thread.
//
// Guarantees for the reader:
//   * An object is upserted any number of times, also unchanged; the same resource version twice
//     means nothing new. It is never set back to an older state.
//   * No object is reported gone because a list has not reached it yet: deletions follow from a
//     DELETED event or from a complete list. Each is of an object that was upserted before.
//   * If an object was deleted and created again under its name unnoticed, the deletion of the old
//     uid comes first, then the upsert of the new one.
//   * A list page is delivered whole or not at all.
//
// An object that cannot be read (a field that is not a quantity) is put aside: the others of its
// kind continue. It is reported once, with its name and the field. The handler may return a
// stand-in for the object meanwhile, because the GPUs of a missing pod could be given to another.
// Otherwise the object counts as absent. It is back as soon as it can be read.
//
// If not even name, uid and resource version can be read, the list or the stream itself is bad: a
// list with such an item is a failed list, and such an event leads to a relist. Each attempt is
// reported by on_problem and tried again after a back-off of at most a minute; until it succeeds,
// the reader keeps its state and does not get synced. last_contact() does not advance meanwhile, so
// that a readiness check can detect it.
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

struct ResourcePath {
  std::string path;  // of the objects: ObjectKind::path()
  std::string field_selector;
  std::string label_selector;
};

template <typename T>
struct ReflectorHandler {
  std::function<void(T)> on_upsert;
  std::function<void(ObjectKey)> on_delete;
  // What is passed on in place of an object that cannot be read, of which `partial` has the parts
  // that could be read; it is upserted under its uid. Nothing: the object counts as absent.
  std::function<std::optional<T>(T partial)> stand_in = {};
  // An object is put aside; called once for each, until it could be read or was gone.
  std::function<void(const Error&)> on_unreadable = {};
  // Called once, after the first complete list.
  std::function<void()> on_synced;
  // For an optional kind: whether the cluster has it and this client may read it; called when that
  // is first known, and when it changes.
  std::function<void(bool)> on_presence = {};
  // A list or watch failed; it is tried again after `retry_in`. One call per failure, for the log.
  std::function<void(const Error&, std::chrono::milliseconds retry_in)> on_problem;
  // After problems: the reader is up to date again (by last_contact()). Not called if the kind
  // proved to be absent, which the problem stated. Called once per series of problems.
  std::function<void()> on_recovered = {};
};

struct ReflectorOptions {
  // 404 means that the cluster does not have this kind: report the problem, count as synced with no
  // objects, and try again after each absent_interval; once the kind was listed, only after nothing
  // but 404 for `gone_after`. So does a 403 that has lasted for `hidden_after`: the client may not
  // read the kind; nullopt: never. Any other failure is treated as for every kind.
  bool optional = false;
  std::optional<std::chrono::milliseconds> hidden_after = {};
  std::chrono::milliseconds gone_after = std::chrono::seconds{30};
  std::chrono::milliseconds absent_interval = std::chrono::minutes{3};
  std::size_t page_size = 500;
  // Ask for a streamed list (WatchList) first; falls back to paged lists if the server refuses.
  bool watch_list = true;
  // A watch without event or bookmark for longer than this counts as dead and is opened again.
  // Servers send a bookmark about every minute.
  std::chrono::seconds idle_limit{120};
  // For one page of a list; for the response headers of a watch.
  std::chrono::milliseconds deadline{60'000};
  BackOffOptions back_off = {};  // between failures
  std::uint64_t seed = 0;        // of its jitter
};

// T: a watched kind of api/kinds.h.
template <typename T>
class Reflector {
 public:
  // `transport` and `loop` must outlive it. `observer` is called for each finished list page
  // ("LIST") and for each watch when it is answered ("WATCH").
  Reflector(Transport& transport, EventLoop& loop, ResourcePath resource,
            ReflectorHandler<T> handler, ReflectorOptions options = {},
            RequestObserver observer = {});
  ~Reflector();  // stops
  Reflector(const Reflector&) = delete;
  Reflector& operator=(const Reflector&) = delete;

  // Sends the first request. Call it once.
  void start();
  // No callback comes after it. May be called from within a callback.
  void stop();
  // Opens the watch again, if there is one, and continues from its last version: for a caller that
  // has other evidence that the watch is behind. It may hang on a dead server, which otherwise
  // shows only after idle_limit. A list continues.
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
