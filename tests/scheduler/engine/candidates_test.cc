#include "tests/scheduler/engine/harness.h"
#include "tests/support/catch.h"
#include "tests/support/gpu_quotas.h"

#include <string>
#include <vector>

using namespace sched;
using namespace tests;

TEST_CASE(
    "candidates are the nodes that fit, the best first, and the first is where the pod goes") {
  Scheduler s;
  s.has(node("a").gpus(8));
  s.has(node("b").gpus(2));
  s.has(node("c").gpus(2));
  s.has(node("d").gpus(1));
  s.synced();
  const k8s::Pod pod = our_pod("p").gpus(2);

  const auto all = s.engine.candidates(pod, 10);
  REQUIRE(all.size() == 3);
  CHECK(all[0].node == "b");  // as good as c, and before it
  CHECK(all[1].node == "c");
  CHECK(all[2].node == "a");
  CHECK(all[0].total_score == all[1].total_score);
  CHECK(all[1].total_score > all[2].total_score);
  CHECK(s.engine.candidates(pod, 2).size() == 2);

  s.has(pod);
  const auto decided = s.decisions();
  REQUIRE(decided.size() == 1);
  const auto& bind = std::get<decision::Bind>(decided.front());
  CHECK(bind.node == all[0].node);
  CHECK(bind.total_score == all[0].total_score);
  CHECK(bind.scores == all[0].scores);

  CHECK(s.engine.candidates(our_pod("q").gpus(9), 10).empty());
  CHECK(s.engine.candidates(our_pod("r").labelled("waits-for", "x"), 10).empty());
}

TEST_CASE("candidates under a quota are those with room, within the guarantee first") {
  constexpr const char* kH100 = "NVIDIA-H100-80GB-HBM3";
  Scheduler s;
  s.has(node("a-h100").gpus(8).product(kH100));
  s.has(node("b-l4").gpus(8).product("NVIDIA-L4"));
  s.has(node("c-a100").gpus(8).product("NVIDIA-A100-SXM4-80GB"));
  s.apply(
      event::QuotaUpserted{gpu_quota("q").of("ml").in_cohort("c").line("H100", 0).line("L4", 2)});
  s.apply(event::QuotaUpserted{gpu_quota("lender").in_cohort("c").line("H100", 2)});
  s.synced();
  const auto names = [&](const k8s::Pod& pod) {
    std::vector<std::string> found;
    for (const Candidate& each : s.engine.candidates(pod, 10)) found.push_back(each.node);
    return found;
  };
  const k8s::Pod pod = our_pod("p").in_namespace("ml").gpus(2);
  CHECK(names(pod) == Texts{"b-l4", "a-h100"});
  s.has(pod);
  CHECK(s.decide() == Texts{"p → b-l4"});
  CHECK(names(pod) == Texts{"b-l4", "a-h100"});  // its own charge is not in its way
  s.has(our_pod("p").in_namespace("ml").gpus(2).on("b-l4"));
  CHECK(names(pod) == Texts{"b-l4", "a-h100"});
  CHECK(names(our_pod("next").in_namespace("ml").gpus(2)) == Texts{"a-h100"});
  CHECK(names(our_pod("large").in_namespace("ml").gpus(3)).empty());
  CHECK(names(our_pod("free").gpus(2)).size() == 3);
  CHECK(names(our_pod("cpu").in_namespace("ml")).size() == 3);
}

TEST_CASE("under a quota the candidates' scores are those of the decision") {
  constexpr const char* kH100 = "NVIDIA-H100-80GB-HBM3";
  // Preferred by 10, 5 and 100: what these count depends on the nodes that are compared.
  const auto preferred = [](const char* name, const char* product, const char* how) {
    return node(name).gpus(8).product(product).labelled("preferred", how);
  };
  Scheduler s;
  s.has(preferred("a", kH100, "some"));
  s.has(preferred("b", kH100, "little").gpus(4));
  s.has(preferred("c", "NVIDIA-L4", "much"));
  s.apply(
      event::QuotaUpserted{gpu_quota("q").of("ml").in_cohort("c").line("H100", 4).line("L4", 0)});
  s.apply(event::QuotaUpserted{gpu_quota("lender").in_cohort("c").line("L4", 8)});
  s.synced();
  const auto in_rack = [](const char* value) { return term({label("preferred").in({value})}); };
  const k8s::Pod pod = our_pod("p")
                           .in_namespace("ml")
                           .gpus(4)
                           .prefers_nodes(10, in_rack("some"))
                           .prefers_nodes(5, in_rack("little"))
                           .prefers_nodes(100, in_rack("much"));
  const auto expected = s.engine.candidates(pod, 10);
  REQUIRE(expected.size() == 3);
  s.has(pod);
  const auto decided = s.decisions();
  REQUIRE(decided.size() == 1);
  const auto& bind = std::get<decision::Bind>(decided.front());
  CHECK(bind.node == expected[0].node);
  CHECK(bind.total_score == expected[0].total_score);
  CHECK(bind.scores == expected[0].scores);
  CHECK(s.engine.candidates(pod, 10) == expected);
  CHECK(expected[2].node == "c");
}
