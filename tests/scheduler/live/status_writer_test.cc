// What is written to the status of pods that wait, and when.
#include "tests/scheduler/live/status_writer_bench.h"

using namespace tests::statuses;

TEST_CASE("what is written last is not written again") {
  StatusWriterBench bench;
  bench.writer.write(ref("a"), condition("no room"));
  REQUIRE(bench.open() == Texts{"a: no room"});
  CHECK(bench.calls[0].pod.metadata.uid == "uid-a");
  CHECK(bench.calls[0].pod.metadata.resource_version == "1");
  bench.answer({});
  bench.writer.write(ref("a"), condition("no room"));
  CHECK(bench.open().empty());
  bench.writer.write(ref("a"), condition("no room", 2));  // about a newer spec
  CHECK(bench.open() == Texts{"a: no room"});
}

TEST_CASE("what the pod says already is not written after a restart") {
  StatusWriterBench bench;
  k8s::Pod pod = tests::pod("a").in_namespace("ml").uid("uid-a");
  pod.status.conditions.push_back({.type = "PodScheduled",
                                   .status = "False",
                                   .reason = "Unschedulable",
                                   .message = "no room",
                                   .observed_generation = 1});
  bench.writer.observed(pod);
  bench.writer.write(ref("a"), condition("no room"));
  CHECK(bench.open().empty());
  bench.writer.write(ref("a"), condition("less room"));
  REQUIRE(bench.open() == Texts{"a: less room"});
  // The client learns what is there, to leave lastTransitionTime alone.
  REQUIRE(bench.calls[0].pod.condition("PodScheduled") != nullptr);
  CHECK(bench.calls[0].pod.condition("PodScheduled")->status == "False");
}

// Otherwise the client would write that the condition's status has changed just now.
TEST_CASE("a write that is repeated goes by the condition that the watch shows") {
  StatusWriterBench bench;
  const auto shows = [&bench](const std::string& version) {
    k8s::Pod pod = tests::pod("a").in_namespace("ml").uid("uid-a");
    pod.metadata.resource_version = version;
    pod.status.conditions.push_back(
        {.type = "PodScheduled", .status = "False", .reason = {}, .message = {}});
    bench.writer.observed(pod);
  };
  shows("1");
  bench.writer.write(ref("a"), condition("no room"));
  SECTION("after a failure") {
    bench.fail(500);
    bench.loop.advance(500ms);
  }
  SECTION("after a change of the pod") {
    shows("2");
    bench.fail(409);
  }
  REQUIRE(bench.open() == Texts{"a: no room"});
  REQUIRE(bench.calls[0].pod.condition("PodScheduled") != nullptr);
  CHECK(bench.calls[0].pod.condition("PodScheduled")->status == "False");
}

TEST_CASE("what another leader has written meanwhile is what the pod says") {
  StatusWriterBench bench;
  const auto says = [&bench](const std::string& version, const std::string& message) {
    k8s::Pod pod = tests::pod("a").in_namespace("ml").uid("uid-a");
    pod.metadata.resource_version = version;
    pod.status.conditions.push_back({.type = "PodScheduled",
                                     .status = "False",
                                     .reason = "Unschedulable",
                                     .message = message,
                                     .observed_generation = 1});
    bench.writer.observed(pod);
  };
  says("2", "no room");
  says("3", "less room");
  // From now on this process leads.
  SECTION("the same is not written again") {
    bench.writer.write(ref("a"), condition("less room"));
    CHECK(bench.open().empty());
  }
  SECTION("what the pod said before is written again") {
    bench.writer.write(ref("a"), condition("no room"));
    REQUIRE(bench.open() == Texts{"a: no room"});
    bench.answer({});
    // The watch shows this write late, after an older state of the pod.
    says("3", "less room");
    bench.writer.write(ref("a"), condition("no room"));
    CHECK(bench.open().empty());
  }
}

TEST_CASE("what another has written over a text does not keep that text from being written again") {
  StatusWriterBench bench;
  const auto says = [&bench](const std::string& version, const std::string& message) {
    k8s::Pod pod = tests::pod("a").in_namespace("ml").uid("uid-a");
    pod.metadata.resource_version = version;
    pod.status.conditions.push_back({.type = "PodScheduled",
                                     .status = "False",
                                     .reason = "Unschedulable",
                                     .message = message,
                                     .observed_generation = 1});
    bench.writer.observed(pod);
  };
  bench.writer.write(ref("a"), condition("no room"));
  bench.answer({});
  says("2", "no room");
  bench.writer.write(ref("a"), condition("no room"));
  CHECK(bench.open().empty());
  says("3", "another's words");
  bench.writer.write(ref("a"), condition("no room"));
  CHECK(bench.open() == Texts{"a: no room"});
}

TEST_CASE("what a pod says is replaced, and one that says nothing is left alone") {
  StatusWriterBench bench;
  bench.writer.replace(ref("unknown"), condition("has a node"));
  bench.writer.replace(ref("a"), condition("has a node"));
  CHECK(bench.open().empty());
  SECTION("what was written") {
    bench.writer.write(ref("a"), condition("no room"));
    bench.answer({});
    bench.writer.replace(ref("a"), condition("has a node"));
  }
  SECTION("what is being written") {
    bench.writer.write(ref("a"), condition("no room"));
    bench.writer.replace(ref("a"), condition("has a node"));
    bench.answer({});
  }
  SECTION("what waits to be written") {
    bench.binds_wait = true;
    bench.writer.write(ref("b"), condition("no room"));
    bench.writer.write(ref("a"), condition("no room"));
    bench.writer.replace(ref("a"), condition("has a node"));
    bench.answer({});
  }
  CHECK(bench.open() == Texts{"a: has a node"});
}

TEST_CASE("one write a pod at a time; the newest text wins") {
  StatusWriterBench bench;
  bench.writer.write(ref("a"), condition("one"));
  bench.writer.write(ref("a"), condition("two"));
  bench.writer.write(ref("a"), condition("three"));
  CHECK(bench.open() == Texts{"a: one"});
  bench.answer({});
  CHECK(bench.open() == Texts{"a: three"});
  bench.answer({});
  CHECK(bench.writer.is_idle());
}

TEST_CASE("back to what is being written: nothing more to do") {
  StatusWriterBench bench;
  bench.writer.write(ref("a"), condition("one"));
  bench.writer.write(ref("a"), condition("two"));
  bench.writer.write(ref("a"), condition("one"));
  bench.answer({});
  CHECK(bench.open().empty());
  CHECK(bench.writer.is_idle());
}

TEST_CASE("half of them at a time if there is one namespace, and one while binds wait") {
  StatusWriterBench bench;
  bench.binds_wait = true;
  for (const char* name : {"a", "b", "c", "d", "e"}) bench.writer.write(ref(name), condition("x"));
  CHECK(bench.open() == Texts{"a: x"});
  bench.binds_wait = false;
  bench.writer.resume();
  CHECK(bench.open() == Texts{"a: x", "b: x", "c: x"});
  bench.answer({});
  CHECK(bench.open() == Texts{"b: x", "c: x", "d: x"});
}

TEST_CASE("statuses of a namespace that hang do not hold up those of others") {
  StatusWriterBench bench;
  for (const char* name : {"a", "b", "c", "d", "e"}) bench.writer.write(ref(name), condition("x"));
  k8s::Pod other = tests::pod("o").in_namespace("web").uid("uid-o");
  bench.writer.observed(other);
  bench.writer.write({"web", "o", "uid-o"}, condition("y"));
  CHECK(bench.open() == Texts{"a: x", "b: x", "c: x", "o: y"});
}

TEST_CASE("nothing is written to a pod that is bound or gone") {
  StatusWriterBench bench;
  bench.binds_wait = true;
  bench.writer.write(ref("a"), condition("x"));
  bench.writer.write(ref("b"), condition("x"));
  bench.writer.write(ref("a"), condition("y"));
  bench.writer.forget("uid-a");
  bench.writer.forget("uid-b");
  bench.answer({});
  CHECK(bench.open().empty());
  CHECK(bench.writer.is_idle());
}

TEST_CASE("nothing is written to a pod that the watch does not show unbound") {
  StatusWriterBench bench;
  bench.writer.write(ref("unknown"), condition("no room"));
  bench.writer.forget("uid-a");  // it has been bound
  bench.writer.write(ref("a"), condition("decided before the bind"));
  CHECK(bench.open().empty());
  CHECK(bench.writer.is_idle());
}

TEST_CASE("a pod is shown while the watch shows it unbound") {
  StatusWriterBench bench;
  CHECK(bench.writer.shows("uid-a"));
  CHECK_FALSE(bench.writer.shows("uid-unknown"));
  bench.writer.write(ref("a"), condition("no room"));
  bench.writer.forget("uid-a");
  CHECK_FALSE(bench.writer.shows("uid-a"));  // though a write is under way
  bench.answer({});
  CHECK_FALSE(bench.writer.shows("uid-a"));
}

TEST_CASE("a write that is under way when its pod is bound is not followed by another") {
  StatusWriterBench bench;
  bench.writer.write(ref("a"), condition("no room"));
  bench.writer.write(ref("a"), condition("less room"));
  bench.writer.forget("uid-a");
  bench.writer.write(ref("a"), condition("decided before the bind"));
  SECTION("it was written before the bind") { bench.answer({}); }
  SECTION("it came after the bind") { bench.fail(409); }
  SECTION("nobody knows") { bench.fail(504); }
  bench.loop.advance(1h);
  CHECK(bench.open().empty());
  CHECK(bench.writer.is_idle());
}

TEST_CASE("to a pod that has changed it is written when the watch has shown the change") {
  StatusWriterBench bench;
  bench.writer.write(ref("a"), condition("no room"));
  const auto want_at = [&bench](const std::string& version) {
    REQUIRE(bench.open() == Texts{"a: no room"});
    CHECK(bench.calls[0].pod.metadata.resource_version == version);
    bench.answer({});
    CHECK(bench.writer.is_idle());
    CHECK(bench.problems == 0);
  };
  SECTION("before the answer") {
    bench.show("a", "2");
    bench.fail(409);
    want_at("2");
  }
  SECTION("after it") {
    bench.fail(409);
    CHECK(bench.open().empty());
    bench.show("a", "1");
    CHECK(bench.open().empty());
    bench.show("a", "2");
    want_at("2");
  }
  SECTION("never: it may not have been that") {
    bench.fail(409);
    bench.loop.advance(500ms);
    want_at("1");
  }
  SECTION("and with the newest text") {
    bench.fail(409);
    bench.writer.write(ref("a"), condition("less room"));
    bench.show("a", "2");
    CHECK(bench.open() == Texts{"a: less room"});
  }
  SECTION("unless the change is that it says so already") {
    bench.fail(409);
    k8s::Pod pod = tests::pod("a").in_namespace("ml").uid("uid-a");
    pod.metadata.resource_version = "2";
    pod.status.conditions.push_back({.type = "PodScheduled",
                                     .status = "False",
                                     .reason = "Unschedulable",
                                     .message = "no room",
                                     .observed_generation = 1});
    bench.writer.observed(pod);
    CHECK(bench.open().empty());
    CHECK(bench.writer.is_idle());
  }
  SECTION("unless the change is a bind") {
    bench.fail(409);
    bench.writer.forget("uid-a");
    bench.loop.advance(1h);
    CHECK(bench.open().empty());
    CHECK(bench.writer.is_idle());
  }
}

TEST_CASE("at shutdown nothing waits for its repeat") {
  StatusWriterBench bench;
  bench.writer.write(ref("a"), condition("one"));
  bench.writer.write(ref("b"), condition("one"));
  bench.fail(503);
  CHECK_FALSE(bench.writer.is_idle());
  bench.writer.repeat_nothing();
  CHECK(bench.open() == Texts{"b: one"});
  bench.fail(503);
  CHECK(bench.writer.is_idle());
  bench.loop.advance(1h);
  CHECK(bench.open().empty());
}

TEST_CASE("a bound pod with no write under way is left alone") {
  StatusWriterBench bench;
  bench.binds_wait = true;
  bench.writer.write(ref("a"), condition("x"));
  bench.writer.write(ref("b"), condition("x"));
  bench.writer.forget("uid-b");
  bench.answer({});
  CHECK(bench.open().empty());
  CHECK(bench.writer.is_idle());
}

TEST_CASE("a failed write is repeated when that can help, with the newest text") {
  StatusWriterBench bench;
  bench.writer.write(ref("a"), condition("one"));
  bench.fail(500);
  CHECK(bench.problems == 1);
  CHECK(bench.open().empty());
  bench.writer.write(ref("a"), condition("two"));
  CHECK(bench.open().empty());
  CHECK_FALSE(bench.writer.is_idle());
  bench.loop.advance(500ms);
  CHECK(bench.open() == Texts{"a: two"});
  bench.fail(404);
  bench.loop.advance(10s);
  CHECK(bench.open().empty());
  CHECK(bench.writer.is_idle());
}

TEST_CASE("what a server refuses that has just started is repeated until it is written") {
  for (const int status : {303, 401, 403, 408, 429, 500, 503}) {
    INFO(status);
    StatusWriterBench bench;
    bench.writer.write(ref("a"), condition("one"));
    bench.fail(status);
    CHECK(bench.answered == 0);
    bench.loop.advance(500ms);
    REQUIRE(bench.open() == Texts{"a: one"});
    bench.answer({});
    CHECK(bench.answered == 1);
    CHECK(bench.writer.is_idle());
  }
}

TEST_CASE("statuses that fail are tried so often in all, however many they are") {
  const int status = GENERATE(403, 500);
  StatusWriterBench bench;
  constexpr int kPods = 300;
  for (int i = 0; i < kPods; ++i) {
    const std::string name = "p" + std::to_string(i);
    bench.show(name, "1");
    bench.writer.write(ref(name), condition("no room"));
  }
  const auto refuse_all = [&bench, status] {
    int refused = 0;
    for (; !bench.calls.empty(); ++refused) bench.fail(status);
    return refused;
  };
  const auto next_is_elsewhere = [&bench] {
    return bench.calls.front().pod.metadata.namespace_ != "ml";
  };
  CHECK(refuse_all() == kPods);
  k8s::Pod elsewhere = tests::pod("x").in_namespace("lab").uid("uid-x");
  bench.writer.observed(elsewhere);
  bench.writer.write({"lab", "x", "uid-x"}, condition("no room"));
  CHECK(refuse_all() == 1);
  int tries = 0;
  for (int i = 0; i < 60 * 20; ++i) {
    bench.loop.advance(50ms);
    tries += refuse_all();
  }
  CHECK(tries > 55 * 20);
  CHECK(tries < 65 * 20);
  // Once one succeeds, those of its namespace need not wait any longer.
  while (bench.calls.empty() || next_is_elsewhere()) {
    refuse_all();
    bench.loop.advance(50ms);
  }
  int written = 0;
  while (!bench.calls.empty()) {
    if (next_is_elsewhere()) {
      bench.fail(status);
    } else {
      bench.answer({});
      ++written;
    }
  }
  CHECK(written == kPods);
  CHECK_FALSE(bench.writer.is_idle());  // the one elsewhere waits
  bench.loop.advance(16s);
  CHECK(bench.open() == Texts{"x: no room"});
  bench.answer({});
  CHECK(bench.writer.is_idle());
}

TEST_CASE("after an outage all statuses are written soon, in however many namespaces") {
  StatusWriterBench bench;
  constexpr int kPods = 300;
  for (int i = 0; i < kPods; ++i) {
    const sched::PodRef pod{"ns" + std::to_string(i), "p", "uid-" + std::to_string(i)};
    bench.writer.observed(tests::pod(pod.name).in_namespace(pod.namespace_).uid(pod.uid));
    bench.writer.write(pod, condition("no room"));
  }
  while (!bench.calls.empty()) bench.fail(503);
  bench.loop.advance(500ms);
  int written = 0;
  for (; !bench.calls.empty(); ++written) bench.answer({});
  CHECK(written == kPods);
  CHECK(bench.writer.is_idle());
}

TEST_CASE("while binds wait, statuses that hang do not hold up those of another namespace") {
  StatusWriterBench bench;
  const auto write = [&bench](const std::string& namespace_) {
    const sched::PodRef pod{namespace_, namespace_, "uid-" + namespace_};
    bench.writer.observed(tests::pod(pod.name).in_namespace(namespace_).uid(pod.uid));
    bench.writer.write(pod, condition("x"));
  };
  for (const char* name : {"a", "b", "c", "d"}) bench.writer.write(ref(name), condition("x"));
  bench.binds_wait = true;
  for (const char* namespace_ : {"n1", "n2", "n3"}) write(namespace_);
  CHECK(bench.open() == Texts{"a: x", "b: x", "c: x", "n1: x", "n2: x"});
  SECTION("they end") {
    for (int i = 0; i < 3; ++i) bench.answer({});
    CHECK(bench.open() == Texts{"n1: x", "n2: x"});
    bench.answer({});
    CHECK(bench.open() == Texts{"n2: x", "d: x"});
  }
  SECTION("those that were sent meanwhile end") {
    for (int i = 0; i < 2; ++i) {
      StatusWriterBench::Call call = std::move(bench.calls[3]);
      bench.calls.erase(bench.calls.begin() + 3);
      call.done({});
    }
    CHECK(bench.open() == Texts{"a: x", "b: x", "c: x", "n3: x"});
  }
}

TEST_CASE("a refused pod that is gone does not wait for its next try") {
  StatusWriterBench bench;
  for (const char* name : {"a", "b"}) bench.writer.write(ref(name), condition("no room"));
  bench.fail(403);
  bench.fail(403);
  bench.writer.forget("uid-a");
  bench.loop.advance(500ms);
  CHECK(bench.open() == Texts{"b: no room"});
  bench.answer({});
  CHECK(bench.open().empty());
  CHECK(bench.writer.is_idle());
}

TEST_CASE("a 404 that is not the API server's loses no status") {
  StatusWriterBench bench;
  bench.writer.write(ref("a"), condition("one"));
  bench.answer(tl::unexpected(
      k8s::status_error(k8s::Status{.code = 404, .reason = {}, .message = "no backend"})));
  CHECK(bench.problems == 1);
  CHECK(bench.answered == 0);
  bench.loop.advance(500ms);
  CHECK(bench.open() == Texts{"a: one"});
}

TEST_CASE("what was refused for good is written when it is said again") {
  for (const int status : {400, 404, 422}) {
    INFO(status);
    StatusWriterBench bench;
    bench.writer.write(ref("a"), condition("one"));
    bench.fail(status);
    CHECK(bench.writer.is_idle());
    CHECK(bench.problems == (status == 404 ? 0 : 1));  // that a pod is gone is no problem
    CHECK(bench.repeated_after == 0ms);
    CHECK(bench.answered == (status == 404 ? 1 : 0));
    bench.writer.write(ref("a"), condition("one"));
    CHECK(bench.open() == Texts{"a: one"});
  }
}

TEST_CASE("a repeat is called off when the pod is gone") {
  StatusWriterBench bench;
  bench.writer.write(ref("a"), condition("one"));
  bench.fail(503);
  bench.writer.forget("uid-a");
  bench.loop.advance(10s);
  CHECK(bench.open().empty());
  CHECK(bench.writer.is_idle());
}
