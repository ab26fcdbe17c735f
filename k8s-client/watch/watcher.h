// The protocol of list and watch as a pure state machine: events go in, the next request comes out.
//
//           ┌────── any failure that loses the place ──────────────────────┐
//           ▼                                                              │
//         Empty ──list──▶ Listing ──last page──▶ Listed ──watch──▶ Watching ┤
//           │                ▲                     ▲                 │      │
//           └─streamed─▶ Streaming ──bookmark──────┼────────────────▶│      │
//              list                                └─── watch ended ─┘      │
//
// No I/O, no clock, no callbacks: the reflector passes it events and does what it returns. It sees
// versions and outcomes, never objects. The rules are client-go's (tools/cache/reflector.go,
// tools/pager/pager.go), with these differences, each of them on the safe side:
//   * the first list is a consistent read (resourceVersion=""), never "whatever a cache has";
//   * so is a list after one that broke off: the reader may have seen objects that are newer than
//     the version stored here, and must not be set back in time. The same holds for the whole list
//     after an expired continue token. There client-go asks for the version that it first asked
//     for, because it shows its reader no unfinished list;
//   * relists are paged, too, with resourceVersionMatch=NotOlderThan (without it a limit would mean
//     exactly that version); a page that fails for a temporary reason is requested again;
//   * a streamed list that the watch cache cannot give, because it does not come up to date, is
//     followed by a list in pages, which the server then reads from its storage. client-go asks for
//     the stream again;
//   * a watch that got no answer, 5xx, or 401 is opened again at the same version without a relist:
//     for a version that has become too old the server answers 410. The same while there are no
//     credentials: nothing was sent then. The same for the first half minute of 403: a server that
//     has just started may not have read its roles. After it lists show the changes, for a client
//     that may list but not watch. An ERROR event of 5xx that comes twice at one version leads to a
//     relist: the server may be unable to show what follows it.
//
// One watcher follows one kind of object. Every request that it returns is to be sent after
// `delay`; sent() is called when it is sent.
#pragma once

#include "k8s-client/back_off.h"
#include "k8s-client/error.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace k8s {

struct WatcherOptions {
  bool optional = false;  // 404 means: there are no objects (see gone_after)
  // An optional kind that has been refused (403) for so long, without an answered list or watch in
  // between, counts as absent as well. Not at once: a server that has just started may not have
  // read its roles yet. nullopt: never, for a kind that must not be taken as empty by mistake.
  std::optional<std::chrono::milliseconds> hidden_after = {};
  // An optional kind that was listed counts as absent only after nothing but 404 for so long: a
  // proxy in front of the API server may give that answer, too.
  std::chrono::milliseconds gone_after = std::chrono::seconds{30};
  // How often an absent optional kind is tried again.
  std::chrono::milliseconds absent_interval = std::chrono::minutes{3};
  std::size_t page_size = 500;  // halved if a page of that size is too large
  bool watch_list = true;
  BackOffOptions back_off = {};
  std::uint64_t seed = 0;
};

// What to ask the API server.
struct WatchRequest {
  enum class Kind {
    kList,         // one page of a list
    kWatch,        // changes after resource_version
    kStreamedList  // what exists, then changes, in one stream (WatchList)
  };
  Kind kind = Kind::kList;
  std::string resource_version = {};  // of a list: not older than this; empty: consistent
  std::string continue_token = {};    // of a further page; resource_version is empty then
  std::size_t limit = 0;              // 0: everything in one answer
  std::chrono::seconds timeout{0};    // of a stream: the server ends it after this time

  friend bool operator==(const WatchRequest&, const WatchRequest&) = default;
};

// The result of an input.
struct WatcherStep {
  // A new list has begun: objects listed since the last complete one do not count.
  bool list_begins = false;
  // The list is complete: objects that it did not show are gone. With list_begins: it is empty.
  bool list_complete = false;
  // The reader has all objects that exist, or all that it may read.
  bool synced = false;
  // With synced: not because a list is complete, but because the kind is optional and absent, or
  // may not be read.
  bool absent = false;
  // The request to send, `delay` from now. Nothing: continue to read the open stream.
  std::optional<WatchRequest> request = {};
  std::chrono::milliseconds delay{0};

  friend bool operator==(const WatcherStep&, const WatcherStep&) = default;
};

class Watcher {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  enum class State {
    kEmpty,      // nothing asked yet, or after a failure: a list is next
    kListing,    // pages are coming
    kStreaming,  // a streamed list is open, its end not yet seen
    kListed,     // version_ is valid; a watch is to be opened from there
    kWatching,   // a watch is open
  };

  explicit Watcher(WatcherOptions options);

  // The first request.
  [[nodiscard]] WatcherStep start();

  // The request of the last step is being sent.
  void sent(TimePoint now);

  // A page of a list arrived whole.
  [[nodiscard]] WatcherStep page(const std::string& resource_version,
                                 const std::string& continue_token);

  // A watch or streamed list answered 200.
  void opened();

  // An object changed, in an open stream; its own resource version.
  void event(const std::string& resource_version);

  // A bookmark. `initial_events_end`: everything that existed has been streamed.
  [[nodiscard]] WatcherStep bookmark(const std::string& resource_version, bool initial_events_end);

  // The server ended an open stream properly.
  [[nodiscard]] WatcherStep ended(TimePoint now);

  // The request failed or the open stream broke: no answer, an error status, an ERROR event, a
  // deadline or the idle limit, or something that could not be decoded. The kind of failure and the
  // state decide between opening again, continuing with pages, and listing again.
  [[nodiscard]] WatcherStep failed(const Error& error, TimePoint now);

  // A watch is known to be behind: one that is open, or being opened, is closed and opened again
  // from the same version. A list continues.
  [[nodiscard]] WatcherStep reopen();

  [[nodiscard]] State state() const { return state_; }

 private:
  [[nodiscard]] WatcherStep list_anew(std::chrono::milliseconds delay);
  [[nodiscard]] WatcherStep list_by_pages(std::string version, std::chrono::milliseconds delay);
  [[nodiscard]] WatcherStep list_consistently(std::chrono::milliseconds delay);
  [[nodiscard]] WatcherStep watch_on(std::chrono::milliseconds delay);
  [[nodiscard]] WatcherStep same_request(std::chrono::milliseconds delay) const;
  [[nodiscard]] WatcherStep absent(const Error& error);
  [[nodiscard]] bool is_absent(const Error& error, TimePoint now);
  [[nodiscard]] bool is_refused_for(std::chrono::milliseconds after, const Error& error,
                                    TimePoint now);

  [[nodiscard]] WatcherStep list_failed(const Error& error, TimePoint now);
  [[nodiscard]] WatcherStep streamed_list_failed(const Error& error, TimePoint now);
  [[nodiscard]] WatcherStep watch_failed(const Error& error, TimePoint now);

  [[nodiscard]] std::string list_version() const;
  [[nodiscard]] std::chrono::seconds stream_timeout();

  WatcherOptions options_;
  BackOff back_off_;
  State state_ = State::kEmpty;
  WatchRequest request_;            // the last one returned
  std::string version_;             // of the last complete list, event or bookmark; empty: none yet
  std::string error_at_;            // version_ when the last ERROR event came; empty: none to count
  std::string first_page_version_;  // of the list in progress; empty: no page of it yet
  bool reader_is_ahead_ = false;    // a list that broke off has delivered objects
  bool stream_had_events_ = false;
  TimePoint sent_at_{};
  bool was_listed_ = false;  // the reader may have objects
  // Since when lists of an optional kind, and watches (403 alone), were refused with that status:
  // by 403 without an answer in between, by 404 without anything else in between.
  struct Refused {
    int status = 0;
    TimePoint since{};
  };
  std::optional<Refused> refused_;
};

}  // namespace k8s
