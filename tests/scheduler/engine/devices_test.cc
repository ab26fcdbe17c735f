// GPUs kept one by one: placements name their devices, and no device is given twice.
#include "bench/devices/allocator.h"
#include "tests/scheduler/engine/harness.h"
#include "tests/support/catch.h"

#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>

using namespace sched;
using namespace tests;

namespace {

EngineOptions apart() {
  EngineOptions options;
  options.devices = bench::device_allocator();
  return options;
}

PodBuilder share(const std::string& name, int milli) {
  return our_pod(name).requests("gpu-scheduler.io/gpu-milli", std::to_string(milli));
}

NodeBuilder gpu_node(const std::string& name, int gpus) {
  return node(name).gpus(gpus).cpu("96").offers("gpu-scheduler.io/gpu-milli",
                                                std::to_string(gpus * 1000));
}

// "a → n1 [0:460]"
Texts placed(Scheduler& s) {
  Texts words;
  for (const Decision& decision : s.decisions()) {
    const auto* bind = std::get_if<decision::Bind>(&decision);
    if (bind == nullptr) {
      const auto& refusal = std::get<decision::Unschedulable>(decision);
      words.push_back(refusal.pod.name + " waits: " + refusal.message + "|" + refusal.details);
      continue;
    }
    std::string text = bind->pod.name + " → " + bind->node + " [";
    for (const gpu::DeviceShare& taken : bind->devices) {
      text += " " + std::to_string(taken.device) + ":" + std::to_string(taken.milli);
    }
    words.push_back(text + " ]");
  }
  return words;
}

}  // namespace

TEST_CASE("a share of a GPU goes to the device that is fullest and has room") {
  Scheduler s(apart());
  s.has(gpu_node("n1", 2));
  s.synced();
  const k8s::Pod a = share("a", 600);
  const k8s::Pod b = share("b", 500);
  s.has(a);
  s.has(b);
  CHECK(placed(s) == Texts{"a → n1 [ 0:600 ]", "b → n1 [ 1:500 ]"});
  s.has(share("c", 400));
  s.has(share("d", 501));
  s.has(our_pod("e").gpus(1));
  const Texts words = placed(s);
  REQUIRE(words.size() == 3);
  CHECK(words[0] == "c → n1 [ 0:400 ]");
  CHECK(words[1].starts_with("d waits: 0/1 nodes are available: 1 "));
  CHECK(words[2].starts_with("e waits: 0/1 nodes are available: 1 "));

  s.pod_gone(b);
  CHECK(placed(s) == Texts{"d → n1 [ 1:501 ]"});
}

TEST_CASE("without an allocator a share is a plain resource, and no device is named") {
  Scheduler s;
  s.has(gpu_node("n1", 2));
  s.synced();
  for (const char* name : {"a", "b", "c"}) s.has(share(name, 600));
  CHECK(placed(s) == Texts{"a → n1 [ ]", "b → n1 [ ]", "c → n1 [ ]"});
}

TEST_CASE("a bound pod keeps its devices, and one that was bound before gets some") {
  Scheduler s(apart());
  s.has(gpu_node("n1", 2));
  s.has(our_pod("before").gpus(1).on("n1"));
  s.synced();
  k8s::Pod a = share("a", 600);
  s.has(a);
  CHECK(placed(s) == Texts{"a → n1 [ 1:600 ]"});
  s.bind_succeeded(a, "n1");
  a.spec.node_name = "n1";
  s.has(a);
  s.has(share("b", 400));
  CHECK(placed(s) == Texts{"b → n1 [ 1:400 ]"});
}

TEST_CASE(
    "a bound pod keeps its devices though others would be chosen now, until its node differs") {
  Scheduler s(apart());
  s.has(gpu_node("n1", 2));
  s.synced();
  const k8s::Pod a = share("a", 600);
  s.has(a);
  s.has(share("b", 500));
  s.has(share("c", 300));
  REQUIRE(placed(s) == Texts{"a → n1 [ 0:600 ]", "b → n1 [ 1:500 ]", "c → n1 [ 0:300 ]"});
  s.pod_gone(a);
  SECTION("on its node") {
    s.has(share("c", 300).on("n1"));
    s.has(share("d", 500));
    CHECK(placed(s) == Texts{"d → n1 [ 1:500 ]"});
  }
  SECTION("on another node") {
    s.has(gpu_node("n2", 2));
    s.has(our_pod("whole").gpus(1).on("n2"));  // takes the first
    s.has(share("c", 300).on("n2"));
    s.has(share("d", 701).selects("kubernetes.io/hostname", "n2"));
    s.has(share("e", 700).selects("kubernetes.io/hostname", "n2"));
    const Texts words = placed(s);
    REQUIRE(words.size() == 2);
    CHECK(words[0].starts_with("d waits: "));
    CHECK(words[1] == "e → n2 [ 1:700 ]");
  }
}

TEST_CASE("no device is given twice, whatever comes and goes") {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    std::mt19937 random(seed);
    Scheduler s(apart());
    std::map<std::string, int> gpus;
    for (int i = 0; i < 6; ++i) {
      const std::string name = "n" + std::to_string(i);
      gpus[name] = static_cast<int>(random() % 9);
      s.has(gpu_node(name, gpus[name]));
    }
    s.synced();
    std::map<std::string, std::pair<k8s::Pod, decision::Bind>> running;
    std::map<std::pair<std::string, std::uint32_t>, int> taken;  // thousandths, by device
    for (int round = 0; round < 1500; ++round) {
      if (random() % 2 == 0 && !running.empty()) {
        auto some = std::next(running.begin(), static_cast<long>(random() % running.size()));
        for (const gpu::DeviceShare& share : some->second.second.devices) {
          taken[{some->second.second.node, share.device}] -= share.milli;
        }
        s.pod_gone(some->second.first);
        running.erase(some);
      }
      const std::string name = "p" + std::to_string(round);
      const int milli = 100 + static_cast<int>(random() % 9) * 100;
      const k8s::Pod pod = random() % 3 == 0
                               ? our_pod(name).gpus(1 + static_cast<int>(random() % 4)).object()
                               : share(name, milli).object();
      s.has(pod);
      for (const Decision& decision : s.decisions()) {
        const auto* bind = std::get_if<decision::Bind>(&decision);
        if (bind == nullptr) {
          s.pod_gone(pod);
          continue;
        }
        REQUIRE_FALSE(bind->devices.empty());
        std::set<std::uint32_t> different;
        for (const gpu::DeviceShare& share : bind->devices) {
          different.insert(share.device);
          REQUIRE(static_cast<int>(share.device) < gpus[bind->node]);
          int& sum = taken[{bind->node, share.device}];
          REQUIRE((share.milli < 1000 || sum == 0));
          sum += share.milli;
          REQUIRE(sum <= 1000);
        }
        REQUIRE(different.size() == bind->devices.size());
        running.emplace(bind->pod.uid, std::pair{pod, *bind});
        s.bind_succeeded(pod, bind->node);
      }
    }
  }
}

TEST_CASE("pods with whole GPUs go the same way, counted or kept one by one") {
  std::mt19937 random(11);
  Scheduler counted;
  Scheduler one_by_one(apart());
  for (Scheduler* s : {&counted, &one_by_one}) {
    for (int i = 0; i < 5; ++i) s->has(gpu_node("n" + std::to_string(i), 2 + i));
    s->synced();
  }
  std::vector<k8s::Pod> pods;
  for (int round = 0; round < 400; ++round) {
    if (random() % 3 == 0 && !pods.empty()) {
      const auto some = pods.begin() + static_cast<long>(random() % pods.size());
      counted.pod_gone(*some);
      one_by_one.pod_gone(*some);
      pods.erase(some);
    } else {
      pods.push_back(our_pod("p" + std::to_string(round)).gpus(1 + static_cast<int>(random() % 4)));
      counted.has(pods.back());
      one_by_one.has(pods.back());
    }
    REQUIRE(counted.decide() == one_by_one.decide());
  }
}
