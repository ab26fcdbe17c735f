// An engine under test: real plugins, a clock that the test moves, and events as sentences.
#pragma once

#include "scheduler/engine/engine.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tests {

inline constexpr const char* kOurs = "gpu-scheduler";
inline constexpr sched::Time kStart{std::chrono::seconds{1'000'000}};

// Objects to pods that are labelled so, until a namespace of that name exists: a constraint as
// plain as can be.
//   waits-for: NAME   refused with "waiting for NAME"
class WaitsForNamespace final : public sched::ClusterConstraint {
 public:
  [[nodiscard]] std::string_view name() const override { return "WaitsForNamespace"; }
  [[nodiscard]] bool concerns(const k8s::Pod& pod) const override;
  [[nodiscard]] std::optional<sched::Refusal> refuses(const k8s::Pod& pod) const override;
  [[nodiscard]] std::string note(const k8s::Pod& pod) const override;
  bool apply(const sched::ClusterChange& change) override;

  // Bound pods as told, by uid → node; shared with the test.
  using BoundPods = std::vector<std::pair<std::string, std::string>>;
  explicit WaitsForNamespace(BoundPods* bound = nullptr) : bound_(bound) {}

 private:
  std::vector<std::string> namespaces_;
  BoundPods* bound_;
};

// The same for everything else that constraints are told of, each woken by any change of its kind.
//   waits-for-KIND: NAME     until there is one of that name: a node, claim, volume, storage-class,
//                            csi-node, csi-driver, csi-storage-capacity, volume-attachment, class
//                            (of devices), or a bound pod, which is named by its label "is"
//   waits-for-end-of: NAME   until no bound pod has that label
class WaitsForObject final : public sched::ClusterConstraint {
 public:
  enum class Kind {
    kNode,
    kPod,
    kEndOfPod,
    kClaim,
    kVolume,
    kStorageClass,
    kCsiNode,
    kCsiDriver,
    kCsiStorageCapacity,
    kVolumeAttachment,
    kDeviceClass
  };
  explicit WaitsForObject(Kind kind) : kind_(kind) {}
  [[nodiscard]] std::string_view name() const override { return "WaitsForObject"; }
  [[nodiscard]] bool concerns(const k8s::Pod& pod) const override;
  [[nodiscard]] std::optional<sched::Refusal> refuses(const k8s::Pod& pod) const override;
  bool apply(const sched::ClusterChange& change) override;

 private:
  [[nodiscard]] const char* label() const;
  [[nodiscard]] sched::ChangeMask kind() const;
  template <typename Object>
  bool note_object(const sched::ClusterChange& change);

  Kind kind_;
  std::map<std::string, std::string> there_;  // by what names the object in events: its own name
};

// Has a claim bound before a pod that is labelled so, as volumes are.
//   binds-claim: NAME   the claim's node is written, and the pod waits until its phase is Bound; it
//                       fails when that is Lost. Meanwhile no other pod has that claim
class BindsClaim final : public sched::ClusterConstraint {
 public:
  [[nodiscard]] std::string_view name() const override { return "BindsClaim"; }
  [[nodiscard]] bool concerns(const k8s::Pod& pod) const override;
  [[nodiscard]] std::optional<sched::Refusal> refuses(const k8s::Pod& pod) const override;
  [[nodiscard]] std::optional<sched::Preparation> preparation_for(
      const k8s::Pod& pod, const sched::NodeFacts& node) const override;
  [[nodiscard]] sched::Readiness readiness(const k8s::Pod& pod,
                                           const sched::NodeFacts& node) const override;
  bool apply(const sched::ClusterChange& change) override;

  static constexpr std::chrono::seconds kPatience{60};

 private:
  std::map<std::string, k8s::PersistentVolumeClaim> claims_;
  std::vector<std::string> assumed_;
};

// kube-scheduler's node plugins with their weights, packing by NodeResourcesFit; the GPU types that
// pods ask for; nodes with the label `owned: yes` are owned; WaitsForNamespace, WaitsForObject and
// BindsClaim.
[[nodiscard]] sched::Profile profile(WaitsForNamespace::BoundPods* bound = nullptr,
                                     const std::string& scheduler_name = kOurs);
[[nodiscard]] std::vector<sched::Profile> profiles(WaitsForNamespace::BoundPods* bound = nullptr);

class Scheduler {
 public:
  explicit Scheduler(sched::EngineOptions options = {}) : engine(profiles(&told_bound), options) {}

  // Events.
  void has(const k8s::Node& node) { apply(sched::event::NodeUpserted{node}); }
  void has(const k8s::Pod& pod) { apply(sched::event::PodUpserted{pod}); }
  void has(const k8s::Namespace& object) { apply(sched::event::NamespaceUpserted{object}); }
  void node_gone(const std::string& name) { apply(sched::event::NodeDeleted{name}); }
  void pod_gone(const k8s::Pod& pod) { apply(sched::event::PodDeleted{ref(pod)}); }
  void synced() { apply(sched::event::Synced{}); }
  void bind_succeeded(const k8s::Pod& pod, const std::string& node) {
    apply(sched::event::BindSucceeded{ref(pod), node});
  }
  void has(const k8s::PersistentVolumeClaim& claim) {
    apply(sched::event::VolumeClaimUpserted{claim});
  }
  void has(const k8s::PersistentVolume& volume) { apply(sched::event::VolumeUpserted{volume}); }
  void has(const k8s::DeviceClass& object) {
    apply(sched::event::Upserted<k8s::DeviceClass>{object});
  }
  void prepared(std::uint64_t plan, const std::string& failure = {}) {
    apply(sched::event::Prepared{.plan = plan, .failure = failure});
  }
  void bind_failed(const k8s::Pod& pod, const std::string& node,
                   sched::event::BindFailed::Because because = {}) {
    apply(sched::event::BindFailed{ref(pod), node, "409 Conflict", because});
  }
  void apply(const sched::Event& event) { engine.apply(event, now); }

  // All decisions there are now, as text: "a → node-1", "b waits: 0/1 nodes …", "c is foreign".
  std::vector<std::string> decide();
  // The same as they are. What is wrong with nodes' labels is left out: it comes whenever a test's
  // node says less than a real one (tests/plugins/gpu_rules_test.cc has the complaints).
  std::vector<sched::Decision> decisions();

  static sched::PodRef ref(const k8s::Pod& pod) {
    return {pod.metadata.namespace_, pod.metadata.name, pod.metadata.uid};
  }

  sched::Time now = kStart;
  WaitsForNamespace::BoundPods told_bound;
  sched::Engine engine;
};

// A pod for our scheduler.
[[nodiscard]] inline PodBuilder our_pod(std::string_view name) {
  return pod(name).served_by(kOurs).created_at(kStart);
}

// A pod for another one.
[[nodiscard]] inline PodBuilder their_pod(std::string_view name) {
  return pod(name).served_by("default-scheduler");
}

using Texts = std::vector<std::string>;

// A claim is made and deleted, again and again for ten seconds. How often something was decided.
std::size_t decisions_while_claim_flips(Scheduler& scheduler, const std::string& name);

// What is explained of nodes that refuse alike is what is explained of each of them.
inline void require_explained_alike(const sched::Engine& engine, const k8s::Pod& pod) {
  using Alike = std::pair<std::size_t, const sched::NodeExplanation*>;
  const sched::Explanation each = engine.explain(pod);
  const sched::Explanation alike = engine.explain_alike(pod);
  REQUIRE(alike.message == each.message);
  REQUIRE(alike.details == each.details);
  REQUIRE(alike.rejection == each.rejection);
  REQUIRE(alike.by_quota == each.by_quota);
  REQUIRE(alike.all_nodes == each.nodes.size());
  REQUIRE(each.all_nodes == each.nodes.size());
  REQUIRE(alike.fitting_nodes == each.fitting_nodes);
  std::map<std::vector<std::string>, Alike> want;
  std::size_t fitting = 0;
  for (const sched::NodeExplanation& node : each.nodes) {
    if (node.code == sched::Code::kOk) {
      ++fitting;
    } else {
      ++want.try_emplace(node.reasons, 0, &node).first->second.first;
    }
  }
  REQUIRE(fitting == each.fitting_nodes);
  std::map<std::vector<std::string>, Alike> got;
  for (const auto& [nodes, first] : alike.refused) {
    got.try_emplace(first.reasons, 0, &first).first->second.first += nodes;
  }
  REQUIRE(got.size() == want.size());
  for (const auto& [reasons, of] : want) {
    const auto found = got.find(reasons);
    REQUIRE(found != got.end());
    REQUIRE(found->second.first == of.first);
    REQUIRE(found->second.second->node == of.second->node);
    REQUIRE(found->second.second->numbers == of.second->numbers);
    REQUIRE(found->second.second->plugin == of.second->plugin);
  }
}

}  // namespace tests
