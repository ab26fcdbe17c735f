// Turns between GPU quotas through the engine: which is next, and what is kept for pods that have
// waited long.
#include "tests/scheduler/engine/quota_cluster.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;

TEST_CASE("guarantees come before loans, and the smallest borrower before greater ones") {
  QuotaCluster s;
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

TEST_CASE(
    "a pod within its guarantee comes before loans, whatever else of its quota waits for nodes") {
  QuotaCluster s;
  s.has(node("a").gpus(1).product(kH100).cpu("64"));
  s.has(gpu_quota("owner").of("owner").in_cohort("c").line("H100", 1));
  s.has(gpu_quota("other").of("other").in_cohort("c").line("H100", 0));
  s.has(gpu_quota("lender").in_cohort("c").line("H100", 16));
  s.has(their_pod("theirs").gpus(1).on("a"));
  s.has(in("owner", "large", 8));
  s.has(in("owner", "small", 1).created_at(kStart + 2s));
  s.has(in("other", "loan", 1).created_at(kStart + 1s));
  s.decide();
  s.pod_gone(their_pod("theirs").gpus(1).on("a"));
  CHECK(s.decide().at(0) == "small → a");
}

TEST_CASE("who borrows is told by the type that is lent, not by what else there is") {
  QuotaCluster s;
  s.has(node("h").gpus(1).product(kH100).cpu("64"));
  s.has(l4("l", 4));
  s.has(gpu_quota("lender").in_cohort("c").line("H100", 16).line("L4", 16));
  SECTION("a line without guarantee comes last, though its quota has another") {
    s.has(gpu_quota("a").of("a").in_cohort("c").line("H100", 0).line("L4", 1));
    s.has(gpu_quota("b").of("b").in_cohort("c").line("H100", 1));
    s.has(in("b", "runs", 1).annotated("gpu-scheduler.io/charged-as", kH100).on("gone"));
    s.has(in("a", "a1", 1).selects("nvidia.com/gpu.product", kH100));
    s.has(in("b", "b1", 1).created_at(kStart + 1s));
    s.has(in("b", "b2", 1).created_at(kStart + 1s));
    CHECK(s.decide().at(0) == "b1 → h");
  }
  SECTION("what is borrowed of one type is no share of another") {
    s.has(gpu_quota("a").of("a").in_cohort("c").line("H100", 4).line("L4", 1));
    s.has(gpu_quota("b").of("b").in_cohort("c").line("H100", 2));
    s.has(in("a", "l4s", 4).on("l"));
    s.has(in("a", "a0", 4).annotated("gpu-scheduler.io/charged-as", kH100).on("gone"));
    s.has(in("b", "b0", 3).annotated("gpu-scheduler.io/charged-as", kH100).on("gone"));
    s.has(in("b", "b1", 1));
    s.has(in("a", "a1", 1).created_at(kStart + 1s));
    CHECK(s.decide().at(0) == "a1 → h");
  }
}

namespace {

void quotas_any_and_some(QuotaCluster& s) {
  s.has(gpu_quota("any").of("any").in_cohort("c").line("H100", 1).line("L4", 1));
  s.has(gpu_quota("some").of("some").in_cohort("c").line("H100", 1));
}

// `any` takes every type, `some` asks for H100, of which both have borrowed nothing yet.
void pods_of_any_and_some(QuotaCluster& s, int each) {
  for (int i = 0; i < each; ++i) {
    s.has(in("any", "a" + std::to_string(i), 1));
    s.has(in("some", "b" + std::to_string(i), 1)
              .selects("nvidia.com/gpu.product", kH100)
              .created_at(kStart + 1s));
  }
}

// How many pods of any and of some were bound to the node with H100.
std::pair<int, int> on_h(const Texts& told) {
  const auto of = [&](char team) {
    return static_cast<int>(std::count_if(told.begin(), told.end(), [&](const std::string& each) {
      return each[0] == team && each.ends_with(" → h");
    }));
  };
  return {of('a'), of('b')};
}

}  // namespace

TEST_CASE("a type of which nothing is left gives nobody an earlier turn for another") {
  QuotaCluster s;
  s.has(node("h").gpus(8).product(kH100).cpu("64"));
  s.has(l4("l", 1));
  quotas_any_and_some(s);
  SECTION("nothing is lent") {
    s.has(gpu_quota("lender").in_cohort("c").line("H100", 6));
    s.has(in("any", "l4", 1).on("l"));
  }
  SECTION("nothing is free") {
    s.has(gpu_quota("lender").in_cohort("c").line("H100", 6).line("L4", 6));
    s.has(in("any", "gone", 1).annotated("gpu-scheduler.io/charged-as", "NVIDIA-L4").on("gone"));
    s.has(their_pod("l4").gpus(1).on("l"));
  }
  pods_of_any_and_some(s, 8);
  CHECK(on_h(s.decide()) == std::pair(4, 4));
}

TEST_CASE("a type of which much is borrowed costs nobody the turn for another") {
  QuotaCluster s;
  s.has(node("h").gpus(8).product(kH100).cpu("64"));
  s.has(l4("l", 8));
  quotas_any_and_some(s);
  s.has(gpu_quota("lender").in_cohort("c").line("H100", 6).line("L4", 7));
  s.has(in("any", "l4s", 6).on("l"));
  pods_of_any_and_some(s, 12);
  CHECK(on_h(s.decide()) == std::pair(4, 4));
}

TEST_CASE("a pod that its rules keep off all nodes gives borrowers no turn before an owner's pod") {
  constexpr const char* kProduct = "nvidia.com/gpu.product";
  QuotaCluster s({"InterPodAffinity"});
  s.has(node("h").gpus(3).product(kH100).cpu("64"));
  s.has(l4("l", 8));
  s.has(gpu_quota("owner").of("owner").in_cohort("c").line("H100", 2).line("L4", 1));
  s.has(gpu_quota("guest").of("guest").in_cohort("c").line("H100", 1));
  s.has(gpu_quota("lender").in_cohort("c").line("H100", 4).line("L4", 4));
  s.has(in("owner", "l4s", 2).labelled("app", "x").on("l"));
  s.has(in("owner", "runs", 1).on("h"));
  s.has(in("guest", "runs", 1).on("h"));
  const k8s::Pod ends = our_pod("ends").gpus(1).on("h");
  s.has(ends);
  s.has(in("owner", "apart", 1)
            .selects(kProduct, kL4)
            .away_from(pods_like({{"app", "x"}}, "kubernetes.io/hostname")));
  s.has(in("owner", "owns", 1).selects(kProduct, kH100).created_at(kStart + 1s));
  s.has(in("guest", "borrows", 1).selects(kProduct, kH100));
  REQUIRE(s.decide().size() == 3);
  s.pod_gone(ends);
  CHECK(s.decide() == Texts{"owns → h"});
}

TEST_CASE("a pod that was ranked as a borrower is an owner again when its own GPUs are free") {
  QuotaCluster s;
  s.has(node("h").gpus(1).product(kH100).cpu("64"));
  s.has(l4("l", 1));
  quotas_any_and_some(s);
  s.has(gpu_quota("lender").in_cohort("c").line("H100", 6).line("L4", 6));
  const k8s::Pod own = in("any", "own", 1).on("h");
  s.has(own);
  for (const char* name : {"x", "y", "z"}) {
    s.has(in("any", name, 1).annotated("gpu-scheduler.io/charged-as", "NVIDIA-L4").on("gone"));
  }
  s.has(in("any", "a", 1));
  s.has(in("some", "runs", 1).annotated("gpu-scheduler.io/charged-as", kH100).on("gone"));
  s.has(in("some", "b", 1).created_at(kStart + 1s));
  s.synced();
  // One decision, not all: a is known as a borrower now.
  static_cast<void>(s.engine.step(s.now));
  s.pod_gone(own);
  const Texts told = s.decide();
  CHECK(std::find(told.begin(), told.end(), "b → h") == told.end());
}

TEST_CASE("a pod that has to borrow takes a borrower's turn, though other types are its own") {
  QuotaCluster s;
  s.has(node("h").gpus(8).product(kH100).cpu("64"));
  s.has(l4("l", 4));
  s.has(gpu_quota("a").of("a").in_cohort("c").line("H100", 0).line("L4", 4));
  s.has(gpu_quota("b").of("b").in_cohort("c").line("H100", 8));
  s.has(their_pod("full").gpus(4).on("l"));
  const k8s::Pod any = in("a", "any", 1);
  const k8s::Pod owner = in("b", "owner", 1).created_at(kStart + 1s);
  SECTION("of those whose turn it is") {
    s.has(in("b", "runs", 7).on("h"));
    s.has(any);
    s.has(owner);
    CHECK(s.decide().at(0) == "owner → h");
  }
  SECTION("of those that wait for a node") {
    const k8s::Pod runs = in("b", "runs", 7).on("h");
    s.has(runs);
    s.has(their_pod("last").gpus(1).on("h"));
    s.has(any);
    s.has(owner);
    CHECK(s.decide().size() == 2);
    s.pod_gone(their_pod("last"));
    CHECK(s.decide() == Texts{"owner → h"});
    // And it has what is left then.
    s.pod_gone(runs);
    CHECK(s.decide() == Texts{"any → h"});
  }
  SECTION("and its own when there is room for it") {
    s.has(in("b", "runs", 7).on("h"));
    s.has(any);
    s.pod_gone(their_pod("full"));
    s.has(owner);
    CHECK(s.decide() == Texts{"any → l", "owner → h"});
  }
  SECTION("and borrows where nobody else wants it") {
    s.has(in("b", "runs", 7).on("h"));
    s.has(any);
    CHECK(s.decide() == Texts{"any → h"});
    CHECK(s.use("a", 0).borrowed == k8s::Quantity::of(1));
  }
}

TEST_CASE("best effort lets a pod that fits pass, strict does not") {
  const auto run = [](bool strict) {
    QuotaCluster s;
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

TEST_CASE("who waits behind another namespace's pod is not told its name") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(gpu_quota("q").of("ml").of("secret").line("H100", 4).strict());
  s.has(in("secret", "runs", 3));
  CHECK(s.decide() == Texts{"runs → a"});
  s.has(in("secret", "merger", 2));
  s.has(in("ml", "small", 1).created_at(kStart + 1s));
  s.has(in("secret", "tiny", 1).created_at(kStart + 2s));
  const Texts told = s.decide();
  REQUIRE(told.size() == 3);
  const std::string strict = "waits: quota q is Strict: ";
  CHECK(told[1] ==
        "small " + strict + "2nd in line, behind a pod of another namespace, and none may pass");
  CHECK(told[2] == "tiny " + strict + "3rd in line, behind secret/merger, and none may pass");
}

TEST_CASE("for a pod that has waited long, quota and then a node are kept") {
  QuotaCluster s;
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
  // Its quota is kept: no pod passes any more.
  s.has(in("ml", "small", 1).created_at(kStart + 3s));
  CHECK(s.decide() ==
        Texts{"small waits: quota q: H100 needs 1, 2 of 4 in use, 2nd in line; what is freed is "
              "kept for pods that have waited long, 3 more must be freed"});
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

TEST_CASE("the node that is held lacks the fewest devices; amounts of bytes are none") {
  QuotaCluster s;
  const auto offers = [](const char* name) {
    return node(name).gpus(8).product(kH100).cpu("64").memory("64Gi").offers("hugepages-1Gi",
                                                                             "2Gi");
  };
  s.has(offers("a"));
  s.has(offers("b"));
  s.has(offers("c"));
  // On a all GPUs are taken, on b the hugepages, on c these and most of the memory.
  s.has(our_pod("guest-a").gpus(8).on("a"));
  s.has(our_pod("guest-b").requests("hugepages-1Gi", "2Gi").on("b"));
  s.has(our_pod("guest-c").requests("hugepages-1Gi", "2Gi").memory("60Gi").on("c"));
  s.has(gpu_quota("q").of("ml").line("H100", 8));
  s.has(in("ml", "large", 8).requests("hugepages-1Gi", "2Gi").memory("8Gi"));
  static_cast<void>(s.decide());
  s.now = kStart + 700s;
  const auto told = s.decisions();
  REQUIRE(!told.empty());
  const auto& waits = std::get<decision::Unschedulable>(told.back());
  CHECK_THAT(waits.details, Catch::EndsWith("holds node b until it has room"));
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
    QuotaCluster s;
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
    CHECK(s.decide().back().find("what is freed is kept for pods that have waited long") !=
          std::string::npos);
    s.pod_gone(their_pod("theirs").in_namespace("ml"));
    CHECK(s.decide().front() == "next → a");
  }
}

TEST_CASE("in a strict quota nobody has his turn before a head that no node could take") {
  QuotaCluster s;
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

TEST_CASE("pods alike are all told anew once what they were told of their quota is not so") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(their_pod("theirs").gpus(8).on("a"));
  const k8s::Pod counted = in("ml", "counted", 1).annotated("gpu-scheduler.io/charged-as", kH100);
  const auto pods_come = [&] {
    for (const char* name : {"p1", "p2", "p3"}) s.has(in("ml", name, 1));
    return s.decide();
  };
  const std::string no_node = " waits: 0/1 nodes are available: 1 Insufficient nvidia.com/gpu.";
  SECTION("it is not strict any more") {
    s.has(gpu_quota("q").of("ml").line("H100", 4).strict());
    CHECK(pods_come().at(1) ==
          "p2 waits: quota q is Strict: 2nd in line, behind ml/p1, and none may pass");
    s.has(gpu_quota("q").of("ml").line("H100", 4).generation(2));
  }
  SECTION("it gives more than the first of them asks for") {
    s.has(gpu_quota("q").of("ml").line("H100", 1));
    s.bound(counted, "gone");
    CHECK(pods_come().at(1).starts_with("p2 waits: quota q: H100 needs 1, 1 of 1 in use"));
    s.pod_gone(counted);
    CHECK(s.decide() == Texts{"p1" + no_node});
    s.has(gpu_quota("q").of("ml").line("H100", 4).generation(2));
  }
  CHECK(s.decide() == Texts{"p1" + no_node, "p2" + no_node, "p3" + no_node});
  CHECK(s.decide().empty());
}

TEST_CASE("patience counts from creation or from the end of the gates, whoever was there to see") {
  const auto held_from = [](const k8s::Pod& large, Time seen, std::optional<Time> ungated) {
    QuotaCluster s;
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

TEST_CASE("nothing is kept for a pod that no node could take, until one could") {
  QuotaCluster s;
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
  QuotaCluster s;
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
  QuotaCluster s;
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

TEST_CASE("a held node that is lost is let go at once, and another is held") {
  struct Case {
    std::string name;
    std::function<void(QuotaCluster&, NodeBuilder)> lose;
  };
  const std::vector<Case> cases = {
      {"deleted", [](QuotaCluster& s, const NodeBuilder&) { s.node_gone("a"); }},
      {"cordoned", [](QuotaCluster& s, NodeBuilder held) { s.has(held.cordoned()); }},
      {"tainted", [](QuotaCluster& s, NodeBuilder held) { s.has(held.tainted("broken")); }},
      {"shrunk", [](QuotaCluster& s, NodeBuilder held) { s.has(held.gpus(3)); }},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    QuotaCluster s;
    const NodeBuilder held = node("a").gpus(4).product(kH100).cpu("64");
    s.has(held);
    s.has(node("b").gpus(4).product(kH100).cpu("64").labelled("rack", "b"));
    s.has(gpu_quota("q").of("ml").line("H100", 4));
    s.has(their_pod("a1").gpus(1).on("a"));
    for (const char* name : {"b1", "b2"}) s.has(their_pod(name).gpus(1).on("b"));
    s.has(in("ml", "large", 4));
    CHECK(s.decide().size() == 1);
    s.now = kStart + 600s;
    const auto details = [&] {
      const auto told = s.decisions();
      REQUIRE_FALSE(told.empty());
      return std::get<decision::Unschedulable>(told.back()).details;
    };
    CHECK(details().ends_with("holds node a until it has room"));
    c.lose(s, held);
    CHECK(details().ends_with("holds node b until it has room"));
    s.has(our_pod("guest").gpus(1).selects("rack", "b"));
    CHECK(s.decide().at(0).starts_with("guest waits"));
    for (const char* name : {"b1", "b2"}) s.pod_gone(their_pod(name));
    CHECK(s.decide().at(0) == "large → b");
  }
}

TEST_CASE("who asks for more than its cohort could lend keeps nobody waiting") {
  QuotaCluster s;
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

TEST_CASE(
    "when the last node of a type goes, a pod that waited for that type keeps nobody waiting") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(l4("b"));
  s.has(gpu_quota("q").of("ml").line("H100", 2).line("L4", 4).strict());
  s.has(their_pod("theirs").in_namespace("ml").gpus(4).on("b"));
  s.has(in("ml", "head", 3));
  s.has(in("ml", "small", 1).created_at(kStart + 1s));
  REQUIRE(s.decide().back() ==
          "small waits: quota q is Strict: 2nd in line, behind ml/head, and none may pass");
  s.node_gone("b");
  CHECK(s.decide() ==
        Texts{"head waits: quota q: H100 needs 3, 0 of 2 in use; it can never give that much",
              "small → a"});
}

TEST_CASE("pods alike that their quota could never help join the line together when it can") {
  QuotaCluster s;
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
