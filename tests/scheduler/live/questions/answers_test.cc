#include "scheduler/live/questions/answers.h"

#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <nlohmann/json.hpp>

namespace sched::live {

using Json = nlohmann::json;

TEST_CASE("an explanation as JSON, with as many nodes as were asked for") {
  const Explanation explanation{
      .rejection_plugin = {},
      .rejection = {},
      .nodes = {{.node = "a", .code = Code::kOk, .plugin = "", .reasons = {}, .numbers = {}},
                {.node = "b",
                 .code = Code::kUnschedulable,
                 .plugin = "NodeResourcesFit",
                 .reasons = {"Insufficient nvidia.com/gpu"},
                 .numbers = {"asked 8; free 6"}},
                {.node = "c", .code = Code::kOk, .plugin = "", .reasons = {}, .numbers = {}}},
      .refused = {},
      .message = "0/3 nodes are available: …",
      .details = "more \xff"};  // no UTF-8
  CHECK(Json::parse(to_json(tests::pod("x").in_namespace("ml"), explanation, 2)) == Json::parse(R"({
    "namespace": "ml", "pod": "x", "message": "0/3 nodes are available: …", "details": "more �",
    "nodes": [{"node": "a", "code": "Success", "plugin": "", "reasons": [], "numbers": []},
              {"node": "b", "code": "Unschedulable", "plugin": "NodeResourcesFit",
               "reasons": ["Insufficient nvidia.com/gpu"], "numbers": ["asked 8; free 6"]}],
    "nodesLeftOut": 1})"));
}

TEST_CASE("an explanation of a pod that was refused as a whole") {
  const Explanation explanation{.rejection_plugin = "DeviceClasses",
                                .rejection = "not built",
                                .nodes = {},
                                .refused = {},
                                .message = "0/0 nodes are available: not built.",
                                .details = ""};
  CHECK(Json::parse(to_json(tests::pod("x").in_namespace("ml").on("n1"), explanation, 9)) ==
        Json::parse(R"({
    "namespace": "ml", "pod": "x", "node": "n1",
    "message": "0/0 nodes are available: not built.", "details": "",
    "refusedBy": {"plugin": "DeviceClasses", "reason": "not built"},
    "nodes": [], "nodesLeftOut": 0})"));
}

TEST_CASE("candidates as JSON, in the order of the engine") {
  const std::vector<Candidate> candidates = {
      {.node = "b", .total_score = 70, .scores = {{.plugin = "P", .score = 7, .weight = 10}}},
      {.node = "a", .total_score = 0, .scores = {}}};
  CHECK(Json::parse(to_json(tests::pod("x").in_namespace("ml").on("b"), candidates)) ==
        Json::parse(R"({
    "namespace": "ml", "pod": "x", "node": "b",
    "candidates": [{"node": "b", "totalScore": 70,
                    "scores": [{"plugin": "P", "score": 7, "weight": 10}]},
                   {"node": "a", "totalScore": 0, "scores": []}]})"));
}

}  // namespace sched::live
