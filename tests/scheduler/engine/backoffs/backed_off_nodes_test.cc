// Black holes through the engine: what pods, people and the next decisions see of them.
#include "scheduler/engine/backoffs/rejected_pod.h"
#include "tests/scheduler/engine/harness.h"
#include "tests/support/catch.h"

#include <fmt/format.h>

#include <chrono>
#include <random>
#include <string>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;

namespace {

const char* const kRefused =
    " waits: 0/1 nodes are available: 1 node(s) were backed off after rejecting pods with devices.";

// A cluster of one node; its kubelet can be set to reject pods.
struct RejectingCluster : Scheduler {
  RejectingCluster() {
    has(node("n").gpus(8));
    synced();
  }
  void rejects(const std::string& name) {
    apply(event::PodRejected{.pod = {"ml", name, "uid-" + name},
                             .node = "n",
                             .reason = "UnexpectedAdmissionError",
                             .at = now});
  }
  void falls() {
    for (const char* name : {"x", "y", "z"}) rejects(name);
  }
};

}  // namespace

TEST_CASE("a black hole gets no pods with devices until its time is over") {
  RejectingCluster s;
  s.falls();
  s.has(our_pod("a").gpus(1));
  s.has(our_pod("plain").cpu("1"));
  CHECK(s.decide() == Texts{"n is backed off", std::string("a") + kRefused, "plain → n"});
  CHECK(s.engine.gpu_figures() == GpuFigures{.nodes_backed_off = 1, .rejected_pods = 3});
  REQUIRE(s.engine.next_wakeup() == s.now + 60s);

  s.now += 60s;
  CHECK(s.decide() == Texts{"n is on trial", "a → n"});
  CHECK(s.engine.gpu_figures() == GpuFigures{.nodes_backed_off = 0, .rejected_pods = 3});
  CHECK(s.engine.next_wakeup() == std::nullopt);
}

TEST_CASE("the decision names what led to it, and what the node has") {
  RejectingCluster s;
  s.has(node("n")
            .gpus(8)
            .product("NVIDIA-L4")
            .labelled("nvidia.com/cuda.driver-version.full", "570.124.06")
            .labelled("nvidia.com/cuda.runtime-version.full", "12.8"));
  s.falls();
  const auto decisions = s.decisions();
  REQUIRE(decisions.size() == 1);
  CHECK(std::get<decision::NodeBackedOff>(decisions[0]) ==
        decision::NodeBackedOff{.node = "n",
                                .until = s.now + 60s,
                                .in_a_row = 1,
                                .rejected = 3,
                                .reason = "UnexpectedAdmissionError",
                                .pod = {"ml", "z", "uid-z"},
                                .platform = "NVIDIA-L4, driver 570.124.06, CUDA 12.8"});
}

TEST_CASE("pods that ask for several pieces of a shared GPU make no black hole of its node") {
  RejectingCluster s;
  s.has(node("n")
            .gpus(8)
            .product("NVIDIA-L4-SHARED")
            .labelled("nvidia.com/gpu.replicas", "4")
            .labelled("nvidia.com/gpu.sharing-strategy", "mps"));
  for (const char* name : {"x", "y", "z"}) {
    const auto rejection = rejection_of(
        our_pod(name).gpus(2).on("n").started_at(s.now).failed("UnexpectedAdmissionError"));
    REQUIRE(rejection);
    s.apply(*rejection);
  }
  s.has(our_pod("one").gpus(1));
  CHECK(s.decide() == Texts{"one → n"});
  CHECK(s.engine.gpu_figures() == GpuFigures{});
}

TEST_CASE("a pod with devices that starts there releases the node") {
  RejectingCluster s;
  s.falls();
  s.has(our_pod("a").gpus(1));
  REQUIRE(s.decide().size() == 2);
  s.has(their_pod("plain").cpu("1").on("n").started_at(s.now + 1s));
  s.has(their_pod("old").gpus(1).on("n").started_at(s.now - 1s));
  s.has(their_pod("undated").gpus(1).on("n"));
  CHECK(s.decide().empty());
  s.has(
      their_pod("starting").gpus(1).on("n").started_at(s.now + 1s).phase(k8s::PodPhase::kPending));
  CHECK(s.decide().empty());
  s.has(their_pod("starting").gpus(1).on("n").started_at(s.now + 1s));
  CHECK(s.decide() == Texts{"n works", "a → n"});
}

TEST_CASE("a node is on trial as long as it was backed off, and for five minutes at least") {
  // How often in a row it is backed off when it rejects one pod so long after a back-off; 0: it is
  // not.
  const auto again_after = [](int backoffs_before, std::chrono::seconds later) {
    RejectingCluster s;
    s.falls();
    int pods = 0;
    const auto in_a_row = [&s] {
      int last = 0;
      for (const Decision& each : s.decisions()) {
        const auto* down = std::get_if<decision::NodeBackedOff>(&each);
        if (down != nullptr) last = down->in_a_row;
      }
      return last;
    };
    for (int i = 1; i < backoffs_before; ++i) {
      REQUIRE(in_a_row() == i);
      s.now = *s.engine.next_wakeup();
      REQUIRE(in_a_row() == 0);
      s.rejects("r" + std::to_string(++pods));
    }
    REQUIRE(in_a_row() == backoffs_before);
    s.now = *s.engine.next_wakeup() + later;
    REQUIRE(in_a_row() == 0);
    s.rejects("last");
    return in_a_row();
  };
  CHECK(again_after(1, 299s) == 2);  // it was backed off for 60 s
  CHECK(again_after(1, 300s) == 0);
  CHECK(again_after(4, 479s) == 5);  // for 480 s
  CHECK(again_after(4, 480s) == 0);
}

TEST_CASE("a node that is backed off again is said to have rejected what it did since") {
  RejectingCluster s;
  const auto rejected = [&s] {
    for (const Decision& each : s.decisions()) {
      if (const auto* down = std::get_if<decision::NodeBackedOff>(&each)) return down->rejected;
    }
    return -1;
  };
  s.falls();
  CHECK(rejected() == 3);
  s.now = *s.engine.next_wakeup();
  CHECK(rejected() == -1);
  s.rejects("r");
  CHECK(rejected() == 1);
}

TEST_CASE("a rejection that its kubelet dated ahead is no news until that time has long passed") {
  RejectingCluster s;
  const event::PodRejected ahead{.pod = {"ml", "x", "uid-x"},
                                 .node = "n",
                                 .reason = "UnexpectedAdmissionError",
                                 .at = s.now + 1'000s};
  s.apply(ahead);
  for (int i = 0; i < 4; ++i) {
    s.now += 325s;
    s.apply(ahead);
    CHECK(s.engine.gpu_figures().rejected_pods == 1);
  }
}

TEST_CASE("what is known of a node holds through its updates and ends with it") {
  RejectingCluster s;
  s.falls();
  s.has(node("n").gpus(4));
  s.has(our_pod("a").gpus(1));
  CHECK(s.decide() == Texts{"n is backed off", std::string("a") + kRefused});
  SECTION("it goes") {
    s.node_gone("n");
    CHECK(s.engine.gpu_figures().nodes_backed_off == 0);
    s.has(node("n").gpus(4));
  }
  SECTION("another one of its name is there") { s.has(node("n").uid("another").gpus(4)); }
  CHECK(s.engine.gpu_figures().nodes_backed_off == 0);
  CHECK(s.decide() == Texts{"a → n"});
}

TEST_CASE("nothing is told of a node that was backed off and is gone") {
  RejectingCluster s;
  s.falls();
  s.node_gone("n");
  CHECK(s.decide().empty());
}

TEST_CASE("of the rejections before the start the last 1,024 are judged") {
  const int others = GENERATE(1'021, 1'022);
  Scheduler s;
  s.has(node("n").gpus(8));
  const auto rejects = [&](const std::string& name, const std::string& on) {
    s.apply(event::PodRejected{.pod = {"ml", name, name},
                               .node = on,
                               .reason = "UnexpectedAdmissionError",
                               .at = s.now - 10s});
  };
  for (const char* name : {"x", "y", "z"}) rejects(name, "n");
  for (int i = 0; i < others; ++i) rejects(std::to_string(i), "elsewhere");
  s.synced();
  const Texts told = s.decide();
  CHECK(told.back() == (others == 1'021 ? "n is backed off" : "elsewhere is backed off"));
}

TEST_CASE("rejections may be told before their node, and before the start") {
  Scheduler s;
  for (const char* name : {"x", "y", "z"}) {
    s.apply(event::PodRejected{.pod = {"ml", name, name},
                               .node = "n",
                               .reason = "UnexpectedAdmissionError",
                               .at = s.now - 10s});
  }
  s.has(node("n").gpus(8));
  s.has(our_pod("a").gpus(1));
  s.synced();
  CHECK(s.decide() == Texts{"n is backed off", std::string("a") + kRefused});
}

TEST_CASE("what a tenant has a sound node reject makes no black hole of it") {
  using Made = PodBuilder (*)(const std::string& name);
  struct Case {
    const char* name;
    const char* reason;
    Made made;
  };
  const Case each = GENERATE(
      Case{"more than the node has", "OutOfnvidia.com/gpu",
           [](const std::string& name) { return their_pod(name).gpus(99); }},
      Case{"more than the node has, which its device plugin is asked for",
           "UnexpectedAdmissionError",
           [](const std::string& name) { return their_pod(name).gpus(99); }},
      Case{"more than is free there", "UnexpectedAdmissionError",
           [](const std::string& name) { return their_pod(name).gpus(3); }},
      Case{"more than is free there, by two containers", "UnexpectedAdmissionError",
           [](const std::string& name) {
             return their_pod(name).gpus(2).with(container("b", {{"nvidia.com/gpu", "1"}}));
           }},
      Case{"more CPUs than are there", "UnexpectedAdmissionError",
           [](const std::string& name) { return their_pod(name).gpus(1).cpu("65"); }},
      Case{"a device that no node offers", "UnexpectedAdmissionError",
           [](const std::string& name) {
             return their_pod(name).requests("example.com/made-up", "1");
           }},
      Case{"what another pod has just taken", "OutOfnvidia.com/gpu",
           [](const std::string& name) { return their_pod(name).gpus(1); }},
      Case{"the same in our name", "OutOfnvidia.com/gpu",
           [](const std::string& name) { return our_pod(name).gpus(1); }});
  const bool gone_first = GENERATE(false, true);
  CAPTURE(each.name, gone_first);
  Scheduler s;
  s.has(node("n").gpus(8).cpu("64"));
  s.has(their_pod("there").gpus(6).on("n"));
  s.synced();
  for (int i = 0; i < 12; ++i) {
    PodBuilder made = each.made(fmt::format("p{}", i));
    const k8s::Pod pod = made.on("n");
    const auto rejection = rejection_of(made.on("n").started_at(s.now).failed(each.reason));
    REQUIRE(rejection);
    s.has(pod);
    if (gone_first) s.pod_gone(pod);
    s.apply(*rejection);
    if (!gone_first) s.pod_gone(pod);
  }
  s.has(our_pod("a").gpus(1));
  const Texts decided = s.decide();
  CHECK(decided.back() == "a → n");
  CHECK(s.engine.gpu_figures() == GpuFigures{});
}

TEST_CASE("what this process binds and its node rejects makes a black hole of it") {
  // What has been told of the pod when its rejection is.
  enum Told { kDecided, kBound, kSeen, kGone };
  const Told told = GENERATE(kDecided, kBound, kSeen, kGone);
  const std::string reason = GENERATE("OutOfnvidia.com/gpu", "UnexpectedAdmissionError");
  CAPTURE(told, reason);
  Scheduler s;
  s.has(node("n").gpus(8).pods(1));
  s.synced();
  for (const char* name : {"x", "y", "z"}) {
    PodBuilder made = our_pod(name).gpus(8);
    s.has(made);
    CHECK(s.decide() == Texts{std::string(name) + " → n"});
    if (told >= kBound) s.bind_succeeded(made, "n");
    if (told >= kSeen) s.has(made.on("n"));
    if (told == kGone) s.pod_gone(made);
    s.apply(*rejection_of(made.on("n").started_at(s.now).failed(reason)));
    s.pod_gone(made);
  }
  CHECK(s.decide() == Texts{"n is backed off"});
}

TEST_CASE("a pod that had started is no rejected one when it is gone") {
  Scheduler s;
  s.has(node("n").gpus(8));
  s.synced();
  for (const char* name : {"x", "y", "z"}) {
    PodBuilder made = our_pod(name).gpus(8);
    s.has(made);
    REQUIRE(s.decide() == Texts{std::string(name) + " → n"});
    s.has(made.on("n").started_at(s.now));
    s.pod_gone(made);
    s.apply(*rejection_of(made.failed("OutOfnvidia.com/gpu")));
  }
  CHECK(s.engine.gpu_figures() == GpuFigures{});
}

TEST_CASE("of pods that had their node at the start it is not known who put them there") {
  struct Case {
    const char* reason;
    std::size_t backed_off;
  };
  const Case each = GENERATE(Case{"OutOfnvidia.com/gpu", 0}, Case{"UnexpectedAdmissionError", 1});
  Scheduler s;
  for (const char* name : {"x", "y", "z"}) {
    PodBuilder made = our_pod(name).gpus(1);
    s.apply(*rejection_of(made.on("n").started_at(s.now).failed(each.reason)));
  }
  s.has(node("n").gpus(8));
  s.synced();
  CHECK(s.engine.gpu_figures().nodes_backed_off == each.backed_off);
}

TEST_CASE("profiles without GpuHealth know no black holes") {
  std::vector<Profile> profiles;
  profiles.push_back(profile());
  std::erase_if(profiles[0].filters,
                [](const auto& filter) { return filter->name() == "GpuHealth"; });
  Engine engine(std::move(profiles), {});
  engine.apply(event::NodeUpserted{node("n").gpus(8)}, kStart);
  for (const char* name : {"x", "y", "z"}) {
    engine.apply(event::PodRejected{{"ml", name, name}, "n", "UnexpectedAdmissionError", kStart},
                 kStart);
  }
  engine.apply(event::PodUpserted{our_pod("a").gpus(1)}, kStart);
  engine.apply(event::Synced{}, kStart);
  const auto decision = engine.step(kStart);
  REQUIRE(decision);
  CHECK(std::holds_alternative<decision::Bind>(*decision));
  CHECK(engine.gpu_figures() == GpuFigures{});
}

TEST_CASE("no sequence of events lets a node that is backed off take a pod with devices") {
  std::mt19937 random(GENERATE(range(1U, 6U)));
  Scheduler s;
  s.synced();
  const auto some_node = [&] { return "n" + std::to_string(random() % 4); };
  int created = 0;
  int binds = 0;
  int backoffs = 0;
  std::map<std::string, Time> until;  // by node, of those told to be backed off
  for (int i = 0; i < 4'000; ++i) {
    s.now += std::chrono::seconds(random() % 20);
    const std::string on = some_node();
    switch (random() % 6) {
      case 0:
        s.has(node(on).gpus(static_cast<std::int64_t>(random() % 9)));
        break;
      case 1:
        if (random() % 8 == 0) {
          s.node_gone(on);
          until.erase(on);
        }
        break;
      case 2:
        s.has(their_pod("t" + std::to_string(++created)).gpus(1).on(on).started_at(s.now));
        break;
      case 3:
        s.has(our_pod("p" + std::to_string(++created)).gpus(1));
        break;
      default:
        s.apply(event::PodRejected{.pod = {"ml", "r", std::to_string(++created)},
                                   .node = on,
                                   .reason = "UnexpectedAdmissionError",
                                   .at = s.now - std::chrono::seconds(random() % 3)});
    }
    for (const Decision& decision : s.decisions()) {
      if (const auto* down = std::get_if<decision::NodeBackedOff>(&decision)) {
        ++backoffs;
        until[down->node] = down->until;
        REQUIRE(down->until > s.now);
      } else if (const auto* up = std::get_if<decision::NodeReleased>(&decision)) {
        // Back-offs end when they said, unless something starts.
        if (!up->proven) REQUIRE(until.at(up->node) <= s.now);
        until.erase(up->node);
      } else if (const auto* bind = std::get_if<decision::Bind>(&decision)) {
        ++binds;
        REQUIRE_FALSE(until.contains(bind->node));
        s.bind_succeeded(our_pod(bind->pod.name), bind->node);
        s.pod_gone(our_pod(bind->pod.name));
      }
    }
    for (const auto& [node, end] : until) REQUIRE(end > s.now);
    REQUIRE(s.engine.gpu_figures().nodes_backed_off >= until.size());
  }
  CHECK(binds > 20);
  CHECK(backoffs > 20);
}
