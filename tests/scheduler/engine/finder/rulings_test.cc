// What is kept of rules across nodes says what working it out anew says, and stays within bounds.
#include "scheduler/engine/finder/rulings.h"

#include "tests/scheduler/engine/quota_cluster.h"
#include "tests/support/catch.h"
#include "tests/support/full.h"
#include "tests/support/seeds.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace sched;
using namespace tests;

namespace {

// Two zones of ten nodes.
struct Zones {
  explicit Zones(const char* constraint = "PodTopologySpread")
      : world(profile_with(constraint), {}) {
    for (int i = 0; i < 20; ++i) {
      NodeBuilder made = node("n" + std::to_string(i)).gpus(8).labelled("zone", i < 10 ? "a" : "b");
      world.nodes.upsert(facts_of(made, world.names));
      world.tell_constraints(NodeUpserted{made.object()});
    }
  }
  static std::vector<Profile> profile_with(const char* constraint) {
    std::vector<Profile> all(1);
    all[0].scheduler_name = "gpu-scheduler";
    all[0].constraints.emplace_back(shipped_constraint(constraint));
    return all;
  }
  // Waits, spread over zones with its like; one of them runs in zone a.
  WaitingPod kind(int number) {
    const std::string app = std::to_string(number);
    k8s::TopologySpreadConstraint over_zones;
    over_zones.topology_key = "zone";
    over_zones.label_selector = selector({{"app", app}});
    WaitingPod made;
    made.pod = our_pod("p").labelled("app", app).spread_over(over_zones);
    made.shape = world.templates.shape(made.pod);
    made.pod_class = world.classes.intern(made.pod);
    running.push_back(std::make_unique<Placement>(world.nodes, NodeSlot{0},
                                                  occupant_of(made.pod, {}, made.pod_class, true)));
    return made;
  }

  World world;
  std::vector<std::unique_ptr<Placement>> running;
};

}  // namespace

TEST_CASE("of many kinds of pods the counts of some are kept, and all are right") {
  Zones s;
  Rulings rulings(s.world, 4'096);
  std::vector<WaitingPod> kinds;
  for (int i = 0; i < 40; ++i) kinds.push_back(s.kind(i));
  const Trial as_it_is(s.world.nodes);
  for (int round = 0; round < 2; ++round) {
    for (const WaitingPod& pod : kinds) {
      const Ruling kept = rulings.of(pod);
      const Ruling anew = rulings.anew(pod.pod, 0, {}, as_it_is);
      for (NodeSlot slot = 0; slot < s.world.nodes.slots(); ++slot) {
        CHECK((kept.find(slot) != nullptr) == (slot < 10));
        CHECK((anew.find(slot) != nullptr) == (slot < 10));
      }
      CHECK(rulings.tallies() < 20);
    }
    for (auto& each : s.running) each = nullptr;
    for (const WaitingPod& pod : kinds) {
      CHECK(rulings.of(pod).find(0) == nullptr);
      s.running.push_back(std::make_unique<Placement>(
          s.world.nodes, NodeSlot{1}, occupant_of(pod.pod, {}, pod.pod_class, true)));
    }
  }
}

TEST_CASE("of a label that somebody uses there is one index, however many are asked about") {
  Zones s;
  Domains domains(s.world.nodes);
  const std::shared_ptr<DomainIndex> zones = domains.of("zone");
  for (int i = 0; i < 100; ++i) static_cast<void>(domains.of("key-" + std::to_string(i)));
  CHECK(domains.of("zone") == zones);
  CHECK(domains.size() <= Domains::kMostKeys + 1);
  CHECK(zones->in(zones->of(NodeSlot{15})).size() == 10);
}

TEST_CASE("running pods' terms are counted once for each label, however many there are") {
  Zones s("InterPodAffinity");
  // Each with a term of its own that selects every other pod of every namespace.
  for (int i = 0; i < 300; ++i) {
    k8s::PodAffinityTerm term;
    term.namespace_selector = k8s::LabelSelector{};
    term.label_selector = k8s::LabelSelector{};
    term.label_selector->match_expressions.push_back({.key = "made-up-" + std::to_string(i),
                                                      .op = k8s::SelectorOperator::kDoesNotExist,
                                                      .values = {}});
    term.topology_key = i % 3 == 0 ? "zone" : "no-such-label-" + std::to_string(i % 7);
    const k8s::Pod keeper = their_pod("k" + std::to_string(i)).on("n0").away_from(term);
    s.world.tell_constraints(BoundPodUpserted{keeper});
    s.running.push_back(std::make_unique<Placement>(
        s.world.nodes, NodeSlot{0},
        occupant_of(keeper, {}, s.world.classes.intern(keeper), false)));
  }
  Rulings rulings(s.world, EngineMemory{}.counts);
  for (int i = 0; i < 10; ++i) {
    WaitingPod pod;
    pod.pod = our_pod("p").labelled("app", std::to_string(i));
    pod.shape = s.world.templates.shape(pod.pod);
    pod.pod_class = s.world.classes.intern(pod.pod);
    const Ruling ruling = rulings.of(pod);
    for (NodeSlot slot = 0; slot < s.world.nodes.slots(); ++slot) {
      CHECK((ruling.find(slot) != nullptr) == (slot < 10));
    }
  }
  CHECK(rulings.tallies() == 1);  // no node has the others
}

TEST_CASE("rules that are kept follow terms that come and go") {
  for (const unsigned seed : seeds(3, 10)) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const auto draw = [&](std::size_t below) { return random() % below; };
    const auto some_app = [&] { return std::to_string(draw(3)); };
    const auto some_namespace = [&] { return "team-" + std::to_string(draw(3)); };
    Zones s("InterPodAffinity");
    Rulings rulings(s.world, EngineMemory{}.counts);
    const Trial as_it_is(s.world.nodes);

    std::vector<WaitingPod> kinds;
    for (int i = 0; i < 9; ++i) {
      WaitingPod& kind = kinds.emplace_back();
      kind.pod = our_pod("p")
                     .in_namespace("team-" + std::to_string(i % 3))
                     .labelled("app", std::to_string(i / 3));
      kind.shape = s.world.templates.shape(kind.pod);
      kind.pod_class = s.world.classes.intern(kind.pod);
    }
    std::vector<k8s::Pod> keepers;  // with the placement at the same index of s.running
    const auto comes = [&] {
      k8s::PodAffinityTerm term = pods_like({{"app", some_app()}}, "zone");
      if (draw(3) == 0) term.namespaces = {some_namespace()};
      if (draw(3) == 0) {
        term.namespace_selector.emplace();
        if (draw(2) == 0) term.namespace_selector->match_labels.set("open", "yes");
      }
      const std::string name = "k" + std::to_string(draw(1'000'000));
      keepers.push_back(
          their_pod(name).uid(name).in_namespace(some_namespace()).on("n0").away_from(term));
      s.world.tell_constraints(BoundPodUpserted{keepers.back()});
      s.running.push_back(std::make_unique<Placement>(
          s.world.nodes, static_cast<NodeSlot>(draw(20)),
          occupant_of(keepers.back(), {}, s.world.classes.intern(keepers.back()), false)));
    };
    const auto goes = [&] {
      if (keepers.empty()) return;
      const std::size_t which = draw(keepers.size());
      s.world.tell_constraints(BoundPodGone{keepers[which].metadata.uid});
      std::swap(keepers[which], keepers.back());
      keepers.pop_back();
      std::swap(s.running[which], s.running.back());
      s.running.pop_back();
    };
    for (unsigned step = 0; step < amount(300, 1'500); ++step) {
      const std::size_t what = draw(10);
      if (what == 0) {
        s.world.tell_constraints(NamespaceUpserted{
            name_space(some_namespace(), {{"open", draw(2) == 0 ? "yes" : "no"}})});
      } else if (what < 4 || keepers.size() > 6) {
        goes();
      } else {
        comes();
      }
      const WaitingPod& kind = kinds[draw(kinds.size())];
      const Ruling kept = rulings.of(kind);
      const Ruling anew = rulings.anew(kind.pod, 0, {}, as_it_is);
      for (NodeSlot slot = 0; slot < s.world.nodes.slots(); ++slot) {
        REQUIRE((kept.find(slot) == nullptr) == (anew.find(slot) == nullptr));
      }
    }
  }
}

TEST_CASE("that each node is asked about each waiting claim is counted, each time") {
  Zones s("VolumeBinding");
  k8s::StorageClass local;
  local.metadata.name = "local";
  local.provisioner = "kubernetes.io/no-provisioner";
  local.binding_mode = "WaitForFirstConsumer";
  s.world.tell_constraints(ObjectUpserted<k8s::StorageClass>{local});
  k8s::PersistentVolume free = volume("free");
  free.storage_class = "local";
  free.phase = "Available";
  free.capacity_bytes = 1;
  free.node_affinity.emplace().terms.push_back(term({label("zone").in({"a"})}));
  s.world.tell_constraints(VolumeUpserted{free});
  WaitingPod pod;
  PodBuilder made = our_pod("p");
  for (const char* name : {"c1", "c2", "c3"}) {
    k8s::PersistentVolumeClaim claim;
    claim.metadata.name = name;
    claim.metadata.namespace_ = made.object().metadata.namespace_;
    claim.metadata.uid = name;
    claim.storage_class = "local";
    claim.phase = "Pending";
    s.world.tell_constraints(VolumeClaimUpserted{claim});
    made.mounts_claim(name);
  }
  pod.pod = made;
  pod.constraints = s.world.constraints_for(pod.pod, 0);
  Rulings rulings(s.world, 4'096);
  for (std::uint64_t times = 1; times <= 2; ++times) {
    CHECK(rulings.of(pod).find(0) != nullptr);
    CHECK(rulings.searched() == times * 3 * 20);
  }
}
