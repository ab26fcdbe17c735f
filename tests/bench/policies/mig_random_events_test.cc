// The engine with GPUs kept one by one: whole GPUs, shares and MIG instances come and go at random,
// and a ledger of its own checks every GPU.
#include "bench/devices/allocator.h"
#include "scheduler/engine/engine.h"
#include "scheduler/gpu/demand.h"
#include "scheduler/gpu/product.h"
#include "tests/bench/policies/mig_node.h"
#include "tests/plugins/one_node.h"
#include "tests/support/catch.h"

#include <map>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

using namespace sched;
using tests::a100;
using tests::make_plugin;

namespace {

constexpr std::int64_t kNodes = 4;
constexpr std::int64_t kGpus = 3;  // of each
constexpr const char* kOurs = "gpu-scheduler";

Profile profile_with(const std::string& policy) {
  Profile profile;
  profile.scheduler_name = kOurs;
  for (const char* filter : {"NodeResourcesFit", "GpuDevices"}) {
    auto made = make_plugin(filter);
    REQUIRE(made);
    profile.filters.push_back(std::move(made->filter));
  }
  if (!policy.empty()) {
    auto made = make_plugin("MigPlacement", "policy: " + policy);
    REQUIRE(made);
    profile.scores.push_back({.plugin = std::move(made->score), .weight = 1});
  }
  return profile;
}

Engine engine_with(const std::string& policy) {
  std::vector<Profile> profiles;
  profiles.push_back(profile_with(policy));
  EngineOptions options;
  options.devices = bench::device_allocator();
  return {std::move(profiles), options};
}

// Each profile as often as it goes alone; which of them go together is for GpuDevices to say.
k8s::Node gpu_node(std::int64_t index) {
  auto node = tests::node("n" + std::to_string(index)).gpus(kGpus).product(tests::kA100);
  node.offers(gpu::kMilliResource, std::to_string(kGpus * gpu::kMilliPerGpu));
  for (const gpu::mig::Profile& profile : a100().profiles) {
    node.offers(gpu::mig::resource_of(profile), std::to_string(kGpus * profile.max_instances));
  }
  return node;
}

// Resource to amount.
using Request = std::map<std::string, std::int64_t>;

struct Held {
  std::string node;
  std::vector<gpu::DeviceShare> devices;
  std::string profile;  // where all are instances of one; else empty
};

// What is wrong with what is held; empty: nothing.
std::string wrong(const std::map<std::string, Held>& held) {
  using Device = std::pair<std::string, std::uint32_t>;
  std::map<Device, std::int64_t> milli;
  std::map<std::pair<Device, unsigned>, int> slices;
  std::map<std::pair<Device, std::string>, int> instances;
  std::map<Device, bool> partitioned;
  for (const auto& [uid, pod] : held) {
    for (const gpu::DeviceShare& share : pod.devices) {
      const Device device{pod.node, share.device};
      if (share.device >= kGpus) return uid + " has a GPU that is not there";
      milli[device] += share.milli;
      partitioned[device] = partitioned[device] || share.slices != 0;
      for (unsigned slice = 0; slice < 16; ++slice) {
        if ((unsigned{share.slices} >> slice & 1U) == 0) continue;
        if (slice >= a100().slices || ++slices[{device, slice}] > 1) return uid + ": slice";
      }
      if (pod.profile.empty()) continue;
      const gpu::mig::Profile* profile = a100().find(pod.profile);
      if (++instances[{device, pod.profile}] > profile->max_instances) return uid + ": maximum";
    }
  }
  for (const auto& [device, sum] : milli) {
    if (sum > gpu::kMilliPerGpu) return device.first + ": more than a GPU";
    if (sum > 0 && partitioned[device]) return device.first + ": shared and partitioned";
  }
  return {};
}

// A cluster under one rule, driven by events alone.
class Cluster {
 public:
  explicit Cluster(const std::string& policy) : engine_(engine_with(policy)) {
    for (std::int64_t i = 0; i < kNodes; ++i) apply(event::NodeUpserted{gpu_node(i)});
    apply(event::Synced{});
  }

  // Whether it was placed; one that was not goes away again.
  bool come(const std::string& resource, std::int64_t amount) { return come({{resource, amount}}); }
  bool come(const Request& request) {
    const std::string uid = std::to_string(++last_);
    auto made = tests::pod("p" + uid).uid(uid).served_by(kOurs);
    for (const auto& [resource, amount] : request) {
      made.requests(resource, std::to_string(amount));
    }
    const k8s::Pod pod = made;
    const PodRef ref{pod.metadata.namespace_, pod.metadata.name, uid};
    apply(event::PodUpserted{pod});
    const auto decision = engine_.step(now_);
    const auto* bind = decision ? std::get_if<decision::Bind>(&*decision) : nullptr;
    if (bind == nullptr) {
      apply(event::PodDeleted{ref});
      return false;
    }
    apply(event::BindSucceeded{ref, bind->node});
    const std::string& first = request.begin()->first;
    const bool one_profile = request.size() == 1 && first.starts_with(gpu::kMigResourcePrefix);
    held[uid] = {bind->node, bind->devices,
                 one_profile ? first.substr(gpu::kMigResourcePrefix.size()) : ""};
    refs_[uid] = ref;
    return true;
  }

  void leave(const std::string& uid) {
    apply(event::PodDeleted{refs_.at(uid)});
    held.erase(uid);
  }

  std::map<std::string, Held> held;  // by uid

 private:
  void apply(const Event& event) { engine_.apply(event, now_); }

  Engine engine_;
  Time now_{};
  int last_ = 0;
  std::map<std::string, PodRef> refs_;
};

// A random request of any kind, now and then of two.
Request draw(std::mt19937& random) {
  Request request;
  do {
    switch (random() % 8) {
      case 0:
        request["nvidia.com/gpu"] = 1 + static_cast<std::int64_t>(random() % 2);
        break;
      case 1:
        request[std::string(gpu::kMilliResource)] = 1 + static_cast<std::int64_t>(random() % 999);
        break;
      default: {
        const auto& profiles = a100().profiles;
        request[gpu::mig::resource_of(profiles[random() % profiles.size()])] =
            1 + static_cast<std::int64_t>(random() % 10 == 0);
      }
    }
  } while (random() % 6 == 0);
  return request;
}

}  // namespace

TEST_CASE("Whatever comes and goes, no GPU holds more than it has, and all of it comes back") {
  for (const char* policy : {"", "first-fit", "best-fit-high", "worst-fit", "max-configurations",
                             "mfi", "slice-fgd", "expected-fill"}) {
    INFO("policy " << policy);
    Cluster cluster(policy);
    std::mt19937 random(11);
    int placed = 0;
    for (int i = 0; i < 400; ++i) {
      if (!cluster.held.empty() && random() % 5 < 2) {
        auto gone = cluster.held.begin();
        std::advance(gone, static_cast<int>(random() % cluster.held.size()));
        cluster.leave(std::string(gone->first));
      } else {
        placed += cluster.come(draw(random)) ? 1 : 0;
      }
      const std::string what = wrong(cluster.held);
      if (!what.empty()) FAIL(what);
    }
    CHECK(placed > 100);
    while (!cluster.held.empty()) cluster.leave(std::string(cluster.held.begin()->first));
    // Whole again: every GPU takes a 7g, and no more than that.
    for (std::int64_t i = 0; i < kNodes * kGpus; ++i)
      CHECK(cluster.come("nvidia.com/mig-7g.80gb", 1));
    CHECK_FALSE(cluster.come("nvidia.com/mig-1g.10gb", 1));
    CHECK(wrong(cluster.held).empty());
  }
}
