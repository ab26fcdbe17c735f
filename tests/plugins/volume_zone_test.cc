// VolumeZone: a pod goes to the zones of its volumes.
#include "tests/plugins/asked.h"
#include "tests/plugins/labels.h"
#include "tests/support/catch.h"

using namespace sched;
using tests::Asked;
using tests::claim;
using tests::kZone;
using tests::label;
using tests::Names;
using tests::node;
using tests::pod;
using tests::volume;
using tests::with;

TEST_CASE("VolumeZone: a volume is used in the zones that it is labelled with") {
  Asked asked("VolumeZone");
  const auto labelled = [](const char* name, const k8s::StringMap& labels) {
    return with(volume(name), [&](auto& it) { it.metadata.labels = labels; });
  };
  constexpr const char* kRegion = "topology.kubernetes.io/region";
  constexpr const char* kOldZone = "failure-domain.beta.kubernetes.io/zone";
  asked.has(volume("anywhere"));
  asked.has(labelled("zonal", {{kZone, "a"}}));
  asked.has(labelled("two-zones", {{kZone, "a__ b"}}));
  asked.has(labelled("old", {{kOldZone, "a"}, {kRegion, "r"}}));
  asked.has(labelled("unreadable", {{kZone, "a__"}}));
  for (const char* name : {"anywhere", "zonal", "two-zones", "old", "unreadable"}) {
    asked.has(claim(name, name));
  }
  CHECK(asked.constraint->excludes(pod("p"), {}).empty());
  CHECK(asked.constraint->excludes(pod("p").mounts_claim("anywhere"), {}).empty());
  CHECK(asked.constraint->excludes(pod("p").mounts_claim("unreadable"), {}).empty());
  const auto allowed = [&](const char* name, const k8s::StringMap& labels) {
    asked.nodes.clear();
    asked.on("n", labels);
    const auto out = asked.excluded(pod("p").mounts_claim(name));
    if (!out.empty()) CHECK(out.at("n") == Names{"node(s) had no available volume zone"});
    return out.empty();
  };
  CHECK(allowed("zonal", {{kZone, "a"}}));
  CHECK_FALSE(allowed("zonal", {{kZone, "b"}}));
  CHECK(asked.codes["node(s) had no available volume zone"] == Code::kUnresolvable);
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

  const k8s::Pod given = pod("p").mounts_claim("zonal");
  CHECK_FALSE(asked.refuses(given));
  CHECK_FALSE(asked.refuses(pod("p").mounts_claim("unknown")));  // VolumeBinding's
  CHECK_FALSE(asked.constraint->concerns(pod("p")));
  asked.lacks<k8s::PersistentVolume>("zonal");
  CHECK(asked.refuses(given) == "persistentvolume \"zonal\" not found");
  CHECK(asked.awaits(given) == Names{"zonal", "default/zonal"});
  asked.has(claim("zonal", ""));  // it waits for its pod: VolumeBinding's
  CHECK_FALSE(asked.refuses(given));

  // Ephemeral volumes are VolumeBinding's, too.
  k8s::Volume scratch;
  scratch.name = "scratch";
  scratch.kind = k8s::Volume::Kind::kEphemeral;
  const k8s::Pod with_scratch = pod("p").mounts(scratch);
  asked.has(claim("p-scratch", "gone"));
  CHECK_FALSE(asked.refuses(with_scratch));
  asked.has(claim("p-scratch", "two-zones"));
  CHECK(asked.constraint->excludes(with_scratch, {}).empty());
}
