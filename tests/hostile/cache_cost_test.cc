// What the caches of shapes count is what they hold, whatever the shapes are made of.
//
// The caches are bounded by what they count. A shape that holds more than is counted for it would
// pass the bound; one that is counted for much more than it holds would push out others.
#include "plugins/registry.h"
#include "scheduler/cluster/nodes.h"
#include "scheduler/cluster/shapes.h"
#include "scheduler/engine/finder/score_caches.h"
#include "scheduler/framework/node_view.h"
#include "tests/hostile/cost.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace sched {

namespace {

using tests::cost_of;
using tests::label;
using tests::PodBuilder;
using tests::term;

std::vector<Profile> one_profile() {
  std::vector<Profile> made(1);
  made.front().scheduler_name = "gpu-scheduler";
  const k8s::yaml::Value nothing;
  for (const PluginEntry& entry : plugins::registry()) {
    if (!entry.on_by_default) continue;
    k8s::yaml::ObjectReader args(nothing, "test");
    PluginInstance plugin = entry.make(args);
    if (plugin.filter) made.front().filters.push_back(std::move(plugin.filter));
    if (plugin.score) {
      made.front().scores.push_back({std::move(plugin.score), entry.default_weight});
    }
  }
  return made;
}

std::vector<std::string> short_values(int count) {
  std::vector<std::string> made;
  for (int i = 0; i < count; ++i) made.push_back(fmt::format("{}", i));
  return made;
}

struct Case {
  const char* name;
  std::function<void(PodBuilder&)> add;
};

std::vector<Case> shapes() {
  constexpr int kMany = 500;
  return {
      {"plain, fits", [](PodBuilder&) {}},
      {"plain, fits nowhere", [](PodBuilder& it) { it.gpus(100); }},
      {"one of many values",
       [](PodBuilder& it) { it.requires_nodes({term({label("l").in(short_values(kMany))})}); }},
      {"none of many values",
       [](PodBuilder& it) { it.requires_nodes({term({label("l").not_in(short_values(kMany))})}); }},
      {"many requirements of one term",
       [](PodBuilder& it) {
         tests::Requirements all;
         for (int i = 0; i < kMany; ++i) all.push_back(label(fmt::format("{}", i)).exists());
         it.requires_nodes({term(all)});
       }},
      {"many terms",
       [](PodBuilder& it) {
         std::vector<k8s::NodeSelectorTerm> any;
         for (int i = 0; i < kMany; ++i) any.push_back(term({label("l").in({"v"})}));
         it.requires_nodes(any);
       }},
      {"many preferred terms",
       [](PodBuilder& it) {
         for (int i = 0; i < kMany; ++i) it.prefers_nodes(1, term({label("l").in({"v"})}));
       }},
      {"many names",
       [](PodBuilder& it) {
         std::vector<k8s::NodeSelectorTerm> any;
         for (int i = 0; i < kMany; ++i) any.push_back(tests::named({fmt::format("n{}", i)}));
         it.requires_nodes(any);
       }},
      {"many products",
       [](PodBuilder& it) {
         std::vector<std::string> products;
         for (int i = 0; i < kMany; ++i) products.push_back(fmt::format("A{}", i));
         it.gpus(1).requires_nodes({term({label("nvidia.com/gpu.product").in(products)})});
       }},
      {"many products with profiles",
       [](PodBuilder& it) {
         std::vector<std::string> products;
         for (int i = 0; i < kMany; ++i) products.push_back(fmt::format("A-MIG-1g.{}gb", i));
         it.gpus(1).requires_nodes({term({label("nvidia.com/gpu.product").in(products)})});
       }},
      {"many tolerations",
       [](PodBuilder& it) {
         for (int i = 0; i < kMany; ++i) it.tolerates(fmt::format("{}", i));
       }},
      {"many ports",
       [](PodBuilder& it) {
         for (int i = 1; i <= kMany; ++i) it.host_port(i);
       }},
      {"many labels",
       [](PodBuilder& it) {
         for (int i = 0; i < kMany; ++i) it.selects(fmt::format("{}", i), "v");
       }},
      {"many resources",
       [](PodBuilder& it) {
         for (int i = 0; i < 58; ++i) it.requests(fmt::format("example.com/{}", i), "1");
       }},
      {"many types",
       [](PodBuilder& it) {
         std::string types;
         for (int i = 0; i < 200; ++i) types += fmt::format("A{},", i);
         it.gpus(1).annotated("gpu-scheduler.io/gpu-type", types + "H100");
       }},
      {"many wrong annotations",
       [](PodBuilder& it) {
         for (int i = 0; i < kMany; ++i)
           it.annotated(fmt::format("gpu-scheduler.io/gpu-typ{}", i), "x");
       }},
  };
}

struct StoredShapes {
  StoredShapes(int count, std::size_t memory) : caches(nodes, profiles, names, statistics, memory) {
    for (int i = 0; i < count; ++i) {
      nodes.upsert(facts_of(tests::node(fmt::format("n{}", i)).gpus(8).tainted("t"), names));
    }
  }

  // Bytes, after that many shapes of the case were asked about.
  std::int64_t held_by(const Case& each, std::size_t count) {
    std::vector<PodShape> made;
    for (std::size_t i = 0; i < count; ++i) {
      PodBuilder pod = tests::pod("p").cpu(fmt::format("{}m", i + 1));
      each.add(pod);
      made.push_back(shape_of(pod, names));
    }
    return cost_of([&] {
             for (const PodShape& shape : made) {
               caches.get(0, interned.intern(shape));
             }
           })
        .kept_bytes;
  }

  ResourceNames names;
  Shapes interned;
  Nodes nodes;
  std::vector<Profile> profiles = one_profile();
  WorkloadStatistics statistics{std::nullopt, false};
  ScoreCaches caches;
};

}  // namespace

TEST_CASE("what is counted for a shape is what it holds") {
  constexpr std::size_t kShapes = 60;
  for (const Case& each : shapes()) {
    StoredShapes stored(30, std::size_t{1} << 30);
    const std::int64_t held = stored.held_by(each, kShapes);
    const auto counted = static_cast<std::int64_t>(stored.caches.memory());
    INFO(each.name << ": " << held << " held, " << counted << " counted");
    CHECK(stored.caches.size() == kShapes);
    CHECK(held <= counted);
    CHECK(counted <= 3 * held);
  }
}

TEST_CASE("so is what is counted for a shape that no node takes") {
  constexpr std::size_t kShapes = 300;
  StoredShapes stored(1'000, std::size_t{2} << 20);
  const std::int64_t held = stored.held_by(shapes()[1], kShapes);
  const auto counted = static_cast<std::int64_t>(stored.caches.memory());
  INFO(held << " held, " << counted << " counted");
  CHECK(stored.caches.refused() > kShapes / 2);
  CHECK(held <= counted);
  CHECK(counted <= 3 * held);
}

}  // namespace sched
