// What the engine answers about the cluster's GPUs, and what would make room for a pod.
#include "tests/scheduler/engine/quota_cluster.h"
#include "tests/support/catch.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;

namespace {

const GpuNode& gpu_node_named(const std::vector<GpuNode>& nodes, std::string_view name) {
  for (const GpuNode& one : nodes) {
    if (one.node == name) return one;
  }
  FAIL("no node " << name);
  return nodes.front();
}

}  // namespace

TEST_CASE("gpu_nodes counts pieces by what they are, and names the pods that have them") {
  Scheduler s;
  s.has(node("cpu"));
  s.has(node("partitioned").product("NVIDIA-A100-SXM4-80GB").offers("nvidia.com/mig-1g.10gb", "7"));
  s.has(node("shared").product("NVIDIA-L4").offers("nvidia.com/gpu.shared", "4"));
  s.has(node("whole").gpus(8).product(kH100));
  s.has(pod("two").gpus(2).on("whole"));
  s.has(pod("three").gpus(3).on("whole"));
  s.has(pod("two as well").gpus(2).on("whole"));
  s.has(pod("none").cpu("1").on("whole"));
  s.has(pod("gone").gpus(1).on("whole").finished());
  s.synced();
  const auto nodes = s.engine.gpu_nodes_with_tenants();
  REQUIRE(nodes.size() == 3);
  using Kind = GpuPieces::Kind;
  CHECK(gpu_node_named(nodes, "partitioned").pieces ==
        std::vector<GpuPieces>{{"nvidia.com/mig-1g.10gb", Kind::kInstance, "1g.10gb", 7, 0}});
  CHECK(gpu_node_named(nodes, "shared").pieces ==
        std::vector<GpuPieces>{{"nvidia.com/gpu.shared", Kind::kReplica, "", 4, 0}});
  const GpuNode& whole = gpu_node_named(nodes, "whole");
  CHECK(whole.type == "H100-80GB");
  CHECK(whole.closed.empty());
  CHECK(whole.pieces == std::vector<GpuPieces>{{"nvidia.com/gpu", Kind::kWhole, "", 8, 7}});
  CHECK(whole.pods == 3);
  CHECK(whole.tenants == std::vector<GpuTenant>{{pod("three").object().metadata.uid, 3},
                                                {pod("two").object().metadata.uid, 2},
                                                {pod("two as well").object().metadata.uid, 2}});
  GpuNode without = whole;
  without.tenants.clear();
  CHECK(gpu_node_named(s.engine.gpu_nodes(), "whole") == without);
}

TEST_CASE("gpu_nodes says why a node gives its GPUs to nobody") {
  Scheduler s;
  s.has(node("a-open").gpus(1));
  s.has(node("b-cordoned").gpus(1).cordoned());
  s.has(node("c-not-ready").gpus(1).tainted("node.kubernetes.io/not-ready"));
  s.has(node("d-repartitioned")
            .gpus(1)
            .product(kH100)
            .labelled("nvidia.com/mig.config.state", "pending"));
  s.has(node("e-no-plugin").labelled("nvidia.com/gpu.present", "true"));
  s.has(node("f-reserved").gpus(1).tainted("example.com/team"));  // some pods get there
  s.has(node("g-sick").gpus(1).condition("XIDErrors", "True", "GPUHasXIDErrors"));
  s.has(node("h-leaves").gpus(1).tainted("ToBeDeletedByClusterAutoscaler"));
  s.synced();
  std::vector<std::string> closed;
  for (const GpuNode& one : s.engine.gpu_nodes()) closed.push_back(one.closed);
  CHECK(closed == std::vector<std::string>{"", "cordoned", "not-ready", "MIG configuration pending",
                                           "offers no GPU", "",
                                           "unhealthy: XIDErrors (GPUHasXIDErrors)",
                                           "unhealthy: taint ToBeDeletedByClusterAutoscaler"});
  const auto& in_all = s.engine.gpu_totals().forms;
  const auto whole = std::find_if(in_all.begin(), in_all.end(),
                                  [](const GpuTotals::Form& form) { return form.type.empty(); });
  REQUIRE(whole != in_all.end());
  CHECK(whole->free == 2);
  CHECK(whole->closed.at(GpusClosed::kUnhealthy) == 2);
}

TEST_CASE("in_line has every pod of ours that waits, with what it asks and what is wrong with it") {
  Scheduler s;
  s.apply(event::QuotaUpserted{gpu_quota("team").of("ml").line("H100", 1)});
  s.has(our_pod("a").in_namespace("ml").gpus(2).annotated("gpu-scheduler.io/gpu-type", "H100"));
  s.has(our_pod("b").gpus(1).gated("g"));
  s.has(our_pod("c")
            .requests("nvidia.com/mig-1g.10gb", "1")
            .annotated("gpu-scheduler.io/gpu-typ", "x"));
  s.has(our_pod("d").cpu("1"));
  s.has(pod("other").gpus(1).served_by("other"));
  s.synced();
  std::map<std::string, PodInLine> pods;
  for (const PodInLine& one : s.engine.in_line()) {
    pods[one.pod.name] = one;
    for (const auto& found : {s.engine.find_in_line(one.pod.uid),
                              s.engine.find_in_line(one.pod.namespace_, one.pod.name)}) {
      REQUIRE(found);
      CHECK(found->pod == one.pod);
      CHECK(found->asks == one.asks);
      CHECK(found->never == one.never);
      CHECK(found->place == one.place);
    }
  }
  CHECK_FALSE(s.engine.find_in_line("none"));
  CHECK_FALSE(s.engine.find_in_line("none", pods.begin()->first));
  REQUIRE(pods.size() == 4);
  CHECK(pods["a"].asks == "2 H100");
  CHECK(pods["a"].gpus == 2);
  CHECK(pods["a"].quota == "team");
  CHECK(pods["b"].place == PodInLine::Place::kGated);
  CHECK(pods["b"].asks == "1 GPU");
  CHECK(pods["c"].asks == "1 mig-1g.10gb");
  CHECK(pods["d"].asks.empty());
  CHECK(pods["d"].never.empty());
}

TEST_CASE("gpu_totals sums up the GPUs by type, form and state") {
  Scheduler s;
  s.has(node("cpu"));
  s.has(node("a").gpus(8).product(kH100));
  s.has(node("b").gpus(8).product(kH100));
  s.has(node("c").gpus(8).product(kH100));
  s.has(node("d").gpus(8).product(kH100).cordoned());
  s.has(node("e").gpus(8).product(kH100).tainted("node.kubernetes.io/unreachable"));
  s.has(node("f").gpus(1).product("NVIDIA-L4"));
  s.has(node("g")
            .product("NVIDIA-A100-SXM4-80GB")
            .offers("nvidia.com/mig-1g.10gb", "7")
            .offers("nvidia.com/mig-7g.80gb", "0"));  // kubelet keeps the names of removed devices
  s.has(node("h").product(kH100).labelled("nvidia.com/gpu.present", "true"));  // offers none
  s.has(pod("five").gpus(5).on("a"));
  s.has(pod("two").gpus(2).on("b"));
  s.has(pod("three").gpus(3).on("d"));
  s.has(pod("one").gpus(1).on("f"));
  s.synced();
  const std::vector<GpuTotals::Form> forms = {
      {"A100", "mig-1g.10gb", 0, 0, 7, {}, 7, 1},
      {"H100", "", 10, 0, 17, {{GpusClosed::kCordoned, 5}, {GpusClosed::kNotReady, 8}}, 8, 1},
      {"L4", "", 1, 0, 0, {}, 0, 0},
  };
  const GpuTotals totals = s.engine.gpu_totals();
  CHECK(totals.forms == forms);
  CHECK(totals.waiting.empty());
}

TEST_CASE("gpu_totals sums up the pods that wait by queue and by what they ask for") {
  Scheduler s;
  const auto typed = [](const char* name, const char* types) {
    return our_pod(name).gpus(2).annotated("gpu-scheduler.io/gpu-type", types);
  };
  s.has(typed("a", "H100").created_at(kStart - 20s));
  s.has(typed("b", "H100").created_at(kStart - 30s));
  s.has(typed("c", "H100, A100"));
  s.has(typed("d", "what-nobody-knows"));
  s.has(our_pod("e").gpus(1).gated("g"));
  s.has(our_pod("f").cpu("1"));
  s.has(our_pod("g").selects("nvidia.com/gpu.product", kH100).gpus(4));
  s.has(pod("other").gpus(1).served_by("other"));
  s.synced();
  using Queue = GpuTotals::Queue;
  using Reason = GpuTotals::Reason;
  using Waiting = std::map<GpuTotals::WaitsIn, GpuTotals::Waiting>;
  CHECK(s.engine.gpu_totals().waiting ==
        Waiting{{{Queue::kActive, Reason::kTurn, "H100"}, {3, 8, kStart - 30s}},
                {{Queue::kActive, Reason::kTurn, "none"}, {1, 0, kStart}},
                {{Queue::kActive, Reason::kTurn, "other"}, {2, 4, kStart}},
                {{Queue::kGated, Reason::kGates, "any"}, {1, 1, kStart}}});
  s.decide();
  const Waiting then = s.engine.gpu_totals().waiting;
  REQUIRE(then.contains({Queue::kUnschedulable, Reason::kNode, "H100"}));
  CHECK(then.at({Queue::kUnschedulable, Reason::kNode, "H100"}).gpus == 8);
  CHECK_FALSE(then.contains({Queue::kActive, Reason::kTurn, "H100"}));
}

TEST_CASE("what the facts of all nodes refuse waits for a node, also once it was looked at again") {
  Scheduler s;
  s.has(h100("a"));
  s.has(our_pod("ends").gpus(1).on("a"));
  s.synced();
  s.has(our_pod("choosy").gpus(1).selects("pool", "x"));
  REQUIRE(s.decide().size() == 1);
  s.pod_gone(our_pod("ends"));
  REQUIRE(s.decide().empty());
  using Waits = GpuTotals::WaitsIn;
  const auto waiting = s.engine.gpu_totals().waiting;
  REQUIRE(waiting.size() == 1);
  CHECK(waiting.begin()->first ==
        Waits{GpuTotals::Queue::kUnschedulable, GpuTotals::Reason::kNode, "any"});
}

TEST_CASE("gpu_totals says what each pod waits for") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(our_pod("guest").gpus(6).on("a"));
  s.has(gpu_quota("q").of("ml").line("H100", 2));
  s.has(gpu_quota("small").of("lab").line("H100", 1));
  s.has(in("ml", "fills", 2));
  s.has(in("ml", "over", 1).created_at(kStart + 1s));
  s.has(in("lab", "never", 2));
  s.has(our_pod("large").gpus(8));
  s.has(our_pod("refused").gpus(1).labelled("waits-for", "x"));
  s.has(our_pod("rejected").gpus(1).annotated("gpu-scheduler.io/min-gpu-memory", "much"));
  s.has(our_pod("no-group").gpus(1).annotated("gpu-scheduler.io/pod-group", "g"));
  s.decide();
  std::map<GpuTotals::Reason, std::int64_t> pods;
  for (const auto& [key, waiting] : s.engine.gpu_totals().waiting) pods[key.reason] += waiting.pods;
  using Reason = GpuTotals::Reason;
  CHECK(pods == std::map<Reason, std::int64_t>{{Reason::kQuota, 1},
                                               {Reason::kQuotaChange, 1},
                                               {Reason::kNever, 2},
                                               {Reason::kRules, 1},
                                               {Reason::kNode, 1}});
  const QueueEntries& entries = s.engine.queue_entries();
  const auto entered = [&](QueuePlace place, QueueEvent event) {
    return entries[static_cast<std::size_t>(place)][static_cast<std::size_t>(event)];
  };
  CHECK(entered(QueuePlace::kActive, QueueEvent::kPodAdd) == 7);
  CHECK(entered(QueuePlace::kParked, QueueEvent::kAttemptFailure) == 4);
  CHECK(entered(QueuePlace::kRefused, QueueEvent::kAttemptFailure) == 2);
}

TEST_CASE("gpu_totals says of which pods only a change of the pod itself helps") {
  Scheduler s;
  s.has(h100("a"));
  s.has(our_pod("ends").gpus(8).on("a"));
  s.synced();
  const auto reason = [&s] {
    s.decide();
    const auto waiting = s.engine.gpu_totals().waiting;
    REQUIRE(waiting.size() == 1);
    return waiting.begin()->first.reason;
  };
  PodBuilder waits = our_pod("p").gpus(1);
  SECTION("a pod") {
    s.has(waits.annotated("gpu-scheduler.io/min-gpu-memory", "much").generation(1));
    CHECK(reason() == GpuTotals::Reason::kNever);
    s.has(waits.annotated("gpu-scheduler.io/min-gpu-memory", "1Gi").generation(2));
    CHECK(reason() == GpuTotals::Reason::kNode);
  }
  SECTION("a group with such a pod") {
    for (const char* name : {"p", "q"}) {
      PodBuilder member = our_pod(name).gpus(1);
      member.annotated("gpu-scheduler.io/pod-group", "g");
      member.annotated("gpu-scheduler.io/pod-group-min-count", "2");
      member.annotated("gpu-scheduler.io/min-gpu-memory", "much");
      s.has(member);
    }
    s.now += 10s;
    CHECK(reason() == GpuTotals::Reason::kNever);
  }
}

TEST_CASE("GPUs that are held for a pod are neither used nor free") {
  QuotaCluster s;
  s.has(h100("a"));
  s.has(our_pod("guest").gpus(5).in_namespace("lab").on("a"));
  s.has(gpu_quota("q").of("ml").line("H100", 8));
  s.has(in("ml", "large", 8));
  s.decide();
  s.now += 700s;
  s.decide();
  const GpuTotals totals = s.engine.gpu_totals();
  REQUIRE(totals.forms.size() == 1);
  CHECK(totals.forms[0] == GpuTotals::Form{"H100", "", 5, 3, 0, {}, 0, 0});
  CHECK(totals.quotas == std::map<std::string, GpuTotals::Quota>{{"q", {1, kStart}}});
  CHECK(totals.namespaces == std::map<std::string, std::int64_t>{{"lab", 5}});
  const GpuPieces pieces = s.engine.gpu_nodes()[0].pieces[0];
  CHECK(pieces.used == 5);
  CHECK(pieces.held == 3);  // the others are still the guest's
  CHECK(pieces.free() == 0);
}

TEST_CASE("GPUs that pods have are counted while their node offers none") {
  Scheduler s;
  s.has(node("a").gpus(8).product(kH100));
  s.has(pod("p").gpus(2).in_namespace("lab").on("a"));
  s.has(node("a").gpus(0).product(kH100));
  s.synced();
  const GpuTotals totals = s.engine.gpu_totals();
  REQUIRE(totals.forms.size() == 1);
  CHECK(totals.forms[0] == GpuTotals::Form{"H100", "", 2, 0, 0, {}, 0, 0});
  CHECK(totals.namespaces == std::map<std::string, std::int64_t>{{"lab", 2}});
  REQUIRE(s.engine.gpu_nodes().size() == 1);
  CHECK(s.engine.gpu_nodes()[0].closed == "offers no GPU");
  CHECK(s.engine.gpu_nodes()[0].pieces[0].used == 2);
  CHECK(s.engine.gpu_nodes()[0].pieces[0].total == 0);
}

TEST_CASE("gpu_totals names the namespaces with the most GPUs, and sums up the others") {
  Scheduler s;
  s.has(node("a").gpus(8'000));
  const int most = GpuTotals::kMostNamespaces;
  for (int i = 0; i < most + 2; ++i) {
    const std::string name = "n" + std::to_string(i);
    s.has(pod(name).in_namespace(name).gpus(10 + i).on("a"));
    s.has(pod(name + "-cpu").in_namespace(name).cpu("1m").on("a"));
  }
  s.synced();
  const GpuTotals totals = s.engine.gpu_totals();
  CHECK(totals.namespaces.size() == GpuTotals::kMostNamespaces);
  CHECK_FALSE(totals.namespaces.contains("n1"));
  CHECK(totals.namespaces.at("n2") == 12);
  CHECK(totals.other_namespaces == 10 + 11);
}

TEST_CASE("gpu_totals weighs free GPUs by the pods that typically come") {
  Scheduler s;
  s.has(node("a").gpus(8).cpu("64").product(kH100));
  s.has(node("b").gpus(1).cpu("64").product(kH100));
  s.has(node("closed").gpus(8).cpu("64").product(kH100).cordoned());
  s.synced();
  // Half of the pods ask for one GPU, half for two; the last look was after 64 pods.
  for (int i = 0; i < 64; ++i) {
    const PodBuilder each = our_pod("p" + std::to_string(i)).cpu("100m").gpus(1 + i % 2);
    s.has(each);
    s.decide();
    s.pod_gone(each);
  }
  const auto causes = s.engine.gpu_totals().free_by_cause;
  REQUIRE(causes.contains("H100"));
  double all = 0;
  for (const double gpus : causes.at("H100")) all += gpus;
  CHECK(all == Approx(9));
  const auto of = [&](FreeGpuCause cause) {
    return causes.at("H100")[static_cast<std::size_t>(cause)];
  };
  CHECK(of(FreeGpuCause::kSatisfied) == Approx(8.5));
  CHECK(of(FreeGpuCause::kLackGpu) == Approx(0.5));
}

TEST_CASE(
    "room_for names the fewest GPUs that must be given back, and a node that is large enough") {
  Scheduler s;
  s.has(node("a").gpus(8));
  s.has(node("b").gpus(8));
  s.has(node("c").gpus(2));
  s.has(pod("a-8").gpus(8).on("a"));
  s.has(pod("b-1").gpus(1).on("b"));
  s.has(pod("b-2").gpus(2).on("b"));
  s.has(pod("b-3").gpus(3).on("b"));
  s.synced();
  const auto uid = [](const char* name) { return pod(name).object().metadata.uid; };
  const RoomFor four = s.engine.room_for(our_pod("four").gpus(4));
  CHECK(four.if_empty == "a");
  CHECK(four.node == "b");
  CHECK(four.pods == std::vector<GpuTenant>{{uid("b-3"), 3}});
  const RoomFor eight = s.engine.room_for(our_pod("eight").gpus(8));
  CHECK(eight.node == "b");
  CHECK(eight.pods == std::vector<GpuTenant>{{uid("b-3"), 3}, {uid("b-2"), 2}, {uid("b-1"), 1}});
  CHECK(s.engine.room_for(our_pod("nine").gpus(9)) == RoomFor{});
  CHECK(s.engine.room_for(our_pod("refused").gpus(1).labelled("waits-for", "x")) == RoomFor{});

  // After all these questions, the engine decides as without them.
  s.has(our_pod("two").gpus(2));
  CHECK(std::get<decision::Bind>(s.decisions().front()).node == "c");
}

TEST_CASE("room_for finds what it finds when each node is asked about alone") {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
    Scheduler all;
    std::map<std::string, Scheduler> alone;
    for (unsigned i = 0; i < 8; ++i) {
      const std::string name = "n" + std::to_string(i);
      NodeBuilder made = node(name).gpus(pick(2) * 4 + 4).cpu("8");
      if (pick(3) == 0) made.offers("nvidia.com/mig-1g.10gb", "7");
      all.has(made);
      alone[name].has(made);
      for (unsigned k = pick(6); k > 0; --k) {
        PodBuilder there =
            pod(name + "-" + std::to_string(k)).on(name).cpu(std::to_string(pick(4)));
        there.gpus(pick(4)).priority(static_cast<int>(pick(2)));
        if (pick(4) == 0) there.requests("nvidia.com/mig-1g.10gb", std::to_string(1 + pick(3)));
        all.has(there);
        alone[name].has(there);
      }
    }
    PodBuilder asked = our_pod("asked").gpus(1 + pick(8)).cpu(std::to_string(pick(7)));
    if (pick(4) == 0) asked.requests("nvidia.com/mig-1g.10gb", std::to_string(1 + pick(7)));
    all.synced();
    RoomFor want;
    const auto size = [](const RoomFor& room) {
      std::int64_t pieces = 0;
      for (const GpuTenant& one : room.pods) pieces += one.pieces;
      return std::pair(pieces, room.pods.size());
    };
    for (auto& [name, one] : alone) {
      one.synced();
      const RoomFor room = one.engine.room_for(asked);
      if (want.if_empty.empty()) want.if_empty = room.if_empty;
      if (room.node.empty() || (!want.node.empty() && size(room) >= size(want))) continue;
      want.node = room.node;
      want.pods = room.pods;
    }
    INFO("seed " << seed);
    const RoomFor got = all.engine.room_for(asked);
    CHECK(got.if_empty == want.if_empty);
    CHECK(got.node == want.node);
    CHECK(got.pods == want.pods);
  }
}

TEST_CASE("room_for names no pods that the pod needs near it") {
  QuotaCluster s({"InterPodAffinity"});
  s.has(node("a").gpus(2).labelled("host", "a"));
  const k8s::Pod there = their_pod("there").gpus(2).labelled("app", "db").on("a");
  s.has(there);
  const PodBuilder near = our_pod("near").gpus(1).near(pods_like({{"app", "db"}}, "host"));
  CHECK(s.engine.room_for(our_pod("p").gpus(1)).node == "a");
  const RoomFor room = s.engine.room_for(near);
  CHECK(room.node.empty());
  CHECK(room.pods.empty());
  CHECK(room.if_empty == "a");
}
