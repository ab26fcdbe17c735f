// Pods whose CPUs and devices kubelet cannot align: the next ones go elsewhere for a while.
#include "scheduler/engine/world/topology_rejections.h"

#include "scheduler/engine/backoffs/rejected_pod.h"
#include "tests/scheduler/engine/harness.h"
#include "tests/support/catch.h"

#include <chrono>
#include <optional>
#include <string>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;

namespace {

constexpr const char* kRejectedThere =
    " waits: 0/1 nodes are available: 1 node(s) rejected a pod with the same requests "
    "(TopologyAffinityError).";

PodBuilder eight_cpus(const std::string& name, int gpus = 2) {
  return our_pod(name).gpus(gpus).cpu("8");
}

struct UnalignedCluster : Scheduler {
  explicit UnalignedCluster(std::initializer_list<const char*> nodes) {
    for (const char* name : nodes) has(node(name).gpus(8).cpu("64"));
    synced();
  }
  // The pod was placed there; its kubelet rejects it.
  void rejects(const PodBuilder& pod, const char* node) {
    bind_succeeded(pod, node);
    PodBuilder failed = pod;
    failed.on(node).failed("TopologyAffinityError");
    const auto rejection = rejection_of(failed);
    REQUIRE(rejection);
    apply(*rejection);
    has(failed);
  }
};

}  // namespace

TEST_CASE("after a TopologyAffinityError pods that ask for the same go to another node") {
  UnalignedCluster s({"a", "b"});
  s.has(eight_cpus("1"));
  REQUIRE(s.decide() == Texts{"1 → a"});
  s.rejects(eight_cpus("1"), "a");
  s.has(eight_cpus("2"));
  CHECK(s.decide() == Texts{"2 → b"});
  CHECK(s.engine.candidates(eight_cpus("3"), 9).size() == 1);
  CHECK(s.engine.candidates(eight_cpus("other", 1), 9).size() == 2);
  const Explanation explained = s.engine.explain(eight_cpus("3"));
  CHECK(explained.nodes[0].plugin == "GpuHealth");
}

TEST_CASE("with no other node the pod waits a minute, then twice as long after each further one") {
  UnalignedCluster s({"a"});
  Time::duration wait = 1min;
  s.has(eight_cpus("0"));
  for (int i = 0; i < 3; ++i) {
    const std::string name = std::to_string(i);
    REQUIRE(s.decide() == Texts{name + " → a"});
    s.rejects(eight_cpus(name), "a");
    const std::string next = std::to_string(i + 1);
    s.has(eight_cpus(next));
    CHECK(s.decide() == Texts{next + kRejectedThere});
    REQUIRE(s.engine.next_wakeup() == s.now + wait);
    s.now += wait - 1s;
    CHECK(s.decide().empty());
    s.now += 1s;
    wait *= 2;
  }
}

TEST_CASE("when it ends, pods that have waited for other pods since before are tried, too") {
  UnalignedCluster s({"a"});
  const PodBuilder other = their_pod("other").labelled("app", "other").on("a");
  s.has(other);
  s.has(eight_cpus("1"));
  REQUIRE(s.decide() == Texts{"1 → a"});
  s.has(eight_cpus("2").away_from(pods_like({{"app", "other"}}, "kubernetes.io/hostname")));
  REQUIRE(s.decide().size() == 1);
  s.rejects(eight_cpus("1"), "a");
  s.pod_gone(other);
  CHECK(s.decide().empty());
  REQUIRE(s.engine.next_wakeup() == s.now + 1min);
  s.now += 1min;
  CHECK(s.decide() == Texts{"2 → a"});
}

TEST_CASE("only pods that this process placed count, each once") {
  UnalignedCluster s({"a"});
  // Its author named the node.
  const PodBuilder strangers = eight_cpus("stranger").on("a");
  s.has(strangers);
  s.rejects(eight_cpus("stranger"), "a");
  s.has(eight_cpus("1"));
  REQUIRE(s.decide() == Texts{"1 → a"});
  s.rejects(eight_cpus("1"), "a");
  s.rejects(eight_cpus("1"), "a");  // the watch repeats it
  s.has(eight_cpus("2"));
  CHECK(s.decide() == Texts{std::string("2") + kRejectedThere});
  s.now += 1min;
  CHECK(s.decide() == Texts{"2 → a"});
}

TEST_CASE("a rejection that is repeated later, as when the failed pod is deleted, does not count") {
  UnalignedCluster s({"a"});
  s.has(eight_cpus("1"));
  REQUIRE(s.decide() == Texts{"1 → a"});
  s.rejects(eight_cpus("1"), "a");
  s.now += 1h;
  s.rejects(eight_cpus("1"), "a");
  s.has(eight_cpus("2"));
  CHECK(s.decide() == Texts{"2 → a"});
}

TEST_CASE(
    "what a node could not place by its topology does not count, once it is gone, against a new "
    "one of its name") {
  UnalignedCluster s({"a"});
  s.has(eight_cpus("1"));
  REQUIRE(s.decide() == Texts{"1 → a"});
  s.rejects(eight_cpus("1"), "a");
  s.has(eight_cpus("2"));
  REQUIRE(s.decide() == Texts{std::string("2") + kRejectedThere});
  s.node_gone("a");
  s.has(node("a").gpus(8).cpu("64"));
  CHECK(s.decide() == Texts{"2 → a"});
  s.rejects(eight_cpus("1"), "a");  // the watch repeats it
  s.has(eight_cpus("3"));
  CHECK(s.decide() == Texts{"3 → a"});
  // The time begins with a minute again.
  s.rejects(eight_cpus("3"), "a");
  s.has(eight_cpus("4"));
  CHECK(s.decide() == Texts{std::string("4") + kRejectedThere});
  CHECK(s.engine.next_wakeup() == s.now + 1min);
}

TEST_CASE("rejections are forgotten, and their number is bounded") {
  TopologyRejections rejections;
  const Time start{};
  const TopologyRejections::Requests requests{{"cpu", 8'000}};
  for (std::size_t i = 0; i < 3 * TopologyRejections::kMost; ++i) {
    rejections.add("n" + std::to_string(i), requests, "uid", start);
  }
  CHECK(rejections.left_out(requests).size() == TopologyRejections::kMost);
  CHECK(rejections.left_out({{"cpu", 4'000}}).empty());
  CHECK(rejections.next_end() == start + TopologyRejections::kShortest);
  rejections.forget(start + TopologyRejections::kShortest);
  CHECK(rejections.none());
  CHECK(rejections.left_out(requests).empty());
  CHECK(rejections.next_end() == std::nullopt);
  // Half an hour later nothing is known of it.
  const Time later = start + TopologyRejections::kShortest + TopologyRejections::kLongest;
  rejections.add("n2999", requests, "uid", later);
  CHECK(rejections.next_end() == later + TopologyRejections::kShortest);
}

TEST_CASE("of the pods that were rejected the latest are known") {
  TopologyRejections rejections;
  const TopologyRejections::Requests requests{{"cpu", 8'000}};
  const Time start{};
  constexpr std::size_t kKnown = 8;
  for (std::size_t i = 0; i <= kKnown; ++i) {
    rejections.add("n", requests, "uid-" + std::to_string(i), start);
  }
  const auto end = rejections.next_end();
  rejections.add("n", requests, "uid-" + std::to_string(kKnown), start + 1s);
  CHECK(rejections.next_end() == end);  // it is known
  rejections.add("n", requests, "uid-0", start + 1s);
  CHECK(rejections.next_end() == start + 1s + TopologyRejections::kLongest);
}

TEST_CASE("the longest time is half an hour") {
  TopologyRejections rejections;
  const TopologyRejections::Requests requests{{"cpu", 8'000}};
  Time now{};
  for (int i = 0; i < 40; ++i) {
    rejections.add("n", requests, std::to_string(i), now);
    const auto end = rejections.next_end();
    REQUIRE(end);
    CHECK(*end - now ==
          std::min<Time::duration>(TopologyRejections::kShortest * (1LL << std::min(i, 10)),
                                   TopologyRejections::kLongest));
    now = *end;
  }
}
