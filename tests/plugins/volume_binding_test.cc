// VolumeBinding: which claims a pod has to wait for, and where bound volumes can be used.
#include "tests/plugins/asked.h"
#include "tests/plugins/labels.h"
#include "tests/plugins/volumes.h"
#include "tests/support/catch.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

using namespace sched;
using tests::Asked;
using tests::bound_claim;
using tests::claim;
using tests::free_volume;
using tests::kNotItsNode;
using tests::kZone;
using tests::label;
using tests::Names;
using tests::node;
using tests::pod;
using tests::Reason;
using tests::storage_class;
using tests::term;
using tests::volume;
using tests::wanted;
using tests::with;
using State = Readiness::State;

TEST_CASE("VolumeBinding: which claims a pod has to wait for") {
  struct Case {
    const char* name;
    std::vector<k8s::PersistentVolumeClaim> claims;
    k8s::Pod given;
    Reason want;
    Names awaits{"default/c"};
  };
  const auto done = claim("c", "v");
  const auto mounting = [] { return pod("a").mounts_claim("c"); };
  k8s::Volume scratch;
  scratch.name = "scratch";
  scratch.kind = k8s::Volume::Kind::kEphemeral;
  k8s::PersistentVolumeClaim made_for_it = claim("a-scratch", "v");
  made_for_it.metadata.owner_references = {{.api_version = "v1",
                                            .kind = "Pod",
                                            .name = "a",
                                            .uid = "uid-default-a",
                                            .controller = true}};
  const Reason unbound = "pod has unbound immediate PersistentVolumeClaims";
  const std::vector<Case> cases = {
      {"no volumes", {}, pod("a"), std::nullopt},
      {"bound", {done}, mounting(), std::nullopt},
      {"missing", {}, mounting(), "persistentvolumeclaim \"c\" not found"},
      {"missing in its namespace",
       {done},
       mounting().in_namespace("ml"),
       "persistentvolumeclaim \"c\" not found",
       {"ml/c"}},
      {"unbound, no class", {claim("c", "")}, mounting(), unbound},
      {"unbound, of a class that nobody knows",
       {wanted("c", "unknown")},
       mounting(),
       unbound,
       {"default/c", "unknown"}},
      {"unbound, bound before pods are looked at",
       {wanted("c", "now")},
       mounting(),
       unbound,
       {"default/c", "now"}},
      {"unbound, of a class that does not say when",
       {wanted("c", "silent")},
       mounting(),
       unbound,
       {"default/c", "silent"}},
      {"unbound, waits for the pod", {wanted("c", "wait")}, mounting(), std::nullopt},
      {"waits for the pod, a volume chosen, not bound yet",
       {with(wanted("c", "wait"), [](auto& it) { it.volume_name = "v"; })},
       mounting(),
       unbound,
       {"default/c", "wait"}},
      {"lost",
       {with(done, [](auto& it) { it.phase = "Lost"; })},
       mounting(),
       "persistentvolumeclaim \"c\" bound to non-existent persistentvolume \"v\""},
      {"being deleted",
       {with(done, [](auto& it) { it.metadata.deletion_timestamp.emplace(); })},
       mounting(),
       "persistentvolumeclaim \"c\" is being deleted"},
      {"the second of two",
       {wanted("c", "now")},
       mounting().mounts_claim("d"),
       "persistentvolumeclaim \"d\" not found",
       {"default/d"}},
      {"an ephemeral volume without its claim",
       {},
       pod("a").mounts(scratch),
       "waiting for ephemeral volume controller to create the persistentvolumeclaim "
       "\"a-scratch\"",
       {"default/a-scratch"}},
      {"an ephemeral volume", {made_for_it}, pod("a").mounts(scratch), std::nullopt},
      {"an ephemeral volume whose claim the pod owns, but does not control",
       {with(made_for_it, [](auto& it) { it.metadata.owner_references[0].controller = false; })},
       pod("a").mounts(scratch),
       "PVC default/a-scratch was not created for pod default/a (pod is not owner)",
       {"default/a-scratch"}},
      {"an ephemeral volume whose claim was made for another pod of its name",
       {claim("a-scratch", "v")},
       pod("a").mounts(scratch),
       "PVC default/a-scratch was not created for pod default/a (pod is not owner)",
       {"default/a-scratch"}},
      {"one whose claim was made for another pod, and is being deleted",
       {with(claim("a-scratch", "v"), [](auto& it) { it.metadata.deletion_timestamp.emplace(); })},
       pod("a").mounts(scratch),
       "persistentvolumeclaim \"a-scratch\" is being deleted",
       {"default/a-scratch"}},
  };
  for (const Case& each : cases) {
    INFO(each.name);
    Asked asked("VolumeBinding");
    asked.has(storage_class("wait", "p"));
    asked.has(storage_class("now", "p", "Immediate"));
    asked.has(with(storage_class("silent", "p"), [](auto& it) { it.binding_mode.reset(); }));
    for (const auto& it : each.claims) asked.has(it);
    CHECK(asked.refuses(each.given) == each.want);
    if (each.want) CHECK(asked.awaits(each.given) == each.awaits);
  }
}

TEST_CASE("VolumeBinding: a bound volume is used where its node affinity lets it") {
  Asked asked("VolumeBinding");
  asked.on("n");
  asked.on("m");
  const k8s::Pod given = pod("a").mounts_claim("c").mounts_claim("d");
  asked.has(claim("c", "v"));
  asked.has(claim("d", "w"));
  const Names missing = {
      "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"};
  CHECK(asked.excluded(given) == std::map<std::string, Names>{{"m", missing}, {"n", missing}});
  asked.has(free_volume("v", 1, "n"));
  asked.has(free_volume("w", 1));
  CHECK(asked.excluded(given) == std::map<std::string, Names>{{"m", {kNotItsNode}}});
  CHECK(asked.codes[kNotItsNode] == Code::kUnresolvable);
  CHECK_FALSE(asked.constraint->preparation_for(given, asked.on("n")));
  asked.has(free_volume("w", 1, "n"));
  // Once, however many volumes say so.
  CHECK(asked.excluded(given) == std::map<std::string, Names>{{"m", {kNotItsNode}}});
  asked.lacks<k8s::PersistentVolume>("w");
  CHECK(asked.excluded(given) ==
        std::map<std::string, Names>{{"m", {kNotItsNode}}, {"n", missing}});
}

TEST_CASE("a change of a claim that is not read changes no answer") {
  const k8s::PersistentVolumeClaim first = wanted("c", "any");
  const k8s::PersistentVolumeClaim labelled = with(first, [](auto& it) {
    it.metadata.resource_version = "2";
    it.metadata.generation = 2;
    it.metadata.labels.set("a", "b");
  });
  const k8s::PersistentVolumeClaim bound = with(labelled, [](auto& it) {
    it.volume_name = "v";
    it.access_modes = {"ReadWriteOncePod"};
  });
  for (const char* name :
       {"VolumeBinding", "VolumeZone", "VolumeRestrictions", "NodeVolumeLimits"}) {
    INFO(name);
    Asked asked(name);
    const auto matters = [&](const k8s::PersistentVolumeClaim& it) {
      return asked.constraint->apply(VolumeClaimUpserted{it});
    };
    asked.has(first);
    CHECK_FALSE(matters(first));
    CHECK_FALSE(matters(labelled));
    CHECK(matters(bound));
    CHECK_FALSE(matters(bound));
    CHECK(matters(first));
  }
}

TEST_CASE("VolumeBinding: a change of a claim that a plan counts on matters, whatever it is") {
  Asked asked("VolumeBinding");
  const k8s::PersistentVolumeClaim first = wanted("c", "any");
  asked.has(first);
  const ObjectWrite write = SelectNode{.claim = {"default", "c", "uid of c", "1"}, .node = "a"};
  asked.constraint->apply(WriteAssumed{write});
  const auto labelled = with(first, [](auto& it) {
    it.metadata.resource_version = "2";
    it.metadata.labels.set("a", "b");
  });
  CHECK(asked.constraint->apply(VolumeClaimUpserted{labelled}));
  CHECK(asked.constraint->readiness(pod("p").mounts_claim("c"), asked.on("a")).state ==
        State::kFailed);
  asked.constraint->apply(WriteOver{write});
  CHECK_FALSE(asked.constraint->apply(VolumeClaimUpserted{first}));
}

TEST_CASE("VolumeBinding: a driver that has taken a disk over finds it by its own label") {
  Asked asked("VolumeBinding");
  constexpr const char* kDriversZone = "topology.gke.io/zone";
  constexpr const char* kOldZone = "failure-domain.beta.kubernetes.io/zone";
  k8s::CsiNode taken_over;
  taken_over.metadata.name = "n";
  taken_over.metadata.annotations.set("storage.alpha.kubernetes.io/migrated-plugins",
                                      "kubernetes.io/gce-pd");
  struct Case {
    const char* name;
    const char* by;         // the label of the node affinity; null: it has none
    k8s::StringMap labels;  // of the volume
    k8s::StringMap before;  // of a node that takes it while the driver has not taken over
    k8s::StringMap after;   // and once it has
  };
  const std::vector<Case> cases = {
      {"by zone", kZone, {}, {{kZone, "a"}}, {{kDriversZone, "a"}}},
      {"by the old label", kOldZone, {}, {{kOldZone, "a"}}, {{kDriversZone, "a"}}},
      {"by something else", "host", {}, {{"host", "a"}}, {{"host", "a"}}},
      {"by something else, and a label",
       "host",
       {{kZone, "b__a"}},
       {{"host", "a"}},
       {{"host", "a"}, {kDriversZone, "b"}}},
      {"by a label", nullptr, {{kZone, "a"}}, {}, {{kDriversZone, "a"}}},
      {"by an old label", nullptr, {{kOldZone, "a"}}, {}, {{kDriversZone, "a"}}},
  };
  const k8s::Pod given = pod("p").mounts_claim("c");
  const auto usable = [&](const k8s::StringMap& labels) {
    const NodeFacts& node = asked.on("n", labels);
    const bool out = asked.excluded(given).contains("n");
    CHECK((asked.constraint->readiness(given, node).state == State::kFailed) == out);
    return !out;
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    asked.has(with(volume("v"), [&](auto& it) {
      it.in_tree_disk = {"gcePersistentDisk", "disk"};
      it.metadata.labels = c.labels;
      if (c.by != nullptr) it.node_affinity = k8s::NodeSelector{{term({label(c.by).in({"a"})})}};
    }));
    asked.has(bound_claim(claim("c", "v"), "v"));
    CHECK(usable(c.before));
    if (c.by != nullptr) CHECK_FALSE(usable({}));
    asked.has(taken_over);
    CHECK(usable(c.after));
    CHECK_FALSE(usable({}));
    asked.lacks<k8s::CsiNode>("n");
    CHECK(usable(c.before));
  }
}
