#include "bench/decide/ruled.h"

#include "bench/decide/cluster.h"
#include "bench/decide/kinds.h"
#include "bench/replay/run/cpu_clock.h"

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace bench::decide {
namespace {

constexpr const char* kZone = "topology.kubernetes.io/zone";
constexpr const char* kHost = "kubernetes.io/hostname";

k8s::LabelSelector alike() {
  k8s::LabelSelector selector;
  selector.match_labels.set("color", "blue");
  return selector;
}

k8s::PodAffinityTerm near_alike(const char* key) {
  k8s::PodAffinityTerm term;
  term.label_selector = alike();
  term.topology_key = key;
  return term;
}

k8s::TopologySpreadConstraint spread(const char* key, std::int32_t max_skew) {
  k8s::TopologySpreadConstraint constraint;
  constraint.topology_key = key;
  constraint.max_skew = max_skew;
  constraint.label_selector = alike();
  return constraint;
}

k8s::Pod pod_with(const std::string& rule) {
  k8s::Pod pod;
  pod.metadata.namespace_ = "team-a";
  pod.metadata.labels.set("color", "blue");
  pod.spec.scheduler_name = kSchedulerName;
  k8s::Container& container = pod.spec.containers.emplace_back();
  container.name = "pause";
  container.image = "registry.k8s.io/pause:3.10";
  container.requests.emplace_back("cpu", k8s::Quantity::of_milli(100));
  container.requests.emplace_back("memory", k8s::Quantity::of(std::int64_t{500} << 20));
  pod.spec.tolerations.push_back({"", k8s::TolerationOperator::kExists, "", {}});
  auto& spreads = pod.spec.topology_spread_constraints;
  if (rule == "spread") spreads.push_back(spread(kZone, 5));
  if (rule == "host-spread") spreads.push_back(spread(kHost, 1));
  if (rule == "affinity") pod.spec.pod_affinity.emplace().required = {near_alike(kZone)};
  if (rule == "anti-affinity") pod.spec.pod_anti_affinity.emplace().required = {near_alike(kHost)};
  if (rule == "rather-spread") {
    spreads.push_back(spread(kZone, 5));
    spreads.back().do_not_schedule = false;
  }
  if (rule == "rather-near") pod.spec.pod_affinity.emplace().preferred = {{1, near_alike(kHost)}};
  if (rule == "rather-apart") {
    pod.spec.pod_anti_affinity.emplace().preferred = {{1, near_alike(kHost)}};
  }
  return pod;
}

constexpr const char* kDriver = "csi.example";
constexpr const char* kClass = "made-for-pods";

// The storage of pods with a volume of their own.
class Volumes {
 public:
  Volumes(sched::Engine& engine, std::string_view rule, sched::Time now)
      : engine_(engine), bound_(rule == "volume"), made_(rule == "new-volume"), now_(now) {}

  void begin(std::size_t nodes) {
    if (made_) {
      k8s::StorageClass of;
      of.metadata.name = kClass;
      of.provisioner = kDriver;
      of.binding_mode = "WaitForFirstConsumer";
      apply(of);
    }
    for (std::size_t i = 0; bound_ && i < nodes; ++i) {
      k8s::CsiNode limited;
      limited.metadata.name = node(i).metadata.name;
      limited.drivers = {{kDriver, 39}};
      apply(limited);
    }
  }
  // The pod gets its claim.
  void give(k8s::Pod& pod) {
    if (!bound_ && !made_) return;
    k8s::Volume& volume = pod.spec.volumes.emplace_back();
    volume.name = "data";
    volume.claim_name = pod.metadata.name;
  }
  // The claim comes, before its pod.
  void come(const k8s::Pod& pod) {
    if (bound_) bind(claim_of(pod));
    if (made_) apply(claim_of(pod));
  }
  // The required writes are done, and the volume is made.
  void prepare(const sched::decision::Prepare& prepare, const k8s::Pod& pod) {
    engine_.apply(sched::event::Prepared{.plan = prepare.plan}, now_);
    k8s::PersistentVolumeClaim claim = claim_of(pod);
    claim.metadata.resource_version = "2";
    claim.metadata.annotations.set("volume.kubernetes.io/selected-node", prepare.node);
    apply(claim);
    bind(std::move(claim));
  }

 private:
  template <typename Object>
  void apply(const Object& object) {
    engine_.apply(sched::event::Upserted<Object>{object}, now_);
  }
  k8s::PersistentVolumeClaim claim_of(const k8s::Pod& pod) const {
    k8s::PersistentVolumeClaim claim;
    claim.metadata.namespace_ = pod.metadata.namespace_;
    claim.metadata.name = pod.metadata.name;
    claim.metadata.uid = pod.metadata.uid;
    claim.metadata.resource_version = "1";
    if (made_) claim.storage_class = kClass;
    claim.access_modes = {"ReadWriteOnce"};
    claim.phase = "Pending";
    return claim;
  }
  void bind(k8s::PersistentVolumeClaim claim) {
    k8s::PersistentVolume volume;
    volume.metadata.name = "pv-" + claim.metadata.name;
    volume.claim_ref = {claim.metadata.namespace_, claim.metadata.name, claim.metadata.uid};
    volume.storage_class = claim.storage_class;
    volume.access_modes = claim.access_modes;
    volume.csi_driver = kDriver;
    volume.csi_volume_handle = volume.metadata.name;
    volume.phase = "Bound";
    apply(volume);
    claim.volume_name = volume.metadata.name;
    claim.metadata.resource_version = "3";
    claim.metadata.annotations.set("pv.kubernetes.io/bind-completed", "yes");
    claim.phase = "Bound";
    apply(claim);
  }

  sched::Engine& engine_;
  bool bound_;
  bool made_;
  sched::Time now_;
};

}  // namespace

RuledFigures run_ruled(sched::Engine& engine, std::size_t rule, std::size_t nodes,
                       std::size_t pods) {
  const sched::Time now{std::chrono::sys_days{std::chrono::January / 1 / 2024}};
  for (std::size_t i = 0; i < nodes; ++i) engine.apply(sched::event::NodeUpserted{node(i)}, now);
  Volumes volumes(engine, kRules[rule].name, now);
  volumes.begin(nodes);
  std::size_t number = 0;
  const k8s::Pod plain = pod_with("none");
  for (std::size_t i = 0; i < nodes; i += 5) {
    k8s::Pod there = numbered(plain, ++number);
    there.metadata.labels = {};
    there.spec.node_name = node(i).metadata.name;
    engine.apply(sched::event::PodUpserted{std::move(there)}, now);
  }
  engine.apply(sched::event::Synced{}, now);
  while (engine.step(now)) {
  }

  RuledFigures figures;
  const k8s::Pod asked = pod_with(kRules[rule].name);
  // Made in advance, so that only the engine is measured.
  constexpr std::size_t kBatch = 256;
  for (std::size_t done = 0; done < pods;) {
    std::vector<k8s::Pod> pending;
    for (std::size_t i = 0; i < kBatch && done < pods; ++i, ++done) {
      pending.push_back(numbered(asked, ++number));
      volumes.give(pending.back());
      volumes.come(pending.back());
    }
    std::vector<k8s::Pod> bound = pending;
    const double began = replay::cpu_seconds();
    for (std::size_t i = 0; i < pending.size(); ++i) {
      engine.apply(sched::event::PodUpserted{std::move(pending[i])}, now);
      bool placed = false;
      while (auto decision = engine.step(now)) {
        if (auto* prepare = std::get_if<sched::decision::Prepare>(&*decision)) {
          volumes.prepare(*prepare, bound[i]);
        }
        auto* bind = std::get_if<sched::decision::Bind>(&*decision);
        if (bind == nullptr) continue;
        placed = true;
        bound[i].spec.node_name = bind->node;
        engine.apply(sched::event::BindSucceeded{bind->pod, bind->node}, now);
      }
      if (placed) {
        ++figures.bound;
        engine.apply(sched::event::PodUpserted{std::move(bound[i])}, now);
      } else {
        ++figures.refused;
      }
    }
    figures.cpu_seconds += replay::cpu_seconds() - began;
  }
  return figures;
}

}  // namespace bench::decide
