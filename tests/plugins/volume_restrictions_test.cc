#include "tests/plugins/asked.h"
#include "tests/support/catch.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace sched;
using tests::Asked;
using tests::claim;
using tests::Names;
using tests::pod;
using tests::with;

namespace {

k8s::Volume disk(const char* source, const char* id, bool read_only = false) {
  k8s::Volume made{"d", k8s::Volume::Kind::kDisk, "", source};
  made.disk.id = id;
  made.disk.read_only = read_only;
  return made;
}

k8s::Volume rbd(std::vector<std::string> monitors, const char* pool, const char* image,
                bool read_only = false) {
  k8s::Volume made = disk("rbd", image, read_only);
  made.disk.monitors = std::move(monitors);
  made.disk.pool = pool;
  return made;
}

}  // namespace

TEST_CASE("VolumeRestrictions: a claim for one pod at a time is one pod's") {
  Asked asked("VolumeRestrictions");
  asked.on("a");
  asked.has(claim("shared", "v"));
  asked.has(with(claim("own", "w"), [](auto& it) { it.access_modes = {"ReadWriteOncePod"}; }));
  const k8s::Pod first = pod("first").mounts_claim("own").mounts_claim("own").on("a");
  const k8s::Pod second = pod("second").mounts_claim("own");
  CHECK(asked.excluded(second).empty());
  asked.bound(first);
  const std::string in_use =
      "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already "
      "in-use by another pod";
  CHECK(asked.excluded(second) == std::map<std::string, Names>{{"a", {in_use}}});
  CHECK(asked.codes[in_use] == Code::kUnschedulable);
  CHECK(asked.excluded(first).empty());  // itself
  CHECK(asked.excluded(pod("third").mounts_claim("shared")).empty());
  CHECK(asked.excluded(pod("fourth").in_namespace("ml").mounts_claim("own")).empty());
  asked.gone(first);
  CHECK(asked.excluded(second).empty());
  // The claim of an ephemeral volume of that name, made for its pod, does not count.
  k8s::Volume scratch;
  scratch.name = "n";
  scratch.kind = k8s::Volume::Kind::kEphemeral;
  const k8s::Pod ephemeral = pod("ow").mounts(scratch).on("a");
  asked.has(with(claim("ow-n", "x"), [](auto& it) { it.access_modes = {"ReadWriteOncePod"}; }));
  asked.bound(ephemeral);
  CHECK(asked.excluded(pod("fifth").mounts_claim("ow-n")).empty());
  CHECK_FALSE(asked.refuses(pod("an").mounts(scratch)));

  CHECK_FALSE(
      asked.constraint->apply(BoundPodUpserted{pod("plain").on("a")}));  // no answer changes
  CHECK(asked.constraint->apply(BoundPodUpserted{first}));

  CHECK_FALSE(asked.refuses(second));
  CHECK_FALSE(asked.constraint->concerns(pod("p")));
  CHECK(asked.constraint->concerns(second));
  CHECK(asked.refuses(pod("p").mounts_claim("missing")) ==
        "persistentvolumeclaim \"missing\" not found");
  CHECK(asked.awaits(pod("p").mounts_claim("missing")) == Names{"default/missing"});
  asked.lacks<k8s::PersistentVolumeClaim>("own", "default");
  CHECK(asked.refuses(second) == "persistentvolumeclaim \"own\" not found");
}

TEST_CASE("VolumeRestrictions: a disk is for one pod of a node at a time") {
  struct Case {
    const char* name;
    k8s::Volume there;
    k8s::Volume wanted;
    bool conflict;
  };
  std::vector<std::string> many;
  for (int i = 0; i < 65; ++i) many.push_back("m" + std::to_string(i));
  const std::vector<std::string> most(many.begin(), many.end() - 1);
  const std::vector<Case> cases = {
      {"GCE", disk("gcePersistentDisk", "x"), disk("gcePersistentDisk", "x"), true},
      {"GCE, another", disk("gcePersistentDisk", "x"), disk("gcePersistentDisk", "y"), false},
      {"GCE, both read", disk("gcePersistentDisk", "x", true), disk("gcePersistentDisk", "x", true),
       false},
      {"GCE, one writes", disk("gcePersistentDisk", "x", true), disk("gcePersistentDisk", "x"),
       true},
      {"GCE, the other writes", disk("gcePersistentDisk", "x"),
       disk("gcePersistentDisk", "x", true), true},
      {"EBS", disk("awsElasticBlockStore", "x"), disk("awsElasticBlockStore", "x"), true},
      {"EBS, both read", disk("awsElasticBlockStore", "x", true),
       disk("awsElasticBlockStore", "x", true), true},
      {"of another kind", disk("awsElasticBlockStore", "x"), disk("gcePersistentDisk", "x"), false},
      {"iSCSI", disk("iscsi", "x"), disk("iscsi", "x", true), true},
      {"iSCSI, both read", disk("iscsi", "x", true), disk("iscsi", "x", true), false},
      {"RBD", rbd({"a", "b"}, "p", "i"), rbd({"c", "b"}, "p", "i"), true},
      {"RBD, no monitor in common", rbd({"a", "b"}, "p", "i"), rbd({"c"}, "p", "i"), false},
      {"RBD, of another pool", rbd({"a"}, "p", "i"), rbd({"a"}, "q", "i"), false},
      {"RBD, another image", rbd({"a"}, "p", "i"), rbd({"a"}, "p", "j"), false},
      {"RBD, both read", rbd({"a"}, "p", "i", true), rbd({"a"}, "p", "i", true), false},
      {"RBD, unsorted monitors", rbd({"c", "a"}, "p", "i"), rbd({"d", "a", "b"}, "p", "i"), true},
      {"RBD, of no monitor", rbd({}, "p", "i"), rbd({}, "p", "i"), false},
      {"RBD, as many monitors as are compared", rbd(most, "p", "i"), rbd({"z"}, "p", "i"), false},
      {"RBD, monitors that are not compared", rbd(many, "p", "i"), rbd({"z"}, "p", "i"), true},
      {"not compared", disk("azureDisk", "x"), disk("azureDisk", "x"), false},
  };
  const std::string no_disk = "node(s) had no available disk";
  for (const Case& c : cases) {
    CAPTURE(c.name);
    Asked asked("VolumeRestrictions");
    asked.on("a");
    asked.on("b");
    const k8s::Pod first = pod("first").mounts(c.there).mounts(c.there).on("a");
    const k8s::Pod second = pod("second").mounts(c.wanted);
    CHECK(asked.excluded(second).empty());
    asked.bound(first);
    using Out = std::map<std::string, Names>;
    CHECK(asked.excluded(second) == (c.conflict ? Out{{"a", {no_disk}}} : Out{}));
    if (c.conflict) CHECK(asked.codes[no_disk] == Code::kUnschedulable);
    CHECK(asked.excluded(first).empty());  // itself
    // It goes on with another disk.
    asked.bound(pod("first").mounts(disk("iscsi", "other")).on("a"));
    CHECK(asked.excluded(second).empty());
    asked.bound(first);
    asked.gone(first);
    CHECK(asked.excluded(second).empty());
  }
}

TEST_CASE("VolumeRestrictions: of a node without the disk, the claim is told") {
  Asked asked("VolumeRestrictions");
  asked.on("a");
  asked.on("b");
  asked.has(with(claim("own", "w"), [](auto& it) { it.access_modes = {"ReadWriteOncePod"}; }));
  const k8s::Volume x = disk("gcePersistentDisk", "x");
  asked.bound(pod("first").mounts_claim("own").on("b"));
  asked.bound(pod("second").mounts(x).on("a"));
  const auto out = asked.excluded(pod("third").mounts_claim("own").mounts(x));
  REQUIRE(out.size() == 2);
  CHECK(out.at("a") == Names{"node(s) had no available disk"});
  CHECK(out.at("b").front().starts_with("node(s) unavailable due to PersistentVolumeClaim"));
}

TEST_CASE("VolumeRestrictions: in a trial pods that are gone use nothing, and those added do") {
  Asked asked("VolumeRestrictions");
  asked.on("a");
  asked.on("b");
  asked.has(with(claim("own", "w"), [](auto& it) { it.access_modes = {"ReadWriteOncePod"}; }));
  const k8s::Pod first =
      pod("first").mounts_claim("own").mounts(disk("gcePersistentDisk", "x")).on("a");
  const k8s::Pod claims = pod("p").mounts_claim("own");
  const k8s::Pod mounts = pod("q").mounts(disk("gcePersistentDisk", "x"));
  const k8s::Pod reads = pod("r").mounts(disk("gcePersistentDisk", "x", true));
  const auto out = [&](const k8s::Pod& it, const PodDifference& trial) {
    Names names;
    for (const auto& [name, reasons] : asked.excluded(it, trial)) names.push_back(name);
    return names;
  };
  // Nobody uses them, but in the trial.
  const PodDifference on_b({}, {{&first, "b"}});
  CHECK(out(claims, on_b) == Names{"a", "b"});
  CHECK(out(mounts, on_b) == Names{"b"});
  CHECK(out(reads, PodDifference({}, {{&reads, "b"}})).empty());
  CHECK(out(reads, PodDifference({}, {{&mounts, "b"}})) == Names{"b"});

  asked.bound(first);
  CHECK(out(claims, {}) == Names{"a", "b"});
  CHECK(out(mounts, {}) == Names{"a"});
  const PodDifference gone({first.metadata.uid}, {});
  CHECK(out(claims, gone).empty());
  CHECK(out(mounts, gone).empty());
  CHECK(out(claims, PodDifference({"nobody"}, {})) == Names{"a", "b"});
  const PodDifference moved({first.metadata.uid}, {{&first, "b"}});
  CHECK(out(claims, moved) == Names{"a", "b"});
  CHECK(out(mounts, moved) == Names{"b"});
}
