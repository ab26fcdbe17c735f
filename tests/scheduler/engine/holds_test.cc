// What is kept for a pod that has waited long, through the engine: which node, until when, and
// which pods wake when it is free again.
#include "tests/scheduler/engine/quota_cluster.h"

#include <chrono>
#include <string>
#include <vector>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;

namespace {

constexpr auto kHoldAfter = 600s;

// What each pod that was told to wait was told, in numbers; by name.
std::map<std::string, std::string> details(QuotaCluster& s) {
  std::map<std::string, std::string> all;
  for (const Decision& each : s.decisions()) {
    const auto* refusal = std::get_if<decision::Unschedulable>(&each);
    if (refusal != nullptr) all[refusal->pod.name] = refusal->details;
  }
  return all;
}

bool holds(const std::string& details, const std::string& node) {
  return details.ends_with("holds node " + node + " until it has room");
}

}  // namespace

TEST_CASE("the node that is held lacks least: devices first, then CPU, then memory, then by name") {
  struct Case {
    const char* name;
    PodBuilder on_a;
    PodBuilder on_b;
    const char* want;
  };
  const auto taken = [](const char* name, int gpus, const char* cpu, const char* memory) {
    return our_pod(name).gpus(gpus).cpu(cpu).memory(memory);
  };
  const Case cases[] = {
      {"fewer devices, more CPU and memory", taken("x", 2, "1", "1Gi"), taken("y", 1, "60", "60Gi"),
       "b"},
      {"less CPU, more memory", taken("x", 1, "60", "1Gi"), taken("y", 1, "1", "60Gi"), "b"},
      {"less memory", taken("x", 1, "60", "60Gi"), taken("y", 1, "60", "50Gi"), "b"},
      {"all the same", taken("x", 1, "60", "60Gi"), taken("y", 1, "60", "60Gi"), "a"},
      {"what is more than enough does not count", taken("x", 1, "20", "20Gi"),
       taken("y", 1, "1", "1Gi"), "a"},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    QuotaCluster s;
    for (const char* name : {"a", "b"}) {
      s.has(node(name).gpus(8).product(kH100).cpu("64").memory("64Gi"));
    }
    s.has(PodBuilder(c.on_a).on("a"));
    s.has(PodBuilder(c.on_b).on("b"));
    s.has(gpu_quota("q").of("ml").line("H100", 8));
    s.has(in("ml", "large", 8).cpu("32").memory("32Gi"));
    REQUIRE(s.decide().size() == 1);
    s.now = kStart + kHoldAfter;
    CHECK(holds(details(s)["large"], c.want));
  }
}

TEST_CASE("a node whose GPUs the quota does not give is not held, however little it lacks") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(l4("b"));
  s.has(our_pod("x").gpus(8).on("a"));
  s.has(our_pod("y").gpus(1).on("b"));
  s.has(gpu_quota("q").of("ml").line("H100", 8));
  s.has(in("ml", "large", 4));
  REQUIRE(s.decide().size() == 1);
  s.now = kStart + kHoldAfter;
  CHECK(holds(details(s)["large"], "a"));
}

TEST_CASE("a pod that found all nodes held for others is given one that is let go") {
  QuotaCluster s;
  s.has(node("a").gpus(4).product(kH100).cpu("64"));
  s.has(gpu_quota("q1").of("one").line("H100", 4));
  s.has(gpu_quota("q2").of("two").line("H100", 4));
  s.has(our_pod("guest").gpus(4).on("a"));
  s.has(in("one", "first", 4));
  s.has(in("two", "second", 4).created_at(kStart + 1s));
  REQUIRE(s.decide().size() == 2);
  s.now = kStart + kHoldAfter + 1s;
  auto told = details(s);
  CHECK(holds(told["first"], "a"));
  CHECK_FALSE(holds(told["second"], "a"));
  s.pod_gone(in("one", "first", 4));
  told = details(s);
  CHECK(holds(told["second"], "a"));
  // So no other pod takes what becomes free there.
  s.has(our_pod("small").gpus(1));
  s.has(our_pod("guest").gpus(2).on("a"));
  for (const std::string& each : s.decide()) CHECK(each.find("→") == std::string::npos);
  s.pod_gone(our_pod("guest"));
  CHECK(s.decide().at(0) == "second → a");
}

TEST_CASE("when the pod that quota was kept for goes, the pods behind it are looked at again") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(gpu_quota("q").of("ml").line("H100", 4));
  s.has(their_pod("theirs").in_namespace("ml").gpus(2).on("a"));
  s.has(in("ml", "large", 4));
  REQUIRE(s.decide().size() == 1);
  s.now = kStart + kHoldAfter;
  static_cast<void>(s.decide());
  s.has(in("ml", "small", 1).created_at(kStart + 1s));
  REQUIRE(s.decide().at(0).find("what is freed is kept for one that has waited long") !=
          std::string::npos);
  SECTION("because it is deleted") { s.pod_gone(in("ml", "large", 4)); }
  SECTION("because it asks for less") { s.has(in("ml", "large", 1)); }
  SECTION("because it is gated") { s.has(in("ml", "large", 4).gated("later")); }
  CHECK(s.decide().back() == "small → a");
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
  // Of a kind that is always young.
  const auto young = [&](int i) {
    return in("ml", "young-" + std::to_string(i), 3).priority(6).created_at(s.now);
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
             Catch::Contains("what is freed is kept for one that has waited long"));
  s.pod_gone(running);
  CHECK(s.decide().at(0) == "large → a");
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
