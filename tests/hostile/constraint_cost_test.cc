// No pod makes a rule across nodes do more than so much work for each byte of the pod: when the pod
// waits, and when it is bound.
#include "k8s-client/api/encode.h"
#include "k8s-client/yaml/object_reader.h"
#include "plugins/registry.h"
#include "tests/hostile/cost.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sched {

namespace {

using tests::Cost;
using tests::cost_of;
using tests::pod;
using tests::PodBuilder;

PodBuilder many(int count, const std::function<void(PodBuilder&, int)>& add) {
  PodBuilder built = pod("p").gpus(1).labelled("app", "a");
  for (int i = 0; i < count; ++i) add(built, i);
  return built;
}

std::string name_of(const char* kind, int number) { return fmt::format("{}-{}", kind, number); }

k8s::Volume disk(int number) {
  k8s::Volume made{name_of("d", number), k8s::Volume::Kind::kDisk, "", "gcePersistentDisk"};
  made.disk.id = name_of("disk", number);
  return made;
}

// More terms and constraints are held back by UnsupportedConstraints, before others are asked.
constexpr int kMostTerms = 32;

k8s::LabelSelector selector(int number) {
  k8s::LabelSelector made;
  for (int i = 0; i < 200; ++i) {
    k8s::SelectorRequirement& each = made.match_expressions.emplace_back();
    each.key = name_of("key", i);
    each.op = k8s::SelectorOperator::kIn;
    for (int j = 0; j < 10; ++j) each.values.push_back(fmt::format("v-{}-{}", number, j));
  }
  return made;
}

k8s::PodAffinityTerm like(int number) {
  k8s::PodAffinityTerm made = tests::pods_like({{"app", "a"}}, name_of("domain", number));
  made.label_selector = selector(number);
  for (int i = 0; i < 100; ++i) made.namespaces.push_back(name_of("n", i));
  return made;
}

k8s::TopologySpreadConstraint spread(int number, bool do_not_schedule) {
  k8s::TopologySpreadConstraint made;
  made.topology_key = name_of("domain", number);
  made.do_not_schedule = do_not_schedule;
  made.label_selector = selector(number);
  return made;
}

k8s::Container with_image(int number) {
  k8s::Container made = tests::container(name_of("c", number), {});
  made.image = fmt::format("registry.example/{}:1", number);
  return made;
}

struct Case {
  const char* name;
  k8s::Pod given;
};

std::vector<Case> hostile_pods() {
  return {
      {"claims without end",
       many(4'000, [](auto& it, int i) { it.mounts_claim(name_of("c", i)); })},
      {"one claim again and again", many(4'000, [](auto& it, int) { it.mounts_claim("c-1"); })},
      {"claims that there are not",
       many(4'000, [](auto& it, int i) { it.mounts_claim(name_of("no", i)); })},
      {"disks without end", many(4'000, [](auto& it, int i) { it.mounts(disk(i)); })},
      {"one disk again and again", many(4'000, [](auto& it, int) { it.mounts(disk(1)); })},
      {"resource claims without end",
       many(4'000, [](auto& it, int i) { it.uses_resource_claim(name_of("r", i)); })},
      {"affinity", many(kMostTerms, [](auto& it, int i) { it.near(like(i)); })},
      {"anti-affinity", many(kMostTerms, [](auto& it, int i) { it.away_from(like(i)); })},
      {"preferences", many(kMostTerms, [](auto& it, int i) { it.rather_near(1, like(i)); })},
      {"spread", many(kMostTerms, [](auto& it, int i) { it.spread_over(spread(i, true)); })},
      {"rather spread",
       many(kMostTerms, [](auto& it, int i) { it.spread_over(spread(i, false)); })},
      {"terms without end", many(1'000, [](auto& it, int i) { it.near(like(i)); })},
      {"images without end", many(5'000, [](auto& it, int i) { it.with(with_image(i)); })},
      {"labels without end",
       many(4'000, [](auto& it, int i) { it.labelled(name_of("l", i), name_of("v", i)); })},
  };
}

NodeFacts some_node() {
  NodeFacts node;
  node.name = "n";
  node.labels.set("zone", "a");
  return node;
}

// What the storage of the pods is.
void prepare(ClusterConstraint& constraint) {
  for (int i = 0; i < 4'000; ++i) {
    k8s::PersistentVolume volume = tests::volume(name_of("pv", i));
    volume.csi_driver = "d";
    volume.csi_volume_handle = name_of("h", i);
    volume.claim_ref = {"default", name_of("c", i), ""};
    constraint.apply(VolumeUpserted{volume});
    constraint.apply(VolumeClaimUpserted{tests::claim(name_of("c", i), name_of("pv", i))});
  }
  k8s::CsiNode limited;
  limited.metadata.name = "n";
  limited.drivers = {{"d", 40}};
  constraint.apply(ObjectUpserted<k8s::CsiNode>{limited});
}

void ask(const ClusterConstraint& constraint, const k8s::Pod& waiting) {
  static const NodeFacts node = some_node();
  if (constraint.concerns(waiting)) {
    static_cast<void>(constraint.refuses(waiting));
    static_cast<void>(constraint.excludes(waiting, {}));
    static_cast<void>(constraint.preparation_for(waiting, node));
    static_cast<void>(constraint.readiness(waiting, node));
    static_cast<void>(constraint.note(waiting));
  }
  static_cast<void>(constraint.reads_besides(waiting));
  if (constraint.is_ruled(waiting)) static_cast<void>(constraint.rule_for(waiting, {}));
  if (constraint.prefers(waiting)) static_cast<void>(constraint.preference_for(waiting, {}));
}

std::unique_ptr<ClusterConstraint> made(std::string_view name) {
  k8s::yaml::Value no_args;
  k8s::yaml::ObjectReader args(no_args, "arguments");
  return find_plugin(plugins::registry(), name)->make(args).constraint;
}

void check(const Cost& cost, std::size_t bytes) {
  INFO(cost << ", of a pod of " << bytes << " bytes");
  CHECK(tests::is_within_budget(cost, bytes));
}

}  // namespace

TEST_CASE("no pod makes a constraint do more than so much for each of its bytes") {
  std::size_t tried = 0;
  const auto holds_back = made("UnsupportedConstraints");
  const std::vector<Case> pods = hostile_pods();
  std::vector<std::size_t> bytes;
  for (const Case& each : pods) bytes.push_back(k8s::encode(each.given).size());
  for (const PluginEntry& entry : plugins::registry()) {
    const auto constraint = made(entry.name);
    if (constraint == nullptr) continue;
    ++tried;
    INFO(entry.name);
    if ((constraint->reads() & kStorageChanged) != 0) prepare(*constraint);
    for (std::size_t i = 0; i < pods.size(); ++i) {
      const Case& each = pods[i];
      INFO(each.name);
      const bool is_asked =
          entry.name == holds_back->name() || !holds_back->refuses(each.given).has_value();
      k8s::Pod there = each.given;
      there.spec.node_name = "n";
      if (is_asked) {
        INFO("as it waits");
        check(cost_of([&] { ask(*constraint, each.given); }), bytes[i]);
      }
      {
        INFO("as it comes to a node, and goes");
        check(cost_of([&] {
                constraint->apply(BoundPodUpserted{there});
                constraint->apply(BoundPodGone{there.metadata.uid});
              }),
              bytes[i]);
      }
    }
  }
  CHECK(tried >= 9);
}

TEST_CASE("what plans have reserved, however much, costs a look at one claim hardly anything") {
  const auto cost_of_look = [](int plans) {
    const auto constraint = made("VolumeBinding");
    for (int i = 0; i < plans; ++i) {
      k8s::PersistentVolume volume = tests::volume(name_of("pv", i));
      volume.phase = "Available";
      constraint->apply(VolumeUpserted{volume});
      k8s::PersistentVolumeClaim claim;
      claim.metadata.namespace_ = "default";
      claim.metadata.name = name_of("c", i);
      claim.phase = "Pending";
      constraint->apply(VolumeClaimUpserted{claim});
      const ObjectWrite reserve = ReserveVolume{.volume = {.namespace_ = {},
                                                           .name = volume.metadata.name,
                                                           .uid = {},
                                                           .resource_version = {}},
                                                .claim = {.namespace_ = "default",
                                                          .name = claim.metadata.name,
                                                          .uid = {},
                                                          .resource_version = {}}};
      constraint->apply(WriteAssumed{reserve});
    }
    const k8s::Pod waiting = pod("p").mounts_claim(name_of("c", plans - 1));
    const NodeFacts node = some_node();
    REQUIRE(constraint->readiness(waiting, node).state == Readiness::State::kWaits);
    return cost_of([&] { static_cast<void>(constraint->readiness(waiting, node)); }).steps;
  };
  const std::int64_t few = cost_of_look(100);
  const std::int64_t many = cost_of_look(2'000);
  INFO(few << " steps with 100 plans, " << many << " with 2,000");
  CHECK(many <= 2 * few);
}

}  // namespace sched
