// Which quotas count a namespace, and where its pods stand in line.
#include "tests/scheduler/engine/quota_cluster.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <string>
#include <vector>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;

namespace {

std::vector<std::string> names_of(const NamespaceQuotas& of) {
  std::vector<std::string> names;
  for (const QuotaStatus& quota : of.quotas) names.push_back(quota.name);
  return names;
}

std::map<std::string, PodInLine> line_of(const Engine& engine, std::string_view namespace_ = {}) {
  std::map<std::string, PodInLine> pods;
  for (const PodInLine& one : engine.in_line(namespace_)) pods[one.pod.name] = one;
  return pods;
}

}  // namespace

TEST_CASE("a waiting pod's place is among those that wait for room of its quota") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(gpu_quota("team").of("red").of("blue").line("H100", 4));
  s.has(in("blue", "runs", 4));
  REQUIRE(s.decide().size() == 1);
  s.has(in("blue", "old", 2));
  s.has(in("red", "young", 2).created_at(kStart + 2s));
  s.has(in("red", "urgent", 2).created_at(kStart + 3s).priority(10));
  s.has(in("red", "gated", 2).gated("later"));
  s.has(in("other", "unlimited", 9));
  const auto expect = [&] {
    auto pods = line_of(s.engine);
    CHECK(pods.size() == 5);
    CHECK(pods["urgent"].place_in_line == 1);
    CHECK(pods["old"].place_in_line == 2);
    CHECK(pods["young"].place_in_line == 3);
    for (const char* name : {"urgent", "old", "young"}) CHECK(pods[name].line_length == 3);
    for (const char* name : {"gated", "unlimited"}) {
      CHECK(pods[name].place_in_line == 0);
      CHECK(pods[name].line_length == 0);
    }
  };
  expect();  // before their turns
  s.decide();
  expect();  // and after them
  const auto red = line_of(s.engine, "red");
  CHECK(red.size() == 3);
  CHECK(red.at("young").place_in_line == 3);
  CHECK(s.engine.in_line("none").empty());
}

TEST_CASE("the quotas of a namespace are its own and those that this is a part of") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(gpu_quota("company").line("H100", 8));
  s.has(gpu_quota("department").in_quota("company").line("H100", 8));
  s.has(gpu_quota("team").of("red").of("blue").in_quota("department").line("H100", 4));
  s.has(gpu_quota("neighbours").of("green").in_quota("department").line("H100", 4));
  s.has(in("blue", "runs", 4));
  s.has(in("green", "also", 4));
  REQUIRE(s.decide().size() == 2);
  s.has(in("blue", "first", 2));
  s.has(in("red", "second", 2).created_at(kStart + 2s));
  s.has(in("red", "third", 2).created_at(kStart + 3s));
  s.decide();
  const NamespaceQuotas red = s.engine.quotas_of("red");
  CHECK(names_of(red) == std::vector<std::string>{"team", "department", "company"});
  CHECK(red.without.empty());
  CHECK(red.in_line == 3);
  REQUIRE(red.head);
  CHECK(red.head->name == "first");
  CHECK(red.first_place == 2);
  // The accounts are the same as for everybody.
  const auto all = s.engine.quota_statuses();
  for (const QuotaStatus& quota : red.quotas) {
    CHECK(std::find(all.begin(), all.end(), quota) != all.end());
  }
  CHECK(s.engine.quotas_of("blue").first_place == 1);
  const NamespaceQuotas green = s.engine.quotas_of("green");
  CHECK(names_of(green) == std::vector<std::string>{"neighbours", "department", "company"});
  CHECK(green.in_line == 0);
  CHECK_FALSE(green.head);
  CHECK(green.first_place == 0);
}

TEST_CASE("why a namespace has no quota, or one that gives nothing, is said") {
  EngineOptions options;
  SECTION("nothing limits it") {
    QuotaCluster s(options);
    const NamespaceQuotas none = s.engine.quotas_of("red");
    CHECK(none.quotas.empty());
    CHECK(none.without.empty());
  }
  SECTION("the default allows nothing") {
    options.quota.without_quota = quota::WithoutQuota::kNone;
    QuotaCluster s(options);
    s.has(h100("a"));
    s.has(in("red", "p", 1));
    s.decide();
    const NamespaceQuotas none = s.engine.quotas_of("red");
    CHECK(none.quotas.empty());
    CHECK_THAT(none.without, Catch::Contains("red"));
    CHECK(none.in_line == 0);  // no room will come
  }
  SECTION("its labels are not known yet") {
    QuotaCluster s(options);
    s.has(gpu_quota("q").selects(selector({{"team", "x"}})).line("H100", 8));
    const NamespaceQuotas none = s.engine.quotas_of("red");
    CHECK(none.quotas.empty());
    CHECK_THAT(none.without, Catch::Contains("red"));
  }
  SECTION("it is deleted and keeps its namespaces for a while") {
    QuotaCluster s(options);
    s.has(gpu_quota("q").of("red").line("H100", 8));
    CHECK(s.engine.quotas_of("red").without.empty());
    s.apply(event::QuotaDeleted{"q"});
    const NamespaceQuotas none = s.engine.quotas_of("red");
    CHECK(names_of(none) == std::vector<std::string>{"q"});
    CHECK_THAT(none.without, Catch::Contains("quota q") && Catch::Contains("deleted"));
  }
  SECTION("others select it, too") {
    QuotaCluster s(options);
    s.has(gpu_quota("department").of("red").line("H100", 8).created_at(kStart + 3s));
    s.has(gpu_quota("q").of("red").in_quota("department").line("H100", 8).created_at(kStart));
    s.has(gpu_quota("late").of("red").line("L4", 8).created_at(kStart + 2s));
    // Pods of it count to its parent as well.
    CHECK(s.engine.quotas_of("red").selecting_without_effect == std::vector<std::string>{"late"});
    CHECK(s.engine.quotas_of("blue").selecting_without_effect.empty());
  }
  SECTION("its spec is wrong") {
    QuotaCluster s(options);
    s.has(gpu_quota("q").of("red").in_quota("q").line("H100", 8));
    CHECK_THAT(s.engine.quotas_of("red").without, Catch::Contains("quota q"));
  }
}

TEST_CASE("questions about lines and quotas change no decision, in whatever order they come") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::vector<std::string> alone;
    for (const bool asked : {false, true}) {
      std::mt19937 random(seed);
      QuotaCluster s;
      s.has(h100("a"));
      s.has(h100("b"));
      s.has(gpu_quota("one").of("red").in_cohort("all").line("H100", 6));
      s.has(gpu_quota("two").of("blue").in_cohort("all").line("H100", 10));
      std::vector<std::string> said;
      for (int i = 0; i < 40; ++i) {
        const char* namespace_ = random() % 2 == 0 ? "red" : "blue";
        s.has(in(namespace_, "p" + std::to_string(i), 1 + static_cast<int>(random() % 4)));
        s.now += 1s;
        if (asked) {
          for (const char* of : {"red", "blue", "green"}) {
            static_cast<void>(s.engine.quotas_of(of));
            static_cast<void>(s.engine.in_line(of));
          }
        }
        const auto told = s.decide();
        said.insert(said.end(), told.begin(), told.end());
      }
      if (!asked) alone = said;
      CHECK(said == alone);
      CHECK(said.size() > 20);
    }
  }
}

TEST_CASE("a node is known while there is one of that name, or pods are left there") {
  QuotaCluster s;
  s.has(h100("a"));
  CHECK(s.engine.knows_node("a"));
  CHECK_FALSE(s.engine.knows_node("b"));
  CHECK_FALSE(s.engine.knows_node(""));
}
