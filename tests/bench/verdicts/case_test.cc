#include "bench/verdicts/case.h"

#include "bench/verdicts/compare.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"

using namespace bench::verdicts;
using sched::Code;

namespace {

bool is_any(const NodeVerdict&) { return true; }

std::vector<std::string> differences_of(const Answer& given, const Answer& ours,
                                        const std::set<std::string>& scoring) {
  std::vector<std::string> texts;
  for (const Difference& each : compare(given, ours, scoring, is_any).differences) {
    texts.push_back(to_text(each));
  }
  return texts;
}

}  // namespace

TEST_CASE("a case is read in full") {
  const auto read = parse_case(R"({"id": "c-1", "focus": "gpu",
    "nodes": [{"metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "1"}}}],
    "pods": [{"metadata": {"name": "b", "namespace": "ml"}, "spec": {"nodeName": "n"}}],
    "namespaces": [{"metadata": {"name": "ml"}}],
    "persistentVolumes": [{"metadata": {"name": "v"}}],
    "persistentVolumeClaims": [{"metadata": {"name": "c"}}],
    "storageClasses": [{"metadata": {"name": "s"}, "provisioner": "p"}],
    "csiNodes": [{"metadata": {"name": "n"}}], "csiDrivers": [{"metadata": {"name": "p"}}],
    "csiStorageCapacities": [{"metadata": {"name": "x"}}],
    "volumeAttachments": [{"metadata": {"name": "y"}}],
    "deviceClasses": [{"metadata": {"name": "d"}}],
    "services": [{"metadata": {"name": "e"}}],
    "replicationControllers": [{"metadata": {"name": "f"}}],
    "replicaSets": [{"metadata": {"name": "g"}}], "statefulSets": [{"metadata": {"name": "h"}}],
    "podDisruptionBudgets": [{"metadata": {"name": "i"}}],
    "pluginConfig": [{"name": "PodTopologySpread", "args": {"defaultingType": "List"}}],
    "pod": {"metadata": {"name": "a"}, "spec": {"priority": 3}}, "preFilter": {"code": "x"},
    "scores": {"m": {"NodeAffinity": {"raw": 7, "normalized": 100, "weighted": 200}}},
    "verdicts": {"n": {"code": "Unschedulable", "plugin": "P", "reasons": ["b", "a"]},
                 "m": {"code": "Success"}},
    "message": "no"})",
                               "f:1");
  REQUIRE(read);
  CHECK(read->id == "c-1");
  CHECK(read->nodes.at(0).metadata.name == "n");
  CHECK(read->pods.at(0).spec.node_name == "n");
  std::vector<std::string> others;
  for (const sched::Event& each : read->others) {
    std::visit(
        [&]<typename What>(const What& what) {
          if constexpr (requires { what.object.metadata; }) {
            using Object = std::decay_t<decltype(what.object)>;
            others.push_back(std::string(Object::kKind.name) + " " + what.object.metadata.name);
          }
        },
        each);
  }
  CHECK(others == std::vector<std::string>{
                      "Namespace ml", "PersistentVolume v", "PersistentVolumeClaim c",
                      "StorageClass s", "CSINode n", "CSIDriver p", "CSIStorageCapacity x",
                      "VolumeAttachment y", "DeviceClass d", "Service e", "ReplicationController f",
                      "ReplicaSet g", "StatefulSet h", "PodDisruptionBudget i"});
  CHECK(*read->args.at("PodTopologySpread").find("defaultingType")->string() == "List");
  CHECK(read->pod.spec.priority == 3);
  Answer want;
  want.nodes["n"] = {.code = Code::kUnschedulable, .plugin = "P", .reasons = {"a", "b"}};
  want.nodes["m"] = {};
  want.message = "no";
  want.scores["m"]["NodeAffinity"] = {.normalized = 100, .weighted = 200};
  CHECK(read->answer == want);
}

TEST_CASE("a case needs no more than a pod, and is then named after its place") {
  const auto read =
      parse_case(R"({"pod": {"metadata": {"name": "a"}}, "csiNodes": null})", "cases.jsonl:7");
  REQUIRE(read);
  CHECK(read->id == "cases.jsonl:7");
  CHECK_FALSE(read->answer);
}

TEST_CASE("what is not a case is refused with what is wrong") {
  struct Bad {
    const char* line;
    const char* complaint;
  };
  const std::vector<Bad> cases = {
      {"", "not a JSON object"},
      {"{", "not a JSON object"},
      {"[]", "not a JSON object"},
      {"{}", "pod: is missing"},
      {R"({"pod": {"metadata": {"name": "a"}}, "node": []})", "node: is not a field of a case"},
      {R"({"pod": {"metadata": {"name": "a"}}, "nodes": {}})", "nodes: must be a list"},
      {R"({"pod": {"metadata": {"name": "a"}}, "nodes": [{}, 3]})", "nodes[0]: "},
      {R"({"pod": {"metadata": {"name": "a"}}, "nodes": [{"metadata": {"name": "n"}}, 3]})",
       "nodes[1]: "},
      {R"({"pod": {"metadata": {"name": "a"}, "spec": {"priority": "high"}}})", "priority"},
      {R"({"pod": {"metadata": {"name": "a"}, "spec": {"containers": [{"resources": {"requests": {"cpu": "1x"}}}]}}})",
       "1x"},
      {R"({"pod": {"metadata": {"name": "a"}}, "id": 1})", "id: must be a string"},
      {R"({"pod": {"metadata": {"name": "a"}}, "verdicts": []})", "verdicts: must be an object"},
      {R"({"pod": {"metadata": {"name": "a"}}, "verdicts": {"n": {}}})",
       "verdicts.n.code: is missing"},
      {R"({"pod": {"metadata": {"name": "a"}}, "verdicts": {"n": {"code": "Maybe"}}})",
       "'Maybe' is none of Success"},
      {R"({"pod": {"metadata": {"name": "a"}}, "verdicts": {"n": {"code": "Success", "reason": ""}}})",
       "verdicts.n.reason: is not a field"},
  };
  for (const Bad& each : cases) {
    INFO(each.line);
    const auto read = parse_case(each.line, "f:1");
    REQUIRE_FALSE(read);
    CHECK_THAT(read.error().message, Catch::Contains(each.complaint));
  }
}

TEST_CASE("what differs between two answers") {
  const NodeVerdict fits;
  const NodeVerdict taken{Code::kUnschedulable, "NodePorts", {"taken"}};
  const NodeVerdict taken_for_good{Code::kUnresolvable, "NodePorts", {"taken"}};
  const NodeVerdict taken_by_other{Code::kUnschedulable, "Other", {"taken"}};
  const NodeVerdict taken_otherwise{Code::kUnschedulable, "NodePorts", {"not free"}};
  const NodeVerdict not_asked{Code::kUnresolvable, "", {}};
  struct Pair {
    const char* name;
    Answer given;
    Answer ours;
    std::size_t differences;
    std::size_t agreements;
  };
  const std::vector<Pair> cases = {
      {"the same", {{{"n", taken}}, "no"}, {{{"n", taken}}, "no"}, 0, 2},
      {"code", {{{"n", taken}}, ""}, {{{"n", taken_for_good}}, ""}, 1, 0},
      {"plugin", {{{"n", taken}}, ""}, {{{"n", taken_by_other}}, ""}, 1, 0},
      {"reasons", {{{"n", taken}}, ""}, {{{"n", taken_otherwise}}, ""}, 1, 0},
      {"a refusal where it fits", {{{"n", fits}}, ""}, {{{"n", taken}}, ""}, 1, 1},
      {"message", {{{"n", taken}}, "no"}, {{{"n", taken}}, "nope"}, 1, 1},
      {"a message that is not known", {{{"n", not_asked}}, ""}, {{{"n", not_asked}}, "no"}, 0, 1},
      {"a message although some node fits", {{{"n", fits}}, ""}, {{{"n", fits}}, "no"}, 1, 1},
      {"never asked: the code counts",
       {{{"n", not_asked}}, ""},
       {{{"n", taken_for_good}}, ""},
       0,
       1},
      {"never asked, another code", {{{"n", not_asked}}, ""}, {{{"n", taken}}, ""}, 1, 0},
      {"a node less", {{{"n", fits}, {"m", fits}}, ""}, {{{"n", fits}}, ""}, 1, 2},
      {"a node more", {{{"n", fits}}, ""}, {{{"n", fits}, {"m", fits}}, ""}, 1, 2},
  };
  for (const Pair& each : cases) {
    INFO(each.name);
    const Comparison comparison = compare(each.given, each.ours, {}, is_any);
    CHECK(comparison.differences.size() == each.differences);
    CHECK(comparison.agreements == each.agreements);
  }
}

TEST_CASE("an answer of plugins that are not built here is not compared") {
  Answer given;
  given.nodes["a"].plugin = "NodePorts";
  given.nodes["b"].plugin = "VolumeZone";
  given.nodes["c"].plugin = "InterPodAffinity";
  given.nodes["d"].plugin = "";
  const auto is_ports = [](const NodeVerdict& verdict) { return verdict.plugin == "NodePorts"; };
  const Comparison comparison = compare(given, {}, {}, is_ports);
  CHECK(comparison.missing_plugins == std::set<std::string>{"InterPodAffinity", "VolumeZone"});
  CHECK(comparison.differences.empty());
  Tally tally;
  tally.add(comparison);
  CHECK(tally.left_out == 1);
  CHECK(tally.missing_plugins == comparison.missing_plugins);
}

TEST_CASE("scores are read, and compared plugin by plugin") {
  const auto read = parse_case(
      R"({"pod":{"metadata":{"name":"p"}},"verdicts":{"n":{"code":"Success"}},)"
      R"("scores":{"n":{"A":{"raw":7,"normalized":50,"weighted":100},"B":{"weighted":3}}}})",
      "here");
  REQUIRE(read);
  const Answer given = *read->answer;
  CHECK(given.scores == std::map<std::string, Scores>{{"n", {{"A", {50, 100}}, {"B", {0, 3}}}}});

  Answer ours = given;
  CHECK(differences_of(given, ours, {"A", "B", "C"}).empty());
  ours.scores["n"]["A"].weighted = 50;
  ours.scores["n"].erase("B");
  CHECK(differences_of(given, ours, {"A", "B", "C"}) ==
        std::vector<std::string>{"n: score of A: given 50 (100); ours 50 (50)",
                                 "n: score of B: given 0 (3); ours 0 (0)"});
  CHECK(differences_of(given, ours, {"C"}).empty());
  ours.scores.clear();
  CHECK(differences_of(given, ours, {"A"}) ==
        std::vector<std::string>{"n: score of A: given 50 (100); ours 0 (0)"});
}

TEST_CASE("who would be evicted is read, and compared on the node of choice") {
  const auto read = parse_case(
      R"({"pod":{"metadata":{"name":"p"}},)"
      R"("preemption":{"best":["b","a"],"victims":{"a":["x/2","x/1"],"b":["x/3"],"c":[]}}})",
      "line 1");
  REQUIRE(read);
  REQUIRE(read->answer);
  REQUIRE(read->answer->preemption);
  CHECK(read->answer->preemption->best == std::set<std::string>{"a", "b"});
  CHECK(read->answer->preemption->victims.at("a") == std::set<std::string>{"x/1", "x/2"});

  const auto difference = [&](const Preemption& ours) -> std::string {
    Answer answer;
    answer.preemption = ours;
    const Comparison found =
        compare(*read->answer, answer, {}, [](const NodeVerdict&) { return true; });
    return found.differences.empty() ? "" : to_text(found.differences[0]);
  };
  CHECK(difference({.best = {"a"}, .victims = {{"a", {"x/1", "x/2"}}}}).empty());
  CHECK(difference({.best = {"b"}, .victims = {{"b", {"x/3"}}}}).empty());
  CHECK(difference({.best = {"a"}, .victims = {{"a", {"x/1"}}}}) ==
        "preemption: given on a x/1 x/2, or on b x/3; ours on a x/1");
  CHECK_FALSE(difference({.best = {"c"}, .victims = {{"c", {}}}}).empty());
  CHECK(difference({}) == "preemption: given on a x/1 x/2, or on b x/3; ours evicts nobody");

  CHECK(parse_case(R"({"pod":{"metadata":{"name":"p"}},"preemption":{"bets":[]}})", "line 1")
            .error()
            .message == "preemption.bets: is not a field of an answer");
}

TEST_CASE("scores that are none are refused in words") {
  const auto error = [](const std::string& scores) {
    const auto read =
        parse_case(R"({"pod":{"metadata":{"name":"p"}},"scores":)" + scores + "}", "here");
    return read ? "" : read.error().message;
  };
  CHECK_THAT(error("[]"), Catch::Contains("scores: must be an object"));
  CHECK_THAT(error(R"({"n":1})"), Catch::Contains("scores.n: must be an object"));
  CHECK_THAT(error(R"({"n":{"A":{"raw":"x"}}})"),
             Catch::Contains("scores.n.A: raw must be a whole number"));
  CHECK_THAT(error(R"({"n":{"A":{"total":1}}})"),
             Catch::Contains("scores.n.A: total is not a field of a score"));
}
