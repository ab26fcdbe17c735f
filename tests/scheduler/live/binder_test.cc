// What a bind says, which answers end it at once, when it is sent, and what becomes of it at
// shutdown.
#include "tests/scheduler/live/binder_bench.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <chrono>
#include <string>

namespace {

using namespace std::chrono_literals;
using tests::binding::bind_decision;
using tests::binding::BinderBench;
using tests::binding::lost;
using tests::binding::not_found;
using tests::binding::outcome;
using tests::binding::pod_a;
using tests::binding::status_error;

}  // namespace

TEST_CASE("a bind carries namespace, name, uid and node") {
  BinderBench bench;
  bench.binder.bind(bind_decision("a"));
  REQUIRE(bench.binds.size() == 1);
  const k8s::Binding& binding = bench.binds[0].binding;
  CHECK(binding.namespace_ == "ml");
  CHECK(binding.pod == "a");
  CHECK(binding.pod_uid == "uid-a");
  CHECK(binding.node == "n1");
  CHECK(binding.annotations.empty());
  bench.answer_bind({});
  CHECK(outcome(bench) == "bound");
  CHECK(bench.problems == 0);
}

TEST_CASE("a bind notes on the pod what it is charged as, and when") {
  BinderBench bench;
  sched::decision::Bind charged = bind_decision("a");
  charged.charged_as = "NVIDIA-L4";
  charged.charged_at = sched::Time(1'767'265'200s + 5us);
  bench.binder.bind(charged);
  CHECK(bench.binds[0].binding.annotations ==
        k8s::StringMap{{"gpu-scheduler.io/charged-as", "NVIDIA-L4"},
                       {"gpu-scheduler.io/charged-at", "2026-01-01T11:00:00.000005Z"}});

  // A note that was written before is replaced.
  charged = bind_decision("b");
  charged.charged_as = "";
  charged.charged_at = sched::Time(1'767'265'201s);
  bench.binder.bind(charged);
  CHECK(bench.binds[1].binding.annotations ==
        k8s::StringMap{{"gpu-scheduler.io/charged-as", ""},
                       {"gpu-scheduler.io/charged-at", "2026-01-01T11:00:01.000000Z"}});
}

TEST_CASE("a refusal is final at once") {
  for (const int status : {400, 403, 422}) {
    BinderBench bench;
    bench.binder.bind(bind_decision("a"));
    bench.fail_bind(status_error(status));
    CHECK(outcome(bench) == "failed: status " + std::to_string(status));
    CHECK(bench.reads.empty());
    CHECK(bench.problems == 1);
  }
}

TEST_CASE("that this process may not bind is not laid at the node's door") {
  k8s::Error forbidden = status_error(403);
  forbidden.message =
      R"(pods "a" is forbidden: User "x" cannot create resource "pods/binding" in API group "")";
  for (const k8s::Error& error : {status_error(401), forbidden}) {
    BinderBench bench;
    bench.binder.bind(bind_decision("a"));
    bench.fail_bind(error);
    CHECK(outcome(bench) == "unanswered: " + error.message);
    CHECK(bench.reads.empty());
    CHECK(bench.problems == 1);
  }
}

TEST_CASE("a pod that is gone has overtaken its bind, and is no problem") {
  BinderBench bench;
  bench.binder.bind(bind_decision("a"));
  SECTION("at once") {}
  SECTION("when the server has asked for patience") {
    bench.fail_bind(status_error(429, 3));
    bench.loop.advance(3s);
    CHECK(bench.problems == 1);
    bench.problems = 0;
  }
  bench.fail_bind(not_found());
  CHECK(outcome(bench) == "overtaken: the pod is gone");
  CHECK(bench.reads.empty());
  CHECK(bench.problems == 0);
}

TEST_CASE(
    "a 404 that is not the API server's is not taken for the end of a pod, or a node's fault") {
  BinderBench bench;
  bench.binder.bind(bind_decision("a"));
  bench.fail_bind(status_error(404));
  CHECK(outcome(bench) == "unanswered: status 404");
  CHECK(bench.problems == 1);
}

TEST_CASE("a bind that was never sent has failed") {
  BinderBench bench;
  bench.binder.bind(bind_decision("a"));
  bench.fail_bind(lost(false));
  CHECK(outcome(bench) == "unanswered: refused");
}

TEST_CASE("so many at a time, in order") {
  BinderBench bench(2);
  for (const char* name : {"a", "b", "c", "d"}) bench.binder.bind(bind_decision(name, "n1", name));
  REQUIRE(bench.binds.size() == 2);
  CHECK(bench.binder.waiting() == 2);
  bench.answer_bind({});
  REQUIRE(bench.binds.size() == 2);
  CHECK(bench.binds[1].binding.pod == "c");
  CHECK(bench.binder.waiting() == 1);
}

TEST_CASE("shutting down drops what was not sent and settles what was") {
  BinderBench bench(1);
  bench.binder.bind(bind_decision("a"));
  bench.binder.bind(bind_decision("b"));
  bench.binder.drop_waiting();
  bench.binder.bind(bind_decision("c"));
  bench.answer_bind({});
  CHECK(outcome(bench) == "bound");
  CHECK(bench.binds.empty());
}

TEST_CASE("while it may not send, binds wait and go out in order afterwards") {
  BinderBench bench;
  bench.may_send = false;
  for (const char* name : {"a", "b"}) bench.binder.bind(bind_decision(name));
  CHECK(bench.binds.empty());
  CHECK(bench.binder.waiting() == 2);
  bench.may_send = true;
  bench.binder.resume();
  REQUIRE(bench.binds.size() == 2);
  CHECK(bench.binds[0].binding.pod == "a");
}

TEST_CASE("a bind that was too late to be sent waits for its turn again") {
  BinderBench bench(1);
  bench.binder.bind(bind_decision("a"));
  bench.binder.bind(bind_decision("b"));
  bench.may_send = false;
  bench.fail_bind(lost(false));
  CHECK(bench.outcomes.empty());
  CHECK(bench.binder.in_flight() == 0);
  CHECK(bench.binder.waiting() == 2);
  bench.may_send = true;
  bench.binder.resume();
  REQUIRE(bench.binds.size() == 1);
  CHECK(bench.binds[0].binding.pod == "a");
}

TEST_CASE("a bind that was too late to be sent goes out anew where that may be by now") {
  BinderBench bench;
  k8s::Error late = lost(false);
  late.too_late = true;
  bench.binder.bind(bind_decision("a"));
  SECTION("at once") {
    bench.fail_bind(late);
    CHECK(bench.outcomes.empty());
    CHECK(bench.problems == 0);
    REQUIRE(bench.binds.size() == 1);
    bench.answer_bind({});
    CHECK(outcome(bench) == "bound");
  }
  SECTION("not if it has waited for long: it is given back") {
    bench.loop.advance(3s);
    bench.fail_bind(late);
    CHECK(bench.binds.empty());
    CHECK(outcome(bench) == "given back: ");
  }
}

TEST_CASE("a bind that the server put off is not sent while it may not be") {
  BinderBench bench;
  bench.binder.bind(bind_decision("a"));
  bench.may_send = false;
  bench.fail_bind(status_error(429));
  bench.loop.advance(2s);
  CHECK(bench.binds.empty());
  CHECK(bench.binder.waiting() == 1);
  CHECK(bench.set_aside == 0);
  SECTION("it may be again") {
    bench.may_send = true;
    bench.binder.resume();
    bench.answer_bind({});
    CHECK(outcome(bench) == "bound");
  }
  SECTION("it may not for long") {
    bench.loop.advance(1250ms);
    CHECK(outcome(bench) == "given back: ");
  }
}

TEST_CASE("what could not be sent for some seconds is given back") {
  BinderBench bench;
  bench.may_send = false;
  bench.binder.bind(bind_decision("a"));
  bench.loop.advance(2900ms);
  CHECK(bench.outcomes.empty());
  bench.loop.advance(100ms);
  CHECK(outcome(bench) == "given back: ");
  CHECK(bench.binder.waiting() == 0);
  bench.may_send = true;
  bench.binder.resume();
  CHECK(bench.binds.empty());
}

TEST_CASE("an unsettled bind is only looked at while it may not be repeated") {
  BinderBench bench;
  bench.binder.bind(bind_decision("a"));
  bench.fail_bind(lost(true));
  bench.may_send = false;
  bench.loop.advance(200ms);
  bench.answer_read(pod_a());
  CHECK(bench.binds.empty());
  SECTION("it landed") {
    bench.loop.advance(1s);
    bench.answer_read(pod_a().on("n1"));
    CHECK(outcome(bench) == "bound");
  }
  SECTION("it never will") {
    for (int looks = 0; looks < 8; ++looks) {
      bench.loop.advance(1s);
      if (!bench.reads.empty()) bench.answer_read(pod_a());
    }
    CHECK(outcome(bench) == "unanswered: no answer");
  }
  CHECK(bench.binds.empty());
}

TEST_CASE("shutting down forgets binds that were held back") {
  BinderBench bench(1);
  bench.binder.bind(bind_decision("a"));
  bench.binder.bind(bind_decision("b"));
  bench.may_send = false;
  bench.binder.drop_waiting();
  bench.fail_bind(lost(false));
  CHECK(bench.binder.in_flight() == 0);
  CHECK(bench.binder.waiting() == 0);
  CHECK(bench.outcomes.empty());
}

TEST_CASE("at shutdown what the server has put off is not waited for") {
  BinderBench bench;
  bench.binder.bind(bind_decision("a"));
  bench.binder.bind(bind_decision("b"));
  bench.fail_bind(status_error(429, 9));
  CHECK(bench.set_aside == 1);
  bench.binder.drop_waiting();
  CHECK(bench.binder.in_flight() == 1);
  CHECK(bench.set_aside == 0);
  bench.fail_bind(status_error(429, 9));
  CHECK(bench.binder.in_flight() == 0);
  bench.loop.advance(1min);
  CHECK(bench.binds.empty());
  CHECK(bench.outcomes.empty());
}

TEST_CASE("at shutdown nothing is sent a second time") {
  BinderBench bench;
  bench.binder.bind(bind_decision("a"));
  bench.binder.drop_waiting();
  bench.fail_bind(lost(true));
  for (int looks = 0; outcome(bench).empty() && looks < 60; ++looks) {
    bench.loop.advance(100ms);
    if (!bench.reads.empty()) bench.answer_read(pod_a());
    CHECK(bench.binds.empty());
  }
  CHECK(outcome(bench) == "unanswered: no answer");
}
