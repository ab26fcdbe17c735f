// Which of several victims are more than their budgets let go.
#include "scheduler/engine/world/disruption_budgets.h"

#include "tests/support/catch.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace sched;

namespace {

using Op = k8s::SelectorOperator;

constexpr const char* kNs = "ns";

k8s::LabelSelector labelled(const std::string& key, const std::string& value) {
  return {.match_labels = {{key, value}}, .match_expressions = {}};
}

k8s::PodDisruptionBudget budget(const std::string& name, std::optional<k8s::LabelSelector> selector,
                                std::int32_t allowed, std::vector<std::string> disrupted = {}) {
  k8s::PodDisruptionBudget made{.metadata = {},
                                .selector = std::move(selector),
                                .disruptions_allowed = allowed,
                                .disrupted_pods = std::move(disrupted)};
  made.metadata.namespace_ = kNs;
  made.metadata.name = name;
  return made;
}

k8s::PodDisruptionBudget at_version(k8s::PodDisruptionBudget made, const std::string& version) {
  made.metadata.resource_version = version;
  return made;
}

struct Victim {
  std::string name;
  k8s::StringMap labels;
  std::string namespace_ = kNs;
};

// Victims as the budgets are asked about them.
class Victims {
 public:
  explicit Victims(std::vector<Victim> victims) : victims_(std::move(victims)) {
    for (const Victim& victim : victims_) {
      classes_.push_back({.namespace_ = victim.namespace_,
                          .labels = victim.labels,
                          .affinity = {},
                          .anti_affinity = {},
                          .spread = {}});
    }
  }
  [[nodiscard]] DisruptionBudgets::Pod operator[](std::size_t i) const {
    return {.pod_class = classes_[i], .name = victims_[i].name};
  }
  // The names of those that violate a budget, with a space behind each.
  [[nodiscard]] std::string violating(const DisruptionBudgets& budgets) const {
    std::vector<DisruptionBudgets::Pod> pods;
    for (std::size_t i = 0; i < victims_.size(); ++i) pods.push_back((*this)[i]);
    const std::vector<bool> violated = budgets.violated_by(pods).by;
    REQUIRE(violated.size() == victims_.size());
    std::string names;
    for (std::size_t i = 0; i < victims_.size(); ++i) {
      if (violated[i]) names += victims_[i].name + " ";
    }
    return names;
  }

 private:
  std::vector<Victim> victims_;
  std::vector<PodClass> classes_;
};

const k8s::StringMap kWeb{{"app", "web"}};
const k8s::StringMap kWebInA{{"app", "web"}, {"zone", "a"}};

Victims three_web_pods() { return Victims({{"w0", kWeb}, {"w1", kWeb}, {"w2", kWeb}}); }

}  // namespace

TEST_CASE("victims violate a budget from the first one that it does not let go") {
  struct Case {
    std::string name;
    std::vector<k8s::PodDisruptionBudget> budgets;
    std::vector<Victim> victims;  // the most important first
    std::string want;
  };
  const std::vector<Victim> web = {{"w0", kWeb}, {"w1", kWeb}, {"w2", kWeb}};
  const auto app_web = labelled("app", "web");
  const std::vector<Case> cases = {
      {"no budget", {}, web, ""},
      {"no victim", {budget("b", app_web, 0)}, {}, ""},
      {"none is left", {budget("b", app_web, 0)}, web, "w0 w1 w2 "},
      {"the most important ones are within it", {budget("b", app_web, 2)}, web, "w2 "},
      {"as many are left as go", {budget("b", app_web, 3)}, web, ""},
      {"more are gone already than it allows", {budget("b", app_web, -1)}, web, "w0 w1 w2 "},
      {"the least that a number can be", {budget("b", app_web, INT32_MIN)}, web, "w0 w1 w2 "},
      {"of other pods", {budget("b", labelled("app", "db"), 0)}, web, ""},
      {"others between take nothing",
       {budget("b", app_web, 1)},
       {{"w0", kWeb}, {"d0", {{"app", "db"}}}, {"w1", kWeb}},
       "w1 "},
      {"of another namespace", {budget("b", app_web, 0)}, {{"w0", kWeb, "other"}}, ""},
      {"two budgets, one of which is used up",
       {budget("all", app_web, 3), budget("in-a", labelled("zone", "a"), 1)},
       {{"w0", kWebInA}, {"w1", kWeb}, {"w2", kWebInA}},
       "w2 "},
      {"a victim that violates one takes from the other, too",
       {budget("all", app_web, 1), budget("in-a", labelled("zone", "a"), 0)},
       {{"w0", kWebInA}, {"w1", kWeb}},
       "w0 w1 "},
      {"two of the same pods, with different numbers",
       {budget("a", app_web, 2), budget("b", app_web, 1)},
       web,
       "w1 w2 "},
      {"a victim that it counts already", {budget("b", app_web, 0, {"w1"})}, web, "w0 w2 "},
      {"and which takes nothing", {budget("b", app_web, 1, {"w0"})}, web, "w2 "},
      {"that it counts already, but another does not",
       {budget("a", app_web, 0, {"w0", "w1", "w2"}), budget("b", app_web, 2)},
       web,
       "w2 "},
      {"no labels",
       {budget("b", k8s::LabelSelector{{}, {{"app", Op::kDoesNotExist, {}}}}, 0)},
       {{"bare", {}}, {"d0", {{"tier", "db"}}}},
       "bare d0 "},
      {"no selector", {budget("b", std::nullopt, 0)}, web, ""},
      {"an empty selector", {budget("b", k8s::LabelSelector(), 2)}, web, "w2 "},
      {"an invalid selector",
       {budget("b", k8s::LabelSelector{{}, {{"app", Op::kExists, {"web"}}}}, 0)},
       web,
       ""},
      {"an operator unknown here",
       {budget("b", k8s::LabelSelector{{{"app", "web"}}, {{"app", Op::kUnknown, {}}}}, 0)},
       web,
       ""},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    DisruptionBudgets budgets;
    for (const k8s::PodDisruptionBudget& each : c.budgets) budgets.upsert(each);
    const Victims victims(c.victims);
    CHECK(victims.violating(budgets) == c.want);
    CHECK(victims.violating(budgets) == c.want);  // asking changes nothing
  }
}

TEST_CASE("budgets come, change and go") {
  DisruptionBudgets budgets;
  const Victims web = three_web_pods();
  const auto app_web = labelled("app", "web");
  budgets.upsert(budget("b", app_web, 1));
  CHECK(web.violating(budgets) == "w1 w2 ");
  budgets.upsert(budget("b", app_web, 2));
  CHECK(web.violating(budgets) == "w2 ");
  budgets.upsert(budget("c", app_web, 0));
  CHECK(web.violating(budgets) == "w0 w1 w2 ");
  budgets.erase("other", "c");
  budgets.erase(kNs, "d");
  CHECK(web.violating(budgets) == "w0 w1 w2 ");
  budgets.erase(kNs, "c");
  CHECK(web.violating(budgets) == "w2 ");
  budgets.upsert(budget("b", std::nullopt, 0));  // covers no pod any more
  CHECK(web.violating(budgets).empty());
  budgets.upsert(budget("b", app_web, 1));
  budgets.erase(kNs, "b");
  CHECK(web.violating(budgets).empty());
}

TEST_CASE("a pod that is being evicted takes one from its budgets, whatever their versions say") {
  DisruptionBudgets budgets;
  const Victims web = three_web_pods();
  const Victims others({{"w0", kWeb, "other"}, {"bare", {}}, {"d0", {{"app", "db"}}}});
  const auto app_web = labelled("app", "web");
  const auto first = at_version(budget("b", app_web, 2), "1");
  budgets.upsert(first);
  for (std::size_t i = 0; i < 3; ++i) budgets.evicted(others[i]);
  CHECK(web.violating(budgets) == "w2 ");

  budgets.evicted(web[2]);
  CHECK(web.violating(budgets) == "w1 ");  // w2 is counted already
  budgets.evicted(web[2]);
  CHECK(web.violating(budgets) == "w1 ");
  budgets.evicted(web[0]);
  CHECK(web.violating(budgets) == "w1 ");
  budgets.upsert(first);  // the same again is no news
  CHECK(web.violating(budgets) == "w1 ");
  budgets.evicted(web[1]);  // although none was left
  CHECK(web.violating(budgets).empty());
  CHECK(Victims({{"w3", kWeb}}).violating(budgets) == "w3 ");

  // Whether the controller has counted them by now is not known.
  budgets.upsert(at_version(budget("b", app_web, 4), "2"));
  const Victims more({{"w3", kWeb}, {"w4", kWeb}});
  CHECK(more.violating(budgets) == "w4 ");
  // It has by the time they are gone.
  budgets.gone(web[0]);
  CHECK(more.violating(budgets).empty());
  // The budget counts that pod as the server says from now on.
  budgets.upsert(at_version(budget("b", app_web, 1, {"w1", "w9"}), "3"));
  CHECK(Victims({{"w2", kWeb}, {"w3", kWeb}}).violating(budgets) == "w3 ");  // w2 is evicted
  budgets.gone(web[1]);
  CHECK(Victims({{"w1", kWeb}, {"w3", kWeb}}).violating(budgets) == "w3 ");
}

TEST_CASE("a pod that is gone before its budget has a new version is counted until then") {
  DisruptionBudgets budgets;
  const Victims web = three_web_pods();
  const Victims next({{"w3", kWeb}});
  const auto app_web = labelled("app", "web");
  budgets.upsert(at_version(budget("b", app_web, 1), "1"));
  budgets.evicted(web[0]);
  budgets.gone(web[0]);
  CHECK(next.violating(budgets) == "w3 ");
  budgets.upsert(at_version(budget("b", app_web, 1), "2"));
  CHECK(next.violating(budgets).empty());
}

TEST_CASE("a budget that comes later counts what is being evicted") {
  DisruptionBudgets budgets;
  const Victims web = three_web_pods();
  budgets.evicted(web[0]);
  budgets.upsert(at_version(budget("b", labelled("app", "web"), 1), "1"));
  CHECK(web.violating(budgets) == "w1 w2 ");
  budgets.erase(kNs, "b");
  budgets.upsert(at_version(budget("b", labelled("app", "web"), 1), "2"));
  CHECK(web.violating(budgets) == "w1 w2 ");
}

TEST_CASE("a pod that is not evicted after all takes nothing") {
  DisruptionBudgets budgets;
  const Victims web = three_web_pods();
  const auto app_web = labelled("app", "web");
  budgets.upsert(at_version(budget("b", app_web, 2), "1"));
  budgets.evicted(web[0]);
  budgets.stays(web[0]);
  CHECK(web.violating(budgets) == "w2 ");
  budgets.evicted(web[0]);
  budgets.upsert(at_version(budget("b", app_web, 2), "2"));
  CHECK(web.violating(budgets) == "w2 ");
  CHECK(Victims({{"w1", kWeb}, {"w2", kWeb}}).violating(budgets) == "w2 ");
  budgets.stays(web[0]);
  CHECK(Victims({{"w1", kWeb}, {"w2", kWeb}}).violating(budgets).empty());
  budgets.stays(web[1]);  // was not evicted
  CHECK(web.violating(budgets) == "w2 ");
  // What the server itself has counted stays counted.
  budgets.upsert(at_version(budget("b", app_web, 0, {"w0"}), "3"));
  budgets.evicted(web[0]);
  budgets.stays(web[0]);
  CHECK(web.violating(budgets) == "w1 w2 ");
}

TEST_CASE("answers about budgets change with the version") {
  DisruptionBudgets budgets;
  const Victims web = three_web_pods();
  std::uint64_t last = budgets.version();
  const auto changed = [&] { return std::exchange(last, budgets.version()) != budgets.version(); };
  budgets.upsert(at_version(budget("b", labelled("app", "web"), 2), "1"));
  CHECK(changed());
  budgets.evicted(web[0]);
  CHECK(changed());
  budgets.evicted(web[0]);
  CHECK_FALSE(changed());
  budgets.stays(web[0]);
  CHECK(changed());
  budgets.gone(web[0]);
  CHECK_FALSE(changed());
  budgets.set_readable(true);
  CHECK_FALSE(changed());
  budgets.set_readable(false);
  CHECK(changed());
  CHECK_FALSE(budgets.readable());
  budgets.erase(kNs, "b");
  CHECK(changed());
  budgets.erase(kNs, "b");
  CHECK_FALSE(changed());
}

TEST_CASE("a budget with a long selector counts for as many comparisons") {
  DisruptionBudgets budgets;
  const Victims web = three_web_pods();
  const std::vector<DisruptionBudgets::Pod> pods = {web[0], web[1], web[2]};
  budgets.upsert(at_version(budget("short", labelled("app", "web"), 2), "1"));
  CHECK(budgets.violated_by(pods).compared == 3 * 2);
  k8s::LabelSelector none_of = labelled("app", "web");
  none_of.match_expressions = {
      {.key = "app", .op = Op::kNotIn, .values = std::vector<std::string>(100, "db")}};
  budgets.upsert(at_version(budget("long", none_of, 2), "2"));
  CHECK(budgets.violated_by(pods).compared == 3 * (2 + 103));
}

TEST_CASE(
    "where a namespace has too many budgets, they protect all its pods, and none is compared") {
  DisruptionBudgets budgets;
  const Victims web = three_web_pods();
  const std::vector<DisruptionBudgets::Pod> pods = {web[0], web[1], web[2]};
  const Victims others({{"o0", kWeb, "other"}});
  // Each counts two: itself, and a label.
  constexpr std::size_t kAsMany = DisruptionBudgets::kMost / 2;
  const auto of_others = [](std::size_t i) {
    return budget("b" + std::to_string(i), labelled("app", "a" + std::to_string(i)), 0);
  };
  for (std::size_t i = 1; i < kAsMany; ++i) budgets.upsert(of_others(i));
  budgets.upsert(at_version(budget("web", labelled("app", "web"), 2), "1"));
  CHECK(web.violating(budgets) == "w2 ");
  CHECK(budgets.violated_by(pods).compared == 3 * DisruptionBudgets::kMost);
  budgets.evicted(web[0]);
  CHECK(web.violating(budgets) == "w2 ");

  budgets.upsert(of_others(0));
  CHECK(web.violating(budgets) == "w0 w1 w2 ");
  CHECK(budgets.violated_by(pods).compared == 3);
  CHECK(others.violating(budgets).empty());
  budgets.evicted(web[1]);
  SECTION("what is evicted meanwhile counts when one budget goes") { budgets.erase(kNs, "b0"); }
  SECTION("and when one covers no pod any more") { budgets.upsert(budget("b0", std::nullopt, 0)); }
  CHECK(web.violating(budgets) == "w2 ");  // w0 and w1 are counted already
  budgets.stays(web[1]);
  CHECK(Victims({{"w3", kWeb}}).violating(budgets).empty());
}
