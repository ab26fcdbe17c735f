#include "k8s-client/watch/watcher.h"

#include <utility>

namespace k8s {
namespace {

using std::chrono::milliseconds;

// A watch that ends sooner, without an event, comes from a server or proxy that does not support
// watches.
constexpr std::chrono::seconds kShortWatch{1};

// Below the idle limit of load balancers and the 295 s after which some servers end any request;
// with a random part, so that watches opened together do not end together.
constexpr int kMinStreamSeconds = 240;
constexpr int kMaxStreamSeconds = 290;

// A watch that is refused (403) for so long: it is not because the server has just started.
constexpr std::chrono::seconds kRefusedAfter{30};

// 504 with this text: the server's cache has not reached the requested version. Its cause
// "ResourceVersionTooLarge" is not among the stored parts of a Status; client-go, too, compares the
// text for servers that do not send the cause.
bool is_too_large_version(const Error& error) {
  return error.kind == ErrorKind::kStatus &&
         error.message.find("Too large resource version") != std::string::npos;
}

bool is_lost_version(const Error& error) {
  return error.is_expired() || is_too_large_version(error);
}

// The server does not accept the credentials, or there are none at present: that says nothing about
// the version, and a list would fail, too.
bool is_of_credentials(const Error& error) {
  return error.is_status(401) || error.kind == ErrorKind::kConfig;
}

bool may_pass(const Error& error) { return error.is_passing() || is_of_credentials(error); }

}  // namespace

Watcher::Watcher(WatcherOptions options)
    : options_(options), back_off_(options.seed, options.back_off) {}

WatcherStep Watcher::start() { return list_anew(milliseconds{0}); }

void Watcher::sent(TimePoint now) {
  sent_at_ = now;
  stream_had_events_ = false;
}

WatcherStep Watcher::page(const std::string& resource_version, const std::string& continue_token) {
  refused_.reset();
  // All pages show the state at the version of the first one. The watch starts there, even if the
  // list had to be completed in another way.
  if (first_page_version_.empty()) first_page_version_ = resource_version;
  if (!continue_token.empty()) {
    reader_is_ahead_ = true;
    // A continue token includes the version: the server refuses both together.
    request_ = {.kind = WatchRequest::Kind::kList,
                .continue_token = continue_token,
                .limit = options_.page_size};
    return same_request(milliseconds{0});
  }
  reader_is_ahead_ = false;
  was_listed_ = true;
  version_ = first_page_version_;
  WatcherStep step = watch_on(milliseconds{0});
  step.list_complete = true;
  step.synced = true;
  return step;
}

void Watcher::opened() {
  refused_.reset();
  if (state_ == State::kListed) state_ = State::kWatching;
}

void Watcher::event(const std::string& resource_version) {
  stream_had_events_ = true;
  // The initial events of a streamed list are in no order of versions: a watch from the version of
  // one of them would miss others. Only the closing bookmark has a version to continue from.
  if (state_ == State::kStreaming) {
    reader_is_ahead_ = true;
  } else {
    version_ = resource_version;
  }
}

WatcherStep Watcher::bookmark(const std::string& resource_version, bool initial_events_end) {
  stream_had_events_ = true;
  if (state_ != State::kStreaming) {
    version_ = resource_version;
    return {};
  }
  if (!initial_events_end) return {};
  version_ = resource_version;
  reader_is_ahead_ = false;
  was_listed_ = true;
  state_ = State::kWatching;
  WatcherStep step;
  step.list_complete = true;
  step.synced = true;
  return step;
}

WatcherStep Watcher::ended(TimePoint now) {
  // A server without streamed lists takes the request for a plain watch, and its stream ends
  // without the closing bookmark.
  if (state_ == State::kStreaming) return list_by_pages(list_version(), milliseconds{0});
  if (!stream_had_events_ && now - sent_at_ < kShortWatch) {
    // Lists with growing pauses still show the changes if watches do not work at all.
    return list_anew(back_off_.next(now));
  }
  return watch_on(milliseconds{0});
}

WatcherStep Watcher::failed(const Error& error, TimePoint now) {
  if (refused_ && refused_->status == 404 && !error.is_status(404)) refused_.reset();
  switch (state_) {
    case State::kEmpty:
    case State::kListing:
      return list_failed(error, now);
    case State::kStreaming:
      return streamed_list_failed(error, now);
    case State::kListed:
    case State::kWatching:
      return watch_failed(error, now);
  }
  return list_anew(back_off_.next(now, error.retry_after));
}

WatcherStep Watcher::reopen() {
  const bool is_watch = state_ == State::kListed || state_ == State::kWatching;
  return is_watch ? watch_on(milliseconds{0}) : WatcherStep{};
}

WatcherStep Watcher::list_failed(const Error& error, TimePoint now) {
  const bool further_page = !request_.continue_token.empty();
  if (further_page && error.is_expired()) {
    // The token was valid for five minutes. What is left is the whole list in one answer.
    WatcherStep step = list_by_pages(list_version(), milliseconds{0});
    request_.limit = 0;
    step.request = request_;
    return step;
  }
  if (further_page && may_pass(error)) return same_request(back_off_.next(now, error.retry_after));
  if (error.kind == ErrorKind::kTooLarge && request_.limit > 1) {
    options_.page_size = request_.limit / 2;
    request_.limit = options_.page_size;
    return same_request(milliseconds{0});
  }
  if (is_lost_version(error) && !request_.resource_version.empty()) {
    return list_consistently(milliseconds{0});
  }
  if (is_absent(error, now)) return absent(error);
  return list_anew(back_off_.next(now, error.retry_after));
}

WatcherStep Watcher::streamed_list_failed(const Error& error, TimePoint now) {
  if (is_lost_version(error)) {
    const bool had_version = !request_.resource_version.empty();
    version_.clear();
    if (had_version) return list_anew(milliseconds{0});
    // The watch cache, from which streams come, does not reach the version that the storage has.
    // The server reads pages from the storage then.
  }
  if (error.kind == ErrorKind::kConnect || error.is_status(429)) {
    return list_anew(back_off_.next(now, error.retry_after));
  }
  // Requested in another way at once, unless the server is in trouble or asks for a pause.
  const bool later = error.is_status(500) || error.retry_after;
  const milliseconds delay = later ? back_off_.next(now, error.retry_after) : milliseconds{0};
  return list_by_pages(list_version(), delay);
}

WatcherStep Watcher::watch_failed(const Error& error, TimePoint now) {
  const bool was_open = state_ == State::kWatching;
  // It has ended, even if not properly: something between may cut every silent connection after
  // less than a minute. Growing pauses would show changes late.
  if (was_open && error.got_no_answer() && now - sent_at_ >= kShortWatch) {
    return watch_on(milliseconds{0});
  }
  const milliseconds delay = back_off_.next(now, error.retry_after);
  // If a second ERROR event comes at one version, the server may be unable to show what follows it.
  const bool is_error_event =
      was_open && error.kind == ErrorKind::kStatus && !error.asks_for_patience();
  const bool is_stuck = is_error_event && std::exchange(error_at_, version_) == version_;
  const bool is_refused = error.is_status(403) && is_refused_for(kRefusedAfter, error, now);
  const bool passes = may_pass(error) || (error.is_status(403) && !is_refused);
  if (!is_lost_version(error) && passes && !is_stuck) return watch_on(delay);
  error_at_.clear();
  // After 410 from the last version, not from "": it is enough that the list is not older than the
  // reader's state.
  return list_anew(delay);
}

// Whether this refusal of a list means that there are no objects, or none that may be read.
bool Watcher::is_absent(const Error& error, TimePoint now) {
  if (!options_.optional) return false;
  std::optional<milliseconds> after;  // the refusal must have lasted for so long
  if (error.is_status(404)) after = was_listed_ ? options_.gone_after : milliseconds{0};
  if (error.is_status(403)) after = options_.hidden_after;
  return after && is_refused_for(*after, error, now);
}

// Whether this status, 403 or 404, has lasted for so long.
bool Watcher::is_refused_for(milliseconds after, const Error& error, TimePoint now) {
  if (!refused_ || refused_->status != error.http_status) refused_ = {error.http_status, now};
  return now - refused_->since >= after;
}

WatcherStep Watcher::absent(const Error& error) {
  // 404: the server has no such kind, so none of its objects exist. 403: they may exist, but this
  // client may not read them; what was read while it was allowed stays.
  const bool nothing_exists = error.is_status(404);
  if (nothing_exists) {
    version_.clear();
    was_listed_ = false;
  }
  WatcherStep step = list_anew(options_.absent_interval);
  step.absent = true;
  step.list_complete = nothing_exists;
  step.synced = true;
  return step;
}

WatcherStep Watcher::list_anew(milliseconds delay) {
  if (!options_.watch_list) return list_by_pages(list_version(), delay);
  state_ = State::kStreaming;
  request_ = {.kind = WatchRequest::Kind::kStreamedList,
              .resource_version = list_version(),
              .timeout = stream_timeout()};
  WatcherStep step = same_request(delay);
  step.list_begins = true;
  return step;
}

WatcherStep Watcher::list_consistently(milliseconds delay) {
  version_.clear();
  return list_by_pages("", delay);
}

WatcherStep Watcher::list_by_pages(std::string version, milliseconds delay) {
  state_ = State::kListing;
  first_page_version_.clear();
  request_ = {.kind = WatchRequest::Kind::kList,
              .resource_version = std::move(version),
              .limit = options_.page_size};
  WatcherStep step = same_request(delay);
  step.list_begins = true;
  return step;
}

WatcherStep Watcher::watch_on(milliseconds delay) {
  state_ = State::kListed;
  request_ = {.kind = WatchRequest::Kind::kWatch,
              .resource_version = version_,
              .timeout = stream_timeout()};
  return same_request(delay);
}

WatcherStep Watcher::same_request(milliseconds delay) const {
  WatcherStep step;
  step.request = request_;
  step.delay = delay;
  return step;
}

std::string Watcher::list_version() const { return reader_is_ahead_ ? "" : version_; }

std::chrono::seconds Watcher::stream_timeout() {
  constexpr int kSpread = kMaxStreamSeconds - kMinStreamSeconds + 1;
  return std::chrono::seconds{kMinStreamSeconds + static_cast<int>(back_off_.uniform() * kSpread)};
}

}  // namespace k8s
