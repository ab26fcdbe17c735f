// The constraints that keep pods waiting rather than placing them by ignoring what they ask for.
#include "tests/plugins/one_node.h"
#include "tests/support/catch.h"

using namespace sched;
using tests::claim;
using tests::make_plugin;
using tests::pod;
using tests::pods_like;
using tests::volume;
using Refusal = std::optional<std::string>;

namespace {

std::unique_ptr<ClusterConstraint> constraint(const char* name) {
  auto made = make_plugin(name);
  REQUIRE(made);
  REQUIRE(made->constraint);
  CHECK(made->constraint->name() == name);
  return std::move(made->constraint);
}

k8s::PodAffinityTerm preferred_only() { return pods_like({{"app", "x"}}, "zone"); }

}  // namespace

TEST_CASE("UnsupportedConstraints refuses what is hard, and says what") {
  struct Case {
    const char* name;
    k8s::Pod given;
    Refusal want;
  };
  const auto with_terms = [](int number) -> k8s::Pod {
    auto made = pod("a").spread_over("zone").near(pods_like({{"app", "x"}}, "zone"));
    for (int i = 2; i < number; ++i) made.away_from(pods_like({{"app", "x"}}, "host"));
    return made;
  };
  const auto with_preferences = [](int number) -> k8s::Pod {
    auto made = pod("a").spread_over("zone", false).rather_near(1, preferred_only());
    for (int i = 2; i < number; ++i) made.rather_away_from(1, preferred_only());
    return made;
  };
  k8s::Pod soft = pod("a").spread_over("zone", false);
  soft.spec.pod_affinity.emplace().preferred.push_back({1, preferred_only()});
  soft.spec.pod_anti_affinity.emplace().preferred.push_back({1, preferred_only()});
  const std::vector<Case> cases = {
      {"plain", pod("a").gpus(1), std::nullopt},
      {"preferences", soft, std::nullopt},
      {"as many terms as are counted for", with_terms(32), std::nullopt},
      {"one more", with_terms(33),
       "pod has 33 required pod affinity terms and topology spread constraints; gpu-scheduler "
       "counts for 32 at most"},
      {"as many preferences as are counted for", with_preferences(32), std::nullopt},
      {"one preference more", with_preferences(33),
       "pod has 33 preferred pod affinity terms and ScheduleAnyway constraints; gpu-scheduler "
       "counts for 32 at most"},
      {"resource claims", pod("a").uses_resource_claim("gpu"),
       "pod has resource claims (DRA), which gpu-scheduler cannot allocate yet"},
  };
  const auto asked = constraint("UnsupportedConstraints");
  for (const Case& each : cases) {
    INFO(each.name);
    CHECK(asked->refuses(each.given) == each.want);
  }
}

TEST_CASE("VolumeConstraints: which volumes a pod has to wait for") {
  struct Case {
    const char* name;
    std::vector<k8s::PersistentVolumeClaim> claims;
    std::vector<k8s::PersistentVolume> volumes;
    k8s::Pod given;
    Refusal want;
  };
  const auto with = [](k8s::PersistentVolumeClaim made, auto change) {
    change(made);
    return made;
  };
  const auto bound = claim("c", "v");
  const auto mounting = [] { return pod("a").mounts_claim("c"); };
  k8s::Volume disk;
  disk.name = "d";
  disk.kind = k8s::Volume::Kind::kDisk;
  disk.source = "iscsi";
  k8s::Volume scratch;
  scratch.name = "scratch";
  scratch.kind = k8s::Volume::Kind::kEphemeral;
  k8s::PersistentVolumeClaim made_for_it = claim("a-scratch", "v");
  made_for_it.metadata.owner_references = {{.api_version = "v1",
                                            .kind = "Pod",
                                            .name = "a",
                                            .uid = "uid-default-a",
                                            .controller = true}};
  const std::vector<Case> cases = {
      {"no volumes", {}, {}, pod("a"), std::nullopt},
      {"bound to a volume for all nodes", {bound}, {volume("v")}, mounting(), std::nullopt},
      {"missing", {}, {}, mounting(), "persistentvolumeclaim \"c\" not found"},
      {"missing in its namespace",
       {bound},
       {volume("v")},
       mounting().in_namespace("ml"),
       "persistentvolumeclaim \"c\" not found"},
      {"unbound, no class",
       {claim("c", "")},
       {},
       mounting(),
       "pod has unbound immediate PersistentVolumeClaims"},
      {"unbound, of a class",
       {with(claim("c", ""), [](auto& it) { it.storage_class = "fast"; })},
       {},
       mounting(),
       "pod has an unbound PersistentVolumeClaim \"c\" (storage class \"fast\"), which "
       "gpu-scheduler cannot bind yet"},
      {"a volume chosen, not bound yet",
       {with(bound, [](auto& it) { it.metadata.annotations = {}; })},
       {volume("v")},
       mounting(),
       "pod has unbound immediate PersistentVolumeClaims"},
      {"lost",
       {with(bound, [](auto& it) { it.phase = "Lost"; })},
       {},
       mounting(),
       "persistentvolumeclaim \"c\" bound to non-existent persistentvolume \"v\""},
      {"being deleted",
       {with(bound, [](auto& it) { it.metadata.deletion_timestamp.emplace(); })},
       {volume("v")},
       mounting(),
       "persistentvolumeclaim \"c\" is being deleted"},
      {"its volume is missing",
       {bound},
       {},
       mounting(),
       "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"},
      {"one pod at a time",
       {with(bound, [](auto& it) { it.access_modes = {"ReadWriteOncePod"}; })},
       {volume("v")},
       mounting(),
       "persistentvolumeclaim \"c\" may be used by one pod at a time (ReadWriteOncePod), which "
       "gpu-scheduler cannot honour yet"},
      {"the second of two",
       {bound},
       {volume("v")},
       mounting().mounts_claim("d"),
       "persistentvolumeclaim \"d\" not found"},
      {"an in-line disk",
       {},
       {},
       pod("a").mounts(disk),
       "pod mounts the disk \"d\" in-line (iscsi), which gpu-scheduler cannot honour yet"},
      {"an ephemeral volume without its claim",
       {},
       {},
       pod("a").mounts(scratch),
       "waiting for ephemeral volume controller to create the persistentvolumeclaim "
       "\"a-scratch\""},
      {"an ephemeral volume", {made_for_it}, {volume("v")}, pod("a").mounts(scratch), std::nullopt},
      {"an ephemeral volume whose claim was made for another pod of its name",
       {claim("a-scratch", "v")},
       {volume("v")},
       pod("a").mounts(scratch),
       "PVC default/a-scratch was not created for pod default/a (pod is not owner)"},
  };
  for (const Case& each : cases) {
    INFO(each.name);
    const auto asked = constraint("VolumeConstraints");
    for (const auto& it : each.claims) asked->apply(VolumeClaimUpserted{it});
    for (const auto& it : each.volumes) asked->apply(VolumeUpserted{it});
    CHECK(asked->refuses(each.given) == each.want);
  }
}

TEST_CASE("VolumeConstraints: on which nodes a pod's volumes can be used") {
  const auto asked = constraint("VolumeConstraints");
  const auto labelled = [](std::string_view name, const k8s::StringMap& labels) {
    k8s::PersistentVolume made = volume(name);
    made.metadata.labels = labels;
    return made;
  };
  k8s::PersistentVolume local = volume("local");
  local.node_affinity = k8s::NodeSelector{{tests::term({tests::label("host").in({"n"})})}};
  asked->apply(VolumeUpserted{local});
  asked->apply(VolumeUpserted{volume("anywhere")});
  constexpr const char* kZone = "topology.kubernetes.io/zone";
  constexpr const char* kRegion = "topology.kubernetes.io/region";
  constexpr const char* kOldZone = "failure-domain.beta.kubernetes.io/zone";
  asked->apply(VolumeUpserted{labelled("zonal", {{kZone, "a"}})});
  asked->apply(VolumeUpserted{labelled("two-zones", {{kZone, "a__ b"}})});
  asked->apply(VolumeUpserted{labelled("old", {{kOldZone, "a"}, {kRegion, "r"}})});
  asked->apply(VolumeUpserted{labelled("unreadable", {{kZone, "a__"}})});
  for (const char* name : {"local", "anywhere", "zonal", "two-zones", "old", "unreadable"}) {
    asked->apply(VolumeClaimUpserted{claim(name, name)});
  }
  const auto rules = [&](const k8s::Pod& given) {
    std::vector<std::string> plugins;
    for (const Exclusion& rule : asked->excludes(given)) {
      CHECK(rule.code == Code::kUnresolvable);
      plugins.emplace_back(rule.plugin);
    }
    return plugins;
  };
  const auto allowed = [&](const char* name, const k8s::StringMap& node) {
    const auto found = asked->excludes(pod("p").mounts_claim(name));
    return std::all_of(found.begin(), found.end(),
                       [&](const Exclusion& rule) { return rule.only->matches({}, node); });
  };
  CHECK(rules(pod("p")).empty());
  CHECK(rules(pod("p").mounts_claim("anywhere")).empty());
  CHECK(rules(pod("p").mounts_claim("unreadable")).empty());
  CHECK(rules(pod("p").mounts_claim("missing")).empty());
  using Names = std::vector<std::string>;
  CHECK(rules(pod("p").mounts_claim("zonal").mounts_claim("local")) ==
        Names{"VolumeBinding", "VolumeZone"});

  CHECK(allowed("local", {{"host", "n"}}));
  CHECK_FALSE(allowed("local", {{"host", "m"}}));
  CHECK(allowed("zonal", {{kZone, "a"}}));
  CHECK_FALSE(allowed("zonal", {{kZone, "b"}}));
  // A node that carries some of these labels must carry the right one; one without any is anywhere.
  CHECK_FALSE(allowed("zonal", {{kRegion, "r"}}));
  CHECK_FALSE(allowed("zonal", {{kOldZone, "a"}}));
  CHECK(allowed("zonal", {{"host", "n"}}));
  CHECK(allowed("two-zones", {{kZone, "b"}}));
  CHECK_FALSE(allowed("two-zones", {{kZone, "c"}}));
  // A volume's old label is read as the new one, not the other way round.
  CHECK(allowed("old", {{kZone, "a"}, {kRegion, "r"}}));
  CHECK(allowed("old", {{kOldZone, "a"}, {kRegion, "r"}}));
  CHECK_FALSE(allowed("old", {{kOldZone, "b"}, {kZone, "a"}, {kRegion, "r"}}));
  CHECK_FALSE(allowed("old", {{kZone, "a"}, {kRegion, "s"}}));
}

TEST_CASE("VolumeConstraints follows claims and volumes") {
  const auto asked = constraint("VolumeConstraints");
  CHECK((asked->wakes_on() & kStorageChanged) != 0);
  const k8s::Pod waiting = pod("a").mounts_claim("c");
  asked->apply(VolumeClaimUpserted{claim("c", "")});
  CHECK(asked->refuses(waiting));
  asked->apply(VolumeUpserted{volume("v")});
  asked->apply(VolumeClaimUpserted{claim("c", "v")});
  CHECK_FALSE(asked->refuses(waiting));
  asked->apply(VolumeGone{"v", ""});
  CHECK(asked->refuses(waiting));
  asked->apply(VolumeUpserted{volume("v")});
  asked->apply(VolumeClaimGone{"c", "default"});
  CHECK(asked->refuses(waiting) == Refusal("persistentvolumeclaim \"c\" not found"));
}

TEST_CASE("DeviceClasses says what DRA would serve") {
  const auto asked = constraint("DeviceClasses");
  k8s::DeviceClass gpus;
  gpus.metadata.name = "gpu.nvidia.com";
  gpus.extended_resource_name = "nvidia.com/gpu";
  k8s::DeviceClass other;
  other.metadata.name = "a-class";
  const k8s::Pod waiting = pod("a").gpus(1);
  CHECK(asked->note(waiting).empty());
  asked->apply(DeviceClassUpserted{other});
  asked->apply(DeviceClassUpserted{gpus});
  CHECK(asked->note(waiting) ==
        "nvidia.com/gpu is also served by DRA (DeviceClass \"gpu.nvidia.com\"), which "
        "gpu-scheduler does not allocate yet");
  CHECK_FALSE(asked->refuses(waiting));
  CHECK(asked->note(pod("a").cpu("1")).empty());
  CHECK(asked->note(pod("a").gpus(0)).empty());
  asked->apply(DeviceClassGone{"gpu.nvidia.com", ""});
  CHECK(asked->note(waiting).empty());
  CHECK(asked->refuses(pod("a").requests("deviceclass.resource.kubernetes.io/gpu", "1")) ==
        Refusal("deviceclass.resource.kubernetes.io/gpu is served by DRA, which gpu-scheduler does "
                "not allocate yet"));
}
