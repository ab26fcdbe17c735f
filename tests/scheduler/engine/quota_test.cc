// GPU quotas through the engine: who gets a turn, where pods may go, and what they are told.
#include "tests/scheduler/engine/harness.h"
#include "tests/support/catch.h"
#include "tests/support/gpu_quotas.h"

#include <chrono>
#include <string>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;

namespace {

constexpr const char* kH100 = "NVIDIA-H100-80GB-HBM3";
constexpr const char* kL4 = "NVIDIA-L4";
constexpr const char* kType = "gpu-scheduler.io/gpu-type";

k8s::Node h100(std::string_view name) { return node(name).gpus(8).product(kH100).cpu("64"); }
k8s::Node l4(std::string_view name, int gpus = 4) {
  return node(name).gpus(gpus).product(kL4).cpu("64");
}
PodBuilder in(std::string_view namespace_, std::string_view name, int gpus) {
  return our_pod(name).in_namespace(namespace_).gpus(gpus);
}

struct Cluster : Scheduler {
  explicit Cluster(EngineOptions options = {}) : Scheduler(std::move(options)) { synced(); }
  using Scheduler::has;
  void has(const k8s::GpuQuota& quota) { apply(event::QuotaUpserted{quota}); }
  void bound(k8s::Pod pod, const std::string& node) {
    pod.spec.node_name = node;
    has(pod);
  }
  k8s::GpuQuota::Use use(const std::string& quota, std::size_t line = 0) const {
    for (const QuotaStatus& status : engine.quota_statuses()) {
      if (status.name == quota) return status.status.quotas.at(line).use;
    }
    FAIL("no such quota: " << quota);
    return {};
  }
};

k8s::GpuQuota::Use use(int guaranteed, int used, int borrowed = 0, int lent = 0, int pending = 0) {
  return {.guaranteed = k8s::Quantity::of(guaranteed),
          .used = k8s::Quantity::of(used),
          .borrowed = k8s::Quantity::of(borrowed),
          .lent = k8s::Quantity::of(lent),
          .pending = k8s::Quantity::of(pending)};
}

}  // namespace

TEST_CASE("a pod beyond its quota waits, with the reason in numbers, until some is free") {
  Cluster s;
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
  SECTION("by the end of the quota") { s.apply(event::QuotaDeleted{"team-vision"}); }
  CHECK(s.decide().at(0).starts_with("second → "));
}

TEST_CASE("what quota refuses is not unschedulable to a cluster autoscaler") {
  Cluster s;
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

TEST_CASE("quotas of a cohort lend what they do not use, and take it back") {
  Cluster s;
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
  // The lender's guarantee needs nobody's consent, only room.
  s.has(in("speech", "s4", 4));
  CHECK(s.decide() == Texts{"s4 → b"});
  CHECK(s.use("speech") == use(8, 4, 0, 2));
  s.pod_gone(six);
  CHECK(s.decide() == Texts{"v3 → a"});
}

TEST_CASE("types within the guarantee come first, a type without room is no candidate") {
  Cluster s;
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
  Cluster s;
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
  Cluster s;
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
  Cluster s;
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
    Cluster s;
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

TEST_CASE("MIG instances and shared replicas count what they take of a GPU") {
  Cluster s;
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

TEST_CASE("pods of other schedulers count, and nothing is evicted for a smaller quota") {
  Cluster s;
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
        "H100: 3 in use, 2 allowed; nothing is evicted, and nothing new starts");
  s.pod_gone(their_pod("theirs").in_namespace("ml"));
  CHECK(s.decide() == Texts{"p2 → a"});
}

TEST_CASE("a namespace without quota follows the default") {
  const auto words_with = [](quota::WithoutQuota without_quota) {
    EngineOptions options;
    options.quota.without_quota = without_quota;
    options.quota.default_quota = "shared";
    Cluster s(options);
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

TEST_CASE("guarantees come before loans, and the smallest borrower before greater ones") {
  Cluster s;
  s.has(node("a").gpus(3).product(kH100).cpu("64"));
  s.has(gpu_quota("owner").of("owner").in_cohort("c").line("H100", 1));
  s.has(gpu_quota("poor").of("poor").in_cohort("c").line("H100", 2));
  s.has(gpu_quota("lender").in_cohort("c").line("H100", 8));
  s.has(gpu_quota("nothing").of("nothing").in_cohort("c").line("H100", 0));
  // Everybody's pods in one go, the least entitled the oldest and most important.
  s.has(our_pod("plain").gpus(1).priority(9));
  s.has(in("nothing", "n1", 1).priority(9));
  s.has(in("owner", "o1", 1).created_at(kStart + 1s));
  s.has(in("owner", "o2", 1).created_at(kStart + 2s));
  s.has(in("poor", "p1", 1).created_at(kStart + 3s));
  auto told = s.decide();
  told.resize(3);
  CHECK(told == Texts{"o1 → a", "p1 → a", "o2 → a"});
}

TEST_CASE("best effort lets a pod that fits pass, strict does not") {
  const auto run = [](bool strict) {
    Cluster s;
    s.has(h100("a"));
    GpuQuotaBuilder quota = gpu_quota("q").of("ml").line("H100", 4);
    if (strict) quota.strict();
    s.has(quota);
    s.has(in("ml", "first", 3));
    s.has(in("ml", "large", 2).created_at(kStart + 1s));
    s.has(in("ml", "small", 1).created_at(kStart + 2s));
    Texts told = s.decide();
    s.pod_gone(in("ml", "first", 3));
    for (const std::string& line : s.decide()) told.push_back(line);
    return told;
  };
  CHECK(run(false) == Texts{"first → a",
                            "large waits: quota q: H100 needs 2, 3 of 4 in use, first in line; 1 "
                            "more must be freed",
                            "small → a", "large → a"});
  CHECK(run(true) == Texts{"first → a",
                           "large waits: quota q: H100 needs 2, 3 of 4 in use, first in line; 1 "
                           "more must be freed",
                           "small waits: quota q is Strict: 2nd in line, behind ml/large, and none "
                           "may pass",
                           "large → a", "small → a"});
}

TEST_CASE("for a pod that has waited long, quota and then a node are kept") {
  Cluster s;
  s.has(node("a").gpus(4).product(kH100).cpu("64"));
  s.has(gpu_quota("q").of("ml").line("H100", 4));
  const k8s::Pod one = in("ml", "one", 1);
  const k8s::Pod two = in("ml", "two", 1).created_at(kStart + 1s);
  s.has(one);
  s.has(two);
  CHECK(s.decide().size() == 2);
  const k8s::Pod large = in("ml", "large", 4).created_at(kStart + 2s);
  s.has(large);
  CHECK(s.decide().size() == 1);
  CHECK(s.engine.next_wakeup() == kStart + 300s);  // its message is refreshed

  s.now = kStart + 600s;
  static_cast<void>(s.decide());
  // Its quota is kept: nobody passes any more.
  s.has(in("ml", "small", 1).created_at(kStart + 3s));
  CHECK(s.decide() ==
        Texts{"small waits: quota q: H100 needs 1, 2 of 4 in use, 2nd in line; what is freed is "
              "kept for one that has waited long, 3 more must be freed"});
  // A pod without quota takes a GPU of the node: then the quota is free before the node is.
  s.has(our_pod("guest").gpus(2));
  CHECK(s.decide() == Texts{"guest → a"});
  s.pod_gone(one);
  s.pod_gone(two);
  const auto told = s.decisions();
  REQUIRE(told.size() == 1);
  const auto& waits = std::get<decision::Unschedulable>(told[0]);
  CHECK(waits.pod.name == "large");
  CHECK(waits.details.ends_with("holds node a until it has room"));
  // Nobody else is placed on what it needs there.
  s.has(our_pod("other").gpus(1));
  CHECK(s.decide().at(0).starts_with("other waits: 0/1 nodes"));
  s.pod_gone(our_pod("guest"));
  CHECK(s.decide().at(0) == "large → a");
}

TEST_CASE("a head that cannot be helped denies nobody what is kept for those that wait") {
  struct Case {
    std::string name;
    PodBuilder head;
  };
  const std::vector<Case> cases = {
      {"no node could take it", in("ml", "head", 2).selects("rack", "none")},
      {"no node has its type", in("ml", "head", 2).annotated(kType, "B200")},
      {"it would have to borrow", in("ml", "head", 6)},
      {"its quota could never give so much", in("ml", "head", 9)},
      {"it is more than one pod may have", in("ml", "head", 8)},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    Cluster s;
    s.has(h100("a"));
    s.has(gpu_quota("q").of("ml").in_cohort("c").line("H100", 4).limit(8).most_per_pod(7));
    s.has(gpu_quota("lender").of("lender").in_cohort("c").line("H100", 4));
    s.has(their_pod("lenders").in_namespace("lender").gpus(4).on("a"));
    s.has(their_pod("theirs").in_namespace("ml").gpus(3).on("a"));
    s.has(PodBuilder(c.head).priority(9));
    s.has(in("ml", "next", 3).created_at(kStart + 1s));
    static_cast<void>(s.decide());
    s.now = kStart + 700s;
    static_cast<void>(s.decide());
    s.has(in("ml", "small", 1).created_at(kStart + 700s));
    // There is one free, on the node as in the quota.
    CHECK(s.decide().back().find("what is freed is kept for one that has waited long") !=
          std::string::npos);
    s.pod_gone(their_pod("theirs").in_namespace("ml"));
    CHECK(s.decide().front() == "next → a");
  }
}

TEST_CASE("in a strict quota nobody has his turn before a head that no node could take") {
  Cluster s;
  s.has(h100("a"));
  s.has(gpu_quota("q").of("ml").line("H100", 4).strict());
  s.has(in("ml", "head", 2).selects("rack", "none"));
  s.has(in("ml", "next", 2).created_at(kStart + 1s));
  const auto told = s.decide();
  CHECK(told.at(0).starts_with("head waits: 0/1 nodes are available"));
  CHECK(told.at(1) ==
        "next waits: quota q is Strict: 2nd in line, behind ml/head, and none may pass");
  s.now = kStart + 700s;
  static_cast<void>(s.decide());
  s.pod_gone(in("ml", "head", 2));
  CHECK(s.decide() == Texts{"next → a"});
}

TEST_CASE("patience counts from creation or from the end of the gates, whoever was there to see") {
  const auto held_from = [](const k8s::Pod& large, Time seen, std::optional<Time> ungated) {
    Cluster s;
    s.has(h100("a"));
    s.has(gpu_quota("q").of("ml").line("H100", 8));
    s.has(their_pod("theirs").in_namespace("ml").gpus(4).on("a"));
    s.now = seen;
    s.has(large);
    static_cast<void>(s.decide());
    if (ungated) {
      s.now = *ungated;
      k8s::Pod free = large;
      free.spec.scheduling_gates.clear();
      s.has(free);
      static_cast<void>(s.decide());
    }
    // Small pods pass it until what is left is kept for it.
    for (int i = 0; i < 10; ++i) {
      s.now = s.engine.next_wakeup().value_or(s.now);
      static_cast<void>(s.decide());
      s.has(in("ml", "small" + std::to_string(i), 1).created_at(s.now));
      if (s.decide().back().find("what is freed is kept") != std::string::npos) return s.now;
    }
    return Time{};
  };
  const PodBuilder large = in("ml", "large", 8).created_at(kStart);
  CHECK(held_from(large, kStart, std::nullopt) == kStart + 600s);
  CHECK(held_from(large, kStart + 200s, std::nullopt) == kStart + 600s);
  CHECK(held_from(PodBuilder(large).gated("later"), kStart, kStart + 400s) == kStart + 1'000s);
  CHECK(held_from(PodBuilder(large).condition("PodScheduled", "False", "SchedulingGated"),
                  kStart + 400s, std::nullopt) == kStart + 1'000s);
  CHECK(held_from(PodBuilder(large).condition("PodScheduled", "False", "GpuQuotaExceeded"),
                  kStart + 400s, std::nullopt) == kStart + 600s);
  // By a clock that is ahead of ours.
  CHECK(held_from(PodBuilder(large).created_at(kStart + 50s), kStart, std::nullopt) ==
        kStart + 600s);
}

TEST_CASE("a node that changes its type takes its pods' charges along") {
  Cluster s;
  s.has(h100("a"));
  s.has(gpu_quota("q").of("ml").line("H100", 4).line("L4", 4));
  s.has(their_pod("theirs").in_namespace("ml").gpus(3).on("a"));
  CHECK(s.use("q", 0).used == k8s::Quantity::of(3));
  s.has(l4("a", 8));
  CHECK(s.use("q", 0).used == k8s::Quantity::of(0));
  CHECK(s.use("q", 1).used == k8s::Quantity::of(3));
}

TEST_CASE("of two quotas that claim a namespace the older keeps it") {
  Cluster s;
  s.has(h100("a"));
  s.has(name_space("ml", {{"team", "x"}}));
  s.has(gpu_quota("young").of("ml").line("H100", 8).created_at(kStart + 1s));
  const k8s::Pod pod = in("ml", "p", 2);
  s.has(pod);
  CHECK(s.decide() == Texts{"p → a"});
  s.has(gpu_quota("old").selects(selector({{"team", "x"}})).line("H100", 1).created_at(kStart));
  CHECK(s.use("young").used == k8s::Quantity::of(0));
  CHECK(s.use("old").used == k8s::Quantity::of(2));
  const auto statuses = s.engine.quota_statuses();
  const auto& overlap = statuses.at(1).status.conditions.at(1);
  CHECK(overlap.type == "NamespaceOverlap");
  CHECK(overlap.message == "namespace ml belongs to the older quota old");
  s.has(name_space("ml"));
  CHECK(s.use("young").used == k8s::Quantity::of(2));
}

TEST_CASE("a pod whose namespace is not known yet waits for it where labels decide on its quota") {
  Cluster s;
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
  Cluster s;
  s.has(h100("a"));
  s.has(gpu_quota("small").of("ml").line("H100", 1));
  s.has(in("ml", "p", 2));
  CHECK(s.decide().size() == 1);
  s.apply(event::QuotaDeleted{"small"});
  CHECK(s.decide() == Texts{"p → a"});
}

TEST_CASE("nothing is kept for a pod that no node could take, until one could") {
  Cluster s;
  s.has(h100("a"));
  s.has(l4("b"));
  s.has(gpu_quota("q").of("ml").line("H100", 4).line("L4", 2));
  s.has(in("ml", "lost", 4).selects("rack", "none").created_at(kStart));
  CHECK(s.decide().size() == 1);
  s.now = kStart + 600s;
  CHECK(s.decide().size() == 1);  // its message is refreshed
  s.has(in("ml", "small", 1).created_at(kStart + 1s).selects("nvidia.com/gpu.product", kH100));
  CHECK(s.decide() == Texts{"small → a"});

  SECTION("a node for it has a type of which its quota has not so much") {
    s.has(node("c").gpus(4).product(kL4).cpu("64").labelled("rack", "none"));
    static_cast<void>(s.decide());
    s.now += 20s;
    static_cast<void>(s.decide());
  }
  SECTION("a node for it has come and gone") {
    s.has(node("c").gpus(8).product(kH100).cpu("64").labelled("rack", "none"));
    s.has(our_pod("guest").gpus(8).selects("rack", "none").priority(9));
    s.now += 20s;
    static_cast<void>(s.decide());
    s.has(in("ml", "behind", 1).created_at(kStart + 2s).selects("nvidia.com/gpu.product", kH100));
    CHECK(s.decide().at(0).starts_with("behind waits: quota q: H100 needs 1"));
    s.node_gone("c");
    s.now += 20s;
    CHECK(s.decide() == Texts{"behind → a"});
  }
  s.has(in("ml", "next", 1).created_at(kStart + 3s).selects("nvidia.com/gpu.product", kH100));
  CHECK(s.decide() == Texts{"next → a"});
}

TEST_CASE("what is kept is of a type that some node for the pod has") {
  Cluster s;
  s.has(h100("a"));
  s.has(node("b").gpus(2).product(kL4).cpu("64").labelled("rack", "b"));
  s.has(gpu_quota("q").of("ml").line("H100", 4).line("L4", 2));
  const k8s::Pod first = in("ml", "first", 1).selects("rack", "b");
  s.has(first);
  CHECK(s.decide() == Texts{"first → b"});
  s.has(in("ml", "both", 2).selects("rack", "b").created_at(kStart + 1s));
  CHECK(s.decide().size() == 1);
  s.now = kStart + 600s;
  static_cast<void>(s.decide());
  s.has(in("ml", "h", 4).created_at(kStart + 2s).selects("nvidia.com/gpu.product", kH100));
  CHECK(s.decide() == Texts{"h → a"});
  s.has(in("ml", "l", 1).created_at(kStart + 2s).selects("nvidia.com/gpu.product", kL4));
  CHECK(s.decide().at(0).starts_with("l waits: quota q: L4 needs 1, 1 of 2 in use, 2nd in line"));
  s.pod_gone(first);
  CHECK(s.decide() == Texts{"both → b"});
}

TEST_CASE("a node that is held stays so when another quota changes") {
  Cluster s;
  s.has(node("a").gpus(4).product(kH100).cpu("64"));
  s.has(gpu_quota("q").of("ml").line("H100", 4));
  s.has(gpu_quota("other").of("other").line("H100", 4));
  for (const char* name : {"g1", "g2"}) s.has(our_pod(name).gpus(1).priority(9));
  CHECK(s.decide() == Texts{"g1 → a", "g2 → a"});
  s.has(in("ml", "large", 4));
  CHECK(s.decide().size() == 1);
  s.now = kStart + 600s;
  static_cast<void>(s.decide());
  s.has(gpu_quota("other").of("other").line("H100", 3).generation(2));
  s.pod_gone(our_pod("g1"));
  s.has(in("other", "o", 1).priority(5));  // has its turn before
  for (const std::string& told : s.decide()) CHECK(told.find("→") == std::string::npos);
  s.pod_gone(our_pod("g2"));
  CHECK(s.decide().at(0) == "large → a");
}

TEST_CASE("who asks for more than its cohort could lend keeps nobody waiting") {
  Cluster s;
  s.has(h100("a"));
  s.has(gpu_quota("q").of("ml").in_cohort("c").line("H100", 2).limit(8).strict());
  s.has(gpu_quota("lender").in_cohort("c").line("H100", 2));
  s.has(in("ml", "large", 6));
  s.has(in("ml", "small", 1).created_at(kStart + 1s));
  CHECK(s.decide() ==
        Texts{"large waits: quota q: H100 needs 6, 0 of 8 in use; it can never give that much",
              "small → a"});
  s.has(gpu_quota("lender").in_cohort("c").line("H100", 6).generation(2));
  CHECK(s.decide() == Texts{"large → a"});
}

TEST_CASE("the accounts that are told are those that have changed") {
  Cluster s;
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

TEST_CASE("pods alike that their quota could never help join the line together when it can") {
  Cluster s;
  s.has(h100("a"));
  s.has(gpu_quota("q").of("ml").line("H100", 1));
  for (const char* name : {"p1", "p2", "p3"}) s.has(in("ml", name, 2));
  CHECK(s.decide().size() == 3);
  CHECK(s.use("q").pending.is_zero());
  s.has(gpu_quota("q").of("ml").line("H100", 4).generation(2));
  CHECK(s.decide() == Texts{"p1 → a", "p2 → a",
                            "p3 waits: quota q: H100 needs 2, 4 of 4 in use, first in line; 2 more "
                            "must be freed"});
  CHECK(s.use("q") == use(4, 4, 0, 0, 2));
  // And they leave it together when it can help them no more.
  s.has(in("ml", "p4", 2));
  s.has(in("ml", "p5", 2));
  s.has(gpu_quota("q").of("ml").line("H100", 1).generation(3));
  CHECK(s.decide().size() == 3);
  CHECK(s.use("q").pending.is_zero());
}
