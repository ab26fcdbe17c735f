// The constraints that keep pods waiting rather than placing them by ignoring what they ask for.
#include "tests/plugins/one_node.h"
#include "tests/support/catch.h"

#include <string>
#include <vector>

using namespace sched;
using tests::make_plugin;
using tests::pod;
using tests::pods_like;

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
    std::optional<std::string> want;
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
  const auto with_tolerations = [](int number) -> k8s::Pod {
    auto made = pod("a");
    for (int i = 0; i < number; ++i) made.tolerates(std::to_string(i));
    return made;
  };
  k8s::Pod soft = pod("a").spread_over("zone", false);
  soft.spec.pod_affinity.emplace().preferred.push_back({1, preferred_only()});
  soft.spec.pod_anti_affinity.emplace().preferred.push_back({1, preferred_only()});
  k8s::Volume disk;
  disk.name = "d";
  disk.kind = k8s::Volume::Kind::kUnknown;
  disk.source = "tomorrows";
  const std::vector<Case> cases = {
      {"plain", pod("a").gpus(1), std::nullopt},
      {"preferences", soft, std::nullopt},
      {"as many terms as are counted for", with_terms(32), std::nullopt},
      {"one more", with_terms(33),
       "pod has more than 32 required pod affinity terms and DoNotSchedule constraints, which "
       "gpu-scheduler does not count"},
      {"as many preferences as are counted for", with_preferences(32), std::nullopt},
      {"one preference more", with_preferences(33),
       "pod has more than 32 preferred pod affinity terms and ScheduleAnyway constraints, which "
       "gpu-scheduler does not count"},
      {"a volume of an unknown kind", pod("a").mounts(disk),
       "pod has the volume \"d\" of a kind that gpu-scheduler does not know (tomorrows)"},
      {"resource claims", pod("a").uses_resource_claim("gpu"),
       "pod has resource claims (DRA), which gpu-scheduler cannot allocate yet"},
      {"very many tolerations", with_tolerations(1'001),
       "pod has more than 1000 tolerations, which gpu-scheduler does not read"},
  };
  const auto asked = constraint("UnsupportedConstraints");
  for (const Case& each : cases) {
    INFO(each.name);
    const auto refusal = asked->refuses(each.given);
    REQUIRE(refusal.has_value() == each.want.has_value());
    CHECK(asked->concerns(each.given) == each.want.has_value());
    if (refusal) CHECK(*refusal == Refusal{*each.want, {}});
  }
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
  asked->apply(ObjectUpserted<k8s::DeviceClass>{other});
  asked->apply(ObjectUpserted<k8s::DeviceClass>{gpus});
  CHECK(asked->note(waiting) ==
        "nvidia.com/gpu is also served by DRA (DeviceClass \"gpu.nvidia.com\"), which "
        "gpu-scheduler does not allocate yet");
  CHECK_FALSE(asked->refuses(waiting));
  CHECK(asked->note(pod("a").cpu("1")).empty());
  CHECK(asked->note(pod("a").gpus(0)).empty());
  gpus.extended_resource_name = "example.com/gpu";
  asked->apply(ObjectUpserted<k8s::DeviceClass>{gpus});
  CHECK(asked->note(waiting).empty());
  asked->apply(ObjectGone<k8s::DeviceClass>{"gpu.nvidia.com", ""});
  CHECK(asked->note(pod("a").requests("example.com/gpu", "1")).empty());
  CHECK_FALSE(asked->concerns(waiting));
  CHECK(asked->concerns(pod("a").requests("deviceclass.resource.kubernetes.io/gpu", "1")));
  // The first by name, whichever container asks for it; for none of it nobody asks.
  const auto refused = asked->refuses(
      pod("a")
          .requests("deviceclass.resource.kubernetes.io/a", "0")
          .requests("deviceclass.resource.kubernetes.io/d", "1")
          .with(tests::container("b", {{"deviceclass.resource.kubernetes.io/c", "1"}}))
          .first_runs(tests::container("i", {{"deviceclass.resource.kubernetes.io/b", "1"},
                                             {"deviceclass.resource.kubernetes.io/e", "1"}})));
  REQUIRE(refused);
  CHECK_THAT(refused->reason, Catch::StartsWith("deviceclass.resource.kubernetes.io/b is"));
  CHECK(asked->refuses(pod("a").requests("deviceclass.resource.kubernetes.io/gpu", "1")) ==
        Refusal{"deviceclass.resource.kubernetes.io/gpu is served by DRA, which gpu-scheduler does "
                "not allocate yet"});
}

TEST_CASE("arguments of PodTopologySpread that are wrong") {
  const auto listed = [](const std::string& constraints) {
    return "{defaultingType: List, defaultConstraints: [" + constraints + "]}";
  };
  const std::string zone = "maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway";
  struct Case {
    std::string args;
    const char* want;  // empty: nothing is wrong
  };
  const std::vector<Case> cases = {
      {"{}", ""},
      {"defaultingType: List", ""},
      {"defaultingType: System", ""},
      {"kind: PodTopologySpreadArgs", ""},
      {listed("{" + zone +
              "}, {maxSkew: 2, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, "
              "minDomains: 2, nodeAffinityPolicy: Ignore, nodeTaintsPolicy: Honor}"),
       ""},
      {"defaultingType: Mine", "defaultingType: must be one of"},
      {"defaultConstraints: [{" + zone + "}]", "defaultConstraints: need defaultingType: List"},
      {"{defaultingType: System, defaultConstraints: [{" + zone + "}]}", "need defaultingType"},
      {listed("{topologyKey: zone, whenUnsatisfiable: DoNotSchedule}"), "maxSkew: is missing"},
      {listed("{maxSkew: 0, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}"), "maxSkew"},
      {listed("{maxSkew: 2147483648, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}"),
       "maxSkew"},
      {listed("{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, minDomains: 0}"),
       "minDomains"},
      {listed("{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, "
              "nodeTaintsPolicy: Always}"),
       "nodeTaintsPolicy"},
      {listed("{maxSkew: 1, whenUnsatisfiable: DoNotSchedule}"), "topologyKey: is missing"},
      {listed("{maxSkew: 1, topologyKey: 'a b', whenUnsatisfiable: DoNotSchedule}"),
       "topologyKey: 'a b' is no name of a label"},
      {listed("{maxSkew: 1, topologyKey: zone}"), "whenUnsatisfiable: is missing"},
      {listed("{" + zone + ", minDomains: 2}"), "minDomains: means something with"},
      {listed("{" + zone + ", labelSelector: {}}"), "labelSelector: cannot be given"},
      {listed("{" + zone + ", matchLabelKeys: [a]}"), "matchLabelKeys: cannot be given"},
      {listed("{" + zone + "}, {" + zone + "}"), "is there twice"},
      {listed("{" + zone + ", maxSkews: 1}"), "maxSkews: unknown field"},
  };
  for (const Case& each : cases) {
    CAPTURE(each.args);
    const auto made = make_plugin("PodTopologySpread", each.args.c_str());
    CHECK(made.has_value() == (*each.want == '\0'));
    if (!made) CHECK_THAT(made.error().message, Catch::Contains(each.want));
  }
}

TEST_CASE("arguments of InterPodAffinity") {
  for (const char* args :
       {"hardPodAffinityWeight: -1", "hardPodAffinityWeight: 101", "hardPodAffinityWeight: some",
        "ignorePreferredTermsOfExistingPods: 1", "hardPodAffinity: 1"}) {
    INFO(args);
    CHECK_FALSE(make_plugin("InterPodAffinity", args));
  }
  const auto prefers = [](const std::string& args, const k8s::Pod& running) {
    auto made = make_plugin("InterPodAffinity", args);
    REQUIRE(made);
    made->constraint->apply(BoundPodUpserted{running});
    return made->constraint->prefers(pod("p"));
  };
  // Whether a running pod's required affinity, or what it prefers, affects others' scores.
  const k8s::Pod requires_others = pod("r").near(preferred_only()).on("n");
  CHECK(prefers("", requires_others));
  CHECK(prefers("hardPodAffinityWeight: 100", requires_others));
  CHECK_FALSE(prefers("hardPodAffinityWeight: 0", requires_others));
  const k8s::Pod prefers_others = pod("r").rather_near(1, preferred_only()).on("n");
  CHECK(prefers("", prefers_others));
  CHECK(prefers("hardPodAffinityWeight: 0", prefers_others));
  CHECK_FALSE(prefers("ignorePreferredTermsOfExistingPods: true", prefers_others));
}

TEST_CASE("a constraint reads the changes that its answers follow from, and no others") {
  struct Case {
    const char* name;
    const char* args;
    ChangeMask want;
  };
  const Case cases[] = {
      {"UnsupportedConstraints", "", 0},
      {"NodeDeclaredFeatures", "", 0},
      {"DeviceClasses", "", kDeviceClassChanged},
      {"ImageLocality", "", kNodeChanged},
      {"VolumeZone", "", kStorageChanged},
      {"VolumeBinding", "", kStorageChanged | kPlanChanged},
      {"VolumeRestrictions", "", kStorageChanged | kBoundPodChanged | kBoundPodRemoved},
      {"NodeVolumeLimits", "", kStorageChanged | kBoundPodChanged | kBoundPodRemoved},
      {"InterPodAffinity", "",
       kNamespaceChanged | kNodeChanged | kBoundPodChanged | kBoundPodRemoved},
      {"PodTopologySpread", "", kSelectorChanged},
      {"PodTopologySpread", "defaultingType: List", 0},
  };
  for (const Case& each : cases) {
    CAPTURE(each.name, each.args);
    const auto made = make_plugin(each.name, each.args);
    REQUIRE(made);
    REQUIRE(made->constraint);
    CHECK(made->constraint->reads() == each.want);
  }
}
