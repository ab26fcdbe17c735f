#include "bench/mig/run.h"

#include "bench/devices/allocator.h"
#include "scheduler/config/config.h"
#include "scheduler/engine/engine.h"
#include "scheduler/gpu/demand.h"

#include <fmt/format.h>

#include <bit>
#include <chrono>
#include <functional>
#include <map>
#include <queue>
#include <utility>
#include <variant>

namespace bench::mig {

namespace {

constexpr std::string_view kSchedulerName = "gpu-scheduler";

k8s::Result<sched::config::Configuration> configure(const Policy& policy,
                                                    const sched::Registry& registry) {
  const std::string text = fmt::format(R"(apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {{leaderElect: false}}
profiles:
  - schedulerName: {}
    tieBreak: {}
    plugins: {{score: {{disabled: [{{name: "*"}}], enabled: [{{name: MigPlacement}}]}}}}
    pluginConfig: [{{name: MigPlacement, args: {{policy: {}}}}}]
)",
                                       kSchedulerName, policy.tie_break, policy.rule);
  return sched::config::parse(text, fmt::format("policy {}", policy.name), registry);
}

std::string resource_of(std::string_view profile) {
  return std::string(sched::gpu::kMigResourcePrefix).append(profile);
}

// NodeResourcesFit can count only the most of each profile alone; GpuDevices decides which of them
// fit together.
k8s::Node gpu_node(std::int64_t index) {
  k8s::Node node;
  node.metadata.name = fmt::format("gpu-{:04}", index);
  node.metadata.labels.set(sched::gpu::kProductLabel, kProduct);
  const auto offer = [&](const std::string& resource, std::int64_t amount) {
    node.status.allocatable.emplace_back(resource, k8s::Quantity::of(amount));
  };
  offer("pods", 110);
  offer("nvidia.com/gpu", 1);
  for (const ProfileOfLoad& profile : kProfiles) {
    offer(resource_of(profile.name), profile.max_instances);
  }
  return node;
}

k8s::Pod instance_pod(const ProfileOfLoad& profile) {
  k8s::Pod pod;
  pod.metadata.namespace_ = "mig";
  pod.spec.scheduler_name = kSchedulerName;
  k8s::Container& container = pod.spec.containers.emplace_back();
  container.requests.emplace_back(resource_of(profile.name), k8s::Quantity::of(1));
  return pod;
}

class Run {
 public:
  Run(std::vector<sched::Profile> profiles, const sched::EngineOptions& options,
      const Protocol& protocol)
      : protocol_(protocol), engine_(std::move(profiles), options) {
    for (const ProfileOfLoad& profile : kProfiles) pods_.push_back(instance_pod(profile));
    for (std::int64_t i = 0; i < protocol.gpus; ++i) {
      apply(sched::event::NodeUpserted{gpu_node(i)});
    }
    apply(sched::event::Synced{});
  }

  Figures over(const std::vector<Request>& requests) {
    for (slot_ = 0; slot_ < requests.size(); ++slot_) {
      leave();
      const bool accepted = come(requests[slot_]);
      if (slot_ >= protocol_.warm_up()) count(requests[slot_], accepted);
    }
    return figures();
  }

 private:
  struct Departure {
    double at = 0;
    std::size_t slot = 0;  // of its arrival
    std::string node;
    std::int64_t slices = 0;
    friend bool operator>(const Departure& a, const Departure& b) { return a.at > b.at; }
  };

  void leave() {
    while (!departures_.empty() && departures_.top().at <= static_cast<double>(slot_)) {
      const Departure& gone = departures_.top();
      apply(sched::event::PodDeleted{ref_of(gone.slot)});
      taken_ -= gone.slices;
      const auto gpu = instances_.find(gone.node);
      if (--gpu->second == 0) instances_.erase(gpu);
      departures_.pop();
    }
  }

  // Whether the request was placed.
  bool come(const Request& request) {
    k8s::Pod pod = pods_[request.profile];
    const sched::PodRef ref = ref_of(slot_);
    pod.metadata.name = ref.name;
    pod.metadata.uid = ref.uid;
    apply(sched::event::PodUpserted{std::move(pod)});
    const auto decision = engine_.step(now());
    const auto* bind = decision ? std::get_if<sched::decision::Bind>(&*decision) : nullptr;
    if (bind == nullptr) {
      apply(sched::event::PodDeleted{ref});
      return false;
    }
    apply(sched::event::BindSucceeded{ref, bind->node});
    std::int64_t slices = 0;
    for (const auto& share : bind->devices) slices += std::popcount(share.slices);
    taken_ += slices;
    ++instances_[bind->node];
    departures_.push({request.leaves, slot_, bind->node, slices});
    return true;
  }

  void count(const Request& request, bool accepted) {
    const std::int64_t slices = kProfiles[request.profile].slices;
    ++asked_;
    asked_slices_ += slices;
    if (accepted) {
      ++accepted_;
      accepted_slices_ += slices;
    }
    active_sum_ += static_cast<std::int64_t>(instances_.size());
    taken_sum_ += taken_;
  }

  Figures figures() const {
    const auto percent = [](std::int64_t part, std::int64_t whole) {
      return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
    };
    return {.accepted = percent(accepted_, asked_),
            .accepted_slices = percent(accepted_slices_, asked_slices_),
            .active_gpus = percent(active_sum_, asked_ * protocol_.gpus),
            .taken_slices = percent(taken_sum_, asked_ * protocol_.gpus * kSlicesPerGpu)};
  }

  void apply(const sched::Event& event) { engine_.apply(event, now()); }
  sched::Time now() const { return sched::Time{std::chrono::seconds{slot_}}; }
  static sched::PodRef ref_of(std::size_t slot) {
    const std::string number = std::to_string(slot);
    return {.namespace_ = "mig", .name = number, .uid = number};
  }

  const Protocol protocol_;
  sched::Engine engine_;
  std::vector<k8s::Pod> pods_;  // one per profile
  std::size_t slot_ = 0;
  std::priority_queue<Departure, std::vector<Departure>, std::greater<>> departures_;
  std::map<std::string, std::int64_t> instances_;  // by GPU that has some
  std::int64_t taken_ = 0;                         // slices
  std::int64_t asked_ = 0;
  std::int64_t asked_slices_ = 0;
  std::int64_t accepted_ = 0;
  std::int64_t accepted_slices_ = 0;
  std::int64_t active_sum_ = 0;
  std::int64_t taken_sum_ = 0;
};

}  // namespace

const std::vector<Policy>& policies() {
  static const std::vector<Policy> kPolicies = {
      {"first-fit", "first-fit"},
      {"random-gpu", "first-fit", "random"},
      {"worst-fit", "worst-fit"},
      {"best-fit", "best-fit"},
      {"best-fit-high", "best-fit-high"},
      {"max-configurations", "max-configurations"},
      {"mfi", "mfi"},
      {"slice-fgd", "slice-fgd"},
      {"expected-fill", "expected-fill"},
  };
  return kPolicies;
}

k8s::Result<Figures> run(const Policy& policy, const std::vector<Request>& requests,
                         const Protocol& protocol, const sched::Registry& registry) {
  auto configured = configure(policy, registry);
  if (!configured) return tl::unexpected(configured.error());
  sched::EngineOptions options = configured->engine;
  options.devices = device_allocator();
  return Run(std::move(configured->profiles), options, protocol).over(requests);
}

}  // namespace bench::mig
