// How a bind without a certain answer is settled, against a server that answers as the table says.
#include "tests/scheduler/live/binder_bench.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using tests::binding::bind_decision;
using tests::binding::BinderBench;
using tests::binding::conflict;
using tests::binding::lost;
using tests::binding::not_found;
using tests::binding::outcome;
using tests::binding::pod_a;
using tests::binding::status_error;

}  // namespace

TEST_CASE("429 is waited out, and sent again without a look") {
  BinderBench bench;
  bench.binder.bind(bind_decision("a"));
  bench.fail_bind(status_error(429, 3));
  bench.loop.advance(2900ms);
  CHECK(bench.binds.empty());
  bench.loop.advance(100ms);
  bench.answer_bind({});
  CHECK(outcome(bench) == "bound");
}

TEST_CASE("a certain 409 is settled by what the pod looks like") {
  struct Case {
    std::string name;
    k8s::Pod pod;
    std::string want;
  };
  const std::vector<Case> cases{
      {"ours already", pod_a().on("n1"), "bound"},
      {"elsewhere", pod_a().on("n2"), "overtaken: the pod was bound to n2 meanwhile"},
      {"another uid", pod_a().uid("later"), "overtaken: the pod is gone; another one has its name"},
      {"going", pod_a().terminating(), "overtaken: the pod is being deleted"},
      {"as before", pod_a(), "failed: " + conflict().message},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    BinderBench bench;
    bench.binder.bind(bind_decision("a"));
    bench.fail_bind(conflict());
    bench.answer_read(c.pod);
    CHECK(outcome(bench) == c.want);
    CHECK(bench.binds.empty());
  }
}

TEST_CASE("an unknown outcome is settled by reading the pod back") {
  struct Case {
    std::string name;
    k8s::Error error;
  };
  const std::vector<Case> unknown{{"no answer", lost(true)},          {"500", status_error(500)},
                                  {"503", status_error(503)},         {"504", status_error(504)},
                                  {"409 of etcd", status_error(409)}, {"408", status_error(408)}};
  for (const Case& c : unknown) {
    INFO(c.name);
    SECTION(c.name + ": had landed") {
      BinderBench bench;
      bench.binder.bind(bind_decision("a"));
      bench.fail_bind(c.error);
      CHECK(outcome(bench).empty());
      CHECK(bench.problems == 1);
      bench.loop.advance(200ms);
      bench.answer_read(pod_a().on("n1"));
      CHECK(outcome(bench) == "bound");
    }
    SECTION(c.name + ": the pod is gone") {
      BinderBench bench;
      bench.binder.bind(bind_decision("a"));
      bench.fail_bind(c.error);
      bench.loop.advance(200ms);
      bench.fail_read(not_found());
      CHECK(outcome(bench) == "overtaken: the pod is gone");
    }
    SECTION(c.name + ": not yet; bound again to the same node") {
      BinderBench bench;
      bench.binder.bind(bind_decision("a", "n7"));
      bench.fail_bind(c.error);
      bench.loop.advance(200ms);
      bench.answer_read(pod_a());
      REQUIRE(bench.binds.size() == 1);
      CHECK(bench.binds[0].binding.node == "n7");
      CHECK(outcome(bench).empty());
      bench.answer_bind({});
      CHECK(outcome(bench) == "bound");
    }
  }
}

TEST_CASE("a bind that is set aside is settled by what the watch shows") {
  struct Case {
    std::string name;
    k8s::Pod pod;
    std::string want;
  };
  const std::vector<Case> cases{
      {"ours", pod_a().on("n1"), "bound"},
      {"elsewhere", pod_a().on("n2"), "overtaken: the pod was bound to n2 meanwhile"},
      {"going", pod_a().terminating(), "overtaken: the pod is being deleted"},
      // That may be from before the call.
      {"unbound", pod_a(), ""},
      {"another pod", pod_a().uid("later").on("n1"), ""},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    BinderBench bench;
    bench.binder.bind(bind_decision("a"));
    bench.fail_bind(lost(true));
    bench.binder.observed(c.pod);
    CHECK(bench.outcomes.empty());  // the engine gets the watch's event first
    bench.loop.run_ready();
    CHECK(outcome(bench) == c.want);
    CHECK(bench.set_aside == (c.want.empty() ? 1 : 0));
  }
  BinderBench bench;
  bench.binder.bind(bind_decision("a"));
  SECTION("also that it is gone") { bench.fail_bind(lost(true)); }
  SECTION("also while the server asks for a pause") { bench.fail_bind(status_error(429, 9)); }
  SECTION("also while it is read") {
    bench.fail_bind(lost(true));
    bench.loop.advance(200ms);
    REQUIRE(bench.reads.size() == 1);
  }
  SECTION("also while a read fails") {
    bench.fail_bind(lost(true));
    bench.loop.advance(200ms);
    bench.binder.forget("uid-a");
    bench.fail_read(lost(false));
  }
  bench.binder.forget("uid-a");
  bench.loop.run_ready();
  CHECK(outcome(bench) == "overtaken: the pod is gone");
  while (!bench.reads.empty()) bench.answer_read(pod_a());
  bench.loop.advance(1h);
  CHECK(bench.outcomes.size() == 1);
  CHECK(bench.binds.empty());
}

TEST_CASE("what the watch has shown before a call fails settles its bind") {
  BinderBench bench;
  bench.binder.bind(bind_decision("a"));
  const auto shows_nothing_yet = [&bench] {
    bench.loop.run_ready();
    CHECK(outcome(bench).empty());
    CHECK(bench.binder.in_flight() == 1);
  };
  SECTION("bound") {
    bench.binder.observed(pod_a().on("n1"));
    shows_nothing_yet();
    SECTION("no answer") { bench.fail_bind(lost(true)); }
    SECTION("too busy") { bench.fail_bind(status_error(503)); }
    SECTION("it is bound already") { bench.fail_bind(conflict()); }
    SECTION("an answer") { bench.answer_bind({}); }
    CHECK(outcome(bench) == "bound");
  }
  SECTION("gone") {
    bench.binder.forget("uid-a");
    shows_nothing_yet();
    bench.fail_bind(status_error(429));
    CHECK(outcome(bench) == "overtaken: the pod is gone");
  }
  bench.loop.advance(1h);
  CHECK(bench.reads.empty());
  CHECK(bench.problems == 0);
}

TEST_CASE("a call of a bind that the watch has settled counts until it is answered") {
  BinderBench bench(4);
  bench.binder.bind(bind_decision("a"));
  bench.fail_bind(lost(true));
  bench.loop.advance(200ms);
  bench.answer_read(pod_a());
  REQUIRE(bench.binds.size() == 1);
  bench.binder.observed(pod_a().on("n1"));
  bench.loop.run_ready();
  CHECK(outcome(bench) == "bound");
  bench.binder.bind(bind_decision("b"));
  CHECK(bench.binder.waiting() == 1);
  bench.fail_bind(conflict());
  CHECK(bench.outcomes.size() == 1);
  REQUIRE(bench.binds.size() == 1);
  CHECK(bench.binds[0].binding.pod == "b");
}

TEST_CASE("a late landing turns up as a 409, and is recognised") {
  BinderBench bench;
  bench.binder.bind(bind_decision("a"));
  bench.fail_bind(lost(true));
  bench.loop.advance(200ms);
  bench.answer_read(pod_a());
  bench.fail_bind(conflict());
  bench.answer_read(pod_a().on("n1"));
  CHECK(outcome(bench) == "bound");
}

TEST_CASE("a 409 that may be etcd's trouble frees nothing until it can land no more") {
  BinderBench bench;
  bench.binder.bind(bind_decision("a"));
  bench.fail_bind(status_error(409));
  bench.may_send = false;  // it is only looked at
  while (bench.passed() < 6s) {
    bench.loop.advance(100ms);
    CHECK(outcome(bench).empty());
    if (!bench.reads.empty()) bench.answer_read(pod_a());
  }
  bench.loop.advance(100ms);
  CHECK(outcome(bench) == "unanswered: status 409");
}

TEST_CASE("binds that met the same trouble do not come back together") {
  BinderBench bench(32, 1.0);
  for (int i = 0; i < 32; ++i) {
    bench.binder.bind(bind_decision("a", "n1", "ns-" + std::to_string(i)));
  }
  for (int i = 0; i < 32; ++i) bench.fail_bind(status_error(503));
  bench.loop.advance(199ms);
  CHECK(bench.reads.empty());
  std::size_t most_at_once = 0;
  std::size_t seen = 0;
  for (int i = 0; i < 202; ++i) {
    bench.loop.advance(1ms);
    most_at_once = std::max(most_at_once, bench.reads.size());
    seen += bench.reads.size();
    while (!bench.reads.empty()) bench.answer_read(pod_a().on("n1"));
  }
  CHECK(seen == 32);
  CHECK(most_at_once < 4);
}

TEST_CASE("so many pods are read at a time") {
  BinderBench bench;
  for (int i = 0; i < 10; ++i) bench.binder.bind(bind_decision("a"));
  for (int i = 0; i < 10; ++i) bench.fail_bind(lost(true));
  bench.loop.advance(200ms);
  CHECK(bench.reads.size() == 4);
  for (int i = 0; i < 10; ++i) bench.answer_read(pod_a().on("n1"));
  CHECK(bench.outcomes.size() == 10);
}

TEST_CASE("a pod that stays unbound is bound again with growing pauses, and for some seconds") {
  BinderBench bench;
  bench.binder.bind(bind_decision("a"));
  std::vector<int> sent_at;  // in milliseconds
  while (outcome(bench).empty()) {
    if (!bench.binds.empty()) {
      sent_at.push_back(static_cast<int>(bench.passed().count()));
      bench.fail_bind(status_error(500));
    }
    if (!bench.reads.empty()) bench.answer_read(pod_a());
    if (outcome(bench).empty() && bench.binds.empty()) bench.loop.advance(100ms);
  }
  CHECK(sent_at == std::vector{0, 200, 600, 1400, 3000});
  CHECK(outcome(bench) == "unanswered: status 500");
  CHECK(bench.passed() == 3000ms + 6s);
}

TEST_CASE("a bind that hangs is sent twice, however late") {
  BinderBench bench;
  bench.binder.bind(bind_decision("a"));
  int calls = 0;
  for (; !bench.binds.empty(); ++calls) {
    bench.loop.advance(5s);
    bench.fail_bind(lost(true));
    bench.loop.advance(200ms * (calls + 1));
    bench.answer_read(pod_a());
  }
  CHECK(calls == 2);
}

TEST_CASE("an outcome that is unknown for long is told of, and the capacity held") {
  BinderBench bench;
  bench.binder.bind(bind_decision("a"));
  bench.fail_bind(status_error(500));
  bench.may_send = false;
  SECTION("since the pod cannot be read") {
    while (bench.passed() < 15s) {
      CHECK(bench.unsettled.empty());
      bench.loop.advance(100ms);
      if (!bench.reads.empty()) bench.fail_read(status_error(403));
    }
  }
  SECTION("since a late call hangs") {
    bench.may_send = true;
    bench.loop.advance(200ms);
    bench.answer_read(pod_a());
    bench.loop.advance(13s);
    bench.fail_bind(status_error(500));
    bench.loop.advance(1s);
    while (!bench.reads.empty()) bench.answer_read(pod_a());
    CHECK(bench.unsettled.empty());
    bench.loop.advance(800ms);
    bench.answer_read(pod_a());
  }
  CHECK(bench.passed() == 15s);
  CHECK(bench.unsettled == std::vector<std::string>{"a: status 500"});
  CHECK(outcome(bench).empty());
  CHECK(bench.set_aside == 1);
  bench.may_send = false;
  while (outcome(bench).empty()) {
    bench.loop.advance(100ms);
    if (!bench.reads.empty()) bench.answer_read(pod_a().on("n1"));
  }
  CHECK(outcome(bench) == "bound");
  CHECK(bench.unsettled.size() == 1);
  CHECK(bench.set_aside == 0);
}

TEST_CASE("in further attempts a bind that is never answered for certain is sent once each") {
  BinderBench bench;
  // How often it is sent.
  const auto attempt = [&](int status) {
    bench.outcomes.clear();
    bench.binder.bind(bind_decision("a"));
    int calls = 0;
    for (; outcome(bench).empty(); bench.loop.advance(100ms)) {
      if (!bench.binds.empty()) {
        ++calls;
        bench.fail_bind(status_error(status));
      }
      if (!bench.reads.empty()) bench.answer_read(pod_a());
    }
    return calls;
  };
  for (const int status : {500, 429}) {
    CHECK(attempt(status) > 1);
    CHECK(attempt(status) == 1);
    CHECK(attempt(status) == 1);
    CHECK(attempt(403) == 1);  // certain
    CHECK(attempt(status) > 1);
    CHECK(attempt(status) == 1);
    bench.binder.forget("uid-a");
  }
}

TEST_CASE("of a pod that the watch does not show any more no attempt is remembered") {
  BinderBench bench;
  const auto attempt = [&bench] {
    bench.outcomes.clear();
    bench.binder.bind(bind_decision("a"));
    int calls = 0;
    for (; outcome(bench).empty(); bench.loop.advance(100ms)) {
      if (bench.binds.empty()) continue;
      ++calls;
      bench.fail_bind(status_error(429));
    }
    return calls;
  };
  // The pod is gone before it is decided to bind it.
  bench.shown_unbound = false;
  bench.binder.forget("uid-a");
  CHECK(attempt() > 1);
  bench.shown_unbound = true;
  CHECK(attempt() > 1);
  CHECK(attempt() == 1);
}

TEST_CASE("429 is not waited out without end") {
  BinderBench bench;
  bench.binder.bind(bind_decision("a"));
  for (; outcome(bench).empty(); bench.loop.advance(100ms)) {
    if (!bench.binds.empty()) bench.fail_bind(status_error(429, 300));
  }
  CHECK(outcome(bench) == "unanswered: status 429");
  CHECK(bench.passed() <= 15s);
  CHECK(bench.unsettled.empty());  // it is told of as failed
}

TEST_CASE("while an earlier try may land, a refusal of a later one decides nothing") {
  BinderBench bench;
  bench.binder.bind(bind_decision("a"));
  bench.fail_bind(lost(true));  // may land for another 6 s
  bench.loop.advance(200ms);
  bench.answer_read(pod_a());
  bench.fail_bind(status_error(403));
  CHECK(outcome(bench).empty());
  bench.loop.advance(400ms);
  bench.answer_read(pod_a().on("n1"));
  CHECK(outcome(bench) == "bound");
}

TEST_CASE("once nothing can land any more, an unbound pod means that the bind failed") {
  BinderBench bench;
  bench.binder.bind(bind_decision("a"));
  bench.fail_bind(lost(true));
  for (int looks = 0; outcome(bench).empty() && looks < 20; ++looks) {
    bench.loop.advance(5s);
    while (!bench.reads.empty()) bench.answer_read(pod_a());
    while (!bench.binds.empty()) bench.fail_bind(lost(false));
  }
  CHECK(outcome(bench) == "unanswered: refused");
  // Never before deadline and margin have passed.
  CHECK(bench.passed() >= 6s);
}

TEST_CASE("a look decides if it began when deadline and margin had passed, whenever it ends") {
  struct Case {
    std::chrono::milliseconds begins;
    bool final;
  };
  // With a deadline of 5 s and a margin of 1 s.
  for (const Case& c : {Case{5'000ms, false}, {5'999ms, false}, {6'000ms, true}, {6'001ms, true}}) {
    CAPTURE(c.begins.count());
    BinderBench bench;
    const auto began = bench.loop.now();
    bench.binder.bind(bind_decision("a"));
    bench.fail_bind(lost(true));
    bench.may_send = false;  // so that it is looked at, and not bound again
    bench.loop.advance(200ms);
    // Its answer comes 400 ms, the next pause, before the moment that is tried.
    bench.loop.advance(began + c.begins - 400ms - bench.loop.now());
    bench.answer_read(pod_a());
    CHECK(bench.reads.empty());
    bench.loop.advance(400ms);
    REQUIRE(bench.reads.size() == 1);
    // However late it is answered, it has seen the pod as it was then, or later.
    bench.loop.advance(1min);
    bench.answer_read(pod_a());
    CHECK(outcome(bench) == (c.final ? "unanswered: no answer" : ""));
  }
}

TEST_CASE("a read that fails is repeated for as long as it takes") {
  BinderBench bench;
  bench.binder.bind(bind_decision("a"));
  bench.fail_bind(conflict());
  for (int i = 0; i < 50; ++i) {
    bench.fail_read(lost(true));
    bench.loop.advance(5s);
  }
  CHECK(outcome(bench).empty());
  CHECK(bench.binder.in_flight() == 1);
  bench.answer_read(pod_a().on("n1"));
  CHECK(outcome(bench) == "bound");
}

TEST_CASE("a 404 that is not the API server's does not settle a bind that may land") {
  BinderBench bench;
  bench.binder.bind(bind_decision("a"));
  bench.fail_bind(lost(true));
  bench.loop.advance(200ms);
  bench.fail_read(status_error(404));
  CHECK(outcome(bench).empty());
  bench.loop.advance(400ms);
  bench.answer_read(pod_a().on("n1"));
  CHECK(outcome(bench) == "bound");
}
