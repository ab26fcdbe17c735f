#include "plugins/support/pod_selector.h"

#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

using plugins::append_key;
using plugins::PodSelector;
using tests::label;
using tests::pod;
using tests::pods_like;

TEST_CASE("keys of different values are different, also one behind the other") {
  std::set<std::string> keys;
  std::size_t added = 0;
  const auto add = [&](const auto&... values) {
    std::string key;
    (append_key(key, values), ...);
    keys.insert(std::move(key));
    ++added;
  };
  const std::string empty;
  const std::string a = "a";
  const std::string aa = "aa";
  add(empty);
  add(a);
  add(a, a);
  add(aa);
  add(aa, a);
  add(a, aa);
  using Map = k8s::StringMap;
  add(Map{});
  add(Map{{"a", ""}});
  add(Map{{"", "a"}});
  add(Map{{"a", "b"}});
  add(Map{{"a", "b"}, {"c", "d"}});
  add(Map{{"a", "b"}}, Map{{"c", "d"}});
  using Requirements = std::vector<k8s::SelectorRequirement>;
  add(Requirements{});
  add(Requirements{label("a").exists()});
  add(Requirements{label("a").does_not_exist()});
  add(Requirements{label("a").in({})});
  add(Requirements{label("a").in({"b"})});
  add(Requirements{label("a").in({"b", "c"})});
  add(Requirements{label("a").in({"b"}), label("c").exists()});
  add(Requirements{label("a").in({"b"})}, Requirements{label("c").exists()});
  using Selector = std::optional<k8s::LabelSelector>;
  Selector by_expression = k8s::LabelSelector{};
  by_expression->match_expressions = {label("a").exists()};
  add(Selector());
  add(Selector(k8s::LabelSelector{}));
  add(Selector(tests::selector({{"a", "b"}})));
  add(by_expression);
  CHECK(keys.size() == added);
}

TEST_CASE("of long texts a digest is compared") {
  const std::string most(1'024, 'a');
  CHECK(plugins::digest_if_long(most) == most);
  const std::string digest = plugins::digest_if_long(most + "a");
  CHECK(digest.size() == 32);
  CHECK(digest == plugins::digest_if_long(most + "a"));
  CHECK(digest != plugins::digest_if_long(most + "b"));
}

TEST_CASE("which pods an affinity term selects") {
  const k8s::StringMap no_labels;
  const k8s::StringMap team_a{{"team", "a"}};
  const auto given = [](const char* name_space, const char* app) -> k8s::Pod {
    return pod("p").in_namespace(name_space).labelled("app", app);
  };
  const PodSelector own(pods_like({{"app", "x"}}, "zone"), "ml");
  CHECK(own.namespaces() == std::vector<std::string>{"ml"});
  CHECK_FALSE(own.reads_namespaces());
  CHECK(own.selects(given("ml", "x"), no_labels));
  CHECK_FALSE(own.selects(given("ml", "y"), no_labels));
  CHECK_FALSE(own.selects(given("web", "x"), no_labels));

  k8s::PodAffinityTerm term = pods_like({{"app", "x"}}, "zone");
  term.namespaces = {"z", "b"};
  const PodSelector named(term, "ml");
  CHECK(named.namespaces() == std::vector<std::string>{"b", "z"});
  CHECK(named.selects(given("b", "x"), no_labels));
  CHECK(named.selects(given("z", "x"), no_labels));
  CHECK_FALSE(named.selects(given("ml", "x"), no_labels));

  term.namespaces.clear();
  term.namespace_selector = tests::selector({{"team", "a"}});
  const PodSelector by_labels(term, "ml");
  CHECK(by_labels.namespaces().empty());
  CHECK(by_labels.reads_namespaces());
  CHECK(by_labels.selects(given("web", "x"), team_a));
  CHECK_FALSE(by_labels.selects(given("web", "x"), no_labels));
  CHECK_FALSE(by_labels.selects(given("ml", "x"), no_labels));
  CHECK_FALSE(by_labels.selects_for_its_pod("web", {{"app", "x"}}, no_labels));

  // What a namespace without labels matches, every namespace does for the pod with the term.
  term.namespace_selector = k8s::LabelSelector{};
  term.namespace_selector->match_expressions = {label("team").not_in({"a"})};
  const PodSelector other_teams(term, "ml");
  CHECK_FALSE(other_teams.selects(given("web", "x"), team_a));
  CHECK(other_teams.selects_for_its_pod("web", {{"app", "x"}}, team_a));
  CHECK_FALSE(other_teams.selects_for_its_pod("web", {{"app", "y"}}, team_a));

  term.label_selector.reset();
  const PodSelector nobody(term, "ml");
  CHECK_FALSE(nobody.selects(given("web", "x"), no_labels));

  CHECK(own == PodSelector(pods_like({{"app", "x"}}, "host"), "ml"));  // by what it selects
  std::set<std::string> keys;
  for (const PodSelector* each : {&own, &named, &by_labels, &other_teams, &nobody}) {
    keys.insert(each->key());
  }
  CHECK(keys.size() == 5);
}
