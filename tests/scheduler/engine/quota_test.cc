// GPU quotas through the engine: what is admitted where, what counts, and what pods are told.
#include "tests/scheduler/engine/quota_cluster.h"

#include <algorithm>
#include <chrono>
#include <string>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;

TEST_CASE("a pod beyond its quota waits, with the reason in numbers, until some is free") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(h100("b"));
  s.has(gpu_quota("team-vision").of("vision").line(kH100, 8));
  const k8s::Pod first = in("vision", "first", 6);
  const k8s::Pod second = in("vision", "second", 4).created_at(kStart + 1s);
  s.has(first);
  s.has(second);
  CHECK(s.decide() == Texts{"first → a",
                            "second waits: quota team-vision: NVIDIA-H100-80GB-HBM3 needs 4, 6 of "
                            "8 in use, first in line; 2 more must be freed"});
  CHECK(s.use("team-vision") == use(8, 6, 0, 0, 4));

  SECTION("by a pod that is gone") { s.pod_gone(first); }
  SECTION("by a pod that has finished") {
    k8s::Pod done = first;
    done.spec.node_name = "a";
    done.status.phase = k8s::PodPhase::kSucceeded;
    s.has(done);
  }
  SECTION("by a bind that failed") {
    s.bind_failed(first, "a");
    s.now += 100ms;
  }
  SECTION("by a larger quota") {
    s.has(gpu_quota("team-vision").of("vision").line(kH100, 10).generation(2));
  }
  SECTION("by the end of the quota, where that opens its namespaces") {
    s.has(gpu_quota("team-vision").of("vision").line(kH100, 8).opens_when_deleted());
    CHECK(s.decide() == Texts{});
    s.apply(event::QuotaDeleted{"team-vision"});
  }
  CHECK(s.decide().at(0).starts_with("second → "));
}

TEST_CASE("what quota refuses is not unschedulable to a cluster autoscaler") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(gpu_quota("team-vision").of("vision").line(kH100, 16));
  s.has(in("vision", "too-many", 17));
  s.has(in("vision", "no-room", 9));
  const auto told = s.decisions();
  REQUIRE(told.size() == 2);
  const auto& quota = std::get<decision::Unschedulable>(told[0]);
  CHECK(quota.pod.name == "too-many");
  CHECK(std::string(to_string(quota.reason)) == "GpuQuotaExceeded");
  CHECK(quota.message ==
        "quota team-vision: NVIDIA-H100-80GB-HBM3 needs 17, 0 of 16 in use; it can never give that "
        "much");
  CHECK(quota.plugins == std::vector<std::string>{"GpuQuota"});
  const auto& nodes = std::get<decision::Unschedulable>(told[1]);
  CHECK(nodes.pod.name == "no-room");
  CHECK(std::string(to_string(nodes.reason)) == "Unschedulable");
  CHECK(nodes.message.starts_with("0/1 nodes are available: 1 Insufficient nvidia.com/gpu."));
  CHECK(nodes.details.ends_with(
      "quota team-vision: NVIDIA-H100-80GB-HBM3 needs 9, 0 of 16 in use, first in line"));
}

TEST_CASE("what a pod waits for when its quota has room again is told though no node has room") {
  QuotaCluster s;
  s.has(h100("n"));
  s.has(gpu_quota("q").of("ml").line("H100", 8));
  s.bound(in("ml", "small", 2), "n");
  s.bound(in("ml", "large", 6), "n");
  for (const char* name : {"a", "b"}) s.has(in("ml", name, 4));
  const auto told = [&s] {  // the first words of what each is told
    Texts all = s.decide();
    for (std::string& text : all) text = text.substr(0, 17);
    return all;
  };
  CHECK(told() == Texts{"a waits: quota q:", "b waits: quota q:"});
  SECTION("by a larger quota, to all that are alike") {
    s.has(gpu_quota("q").of("ml").line("H100", 100));
    CHECK(told() == Texts{"a waits: 0/1 node", "b waits: 0/1 node"});
    s.has(gpu_quota("q").of("ml").line("H100", 8));
    CHECK(told().empty());
  }
  SECTION("by a pod that has ended, to the first of them") {
    s.bound(pod("other").in_namespace("web").gpus(6), "n");
    s.pod_gone(in("ml", "large", 6));
    CHECK(told() == Texts{"a waits: 0/1 node"});
    s.now += 1s;
    CHECK(told().empty());
  }
}

TEST_CASE("quotas of a cohort lend what they do not use, and take it back") {
  QuotaCluster s;
  for (const char* name : {"a", "b"}) s.has(h100(name));
  s.has(gpu_quota("vision").of("vision").in_cohort("research").line(kH100, 8));
  s.has(gpu_quota("speech").of("speech").in_cohort("research").line(kH100, 8).lendable(4));
  const k8s::Pod six = in("vision", "v6", 6);
  s.has(six);
  s.has(in("vision", "v4", 4).created_at(kStart + 1s));
  s.has(in("vision", "v3", 3).created_at(kStart + 2s));
  CHECK(s.decide() == Texts{"v6 → a", "v4 → b",
                            "v3 waits: quota vision: NVIDIA-H100-80GB-HBM3 needs 3, 10 of 12 in "
                            "use (2 borrowed from cohort research), first in line; 1 more must be "
                            "freed"});
  CHECK(s.use("vision") == use(8, 10, 2, 0, 3));
  CHECK(s.use("speech") == use(8, 0, 0, 2));
  // The lender's guarantee needs only room.
  s.has(in("speech", "s4", 4));
  CHECK(s.decide() == Texts{"s4 → b"});
  CHECK(s.use("speech") == use(8, 4, 0, 2));
  s.pod_gone(six);
  CHECK(s.decide() == Texts{"v3 → a"});
}

TEST_CASE("types within the guarantee come first, a type without room is no candidate") {
  QuotaCluster s;
  s.has(l4("a-l4"));
  s.has(h100("b-h100"));
  s.has(node("c-a100").gpus(8).product("NVIDIA-A100-SXM4-80GB").cpu("64"));
  s.has(gpu_quota("q").of("ml").in_cohort("c").line("L4", 1).line("H100", 2));
  s.has(gpu_quota("lender").in_cohort("c").line("L4", 4));
  for (const char* name : {"p1", "p2", "p3", "p4"}) s.has(in("ml", name, 1));
  const auto told = s.decide();
  // One L4 and two H100 are its own; the fourth borrows an L4. No line names the A100.
  CHECK(told == Texts{"p1 → a-l4", "p2 → b-h100", "p3 → b-h100", "p4 → a-l4"});
}

TEST_CASE("a pod that names its type is told of that type alone") {
  QuotaCluster s;
  s.has(l4("l4"));
  s.has(h100("h100"));
  s.has(gpu_quota("q").of("ml").line("*", 0).line("H100", 2));
  s.has(in("ml", "any", 3));
  s.has(in("ml", "named", 3).selects("nvidia.com/gpu.product", kH100));
  CHECK(s.decide() ==
        Texts{"any waits: quota q: * needs 3, 0 of 0 in use, or H100 needs 3, 0 of 2 in use; it "
              "can never give that much",
              "named waits: quota q: H100 needs 3, 0 of 2 in use; it can never give that much"});
}

TEST_CASE("a pod that its annotation confines to a type waits for quota of that type") {
  QuotaCluster s;
  s.has(l4("l4"));
  s.has(h100("h100"));
  s.has(gpu_quota("q").of("ml").line("H100", 1).line("L4", 4));
  s.has(in("ml", "first", 1).annotated(kType, "H100"));
  s.has(in("ml", "second", 1).annotated(kType, "H100").created_at(kStart + 1s));
  const auto told = s.decisions();
  REQUIRE(told.size() == 2);
  const auto& waits = std::get<decision::Unschedulable>(told[1]);
  CHECK(std::string(to_string(waits.reason)) == "GpuQuotaExceeded");
  CHECK(waits.message ==
        "quota q: H100 needs 1, 1 of 1 in use, first in line; 1 more must be freed");
  // It is pending where it could be placed, though other lines have room.
  CHECK(s.use("q", 0) == use(1, 1, 0, 0, 1));
  CHECK(s.use("q", 1) == use(4, 0));
}

TEST_CASE("of the types that a pod would have, the guarantee decides before its preference") {
  QuotaCluster s;
  s.has(l4("l4"));
  s.has(h100("h100"));
  s.has(gpu_quota("q").of("ml").in_cohort("c").line("H100", 1).line("L4", 2));
  s.has(gpu_quota("lender").in_cohort("c").line("H100", 8));
  for (const char* name : {"p1", "p2", "p3", "p4"}) {
    s.has(in("ml", name, 1).annotated(kType, "H100, L4"));
  }
  // Of its own the one that it would rather have; what it would borrow only then.
  CHECK(s.decide() == Texts{"p1 → h100", "p2 → l4", "p3 → l4", "p4 → h100"});
}

TEST_CASE("a pod ranks by the types that it allows alone") {
  const auto first_bound = [](PodBuilder borrower) {
    QuotaCluster s;
    s.has(h100("h100"));
    s.has(l4("l4"));
    s.has(gpu_quota("a").of("a").in_cohort("c").line("H100", 0).line("L4", 4));
    s.has(gpu_quota("b").of("b").in_cohort("c").line("H100", 1));
    s.has(gpu_quota("lender").in_cohort("c").line("H100", 8));
    s.has(borrower.created_at(kStart));
    s.has(in("b", "owner", 1).created_at(kStart + 1s));
    return s.decide().at(0);
  };
  CHECK(first_bound(in("a", "p", 1)) == "p → l4");
  CHECK(first_bound(in("a", "p", 1).annotated(kType, "H100")) == "owner → h100");
  CHECK(first_bound(in("a", "p", 1).selects("nvidia.com/gpu.product", kH100)) == "owner → h100");
  CHECK(first_bound(in("a", "p", 1)
                        .requires_nodes({term({label("nvidia.com/gpu.product").not_in({kL4})})})) ==
        "owner → h100");
}

TEST_CASE("what waiting pods ask for does not depend on which nodes came first") {
  const bool shared_first = GENERATE(false, true);
  QuotaCluster s;
  const k8s::Node whole = h100("whole");
  const k8s::Node shared = node("shared")
                               .product("NVIDIA-L4-SHARED")
                               .labelled("nvidia.com/gpu.replicas", "4")
                               .offers("nvidia.com/gpu", "16");
  s.has(shared_first ? shared : whole);
  s.has(shared_first ? whole : shared);
  SECTION("of one line") {
    s.has(gpu_quota("q").of("ml").line("*", 8));
    s.has(in("ml", "waits", 1).cpu("1000"));
    static_cast<void>(s.decide());
    CHECK(s.use("q").pending.to_string() == "250m");
  }
  SECTION("of two lines") {
    s.has(gpu_quota("q").of("ml").line("H100", 8).line("L4", 8));
    s.has(in("ml", "waits", 1).cpu("1000"));
    static_cast<void>(s.decide());
    CHECK(s.use("q", 0).pending.to_string() == "1");
    CHECK(s.use("q", 1).pending.is_zero());
  }
}

TEST_CASE("MIG instances and shared replicas count what they take of a GPU") {
  QuotaCluster s;
  s.has(node("mig").product("NVIDIA-H100-80GB-HBM3").offers("nvidia.com/mig-3g.40gb", "16"));
  s.has(node("shared")
            .product("NVIDIA-L4-SHARED")
            .labelled("nvidia.com/gpu.replicas", "4")
            .offers("nvidia.com/gpu", "16"));
  s.has(gpu_quota("q").of("ml").line("H100", 1).line("L4", "500m"));
  for (const char* name : {"m1", "m2", "m3"}) {
    s.has(our_pod(name).in_namespace("ml").requests("nvidia.com/mig-3g.40gb", "1"));
  }
  for (const char* name : {"s1", "s2", "s3"}) {
    s.has(in("ml", name, 1).selects("nvidia.com/gpu.product", "NVIDIA-L4-SHARED"));
  }
  const auto told = s.decide();
  REQUIRE(told.size() == 6);
  CHECK(std::count_if(told.begin(), told.end(), [](const std::string& line) {
          return line.find("→") != std::string::npos;
        }) == 4);
  CHECK(s.use("q", 0).used.to_string() == "1");
  CHECK(s.use("q", 1).used.to_string() == "500m");
  CHECK(s.use("q", 1).pending.to_string() == "250m");
}

TEST_CASE("thousandths of a GPU count as such, and beside whole GPUs not at all") {
  constexpr const char* kMilli = "gpu-scheduler.io/gpu-milli";
  QuotaCluster s;
  s.has(node("a").gpus(8).product(kH100).cpu("64").offers(kMilli, "8000"));
  s.has(gpu_quota("q").of("ml").line("H100", 2));
  s.has(our_pod("share").in_namespace("ml").requests(kMilli, "600"));
  s.has(in("ml", "whole", 1).requests(kMilli, "1000").created_at(kStart + 1s));
  s.has(our_pod("more").in_namespace("ml").requests(kMilli, "500").created_at(kStart + 2s));
  const Texts told = s.decide();
  REQUIRE(told.size() == 3);
  CHECK(told[0] == "share → a");
  CHECK(told[1] == "whole → a");
  CHECK(told[2].starts_with("more waits: quota q: H100 needs 0.5, 1.6 of 2 in use"));
  CHECK(s.use("q").used.to_string() == "1600m");
}

TEST_CASE("pods of other schedulers count, and nothing is evicted for a smaller quota") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(gpu_quota("q").of("ml").line("H100", 4));
  s.has(their_pod("theirs").in_namespace("ml").gpus(3).on("a"));
  s.has(in("ml", "p2", 2));
  CHECK(s.decide() == Texts{"p2 waits: quota q: H100 needs 2, 3 of 4 in use, first in line; 1 more "
                            "must be freed"});
  s.has(gpu_quota("q").of("ml").line("H100", 2).generation(2));
  CHECK(s.use("q").used == k8s::Quantity::of(3));
  const auto statuses = s.engine.quota_statuses();
  const auto& conditions = statuses.at(0).status.conditions;
  CHECK(conditions.at(3).type == "OverLimit");
  CHECK(conditions.at(3).status == "True");
  CHECK(conditions.at(3).message ==
        "H100: 3 in use (pods that are being deleted included), 2 allowed; nothing new starts");
  s.pod_gone(their_pod("theirs").in_namespace("ml"));
  CHECK(s.decide() == Texts{"p2 → a"});
}

TEST_CASE("a namespace without quota follows the default") {
  const auto words_with = [](quota::WithoutQuota without_quota) {
    EngineOptions options;
    options.quota.without_quota = without_quota;
    options.quota.default_quota = "shared";
    QuotaCluster s(options);
    s.has(h100("a"));
    s.has(gpu_quota("shared").of("x").line("*", 1));
    s.has(in("ml", "p", 1));
    s.has(in("ml", "q", 1).created_at(kStart + 1s));
    return s.decide();
  };
  CHECK(words_with(quota::WithoutQuota::kUnlimited) == Texts{"p → a", "q → a"});
  CHECK(words_with(quota::WithoutQuota::kNone).at(1) ==
        "q waits: namespace ml has no GPU quota, and pods without quota get no GPUs");
  CHECK(words_with(quota::WithoutQuota::kNamed) ==
        Texts{"p → a",
              "q waits: quota shared: * needs 1, 1 of 1 in use, first in line; 1 more must "
              "be freed"});
}

TEST_CASE("a node that changes its type takes its pods' charges along") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(gpu_quota("q").of("ml").line("H100", 4).line("L4", 4));
  s.has(their_pod("theirs").in_namespace("ml").gpus(3).on("a"));
  CHECK(s.use("q", 0).used == k8s::Quantity::of(3));
  s.has(l4("a", 8));
  CHECK(s.use("q", 0).used == k8s::Quantity::of(0));
  CHECK(s.use("q", 1).used == k8s::Quantity::of(3));
}

TEST_CASE("pods are charged as before while GPU feature discovery restarts") {
  QuotaCluster s;
  const NodeBuilder shared = node("shared").gpus(8).cpu("64");
  const NodeBuilder discovered = NodeBuilder(shared)
                                     .product("NVIDIA-L4-SHARED")
                                     .labelled("nvidia.com/gpu.count", "2")
                                     .labelled("nvidia.com/gpu.replicas", "4")
                                     .labelled("nvidia.com/gpu.sharing-strategy", "time-slicing");
  s.has(discovered);
  s.has(gpu_quota("q").of("ml").line("L4", 1).line("*", 8));
  s.has(their_pod("theirs").in_namespace("ml").gpus(4).on("shared"));
  CHECK(s.use("q", 0).used == k8s::Quantity::of(1));
  for (const NodeBuilder& each : {shared, NodeBuilder(shared).labelled("another", "label")}) {
    s.has(each);
    CHECK(s.use("q", 0).used == k8s::Quantity::of(1));
    CHECK(s.use("q", 1).used == k8s::Quantity::of(0));
  }
  // They are whole now.
  s.has(NodeBuilder(discovered)
            .product("NVIDIA-L4")
            .labelled("nvidia.com/gpu.count", "8")
            .labelled("nvidia.com/gpu.replicas", "1")
            .labelled("nvidia.com/gpu.sharing-strategy", "none"));
  CHECK(s.use("q", 0).used == k8s::Quantity::of(4));
}

TEST_CASE("of two quotas that claim a namespace the older keeps it") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(name_space("ml", {{"team", "x"}}));
  const auto x = selector({{"team", "x"}});
  s.has(gpu_quota("young").selects(x).line("H100", 8).created_at(kStart + 1s));
  const k8s::Pod pod = in("ml", "p", 2);
  s.has(pod);
  CHECK(s.decide() == Texts{"p → a"});
  const auto overlap_of = [&](std::size_t quota) {
    const auto statuses = s.engine.quota_statuses();
    const auto& overlap = statuses.at(quota).status.conditions.at(1);
    CHECK(overlap.type == "NamespaceOverlap");
    return overlap.message;
  };
  s.has(gpu_quota("old").selects(x).line("H100", 1).created_at(kStart));
  CHECK(s.use("young").used == k8s::Quantity::of(0));
  CHECK(s.use("old").used == k8s::Quantity::of(2));
  CHECK(overlap_of(1) == "namespace ml belongs to the older quota old");
  // But not if the other names it.
  s.has(gpu_quota("young").of("ml").line("H100", 8).created_at(kStart + 1s));
  CHECK(s.use("young").used == k8s::Quantity::of(2));
  CHECK(overlap_of(0) == "namespace ml belongs to quota young, which names it");
  CHECK(overlap_of(1).empty());
  s.has(gpu_quota("young").selects(x).line("H100", 8).created_at(kStart + 1s));
  CHECK(s.use("old").used == k8s::Quantity::of(2));
  s.has(name_space("ml"));
  CHECK(s.use("old").used == k8s::Quantity::of(0));
}

TEST_CASE("a pod that its quota can never take is told so, whether or not a node has its type") {
  struct Case {
    std::string name;
    PodBuilder pod;
    std::string told;
  };
  const std::string product = "nvidia.com/gpu.product";
  const auto terms = [&](std::vector<std::string> values) {
    return term({label(product).in(std::move(values))});
  };
  const std::string never = "quota q: H100 needs 16, 0 of 8 in use; it can never give that much";
  const std::vector<Case> cases = {
      {"by its product", in("ml", "p", 16).selects(product, kH100), never},
      {"by its class", in("ml", "p", 16).annotated(kType, "H100"), never},
      {"by an affinity", in("ml", "p", 16).requires_nodes({terms({kH100})}), never},
      {"of no line", in("ml", "p", 1).selects(product, "NVIDIA-B200"),
       "quota q: NVIDIA-B200 is not in it, so it gives none"},
      {"it could", in("ml", "p", 8).selects(product, kH100), ""},
      {"by one of its types", in("ml", "p", 16).annotated(kType, "H100, A100"), ""},
      {"parts of GPUs", in("ml", "p", 16).selects(product, std::string(kH100) + "-SHARED"), ""},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    QuotaCluster s;
    s.has(l4("l", 4));
    s.has(gpu_quota("q").of("ml").line("H100", 8).line("A100", 32));
    s.has(c.pod);
    const auto told = s.decisions();
    REQUIRE(told.size() == 1);
    const auto& waits = std::get<decision::Unschedulable>(told[0]);
    const bool by_quota = std::string(to_string(waits.reason)) == "GpuQuotaExceeded";
    CHECK(by_quota == !c.told.empty());
    if (!by_quota) continue;
    CHECK(waits.message == c.told);
    // An autoscaler's node, were there one, would change nothing.
    s.has(node("h").gpus(16).product(kH100).cpu("64"));
    for (const std::string& line : s.decide()) CHECK(line == "p waits: " + c.told);
    s.node_gone("h");
    for (const std::string& line : s.decide()) CHECK(line == "p waits: " + c.told);
  }
}

TEST_CASE("a pod that asks for too much is told when its quota is deleted, and made anew") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(gpu_quota("q").of("ml").line("H100", 4));
  s.has(in("ml", "large", 8));
  const Texts too_much{
      "large waits: quota q: H100 needs 8, 0 of 4 in use; it can never give that much"};
  REQUIRE(s.decide() == too_much);
  s.apply(event::QuotaDeleted{"q"});
  REQUIRE(s.decide().size() == 1);
  s.apply(event::QuotaDeleted{"none"});
  CHECK(s.decide().empty());
  s.has(gpu_quota("q").of("ml").line("H100", 4).generation(2));
  CHECK(s.decide() == too_much);
}

TEST_CASE("a quota that is deleted and made anew gives nothing in between") {
  QuotaCluster s;
  s.has(h100("a"));
  const auto quota = gpu_quota("q").of("ml").line("H100", 2);
  s.has(quota);
  for (const char* name : {"p", "x", "y", "z"}) s.has(in("ml", name, 2));
  s.has(our_pod("cpu").in_namespace("ml").cpu("1"));
  CHECK(s.decide().size() == 5);
  CHECK(s.use("q").used == k8s::Quantity::of(2));

  s.apply(event::QuotaDeleted{"q"});
  CHECK(s.engine.quota_statuses().empty());
  const std::string told =
      "quota q was deleted: its namespaces get no GPUs until 1970-01-12T13:47:40Z, nor while their "
      "pods use any (2 now); a quota for them ends that";
  CHECK(s.decide() == Texts{"x waits: " + told, "y waits: " + told, "z waits: " + told});
  s.has(our_pod("cpu-too").in_namespace("ml").cpu("1"));
  CHECK(s.decide() == Texts{"cpu-too → a"});

  SECTION("under its name") { s.has(GpuQuotaBuilder(quota).line("L4", 1).generation(1)); }
  SECTION("under another name") { s.has(gpu_quota("other").of("ml").line("H100", 2)); }
  CHECK(s.decide().size() == 3);
  CHECK(s.engine.quota_statuses().at(0).status.total.used == k8s::Quantity::of(2));
  s.pod_gone(in("ml", "p", 2));
  CHECK(s.decide().size() == 1);
}

TEST_CASE(
    "the namespaces of a deleted quota are opened when its pods are gone and its time is over") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(gpu_quota("q").of("ml").line("H100", 2));
  const k8s::Pod running = in("ml", "runs", 2);
  s.has(running);
  s.has(in("ml", "waits", 2));
  REQUIRE(s.decide().at(0) == "runs → a");
  s.apply(event::QuotaDeleted{"q"});
  REQUIRE(s.decide().size() == 1);
  SECTION("when both are, by a step of its own") {
    s.now += 59s;
    s.pod_gone(running);
    CHECK(s.decide() == Texts{});
    s.now = s.engine.next_wakeup().value();
    CHECK(s.now == kStart + 60s);
    CHECK(s.decide() == Texts{"waits → a"});
  }
  SECTION("not while they run") {
    s.now += 24h;
    CHECK(s.decide().at(0).starts_with("waits waits: quota q was deleted"));
    CHECK(s.engine.next_wakeup() > s.now);
    s.pod_gone(running);
    CHECK(s.decide() == Texts{"waits → a"});
  }
}

TEST_CASE("a new process that is told what was there keeps closed what was closed") {
  EngineOptions options;
  QuotaCluster before(options);
  before.has(gpu_quota("kept").of("kept").line("H100", 2).created_at(kStart));
  before.has(gpu_quota("seen").of("ml").line("H100", 2).created_at(kStart));
  before.has(gpu_quota("open").of("open").line("H100", 2).opens_when_deleted());
  const auto remember = [&] { return before.engine.take_quota_news().remember; };
  CHECK(remember()->size() == 3);
  CHECK_FALSE(remember());
  before.now += 10s;
  before.apply(event::QuotaDeleted{"seen"});
  const auto memory = remember();
  REQUIRE(memory);

  // Meanwhile all but one are deleted.
  Scheduler s(options);
  s.now = kStart + 40s;
  s.has(h100("a"));
  s.has(in("ml", "m", 1));
  s.has(in("kept", "k", 2));
  s.has(in("open", "o", 2));
  s.has(in("lost", "l", 1));
  s.apply(event::QuotaUpserted{gpu_quota("kept").of("kept").line("H100", 2).created_at(kStart)});
  for (const k8s::GpuQuota& quota : *memory) s.apply(event::QuotaRemembered{quota});
  k8s::GpuQuota lost = gpu_quota("lost").selects(k8s::LabelSelector{});
  s.has(name_space("lost"));
  lost.spec.quotas.clear();
  s.apply(event::QuotaRemembered{lost});
  for (const char* name : {"ml", "kept", "open"}) s.has(name_space(name));
  s.synced();
  Texts told = s.decide();
  std::sort(told.begin(), told.end());
  REQUIRE(told.size() == 4);
  CHECK(told[0] == "k → a");
  CHECK(
      told[1].starts_with("l waits: quota lost was deleted: its namespaces get no GPUs until "
                          "1970-01-12T13:48:20Z;"));
  CHECK(
      told[2].starts_with("m waits: quota seen was deleted: its namespaces get no GPUs until "
                          "1970-01-12T13:47:50Z;"));
  CHECK(told[3].starts_with("o waits: quota lost was deleted"));  // which selects all
  // It remembers the same in turn.
  CHECK(s.engine.take_quota_news().remember->size() == 3);
}

TEST_CASE("a deletion that a process before dated ahead, by a wrong clock, counts from now on") {
  Scheduler s;
  s.has(h100("a"));
  s.has(name_space("ml"));
  s.has(in("ml", "p", 1));
  k8s::GpuQuota deleted = gpu_quota("q").of("ml").line("H100", 2);
  deleted.metadata.deletion_timestamp = kStart + 24h;
  s.apply(event::QuotaRemembered{deleted});
  s.synced();
  CHECK(s.decide().at(0).starts_with(
      "p waits: quota q was deleted: its namespaces get no GPUs until 1970-01-12T13:47:40Z;"));
}

TEST_CASE("by which labels a quota selects is remembered, too") {
  QuotaCluster s;
  const k8s::LabelSelector selector = tests::selector({{"team", "vision"}});
  s.has(gpu_quota("seen").selects(selector).line("H100", 2));
  const auto memory = s.engine.take_quota_news().remember;
  REQUIRE(memory);
  REQUIRE(memory->size() == 1);
  CHECK(memory->front().spec.namespace_selector == selector);
}

TEST_CASE("the namespaces of a deleted quota are opened at once where the configuration says so") {
  EngineOptions options;
  options.quota.closed_after_deletion = 0s;
  QuotaCluster s(options);
  s.has(h100("a"));
  s.has(gpu_quota("q").of("ml").line("H100", 2));
  s.has(in("ml", "p", 4));
  REQUIRE(s.decide().size() == 1);
  s.apply(event::QuotaDeleted{"q"});
  CHECK(s.decide() == Texts{"p → a"});
}

TEST_CASE(
    "a deleted quota keeps no namespace from another that selects it, nor from its own line") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(name_space("ml", {{"team", "x"}}));
  s.has(gpu_quota("q").of("ml").line("H100", 0).created_at(kStart));
  s.has(gpu_quota("x").selects(selector({{"team", "x"}})).line("H100", 8).created_at(kStart + 1s));
  s.has(in("ml", "p", 2));
  REQUIRE(s.decide().size() == 1);
  s.apply(event::QuotaDeleted{"q"});
  CHECK(s.decide() == Texts{"p → a"});
  // One in its place that is smaller does not get back what it had.
  s.has(name_space("ml"));
  s.has(in("ml", "late", 1));
  CHECK(s.decide().at(0).starts_with("late waits: quota q was deleted"));
}

TEST_CASE("a pod whose namespace is not known yet waits for it where labels decide on its quota") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(gpu_quota("q").selects(selector({{"team", "x"}})).line("H100", 1));
  s.has(our_pod("cpu").in_namespace("ml").cpu("1"));
  s.has(in("ml", "p", 2));
  CHECK(s.decide() == Texts{"p waits: namespace ml is not known yet, and its labels decide which "
                            "GPU quota counts its pods",
                            "cpu → a"});
  SECTION("and is limited if it is claimed") {
    s.has(name_space("ml", {{"team", "x"}}));
    CHECK(s.decide() ==
          Texts{"p waits: quota q: H100 needs 2, 0 of 1 in use; it can never give that much"});
  }
  SECTION("and goes on if it is not") {
    s.has(name_space("ml"));
    CHECK(s.decide() == Texts{"p → a"});
  }
  SECTION("or until nobody claims by labels any more") {
    s.has(gpu_quota("q").of("other").line("H100", 1).generation(2));
    CHECK(s.decide() == Texts{"p → a"});
  }
}

TEST_CASE("waiting pods follow their namespace to another quota") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(gpu_quota("small").of("ml").line("H100", 1).opens_when_deleted());
  s.has(in("ml", "p", 2));
  CHECK(s.decide().size() == 1);
  s.apply(event::QuotaDeleted{"small"});
  CHECK(s.decide() == Texts{"p → a"});
}

TEST_CASE("the accounts that are told are those that have changed") {
  QuotaCluster s;
  const auto told = [&] {
    Texts names;
    const QuotaNews news = s.engine.take_quota_news();
    for (const QuotaStatus& each : news.changed) names.push_back(each.name);
    for (const std::string& name : news.gone) names.push_back("-" + name);
    return names;
  };
  s.has(h100("a"));
  for (const char* name : {"x", "y", "z"}) s.has(gpu_quota(name).of(name).line("H100", 1));
  CHECK(told() == Texts{"x", "y", "z"});
  CHECK(told() == Texts{});
  s.has(our_pod("plain").gpus(1));
  s.has(in("y", "first", 1));
  s.has(in("y", "second", 1));
  s.has(in("z", "third", 2));
  s.decide();
  CHECK(s.use("y") == use(1, 1, 0, 0, 1));
  CHECK(told() == Texts{"y", "z"});
  s.pod_gone(in("z", "third", 2));
  s.apply(event::QuotaDeleted{"x"});
  CHECK(s.use("z") == use(1, 0));
  CHECK(told() == Texts{"y", "z", "-x"});  // a quota that goes may change all
  CHECK(told() == Texts{});
}
