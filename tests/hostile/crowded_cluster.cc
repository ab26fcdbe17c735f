#include "tests/hostile/crowded_cluster.h"

#include "plugins/registry.h"
#include "scheduler/quota/charged_as.h"
#include "tests/support/catch.h"

#include <fmt/format.h>

#include <utility>
#include <variant>

using namespace sched;

namespace tests {

namespace {

Profile default_profile() {
  Profile made;
  made.scheduler_name = "gpu-scheduler";
  const k8s::yaml::Value nothing;
  for (const PluginEntry& entry : plugins::registry()) {
    if (!entry.on_by_default) continue;
    k8s::yaml::ObjectReader args(nothing, "test");
    PluginInstance plugin = entry.make(args);
    if (plugin.filter) made.filters.push_back(std::move(plugin.filter));
    if (plugin.score) made.scores.push_back({std::move(plugin.score), entry.default_weight});
    if (plugin.constraint) {
      made.constraints.emplace_back(std::move(plugin.constraint), true, entry.default_weight);
    }
  }
  return made;
}

std::vector<Profile> profiles(std::optional<Preemption> preemption) {
  std::vector<Profile> made;
  made.push_back(default_profile());
  made.back().preemption = preemption;
  return made;
}

EngineOptions options(const EngineMemory& memory) {
  EngineOptions made;
  made.memory = memory;
  return made;
}

}  // namespace

k8s::Node node_of(int i) {
  return node(fmt::format("n{}", i))
      .gpus(8)
      .labelled("topology.kubernetes.io/zone", fmt::format("z{}", i % 3));
}

PodBuilder pod_of(const char* team, int i) {
  const std::string name = fmt::format("{}-{}", team, i);
  return pod(name).in_namespace(team).uid(name).served_by("gpu-scheduler").cpu("1m");
}

k8s::PodAffinityTerm near_own(const std::string& value) {
  return pods_like({{"app", value}}, "topology.kubernetes.io/zone");
}

k8s::StorageClass waiting_class() {
  k8s::StorageClass made;
  made.metadata.name = "made";
  made.provisioner = "p";
  made.binding_mode = "WaitForFirstConsumer";
  return made;
}

k8s::PersistentVolumeClaim claim_of(const std::string& team, const std::string& name,
                                    const std::string& storage_class) {
  k8s::PersistentVolumeClaim made;
  made.metadata.name = name;
  made.metadata.namespace_ = team;
  made.metadata.uid = team + name;
  made.storage_class = storage_class;
  made.phase = "Pending";
  return made;
}

Cluster::Cluster(const EngineMemory& memory, std::optional<Preemption> preemption)
    : engine_(profiles(preemption), options(memory)) {
  for (int i = 0; i < kNodes; ++i) tell(event::NodeUpserted{node_of(i)});
  tell(event::Synced{});
  neighbour_comes();
}

void Cluster::tell(Event event) {
  engine_.apply(std::move(event), now_);
  while (auto decision = engine_.step(now_)) {
    if (const auto* prepare = std::get_if<decision::Prepare>(&*decision)) {
      plans_.push_back(prepare->plan);
    }
    if (auto* bind = std::get_if<decision::Bind>(&*decision)) bound_ = std::move(*bind);
  }
}

void Cluster::prepare_all() {
  for (const std::uint64_t plan : std::exchange(plans_, {})) {
    tell(event::Prepared{.plan = plan, .failure = {}});
  }
}

int Cluster::pass(Time::duration time) {
  now_ += time;
  int decisions = 0;
  while (engine_.step(now_)) ++decisions;
  return decisions;
}

void Cluster::turn() {
  now_ += std::chrono::milliseconds(100);
  tell(event::PodDeleted{{"neighbour", bound_.pod.name, bound_.pod.uid}});
  neighbour_comes();
}

void Cluster::neighbour_comes() {
  k8s::Pod pod = pod_of("neighbour", ++neighbours_).gpus(1);
  tell(event::PodUpserted{pod});
  REQUIRE(bound_.pod.name == pod.metadata.name);
  tell(event::BindSucceeded{bound_.pod, bound_.node});
  pod.spec.node_name = bound_.node;
  if (bound_.charged_as) {
    pod.metadata.annotations.set(quota::kChargedAsAnnotation, *bound_.charged_as);
    pod.metadata.annotations.set(quota::kChargedAtAnnotation, quota::text_of(bound_.charged_at));
  }
  tell(event::PodUpserted{std::move(pod)});
}

}  // namespace tests
