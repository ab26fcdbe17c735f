#include "plugins/node_affinity/required_nodes.h"
#include "plugins/node_affinity/terms.h"
#include "tests/plugins/one_node.h"
#include "tests/support/catch.h"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

using tests::Answer;
using tests::label;
using tests::make_plugin;
using tests::named;
using tests::node;
using tests::OneNode;
using tests::pod;
using tests::term;

namespace {

const Answer kNo = tests::unresolvable({"node(s) didn't match Pod's node affinity/selector"});
const Answer kNotAsked = tests::unresolvable({});

k8s::Pod requiring(std::vector<k8s::NodeSelectorTerm> terms) {
  return pod("a").requires_nodes(std::move(terms));
}

}  // namespace

TEST_CASE("NodeAffinity: the pod's selector and required terms") {
  struct Case {
    const char* name;
    k8s::Pod given;
    Answer want;
  };
  const auto exists = label("zone").exists();
  k8s::SelectorRequirement exists_with_value = exists;
  exists_with_value.values = {"a"};
  k8s::SelectorRequirement unknown = exists;
  unknown.op = k8s::SelectorOperator::kUnknown;
  const std::vector<Case> cases = {
      {"nothing asked for", pod("a"), tests::kFits},
      {"selected", pod("a").selects("zone", "a"), tests::kFits},
      {"another value", pod("a").selects("zone", "b"), kNo},
      {"no such label", pod("a").selects("rack", "1"), kNo},
      {"no terms match nothing", requiring({}), kNo},
      {"an empty term matches nothing", requiring({term({})}), kNo},
      {"an empty term beside one that matches", requiring({term({}), term({exists})}),
       tests::kFits},
      {"terms are alternatives", requiring({term({label("rack").exists()}), term({exists})}),
       tests::kFits},
      {"a term needs all it says", requiring({term({exists, label("rack").exists()})}), kNo},
      {"selector and terms together",
       pod("a").selects("zone", "b").requires_nodes({term({exists})}), kNo},
      {"In", requiring({term({label("zone").in({"x", "a"})})}), tests::kFits},
      {"In without values", requiring({term({label("zone").in({})})}), kNo},
      {"NotIn", requiring({term({label("zone").not_in({"a"})})}), kNo},
      {"NotIn an absent label", requiring({term({label("rack").not_in({"a"})})}), tests::kFits},
      {"NotIn without values", requiring({term({label("zone").not_in({})})}), kNo},
      {"DoesNotExist", requiring({term({label("rack").does_not_exist()})}), tests::kFits},
      {"DoesNotExist, but does", requiring({term({label("zone").does_not_exist()})}), kNo},
      {"Gt", requiring({term({label("gpus").greater_than("7")})}), tests::kFits},
      {"Gt of the same", requiring({term({label("gpus").greater_than("8")})}), kNo},
      {"Lt", requiring({term({label("gpus").less_than("9")})}), tests::kFits},
      {"Lt of an integer that no label can have",
       requiring({term({label("gpus").less_than("+9")})}), kNo},
      {"Lt of an absent label", requiring({term({label("rack").less_than("9")})}), kNo},
      {"Lt of text", requiring({term({label("zone").less_than("9")})}), kNo},
      {"Gt than text", requiring({term({label("gpus").greater_than("x")})}), kNo},
      {"an operator nobody knows", requiring({term({unknown})}), kNo},
      {"Exists with a value cannot be read", requiring({term({exists_with_value})}), kNo},
      {"a value that no label can have makes the term unreadable",
       requiring({term({label("rack").not_in({"a value"})})}), kNo},
      {"a key that no label can have", requiring({term({label("a/b/c").does_not_exist()})}), kNo},
      {"an unreadable term beside one that matches",
       requiring({term({label("rack").not_in({"a value"})}), term({exists})}), tests::kFits},
      {"by name", requiring({named({"n"})}), tests::kFits},
      {"by another name", requiring({named({"m"})}), kNotAsked},
      {"not by name", requiring({term({}, {label("metadata.name").not_in({"n"})})}), kNo},
      {"not by another name", requiring({term({}, {label("metadata.name").not_in({"m"})})}),
       tests::kFits},
      {"by two names, which cannot be read, but narrows", requiring({named({"n", "m"})}), kNo},
      {"a field that nodes do not have", requiring({term({}, {label("spec.x").in({"n"})})}), kNo},
      {"a name and a label",
       requiring({term({label("rack").exists()}, {label("metadata.name").in({"n"})})}), kNo},
      {"names that exclude each other",
       requiring({term({}, {label("metadata.name").in({"n"}), label("metadata.name").in({"m"})})}),
       tests::unresolvable({"pod affinity terms conflict"})},
      {"a term without names: every node is asked", requiring({named({"m"}), term({exists})}),
       tests::kFits},
  };
  const auto made = make_plugin("NodeAffinity");
  REQUIRE(made);
  OneNode asked(node("n").labelled("zone", "a").labelled("gpus", "8"));
  for (const Case& each : cases) {
    INFO(each.name);
    CHECK(asked.ask(*made->filter, each.given) == each.want);
  }
}

TEST_CASE("NodeAffinity narrows to the names that all terms give") {
  using NarrowedTo = std::optional<std::vector<std::string>>;
  const auto narrowed = [](std::vector<k8s::NodeSelectorTerm> terms) {
    return plugins::named_nodes({std::move(terms)});
  };
  CHECK(narrowed({}) == NarrowedTo());
  CHECK(narrowed({named({"b"}), named({"a"}), named({"b"})}) == NarrowedTo({"a", "b"}));
  CHECK(narrowed({named({"a"}), term({label("x").exists()})}) == NarrowedTo());
  CHECK(narrowed({term({}, {label("metadata.name").in({"a", "b"}),
                            label("metadata.name").in({"b", "c"})})}) == NarrowedTo({"b"}));
  CHECK(narrowed({term({}, {label("metadata.name").not_in({"a"})})}) == NarrowedTo());
}

TEST_CASE("NodeAffinity adds up the preferred terms that match") {
  const auto made = make_plugin("NodeAffinity");
  REQUIRE(made);
  CHECK(made->score->normalisation() == sched::Normalisation::kMax);
  OneNode asked(node("n").labelled("zone", "a"));
  const auto zone = term({label("zone").in({"a"})});
  const auto rack = term({label("rack").exists()});
  CHECK(asked.score(*made->score, pod("a")) == -1);
  CHECK(asked.score(*made->score, pod("a").prefers_nodes(3, zone).prefers_nodes(4, zone)) == 7);
  CHECK(asked.score(*made->score, pod("a").prefers_nodes(3, zone).prefers_nodes(4, rack)) == 3);
  CHECK(asked.score(*made->score, pod("a").prefers_nodes(3, term({})).prefers_nodes(4, rack)) == 0);
  CHECK(asked.score(*made->score, pod("a").prefers_nodes(3, named({"n"}))) == 3);
  // What cannot add anything is no preference.
  CHECK(asked.score(*made->score, pod("a").prefers_nodes(0, zone)) == -1);
  CHECK(asked.score(*made->score, pod("a").prefers_nodes(3, term({}))) == -1);
  CHECK(asked.score(*made->score, pod("a").prefers_nodes(3, term({label("zone").in({})}))) == -1);
}

TEST_CASE("NodeAffinity says why a term cannot be read") {
  struct Case {
    k8s::NodeSelectorTerm given;
    std::optional<std::string> want;
  };
  k8s::SelectorRequirement several = label("gpus").greater_than("1");
  several.values.emplace_back("2");
  k8s::SelectorRequirement absent = label("zone").does_not_exist();
  absent.values = {"a"};
  k8s::SelectorRequirement unknown = label("zone").exists();
  unknown.op = k8s::SelectorOperator::kUnknown;
  const std::vector<Case> cases = {
      {term({label("zone").in({"a", "b"}), label("gpus").less_than("9")}), std::nullopt},
      {term({label("a b").exists()}), "'a b' is not a label's name"},
      {term({label("zone").not_in({})}), "'zone' needs at least one value"},
      {term({absent}), "'zone' takes no values"},
      {term({several}), "'gpus' needs exactly one value"},
      {term({label("gpus").less_than("x")}), "'gpus' needs an integer"},
      {term({label("gpus").less_than("+-9")}), "'gpus' needs an integer"},
      {term({label("gpus").less_than("+9")}), "'gpus' cannot be compared with '+9'"},
      {term({label("zone").exists(), label("rack").in({"a", "b c"})}),
       "'rack' cannot be compared with 'b c'"},
      {term({unknown}), "'zone' has an unknown operator"},
      {term({}, {label("metadata.name").exists()}),
       "'metadata.name' takes only the operators In and NotIn"},
      {term({}, {label("metadata.name").not_in({"a", "b"})}),
       "'metadata.name' needs exactly one value"},
      {term({}, {label("metadata.name").not_in({"a"})}), std::nullopt},
  };
  for (const Case& each : cases) {
    INFO(each.want.value_or("nothing"));
    CHECK(plugins::problem_of(each.given) == each.want);
  }
}

TEST_CASE("NodeAffinity: the text of what is required is equal exactly if that is") {
  const auto text = [](const k8s::Pod& given) { return plugins::RequiredNodes(given.spec).text(); };
  const auto exists = label("zone").exists();
  const std::vector<k8s::Pod> different = {
      pod("a"),
      pod("a").selects("a", "b"),
      pod("a").selects("a", "b").selects("c", "d"),
      requiring({}),
      requiring({term({exists})}),
      requiring({term({exists, label("rack").exists()})}),
      requiring({term({exists}), term({label("rack").exists()})}),
      requiring({term({label("zone").does_not_exist()})}),
      requiring({term({label("zone").in({"a"})})}),
      requiring({term({label("zone").in({"a", "b"})})}),
      requiring({named({"n"})}),
      requiring({named({"m"})}),
      requiring({term({exists}, {label("metadata.name").in({"n"})})}),
      pod("a").selects("a", "b").requires_nodes({term({exists})}),
  };
  std::set<std::string> texts;
  for (const k8s::Pod& each : different) {
    texts.insert(text(each));
    k8s::Pod other = each;
    other.metadata.name = "b";
    CHECK(text(other) == text(each));
  }
  CHECK(texts.size() == different.size());
}

TEST_CASE("NodeAffinity tells which labels no node has") {
  const auto made = make_plugin("NodeAffinity");
  REQUIRE(made);
  sched::ResourceNames names;
  const sched::NodeFacts nodes[] = {
      sched::facts_of(node("n").labelled("zone", "a").labelled("rack", "1"), names),
      sched::facts_of(node("m").labelled("zone", "b"), names)};
  const auto told = [&](const k8s::Pod& given) -> std::optional<std::string> {
    const auto prepared = made->filter->prepare(sched::shape_of(given, names), {names});
    REQUIRE(prepared.filter);
    const auto survey = prepared.filter->survey();
    if (!survey) return std::nullopt;
    for (const sched::NodeFacts& facts : nodes) survey->add({facts, {}}, {});
    return survey->text();
  };
  CHECK(told(pod("a").selects("zone", "c")) ==
        "No node has the label zone=c; the nearest are a, b.");
  CHECK(told(pod("a").selects("zone", "b")) == "");
  CHECK(told(requiring({term({label("zone").in({"x", "a"})})})) == "");
  CHECK(told(requiring({term({label("zone").in({"x", "y"}), label("rack").in({"1"})})})) ==
        "No node has the label zone=x; the nearest are a, b.");
  CHECK(told(pod("a").selects("zine", "a")) == "No node has a label zine; is zone meant?");
  CHECK(told(pod("a").selects("zebra-crossing", "a")) == "No node has a label zebra-crossing.");
  // Alternatives, and what is no list of values, are not looked at; nor is a fifth label.
  CHECK(told(requiring({term({label("x").in({"1"})}), term({label("y").in({"1"})})})) ==
        std::nullopt);
  CHECK(told(requiring({term({label("x").exists(), label("zone").not_in({"a", "b"})})})) ==
        std::nullopt);
  CHECK(told(requiring({term({label("q1").in({"1"}), label("q2").in({"1"}), label("q3").in({"1"}),
                              label("zone").in({"a"}), label("q5").in({"1"})})})) ==
        "No node has a label q1. No node has a label q2. No node has a label q3.");
  CHECK(
      told(pod("a").selects("q1", "").selects("q2", "").selects("q3", "").selects("q4", "").selects(
          "q5", "")) ==
      "No node has a label q1. No node has a label q2. No node has a label q3. No node has a "
      "label q4.");
}

TEST_CASE("NodeAffinity: addedAffinity comes first, owns nodes and adds to scores") {
  const auto made = make_plugin("NodeAffinity", R"(
kind: NodeAffinityArgs
apiVersion: kubescheduler.config.k8s.io/v1
addedAffinity:
  requiredDuringSchedulingIgnoredDuringExecution:
    nodeSelectorTerms:
    - matchExpressions:
      - {key: pool, operator: In, values: [gpu]}
  preferredDuringSchedulingIgnoredDuringExecution:
  - weight: 5
    preference:
      matchExpressions:
      - {key: zone, operator: Exists}
)");
  REQUIRE(made);
  OneNode owned(node("n").labelled("pool", "gpu").labelled("zone", "a"));
  OneNode foreign(node("n").labelled("zone", "a"));
  const Answer enforced =
      tests::unresolvable({"node(s) didn't match scheduler-enforced node affinity"});
  CHECK(owned.ask(*made->filter, pod("a")) == tests::kFits);
  CHECK(foreign.ask(*made->filter, pod("a")) == enforced);
  CHECK(foreign.ask(*made->filter, pod("a").selects("zone", "b")) == enforced);
  CHECK(owned.ask(*made->filter, pod("a").selects("zone", "b")) == kNo);
  CHECK(owned.score(*made->score, pod("a")) == 5);

  sched::ResourceNames names;
  CHECK(made->filter->owns(sched::facts_of(node("n").labelled("pool", "gpu"), names)));
  CHECK_FALSE(made->filter->owns(sched::facts_of(node("n"), names)));
  const auto plain = make_plugin("NodeAffinity");
  REQUIRE(plain);
  CHECK_FALSE(plain->filter->owns(sched::facts_of(node("n"), names)));
}

TEST_CASE("NodeAffinity reads every operator of addedAffinity") {
  struct Case {
    const char* requirement;
    bool takes;  // the node
  };
  const std::vector<Case> cases = {
      {"matchExpressions: [{key: zone, operator: In, values: [a, b]}]", true},
      {"matchExpressions: [{key: zone, operator: In, values: [b]}]", false},
      {"matchExpressions: [{key: zone, operator: NotIn, values: [b]}]", true},
      {"matchExpressions: [{key: zone, operator: NotIn, values: [a]}]", false},
      {"matchExpressions: [{key: zone, operator: Exists}]", true},
      {"matchExpressions: [{key: rack, operator: Exists}]", false},
      {"matchExpressions: [{key: rack, operator: DoesNotExist}]", true},
      {"matchExpressions: [{key: zone, operator: DoesNotExist}]", false},
      {"matchExpressions: [{key: gpus, operator: Gt, values: ['7']}]", true},
      {"matchExpressions: [{key: gpus, operator: Gt, values: ['8']}]", false},
      {"matchExpressions: [{key: gpus, operator: Lt, values: ['9']}]", true},
      {"matchExpressions: [{key: gpus, operator: Lt, values: ['8']}]", false},
      {"matchFields: [{key: metadata.name, operator: In, values: [host]}]", true},
      {"matchFields: [{key: metadata.name, operator: In, values: [other]}]", false},
  };
  OneNode asked(node("host").labelled("zone", "a").labelled("gpus", "8"));
  for (const Case& each : cases) {
    INFO(each.requirement);
    const std::string one = std::string("{") + each.requirement + "}";
    const auto requires_it = make_plugin(
        "NodeAffinity",
        "addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [" +
            one + "]}}");
    REQUIRE(requires_it);
    CHECK((asked.ask(*requires_it->filter, pod("a")) == tests::kFits) == each.takes);
    const auto prefers_it = make_plugin(
        "NodeAffinity",
        "addedAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 100, "
        "preference: " +
            one + "}]}");
    REQUIRE(prefers_it);
    CHECK(asked.score(*prefers_it->score, pod("a")) == (each.takes ? 100 : 0));
    CHECK(asked.ask(*prefers_it->filter, pod("a")) == tests::kFits);
  }
}

TEST_CASE("NodeAffinity: arguments that no API server would take") {
  struct Case {
    const char* args;
    const char* complaint;
  };
  const std::vector<Case> cases = {
      {"addedAffinty: {}", "addedAffinty"},
      {"kind: NodePortsArgs", "NodeAffinityArgs"},
      {"addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {}}",
       "needs at least one term"},
      {"addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
       "[{matchExpressions: [{key: a, operator: Like}]}]}}",
       "NotIn"},
      {"addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
       "[{matchExpressions: [{key: a, operator: In}]}]}}",
       "needs at least one value"},
      {"addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
       "[{matchExpressions: [{key: a}]}]}}",
       "is missing"},
      {"addedAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{preference: {}}]}",
       "weight"},
      {"addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{}]}}",
       "nodeSelectorTerms[0]: needs matchExpressions or matchFields"},
      {"addedAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1}]}",
       "preference: is missing: the nodes that get the weight"},
      {"addedAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: "
       "{matchExpressions: []}}]}",
       "preference: needs matchExpressions or matchFields"},
      {"addedAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 101}]}",
       "weight"},
      {"addedAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 0}]}", "weight"},
  };
  for (const Case& each : cases) {
    INFO(each.args);
    const auto made = make_plugin("NodeAffinity", each.args);
    REQUIRE_FALSE(made);
    CHECK_THAT(made.error().message, Catch::Contains(each.complaint));
    CHECK_THAT(made.error().message, Catch::StartsWith("args.yaml:1: "));
  }
}
