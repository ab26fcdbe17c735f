#include "scheduler/framework/long_lists.h"

#include "scheduler/framework/pod_text.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <string>
#include <utility>
#include <vector>

namespace sched {

namespace {

using tests::label;
using tests::pod;
using tests::PodBuilder;
using tests::term;

k8s::Pod tolerating(std::size_t number) {
  PodBuilder made = pod("a");
  for (std::size_t i = 0; i < number; ++i) made.tolerates("key-" + std::to_string(i));
  return made;
}

k8s::Pod mounting(std::size_t number, k8s::Volume::Kind kind = k8s::Volume::Kind::kDisk) {
  k8s::Pod made = pod("a");
  made.spec.volumes.resize(number);
  for (k8s::Volume& volume : made.spec.volumes) volume.kind = kind;
  return made;
}

k8s::Pod monitored(std::size_t number) {
  k8s::Pod made = mounting(2);
  made.spec.volumes.back().disk.monitors.resize(number);
  return made;
}

k8s::StringMap entries(std::size_t number) {
  std::vector<k8s::StringMap::Entry> made;
  for (std::size_t i = 0; i < number; ++i) made.emplace_back("key-" + std::to_string(i), "");
  return k8s::StringMap(std::move(made));
}

k8s::Pod labelled(std::size_t number) {
  k8s::Pod made = pod("a");
  made.metadata.labels = entries(number);
  return made;
}

k8s::Pod selecting(std::size_t number) {
  k8s::Pod made = pod("a").requires_nodes({term({label("zone").exists()})});
  made.spec.node_selector = entries(number);
  return made;
}

k8s::LabelSelector with_entries(std::size_t number) {
  k8s::LabelSelector made;
  made.match_expressions.push_back({.key = "app",
                                    .op = k8s::SelectorOperator::kIn,
                                    .values = std::vector<std::string>(number - 1)});
  return made;
}

// A term of each of the lists, with two selectors, namespaces and label keys of that length.
k8s::Pod with_terms(std::size_t number) {
  k8s::Pod made = pod("a");
  const k8s::PodAffinityTerm every{.label_selector = with_entries(number),
                                   .namespaces = std::vector<std::string>(number),
                                   .namespace_selector = with_entries(number),
                                   .topology_key = "zone",
                                   .match_label_keys = std::vector<std::string>(number),
                                   .mismatch_label_keys = std::vector<std::string>(number)};
  made.spec.pod_affinity.emplace().required = {every};
  made.spec.pod_anti_affinity.emplace().preferred = {{1, every}};
  k8s::TopologySpreadConstraint& spread = made.spec.topology_spread_constraints.emplace_back();
  spread.label_selector = with_entries(number);
  spread.match_label_keys = std::vector<std::string>(number);
  return made;
}

// Its image makes up what it lacks of so much text.
k8s::Pod with_text(std::size_t bytes) {
  k8s::Pod made = pod("a").annotated("not-read", std::string(100'000, 'x'));
  made.spec.containers.resize(1);
  made.spec.containers[0].image.clear();
  made.spec.containers[0].image = std::string(bytes - text_bytes(made), 'x');
  return made;
}

// One term of an expression that has so many values.
k8s::Pod with_values(std::size_t number) {
  return pod("a").requires_nodes({term({label("zone").in(std::vector<std::string>(number, "z"))})});
}

}  // namespace

TEST_CASE("of lists that are too long nothing is kept but which they were") {
  struct Case {
    k8s::Pod most;
    k8s::Pod more;
    std::string want;
  };
  k8s::Pod preferring = with_values(998);
  for (int i = 0; i < 500; ++i) {
    preferring.spec.node_affinity->preferred.push_back({1, term({label("a").exists()})});
  }
  k8s::Pod preferring_more = preferring;
  preferring_more.spec.node_affinity->preferred.push_back({1, term({label("a").exists()})});
  const std::string affinity = "a node affinity of more than 2000 terms, expressions and values";
  const std::string across_nodes =
      "pod affinity and topology spread of more than 2000 terms, expressions and values";
  const std::string text = "more than 64 KiB of labels, annotations, rules and images";
  const Case cases[] = {
      {tolerating(1'000), tolerating(1'001), "more than 1000 tolerations"},
      {mounting(1'000), mounting(1'001), "more than 1000 volumes"},
      {monitored(998), monitored(999), "more than 1000 volumes"},
      {labelled(1'000), labelled(1'001), "more than 1000 labels"},
      {selecting(1'998), selecting(1'999), affinity},
      {with_terms(166), with_terms(167), across_nodes},
      {with_values(1'998), with_values(1'999), affinity},
      {preferring, preferring_more, affinity},
      {with_text(65'536), with_text(65'537), text},
  };
  for (const Case& each : cases) {
    INFO(each.want);
    CHECK_FALSE(long_list_of(each.most));
    k8s::Pod kept = each.most;
    drop_long_lists(kept);
    CHECK(kept == each.most);
    CHECK(long_list_of(each.more) == each.want);
    kept = each.more;
    drop_long_lists(kept);
    CHECK(long_list_of(kept) == each.want);
    CHECK(kept.spec.tolerations.empty());
    CHECK(kept.spec.volumes.empty());
    CHECK(kept.metadata.labels.empty());
    CHECK(kept.spec.node_selector.empty());
    CHECK_FALSE(kept.spec.pod_affinity);
    CHECK_FALSE(kept.spec.pod_anti_affinity);
    CHECK(kept.spec.topology_spread_constraints.empty());
    // Whatever is asked of it, no node takes it.
    REQUIRE(kept.spec.node_affinity);
    CHECK(kept.spec.node_affinity->preferred.empty());
    CHECK_FALSE(kept.spec.node_affinity->required->matches("n", {{"zone", "z"}, {"a", "a"}}));
    drop_long_lists(kept);
    CHECK(long_list_of(kept) == each.want);
  }
}

TEST_CASE("the claims of a bound pod are not dropped, however many they are") {
  const auto kClaim = k8s::Volume::Kind::kPersistentVolumeClaim;
  CHECK_FALSE(long_list_of(mounting(50, kClaim)));
  for (const auto kind : {kClaim, k8s::Volume::Kind::kEphemeral}) {
    for (const bool is_bound : {true, false}) {
      k8s::Pod made = mounting(51, kind);
      if (is_bound) made.spec.node_name = "n";
      drop_long_lists(made);
      CHECK(long_list_of(made) == "more than 50 persistent volume claims");
      CHECK(made.spec.volumes.size() == (is_bound ? 51 : 0));
    }
  }
}

TEST_CASE("what is not too long stays when another list is dropped") {
  k8s::Pod made = mounting(51, k8s::Volume::Kind::kPersistentVolumeClaim);
  made.spec.node_name = "n";
  made.metadata.labels = entries(1'001);
  drop_long_lists(made);
  CHECK(made.spec.volumes.size() == 51);
  CHECK(made.metadata.labels.empty());
}

TEST_CASE("of very many terms across nodes the first are kept") {
  k8s::Pod made = pod("a");
  made.spec.pod_affinity.emplace().required.resize(65);
  made.spec.pod_anti_affinity.emplace().preferred.resize(2'000);
  made.spec.topology_spread_constraints.resize(64);
  drop_long_lists(made);
  CHECK(made.spec.pod_affinity->required.size() == 64);
  CHECK(made.spec.pod_anti_affinity->preferred.size() == 64);
  CHECK(made.spec.topology_spread_constraints.size() == 64);
  CHECK_FALSE(long_list_of(made));
}

TEST_CASE("every text of a pod counts that is kept while it waits") {
  const std::string text(1'000, 'x');
  const std::vector<std::string> texts = {text};
  const k8s::LabelSelector selector{
      .match_labels = {{"a", text}},
      .match_expressions = {{.key = "b", .op = k8s::SelectorOperator::kIn, .values = texts}}};
  const k8s::PodAffinityTerm across{.label_selector = selector,
                                    .namespaces = texts,
                                    .namespace_selector = selector,
                                    .topology_key = text,
                                    .match_label_keys = texts,
                                    .mismatch_label_keys = texts};
  k8s::Pod made = pod("a").labelled("l", text).tolerates(text, text).annotated("not-read", text);
  made.spec.containers.clear();
  made.metadata.annotations.set("gpu-scheduler.io/gpu-type", text);
  made.metadata.owner_references = {{text, text, text, text, true},
                                    {text, text, text, text, false}};
  made.spec.containers.emplace_back().name = text;
  made.spec.init_containers.emplace_back().image = text;
  made.spec.node_selector.set("n", text);
  const k8s::NodeSelectorTerm in{.match_expressions = {label("z").in(texts)},
                                 .match_fields = {label("f").in(texts)}};
  made.spec.node_affinity = {.required = k8s::NodeSelector{{in}}, .preferred = {{1, in}}};
  made.spec.pod_affinity = {.required = {across}, .preferred = {{1, across}}};
  made.spec.pod_anti_affinity = {.required = {across}, .preferred = {{1, across}}};
  k8s::TopologySpreadConstraint& spread = made.spec.topology_spread_constraints.emplace_back();
  spread.topology_key = text;
  spread.label_selector = selector;
  spread.match_label_keys = texts;
  made.spec.scheduling_gates = {text, text};
  made.spec.volumes = {{.name = text,
                        .kind = k8s::Volume::Kind::kDisk,
                        .claim_name = text,
                        .source = text,
                        .disk = {.id = text, .read_only = false, .monitors = texts, .pool = text}}};
  made.spec.image_volumes = texts;
  made.spec.resource_claims = {{text}};
  // In the order of the lines above.
  const std::size_t want = 1 + 2 + 1 + 4 + 1 + 1 + 1 + 4 + 4 * 8 + 4 + 2 + 6 + 1 + 1;
  CHECK(text_bytes(made) / 1'000 == want);
  drop_text(made);
  CHECK(text_bytes(made) == 1'000);
  CHECK(made.spec.scheduling_gates == texts);  // it is still gated
  CHECK(made.spec.containers.size() == 1);
}

TEST_CASE("of a bound pod the text does not matter") {
  k8s::Pod made = with_text(200'000);
  made.spec.node_name = "n";
  const k8s::Pod before = made;
  drop_long_lists(made);
  CHECK(made == before);
  CHECK_FALSE(long_list_of(made));
}

TEST_CASE("of a claim no text is kept that is too long for a name") {
  const std::string name(253, 'x');
  const auto claim_of = [](const std::string& text) {
    k8s::PersistentVolumeClaim made;
    made.metadata.annotations.set("volume.kubernetes.io/selected-node", text);
    made.metadata.annotations.set("pv.kubernetes.io/bind-completed", text);
    made.metadata.owner_references = {{text, text, text, text, true}};
    made.volume_name = made.storage_class = made.volume_attributes_class = text;
    made.access_modes = {"ReadWriteOnce", "ReadOnlyMany"};
    return made;
  };
  k8s::PersistentVolumeClaim kept = claim_of(name);
  drop_long_lists(kept);
  CHECK(kept == claim_of(name));

  kept = claim_of(std::string(100'000, 'x'));
  kept.access_modes = std::vector<std::string>(100'000, "ReadWriteOnce");
  drop_long_lists(kept);
  k8s::PersistentVolumeClaim want = claim_of(name + "x");
  want.metadata.annotations = {{"pv.kubernetes.io/bind-completed", ""}};
  want.access_modes = {"ReadWriteOnce"};
  CHECK(kept == want);
  CHECK(kept.volume_name.capacity() < 1'000);
  CHECK(kept.access_modes.capacity() < 10);
}

TEST_CASE("a selector that is too long is replaced") {
  const auto of = [](std::size_t number) -> std::optional<k8s::LabelSelector> {
    return with_entries(number);
  };
  const k8s::StringMap many = entries(10'001);
  const k8s::StringMap most = entries(10'000);
  k8s::PersistentVolumeClaim claim;
  k8s::PodDisruptionBudget budget;
  k8s::ReplicaSet replicas;
  k8s::StatefulSet stateful;
  k8s::Service service;
  k8s::ReplicationController controller;
  const auto drop_all = [&] {
    drop_long_lists(claim);
    drop_long_lists(budget);
    drop_long_lists(replicas);
    drop_long_lists(stateful);
    drop_long_lists(service);
    drop_long_lists(controller);
  };
  claim.selector = budget.selector = of(200);
  replicas.selector = stateful.selector = of(10'000);
  service.selector = controller.selector = most;
  drop_all();
  for (const auto* kept : {&claim.selector, &budget.selector}) CHECK(*kept == of(200));
  for (const auto* kept : {&replicas.selector, &stateful.selector}) CHECK(*kept == of(10'000));
  CHECK(service.selector == most);
  CHECK(controller.selector == most);

  claim.selector = budget.selector = of(201);
  replicas.selector = stateful.selector = of(10'001);
  service.selector = controller.selector = many;
  drop_all();
  REQUIRE(claim.selector);
  CHECK_FALSE(claim.selector->matches({{"app", ""}}));
  REQUIRE(budget.selector);
  CHECK(budget.selector->empty());  // all pods
  CHECK_FALSE(replicas.selector);
  CHECK_FALSE(stateful.selector);
  CHECK(service.selector.empty());
  CHECK(controller.selector.empty());
}

}  // namespace sched
