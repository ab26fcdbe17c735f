// A pod goes where its bound volumes can be used.
#include "scheduler/engine/world/message_budget.h"
#include "tests/scheduler/engine/quota_cluster.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;

namespace {

constexpr const char* kZone = "topology.kubernetes.io/zone";
constexpr const char* kNotItsNode = "node(s) didn't match PersistentVolume's node affinity";
constexpr const char* kVolumeMissing =
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";
constexpr const char* kNotItsZone = "node(s) had no available volume zone";

k8s::Node in_zone(const char* name, const char* zone, int gpus = 2) {
  return node(name).gpus(gpus).labelled(kZone, zone).labelled("host", name);
}

// Two nodes in each of two zones; a volume of host a2, and one of zone b.
struct VolumesCluster : QuotaCluster {
  VolumesCluster()
      : QuotaCluster({"VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone"}) {
    for (const char* name : {"a1", "a2"}) has(in_zone(name, "a"));
    for (const char* name : {"b1", "b2"}) has(in_zone(name, "b"));
    k8s::PersistentVolume local = volume("local");
    local.node_affinity = k8s::NodeSelector{{term({label("host").in({"a2"})})}};
    k8s::PersistentVolume zonal = volume("zonal");
    zonal.metadata.labels.set(kZone, "b");
    for (const k8s::PersistentVolume& made : {local, zonal}) {
      has(made);
      has(claim(made.metadata.name, made.metadata.name));
    }
  }
};

}  // namespace

TEST_CASE("a pod goes to a node that its volumes can be used on") {
  VolumesCluster s;
  s.has(our_pod("l").gpus(1).mounts_claim("local"));
  CHECK(s.decide() == Texts{"l → a2"});
  s.has(our_pod("z").gpus(1).mounts_claim("zonal"));
  CHECK(s.decide() == Texts{"z → b1"});
}

TEST_CASE("a volume's nodes can be those that have a label, whatever its value") {
  VolumesCluster s;
  s.has(in_zone("a0", "a"));
  s.has(node("c1").gpus(2).labelled("rack", "7"));
  k8s::PersistentVolume of_racks = volume("of-racks");
  of_racks.node_affinity = k8s::NodeSelector{{term({label("rack").exists()})}};
  s.has(of_racks);
  s.has(claim("of-racks", "of-racks"));
  s.has(our_pod("r").gpus(1).mounts_claim("of-racks"));
  CHECK(s.decide() == Texts{"r → c1"});
}

TEST_CASE("a pod whose volumes' nodes have no room is told of both, and comes back") {
  VolumesCluster s;
  s.has(their_pod("full-1").gpus(2).on("b1"));
  s.has(their_pod("full-2").gpus(2).on("b2"));
  const k8s::Pod pod = our_pod("z").gpus(2).mounts_claim("zonal");
  s.has(pod);
  const std::string told = "z waits: 0/4 nodes are available: 2 Insufficient nvidia.com/gpu, 2 ";
  CHECK(s.decide() == Texts{told + kNotItsZone + "."});
  const Explanation explained = s.engine.explain(pod);
  REQUIRE(explained.nodes.size() == 4);
  CHECK(explained.nodes[0].code == Code::kUnresolvable);
  CHECK(explained.nodes[0].plugin == "VolumeZone");
  CHECK(explained.nodes[0].reasons == Texts{kNotItsZone});
  CHECK(explained.nodes[2].plugin == "NodeResourcesFit");
  CHECK(s.engine.candidates(pod, 9).empty());

  s.pod_gone(their_pod("full-2"));
  s.now += 1s;
  CHECK(s.decide() == Texts{"z → b2"});
}

TEST_CASE("of pods with the same volumes as many come back as there is room for, and others, too") {
  VolumesCluster s;
  for (const char* name : {"a1", "a2", "b1", "b2"}) {
    s.has(their_pod(std::string("full-") + name).gpus(2).on(name));
  }
  for (int i = 0; i < 4; ++i) {
    s.has(our_pod("z" + std::to_string(i)).gpus(1).mounts_claim("zonal").created_at(kStart));
  }
  s.has(our_pod("l").gpus(1).mounts_claim("local").created_at(kStart + 1s));
  s.has(our_pod("any").gpus(1).created_at(kStart + 2s));
  REQUIRE(s.decide().size() == 6);
  const auto placed = [&s] {
    s.now += 1s;
    Texts all = s.decide();
    std::erase_if(all, [](const std::string& text) { return text.find("→") == text.npos; });
    return all;
  };
  s.pod_gone(their_pod("full-b2"));
  CHECK(placed() == Texts{"z0 → b2", "z1 → b2"});
  s.pod_gone(their_pod("full-a2"));
  CHECK(placed() == Texts{"l → a2", "any → a2"});
  s.pod_gone(our_pod("z0"));
  CHECK(placed() == Texts{"z2 → b2"});
  CHECK(s.engine.pending() == PendingPods{.unschedulable = 1});
}

TEST_CASE("of a volume that is gone, and one of other nodes, the first claim's is told") {
  QuotaCluster s({"VolumeBinding"});
  for (const char* name : {"a1", "a2"}) s.has(in_zone(name, "a"));
  k8s::PersistentVolume local = volume("local");
  local.node_affinity = k8s::NodeSelector{{term({label("host").in({"a2"})})}};
  s.has(local);
  for (const char* name : {"local", "lost"}) s.has(claim(name, name));
  const auto reasons = [&s](const char* first, const char* second) {
    const Explanation explained =
        s.engine.explain(our_pod("p").gpus(1).mounts_claim(first).mounts_claim(second));
    std::vector<Texts> all;
    for (const auto& node : explained.nodes) all.push_back(node.reasons);
    return all;
  };
  CHECK(reasons("local", "lost") == std::vector<Texts>{{kNotItsNode}, {kVolumeMissing}});
  CHECK(reasons("lost", "local") == std::vector<Texts>{{kVolumeMissing}, {kVolumeMissing}});
}

TEST_CASE("volumes of different nodes leave none, and a node that moves to the zone is found") {
  VolumesCluster s;
  s.has(our_pod("p").gpus(1).mounts_claim("local").mounts_claim("zonal"));
  const std::string told = "p waits: 0/4 nodes are available: 1 ";
  CHECK(s.decide() == Texts{told + kNotItsZone + ", 3 " + kNotItsNode + "."});
  s.has(in_zone("a2", "b"));
  s.now += 1s;
  CHECK(s.decide() == Texts{"p → a2"});
}

TEST_CASE("a pod under quota is within its guarantee on nodes that its volumes can be used on") {
  VolumesCluster s;
  s.has(gpu_quota("q").of("team").line("*", 4));
  s.has(name_space("team"));
  k8s::PersistentVolumeClaim theirs = claim("zonal", "zonal");
  theirs.metadata.namespace_ = "team";
  s.has(theirs);
  for (const char* name : {"p", "q", "r"}) s.has(in("team", name, 2).mounts_claim("zonal"));
  const Texts told = s.decide();
  REQUIRE(told.size() == 3);
  CHECK(told[0] == "p → b1");
  CHECK(told[1] == "q → b2");
  CHECK(told[2].starts_with("r waits: "));
}

namespace {

constexpr const char* kFull = "node(s) exceed max volume count";

// Volumes of a driver, each with a claim of its name.
struct Attaching : VolumesCluster {
  Attaching() {
    for (const char* name : {"v1", "v2", "v3", "v4", "v5", "v6"}) {
      k8s::PersistentVolume made = volume(name);
      made.csi_driver = "d";
      made.csi_volume_handle = name;
      has(made);
      has(claim(name, name));
    }
  }
  void attaches(const char* node, std::int32_t most) {
    k8s::CsiNode made;
    made.metadata.name = node;
    made.drivers = {{"d", most}};
    apply(sched::event::Upserted<k8s::CsiNode>{made});
  }
  // By asking every node anew.
  Texts could_go(const k8s::Pod& pod) {
    Texts nodes;
    for (const Candidate& each : engine.candidates(pod, 9)) nodes.push_back(each.node);
    std::sort(nodes.begin(), nodes.end());
    return nodes;
  }
};

}  // namespace

TEST_CASE("a node takes as many volumes as its driver attaches there") {
  Attaching s;
  for (const char* name : {"a1", "a2", "b1", "b2"}) s.attaches(name, 1);
  for (const char* name : {"1", "2", "3", "4"}) {
    s.has(our_pod(name).mounts_claim(std::string("v") + name));
  }
  CHECK(s.decide() == Texts{"1 → a1", "2 → a2", "3 → b1", "4 → b2"});
  const k8s::Pod fifth = our_pod("5").mounts_claim("v5");
  s.has(fifth);
  CHECK(s.decide() == Texts{std::string("5 waits: 0/4 nodes are available: 4 ") + kFull + "."});
  CHECK(s.could_go(fifth).empty());

  SECTION("more are attached there") {
    s.attaches("b1", 2);
    s.now += 1s;
    CHECK(s.decide() == Texts{"5 → b1"});
  }
  SECTION("a pod goes with its volume") {
    s.pod_gone(our_pod("2"));
    s.now += 1s;
    CHECK(s.decide() == Texts{"5 → a2"});
  }
  SECTION("a pod that shares a volume goes where it is") {
    const k8s::Pod sharing = our_pod("s").mounts_claim("v3");
    CHECK(s.could_go(sharing) == Texts{"b1"});
    s.has(sharing);
    CHECK(s.decide() == Texts{"s → b1"});
    // The last user of the volume counts, not the first.
    s.pod_gone(our_pod("3"));
    s.now += 1s;
    CHECK(s.decide().empty());
    s.pod_gone(our_pod("s"));
    s.now += 1s;
    CHECK(s.decide() == Texts{"5 → b1"});
  }
  SECTION("fewer are attached, and pods stay") {
    s.attaches("a1", 0);
    s.pod_gone(our_pod("1"));
    s.now += 1s;
    CHECK(s.decide().empty());
    s.apply(sched::event::Deleted<k8s::CsiNode>{.name = "a1", .namespace_ = {}});
    s.now += 1s;
    CHECK(s.decide() == Texts{"5 → a1"});
  }
  SECTION("a volume that is attached by itself") {
    k8s::VolumeAttachment left;
    left.metadata.name = "left";
    left.attacher = "d";
    left.node = "b2";
    left.volume = "v6";
    s.apply(sched::event::Upserted<k8s::VolumeAttachment>{left});
    s.pod_gone(our_pod("4"));
    s.now += 1s;
    CHECK(s.decide().empty());
    s.apply(sched::event::Deleted<k8s::VolumeAttachment>{.name = "left", .namespace_ = {}});
    s.now += 1s;
    CHECK(s.decide() == Texts{"5 → b2"});
  }
}

TEST_CASE("a pod waits for a node with its driver, where the driver asks for that") {
  Attaching s;
  k8s::CsiDriver driver;
  driver.metadata.name = "d";
  driver.prevents_if_missing = true;
  s.apply(sched::event::Upserted<k8s::CsiDriver>{driver});
  s.has(our_pod("p").mounts_claim("v1"));
  s.has(our_pod("other").mounts_claim("local"));
  CHECK(s.decide() == Texts{"p waits: 0/4 nodes are available: 4 d CSI driver is not installed on "
                            "the node.",
                            "other → a2"});
  s.attaches("b1", 1);
  s.now += 1s;
  CHECK(s.decide() == Texts{"p → b1"});
}

TEST_CASE("of a node that is full and in another zone it is told that it is full") {
  Attaching s;
  k8s::PersistentVolume far = volume("v2");
  far.csi_driver = "d";
  far.csi_volume_handle = "v2";
  far.node_affinity = k8s::NodeSelector{{term({label("host").in({"b1"})})}};
  s.has(far);
  s.attaches("a1", 1);
  s.has(their_pod("there").on("a1").mounts_claim("v1"));
  s.has(their_pod("takes").gpus(2).on("b1"));
  s.has(our_pod("p").gpus(1).mounts_claim("v2"));
  CHECK(s.decide() == Texts{std::string("p waits: 0/4 nodes are available: 1 Insufficient "
                                        "nvidia.com/gpu, 1 ") +
                            kFull + ", 2 " + kNotItsNode + "."});
}

namespace {

// One node; a claim c whose volume is made where its first pod goes.
struct ProvisioningCluster : QuotaCluster {
  ProvisioningCluster() : QuotaCluster({"VolumeBinding"}) {
    has(node("a").gpus(2));
    k8s::StorageClass made;
    made.metadata.name = "made";
    made.provisioner = "p";
    made.binding_mode = "WaitForFirstConsumer";
    apply(event::Upserted<k8s::StorageClass>{made});
    its_claim.metadata.uid = "uid of c";
    its_claim.metadata.resource_version = "1";
    its_claim.storage_class = "made";
    has(its_claim);
  }
  // The claim changes, and this is its selected node; empty: none.
  void claim_notes(const std::string& node_name) {
    its_claim.metadata.resource_version += "0";
    its_claim.metadata.annotations = {};
    if (!node_name.empty()) {
      its_claim.metadata.annotations.set("volume.kubernetes.io/selected-node", node_name);
    }
    has(its_claim);
  }
  k8s::PersistentVolumeClaim its_claim = claim("c", "");
};

}  // namespace

TEST_CASE("a pod is bound when the volume of its claim is shown, though the claim was before") {
  ProvisioningCluster s;
  k8s::PersistentVolumeClaim& its_claim = s.its_claim;
  s.has(our_pod("p").gpus(1).mounts_claim("c"));
  CHECK(s.decide() == Texts{"p prepares for a"});
  s.prepared(1);
  CHECK(s.decide().empty());
  its_claim.metadata.resource_version = "2";
  its_claim.metadata.annotations.set("pv.kubernetes.io/bind-completed", "yes");
  its_claim.volume_name = "v";
  its_claim.phase = "Bound";
  s.has(its_claim);
  CHECK(s.decide().empty());
  k8s::PersistentVolume shown = volume("v");
  shown.claim_ref = {"default", "c", ""};
  s.has(shown);
  CHECK(s.decide() == Texts{"p → a"});
}

TEST_CASE("a pod that counts on the write of another does not wait for it when that pod is gone") {
  ProvisioningCluster s;
  s.has(our_pod("p").gpus(1).mounts_claim("c"));
  s.has(our_pod("q").gpus(1).mounts_claim("c"));
  REQUIRE(s.decide() == Texts{"p prepares for a", "q prepares for a"});
  s.prepared(2);  // it has nothing to write itself
  CHECK(s.decide().empty());
  s.pod_gone(our_pod("p"));
  CHECK(s.decide() == Texts{"q not to a: provisioning failed for PVC \"c\""});
  s.prepared(1, "the API server did not answer");
  s.now += 1s;
  CHECK(s.decide() == Texts{"q prepares for a"});
}

TEST_CASE("a node for which a volume cannot be made is left out, and the pod gets another one") {
  ProvisioningCluster s;
  s.has(node("b").gpus(2));
  const std::string why = "provisioning failed for PVC \"c\"";
  s.has(our_pod("p").gpus(1).mounts_claim("c"));
  for (const std::uint64_t plan : {1U, 2U}) {
    REQUIRE(s.decide() == Texts{"p prepares for a"});
    s.prepared(plan);
    s.claim_notes("");
    REQUIRE(s.decide() == Texts{"p not to a: " + why});
    s.now += 10s;
  }
  CHECK(s.decide() == Texts{"p prepares for b"});
  s.prepared(3);
  s.node_gone("b");
  REQUIRE(s.decide() == Texts{"p not to b: the node is gone"});
  s.now += 10s;
  const Texts told = s.decide();
  REQUIRE(told.size() == 1);
  CHECK(told[0].starts_with("p waits: 0/1 nodes are available: 1 node(s) were left out after"));
  s.now += 1min;
  CHECK(s.decide() == Texts{"p prepares for a"});
}

TEST_CASE("a node is not left out because another client has selected one for the claim") {
  ProvisioningCluster s;
  s.has(node("b").gpus(2));
  s.has(our_pod("p").gpus(1).mounts_claim("c"));
  for (const std::uint64_t plan : {1U, 2U}) {
    REQUIRE(s.decide() == Texts{"p prepares for a"});
    s.prepared(plan);
    s.claim_notes("b");
    REQUIRE(s.decide() == Texts{"p not to a: provisioning failed for PVC \"c\""});
    s.claim_notes("");
    s.now += 10s;
  }
  CHECK(s.decide() == Texts{"p prepares for a"});
}

TEST_CASE("of a claim that comes and goes again and again a pod is told seldom, and in the end") {
  VolumesCluster s;
  s.has(our_pod("p").gpus(1).mounts_claim("c"));
  CHECK(decisions_while_claim_flips(s, "c") == MessageBudget::kAtOnce);
  // The last message was that the claim has no volume.
  REQUIRE(s.engine.next_wakeup() == kStart + MessageBudget::kEach);
  s.now = kStart + MessageBudget::kEach;
  CHECK(s.decide() ==
        Texts{"p waits: 0/4 nodes are available: persistentvolumeclaim \"c\" not found."});
  s.has(claim("c", "local"));
  CHECK(s.decide() == Texts{"p → a2"});
}
