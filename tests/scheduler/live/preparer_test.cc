#include "scheduler/live/writes/preparer.h"

#include "tests/support/catch.h"

#include <string>
#include <utility>
#include <vector>

using namespace sched;
using sched::live::Preparer;

namespace {

SelectNode select(const std::string& claim) {
  return {.claim = {"ml", claim, "uid of " + claim, "1"}, .node = "n"};
}
ReserveVolume reserve(const std::string& volume, const std::string& claim) {
  return {.volume = {"", volume, "uid of " + volume, "2"},
          .claim = {"ml", claim, "uid of " + claim, "1"},
          .named_claim = false};
}

// A server that answers when the test says so.
struct Writes {
  Preparer::Calls calls() {
    return {.select_node =
                [this](const SelectNode& write, auto done) {
                  sent.push_back(write.claim.name + " on " + write.node);
                  open.push_back(std::move(done));
                },
            .reserve_volume =
                [this](const ReserveVolume& write, auto done) {
                  sent.push_back(write.volume.name + " for " + write.claim.name);
                  open.push_back(std::move(done));
                }};
  }
  Preparer::Hooks hooks() {
    return {
        .on_outcome = [this](std::uint64_t plan,
                             const std::string& failure) { outcomes.emplace_back(plan, failure); },
        .on_forgotten = [this](std::uint64_t plan) { forgotten.push_back(plan); },
        .waits = [this](const std::string&) { return waits; },
        .may_send = [this] { return may_send; }};
  }
  void prepare(std::uint64_t plan, std::vector<ObjectWrite> writes,
               const std::string& namespace_ = "ml") {
    preparer.prepare({.plan = plan,
                      .pod = {namespace_, "p", "uid"},
                      .scheduler_name = "s",
                      .node = "n",
                      .writes = std::move(writes)});
  }
  // The call that has been open for the longest ends.
  void answer(const k8s::Result<void>& result = {}) {
    REQUIRE_FALSE(open.empty());
    const auto done = std::move(open.front());
    open.erase(open.begin());
    done(result);
  }
  static k8s::Result<void> conflict() {
    return tl::unexpected(
        k8s::Error{.kind = k8s::ErrorKind::kStatus, .message = "409 Conflict: changed"});
  }

  using Outcomes = std::vector<std::pair<std::uint64_t, std::string>>;
  bool may_send = true;
  bool waits = true;  // the pod
  std::vector<std::string> sent;
  std::vector<Preparer::Calls::Done> open;
  Outcomes outcomes;
  std::vector<std::uint64_t> forgotten;
  Preparer preparer{calls(), hooks()};
};

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("the writes of a plan go out one after the other") {
  Writes w;
  w.prepare(7, {reserve("v", "c"), select("d")});
  CHECK(w.sent == Texts{"v for c"});
  w.answer();
  CHECK(w.sent == Texts{"v for c", "d on n"});
  CHECK(w.outcomes.empty());
  w.answer();
  CHECK(w.outcomes == Writes::Outcomes{{7, ""}});
  CHECK(w.open.empty());
}

TEST_CASE("where there is nothing to write that is told at once") {
  Writes w;
  w.may_send = false;
  w.prepare(7, {});
  CHECK(w.outcomes == Writes::Outcomes{{7, ""}});
}

TEST_CASE("nothing is written for a pod that waits no longer when its plan comes") {
  Writes w;
  w.waits = false;
  w.prepare(7, {select("c")});
  CHECK(w.sent.empty());
  CHECK(w.outcomes.empty());
  CHECK(w.forgotten == std::vector<std::uint64_t>{7});
}

TEST_CASE("none goes out after one that fails, and what failed is told") {
  Writes w;
  w.prepare(7, {reserve("v", "c"), select("d")});
  w.answer(Writes::conflict());
  CHECK(w.outcomes ==
        Writes::Outcomes{{7, "binding volume v to claim c failed: 409 Conflict: changed"}});
  w.prepare(8, {select("d"), reserve("v", "c")});
  w.answer(Writes::conflict());
  CHECK(w.outcomes.back() == std::pair<std::uint64_t, std::string>(
                                 8, "selecting node n for claim d failed: 409 Conflict: changed"));
  CHECK(w.sent == Texts{"v for c", "d on n"});
}

TEST_CASE("plans go side by side, so many at a time, and who has begun goes first") {
  Writes w;
  for (std::uint64_t plan = 0; plan <= Preparer::kMostOpen; ++plan) {
    w.prepare(plan, {select("c" + std::to_string(plan)), select("d" + std::to_string(plan))},
              "ns" + std::to_string(plan));
  }
  CHECK(w.open.size() == Preparer::kMostOpen);
  w.answer();
  CHECK(w.open.size() == Preparer::kMostOpen);
  CHECK(w.sent.back() == "d0 on n");
  while (!w.open.empty()) w.answer();
  CHECK(w.outcomes.size() == Preparer::kMostOpen + 1);
  CHECK(w.sent.size() == 2 * (Preparer::kMostOpen + 1));
}

TEST_CASE("a namespace does not wait for the writes of another that hang") {
  Writes w;
  for (std::uint64_t plan = 0; plan < 100; ++plan) w.prepare(plan, {select("hangs")}, "hung");
  CHECK(w.open.size() == Preparer::kMostOpen / 2);
  w.prepare(100, {select("c"), select("d")});
  CHECK(w.sent.back() == "c on n");
  // Those before it hang.
  std::swap(w.open.front(), w.open.back());
  w.answer();
  CHECK(w.sent.back() == "d on n");
  CHECK(w.open.size() == Preparer::kMostOpen / 2 + 1);
}

TEST_CASE("who may not write waits, also between two writes") {
  Writes w;
  w.may_send = false;
  w.prepare(1, {select("c"), select("d")});
  CHECK(w.sent.empty());
  w.may_send = true;
  w.preparer.resume();
  CHECK(w.sent.size() == 1);
  w.may_send = false;
  w.answer();
  CHECK(w.sent.size() == 1);
  w.may_send = true;
  w.preparer.resume();
  w.answer();
  CHECK(w.outcomes == Writes::Outcomes{{1, ""}});
}

TEST_CASE("a write that was too late to be sent waits for its turn again") {
  Writes w;
  w.prepare(1, {select("c"), select("d")});
  w.answer();
  w.may_send = false;
  w.answer(tl::unexpected(k8s::make_error(k8s::ErrorKind::kTimeout, "too late to be sent")));
  CHECK(w.outcomes.empty());
  CHECK(w.open.empty());
  CHECK(w.preparer.open() == 0);
  w.may_send = true;
  w.preparer.resume();
  k8s::Error late = k8s::make_error(k8s::ErrorKind::kTimeout, "too late to be sent");
  late.too_late = true;
  w.answer(tl::unexpected(late));  // and by now it may be sent
  CHECK(w.outcomes.empty());
  CHECK(w.sent == Texts{"c on n", "d on n", "d on n", "d on n"});
  w.answer();
  CHECK(w.outcomes == Writes::Outcomes{{1, ""}});
}

TEST_CASE("nothing more is written for a plan that was forgotten") {
  Writes w;
  SECTION("before its first write") {
    w.may_send = false;
    w.prepare(1, {select("c")});
    w.preparer.forget("uid");
    w.may_send = true;
    w.preparer.resume();
    CHECK(w.sent.empty());
  }
  SECTION("between two writes") {
    w.prepare(1, {select("c"), select("d")});
    w.preparer.forget("uid");
    SECTION("the first succeeds") { w.answer(); }
    SECTION("the first fails") { w.answer(Writes::conflict()); }
    CHECK(w.sent == Texts{"c on n"});
  }
  CHECK(w.outcomes.empty());
  CHECK(w.forgotten == std::vector<std::uint64_t>{1});
  CHECK(w.preparer.open() == 0);
  w.preparer.forget("uid");
  // A new plan of the pod.
  w.prepare(2, {select("e")});
  CHECK(w.sent.back() == "e on n");
  w.answer();
  w.preparer.forget("uid");
  CHECK(w.outcomes == Writes::Outcomes{{2, ""}});
  CHECK(w.forgotten.size() == 1);
}

TEST_CASE("after the end nothing is sent or told") {
  Writes w;
  w.prepare(1, {select("c"), select("d")});
  w.may_send = false;
  w.prepare(2, {select("e")});
  w.preparer.stop();
  w.may_send = true;
  w.answer();
  w.preparer.resume();
  w.prepare(3, {select("f")});
  CHECK(w.sent.size() == 1);
  CHECK(w.outcomes.empty());
}

TEST_CASE("a write that was sent before the end is open until its answer comes") {
  Writes w;
  w.prepare(1, {select("c"), select("d")});
  w.prepare(2, {select("e")});
  CHECK(w.preparer.open() == 2);
  w.preparer.stop();
  CHECK(w.preparer.open() == 2);
  w.answer();
  CHECK(w.preparer.open() == 1);
  w.answer(Writes::conflict());
  CHECK(w.preparer.open() == 0);
  CHECK(w.open.empty());
}

TEST_CASE("an answer that comes after the preparer's end is nobody's") {
  Preparer::Calls::Done late;
  {
    Preparer preparer({.select_node = [&](const SelectNode&, auto done) { late = std::move(done); },
                       .reserve_volume = {}},
                      {.on_outcome = [](std::uint64_t, const std::string&) { FAIL("told"); }});
    preparer.prepare(
        {.plan = 1, .pod = {}, .scheduler_name = "", .node = "n", .writes = {select("c")}});
  }
  REQUIRE(late);
  late({});
}
