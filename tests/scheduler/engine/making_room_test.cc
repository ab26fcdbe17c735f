// What becomes of the room that preemption makes: kept, used, or given back.
#include "tests/scheduler/engine/preempting.h"
#include "tests/support/catch.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;

namespace {

// The claim "c", which has no volume yet.
k8s::PersistentVolumeClaim pending_claim() {
  k8s::PersistentVolumeClaim claim;
  claim.metadata.name = "c";
  claim.metadata.namespace_ = "default";
  claim.phase = "Pending";
  return claim;
}

}  // namespace

TEST_CASE("while victims leave, their room is the pod's") {
  Preempting s;
  s.has(node("n").gpus(8));
  const k8s::Pod a = s.runs("a", "n", kLow, 4);
  const k8s::Pod b = s.runs("b", "n", kLow, 4);
  const k8s::Pod high = wants(8);
  s.has(high);
  REQUIRE(s.decide() == Texts{"p gets n without a b"});
  s.prepared(1);
  s.terminates(a);
  s.terminates(b);
  s.pod_gone(a);
  SECTION("pods of the same priority and below wait") {
    s.has(wants(1, kHigh, "q"));
    s.has(owned(wants(1, kLow, "a-again")));
    CHECK(s.decide().size() == 2);
    s.pod_gone(b);
    CHECK(s.decide() == Texts{"p → n"});
  }
  SECTION("a pod of higher priority gets it, and nobody else is evicted") {
    const k8s::Pod higher = wants(8, kHigh + 1, "q");
    s.has(higher);
    CHECK(s.decide() ==
          Texts{"q gets n without", "p not to n: a pod of higher priority gets its room"});
    s.prepared(2);
    s.pod_gone(b);
    CHECK(s.decide() == Texts{"q → n"});
    s.now += 10s;
    CHECK(s.decide().size() == 1);
  }
  SECTION("the pod is deleted: others get it") {
    s.has(wants(4, kLow, "q"));
    REQUIRE(s.decide().size() == 1);
    s.pod_gone(high);
    CHECK(s.decide() == Texts{"q → n"});
  }
  SECTION("room that comes otherwise is taken at once") {
    s.has(node("n").gpus(16));
    CHECK(s.decide() == Texts{"p → n"});
  }
  SECTION("the node stops taking pods: the pod goes elsewhere") {
    s.has(node("m").gpus(8));
    s.has(node("n").gpus(8).cordoned());
    CHECK(s.decide() == Texts{"p not to n: the node has changed"});
    s.now += 10s;
    CHECK(s.decide() == Texts{"p → m"});
  }
  SECTION("the node goes") {
    s.node_gone("n");
    CHECK(s.decide() == Texts{"p not to n: the node is gone"});
  }
  SECTION("somebody else's pod takes it: told, and after twice the node is left out") {
    s.has(their_pod("thief").gpus(8).on("n"));
    s.pod_gone(b);
    CHECK(s.decide() ==
          Texts{"p not to n: the room that was made is taken, or the node has changed"});
    s.now += 10s;
    CHECK(s.decide().size() == 1);
  }
}

TEST_CASE("room goes on being made while a device plugin restarts") {
  Preempting s;
  s.has(h100("n"));
  const k8s::Pod low = s.runs("low", "n", kLow, 8);
  s.has(wants(8));
  REQUIRE(s.decide() == Texts{"p gets n without low"});
  s.prepared(1);
  s.terminates(low);
  const NodeBuilder without = node("n").gpus(0).product(kH100).cpu("64");
  s.has(NodeBuilder(without));
  CHECK(s.decide().empty());
  SECTION("the GPUs are back before the victim has left") {
    s.has(h100("n"));
    CHECK(s.decide().empty());
    s.pod_gone(low);
    CHECK(s.decide() == Texts{"p → n"});
  }
  SECTION("the victim has left before they are back") {
    s.pod_gone(low);
    CHECK(s.decide().empty());
    s.now += 1min;
    CHECK(s.decide().empty());
    s.has(h100("n"));
    CHECK(s.decide() == Texts{"p → n"});
  }
  SECTION("they do not come back") {
    const Time began = s.now;
    CHECK(s.decide_within(5min) == Texts{"p not to n: the node has changed"});
    CHECK(s.now == began + 2min);
  }
  SECTION("the node is cordoned") {
    s.has(NodeBuilder(without).cordoned());
    CHECK(s.decide() == Texts{"p not to n: the node has changed"});
  }
}

const std::string kMoves = "p not to n: there is room elsewhere by now";

TEST_CASE("a pod whose room is being made goes elsewhere if there is room") {
  Preempting s;
  s.has(node("n").gpus(8));
  const k8s::Pod low = s.runs("low", "n", kLow, 8);
  s.has(wants(8));
  REQUIRE(s.decide() == Texts{"p gets n without low"});
  const Time began = s.now;
  SECTION("before others, and whoever was not deleted yet stays") {
    s.now += 1s;
    s.has(wants(8, kLow, "other"));
    REQUIRE(s.decide().size() == 1);
    s.has(node("m").gpus(8));
    CHECK(s.decide() == Texts{kMoves, "p → m"});
    s.prepared(1);  // too late to matter
    CHECK(s.decide().empty());
    s.pod_gone(low);
    CHECK(s.decide() == Texts{"other → n"});
  }
  SECTION("looked for every second at most") {
    REQUIRE(s.decide().empty());
    s.has(node("l").gpus(4));
    CHECK(s.decide().empty());
    s.has(node("m").gpus(8));
    CHECK(s.decide_within(5s) == Texts{kMoves, "p → m"});
    CHECK(s.now == began + 1s);
  }
  SECTION("of two pods one, where there is room for one") {
    s.has(node("o").gpus(8));
    s.runs("more", "o", kLow, 8);
    s.has(wants(8, kHigh, "q"));
    REQUIRE(s.decide() == Texts{"q gets o without more"});
    s.now += 1s;
    s.has(node("m").gpus(8));
    CHECK(s.decide() == Texts{kMoves, "p → m"});
  }
  SECTION("not where its rules keep it away") {
    s.now += 1s;
    s.has(node("m").gpus(8).cordoned());
    CHECK(s.decide().empty());
  }
}

TEST_CASE("a pod that others come before elsewhere goes on with the room that is being made") {
  Preempting s;
  s.has(node("n").gpus(8));
  const k8s::Pod first = s.runs("first", "n", kLow, 4);
  const k8s::Pod second = s.runs("second", "n", kLow, 4);
  k8s::Pod older = our_pod("older").gpus(8).priority(kHigh).created_at(kStart - 10s);
  older.spec.preemption_policy = "Never";
  s.has(older);
  s.has(wants(8));
  s.has(wants(8, kHigh, "alike"));  // for which a search has just found nobody
  s.has(wants(1, kLow, "small"));
  REQUIRE(s.decide().size() == 4);
  s.prepared(1);
  s.terminates(first);
  s.terminates(second);
  s.now += 1s;
  s.has(node("m").gpus(8));
  CHECK(s.decide() == Texts{kMoves, "older → m", "p gets n without"});
  s.prepared(2);
  s.pod_gone(first);
  CHECK(s.decide().empty());
  s.pod_gone(second);
  CHECK(s.decide() == Texts{"p → n"});
}

TEST_CASE("a pod of a quota goes elsewhere within its guarantee alone") {
  Preempting s;
  s.has(h100("n"));
  s.has(gpu_quota("a").of("a").in_cohort("c").line("H100", 8));
  s.has(gpu_quota("b").of("b").in_cohort("c").line("H100", 8));
  const k8s::Pod low = s.runs("a", "low", "n", kLow, 8);
  s.has(in("a", "p", 8).priority(kHigh));
  REQUIRE(s.decide() == Texts{"p gets n without low"});
  s.prepared(1);
  s.terminates(low);
  s.now += 1s;
  s.has(h100("m"));
  SECTION("while the pod that leaves is counted, it would borrow there") {
    CHECK(s.decide().empty());
    s.pod_gone(low);
    CHECK(s.decide() == Texts{"p → n"});
  }
  SECTION("its quota has room by now") {
    s.has(gpu_quota("a").of("a").in_cohort("c").line("H100", 16));
    CHECK(s.decide() == Texts{kMoves, "p → m"});
  }
}

TEST_CASE("a victim that does not leave is not waited for for ever, nor again") {
  Preempting s;
  s.has(node("n").gpus(8));
  const k8s::Pod stuck = s.runs("stuck", "n", kLow, 8);
  s.has(wants(8));
  REQUIRE(s.decide() == Texts{"p gets n without stuck"});
  s.prepared(1);
  s.terminates(stuck, 15min);
  CHECK(s.decide().empty());
  s.now += 15min;
  CHECK(s.decide().empty());
  CHECK(s.engine.next_wakeup() == s.now + 1min);
  s.now += 1min;
  CHECK(s.decide() == Texts{"p not to n: waited too long: 1 pod(s) have not left the node"});
  s.now += 10s;
  CHECK(s.decide() == Texts{"p waits: 0/1 nodes are available: 1 Insufficient nvidia.com/gpu. "
                            "preemption: 0/1 nodes are available: 1 No preemption victims found "
                            "for incoming pod."});
  s.pod_gone(stuck);
  CHECK(s.decide() == Texts{"p → n"});
}

TEST_CASE("a victim with much time to end is waited for, but not for ever") {
  Preempting s;
  s.has(node("n").gpus(8));
  const k8s::Pod slow = s.runs("slow", "n", kLow, 8);
  s.has(wants(8));
  REQUIRE(s.decide() == Texts{"p gets n without slow"});
  s.prepared(1);
  s.terminates(slow, std::chrono::hours(24 * 7));
  CHECK(s.decide().empty());
  CHECK(s.engine.next_wakeup() == s.now + 1h);
  s.now += 1h;
  CHECK(s.decide() == Texts{"p not to n: waited too long: 1 pod(s) have not left the node"});
}

TEST_CASE("a pod that is being deleted already has the time that it was given") {
  Preempting s;
  s.has(node("a").gpus(8));
  s.has(node("b").gpus(8));
  s.runs("low", "a", kLow, 8);
  const k8s::Pod going = s.runs("going", "b", kHigh, 8);
  SECTION("an hour at most") {
    s.terminates(going, 50min);
    s.has(wants(8));
    REQUIRE(s.decide() == Texts{"p gets b without"});
    s.prepared(1);
    CHECK(s.engine.next_wakeup() == s.now + 51min);
    // It may change its mind.
    s.terminates(going, 20s);
    CHECK(s.decide().empty());
    s.pod_gone(going);
    CHECK(s.decide() == Texts{"p → b"});
  }
  SECTION("which is waited for as long as plans may wait") {
    s.terminates(going, 1h);
    s.has(wants(8));
    CHECK(s.decide() == Texts{"p gets b without"});
  }
  SECTION("with more it counts as one that stays") {
    s.terminates(going, 1h + 1s);
    s.has(wants(8));
    CHECK(s.decide() == Texts{"p gets a without low"});
  }
}

TEST_CASE("a pod that is being deleted is waited for once it has an hour left, without an event") {
  Preempting s;
  s.has(node("n").gpus(8));
  s.terminates(s.runs("going", "n", kHigh, 8), 3h);
  s.has(wants(8));
  CHECK_THAT(s.refusal(), Catch::Contains("1 No preemption victims found for incoming pod"));
  Texts made;
  do {
    made = s.decide_within(3h);  // meanwhile the pod is tried again now and then
    REQUIRE(made.size() == 1);
  } while (made.front().starts_with("p waits"));
  CHECK(made == Texts{"p gets n without"});
  CHECK(s.now == kStart + 2h);
}

TEST_CASE("an eviction that the API server refuses is undone and told") {
  Preempting s;
  s.has(node("n").gpus(8));
  s.runs("low", "n", kLow, 8);
  s.has(wants(8));
  REQUIRE(s.decide() == Texts{"p gets n without low"});
  s.prepared(1, "pods \"default/low\": delete: 403 Forbidden");
  CHECK(s.decide() == Texts{"p not to n: pods \"default/low\": delete: 403 Forbidden"});
  s.now += 1s;
  CHECK(s.decide() == Texts{"p gets n without low"});
  s.prepared(2, "403");
  CHECK(s.decide() == Texts{"p not to n: 403"});
  // Not on and on: the node is left out for a while.
  s.now += 10s;
  const Texts told = s.decide();
  REQUIRE(told.size() == 1);
  CHECK_THAT(told[0], Catch::Contains("p waits: "));
  // Then it is tried again, though nothing has changed.
  const Time waits = s.now;
  CHECK_FALSE(s.decide_within(2min).empty());
  CHECK(s.now >= waits + 40s);
}

TEST_CASE("pods that are on their way out are not evicted anew, nor others in their place") {
  Preempting s;
  s.has(node("a").gpus(8));
  s.has(node("b").gpus(8));
  s.runs("low", "a", kLow, 8);
  const k8s::Pod going = s.runs("going", "b", kHigh, 8);
  s.terminates(going);
  k8s::Pod high = wants(8);
  SECTION("also by the next process, in which nothing is known of it") {
    s.has(high);
    CHECK(s.decide() == Texts{"p gets b without"});
    s.prepared(1);
    s.pod_gone(going);
    CHECK(s.decide() == Texts{"p → b"});
  }
  SECTION("two pods do not wait for the same one") {
    s.has(high);
    s.has(wants(8, kHigh, "q"));
    CHECK(s.decide() == Texts{"p gets b without", "q gets a without low"});
  }
}

TEST_CASE("a pod that is nominated goes on with its node") {
  Preempting s;
  s.has(node("a").gpus(8));
  s.has(node("b").gpus(8));
  s.runs("first", "a", kLow, 8);
  s.runs("second", "b", kLow, 8);
  k8s::Pod high = wants(8);
  high.status.nominated_node_name = "b";
  s.has(high);
  CHECK(s.decide() == Texts{"p gets b without second"});
}

TEST_CASE("each pod evicts once, and for each there is a victim") {
  Preempting s;
  s.has(node("n").gpus(8));
  for (int i = 0; i < 8; ++i) s.runs("v" + std::to_string(i), "n", kLow, 1);
  s.has(wants(4, kHigh, "p"));
  s.has(wants(4, kHigh, "q"));
  s.has(wants(4, kHigh, "r"));
  const Texts told = s.decide();
  REQUIRE(told.size() == 3);
  CHECK(told[0] == "p gets n without v4 v5 v6 v7");
  CHECK(told[1] == "q gets n without v0 v1 v2 v3");
  CHECK_THAT(told[2], Catch::Contains("r waits"));
}

TEST_CASE("two pods that make room on one node both get it") {
  Preempting s;
  s.has(node("n").gpus(8));
  std::vector<k8s::Pod> victims;
  for (int i = 0; i < 8; ++i) victims.push_back(s.runs("v" + std::to_string(i), "n", kLow, 1));
  s.has(wants(4, kHigh, "p"));
  s.has(wants(4, kHigh, "q"));
  REQUIRE(s.decide() == Texts{"p gets n without v4 v5 v6 v7", "q gets n without v0 v1 v2 v3"});
  s.prepared(1);
  s.prepared(2);
  CHECK(s.decide().empty());
  for (const k8s::Pod& victim : victims) s.pod_gone(victim);
  CHECK(s.decide() == Texts{"p → n", "q → n"});
}

TEST_CASE("of several pods that make room on one node the first is served first") {
  Preempting s;
  s.has(node("n").gpus(8));
  std::vector<k8s::Pod> victims;
  for (int i = 0; i < 8; ++i) victims.push_back(s.runs("v" + std::to_string(i), "n", kLow, 1));
  s.has(wants(4, kHigh, "p"));
  s.has(wants(4, kHigh, "q"));
  REQUIRE(s.decide() == Texts{"p gets n without v4 v5 v6 v7", "q gets n without v0 v1 v2 v3"});
  s.prepared(1);
  s.prepared(2);
  SECTION("also by the room that was made for another") {
    for (std::size_t i = 0; i < 4; ++i) s.pod_gone(victims[i]);
    CHECK(s.decide() == Texts{"p → n"});
    for (std::size_t i = 4; i < 8; ++i) s.pod_gone(victims[i]);
    CHECK(s.decide() == Texts{"q → n"});
  }
  SECTION("if it is gone, the next") {
    s.terminates(victims[4]);
    s.terminates(victims[5]);
    s.terminates(victims[6]);
    s.terminates(victims[7]);
    for (std::size_t i = 0; i < 4; ++i) s.pod_gone(victims[i]);
    REQUIRE(s.decide() == Texts{"p → n"});
    s.bind_failed(wants(4, kHigh, "p"), "n");
    CHECK(s.decide() == Texts{"q → n"});
  }
}

TEST_CASE("a plan that counts on pods that are not evicted after all is made anew") {
  Preempting s;
  s.has(node("n").gpus(8));
  s.runs("v", "n", kLow, 8);
  const k8s::Pod first = wants(4, kHigh, "p");
  s.has(first);
  s.has(wants(4, kHigh, "q"));
  REQUIRE(s.decide() == Texts{"p gets n without v", "q gets n without"});
  s.prepared(2);
  SECTION("because the pod that they went for is gone") { s.pod_gone(first); }
  SECTION("because that was refused") { s.prepared(1, "403"); }
  const Texts told = s.decide();
  CHECK(told.back() == "q not to n: a pod that was to leave the node stays");
  s.now += 1s;
  const Texts anew = s.decide();
  REQUIRE_FALSE(anew.empty());
  CHECK_THAT(anew.front(), Catch::EndsWith(" gets n without v"));
}

TEST_CASE("a plan goes on where the pod that it counts on is being deleted already") {
  Preempting s;
  s.has(node("n").gpus(8));
  const k8s::Pod victim = s.runs("v", "n", kLow, 8);
  const k8s::Pod first = wants(4, kHigh, "p");
  s.has(first);
  s.has(wants(4, kHigh, "q"));
  REQUIRE(s.decide() == Texts{"p gets n without v", "q gets n without"});
  s.prepared(1);
  s.prepared(2);
  s.terminates(victim);
  s.pod_gone(first);
  CHECK(s.decide().empty());
  s.pod_gone(victim);
  CHECK(s.decide() == Texts{"q → n"});
}

TEST_CASE("a plan that was given up stays so, whatever becomes of its last part") {
  Preempting s;
  s.has(node("n").gpus(8));
  s.runs("v", "n", kLow, 8);
  s.has(wants(8, kMid, "p"));
  REQUIRE(s.decide() == Texts{"p gets n without v"});
  s.has(wants(8, kHigh, "q"));
  REQUIRE(std::holds_alternative<decision::Evict>(*s.engine.step(s.now)));
  s.prepared(1);
  CHECK(s.decide() == Texts{"p not to n: a pod of higher priority gets its room"});
}

TEST_CASE("a pod that takes another's room goes on with its victims") {
  Preempting s;
  s.has(node("n").gpus(8));
  const k8s::Pod first = s.runs("v", "n", kLow, 4);
  const k8s::Pod second = s.runs("w", "n", kLow, 4);
  s.has(wants(8, kMid, "p"));
  REQUIRE(s.decide() == Texts{"p gets n without v w"});
  s.terminates(second);
  s.has(wants(8, kHigh, "q"));
  CHECK(s.decide() ==
        Texts{"q gets n without v", "p not to n: a pod of higher priority gets its room"});
  s.prepared(2);
  s.pod_gone(first);
  s.pod_gone(second);
  CHECK(s.decide() == Texts{"q → n"});
}

TEST_CASE("nothing is held for another pod on a node on which room is made") {
  Preempting s;
  s.has(h100("n"));
  s.has(gpu_quota("a").of("ml").line("H100", 8));
  const k8s::Pod low = s.runs("low", "n", kLow, 8);
  s.has(in("ml", "waits-long", 8).priority(kLow));
  REQUIRE(s.decide().size() == 1);
  s.now = kStart + 590s;
  s.has(wants(8));
  REQUIRE(s.decide().back() == "p gets n without low");
  s.prepared(1);
  s.terminates(low, 60s);
  s.now = kStart + 601s;
  static_cast<void>(s.decide());
  SECTION("the pod gets it") {
    s.pod_gone(low);
    CHECK(s.decide().front() == "p → n");
  }
  SECTION("and when it is gone, the node is held for the other") {
    s.pod_gone(wants(8));
    static_cast<void>(s.decide());
    s.has(wants(1, kMid, "small"));
    s.pod_gone(low);
    CHECK(s.decide().front() == "waits-long → n");
  }
}

TEST_CASE("a pod that is refused by the time it has room is not bound") {
  Preempting s;
  s.has(node("n").gpus(8));
  s.has(name_space("x"));
  const k8s::Pod low = s.runs("low", "n", kLow, 8);
  s.has(our_pod("p").gpus(8).priority(kHigh).labelled("waits-for", "x"));
  REQUIRE(s.decide() == Texts{"p gets n without low"});
  s.prepared(1);
  s.apply(event::NamespaceDeleted{"x"});
  s.pod_gone(low);
  CHECK(s.decide() == Texts{"p not to n: waiting for x"});
  s.now += 20s;
  CHECK(s.decide() == Texts{"p waits: 0/1 nodes are available: waiting for x."});
  s.has(name_space("x"));
  CHECK(s.decide() == Texts{"p → n"});  // which is not left out for it
}

TEST_CASE("a node is not left out for a pod because its quota has changed") {
  Preempting s;
  s.has(node("n").gpus(16).product(kH100).cpu("64"));
  const auto quota = [](int gpus) { return gpu_quota("a").of("a").line("H100", gpus); };
  s.has(quota(8));
  s.runs("a", "low", "n", kLow, 8);
  s.has(in("a", "p", 8).priority(kHigh));
  for (int i = 0; i < 4; ++i) {
    CHECK(s.decide() == Texts{"p gets n without low"});
    s.has(quota(4));
    CHECK(s.decide().front() == "p not to n: its GPU quota has changed");
    s.has(quota(8));
    s.now += 20s;
  }
}

TEST_CASE("a pod whose room others take is not kept from the node for that") {
  Preempting s;
  s.has(node("n").gpus(8));
  s.runs("v", "n", kLow, 8);
  s.has(wants(8, kMid, "p"));
  REQUIRE(s.decide() == Texts{"p gets n without v"});
  for (int i = 0; i < 4; ++i) {
    const k8s::Pod high = wants(8, kHigh, "q" + std::to_string(i));
    s.has(high);
    REQUIRE(s.decide().size() == 2);  // and p's plan is undone
    s.pod_gone(high);
    s.now += 20s;
    CHECK(s.decide() == Texts{"p gets n without v"});
  }
}

TEST_CASE("a plan is not undone by another of its quota that makes room elsewhere") {
  Preempting s;
  s.has(node("n1").gpus(4).product(kH100).cpu("64"));
  s.has(h100("n2"));
  s.has(gpu_quota("a").of("a").line("H100", 16));
  const k8s::Pod first = s.runs("a", "v1", "n1", kLow, 4);
  const k8s::Pod second = s.runs("a", "v2", "n2", kLow, 8);
  s.has(in("a", "p", 4).priority(kHigh));
  s.has(in("a", "q", 8).priority(kHigh));
  REQUIRE(s.decide() == Texts{"p gets n1 without v1", "q gets n2 without v2"});
  s.prepared(1);
  s.prepared(2);
  s.pod_gone(first);
  CHECK(s.decide() == Texts{"p → n1"});
  s.pod_gone(second);
  CHECK(s.decide() == Texts{"q → n2"});
}

TEST_CASE("a pod is bound as soon as there is room, and nobody is waited for then") {
  Preempting s;
  s.has(node("n").gpus(8));
  const k8s::Pod other = s.runs("other", "n", kHigh, 4);
  s.runs("low", "n", kLow, 4);
  s.has(wants(4));
  REQUIRE(s.decide() == Texts{"p gets n without low"});
  s.pod_gone(other);
  CHECK(s.decide() == Texts{"p → n"});
}

TEST_CASE("a pod of lower priority that was decided on and not bound yet is evicted, too") {
  Preempting s;
  s.has(node("n").gpus(8));
  const k8s::Pod low = owned(wants(8, kLow, "low"));
  s.has(low);
  REQUIRE(s.decide() == Texts{"low → n"});
  s.has(wants(8));
  CHECK(s.decide() == Texts{"p gets n without low"});
  s.prepared(1);
  SECTION("its bind fails, and that is all") {
    s.bind_failed(low, "n");
    CHECK(s.decide() == Texts{"p → n"});
  }
  SECTION("it is bound, and deleted") {
    s.bind_succeeded(low, "n");
    CHECK(s.decide().empty());
    s.pod_gone(low);
    CHECK(s.decide() == Texts{"p → n"});
  }
}

TEST_CASE("what has to be written before the bind is written when the room is there") {
  Preempting s;
  k8s::PersistentVolumeClaim claim = pending_claim();
  s.Scheduler::has(claim);
  s.has(node("n").gpus(8));
  const k8s::Pod low = s.runs("low", "n", kLow, 8);
  s.has(our_pod("p").gpus(8).priority(kHigh).labelled("binds-claim", "c"));
  REQUIRE(s.decide() == Texts{"p gets n without low"});
  s.prepared(1);
  s.pod_gone(low);
  CHECK(s.decide() == Texts{"p prepares for n"});
  s.prepared(1, "too late to matter");
  CHECK(s.decide().empty());
  s.prepared(2);
  claim.phase = "Bound";
  s.Scheduler::has(claim);
  CHECK(s.decide() == Texts{"p → n"});
}

TEST_CASE("others do not leave again and again for a pod whose volume cannot be made there") {
  Preempting s;
  s.Scheduler::has(pending_claim());
  s.has(node("n").gpus(8));
  k8s::Pod low = s.runs("low", "n", kLow, 8);
  s.has(our_pod("p").gpus(8).priority(kHigh).labelled("binds-claim", "c"));
  for (std::uint64_t plan = 1; plan < 5; plan += 2) {
    REQUIRE(s.decide() == Texts{"p gets n without low"});
    s.prepared(plan);
    s.pod_gone(low);
    REQUIRE(s.decide() == Texts{"p prepares for n"});
    s.prepared(plan + 1, "there is no space left");
    REQUIRE(s.decide() == Texts{"p not to n: there is no space left"});
    low = s.runs("low", "n", kLow, 8);  // its controller makes it anew
    s.now += 20s;
  }
  CHECK_THAT(s.decide().at(0),
             Catch::Contains("were left out after the pod could not be bound there"));
  CHECK(s.decide_within(2min) == Texts{"p gets n without low"});
}

TEST_CASE("room that a pod in preparation had is another's at once") {
  Preempting s;
  s.Scheduler::has(pending_claim());
  s.has(node("n").gpus(8));
  s.has(our_pod("p").gpus(8).priority(kLow).labelled("binds-claim", "c"));
  REQUIRE(s.decide() == Texts{"p prepares for n"});
  s.has(wants(8, kHigh, "q"));
  CHECK(s.decide() ==
        Texts{"q gets n without", "p not to n: a pod of higher priority gets its room", "q → n"});
}

TEST_CASE("a quota is not exceeded by pods that are on their way out") {
  Preempting s;
  s.has(node("n").gpus(16).product(kH100).cpu("64"));
  s.has(gpu_quota("a").of("a").line("H100", 8));
  const k8s::Pod low = s.runs("a", "low", "n", kLow, 8);
  s.has(in("a", "p", 8).priority(kHigh));
  REQUIRE(s.decide() == Texts{"p gets n without low"});
  s.prepared(1);
  s.terminates(low);
  // The node has room for both.
  CHECK(s.decide().empty());
  SECTION("it is bound when its quota has room") {
    s.pod_gone(low);
    CHECK(s.decide() == Texts{"p → n"});
  }
  SECTION("also because it gives more") {
    s.has(gpu_quota("a").of("a").line("H100", 16));
    CHECK(s.decide() == Texts{"p → n"});
  }
  SECTION("it is not, if its quota gives less by then") {
    s.has(gpu_quota("a").of("a").line("H100", 4));
    CHECK(s.decide().front() == "p not to n: its GPU quota has changed");
  }
}
