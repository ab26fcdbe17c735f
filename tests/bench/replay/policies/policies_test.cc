#include "bench/replay/policies/policies.h"

#include "bench/policies/registry.h"
#include "plugins/registry.h"
#include "tests/support/catch.h"
#include "tests/support/paths.h"

#include <filesystem>
#include <fstream>
#include <set>

using bench::replay::built_in_policies;
using bench::replay::configure;
using bench::replay::find_policy;
using bench::replay::Policy;
using sched::TieBreak;

namespace {

std::vector<std::string> score_names(const sched::Profile& profile) {
  std::vector<std::string> names;
  for (const sched::WeightedScore& score : profile.scores) {
    names.emplace_back(score.plugin->name());
  }
  return names;
}

}  // namespace

TEST_CASE("every policy that comes with the program is one; a scheduler takes those of manifests") {
  struct Case {
    const char* name;
    std::vector<std::string> scores;
    TieBreak::Order order;
  };
  using Order = TieBreak::Order;
  const std::vector<Case> cases = {
      {"best_fit", {"BestFit"}, Order::kShuffledNodes},
      {"default",
       {"TaintToleration", "NodeAffinity", "GpuType", "GpuSharing", "GpuPacking"},
       Order::kFewestGpusFirst},
      {"dot_prod", {"DotProd"}, Order::kShuffledNodes},
      {"fgd", {"Fgd"}, Order::kShuffledNodes},
      {"gpu_clustering", {"GpuClustering"}, Order::kShuffledNodes},
      {"gpu_packing", {"GpuPackingScore"}, Order::kShuffledNodes},
      {"kube-scheduler",
       {"TaintToleration", "NodeAffinity", "NodeResourcesFit", "NodeResourcesBalancedAllocation"},
       Order::kRandom},
      {"mig", {"MigPlacement"}, Order::kFirstNode},
      {"most_allocated", {"NodeResourcesFit"}, Order::kShuffledNodes},
      {"random", {"RandomDevice"}, Order::kRandom},
      {"spread", {"NodeResourcesFit"}, Order::kRandom},
      {"usable_gpu", {"UsableGpu"}, Order::kShuffledNodes},
      {"usable_gpu_both", {"UsableGpu"}, Order::kShuffledNodes},
      {"usable_gpu_p1", {"UsableGpu"}, Order::kShuffledNodes},
      {"usable_gpu_p2", {"UsableGpu"}, Order::kShuffledNodes},
  };
  std::vector<std::string> names;
  for (const Policy& policy : built_in_policies()) names.push_back(policy.name);
  std::vector<std::string> want;
  for (const Case& each : cases) want.emplace_back(each.name);
  CHECK(names == want);

  for (const Case& each : cases) {
    INFO(each.name);
    const auto policy = find_policy(each.name);
    REQUIRE(policy);
    const auto configuration = configure(*policy, bench::registry(), 7);
    REQUIRE(configuration);
    CHECK(configuration->warnings.empty());
    REQUIRE(configuration->profiles.size() == 1);
    const sched::Profile& profile = configuration->profiles.front();
    CHECK(profile.scheduler_name == "gpu-scheduler");
    CHECK(score_names(profile) == each.scores);
    CHECK(profile.tie_break == TieBreak{.order = each.order, .seed = 7});
    std::set<std::string_view> filters;
    for (const auto& filter : profile.filters) filters.insert(filter->name());
    CHECK(filters.contains("NodeResourcesFit"));
    CHECK(filters.contains("GpuDevices"));
    const bool of_manifests = policy->file.starts_with("manifests/policies/");
    CHECK(configure(*policy, plugins::registry(), 7).has_value() == of_manifests);
  }
}

TEST_CASE("the policies that are built in are files of the tree, word for word") {
  for (const Policy& policy : built_in_policies()) {
    INFO(policy.name);
    std::ifstream in(std::filesystem::path(tests::source_dir()) / policy.file);
    REQUIRE(in);
    CHECK(policy.config == std::string(std::istreambuf_iterator<char>(in), {}));
  }
}

TEST_CASE("a policy of one's own is a file") {
  const auto file = std::filesystem::path(tests::scratch_dir()) / "my_policy.yaml";
  std::ofstream(file) << find_policy("fgd")->config;
  const auto policy = find_policy(file.string());
  REQUIRE(policy);
  CHECK(policy->name == "my_policy");
  CHECK(policy->file == file.string());
  CHECK(configure(*policy, bench::registry(), 1));
}

TEST_CASE("what is no policy is refused with what would be one") {
  const auto unknown = find_policy("fdg");
  REQUIRE_FALSE(unknown);
  CHECK_THAT(unknown.error().message, Catch::Contains("\"fdg\"") && Catch::Contains("best_fit") &&
                                          Catch::Contains("usable_gpu"));
  CHECK_FALSE(find_policy(tests::source_dir()));  // a folder

  const Policy wrong{.name = "p", .file = "p.yaml", .config = "profile: x\n"};
  const auto refused = configure(wrong, bench::registry(), 1);
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().message, Catch::StartsWith("p.yaml:"));

  const Policy two{.name = "two",
                   .file = "two.yaml",
                   .config =
                       "apiVersion: kubescheduler.config.k8s.io/v1\n"
                       "kind: KubeSchedulerConfiguration\n"
                       "profiles: [{schedulerName: a}, {schedulerName: b}]\n"};
  const auto many = configure(two, bench::registry(), 1);
  REQUIRE_FALSE(many);
  CHECK_THAT(many.error().message, Catch::Contains("two.yaml") && Catch::Contains("one"));
}

TEST_CASE("a policy that evicts is refused: no pod of a trace would be made anew") {
  const Policy policy{.name = "p",
                      .file = "p.yaml",
                      .config =
                          "apiVersion: kubescheduler.config.k8s.io/v1\n"
                          "kind: KubeSchedulerConfiguration\n"
                          "profiles: [{schedulerName: a, plugins: {postFilter: {enabled: [{name: "
                          "DefaultPreemption}]}}}]\n"};
  const auto configuration = configure(policy, bench::registry(), 1);
  REQUIRE_FALSE(configuration);
  CHECK_THAT(configuration.error().message, Catch::Contains("in a replay no pod is evicted"));
}
