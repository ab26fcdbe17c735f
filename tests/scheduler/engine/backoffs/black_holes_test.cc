#include "scheduler/engine/backoffs/black_holes.h"

#include "tests/support/catch.h"

#include <chrono>
#include <map>
#include <random>
#include <string>

using namespace sched;
using namespace std::chrono_literals;

namespace {

constexpr Time kClockStart{std::chrono::seconds{1'000'000}};
constexpr gpu::RejectionLimits kLimits{
    .pods = 3, .within = 300s, .initial_backoff = 60s, .max_backoff = 200s};

// One node; its kubelet has the engine's clock.
struct RejectingNode {
  bool rejects(const std::string& uid) { return rejects(uid, now); }
  bool rejects(const std::string& uid, Time at) {
    return holes.rejected({.pod = {"ml", "pod-" + uid, uid},
                           .node = "n",
                           .reason = "UnexpectedAdmissionError",
                           .at = at,
                           .devices = {{"nvidia.com/gpu", 1}}},
                          now);
  }
  // A pod with that device runs, and was admitted then.
  bool starts(Time admitted, const std::string& device = "nvidia.com/gpu") {
    return holes.started("n", {{device, 1}}, admitted, now);
  }
  // Rejects as many pods as it takes.
  void fall() {
    for (int i = 0; i < kLimits.pods; ++i) rejects("fall-" + std::to_string(next++));
    REQUIRE(holes.backoff("n") != nullptr);
  }
  [[nodiscard]] Time until() const { return holes.backoff("n")->until; }

  Time now = kClockStart;
  int next = 0;
  BlackHoles holes{kLimits};
};

}  // namespace

TEST_CASE("a node that rejects enough pods in time is backed off, and told about once") {
  RejectingNode n;
  CHECK_FALSE(n.rejects("a"));
  n.now += 100s;
  CHECK_FALSE(n.rejects("b"));
  CHECK(n.holes.backoff("n") == nullptr);
  n.now += 100s;
  CHECK(n.rejects("c"));
  REQUIRE(n.holes.backoff("n") != nullptr);
  CHECK(*n.holes.backoff("n") == gpu::AdmissionBackoff{.until = n.now + 60s,
                                                       .rejected = 3,
                                                       .reason = "UnexpectedAdmissionError"});
  CHECK_FALSE(n.rejects("d"));
  CHECK(n.holes.backed_off() == 1);
  CHECK(n.holes.next_end() == n.now + 60s);
  CHECK(n.holes.backoff("another") == nullptr);
}

TEST_CASE("rejections that are far apart, old, or told twice do not count together") {
  RejectingNode n;
  SECTION("far apart") {
    for (int i = 0; i < 20; ++i, n.now += 150s) CHECK_FALSE(n.rejects(std::to_string(i)));
  }
  SECTION("old: what a restarted scheduler is shown first") {
    for (int i = 0; i < 20; ++i) CHECK_FALSE(n.rejects(std::to_string(i), n.now - 301s));
  }
  SECTION("told twice") {
    for (int i = 0; i < 20; ++i) CHECK_FALSE(n.rejects("a"));
    CHECK_FALSE(n.rejects("b"));
  }
  CHECK(n.holes.backed_off() == 0);
}

TEST_CASE("rejections that are just as old as they may be count") {
  RejectingNode n;
  for (const char* uid : {"a", "b"}) CHECK_FALSE(n.rejects(uid, n.now - 300s));
  CHECK(n.rejects("c", n.now - 300s));
}

TEST_CASE("the latest rejection counts for what proves a node, not the one that was told last") {
  RejectingNode n;
  n.rejects("a");
  n.rejects("b", n.now - 200s);
  REQUIRE(n.rejects("c", n.now - 100s));
  CHECK_FALSE(n.starts(n.now - 50s));
  CHECK(n.starts(n.now + 1us));
}

TEST_CASE("of the rejections that kubelet dated ahead the last hundred are known") {
  RejectingNode n;
  const auto repeated = [&](int pod) {
    const std::uint64_t before = n.holes.rejections();
    n.rejects(std::to_string(pod), n.now + 1h);
    return n.holes.rejections() == before;
  };
  for (int pod = 0; pod < 100; ++pod) CHECK_FALSE(repeated(pod));
  CHECK(repeated(0));
  CHECK_FALSE(repeated(100));
  CHECK(repeated(1));
  CHECK_FALSE(repeated(0));
}

TEST_CASE("each back-off in a row is twice as long, up to the greatest") {
  RejectingNode n;
  n.fall();
  int row = 1;
  for (const auto length : {60s, 120s, 200s, 200s}) {
    CHECK(n.until() == n.now + length);
    CHECK(n.holes.in_a_row("n") == row++);
    n.now += length - 1us;
    CHECK(n.holes.end(n.now).empty());
    n.now += 1us;
    CHECK(n.holes.end(n.now) == std::vector<std::string>{"n"});
    CHECK(n.holes.backoff("n") == nullptr);
    // What led here is told again, as after a new list: no news.
    CHECK_FALSE(n.rejects("fall-2", kClockStart));
    // On trial one is enough.
    n.now += 1s;
    CHECK(n.rejects("trial-" + std::to_string(row)));
  }
}

TEST_CASE("a node that rejects nothing while on trial starts anew") {
  RejectingNode n;
  n.fall();
  n.now += 60s;
  REQUIRE(n.holes.end(n.now).size() == 1);
  n.now += 300s;
  CHECK_FALSE(n.rejects("x"));
  CHECK_FALSE(n.rejects("y"));
  CHECK(n.rejects("z"));
  CHECK(n.until() == n.now + 60s);
}

TEST_CASE("a pod that starts after the last rejection releases the node and clears its record") {
  RejectingNode n;
  n.fall();
  CHECK_FALSE(n.starts(n.now - 5s));  // was admitted before: proves nothing
  CHECK_FALSE(n.starts(n.now));       // unknown: proves nothing
  CHECK_FALSE(n.holes.started("another", {{"nvidia.com/gpu", 1}}, n.now + 1s, n.now));
  REQUIRE(n.holes.backoff("n") != nullptr);
  CHECK(n.starts(n.now + 1s));
  CHECK(n.holes.backoff("n") == nullptr);
  CHECK(n.holes.next_end() == std::nullopt);
  CHECK(n.holes.in_a_row("n") == 0);
  n.now += 2s;
  CHECK_FALSE(n.rejects("x"));
  CHECK_FALSE(n.rejects("y"));
  CHECK(n.rejects("z"));
  CHECK(n.until() == n.now + 60s);
}

TEST_CASE("what a node rejected before it proved itself is no news when it is told again") {
  RejectingNode n;
  for (const char* uid : {"a", "b", "c"}) n.rejects(uid);
  REQUIRE(n.holes.backed_off() == 1);
  REQUIRE(n.starts(n.now + 2s));
  n.now += 5s;
  // As when a Job's controller takes its finalizers off, and after a new list.
  for (int times = 0; times < 2; ++times) {
    for (const char* uid : {"a", "b", "c"}) CHECK_FALSE(n.rejects(uid, kClockStart));
  }
  CHECK(n.holes.backed_off() == 0);
  CHECK(n.holes.rejections() == 3);
}

TEST_CASE("a kubelet whose clock was ahead once is believed as any other") {
  RejectingNode n;
  CHECK_FALSE(n.rejects("ahead", n.now + 24h));
  n.now += 1s;
  CHECK_FALSE(n.rejects("b"));
  n.now += 1s;
  CHECK(n.rejects("c"));
  n.now += 60s;
  REQUIRE(n.holes.end(n.now).size() == 1);
  CHECK_FALSE(n.rejects("ahead", kClockStart + 24h));  // told again, on trial
  CHECK(n.rejects("d"));
  n.now += 1s;
  CHECK(n.starts(n.now + 24h));
  n.now += 1s;
  for (const char* uid : {"e", "f"}) CHECK_FALSE(n.rejects(uid));
  CHECK_FALSE(n.rejects("ahead", kClockStart + 24h));
  CHECK(n.rejects("g"));
}

TEST_CASE("a node is proven by what it rejected, not by another device") {
  RejectingNode n;
  const auto rejects = [&](const std::string& uid, BlackHoles::Devices devices) {
    return n.holes.rejected({.pod = {"ml", uid, uid},
                             .node = "n",
                             .reason = "UnexpectedAdmissionError",
                             .at = n.now,
                             .devices = std::move(devices)},
                            n.now);
  };
  const BlackHoles::Devices gpu{{"nvidia.com/gpu", 8}};
  const BlackHoles::Devices both{{"nvidia.com/gpu", 8}, {"rdma/hca", 1}};
  SECTION("a device that all had in common") {
    rejects("a", gpu);
    rejects("b", both);
    CHECK_FALSE(n.starts(n.now + 1s, "rdma/hca"));
    REQUIRE(rejects("c", gpu));
    CHECK_FALSE(n.starts(n.now + 1s, "rdma/hca"));
    CHECK_FALSE(n.starts(n.now + 1s, "devices/fuse"));
    n.now += 60s;
    REQUIRE(n.holes.end(n.now).size() == 1);
    CHECK_FALSE(n.starts(n.now, "devices/fuse"));
    REQUIRE(rejects("d", both));
    CHECK(n.holes.in_a_row("n") == 2);
    CHECK(n.starts(n.now + 1s));
  }
  SECTION("nothing in common: any device") {
    rejects("a", gpu);
    rejects("b", {{"rdma/hca", 1}});
    REQUIRE(rejects("c", gpu));
    CHECK(n.starts(n.now + 1s, "devices/fuse"));
  }
  SECTION("a recording that does not say: any device") {
    for (const char* uid : {"a", "b", "c"}) rejects(uid, {});
    REQUIRE(n.holes.backed_off() == 1);
    CHECK(n.starts(n.now + 1s, "devices/fuse"));
  }
}

TEST_CASE("a pod that starts while the node is on trial ends the trial") {
  RejectingNode n;
  n.fall();
  n.now += 60s;
  REQUIRE(n.holes.end(n.now).size() == 1);
  CHECK_FALSE(n.starts(n.now));  // not backed off: nothing to release
  CHECK(n.holes.in_a_row("n") == 0);
}

TEST_CASE("a node that goes takes its record along") {
  RejectingNode n;
  n.fall();
  CHECK(n.holes.forget("n"));
  CHECK_FALSE(n.holes.forget("n"));
  CHECK(n.holes.backed_off() == 0);
  CHECK(n.holes.next_end() == std::nullopt);
}

TEST_CASE("what a node rejected that is gone does not count against a new one of its name") {
  RejectingNode n;
  const Time ahead = n.now + 1h;
  SECTION("that was backed off") {
    CHECK_FALSE(n.rejects("a"));
    CHECK_FALSE(n.rejects("b", ahead));
    CHECK(n.rejects("c"));
  }
  SECTION("that was not, yet") {
    CHECK_FALSE(n.rejects("a"));
    CHECK_FALSE(n.rejects("b", ahead));
  }
  const Time before = n.now;
  n.now += 10s;
  n.holes.forget("n");
  const std::uint64_t counted = n.holes.rejections();
  // A watch that is opened anew shows them again.
  CHECK_FALSE(n.rejects("a", before));
  CHECK_FALSE(n.rejects("b", ahead));
  CHECK_FALSE(n.rejects("c", before));
  CHECK(n.holes.rejections() == counted);
  CHECK(n.holes.backoff("n") == nullptr);
  CHECK(n.holes.in_a_row("n") == 0);
  // Its own count as those of any other.
  CHECK_FALSE(n.rejects("d"));
  CHECK_FALSE(n.rejects("e"));
  CHECK(n.rejects("f"));
  CHECK(n.holes.in_a_row("n") == 1);
}

TEST_CASE("what is known of nodes that have been quiet for long is dropped") {
  BlackHoles holes(kLimits);
  Time now = kClockStart;
  for (int i = 0; i < 5'000; ++i, now += 1s) {
    holes.rejected({.pod = {"ml", "p", std::to_string(i)},
                    .node = "n" + std::to_string(i),
                    .reason = "OutOfcpu",
                    .at = now},
                   now);
    REQUIRE(holes.size() <= 2 * 300 + 1);
  }
}

TEST_CASE("through random rejections and starts every back-off ends, and none outlasts a start") {
  std::mt19937 random(GENERATE(range(1U, 6U)));
  BlackHoles holes(kLimits);
  Time now = kClockStart;
  struct Believed {
    Time last{};              // rejection
    std::optional<Time> end;  // of its back-off
  };
  std::map<std::string, Believed> nodes;
  int begun = 0;    // back-offs
  int over = 0;     // of them those that ended with time
  int outdone = 0;  // those that a start ended
  for (int i = 0; i < 5'000; ++i) {
    now += std::chrono::seconds(random() % 30);
    for (const std::string& node : holes.end(now)) {
      REQUIRE(nodes[node].end);
      REQUIRE(nodes[node].end <= now);
      nodes[node].end.reset();
      ++over;
    }
    const std::string node = "n" + std::to_string(random() % 4);
    Believed& believed = nodes[node];
    switch (random() % 4) {
      case 0:
        if (holes.started(node, {{"nvidia.com/gpu", 1}}, now, now)) {
          REQUIRE(believed.end);
          REQUIRE(now > believed.last);
          believed.end.reset();
          ++outdone;
        }
        if (now > believed.last) REQUIRE(holes.backoff(node) == nullptr);
        break;
      case 1:
        if (random() % 20 == 0) {
          holes.forget(node);
          believed = {};
          break;
        }
        [[fallthrough]];
      default:
        if (holes.rejected({.pod = {"ml", "p", std::to_string(i)},
                            .node = node,
                            .reason = "OutOfnvidia.com/gpu",
                            .at = now},
                           now)) {
          REQUIRE_FALSE(believed.end);
          believed.end = holes.backoff(node)->until;
          REQUIRE(*believed.end <= now + kLimits.max_backoff);
          REQUIRE(*believed.end >= now + kLimits.initial_backoff);
          ++begun;
        }
        believed.last = now;
    }
    std::size_t backed_off = 0;
    for (const auto& [name, each] : nodes) {
      REQUIRE((holes.backoff(name) != nullptr) == each.end.has_value());
      if (each.end) ++backed_off;
    }
    REQUIRE(holes.backed_off() == backed_off);
    REQUIRE(holes.next_end().has_value() == (backed_off > 0));
  }
  CHECK(begun > 50);
  CHECK(over > 10);
  CHECK(outdone > 10);
}
