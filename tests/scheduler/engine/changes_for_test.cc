// Which changes to a pod that no node takes would get it one, by the rules that are shipped.
#include "scheduler/config/config.h"
#include "tests/scheduler/engine/quota_cluster.h"
#include "tests/support/catch.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace sched;
using namespace tests;

namespace {

// With the profile of a scheduler that is told nothing.
struct Shipped : QuotaCluster {
  Shipped() {
    auto config = config::parse("", "default", plugins::registry());
    REQUIRE(config);
    engine = Engine(std::move(config->profiles), config->engine);
    synced();
  }
};

}  // namespace

TEST_CASE(
    "changes_for names each change after which a node would take the pod, the cheapest first") {
  Shipped s;
  s.has(node("full").gpus(8).labelled("zone", "a").product(kH100));
  s.has(pod("there").gpus(8).on("full"));
  s.has(node("kept").gpus(4).labelled("zone", "a").tainted("dedicated", "ml").product(kH100));
  s.has(node("cordoned")
            .gpus(8)
            .labelled("zone", "a")
            .tainted("node.kubernetes.io/unschedulable", "")
            .product(kH100));
  s.has(node("leaves")
            .gpus(8)
            .labelled("zone", "a")
            .tainted("ToBeDeletedByClusterAutoscaler", "1767265200")
            .product(kH100));
  s.has(node("other").gpus(4).labelled("zone", "b").product(kH100));
  s.has(pod("o-1").gpus(1).on("other"));
  s.has(pod("o-3").gpus(3).on("other"));
  s.has(node("old").gpus(8).labelled("zone", "a").product("Tesla-V100-SXM2-32GB"));
  s.has(pod("busy").gpus(7).on("old"));
  const auto uid = [](const char* name) { return pod(name).object().metadata.uid; };
  const PodBuilder asked = our_pod("p").gpus(2).selects("zone", "a").annotated(kType, "H100");
  CHECK(s.engine.changes_for(asked) ==
        std::vector<PodChange>{
            {.what = "tolerations",
             .to = R"([{key: dedicated, value: "ml", effect: NoSchedule}])",
             .node = "kept"},
            {.what = "nodeSelector zone", .to = "b", .node = "other", .pods = {{uid("o-3"), 3}}},
            {.what = "annotation gpu-scheduler.io/gpu-type",
             .node = "old",
             .pods = {{uid("busy"), 7}}}});
}

TEST_CASE("after each of the changes that changes_for names the node takes the pod") {
  std::size_t named = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
    Shipped s;
    const auto value = [&] { return std::string(1, static_cast<char>('a' + pick(3))); };
    for (unsigned i = 0; i < 6; ++i) {
      const std::string name = "n" + std::to_string(i);
      NodeBuilder made = node(name).gpus(4).labelled("zone", value()).labelled("rack", value());
      made.product(pick(2) == 0 ? kH100 : "NVIDIA-A100-SXM4-80GB");
      if (pick(3) == 0) made.tainted("dedicated", value());
      s.has(made);
      for (unsigned k = pick(4); k > 0; --k) {
        s.has(pod(name + "-" + std::to_string(k)).on(name).gpus(1 + pick(2)));
      }
    }
    PodBuilder asked = our_pod("asked").gpus(1 + pick(4)).selects("zone", value());
    if (pick(2) == 0) asked.selects("rack", value());
    if (pick(2) == 0) asked.annotated(kType, "H100");
    if (!s.engine.candidates(asked, 1).empty()) continue;
    INFO("seed " << seed);
    for (const PodChange& change : s.engine.changes_for(asked)) {
      ++named;
      INFO(change.what << " " << change.to << " on " << change.node);
      k8s::Pod changed = asked;
      if (change.what == "tolerations") {
        changed.spec.tolerations.push_back(
            {.key = "dedicated",
             .op = k8s::TolerationOperator::kEqual,
             .value = change.to.substr(std::string("[{key: dedicated, value: \"").size(), 1),
             .effect = k8s::TaintEffect::kNoSchedule});
      } else if (change.what.starts_with("nodeSelector")) {
        changed.spec.node_selector.set(change.what.substr(std::string("nodeSelector ").size()),
                                       change.to);
      } else {
        changed.metadata.annotations.erase(kType);
      }
      Supposed supposed;
      for (const GpuTenant& one : change.pods) supposed.ended.push_back(one.uid);
      const auto takers = s.engine.candidates(changed, 10, supposed);
      CHECK(std::any_of(takers.begin(), takers.end(),
                        [&](const Candidate& one) { return one.node == change.node; }));
    }
  }
  CHECK(named > 20);
}

TEST_CASE("changes_for names none where quota stands in the way") {
  Shipped s;
  s.has(node("a").gpus(4).labelled("zone", "a"));
  s.has(pod("there").in_namespace("other").gpus(4).on("a"));
  s.has(tests::gpu_quota("q").of(our_pod("p").object().metadata.namespace_).line("*", 1));
  CHECK(s.engine.changes_for(our_pod("p").gpus(1).selects("zone", "b")).size() == 1);
  CHECK(s.engine.changes_for(our_pod("p").gpus(2).selects("zone", "b")).empty());
}
