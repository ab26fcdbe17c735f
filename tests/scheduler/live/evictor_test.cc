#include "scheduler/live/writes/evictor.h"

#include "k8s-client/status_error.h"
#include "tests/support/catch.h"
#include "tests/support/manual_loop.h"

#include <chrono>
#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using sched::PodRef;
using sched::live::Evictor;

using Calls = std::vector<std::string>;
using Outcomes = std::vector<std::pair<std::uint64_t, std::string>>;

// A server that answers when the test says so.
struct Server {
  struct Open {
    std::string call;
    Evictor::Calls::Done done;
  };
  Evictor::Calls calls() {
    return {.nominate =
                [this](const PodRef& pod, const std::string& node, auto done) {
                  sent("nominate " + pod.name + " for " + node, std::move(done));
                },
            .try_delete = [this](const PodRef& pod,
                                 auto done) { sent("try " + pod.name, std::move(done)); },
            .set_disruption_target =
                [this](const PodRef& pod, const std::string& message, auto done) {
                  const bool is_reclaimed = reclaimed == pod.name;
                  CHECK(message == (is_reclaimed
                                        ? "s: reclaiming GPUs that its quota has borrowed"
                                        : "s: preempting to accommodate a higher priority pod"));
                  sent("mark " + pod.name, std::move(done));
                },
            .delete_pod = [this](const PodRef& pod,
                                 auto done) { sent("delete " + pod.name, std::move(done)); }};
  }
  Evictor::Hooks hooks() {
    return {
        .on_outcome = [this](std::uint64_t plan,
                             const std::string& failure) { outcomes.emplace_back(plan, failure); },
        .on_evicted =
            [this](const sched::decision::Evict&, const sched::decision::Victim& victim) {
              CHECK(victim.reclaimed == (reclaimed == victim.pod.name));
              evicted.push_back(victim.pod.name);
            },
        .on_may_be_nominated =
            [this](const PodRef& pod, const std::string& node) {
              may_be_nominated.push_back(pod.name + " for " + node);
            },
        .waits = [this](const std::string&) { return waits; },
        .may_send = [this] { return may_send; }};
  }
  void sent(std::string call, Evictor::Calls::Done done) {
    open.push_back({std::move(call), std::move(done)});
  }
  // What is open, the oldest first.
  [[nodiscard]] Calls under_way() const {
    Calls all;
    for (const Open& one : open) all.push_back(one.call);
    return all;
  }
  // Answers the oldest call.
  void answer(const k8s::Result<void>& result = {}) {
    REQUIRE_FALSE(open.empty());
    const Open one = std::move(open.front());
    open.pop_front();
    one.done(result);
  }
  // The server would delete each victim.
  void answer_tries() {
    REQUIRE(open.front().call.starts_with("try "));
    while (open.front().call.starts_with("try ")) answer();
  }
  void fail(int status, const std::string& message = "no") {
    const std::string reason = status == 404 ? "NotFound" : "";
    answer(tl::unexpected(
        k8s::status_error(k8s::Status{.code = status, .reason = reason, .message = message})));
  }
  // Something before the server answers.
  void misroute() {
    answer(tl::unexpected(
        k8s::status_error(k8s::Status{.code = 404, .reason = {}, .message = "no backend"})));
  }
  void evict(std::uint64_t plan, const std::vector<std::string>& victims,
             const std::string& namespace_ = "ml") {
    sched::decision::Evict decision;
    decision.plan = plan;
    decision.pod = {"ml", "p", "uid of p"};
    decision.scheduler_name = "s";
    decision.node = "n";
    for (const std::string& name : victims) {
      decision.victims.push_back({{namespace_, name, name + "-uid"}, reclaimed == name});
    }
    evictor.evict(std::move(decision));
  }

  tests::ManualLoop loop;
  bool may_send = true;
  bool waits = true;  // the pod
  std::deque<Open> open;
  Calls evicted;
  Calls may_be_nominated;
  std::string reclaimed;  // the name of a victim
  Outcomes outcomes;
  Evictor evictor{
      loop, calls(), {.back_off = {.first = 500ms, .limit = 10s, .jitter = 0}}, hooks()};
};

}  // namespace

TEST_CASE("the pod is nominated first, then each victim is marked and deleted") {
  Server s;
  s.evict(7, {"a", "b"});
  CHECK(s.under_way() == Calls{"nominate p for n"});
  s.answer();
  CHECK(s.under_way() == Calls{"try a", "try b"});
  s.answer();
  CHECK(s.under_way() == Calls{"try b"});
  s.answer();
  CHECK(s.under_way() == Calls{"mark a", "mark b"});
  s.answer();
  CHECK(s.under_way() == Calls{"mark b", "delete a"});
  s.answer();
  s.answer();
  CHECK(s.evicted == Calls{"a"});
  CHECK(s.outcomes.empty());
  s.answer();
  CHECK(s.evicted == Calls{"a", "b"});
  CHECK(s.outcomes == Outcomes{{7, ""}});
}

TEST_CASE("nobody ends for nothing because one of several victims may not be deleted") {
  Server s;
  s.evict(7, {"a", "b", "c"});
  s.answer();
  s.answer();              // try a
  s.fail(403, "may not");  // try b
  REQUIRE(s.outcomes.size() == 1);
  CHECK_THAT(s.outcomes[0].second, Catch::StartsWith("deleting pod ml/b failed: "));
  s.answer();  // try c
  CHECK(s.open.empty());
  CHECK(s.evicted.empty());
  CHECK(s.outcomes.size() == 1);
}

TEST_CASE("a victim that may not be deleted is not told that it will be") {
  Server s;
  s.evict(7, {"a"});
  s.answer();
  CHECK(s.under_way() == Calls{"try a"});
  s.fail(403, "may not");
  REQUIRE(s.outcomes.size() == 1);
  CHECK_THAT(s.outcomes[0].second, Catch::StartsWith("deleting pod ml/a failed: "));
  s.loop.advance(1h);
  CHECK(s.open.empty());
}

TEST_CASE("a try may be repeated, and a victim that is gone by then does not matter") {
  Server s;
  s.evict(7, {"a", "b"});
  s.answer();
  SECTION("gone") { s.fail(404); }
  SECTION("its name is another's") {
    s.fail(409, "Precondition failed: UID in precondition: a-uid, UID in object meta: other");
  }
  s.fail(500);  // try b
  CHECK(s.open.empty());
  s.loop.advance(500ms);
  CHECK(s.under_way() == Calls{"try b"});
  s.answer();
  CHECK(s.under_way() == Calls{"mark a", "mark b"});
  s.fail(404);  // mark a
  s.answer();   // mark b
  s.answer();   // delete b
  CHECK(s.evicted == Calls{"b"});
  CHECK(s.outcomes == Outcomes{{7, ""}});
}

TEST_CASE("without victims the pod is nominated, and that is all") {
  Server s;
  s.evict(7, {});
  s.answer();
  CHECK(s.open.empty());
  CHECK(s.outcomes == Outcomes{{7, ""}});
}

TEST_CASE("nobody is deleted for a pod that needs the room no longer") {
  Server s;
  s.evict(7, {"a", "b", "c"});
  s.evictor.forget("uid of another");
  s.answer();  // nominate
  s.answer_tries();
  s.answer();  // mark a
  SECTION("a call that is open ends") {
    s.evictor.forget("uid of p");
    CHECK(s.under_way() == Calls{"mark b", "mark c", "delete a"});
    while (!s.open.empty()) s.answer();
    CHECK(s.evicted == Calls{"a"});
  }
  SECTION("a call that is to be repeated does not go out") {
    s.fail(500);  // mark b
    s.answer();   // mark c
    s.answer();   // delete a
    s.evictor.forget("uid of p");
    s.answer();  // delete c
    s.loop.advance(1h);
    CHECK(s.evicted == Calls{"a", "c"});
  }
  SECTION("nor one that waits") {
    s.may_send = false;
    s.answer();  // mark b
    s.answer();  // mark c
    s.answer();  // delete a
    s.evictor.forget("uid of p");
    s.may_send = true;
    s.evictor.resume();
    CHECK(s.evicted == Calls{"a"});
  }
  s.loop.advance(1h);
  CHECK(s.open.empty());
  CHECK(s.outcomes.empty());
  // The next decision for the pod has nothing to do with it.
  s.evict(8, {"b"});
  CHECK(s.under_way() == Calls{"nominate p for n"});
}

TEST_CASE("nobody is deleted for a pod that waits no longer when it is decided") {
  Server s;
  s.waits = false;
  s.evict(7, {"a"});
  s.loop.advance(1h);
  CHECK(s.open.empty());
  CHECK(s.outcomes.empty());
  CHECK(s.may_be_nominated.empty());
}

TEST_CASE("a pod may be nominated after its decision is over, if that was sent") {
  Server s;
  s.may_send = false;
  s.evict(6, {"a"});
  s.evictor.forget("uid of p");
  CHECK(s.may_be_nominated.empty());
  s.may_send = true;
  s.evict(7, {"a"});
  SECTION("it was not answered") { s.evictor.forget("uid of p"); }
  SECTION("nor in time") {
    s.loop.advance(2min);
    CHECK(s.outcomes.size() == 1);
  }
  SECTION("nor for certain") {
    s.fail(500);
    s.evictor.forget("uid of p");
  }
  CHECK(s.may_be_nominated == Calls{"p for n"});
  while (!s.open.empty()) s.answer();
  s.evict(8, {"a"});
  s.answer();  // nominate
  s.evictor.forget("uid of p");
  CHECK(s.may_be_nominated == Calls{"p for n"});
}

TEST_CASE("nobody is deleted for a pod that cannot be nominated") {
  Server s;
  s.evict(7, {"a"});
  SECTION("it is gone") { s.fail(404); }
  SECTION("its name is another's") { s.fail(422, "metadata.uid: Invalid value"); }
  SECTION("it may not be") { s.fail(403); }
  CHECK(s.open.empty());
  REQUIRE(s.outcomes.size() == 1);
  CHECK_THAT(s.outcomes[0].second, Catch::StartsWith("nominating pod ml/p for node n failed: "));
}

TEST_CASE("a victim that is gone needs no call any more") {
  Server s;
  s.evict(7, {"a"});
  s.answer();
  s.answer_tries();
  SECTION("before it is marked") { s.fail(404); }
  SECTION("and its name is another's") { s.fail(422, "metadata.uid: Invalid value"); }
  SECTION("before it is deleted") {
    s.answer();
    s.fail(404);
  }
  SECTION("and its name is another's by then") {
    s.answer();
    s.fail(409, "Precondition failed: UID in precondition: a-uid, UID in object meta: other");
  }
  CHECK(s.open.empty());
  CHECK(s.evicted.empty());
  CHECK(s.outcomes == Outcomes{{7, ""}});
}

TEST_CASE("a 404 that is not the API server's says nothing of a pod, and is repeated") {
  Server s;
  s.evict(7, {"a"});
  for (const char* call : {"nominate p for n", "try a", "mark a", "delete a"}) {
    REQUIRE(s.under_way() == Calls{call});
    s.misroute();
    CHECK(s.open.empty());
    s.loop.advance(500ms);
    REQUIRE(s.under_way() == Calls{call});
    s.answer();
  }
  CHECK(s.evicted == Calls{"a"});
  CHECK(s.outcomes == Outcomes{{7, ""}});
}

TEST_CASE("a victim that ends while its call is to be repeated holds the others up no longer") {
  Server s;
  s.evict(7, {"a", "b"});
  s.answer();
  SECTION("its trial") {
    s.fail(500);  // try a
    s.answer();   // try b
    CHECK(s.open.empty());
    s.evictor.ended("uid of p");
    s.evictor.ended("b-uid");
    CHECK(s.open.empty());
    s.evictor.ended("a-uid");
    CHECK(s.under_way() == Calls{"mark a", "mark b"});
    s.fail(404);  // mark a
  }
  SECTION("its condition") {
    s.answer_tries();
    s.fail(500);  // mark a
    s.evictor.ended("a-uid");
    CHECK(s.under_way() == Calls{"mark b"});
  }
  s.answer();  // mark b
  s.answer();  // delete b
  CHECK(s.evicted == Calls{"b"});
  CHECK(s.outcomes == Outcomes{{7, ""}});
  s.loop.advance(1h);
  CHECK(s.open.empty());
}

TEST_CASE("a victim that ends while its call hangs holds the others up no longer") {
  Server s;
  s.evict(7, {"a", "b"});
  s.answer();
  const auto answer_last = [&s] {
    std::swap(s.open.front(), s.open.back());
    s.answer();
  };
  SECTION("its trial") {
    answer_last();  // try b
    s.evictor.ended("a-uid");
    CHECK(s.under_way() == Calls{"try a", "mark a", "mark b"});
    s.fail(500);  // try a
    CHECK(s.under_way() == Calls{"mark a", "mark b"});
    s.fail(404);  // mark a
    s.answer();   // mark b
    s.answer();   // delete b
    CHECK(s.evicted == Calls{"b"});
    CHECK(s.outcomes == Outcomes{{7, ""}});
  }
  SECTION("its deletion, which may be what ended it") {
    s.answer_tries();
    s.answer();  // mark a
    s.answer();  // mark b
    CHECK(s.under_way() == Calls{"delete a", "delete b"});
    answer_last();  // delete b
    s.evictor.ended("a-uid");
    CHECK(s.outcomes == Outcomes{{7, ""}});
    CHECK(s.evicted == Calls{"b"});
    s.answer();  // delete a
    CHECK(s.evicted == Calls{"b", "a"});
  }
  s.loop.advance(1h);
  CHECK(s.open.empty());
  CHECK(s.outcomes.size() == 1);
}

TEST_CASE("what may pass is repeated, and the other victims do not wait for it") {
  Server s;
  s.evict(7, {"a", "b"});
  s.answer();
  s.answer_tries();
  s.fail(500);  // mark a
  s.answer();   // mark b
  s.answer();   // delete b
  CHECK(s.evicted == Calls{"b"});
  CHECK(s.open.empty());
  s.loop.advance(500ms);
  CHECK(s.under_way() == Calls{"mark a"});
  s.answer(tl::unexpected(k8s::Error{.kind = k8s::ErrorKind::kTimeout, .message = "silence"}));
  s.loop.advance(1s);
  s.answer();
  s.answer();
  CHECK(s.outcomes == Outcomes{{7, ""}});
}

TEST_CASE("after two minutes the decision has failed, and nothing more is sent for it") {
  Server s;
  s.evict(7, {"a"});
  s.answer();
  s.answer_tries();
  for (int i = 0; i < 100 && s.outcomes.empty(); ++i) {
    if (!s.open.empty()) s.fail(503, "later");
    s.loop.advance(5s);
  }
  REQUIRE(s.outcomes.size() == 1);
  CHECK_THAT(s.outcomes[0].second,
             Catch::StartsWith("setting the condition DisruptionTarget of pod ml/a failed: "));
  while (!s.open.empty()) s.fail(503);
  s.loop.advance(60s);
  CHECK(s.open.empty());
  CHECK(s.outcomes.size() == 1);
}

TEST_CASE("a refusal that does not pass ends the decision at once") {
  Server s;
  s.evict(7, {"a", "b"});
  s.answer();
  s.answer_tries();
  s.answer();              // mark a
  s.answer();              // mark b
  s.fail(403, "may not");  // delete a
  REQUIRE(s.outcomes.size() == 1);
  CHECK_THAT(s.outcomes[0].second, Catch::StartsWith("deleting pod ml/a failed: "));
  s.fail(403, "may not");  // delete b
  CHECK(s.open.empty());
  CHECK(s.evicted.empty());
  CHECK(s.outcomes.size() == 1);
}

TEST_CASE("of a victim in another namespace neither its name nor the server's words are told") {
  Server s;
  s.evict(7, {"a"}, "web");
  s.answer();
  s.answer_tries();
  s.answer();  // mark a
  std::string why;
  SECTION("refused") {
    s.fail(403, "pods \"a\" is forbidden: it is web's");
    why = "HTTP 403";
  }
  SECTION("no answer that can be read, or none") {
    const bool is_answer = GENERATE(true, false);
    why = is_answer ? "the API server's answer cannot be read" : "the API server did not answer";
    const auto kind = is_answer ? k8s::ErrorKind::kDecode : k8s::ErrorKind::kTimeout;
    for (int i = 0; i < 100 && s.outcomes.empty(); ++i) {
      if (!s.open.empty()) s.answer(tl::unexpected(k8s::Error{kind, "it is web's"}));
      s.loop.advance(5s);
    }
  }
  REQUIRE(s.outcomes.size() == 1);
  CHECK(s.outcomes[0].second == "deleting a pod of another namespace failed: " + why);
}

TEST_CASE("after a refusal no further victim is begun") {
  Server s;
  std::vector<std::string> victims;
  for (int i = 0; i < 20; ++i) victims.push_back("v" + std::to_string(i));
  s.evict(7, victims);
  s.answer();
  s.answer_tries();
  s.answer();  // mark v0; its deletion goes out
  while (s.under_way().front() != "delete v0") s.fail(500);
  s.fail(403);
  REQUIRE(s.outcomes.size() == 1);
  CHECK_THAT(s.outcomes[0].second, Catch::StartsWith("deleting pod ml/v0 failed: "));
  while (!s.open.empty()) s.answer();
  s.loop.advance(1h);
  CHECK(s.open.empty());
  CHECK(s.evicted.empty());
  CHECK(s.outcomes.size() == 1);
}

TEST_CASE("a decision that could not be carried out in two minutes has failed") {
  Server s;
  s.may_send = false;
  s.evict(7, {"a"});
  s.loop.advance(119s);
  CHECK(s.outcomes.empty());
  s.loop.advance(1s);
  CHECK(s.outcomes == Outcomes{{7, "making room on node n was not done in time"}});
  s.may_send = true;
  s.evictor.resume();
  CHECK(s.open.empty());
}

TEST_CASE("a conflict that is not about the uid is repeated") {
  Server s;
  s.evict(7, {"a"});
  s.answer();
  s.answer_tries();
  s.answer();  // mark a
  s.fail(409, "the object has been modified");
  s.loop.advance(500ms);
  CHECK(s.under_way() == Calls{"delete a"});
  s.answer();
  CHECK(s.outcomes == Outcomes{{7, ""}});
}

TEST_CASE("an answer after the evictor's end is for nobody") {
  tests::ManualLoop loop;
  Evictor::Calls::Done late;
  {
    Evictor evictor(
        loop,
        {.nominate = [&](const PodRef&, const std::string&, auto done) { late = std::move(done); },
         .try_delete = {},
         .set_disruption_target = {},
         .delete_pod = {}},
        {},
        {.on_outcome = [](std::uint64_t, const std::string&) { FAIL("told"); }, .on_evicted = {}});
    evictor.evict({});
  }
  REQUIRE(late);
  late({});
  loop.advance(1h);
}

TEST_CASE("a victim that cannot be marked is deleted all the same") {
  Server s;
  s.evict(7, {"a"});
  s.answer();
  s.answer_tries();
  s.fail(403, "it has that condition for another reason");
  CHECK(s.under_way() == Calls{"delete a"});
  s.answer();
  CHECK(s.outcomes == Outcomes{{7, ""}});
}

TEST_CASE("while this process may not write, nothing is sent") {
  Server s;
  s.may_send = false;
  s.evict(7, {"a"});
  CHECK(s.open.empty());
  s.may_send = true;
  s.evictor.resume();
  CHECK(s.under_way() == Calls{"nominate p for n"});
  s.may_send = false;
  s.answer();
  CHECK(s.open.empty());
  s.may_send = true;
  s.evictor.resume();
  CHECK(s.under_way() == Calls{"try a"});
}

TEST_CASE("after stop nothing is sent and nothing told, but a deletion that succeeds") {
  Server s;
  s.evict(7, {"a", "b"});
  s.answer();
  s.answer_tries();
  s.answer();  // mark a
  s.evictor.stop();
  s.answer();  // mark b
  s.answer();  // delete a
  CHECK(s.open.empty());
  CHECK(s.evicted == Calls{"a"});
  CHECK(s.outcomes.empty());
}

TEST_CASE("a call that was sent before the stop is open until its answer comes") {
  Server s;
  s.evict(7, {"a", "b"});
  CHECK(s.evictor.open() == 1);
  s.answer();
  s.answer_tries();
  s.answer();  // mark a
  CHECK(s.under_way() == Calls{"mark b", "delete a"});
  s.evictor.stop();
  CHECK(s.evictor.open() == 2);
  s.fail(500);  // mark b
  CHECK(s.evictor.open() == 1);
  s.answer();  // delete a
  CHECK(s.evictor.open() == 0);
  s.loop.advance(1h);
  CHECK(s.open.empty());
}

TEST_CASE("a victim on borrowed GPUs is told so, beside others of lower priority") {
  Server s;
  s.reclaimed = "b";
  s.evict(7, {"a", "b"});
  s.answer();
  s.answer_tries();
  for (int i = 0; i < 4; ++i) s.answer();
  CHECK(s.evicted == Calls{"a", "b"});
}

TEST_CASE("so many calls are open at a time, and of one namespace half as many") {
  Server s;
  std::vector<std::string> victims;
  for (int i = 0; i < 20; ++i) victims.push_back("v" + std::to_string(i));
  s.evict(7, victims, "web");
  s.answer();
  CHECK(s.open.size() == Evictor::kMostOpen / 2);
  s.evict(8, {"a"});
  CHECK(s.under_way().back() == "nominate p for n");
  // Those about the namespace web hang.
  std::swap(s.open.front(), s.open.back());
  s.answer();
  CHECK(s.under_way().back() == "try a");
  CHECK(s.open.size() == Evictor::kMostOpen / 2 + 1);
}

TEST_CASE("all of many victims are evicted") {
  Server s;
  std::vector<std::string> victims;
  for (int i = 0; i < 20; ++i) victims.push_back("v" + std::to_string(i));
  s.evict(7, victims);
  s.answer();
  s.answer_tries();
  for (int i = 0; i < 40; ++i) s.answer();
  CHECK(s.evicted.size() == 20);
  CHECK(s.outcomes == Outcomes{{7, ""}});
}
