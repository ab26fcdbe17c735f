// What is kept for a pod that has waited long, through the engine: until when, and which pods wake
// when it is free again. held_nodes_test.cc: on which node.
#include "tests/scheduler/engine/grouped_pods.h"
#include "tests/scheduler/engine/held_nodes.h"
#include "tests/support/seeds.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;

namespace {

// In the namespace ml, whose quota is 4: a pod of 4 for which all is kept that is freed, and a
// younger one of 1.
void wait_for_kept_quota(QuotaCluster& s) {
  s.has(their_pod("theirs").in_namespace("ml").gpus(2).on("a"));
  s.has(in("ml", "large", 4));
  REQUIRE(s.decide().size() == 1);
  s.now = kStart + kHoldAfter;
  static_cast<void>(s.decide());
  s.has(in("ml", "small", 1).created_at(kStart + 1s));
}

}  // namespace

TEST_CASE("when the pod that quota was kept for goes, the pods behind it are looked at again") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(gpu_quota("q").of("ml").line("H100", 4));
  wait_for_kept_quota(s);
  REQUIRE(s.decide().at(0).find("what is freed is kept for pods that have waited long") !=
          std::string::npos);
  SECTION("because it is deleted") { s.pod_gone(in("ml", "large", 4)); }
  SECTION("because it asks for less") { s.has(in("ml", "large", 1)); }
  SECTION("because it is gated") { s.has(in("ml", "large", 4).gated("later")); }
  CHECK(s.decide().back() == "small → a");
}

TEST_CASE("what is kept for a pod stays so when the time of another, deleted quota is over") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(gpu_quota("q").of("ml").line("H100", 4));
  s.has(gpu_quota("other").of("other").line("H100", 1));
  wait_for_kept_quota(s);
  s.apply(event::QuotaDeleted{"other"});
  static_cast<void>(s.decide());
  s.now += 60s;
  for (const std::string& each : s.decide()) CHECK_FALSE(each.starts_with("small → "));
  CHECK(s.use("q").used == k8s::Quantity::of(2));
}

TEST_CASE("what is kept for a pod stays so when younger pods of a higher priority come before it") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(gpu_quota("q").of("ml").line("H100", 4));
  const k8s::Pod first = in("ml", "first", 2).on("a");
  const k8s::Pod second = in("ml", "second", 2).on("a");
  s.has(first);
  s.has(second);
  s.has(in("ml", "large", 4));
  REQUIRE(s.decide().size() == 1);
  s.now = kStart + kHoldAfter;
  static_cast<void>(s.decide());
  for (int i = 0; i < 3; ++i) {
    s.now += 1s;
    const std::string name = "young-" + std::to_string(i);
    s.has(in("ml", name, 2).priority(10 - i).created_at(s.now));
    const Texts told = s.decide();
    REQUIRE(told.size() == 1);
    CHECK_THAT(told[0], Catch::StartsWith(name + " waits: quota q: "));
    if (i == 0) s.pod_gone(first);
    if (i == 1) CHECK(s.decide().empty());
  }
  s.pod_gone(second);
  CHECK(s.decide().at(0) == "large → a");
}

TEST_CASE("pods that cannot be helped are passed over however many there are, if they are alike") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(gpu_quota("q").of("ml").line("H100", 4));
  const k8s::Pod running = in("ml", "running", 2).on("a");
  s.has(running);
  for (int i = 0; i < 300; ++i) {
    s.has(in("ml", "lost-" + std::to_string(i), 2).selects("rack", "none").priority(5));
  }
  // Of a priority and a size, maybe that of the large one, that is always young.
  const int size = GENERATE(3, 4);
  const auto young = [&](int i) {
    return in("ml", "young-" + std::to_string(i), size).priority(6).created_at(s.now);
  };
  s.has(young(0));
  s.has(in("ml", "large", 4));
  static_cast<void>(s.decide());
  s.now = kStart + kHoldAfter;
  s.pod_gone(young(0));
  s.has(young(1));
  static_cast<void>(s.decide());
  s.has(in("ml", "small", 1).created_at(s.now));
  CHECK_THAT(s.decide().at(0),
             Catch::Contains("what is freed is kept for pods that have waited long"));
  s.pod_gone(running);
  CHECK(s.decide().at(0) == "large → a");
}

TEST_CASE("quota is kept for pods of other lines behind one for which its own line is too full") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(l4("b"));
  s.has(gpu_quota("q").of("ml").line("H100", 4).line("L4", 4));
  const k8s::Pod of_h100 = in("ml", "of-h100", 2).on("a");
  const k8s::Pod of_l4 = in("ml", "of-l4", 2).on("b");
  s.has(of_h100);
  s.has(of_l4);
  const auto asks = [&](const char* name, int gpus, const char* type, Time created) {
    return in("ml", name, gpus).selects("nvidia.com/gpu.product", type).created_at(created);
  };
  s.has(asks("first", 4, kH100, kStart));
  s.has(asks("second", 3, kH100, kStart + 1s));
  s.has(asks("third", 4, kL4, kStart + 2s));
  static_cast<void>(s.decide());
  s.now = kStart + kHoldAfter + 2s;
  static_cast<void>(s.decide());
  s.has(asks("young-h100", 1, kH100, s.now));
  s.has(asks("young-l4", 1, kL4, s.now));
  for (const std::string& told : s.decide()) {
    CHECK_THAT(told, Catch::Contains("what is freed is kept for pods that have waited long"));
  }
  s.pod_gone(of_l4);
  CHECK(s.decide().at(0) == "third → b");
  s.pod_gone(of_h100);
  CHECK(s.decide().at(0) == "first → a");
}

TEST_CASE("nothing is kept for a group for which all nodes together are too small") {
  const bool is_enough = GENERATE(false, true);
  CAPTURE(is_enough);
  QuotaCluster s;
  s.has(h100("a"));
  s.has(h100("b"));
  if (is_enough) s.has(h100("c"));
  s.has(gpu_quota("q").of("ml").line("H100", 28));
  for (const char* node : {"a", "b"}) {
    s.has(their_pod(std::string("theirs-") + node).in_namespace("ml").gpus(2).on(node));
  }
  // Three pods of a whole node each start together with one that asks for less.
  for (int i = 0; i < 4; ++i) {
    PodBuilder made = in("ml", "g-" + std::to_string(i), i < 3 ? 8 : 1);
    s.has(member(made, "g", 4));
  }
  static_cast<void>(s.decide());
  s.now = kStart + kHoldAfter;
  static_cast<void>(s.decide());
  s.has(in("ml", "small", 1).created_at(s.now));
  const std::string said = s.decide().at(0);
  if (is_enough) {
    CHECK_THAT(said, Catch::Contains("what is freed is kept for pods that have waited long"));
  } else {
    CHECK(said.starts_with("small → "));
    s.has(h100("c"));
    s.now += 10s;  // then it is looked at again
    static_cast<void>(s.decide());
    s.has(in("ml", "late", 1).created_at(s.now));
    CHECK_THAT(s.decide().at(0),
               Catch::Contains("what is freed is kept for pods that have waited long"));
  }
}

TEST_CASE("in a strict quota nothing is kept for a pod that others come before") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(gpu_quota("q").of("ml").line("H100", 4).strict());
  const k8s::Pod running = in("ml", "running", 2).on("a");
  s.has(running);
  s.has(in("ml", "large", 4));
  REQUIRE(s.decide().size() == 1);
  s.now = kStart + kHoldAfter;
  static_cast<void>(s.decide());
  s.has(in("ml", "urgent", 2).priority(10).created_at(s.now));
  CHECK(s.decide().at(0) == "urgent → a");
}

TEST_CASE("what a lender keeps for its own pod is lent again when that pod goes") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(gpu_quota("lender").of("lender").in_cohort("c").line("H100", 4));
  s.has(gpu_quota("guest").of("guest").in_cohort("c").line("H100", 0));
  s.has(their_pod("theirs").in_namespace("lender").gpus(2).on("a"));
  s.has(in("lender", "large", 4));
  REQUIRE(s.decide().size() == 1);
  s.now = kStart + kHoldAfter;
  static_cast<void>(s.decide());
  s.has(in("guest", "g", 1).created_at(kStart + 1s));
  REQUIRE(s.decide().at(0).starts_with("g waits: quota guest: "));
  s.pod_gone(in("lender", "large", 4));
  CHECK(s.decide() == Texts{"g → a"});
}

TEST_CASE("which types could serve a pod is looked up again ten seconds after nodes changed") {
  QuotaCluster s;
  s.has(h100("a"));
  // Whichever of the two quotas is asked first.
  const auto [lost, later] = GENERATE(std::pair{"q1", "q2"}, std::pair{"q2", "q1"});
  s.has(gpu_quota("q1").of("q1").line("H100", 4));
  s.has(gpu_quota("q2").of("q2").line("H100", 4));
  s.has(our_pod("guest").gpus(8).on("a"));
  s.has(in(lost, "lost", 4).selects("rack", "none"));
  REQUIRE(s.decide().size() == 1);
  s.now = kStart + kHoldAfter;
  static_cast<void>(s.decide());
  s.now += 1s;
  s.has(h100("z"));
  s.has(our_pod("other").gpus(8).on("z"));
  static_cast<void>(s.decide());
  CHECK(s.engine.next_wakeup() == kStart + kHoldAfter + 10s);
  // The patience of another ends before that.
  s.has(in(later, "later", 4).created_at(kStart + 5s));
  static_cast<void>(s.decide());
  CHECK(s.engine.next_wakeup() == kStart + kHoldAfter + 5s);
  s.now = kStart + kHoldAfter + 5s;
  CHECK(holds(details(s)["later"], "a"));
  CHECK(s.engine.next_wakeup() == kStart + kHoldAfter + 10s);

  s.now = kStart + kHoldAfter + 9s;
  s.has(node("r").gpus(4).product(kH100).cpu("64").labelled("rack", "none"));
  s.has(our_pod("third").gpus(1).on("r"));
  CHECK_FALSE(holds(details(s)["lost"], "r"));
  s.now = kStart + kHoldAfter + 10s;
  CHECK(holds(details(s)["lost"], "r"));
}

TEST_CASE("a team that borrows is drained for its pod only until that may borrow again") {
  QuotaCluster s;
  for (const char* name : {"a", "b", "c"}) s.has(h100(name));
  s.has(gpu_quota("q").of("ml").in_cohort("co").line("H100", 8));
  s.has(gpu_quota("lender").of("other").in_cohort("co").line("H100", 8));
  const auto running = [](int i) { return in("ml", "p" + std::to_string(i), 1); };
  for (int i = 0; i < 12; ++i) s.has(running(i).on(i < 8 ? "a" : "b"));
  for (int i = 0; i < 4; ++i) s.has(in("other", "o" + std::to_string(i), 1).on("b"));
  s.has(in("ml", "large", 8));
  REQUIRE(s.decide().size() == 1);
  s.now = kStart + kHoldAfter;
  static_cast<void>(s.decide());
  // As many GPUs as the team used before: 4 and 8.
  for (int i = 0; i < 8; ++i) {
    s.now += 1s;
    s.has(in("ml", "small-" + std::to_string(i), 1).created_at(s.now));
    CHECK(s.decide().size() == 1);
    s.pod_gone(running(i));
    const Texts decided = s.decide();
    CHECK(decided.empty() == (i < 7));
    if (i == 7) CHECK(decided == Texts{"large → a"});
  }
}

TEST_CASE("a pod that has waited long does not take its department beyond the limit") {
  QuotaCluster s;
  for (const char* name : {"a", "b"}) s.has(h100(name));
  s.has(gpu_quota("physics").line("H100", 8).limit(8));
  s.has(gpu_quota("lattice").of("lattice").in_quota("physics").line("H100", 4));
  s.has(gpu_quota("optics").of("optics").in_quota("physics").line("H100", 4));
  const auto running = [](int i) { return in("optics", "o" + std::to_string(i), 1).on("a"); };
  for (int i = 0; i < 8; ++i) s.has(running(i));
  s.has(in("lattice", "large", 2));
  REQUIRE(s.decide().size() == 1);
  s.now = kStart + kHoldAfter;
  const auto is_bound = [&](const Texts& decided) {
    return std::any_of(decided.begin(), decided.end(),
                       [](const std::string& each) { return each.starts_with("large → "); });
  };
  CHECK_FALSE(is_bound(s.decide()));
  s.has(in("optics", "small", 1).created_at(kStart + 1s));
  s.pod_gone(running(0));
  CHECK_FALSE(is_bound(s.decide()));
  s.pod_gone(running(1));
  CHECK(is_bound(s.decide()));
}

TEST_CASE("a quota holds for as many pods as its guarantee is enough for, the rest goes on") {
  QuotaCluster s;
  for (const char* name : {"a", "b", "c"}) {
    s.has(h100(name));
    s.has(our_pod("guest-" + std::string(name)).gpus(8).on(name));
  }
  s.has(gpu_quota("q").of("ml").line("H100", 20));
  for (const char* name : {"first", "second", "third"}) s.has(in("ml", name, 8));
  REQUIRE(s.decide().size() == 3);
  s.now = kStart + kHoldAfter;
  auto told = details(s);
  CHECK(holds(told["first"], "a"));
  CHECK(holds(told["second"], "b"));
  CHECK(told["third"].find("holds node") == std::string::npos);
  // Where a node has room, the quota's other pods take what is left of the guarantee.
  s.has(node("e").gpus(6).product(kH100).cpu("64"));
  for (int i = 0; i < 4; ++i) {
    const std::string name = "small-" + std::to_string(i);
    s.has(in("ml", name, 1).created_at(s.now));
    CHECK(s.decide() == Texts{name + " → e"});
  }
  s.has(in("ml", "late", 1).created_at(s.now));
  CHECK_THAT(s.decide().at(0),
             Catch::Contains("4 of 20 in use, 4th in line; what is freed is kept for pods that "
                             "have waited long, 1 more must be freed"));
  // The node of the second is free before that of the first.
  s.pod_gone(our_pod("guest-b"));
  CHECK(s.decide().at(0) == "second → b");
  s.pod_gone(our_pod("guest-a"));
  CHECK(s.decide().at(0) == "first → a");
}

TEST_CASE("a quota holds for sixteen pods at most") {
  QuotaCluster s;
  s.has(gpu_quota("q").of("ml").line("H100", 200));
  for (int i = 0; i < 17; ++i) {
    const std::string name = "n" + std::to_string(i);
    s.has(h100(name));
    s.has(our_pod("guest-" + name).gpus(8).on(name));
    s.has(in("ml", "waits-" + name, 8));
  }
  REQUIRE(s.decide().size() == 17);
  s.now = kStart + kHoldAfter;
  const auto told = details(s);
  CHECK(std::count_if(told.begin(), told.end(), [](const auto& each) {
          return each.second.find("holds node") != std::string::npos;
        }) == 16);
}

TEST_CASE("how many kinds of pods are passed over, and looked at, is bounded") {
  struct Case {
    int kinds;  // before the pod
    bool can_be_helped;
    bool holds;
  };
  const Case each = GENERATE(Case{99, false, true}, Case{100, false, false}, Case{999, true, true},
                             Case{1'000, true, false});
  CAPTURE(each.kinds);
  QuotaCluster s;
  s.has(h100("a"));
  s.has(gpu_quota("q").of("ml").line("H100", 16));
  s.has(our_pod("guest").gpus(8).on("a"));
  s.has(in("ml", "large", 8));
  s.now += 1s;
  for (int i = 0; i < each.kinds; ++i) {
    PodBuilder other = in("ml", "other-" + std::to_string(i), 1).priority(5);
    other.cpu(std::to_string(i + 1) + "m");
    // Those that could be helped have not waited long.
    s.has(each.can_be_helped ? other.created_at(s.now) : other.selects("rack", "none"));
  }
  static_cast<void>(s.decide());
  s.now = kStart + kHoldAfter;
  CHECK(holds(details(s)["large"], "a") == each.holds);
}

TEST_CASE("what becomes free goes to the pod for which something was held first") {
  QuotaCluster s;
  for (const char* name : {"a", "b"}) s.has(h100(name));
  s.has(gpu_quota("q").of("ml").line("H100", 16));
  const auto on = [](const char* node, int i) {
    return in("ml", node + std::to_string(i), 4).on(node);
  };
  for (const char* name : {"a", "b"}) {
    for (int i = 0; i < 2; ++i) s.has(on(name, i));
  }
  s.has(in("ml", "first", 8));
  s.has(in("ml", "second", 6).created_at(kStart + 1s));
  REQUIRE(s.decide().size() == 2);
  s.now = kStart + kHoldAfter + 1s;
  static_cast<void>(s.decide());
  s.pod_gone(on("a", 0));
  static_cast<void>(s.decide());
  // The second would have room for its six, in the quota and on the node.
  s.pod_gone(on("a", 1));
  CHECK(s.decide().at(0) == "first → a");
  s.pod_gone(on("b", 0));
  s.pod_gone(on("b", 1));
  CHECK(s.decide().at(0) == "second → b");
}

TEST_CASE("a pod's wait begins when its quota guarantees so much") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(gpu_quota("q").of("ml").generation(1).line("H100", 4));
  s.has(our_pod("guest").gpus(8).on("a"));
  s.has(in("ml", "large", 8));
  s.has(in("ml", "small", 4).selects("rack", "none"));
  static_cast<void>(s.decide());
  s.now = kStart + kHoldAfter + 60s;
  static_cast<void>(s.decide());
  s.now += 60s;
  s.has(gpu_quota("q").of("ml").generation(2).line("H100", 8));
  const Time raised = s.now;
  // Not at once, though it is older than that.
  CHECK_FALSE(holds(details(s)["large"], "a"));
  s.now = raised + kHoldAfter - 1s;
  CHECK_FALSE(holds(details(s)["large"], "a"));
  s.now = raised + kHoldAfter;
  CHECK(holds(details(s)["large"], "a"));
}

TEST_CASE("with pods held for, no GPU is given twice and each of these runs in the end") {
  const unsigned seed = GENERATE(from_range(tests::seeds(6, 12)));
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const auto pick = [&](unsigned of) { return static_cast<int>(random() % of); };
  QuotaCluster s;
  std::map<std::string, int> used;  // by node
  const int nodes = 3 + pick(3);
  for (int i = 0; i < nodes; ++i) s.has(h100("n" + std::to_string(i)));
  s.has(gpu_quota("q").of("ml").in_cohort("c").line("H100", 8 * (nodes - 1)));
  s.has(gpu_quota("other").of("other").in_cohort("c").line("H100", 8));
  std::map<std::string, std::pair<k8s::Pod, std::string>> running;
  std::map<std::string, k8s::Pod> waiting;
  std::set<std::string> large;
  std::map<std::string, int> gpus;  // by pod
  const auto make = [&](const std::string& namespace_, const std::string& name, int asks) {
    gpus[name] = asks;
    // Young ones may come before the old ones.
    waiting[name] = in(namespace_, name, asks).priority(pick(3)).created_at(s.now);
    s.has(waiting.at(name));
  };
  const auto decide = [&] {
    std::map<std::string, std::string> held;  // node → pod
    for (const Decision& each : s.decisions()) {
      if (const auto* refusal = std::get_if<decision::Unschedulable>(&each)) {
        constexpr std::string_view kHolds = "holds node ";
        const auto at = refusal->details.find(kHolds);
        if (at == std::string::npos) continue;
        const std::string node = refusal->details.substr(at + kHolds.size(), 2);
        const auto [known, is_new] = held.emplace(node, refusal->pod.name);
        CHECK((is_new || known->second == refusal->pod.name || !waiting.contains(known->second)));
      }
      const auto* bind = std::get_if<decision::Bind>(&each);
      if (bind == nullptr) continue;
      k8s::Pod pod = waiting.at(bind->pod.name);
      waiting.erase(bind->pod.name);
      large.erase(bind->pod.name);
      used[bind->node] += gpus.at(bind->pod.name);
      REQUIRE(used[bind->node] <= 8);
      s.bound(pod, bind->node);
      running.insert_or_assign(bind->pod.name, std::pair(pod, bind->node));
    }
  };
  int made = 0;
  const auto small = [&] {
    make(pick(2) == 0 ? "ml" : "other", "s" + std::to_string(made++), 1 + pick(3));
    decide();
  };
  for (int i = 0; i < 40; ++i) small();
  for (int i = 0; i < nodes - 1; ++i) {
    const std::string name = "large" + std::to_string(i);
    large.insert(name);
    make("ml", name, 8);
  }
  int ended = 0;
  for (; !large.empty() && ended < 400; ++ended) {
    s.now += 20s;
    auto each = std::next(running.begin(), pick(static_cast<unsigned>(running.size())));
    const auto [pod, node] = each->second;
    used[node] -= gpus.at(pod.metadata.name);
    running.erase(each);
    s.pod_gone(pod);
    decide();
    small();
  }
  INFO("after " << ended << " pods have ended");
  CHECK(large.empty());
}
