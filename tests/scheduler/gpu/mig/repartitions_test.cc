// Which configurations are known, and that the geometry can realise each advised one.
#include "scheduler/gpu/mig/repartitions.h"

#include "bench/devices/place.h"
#include "scheduler/gpu/demand.h"
#include "scheduler/gpu/product.h"
#include "tests/scheduler/gpu/mig/model.h"
#include "tests/support/catch.h"

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace sched::gpu;
using mig::Candidate;
using mig::Configuration;
using mig::Geometry;
using mig::Repartition;
using tests::model;

namespace {

// "all-balanced: 3g.40gb×1 2g.20gb×1 1g.10gb×2"
std::string text_of(const Configuration& configuration) {
  std::string text = configuration.name + ":";
  for (const mig::InstanceCount& each : configuration.instances) {
    text += " " + each.profile->name + "×" + std::to_string(each.per_gpu);
  }
  return text;
}

std::vector<std::string> texts_of(const std::string& name) {
  std::vector<std::string> texts;
  for (const Configuration& each : mig::configurations(model(name))) texts.push_back(text_of(each));
  return texts;
}

// Whether one GPU can hold all instances of the configuration together.
bool is_realisable(const Configuration& configuration) {
  DeviceUses gpu;
  for (const mig::InstanceCount& each : configuration.instances) {
    const auto shares = bench::place(*each.profile, each.per_gpu, gpu, 1);
    if (!shares) return false;
    for (const DeviceShare& share : *shares) add(gpu, share);
  }
  return true;
}

// Pods that ask for instances of one profile each, on nodes that offer what they are partitioned
// into.
struct Cluster {
  std::vector<Candidate> nodes;
  std::vector<std::pair<std::string, std::int64_t>> pods;  // resource, instances

  [[nodiscard]] std::vector<std::string> wanted() const {
    std::set<std::string> names;
    for (const auto& [resource, count] : pods) names.insert(resource);
    return {names.begin(), names.end()};
  }
  [[nodiscard]] std::vector<std::size_t> fits(std::size_t node, const Configuration& to,
                                              const std::vector<std::size_t>& waiting) const {
    std::map<std::string, std::int64_t> free;
    for (const mig::InstanceCount& each : to.instances) {
      free[mig::resource_of(*each.profile)] = each.per_gpu * nodes[node].gpus;
    }
    std::vector<std::size_t> placed;
    for (const std::size_t pod : waiting) {
      auto& left = free[pods[pod].first];
      if (left < pods[pod].second) continue;
      left -= pods[pod].second;
      placed.push_back(pod);
    }
    return placed;
  }
  [[nodiscard]] std::vector<Repartition> repartitions(mig::RepartitionLimits limits = {}) const {
    return mig::repartitions(
        nodes, wanted(), pods.size(),
        [this](std::size_t node, const Configuration& to, const auto& waiting, const auto&) {
          return fits(node, to, waiting);
        },
        limits);
  }
  // "1 all-3g.40gb ← 0 2"
  [[nodiscard]] std::vector<std::string> steps() const {
    std::vector<std::string> texts;
    for (const Repartition& step : repartitions()) {
      std::string text = std::to_string(step.node) + " " + step.to.name + " ←";
      for (const std::size_t pod : step.pods) text += " " + std::to_string(pod);
      texts.push_back(text);
    }
    return texts;
  }
};

}  // namespace

TEST_CASE("the configurations that mig-manager knows for a model") {
  CHECK(texts_of("A100-80GB") ==
        std::vector<std::string>{
            "all-7g.80gb: 7g.80gb×1", "all-4g.40gb: 4g.40gb×1", "all-3g.40gb: 3g.40gb×2",
            "all-2g.20gb: 2g.20gb×3", "all-1g.20gb: 1g.20gb×4", "all-1g.10gb: 1g.10gb×7",
            "all-1g.10gb.me: 1g.10gb+me×1", "all-balanced: 3g.40gb×1 2g.20gb×1 1g.10gb×2"});
  CHECK(texts_of("A30-24GB").back() == "all-balanced: 2g.12gb×1 1g.6gb×2");
  CHECK(texts_of("GB200-186GB").back() == "all-balanced: 3g.93gb×1 2g.47gb×1 1g.23gb×2");
  CHECK(texts_of("GB200-189GB").back() == "all-balanced: 3g.95gb×1 2g.47gb×1 1g.24gb×2");
  CHECK(texts_of("RTX-PRO-6000-96GB").back() == "all-balanced: 2g.48gb×1 1g.24gb×2");
  // Nothing is balanced in two halves.
  CHECK(texts_of("RTX-PRO-4500-32GB") ==
        std::vector<std::string>{"all-2g.32gb: 2g.32gb×1", "all-1g.16gb: 1g.16gb×2",
                                 "all-2g.32gb.gfx: 2g.32gb+gfx×1", "all-1g.16gb.gfx: 1g.16gb+gfx×2",
                                 "all-1g.16gb.me.all: 1g.16gb+me.all×1",
                                 "all-1g.16gb-me: 1g.16gb-me×2"});
}

TEST_CASE("every known configuration fits on one GPU of its model") {
  for (const Geometry& geometry : mig::geometries()) {
    for (const Configuration& each : mig::configurations(geometry)) {
      INFO(geometry.model << " " << text_of(each));
      CHECK(is_realisable(each));
      for (const mig::InstanceCount& instances : each.instances) {
        CHECK(each.per_gpu(*instances.profile) == instances.per_gpu);
        CHECK(instances.per_gpu <= instances.profile->max_instances);
      }
    }
  }
}

TEST_CASE("repartitions") {
  const Geometry& a100 = model("A100-80GB");
  const Geometry& a30 = model("A30-24GB");
  const std::string big = "nvidia.com/mig-3g.40gb";
  const std::string small = "nvidia.com/mig-1g.10gb";
  struct Case {
    const char* name;
    Cluster cluster;
    std::vector<std::string> want;
  };
  const std::vector<Case> cases = {
      {"nobody waits", {{{&a100, 8, "all-disabled"}}, {}}, {}},
      {"no idle node", {{}, {{big, 1}}}, {}},
      {"one node, one profile",
       {{{&a100, 1, "all-disabled"}}, {{big, 1}, {big, 1}, {big, 1}}},
       {"0 all-3g.40gb ← 0 1"}},
      {"a mixture that only all-balanced offers",
       {{{&a100, 1, ""}}, {{big, 1}, {small, 1}, {small, 1}}},
       {"0 all-balanced ← 0 1 2"}},
      {"the smallest node that does",
       {{{&a100, 8, ""}, {&a100, 1, ""}, {&a100, 4, ""}}, {{big, 2}}},
       {"1 all-3g.40gb ← 0"}},
      {"several nodes, the most pods first",
       {{{&a100, 1, ""}, {&a100, 2, ""}}, {{big, 2}, {big, 2}, {big, 2}, {big, 2}}},
       {"1 all-3g.40gb ← 0 1", "0 all-3g.40gb ← 2"}},
      {"not what it is already", {{{&a100, 1, "all-3g.40gb"}}, {{big, 1}}}, {"0 all-balanced ← 0"}},
      {"a profile that the model does not have", {{{&a30, 4, ""}}, {{big, 1}}}, {}},
      {"more than one node can ever give", {{{&a100, 1, ""}}, {{big, 3}}}, {}}};
  for (const Case& each : cases) {
    INFO(each.name);
    CHECK(each.cluster.steps() == each.want);
  }
}

TEST_CASE("the search ends at its limits, and what was found until then holds") {
  Cluster cluster;
  cluster.nodes.assign(20, {&model("H100-80GB"), 1, "all-disabled"});
  cluster.pods.assign(40, {"nvidia.com/mig-3g.40gb", 1});
  CHECK(cluster.repartitions().size() == 8);
  CHECK(cluster.repartitions({.repartitions = 3, .trials = 1'000}).size() == 3);
  CHECK(cluster.repartitions({.repartitions = 8, .trials = 1}).size() == 1);
  CHECK(cluster.repartitions({.repartitions = 8, .trials = 0}).empty());
}

TEST_CASE("whatever waits where, the steps are realisable and promise no pod twice") {
  std::mt19937 random(GENERATE(range(1U, 21U)));
  const auto& geometries = mig::geometries();
  int steps = 0;
  for (int round = 0; round < 50; ++round) {
    Cluster cluster;
    for (auto n = random() % 6; n > 0; --n) {
      const Geometry& geometry = geometries[random() % geometries.size()];
      const auto known = mig::configurations(geometry);
      cluster.nodes.push_back({&geometry, static_cast<std::int64_t>(1 + random() % 8),
                               known[random() % known.size()].name});
    }
    for (auto n = random() % 20; n > 0; --n) {
      const Geometry& geometry = geometries[random() % geometries.size()];
      const auto& profile = geometry.profiles[random() % geometry.profiles.size()];
      cluster.pods.emplace_back(mig::resource_of(profile),
                                static_cast<std::int64_t>(1 + random() % 3));
    }
    std::set<std::size_t> nodes;
    std::set<std::size_t> pods;
    std::size_t before = SIZE_MAX;
    for (const Repartition& step : cluster.repartitions()) {
      const Candidate& node = cluster.nodes.at(step.node);
      REQUIRE(nodes.insert(step.node).second);
      ++steps;
      REQUIRE(step.to.name != node.configuration);
      REQUIRE(is_realisable(step.to));
      REQUIRE_FALSE(step.pods.empty());
      REQUIRE(step.pods.size() <= before);
      before = step.pods.size();
      std::map<std::string, std::int64_t> taken;
      for (const std::size_t pod : step.pods) {
        REQUIRE(pods.insert(pod).second);
        taken[cluster.pods[pod].first] += cluster.pods[pod].second;
      }
      for (const auto& [resource, amount] : taken) {
        const auto* profile = node.geometry->find(resource.substr(kMigResourcePrefix.size()));
        REQUIRE(profile != nullptr);
        REQUIRE(amount <= step.to.per_gpu(*profile) * node.gpus);
      }
    }
  }
  CHECK(steps > 5);
}
