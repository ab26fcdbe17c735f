#include "plugins/node_affinity/terms.h"
#include "tests/plugins/one_node.h"
#include "tests/support/catch.h"

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
      {"addedAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 101}]}",
       "weight"},
  };
  for (const Case& each : cases) {
    INFO(each.args);
    const auto made = make_plugin("NodeAffinity", each.args);
    REQUIRE_FALSE(made);
    CHECK_THAT(made.error().message, Catch::Contains(each.complaint));
    CHECK_THAT(made.error().message, Catch::StartsWith("args.yaml:1: "));
  }
}
