// What bench verdicts prints for people.
#include "bench/verdicts/show.h"

#include "tests/support/catch.h"

#include <string>

using namespace bench::verdicts;
using sched::Code;

namespace {

const NodeVerdict kFits;
const NodeVerdict kShortOfCpu{
    Code::kUnschedulable, "NodeResourcesFit", {"Insufficient cpu", "Too many pods"}};
const NodeVerdict kNotAllowed{Code::kUnresolvable, "NodeAffinity", {"no match"}};

// Of so many nodes, every fifth fits.
Answer answer_of_many(std::size_t nodes) {
  Answer answer;
  for (std::size_t i = 0; i < nodes; ++i) {
    answer.nodes["n" + std::to_string(100 + i)] = i % 5 == 0 ? kFits : kShortOfCpu;
  }
  return answer;
}

}  // namespace

TEST_CASE("an answer is its verdict and its nodes, in columns") {
  CHECK(answer_text("q", {{{"a", kFits}, {"a-longer-name", kNotAllowed}, {"b", kShortOfCpu}}, ""},
                    {}, false) ==
        "q: 1 of 3 nodes fit\n"
        "  NODE           VERDICT                       PLUGIN            REASONS\n"
        "  a              Success                       -                 -\n"
        "  a-longer-name  UnschedulableAndUnresolvable  NodeAffinity      no match\n"
        "  b              Unschedulable                 NodeResourcesFit  "
        "Insufficient cpu, Too many pods\n"
        "\n");
}

TEST_CASE("the message stands beside the verdict, and no node is no table") {
  CHECK(answer_text("q", {{}, "no nodes available to schedule pods"}, {}, false) ==
        "q: 0 of 0 nodes fit - no nodes available to schedule pods\n\n");
}

TEST_CASE("many nodes are a row for each answer, that of the most nodes first") {
  Answer answer = answer_of_many(kMostListed + 5);
  answer.nodes["n101"] = kNotAllowed;
  CHECK(answer_text("q", answer, {}, false) ==
        "q: 5 of 25 nodes fit\n"
        "  NODES  VERDICT                       PLUGIN            REASONS                          "
        "EXAMPLE\n"
        "     19  Unschedulable                 NodeResourcesFit  Insufficient cpu, Too many pods  "
        "n102\n"
        "      5  Success                       -                 -                                "
        "n100\n"
        "      1  UnschedulableAndUnresolvable  NodeAffinity      no match                         "
        "n101\n"
        "\n");
}

TEST_CASE("as many nodes as may be listed are listed") {
  const std::string text = answer_text("q", answer_of_many(kMostListed), {}, false);
  CHECK_THAT(text, Catch::Contains("\n  NODE  ") && Catch::Contains("\n  n119  "));
}

TEST_CASE("scores are a table of their own, without plugins that add nothing") {
  Answer answer{{{"a", kFits}, {"b", kFits}}, ""};
  answer.scores["a"] = {{"Idle", {0, 0}}, {"NodeAffinity", {5, 10}}, {"Spread", {100, 1'000}}};
  answer.scores["b"] = {{"Idle", {0, 0}}, {"NodeAffinity", {100, 2'000}}};
  CHECK(answer_text("q", answer, {}, false) ==
        "q: 2 of 2 nodes fit\n"
        "  NODE  VERDICT  PLUGIN  REASONS\n"
        "  a     Success  -       -\n"
        "  b     Success  -       -\n"
        "  BEST NODES  SCORE  NodeAffinity  Spread\n"
        "  b            2000          2000       0\n"
        "  a            1010            10    1000\n"
        "\n");
}

TEST_CASE("of many nodes the best are scored") {
  Answer answer;
  for (std::size_t i = 0; i < kMostListed + 1; ++i) {
    const std::string node = "n" + std::to_string(100 + i);
    answer.nodes[node] = kFits;
    const auto score = static_cast<std::int64_t>(i);
    answer.scores[node] = {{"Spread", {score, score}}};
  }
  const std::string text = answer_text("q", answer, {}, false);
  CHECK_THAT(text, Catch::Contains("\n  n120           20      20\n  n119 "));
  CHECK_THAT(text, Catch::EndsWith("\n  n101            1       1\n\n"));
}

TEST_CASE("a difference is ours beside kube-scheduler's, and nothing of it is cut") {
  const std::string long_message(300, 'x');
  const Comparison comparison{
      .agreements = 1,
      .differences = {{.where = "b", .given = "Success", .ours = "Unschedulable by NodePorts"},
                      {.where = "message", .given = "\"\"", .ours = '"' + long_message + '"'}}};
  const std::string padding(long_message.size() - 2, ' ');
  CHECK(answer_text("q", {{{"b", kShortOfCpu}}, ""}, comparison, true) ==
        "q: 0 of 1 node fit\n"
        "  Beside kube-scheduler: 1 agreement, 2 differences\n"
        "  WHERE    OURS" +
            padding +
            "  KUBE-SCHEDULER\n"
            "  b        Unschedulable by NodePorts" +
            padding.substr(22) +
            "  Success\n"
            "  message  \"" +
            long_message +
            "\"  \"\"\n"
            "\n");
}

TEST_CASE("an answer that agrees says so, and is nothing if only differences are asked for") {
  const Answer answer{{{"a", kFits}}, ""};
  const Comparison comparison{.agreements = 2};
  CHECK_THAT(answer_text("q", answer, comparison, false),
             Catch::EndsWith("  Beside kube-scheduler: 2 agreements, 0 differences\n\n"));
  CHECK(answer_text("q", answer, comparison, true).empty());
  CHECK(answer_text("q", answer, {}, true).empty());
}

TEST_CASE("an answer that is left out names the plugins that are missing") {
  const Comparison comparison{.missing_plugins = {"A", "B"}};
  CHECK_THAT(
      answer_text("q", {{{"a", kFits}}, ""}, comparison, false),
      Catch::EndsWith("\n  Beside kube-scheduler: left out, because not built here: A, B\n\n"));
}

TEST_CASE("the closing line counts cases") {
  CHECK(tally_text({.agree = 3, .differ = 1}) ==
        "Cases beside kube-scheduler: 3 agree, 1 differ, 0 left out\n");
  CHECK(tally_text({.agree = 3, .left_out = 2, .missing_plugins = {"A", "B"}}) ==
        "Cases beside kube-scheduler: 3 agree, 0 differ, 2 left out (not built here: A, B)\n");
}
