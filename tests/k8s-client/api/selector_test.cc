#include "k8s-client/api/selector.h"

#include "tests/support/catch.h"

#include <string>
#include <vector>

namespace k8s {
namespace {

using Op = SelectorOperator;
const StringMap kLabels{{"gpu", "a100"}, {"count", "8"}, {"text", "eight"}, {"empty", ""}};

TEST_CASE("A requirement matches labels", "[selector]") {
  struct Case {
    std::string name;
    SelectorRequirement given;
    bool want;
  };
  const std::vector<Case> cases = {
      {"In, among the values", {"gpu", Op::kIn, {"h100", "a100"}}, true},
      {"In, not among them", {"gpu", Op::kIn, {"h100"}}, false},
      {"In, label absent", {"none", Op::kIn, {"a100"}}, false},
      {"In, no values", {"gpu", Op::kIn, {}}, false},
      {"In, the empty value", {"empty", Op::kIn, {""}}, true},
      {"NotIn, among the values", {"gpu", Op::kNotIn, {"a100"}}, false},
      {"NotIn, not among them", {"gpu", Op::kNotIn, {"h100"}}, true},
      {"NotIn, label absent", {"none", Op::kNotIn, {"a100"}}, true},
      {"NotIn, no values", {"gpu", Op::kNotIn, {}}, false},
      {"Exists", {"empty", Op::kExists, {}}, true},
      {"Exists, label absent", {"none", Op::kExists, {}}, false},
      {"DoesNotExist", {"gpu", Op::kDoesNotExist, {}}, false},
      {"DoesNotExist, label absent", {"none", Op::kDoesNotExist, {}}, true},
      {"Gt", {"count", Op::kGt, {"7"}}, true},
      {"Gt, equal", {"count", Op::kGt, {"8"}}, false},
      {"Gt, with a plus", {"count", Op::kGt, {"+7"}}, true},
      {"Gt, negative", {"count", Op::kGt, {"-1"}}, true},
      {"Lt", {"count", Op::kLt, {"9"}}, true},
      {"Lt, equal", {"count", Op::kLt, {"8"}}, false},
      {"Gt, label absent", {"none", Op::kGt, {"7"}}, false},
      {"Gt, label no integer", {"text", Op::kGt, {"7"}}, false},
      {"Gt, value no integer", {"count", Op::kGt, {"7.5"}}, false},
      {"Gt, value with two signs", {"count", Op::kGt, {"+-7"}}, false},
      {"Gt, value beyond 64 bits", {"count", Op::kLt, {"9223372036854775808"}}, false},
      {"Gt, two values", {"count", Op::kGt, {"1", "2"}}, false},
      {"Lt, no value", {"count", Op::kLt, {}}, false},
      {"an operator unknown here", {"gpu", Op::kUnknown, {"a100"}}, false},
  };
  for (const auto& c : cases) {
    CAPTURE(c.name);
    CHECK(c.given.matches(kLabels) == c.want);
  }
}

TEST_CASE("A label selector is valid if Kubernetes could make one of it", "[selector]") {
  struct Case {
    std::string name;
    std::vector<SelectorRequirement> given;
    bool want;
  };
  const std::vector<Case> cases = {
      {"no expressions", {}, true},
      {"one of each",
       {{"a", Op::kIn, {"b"}},
        {"a", Op::kNotIn, {"b", "c"}},
        {"a", Op::kExists, {}},
        {"a", Op::kDoesNotExist, {}}},
       true},
      {"In without values", {{"a", Op::kIn, {}}}, false},
      {"NotIn without values", {{"a", Op::kExists, {}}, {"a", Op::kNotIn, {}}}, false},
      {"Exists with a value", {{"a", Op::kExists, {"b"}}}, false},
      {"DoesNotExist with a value", {{"a", Op::kDoesNotExist, {"b"}}}, false},
      {"an operator for nodes alone", {{"a", Op::kGt, {"1"}}}, false},
      {"an operator unknown here", {{"a", Op::kUnknown, {"b"}}}, false},
  };
  for (const auto& c : cases) {
    CAPTURE(c.name);
    CHECK(LabelSelector{.match_labels = {}, .match_expressions = c.given}.is_valid() == c.want);
  }
}

TEST_CASE("A label selector needs its labels and its expressions", "[selector]") {
  CHECK(LabelSelector{}.matches({}));
  CHECK(LabelSelector{{{"gpu", "a100"}}, {}}.matches(kLabels));
  CHECK_FALSE(LabelSelector{{{"gpu", "h100"}}, {}}.matches(kLabels));
  CHECK_FALSE(LabelSelector{{{"none", ""}}, {}}.matches(kLabels));
  CHECK(LabelSelector{{{"gpu", "a100"}}, {{"count", Op::kExists, {}}}}.matches(kLabels));
  CHECK_FALSE(LabelSelector{{{"gpu", "a100"}}, {{"none", Op::kExists, {}}}}.matches(kLabels));
}

TEST_CASE("A node selector term needs all of its requirements, and at least one", "[selector]") {
  const SelectorRequirement a100{"gpu", Op::kIn, {"a100"}};
  const auto field = [](Op op, std::vector<std::string> values) {
    return NodeSelectorTerm{{}, {{"metadata.name", op, std::move(values)}}};
  };
  CHECK_FALSE(NodeSelectorTerm{}.matches("n1", kLabels));
  CHECK(NodeSelectorTerm{{a100}, {}}.matches("n1", kLabels));
  CHECK(field(Op::kIn, {"n1"}).matches("n1", {}));
  CHECK_FALSE(field(Op::kIn, {"n2"}).matches("n1", {}));
  CHECK_FALSE(field(Op::kIn, {"n1", "n2"}).matches("n1", {}));
  CHECK(field(Op::kNotIn, {"n2"}).matches("n1", {}));
  CHECK_FALSE(field(Op::kNotIn, {"n1"}).matches("n1", {}));
  CHECK_FALSE(field(Op::kExists, {}).matches("n1", {}));
  CHECK_FALSE(NodeSelectorTerm{{}, {{"spec.x", Op::kNotIn, {"n2"}}}}.matches("n1", {}));
  NodeSelectorTerm both{{a100}, {{"metadata.name", Op::kIn, {"n2"}}}};
  CHECK_FALSE(both.matches("n1", kLabels));
  CHECK(both.matches("n2", kLabels));
  // Without a name, labels alone count.
  CHECK(both.matches({}, kLabels));
  CHECK_FALSE(both.matches({}, {}));
  CHECK(field(Op::kIn, {"n1"}).matches({}, {}));
}

TEST_CASE("A node selector needs one of its terms", "[selector]") {
  const NodeSelectorTerm yes{{{"gpu", Op::kExists, {}}}, {}};
  const NodeSelectorTerm no{{{"none", Op::kExists, {}}}, {}};
  CHECK_FALSE(NodeSelector{}.matches("n", kLabels));
  CHECK(NodeSelector{{no, yes}}.matches("n", kLabels));
  CHECK_FALSE(NodeSelector{{no, {}}}.matches("n", kLabels));
}

}  // namespace
}  // namespace k8s
