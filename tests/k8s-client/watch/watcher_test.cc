#include "k8s-client/watch/watcher.h"

#include "tests/support/catch.h"

#include <set>
#include <string>
#include <vector>

namespace k8s {
namespace {

using State = Watcher::State;
using TimePoint = Watcher::TimePoint;
using std::chrono::milliseconds;
using std::chrono::seconds;

Error status(int code, const std::string& reason = "") {
  Error error;
  error.kind = ErrorKind::kStatus;
  error.http_status = code;
  error.reason = reason;
  return error;
}

Error of_kind(ErrorKind kind) {
  Error error;
  error.kind = kind;
  return error;
}

// A watcher without streamed lists that watches from version 5.
Watcher watching() {
  Watcher watcher({.watch_list = false});
  (void)watcher.start();
  (void)watcher.page("5", "");
  watcher.opened();
  return watcher;
}

TEST_CASE("the states of list and watch", "[watch]") {
  Watcher watcher({.page_size = 10, .watch_list = false});
  CHECK(watcher.state() == State::kEmpty);
  WatcherStep step = watcher.start();
  CHECK(watcher.state() == State::kListing);
  CHECK(step ==
        WatcherStep{.list_begins = true,
                    .request = WatchRequest{.kind = WatchRequest::Kind::kList, .limit = 10}});
  step = watcher.page("5", "token");
  CHECK(watcher.state() == State::kListing);
  CHECK(step == WatcherStep{.request = WatchRequest{.kind = WatchRequest::Kind::kList,
                                                    .continue_token = "token",
                                                    .limit = 10}});
  step = watcher.page("5", "");
  CHECK(watcher.state() == State::kListed);
  CHECK(step.list_complete);
  CHECK(step.synced);
  REQUIRE(step.request);
  CHECK(step.request->kind == WatchRequest::Kind::kWatch);
  CHECK(step.request->resource_version == "5");
  watcher.opened();
  CHECK(watcher.state() == State::kWatching);
  CHECK(watcher.bookmark("6", false) == WatcherStep{});
  step = watcher.ended(TimePoint{} + seconds{5});
  CHECK(watcher.state() == State::kListed);
  REQUIRE(step.request);
  CHECK(step.request->resource_version == "6");
  CHECK(step.delay == milliseconds{0});
}

TEST_CASE("a watch that is known to be behind is opened anew from where it stands", "[watch]") {
  Watcher watcher = watching();
  watcher.event("8");
  const WatcherStep step = watcher.reopen();
  CHECK(watcher.state() == State::kListed);
  REQUIRE(step.request);
  CHECK(step.request->kind == WatchRequest::Kind::kWatch);
  CHECK(step.request->resource_version == "8");
  CHECK(step.delay == milliseconds{0});
  CHECK_FALSE(step.list_begins);
  CHECK(watcher.reopen().request);  // while it is being opened

  Watcher lists({});
  (void)lists.start();
  CHECK(lists.reopen() == WatcherStep{});
  CHECK(lists.state() == State::kStreaming);
}

TEST_CASE("the states of a streamed list", "[watch]") {
  Watcher watcher({});
  WatcherStep step = watcher.start();
  CHECK(watcher.state() == State::kStreaming);
  CHECK(step.list_begins);
  REQUIRE(step.request);
  CHECK(step.request->kind == WatchRequest::Kind::kStreamedList);
  watcher.opened();
  watcher.event("9");
  CHECK(watcher.bookmark("3", false) == WatcherStep{});
  CHECK(watcher.state() == State::kStreaming);
  CHECK(watcher.bookmark("4", true) == WatcherStep{.list_complete = true, .synced = true});
  CHECK(watcher.state() == State::kWatching);
}

TEST_CASE("what a failed watch leads to", "[watch]") {
  struct Case {
    const char* name;
    Error error;
    WatchRequest::Kind next;
  };
  const auto kWatch = WatchRequest::Kind::kWatch;
  const auto kList = WatchRequest::Kind::kList;
  const std::vector<Case> cases = {
      {"connection refused", of_kind(ErrorKind::kConnect), kWatch},
      {"certificate", of_kind(ErrorKind::kTls), kWatch},
      {"silence", of_kind(ErrorKind::kTimeout), kWatch},
      {"broken connection", of_kind(ErrorKind::kConnection), kWatch},
      {"429", status(429), kWatch},
      {"500", status(500), kWatch},
      {"503", status(503), kWatch},
      {"401", status(401), kWatch},
      {"no credentials", of_kind(ErrorKind::kConfig), kWatch},
      {"403", status(403), kWatch},
      {"410", status(410), kList},
      {"expired by its reason alone", status(500, "Expired"), kList},
      {"cannot be decoded", of_kind(ErrorKind::kDecode), kList},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      Watcher in_stream = watching();
      const WatcherStep broke = in_stream.failed(c.error, TimePoint{});
      REQUIRE(broke.request);
      CHECK(broke.request->kind == c.next);
      CHECK(broke.request->resource_version == "5");
      CHECK(broke.list_begins == (c.next == kList));
      CHECK_FALSE(broke.list_complete);
      CHECK(broke.delay >= milliseconds{800});

      Watcher at_opening({.watch_list = false});
      (void)at_opening.start();
      (void)at_opening.page("5", "");
      const WatcherStep refused = at_opening.failed(c.error, TimePoint{});
      REQUIRE(refused.request);
      CHECK(refused.request->kind == c.next);
      CHECK(refused.request->resource_version == "5");
      CHECK(refused.delay >= milliseconds{800});
    }
  }
}

TEST_CASE("a watch that is refused for half a minute is followed by a list", "[watch]") {
  Watcher watcher({.optional = true, .hidden_after = seconds{30}, .watch_list = false});
  TimePoint now{};
  const auto refused = [&](int later) {
    now += seconds{later};
    return watcher.failed(status(403), now);
  };
  (void)watcher.start();
  (void)watcher.page("5", "");
  CHECK(refused(0).request->kind == WatchRequest::Kind::kWatch);
  const WatcherStep early = refused(29);
  CHECK(early.request->kind == WatchRequest::Kind::kWatch);
  CHECK(early.request->resource_version == "5");
  SECTION("which may be answered: the next half minute begins") {
    CHECK(refused(1).request->kind == WatchRequest::Kind::kList);
    CHECK(watcher.page("7", "").request->resource_version == "7");
    CHECK(refused(1).request->kind == WatchRequest::Kind::kWatch);
    CHECK(refused(29).request->kind == WatchRequest::Kind::kWatch);
    CHECK(refused(1).request->kind == WatchRequest::Kind::kList);
  }
  SECTION("which may be refused, too: then the kind is hidden") {
    CHECK_FALSE(refused(1).absent);
    const WatcherStep hidden = refused(1);
    CHECK(hidden.absent);
    CHECK_FALSE(hidden.list_complete);
  }
  SECTION("not if it was opened in between") {
    watcher.opened();
    CHECK(refused(1).request->kind == WatchRequest::Kind::kWatch);
  }
}

TEST_CASE("what was listed is gone once its 404 has lasted", "[watch]") {
  Watcher watcher({.optional = true, .gone_after = seconds{30}, .watch_list = false});
  TimePoint now{};
  // The list fails with that status, so many seconds after the last time.
  const auto refused = [&](int code, int later) {
    now += seconds{later};
    return watcher.failed(status(code), now);
  };
  (void)watcher.start();
  SECTION("of what never was it is an answer at once") {
    CHECK(refused(404, 0).absent);
    CHECK(refused(404, 180).absent);
  }
  SECTION("of what was it becomes one") {
    (void)watcher.page("5", "");
    watcher.opened();
    CHECK_FALSE(refused(404, 0).absent);  // of the watch
    const WatcherStep first = refused(404, 1);
    CHECK(first == WatcherStep{.list_begins = true,
                               .request = WatchRequest{.kind = WatchRequest::Kind::kList,
                                                       .resource_version = "5",
                                                       .limit = 500},
                               .delay = first.delay});
    CHECK(first.delay > milliseconds{0});
    SECTION("when it has lasted") {
      CHECK_FALSE(refused(404, 29).absent);
      const WatcherStep last = refused(404, 1);
      CHECK(last.absent);
      CHECK(last.synced);
      CHECK(last.list_complete);
      CHECK(refused(404, 180).absent);
    }
    SECTION("not if it was answered in between") {
      CHECK_FALSE(refused(404, 29).absent);
      (void)watcher.page("6", "");
      CHECK_FALSE(refused(404, 1).absent);  // of the watch
      CHECK_FALSE(refused(404, 1).absent);
      CHECK_FALSE(refused(404, 29).absent);
    }
    SECTION("nor if anything else was the answer in between") {
      const int other = GENERATE(403, 502);
      CHECK_FALSE(refused(other, 1).absent);
      CHECK_FALSE(refused(404, 60).absent);
    }
  }
}

TEST_CASE("an early end is an error only without events", "[watch]") {
  struct Case {
    const char* name;
    milliseconds lasted;
    bool events;
    bool error;
  };
  const std::vector<Case> cases = {
      {"short and silent", milliseconds{999}, false, true},
      {"short with events", milliseconds{999}, true, false},
      {"long and silent", milliseconds{1000}, false, false},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      Watcher watcher = watching();
      const TimePoint start = TimePoint{} + seconds{100};
      watcher.sent(start);
      if (c.events) watcher.event("6");
      const WatcherStep step = watcher.ended(start + c.lasted);
      REQUIRE(step.request);
      CHECK((step.request->kind == WatchRequest::Kind::kList) == c.error);
      CHECK((step.delay > milliseconds{0}) == c.error);
    }
  }
}

TEST_CASE("a watch that breaks off after a while is opened again at once", "[watch]") {
  struct Case {
    const char* name;
    Error error;
    milliseconds lasted;
    bool at_once;
  };
  const std::vector<Case> cases = {
      {"broken early", of_kind(ErrorKind::kConnection), milliseconds{999}, false},
      {"broken", of_kind(ErrorKind::kConnection), milliseconds{1000}, true},
      {"silence", of_kind(ErrorKind::kTimeout), seconds{120}, true},
      {"an ERROR event", status(503), seconds{120}, false},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      Watcher watcher = watching();
      TimePoint now = TimePoint{} + seconds{100};
      for (int version = 6; version < 11; ++version) {
        watcher.sent(now);
        watcher.opened();
        watcher.event(std::to_string(version));
        now += c.lasted;
        const WatcherStep step = watcher.failed(c.error, now);
        REQUIRE(step.request);
        CHECK((step.delay == milliseconds{0}) == c.at_once);
        if (c.at_once) CHECK(step.request->kind == WatchRequest::Kind::kWatch);
      }
      watcher.sent(now);  // and if the server is down by then, it is left alone
      CHECK(watcher.failed(of_kind(ErrorKind::kConnect), now + seconds{10}).delay >
            milliseconds{0});
    }
  }
}

TEST_CASE("an ERROR event that comes again at the same version leads to a list", "[watch]") {
  const auto kWatch = WatchRequest::Kind::kWatch;
  Watcher watcher = watching();
  const auto failed = [&] {
    const WatcherStep step = watcher.failed(status(500), TimePoint{});
    REQUIRE(step.request);
    CHECK(step.delay > milliseconds{0});
    CHECK(step.list_begins == (step.request->kind == WatchRequest::Kind::kList));
    return *step.request;
  };
  CHECK(failed().kind == kWatch);
  SECTION("at once") {
    watcher.opened();
    const WatchRequest list = failed();
    CHECK(list.kind == WatchRequest::Kind::kList);
    CHECK(list.resource_version == "5");
    (void)watcher.page("5", "");  // after the list it counts anew
    watcher.opened();
    CHECK(failed().kind == kWatch);
  }
  SECTION("not if the watch was not opened") {
    CHECK(failed().kind == kWatch);
    CHECK(failed().kind == kWatch);
  }
  SECTION("nor if it had an event in between") {
    watcher.opened();
    watcher.event("6");
    CHECK(failed().kind == kWatch);
  }
  SECTION("nor for what a busy server says") {
    for (int i = 0; i < 3; ++i) {
      watcher.opened();
      const WatcherStep step = watcher.failed(status(429), TimePoint{});
      REQUIRE(step.request);
      CHECK(step.request->kind == kWatch);
    }
  }
}

TEST_CASE("stream time-outs are spread between 240 and 290 seconds, by the seed", "[watch]") {
  const auto timeouts = [](std::uint64_t seed) {
    Watcher watcher({.watch_list = false, .seed = seed});
    (void)watcher.start();
    std::vector<long> seen;
    WatcherStep step = watcher.page("5", "");
    for (int i = 0; i < 500; ++i) {
      seen.push_back(step.request->timeout.count());
      watcher.opened();
      watcher.event("6");
      step = watcher.ended(TimePoint{});
    }
    return seen;
  };
  const std::vector<long> seen = timeouts(1);
  CHECK(seen == timeouts(1));
  CHECK(seen != timeouts(2));
  const std::set<long> values(seen.begin(), seen.end());
  CHECK(*values.begin() == 240);
  CHECK(*values.rbegin() == 290);
}

}  // namespace
}  // namespace k8s
