// A pod goes where its bound volumes can be used.
#include "tests/scheduler/engine/quota_cluster.h"

#include <chrono>
#include <string>
#include <utility>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;

namespace {

constexpr const char* kZone = "topology.kubernetes.io/zone";
constexpr const char* kNotItsNode = "node(s) didn't match PersistentVolume's node affinity";
constexpr const char* kNotItsZone = "node(s) had no available volume zone";

k8s::Node in_zone(const char* name, const char* zone, int gpus = 2) {
  return node(name).gpus(gpus).labelled(kZone, zone).labelled("host", name);
}

// Two nodes in each of two zones; a volume of host a2, and one of zone b.
struct Cluster : QuotaCluster {
  Cluster()
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
  Cluster s;
  s.has(our_pod("l").gpus(1).mounts_claim("local"));
  CHECK(s.decide() == Texts{"l → a2"});
  s.has(our_pod("z").gpus(1).mounts_claim("zonal"));
  CHECK(s.decide() == Texts{"z → b1"});
}

TEST_CASE("a pod whose volumes' nodes have no room is told of both, and comes back") {
  Cluster s;
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

TEST_CASE("volumes of different nodes leave none, and a node that moves to the zone is found") {
  Cluster s;
  s.has(our_pod("p").gpus(1).mounts_claim("local").mounts_claim("zonal"));
  const std::string told = "p waits: 0/4 nodes are available: 1 ";
  CHECK(s.decide() == Texts{told + kNotItsZone + ", 3 " + kNotItsNode + "."});
  s.has(in_zone("a2", "b"));
  s.now += 1s;
  CHECK(s.decide() == Texts{"p → a2"});
}

TEST_CASE("a pod under quota is within its guarantee on nodes that its volumes can be used on") {
  Cluster s;
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
