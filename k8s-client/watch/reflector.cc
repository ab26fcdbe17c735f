#include "k8s-client/watch/reflector.h"

#include "k8s-client/api/decode.h"
#include "k8s-client/request_target.h"
#include "k8s-client/status_error.h"
#include "k8s-client/watch/frame_splitter.h"
#include "k8s-client/watch/known_objects.h"
#include "k8s-client/watch/line_splitter.h"
#include "k8s-client/watch/watcher.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s {
namespace {

using std::chrono::milliseconds;

// The body of an error answer to a watch; a Status takes a few hundred bytes.
constexpr std::size_t kMaxErrorBody = std::size_t{64} * 1024;

// A page of 500 pods takes some MB; a page that is too long is requested again in halves. A whole
// list in one answer, used where pages expire, cannot be halved.
constexpr std::size_t kMostOfPage = std::size_t{64} << 20;
constexpr std::size_t kMostOfList = std::size_t{512} << 20;

std::string target_of(const ResourcePath& resource, const WatchRequest& request) {
  RequestTarget target(resource.path);
  if (!resource.field_selector.empty()) target.query("fieldSelector", resource.field_selector);
  if (!resource.label_selector.empty()) target.query("labelSelector", resource.label_selector);
  const bool streamed_list = request.kind == WatchRequest::Kind::kStreamedList;
  if (request.kind == WatchRequest::Kind::kList) {
    if (request.limit != 0) target.query("limit", std::to_string(request.limit));
    if (!request.continue_token.empty()) target.query("continue", request.continue_token);
    // Without it a limit means "exactly this version", which may be gone.
    if (!request.resource_version.empty()) target.query("resourceVersionMatch", "NotOlderThan");
  } else {
    target.query("watch", "1").query("allowWatchBookmarks", "true");
    target.query("timeoutSeconds", std::to_string(request.timeout.count()));
    if (streamed_list) {
      target.query("sendInitialEvents", "true").query("resourceVersionMatch", "NotOlderThan");
    }
  }
  if (!request.resource_version.empty()) {
    target.query("resourceVersion", request.resource_version);
  }
  return target.text();
}

// nullopt: the answer does not have it.
std::optional<bool> is_in_protobuf(const Response& response) {
  const auto type = response.header("Content-Type");
  if (!type) return std::nullopt;
  return type->starts_with("application/vnd.kubernetes.protobuf");
}

// By the first byte of a stream: a frame begins with its length, and the highest byte of that is
// zero while the length is below FrameSplitter's limit of 16 MiB; JSON never begins so.
bool begins_with_frame(std::string_view stream) { return stream.front() == '\0'; }

std::string doing(const ResourcePath& resource, const WatchRequest& request) {
  return (request.kind == WatchRequest::Kind::kList ? "list " : "watch ") + resource.path;
}

// To continue without a version would mean "from any state that a cache has"; then deletions in
// between would never be seen.
Error without_version(std::string_view what) {
  return {.kind = ErrorKind::kDecode,
          .message = std::string(what) + " has no metadata.resourceVersion, from which to go on"};
}

}  // namespace

// Every event belongs to one attempt (a request, or the wait before it). Events of earlier
// attempts, such as the end of a cancelled stream, are ignored.
template <typename T>
struct Reflector<T>::Parts : std::enable_shared_from_this<Parts> {
  Parts(Transport& transport_, EventLoop& loop_, ResourcePath resource_,
        ReflectorHandler<T> handler_, const ReflectorOptions& options_, RequestObserver observer_)
      : transport(transport_),
        loop(loop_),
        resource(std::move(resource_)),
        handler(std::move(handler_)),
        options(options_),
        observer(std::move(observer_)),
        watcher({.optional = options.optional,
                 .hidden_after = options.hidden_after,
                 .gone_after = options.gone_after,
                 .absent_interval = options.absent_interval,
                 .page_size = options.page_size,
                 .watch_list = options.watch_list,
                 .back_off = options.back_off,
                 .seed = options.seed}) {}

  // Wraps a callback: it is not called if this object is gone or another attempt has begun.
  template <typename Function>
  auto if_current(Function function) {
    return [weak = this->weak_from_this(), mine = attempt, function](auto&&... arguments) {
      const auto parts = weak.lock();
      if (parts && parts->attempt == mine) {
        function(*parts, std::forward<decltype(arguments)>(arguments)...);
      }
    };
  }

  void take(WatcherStep step) {
    const std::uint64_t mine = attempt;
    if (step.list_begins) begin_list();
    if (step.list_complete) finish_list();
    if (step.synced && attempt == mine) report_presence(!step.absent);
    if (step.synced && attempt == mine) report_synced();
    if (step.request && attempt == mine) schedule(std::move(*step.request), step.delay);
  }

  void schedule(WatchRequest next, milliseconds delay) {
    ++attempt;
    if (call) call->cancel();
    call.reset();
    request = std::move(next);
    if (delay == milliseconds{0}) {
      send();
    } else {
      timer = loop.after(delay, if_current([](Parts& self) { self.send(); }));
    }
  }

  void send() {
    sent_at = loop.now();
    watcher.sent(sent_at);
    Request http{.target = target_of(resource, request),
                 .headers = {{"Accept", std::string(accepted_types<T>())}},
                 .deadline = options.deadline,
                 .repeatable = true};
    if (request.kind == WatchRequest::Kind::kList) {
      http.body_limit = request.limit == 0 ? kMostOfList : kMostOfPage;
      call = transport.send(std::move(http), if_current([](Parts& self, Result<Response> answer) {
                              self.on_page(std::move(answer));
                            }));
      return;
    }
    http.idle_limit = options.idle_limit;
    lines = LineSplitter();
    frames = FrameSplitter();
    opening = {};
    call = transport.stream(
        std::move(http),
        {.on_response = if_current([](Parts& self, const Response& r) { self.on_response(r); }),
         .on_data = if_current([](Parts& self, std::string_view data) { self.on_data(data); }),
         .on_end = if_current(
             [](Parts& self, std::optional<Error> why) { self.on_end(std::move(why)); })});
  }

  // ---- one page of a list

  void on_page(Result<Response> answer) {
    observe("LIST", answer ? answer->status : 0);
    if (!answer) return fail(std::move(answer.error()));
    if (!is_success(*answer)) return fail(status_error(*answer, decoder));
    std::vector<T> items;
    std::vector<std::pair<T, Error>> unreadable;
    auto meta = decoder.template list<T>(
        answer->body, [&](T item) { items.push_back(std::move(item)); },
        [&](T item, Error why) { unreadable.emplace_back(std::move(item), std::move(why)); });
    if (!meta) return fail(std::move(meta.error()));
    if (meta->resource_version.empty()) return fail(without_version("the list"));
    answer->body = {};  // megabytes, not needed during the reader's work
    const std::uint64_t mine = attempt;
    if (meta->continue_token.empty()) up_to_date();
    for (T& item : items) {
      if (attempt != mine) return;
      list_readable(std::move(item));
    }
    for (auto& [item, why] : unreadable) {
      if (attempt != mine) return;
      if (auto in_its_place = put_aside(std::move(item), why)) list_item(*std::move(in_its_place));
    }
    if (attempt != mine) return;
    take(watcher.page(meta->resource_version, meta->continue_token));
  }

  // ---- a watch, or a streamed list

  void on_response(const Response& response) {
    observe("WATCH", response.status);
    opening = response;
    opening.body.clear();
    is_protobuf = is_in_protobuf(response);
    if (!is_success(response)) return;
    watcher.opened();
    note_contact();
  }

  void on_data(std::string_view data) {
    if (!is_success(opening)) {
      opening.body += data.substr(0, kMaxErrorBody - opening.body.size());
      return;
    }
    if (data.empty()) return;
    if (!is_protobuf) is_protobuf = begins_with_frame(data);
    const std::uint64_t mine = attempt;
    const auto on_piece = [this, mine](std::string_view piece) {
      on_event(*is_protobuf ? decoder.template watch_message<T>(piece)
                            : decoder.template watch_event<T>(piece));
      return attempt == mine;
    };
    const auto fed = *is_protobuf ? frames.feed(data, on_piece) : lines.feed(data, on_piece);
    if (!fed && attempt == mine) fail(fed.error());
  }

  void on_end(std::optional<Error> why) {
    if (why) {
      if (opening.status == 0) observe("WATCH", 0);
      return fail(std::move(*why));
    }
    if (!is_success(opening)) return fail(status_error(opening, decoder));
    if (lines.has_rest() || frames.has_rest()) {
      return fail({.kind = ErrorKind::kConnection, .message = "the stream ended within an event"});
    }
    const std::uint64_t mine = attempt;
    const bool unfinished = watcher.state() == Watcher::State::kStreaming;
    WatcherStep step = watcher.ended(loop.now());
    if (unfinished) {
      report({.kind = ErrorKind::kConnection,
              .message = "the streamed list ended before it was complete; listing in pages"},
             step.delay);
    } else if (step.delay > milliseconds{0}) {
      report({.kind = ErrorKind::kConnection, .message = "the server ended the watch at once"},
             step.delay);
    }
    if (attempt == mine) take(std::move(step));
  }

  void on_event(Result<WatchEvent<T>> event) {
    if (!event) return fail(std::move(event.error()));
    if (event->type == WatchEventType::kError) return fail(status_error(event->status));
    const std::string version = event->object.metadata.resource_version;
    if (version.empty()) return fail(without_version("an event"));
    if (event->type == WatchEventType::kBookmark) {
      WatcherStep step = watcher.bookmark(version, event->initial_events_end);
      note_contact();
      return take(std::move(step));
    }
    watcher.event(version);
    note_contact();
    if (event->type == WatchEventType::kDeleted) {
      aside.erase(event->object.metadata.uid);
      remove(key_of(event->object.metadata));
    } else if (event->unreadable) {
      on_unreadable(std::move(event->object), *event->unreadable);
    } else if (watcher.state() == Watcher::State::kStreaming) {
      list_readable(std::move(event->object));
    } else {
      aside.erase(event->object.metadata.uid);
      upsert(std::move(event->object));
    }
  }

  void on_unreadable(T partial, const Error& why) {
    const ObjectKey key = key_of(partial.metadata);
    const bool listing = watcher.state() == Watcher::State::kStreaming;
    const std::uint64_t mine = attempt;
    auto in_its_place = put_aside(std::move(partial), why);
    if (attempt != mine) return;
    if (in_its_place)
      return listing ? list_item(*std::move(in_its_place)) : upsert(*std::move(in_its_place));
    // What a list does not show is deleted at its end.
    if (!listing) remove(key);
  }

  // Reports the object, if that is new, and asks for its stand-in.
  std::optional<T> put_aside(T partial, const Error& why) {
    const std::uint64_t mine = attempt;
    const auto [known_since, is_new] = aside.try_emplace(partial.metadata.uid);
    known_since->second = list_number;
    if (is_new && handler.on_unreadable) {
      handler.on_unreadable(with_context(why, doing(resource, request)));
    }
    if (attempt != mine || !handler.stand_in) return std::nullopt;
    return handler.stand_in(std::move(partial));
  }

  // ---- calls of the reader

  void begin_list() {
    known.begin_list();
    held.clear();
    ++list_number;
  }

  void list_readable(T object) {
    aside.erase(object.metadata.uid);
    list_item(std::move(object));
  }

  // An object of a list. If another object was known under its name, the new one waits for the end
  // of the list, when the old one is deleted, so that the reader never has both.
  void list_item(T object) {
    const ObjectKey key = key_of(object.metadata);
    const auto uid = known.uid_at(key);
    if (uid && *uid != key.uid) {
      held.push_back(std::move(object));
      return;
    }
    known.see(key);
    handler.on_upsert(std::move(object));
  }

  void finish_list() {
    const std::uint64_t mine = attempt;
    std::erase_if(aside, [this](const auto& object) { return object.second != list_number; });
    known.sweep([this, mine](ObjectKey key) {
      if (attempt == mine) handler.on_delete(std::move(key));
    });
    for (T& object : std::exchange(held, {})) {
      if (attempt != mine) return;
      upsert(std::move(object));
    }
  }

  // The present state of an object, in an open watch.
  void upsert(T object) {
    const std::uint64_t mine = attempt;
    const ObjectKey key = key_of(object.metadata);
    if (const auto uid = known.uid_at(key); uid && *uid != key.uid) {
      remove({.namespace_ = key.namespace_, .name = key.name, .uid = std::string(*uid)});
      if (attempt != mine) return;
    }
    known.see(key);
    handler.on_upsert(std::move(object));
  }

  void remove(ObjectKey key) {
    std::erase_if(held, [&key](const T& object) { return object.metadata.uid == key.uid; });
    if (known.remove(key)) handler.on_delete(std::move(key));
  }

  void report_presence(bool is_there) {
    if (!options.optional || present == is_there) return;
    present = is_there;
    if (handler.on_presence) handler.on_presence(is_there);
  }

  void report_synced() {
    if (std::exchange(synced, true)) return;
    if (handler.on_synced) handler.on_synced();
  }

  // The request of this attempt failed; its later events do not matter.
  void fail(Error error) {
    const std::uint64_t mine = attempt;
    WatcherStep step = watcher.failed(error, loop.now());
    if (step.synced) last_contact = loop.now();  // an absent kind is an answer, too
    report(std::move(error), step.delay);
    if (attempt == mine) take(std::move(step));
  }

  // Objects of an incomplete list prove nothing: it may break off at the same object each time.
  void note_contact() {
    if (watcher.state() == Watcher::State::kWatching) up_to_date();
  }

  void up_to_date() {
    last_contact = loop.now();
    if (std::exchange(in_trouble, false) && handler.on_recovered) handler.on_recovered();
  }

  void report(Error error, milliseconds retry_in) {
    in_trouble = true;
    if (handler.on_problem) {
      handler.on_problem(with_context(std::move(error), doing(resource, request)), retry_in);
    }
  }

  void observe(std::string_view verb, int status) {
    if (observer) observer(verb, status, loop.now() - sent_at);
  }

  void stop() {
    ++attempt;
    timer.reset();
    if (call) call->cancel();
    call.reset();
  }

  Transport& transport;
  EventLoop& loop;
  const ResourcePath resource;
  const ReflectorHandler<T> handler;
  const ReflectorOptions options;
  const RequestObserver observer;

  Watcher watcher;
  KnownObjects known;
  Decoder decoder;
  std::vector<T> held;  // see list_item()
  std::uint64_t list_number = 0;
  // Objects that are put aside, by uid, with the number of the list during or after which each was
  // last shown.
  std::map<std::string, std::uint64_t, std::less<>> aside;
  bool synced = false;
  bool in_trouble = false;  // a problem was reported, and the reader has not been up to date since
  std::optional<bool> present;  // of an optional kind

  std::uint64_t attempt = 0;  // changes whenever what is under way no longer matters
  WatchRequest request;       // of this attempt
  EventLoop::Clock::time_point sent_at{};
  std::shared_ptr<Call> call;
  std::unique_ptr<Timer> timer;
  Response opening;  // of a stream: its status; of an error status also the body
  // The stream: in frames if true, else in lines. nullopt: its first byte has not come yet.
  std::optional<bool> is_protobuf;
  LineSplitter lines;
  FrameSplitter frames;
  EventLoop::Clock::time_point last_contact{};
};

template <typename T>
Reflector<T>::Reflector(Transport& transport, EventLoop& loop, ResourcePath resource,
                        ReflectorHandler<T> handler, ReflectorOptions options,
                        RequestObserver observer)
    : parts_(std::make_shared<Parts>(transport, loop, std::move(resource), std::move(handler),
                                     options, std::move(observer))) {}

template <typename T>
Reflector<T>::~Reflector() {
  stop();
}

template <typename T>
void Reflector<T>::start() {
  parts_->take(parts_->watcher.start());
}

template <typename T>
void Reflector<T>::stop() {
  const auto parts = parts_;
  parts->stop();
}

template <typename T>
void Reflector<T>::reopen() {
  const auto parts = parts_;
  parts->take(parts->watcher.reopen());
}

template <typename T>
EventLoop::Clock::time_point Reflector<T>::last_contact() const {
  return parts_->last_contact;
}

template <typename T>
std::size_t Reflector<T>::unreadable() const {
  return parts_->aside.size();
}

#define K8S_REFLECTOR(T) template class Reflector<T>
K8S_EACH_WATCHED_KIND(K8S_REFLECTOR);
#undef K8S_REFLECTOR

}  // namespace k8s
