// What the writer of statuses writes as the nomination of pods that wait.
#include "tests/scheduler/live/status_writer_bench.h"

#include <optional>
#include <string>
#include <utility>

using namespace tests::statuses;

TEST_CASE("a pod's nomination is written where it is to change, and left alone elsewhere") {
  StatusWriterBench bench;
  const auto nominated = [&](const std::string& version, const std::string& node) {
    k8s::Pod pod = tests::pod("a").in_namespace("ml").uid("uid-a");
    pod.metadata.resource_version = version;
    pod.status.nominated_node_name = node;
    bench.writer.observed(pod);
  };
  const auto says = [](const char* message, std::optional<std::string> node) {
    k8s::PodScheduledCondition wanted = condition(message);
    wanted.nominated_node = std::move(node);
    return wanted;
  };
  bench.writer.write(ref("a"), says("x", "n"));
  REQUIRE(bench.calls.size() == 1);
  CHECK(bench.calls[0].condition.nominated_node == "n");
  bench.answer({});
  nominated("2", "n");
  // The same again is no news; nor is another text with the same node one about the node.
  bench.writer.write(ref("a"), says("x", "n"));
  CHECK(bench.calls.empty());
  bench.writer.write(ref("a"), says("y", std::nullopt));
  REQUIRE(bench.calls.size() == 1);
  CHECK_FALSE(bench.calls[0].condition.nominated_node);
  bench.answer({});
  // It is not nominated any more. A write that fails is repeated with that.
  bench.writer.write(ref("a"), says("y", ""));
  REQUIRE(bench.calls.size() == 1);
  CHECK(bench.calls[0].condition.nominated_node == "");
  bench.fail(500);
  bench.loop.advance(1s);
  REQUIRE(bench.calls.size() == 1);
  CHECK(bench.calls[0].condition.nominated_node == "");
  bench.answer({});
  bench.writer.write(ref("a"), says("y", ""));
  CHECK(bench.calls.empty());
}

namespace {

// A pod of the watch and its nomination.
struct Nominating : StatusWriterBench {
  void shows(const std::string& version, const std::string& node) {
    k8s::Pod pod = tests::pod("a").in_namespace("ml").uid("uid-a");
    pod.metadata.resource_version = version;
    pod.status.nominated_node_name = node;
    writer.observed(pod);
  }
  void write(const std::string& message, std::optional<std::string> node) {
    k8s::PodScheduledCondition wanted = condition(message);
    wanted.nominated_node = std::move(node);
    writer.write(ref("a"), std::move(wanted));
  }
  // "message: node" of the writes that are open; "as it is" where they leave the nomination alone.
  [[nodiscard]] Texts writes() const {
    Texts texts;
    for (const Call& call : calls) {
      texts.push_back(call.condition.message + ": " +
                      call.condition.nominated_node.value_or("as it is"));
    }
    return texts;
  }
};

}  // namespace

TEST_CASE("a newer text does not keep a nomination from being removed") {
  Nominating bench;
  bench.shows("2", "n");
  SECTION("that waits to be written") {
    bench.binds_wait = true;
    bench.writer.write(ref("b"), condition("x"));
    bench.write("no room", "");
    bench.write("less room", std::nullopt);
    bench.answer({});
  }
  SECTION("in a write that fails") {
    bench.write("no room", "");
    bench.write("less room", std::nullopt);
    bench.fail(500);
    bench.loop.advance(500ms);
  }
  CHECK(bench.writes() == Texts{"less room: "});
}

TEST_CASE("a nomination that the watch shows late is removed, too") {
  Nominating bench;
  bench.shows("2", "");
  bench.write("no room", "");
  CHECK(bench.writes() == Texts{"no room: as it is"});
  bench.fail(409);  // the pod has been nominated meanwhile
  CHECK(bench.open().empty());
  bench.shows("3", "n");
  CHECK(bench.writes() == Texts{"no room: "});
  bench.answer({});
  CHECK(bench.writer.is_idle());
}

TEST_CASE("a pod may be nominated though its status was not written") {
  Nominating bench;
  bench.shows("2", "");
  bench.write("no room", "");
  bench.answer({});
  bench.binds_wait = true;
  bench.writer.write(ref("b"), condition("x"));
  bench.write("makes room", "n");  // waits
  bench.write("no room", "");
  bench.answer({});
  CHECK(bench.writes() == Texts{"no room: "});
}

TEST_CASE("what the watch shows during a write counts for the nomination") {
  Nominating bench;
  bench.shows("2", "n");
  bench.write("no room", "");
  bench.shows("4", "m");  // this write, and another nomination since
  bench.answer({});
  bench.write("no room", "");
  CHECK(bench.writes() == Texts{"no room: "});
  bench.shows("5", "");
  bench.answer({});
  bench.write("no room", "");
  CHECK(bench.open().empty());
}

TEST_CASE("a nomination of an earlier process is removed though the text is the same") {
  StatusWriterBench bench;
  k8s::Pod pod = tests::pod("f").in_namespace("ml").uid("uid-f");
  pod.metadata.resource_version = "2";
  pod.status.nominated_node_name = "n";
  pod.status.conditions.push_back({.type = "PodScheduled",
                                   .status = "False",
                                   .reason = "Unschedulable",
                                   .message = "no room",
                                   .observed_generation = 1});
  bench.writer.observed(pod);
  k8s::PodScheduledCondition wanted = condition("no room");
  bench.writer.write(ref("f"), wanted);
  CHECK(bench.open().empty());
  wanted.nominated_node = "";
  bench.writer.write(ref("f"), wanted);
  REQUIRE(bench.open() == Texts{"f: no room"});
  CHECK(bench.calls[0].condition.nominated_node == "");
}

TEST_CASE("a nomination that is carried out after it was removed is removed again") {
  Nominating bench;
  bench.shows("2", "");
  bench.write("makes room", "n");
  bench.answer({});
  bench.shows("3", "n");
  bench.writer.may_be_nominated(ref("a"), "n");
  bench.write("no room", "");
  bench.shows("4", "n");  // still
  SECTION("before that status is written") {
    bench.fail(409);
    bench.shows("5", "n");
    bench.fail(409);
    REQUIRE(bench.writes() == Texts{"no room: "});
    bench.answer({});
    bench.shows("6", "");
    bench.shows("7", "n");
    CHECK(bench.writes() == Texts{"no room: "});
  }
  SECTION("after it") {
    bench.fail(409);
    bench.answer({});
    bench.shows("5", "");
    CHECK(bench.open().empty());
    bench.shows("6", "n");
    CHECK(bench.writes() == Texts{"no room: "});
  }
  SECTION("after it, and the watch shows both before the answer comes") {
    bench.fail(409);
    bench.shows("5", "");
    bench.shows("6", "n");
    bench.answer({});
    REQUIRE(bench.writes() == Texts{"no room: "});
    bench.answer({});
    bench.shows("7", "");
    CHECK(bench.open().empty());
    bench.shows("8", "n");
    CHECK(bench.writes() == Texts{"no room: "});
  }
  bench.answer({});
  bench.shows("9", "");
  // What others nominate it for is theirs.
  bench.shows("10", "n");
  CHECK(bench.open().empty());
}

TEST_CASE("a late nomination gives way to a newer one, and is left alone if it is wanted again") {
  Nominating bench;
  bench.shows("2", "");
  bench.write("makes room", "n");
  bench.answer({});
  bench.writer.may_be_nominated(ref("a"), "n");
  const std::string again = GENERATE("n", "m");
  bench.write("makes room", again);
  while (!bench.open().empty()) bench.answer({});
  bench.shows("3", again);
  CHECK(bench.open().empty());
  bench.shows("4", "n");
  CHECK(bench.writes() == (again == "n" ? Texts{} : Texts{"makes room: m"}));
}

TEST_CASE("no nomination is removed from a pod that is not shown unbound, or says nothing") {
  Nominating bench;
  bench.writer.may_be_nominated(ref("a"), "n");
  bench.shows("2", "n");
  CHECK(bench.open().empty());
  bench.writer.forget("uid-a");
  bench.writer.may_be_nominated(ref("a"), "n");
  bench.shows("3", "n");
  bench.write("no room", "");
  CHECK(bench.writes() == Texts{"no room: "});
}
