#include "tests/plugins/asked.h"
#include "tests/support/catch.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

using namespace sched;
using tests::Asked;
using tests::claim;
using tests::Names;
using tests::pod;
using tests::storage_class;
using tests::volume;
using tests::wanted;
using tests::with;

TEST_CASE("NodeVolumeLimits: a node takes so many volumes of a driver") {
  Asked asked("NodeVolumeLimits");
  const auto limited = [](const char* name, std::optional<std::int32_t> most) {
    k8s::CsiNode made;
    made.metadata.name = name;
    made.drivers = {{"d", most}, {"other", 0}};
    return made;
  };
  const auto of_driver = [](const char* name, const char* handle, const char* driver = "d") {
    return with(volume(name), [&](auto& it) {
      it.csi_driver = driver;
      it.csi_volume_handle = handle;
      it.claim_ref = {"default", std::string("of-") + name, ""};
    });
  };
  asked.on("a");
  asked.on("b");
  asked.has(limited("a", 2));
  asked.has(limited("b", std::nullopt));
  for (const char* name : {"v1", "v2", "v3"}) {
    asked.has(of_driver(name, name));
    asked.has(claim(std::string("of-") + name, name));
  }
  const auto mounting = [](const char* name, std::initializer_list<const char*> volumes) {
    auto made = pod(name);
    for (const char* each : volumes) made.mounts_claim(std::string("of-") + each);
    return made;
  };
  using Out = std::map<std::string, Names>;
  const Out full = {{"a", {"node(s) exceed max volume count"}}};
  CHECK(asked.excluded(mounting("p", {"v1", "v2"})).empty());
  CHECK(asked.excluded(mounting("p", {"v1", "v2", "v3"})) == full);
  CHECK(asked.codes["node(s) exceed max volume count"] == Code::kUnschedulable);
  const k8s::Pod first = mounting("first", {"v1", "v1"}).on("a");
  const k8s::Pod second = mounting("second", {"v2"}).on("a");
  asked.bound(first);
  CHECK(asked.excluded(mounting("p", {"v2"})).empty());
  asked.bound(second);
  CHECK(asked.excluded(mounting("p", {"v3"})) == full);
  // One that is used there already needs no more room.
  CHECK(asked.excluded(mounting("p", {"v2"})).empty());
  CHECK(asked.excluded(mounting("p", {"v2", "v3"})) == full);
  SECTION("another driver's volumes count by themselves") {
    asked.has(of_driver("x", "x", "other"));
    asked.has(claim("of-x", "x"));
    CHECK(asked.excluded(mounting("p", {"x"})).size() == 2);  // it takes none on either node
    CHECK(asked.excluded(mounting("p", {"v2", "x"})).size() == 2);
  }
  SECTION("which nodes count anew, and what a pod's rule reads of its volumes") {
    const auto recounted = [&] {
      Names names = asked.constraint->take_recounted();
      names.erase(std::unique(names.begin(), names.end()), names.end());
      return names;
    };
    CHECK(recounted() == Names{"a", "b", "a"});  // of limits, then of pods
    CHECK(recounted().empty());
    asked.bound(mounting("third", {"v3"}).on("b"));
    CHECK(recounted().empty());  // b has no limit
    asked.gone(first);
    CHECK(recounted() == Names{"a"});

    CHECK(asked.constraint->reads_besides(pod("p")).empty());
    CHECK(asked.constraint->reads_besides(mounting("p", {"v1"})) == "1 d\n");
    CHECK(asked.constraint->reads_besides(mounting("p", {"v1", "v2"})).empty());  // v2 is used
    CHECK(asked.constraint->is_ruled(mounting("p", {"v1"})));
    CHECK(asked.constraint->rule_reads_pods(mounting("p", {"v1"})));
    CHECK(asked.constraint->concerns(mounting("p", {"v1"})));
    CHECK_FALSE(asked.constraint->is_ruled(pod("p")));
    CHECK_FALSE(asked.constraint->rule_reads_pods(pod("p")));
    CHECK_FALSE(asked.constraint->concerns(pod("p")));
  }
  SECTION("a pod goes") {
    asked.gone(first);
    CHECK(asked.excluded(mounting("p", {"v3"})).empty());
  }
  SECTION("the limit goes, and comes") {
    asked.lacks<k8s::CsiNode>("a");
    CHECK(asked.excluded(mounting("p", {"v3"})).empty());
    asked.bound(second);
    CHECK(asked.excluded(mounting("p", {"v3"})).empty());
    asked.has(limited("a", 2));
    CHECK(asked.excluded(mounting("p", {"v3"})) == full);
    asked.has(limited("a", 3));
    CHECK(asked.excluded(mounting("p", {"v3"})).empty());
  }
  SECTION("two names of one volume") {
    asked.has(of_driver("v2", "v1"));
    CHECK(asked.excluded(mounting("p", {"v3"})).empty());
  }
  SECTION("a volume is that of the claim that names it, also if it is reserved for none") {
    k8s::PersistentVolume made = of_driver("v2", "v2");
    made.claim_ref.reset();
    asked.has(made);
    CHECK(asked.excluded(mounting("p", {"v3"})) == full);
    made.csi_volume_handle = "v1";
    asked.has(made);
    CHECK(asked.excluded(mounting("p", {"v3"})).empty());
    made.csi_volume_handle = "v2";
    asked.has(made);
    CHECK(asked.excluded(mounting("p", {"v3"})) == full);
    // Then there is nothing by which to count it.
    asked.lacks<k8s::PersistentVolume>("v2");
    CHECK(asked.excluded(mounting("p", {"v3"})).empty());
    asked.has(made);
    CHECK(asked.excluded(mounting("p", {"v3"})) == full);
    // The first volume counts once, whoever names it.
    asked.has(claim("of-v2", "v1"));
    CHECK(asked.excluded(mounting("p", {"v3"})).empty());
    asked.has(made);
    CHECK(asked.excluded(mounting("p", {"v3"})).empty());
  }
  SECTION("its claim is of no driver any more") {
    asked.lacks<k8s::PersistentVolumeClaim>("of-v2", "default");
    CHECK(asked.excluded(mounting("p", {"v3"})).empty());
  }
  SECTION("one of two pods with that claim is gone, and then the claim is of no driver") {
    asked.bound(mounting("also", {"v2"}).on("a"));
    asked.gone(second);
    CHECK(asked.excluded(mounting("p", {"v3"})) == full);
    asked.lacks<k8s::PersistentVolumeClaim>("of-v2", "default");
    CHECK(asked.excluded(mounting("p", {"v3"})).empty());
  }
  SECTION("a claim without a volume counts by its class") {
    asked.has(wanted("new", "c"));
    const k8s::Pod waiting = pod("w").mounts_claim("new");
    CHECK(asked.excluded(waiting).empty());
    asked.has(storage_class("c", "d"));
    CHECK(asked.excluded(waiting) == full);
    asked.gone(first);
    CHECK(asked.excluded(waiting).empty());
    asked.bound(with(waiting, [](auto& it) { it.spec.node_name = "a"; }));
    CHECK(asked.excluded(mounting("p", {"v3"})) == full);
    asked.lacks<k8s::StorageClass>("c");
    CHECK(asked.excluded(mounting("p", {"v3"})).empty());
  }
  SECTION("in a trial pods are gone or added") {
    const auto is_out = [&](std::initializer_list<const char*> volumes,
                            const PodDifference& trial) {
      return asked.excluded(mounting("p", volumes), trial) == full;
    };
    const PodDifference first_gone({first.metadata.uid}, {});
    CHECK_FALSE(is_out({"v3"}, first_gone));
    CHECK(is_out({"v3", "v1"}, first_gone));
    CHECK(is_out({"v3"}, PodDifference({"nobody"}, {})));
    const k8s::Pod third = mounting("third", {"v3"});
    CHECK(is_out({"v1"}, PodDifference({first.metadata.uid}, {{&third, "a"}})));
    // The added pod uses that volume there already.
    CHECK_FALSE(is_out({"v3"}, PodDifference({first.metadata.uid}, {{&third, "a"}})));
    // Without a volume there is nothing by which to count it.
    asked.lacks<k8s::PersistentVolume>("v3");
    CHECK_FALSE(is_out({"v1"}, PodDifference({first.metadata.uid}, {{&third, "a"}})));
    asked.has(of_driver("v3", "v3"));
    CHECK(is_out({"v1"}, PodDifference({first.metadata.uid}, {{&third, "a"}})));
    CHECK_FALSE(is_out({"v1"}, first_gone));
    // Another pod there still uses what the first used.
    asked.bound(mounting("also", {"v1"}).on("a"));
    CHECK(is_out({"v3"}, first_gone));
    CHECK(asked.excluded(mounting("p", {"v3"})) == full);
  }
  SECTION("what is attached and used by no pod counts, too") {
    asked.gone(first);
    CHECK(asked.excluded(mounting("p", {"v3"})).empty());
    k8s::VolumeAttachment left;
    left.metadata.name = "left";
    left.attacher = "d";
    left.node = "a";
    left.volume = "v1";
    asked.has(left);
    CHECK(asked.excluded(mounting("p", {"v3"})) == full);
    left.volume = "v2";  // which a pod uses
    asked.has(left);
    CHECK(asked.excluded(mounting("p", {"v3"})).empty());
    left.volume = "v9";
    asked.has(left);
    CHECK(asked.excluded(mounting("p", {"v3"})).empty());
    asked.has(of_driver("v9", "v9"));
    CHECK(asked.excluded(mounting("p", {"v3"})) == full);
    asked.lacks<k8s::VolumeAttachment>("left");
    CHECK(asked.excluded(mounting("p", {"v3"})).empty());
  }
}

TEST_CASE("NodeVolumeLimits: a driver may keep its pods off nodes without it") {
  Asked asked("NodeVolumeLimits");
  for (const char* name : {"with", "without", "bare"}) asked.on(name);
  const auto node_has = [](const char* name, std::vector<k8s::CsiNode::Driver> drivers) {
    k8s::CsiNode made;
    made.metadata.name = name;
    made.drivers = std::move(drivers);
    return made;
  };
  const auto driver = [](const char* name, bool prevents) {
    k8s::CsiDriver made;
    made.metadata.name = name;
    made.prevents_if_missing = prevents;
    return made;
  };
  asked.has(node_has("with", {{"d", 1}, {"other", {}}}));
  asked.has(node_has("without", {{"other", {}}}));
  asked.has(with(volume("v"), [](auto& it) {
    it.csi_driver = "d";
    it.csi_volume_handle = "h";
  }));
  asked.has(claim("bound", "v"));
  asked.has(storage_class("made", "d"));
  asked.has(wanted("unbound", "made"));
  const Names missing = {"d CSI driver is not installed on the node"};
  using Out = std::map<std::string, Names>;
  const Out both = {{"bare", missing}, {"without", missing}};
  const auto out = [&](const char* name) { return asked.excluded(pod("p").mounts_claim(name)); };
  CHECK(out("bound").empty());
  asked.has(driver("d", false));
  asked.has(driver("other", true));
  CHECK(out("bound").empty());
  asked.has(driver("d", true));
  CHECK(out("bound") == both);
  CHECK(out("unbound") == both);
  CHECK(asked.codes[missing.front()] == Code::kUnschedulable);
  CHECK(asked.excluded(pod("p")).empty());
  // Also of a volume that a pod uses already, and beside the limit.
  asked.bound(pod("there").mounts_claim("bound").on("with"));
  CHECK(out("bound") == both);
  CHECK(out("unbound") == Out{{"bare", missing},
                              {"with", {"node(s) exceed max volume count"}},
                              {"without", missing}});
  // The driver comes, and goes.
  asked.has(node_has("without", {{"d", {}}}));
  CHECK(out("bound") == Out{{"bare", missing}});
  asked.has(node_has("without", {}));
  CHECK(out("bound") == both);
  asked.has(node_has("without", {{"d", {}}}));
  asked.lacks<k8s::CsiNode>("without");
  CHECK(out("bound") == both);
  asked.has(driver("d", false));
  CHECK(out("bound").empty());
  asked.has(driver("d", true));
  asked.lacks<k8s::CsiDriver>("d");
  CHECK(out("bound").empty());
}

TEST_CASE("NodeVolumeLimits: disks count as volumes of the driver that serves them today") {
  Asked asked("NodeVolumeLimits");
  const auto limited = [](const char* name, const char* driver) {
    k8s::CsiNode made;
    made.metadata.name = name;
    made.drivers = {{driver, 1}};
    return made;
  };
  const auto in_line = [](const char* name, const char* source, const char* id) {
    k8s::Volume made{"d", k8s::Volume::Kind::kDisk, "", source};
    made.disk.id = id;
    return pod(name).mounts(made);
  };
  using Out = std::map<std::string, Names>;
  const Out full = {{"a", {"node(s) exceed max volume count"}}};
  struct Kind {
    const char* source;
    const char* plugin;
    const char* driver;
  };
  const std::vector<Kind> kinds = {
      {"awsElasticBlockStore", "kubernetes.io/aws-ebs", "ebs.csi.aws.com"},
      {"azureDisk", "kubernetes.io/azure-disk", "disk.csi.azure.com"},
      {"cinder", "kubernetes.io/cinder", "cinder.csi.openstack.org"},
      {"gcePersistentDisk", "kubernetes.io/gce-pd", "pd.csi.storage.gke.io"},
      {"portworxVolume", "kubernetes.io/portworx-volume", "pxd.portworx.com"},
  };
  for (const Kind& kind : kinds) {
    CAPTURE(kind.source);
    asked.on("a");
    asked.on("b");
    asked.has(limited("a", kind.driver));
    const k8s::Pod first = in_line("first", kind.source, "d1").on("a");
    asked.bound(first);
    CHECK(asked.excluded(in_line("p", kind.source, "d2")) == full);
    CHECK(asked.excluded(in_line("p", kind.source, "d1")).empty());
    // Of a claim, by its volume and by its class.
    asked.has(with(volume("v"), [&](auto& it) { it.in_tree_disk = {kind.source, "d3"}; }));
    asked.has(claim("c", "v"));
    asked.has(storage_class("old", kind.plugin));
    asked.has(wanted("w", "old"));
    CHECK(asked.excluded(pod("p").mounts_claim("c")) == full);
    CHECK(asked.excluded(pod("p").mounts_claim("w")) == full);
    asked.gone(first);
    CHECK(asked.excluded(pod("p").mounts_claim("c")).empty());
    CHECK(asked.excluded(pod("p").mounts_claim("c").mounts_claim("w")) == full);
    asked.bound(pod("third").mounts_claim("w").on("a"));
    CHECK(asked.excluded(in_line("p", kind.source, "d2")) == full);
    asked.gone(pod("third"));
  }
  // What is not counted, and what a driver has no name for.
  for (const char* uncounted : {"kubernetes.io/azure-file", "kubernetes.io/vsphere-volume"}) {
    asked.has(storage_class("files", uncounted));
    asked.has(wanted("f", "files"));
    asked.has(limited("a", uncounted));
    CHECK(asked.excluded(pod("p").mounts_claim("f").mounts_claim("w")).empty());
  }
}

TEST_CASE("NodeVolumeLimits: one disk by two names counts once") {
  struct Case {
    const char* source;
    const char* driver;
    const char* in_line;
    const char* of_volume;
    k8s::StringMap labels;
    bool same;
  };
  const std::vector<Case> cases = {
      {"awsElasticBlockStore", "ebs.csi.aws.com", "vol-1", "aws://us-east-1a/vol-1", {}, true},
      {"awsElasticBlockStore", "ebs.csi.aws.com", "vol-1", "aws://us-east-1a/vol-2", {}, false},
      // No name of a disk: it is not counted.
      {"awsElasticBlockStore", "ebs.csi.aws.com", "vol-1", "aws://us-east-1a/disk-2", {}, true},
      {"gcePersistentDisk", "pd.csi.storage.gke.io", "p", "p", {}, true},
      {"gcePersistentDisk",
       "pd.csi.storage.gke.io",
       "p",
       "p",
       {{"topology.kubernetes.io/zone", "us-central1-a"}},
       false},
  };
  for (const Case& c : cases) {
    CAPTURE(c.in_line, c.of_volume);
    Asked asked("NodeVolumeLimits");
    asked.on("a");
    k8s::CsiNode node;
    node.metadata.name = "a";
    node.drivers = {{c.driver, 1}};
    asked.has(node);
    asked.has(with(volume("v"), [&](auto& it) {
      it.in_tree_disk = {c.source, c.of_volume};
      it.metadata.labels = c.labels;
    }));
    asked.has(claim("c", "v"));
    k8s::Volume disk{"d", k8s::Volume::Kind::kDisk, "", c.source};
    disk.disk.id = c.in_line;
    CHECK(asked.excluded(pod("p").mounts_claim("c").mounts(disk)).empty() == c.same);
  }
}
