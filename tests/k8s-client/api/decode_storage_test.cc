// Volumes, claims and the kinds of storage.k8s.io, as the API server sends them.
#include "k8s-client/api/decode.h"
#include "k8s-client/api/encode.h"
#include "tests/support/catch.h"

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace k8s {
namespace {

template <typename T>
T read_as(const std::string& json) {
  const auto object = Decoder().object<T>(json);
  if (!object) FAIL(object.error().message);
  return *object;
}

constexpr std::int64_t kGi = 1 << 30;

TEST_CASE("A claim is read", "[decode]") {
  const auto claim = read_as<PersistentVolumeClaim>(
      R"({"apiVersion":"v1","kind":"PersistentVolumeClaim",
      "metadata":{"name":"c","namespace":"ml","uid":"u","resourceVersion":"7",
        "annotations":{"pv.kubernetes.io/bind-completed":"yes",
          "pv.kubernetes.io/bound-by-controller":"yes",
          "volume.kubernetes.io/selected-node":"n1","example.com/a":"b"}},
      "spec":{"volumeName":"v","storageClassName":"fast","volumeAttributesClassName":"gold",
        "volumeMode":"Block","accessModes":["ReadWriteOnce"],
        "resources":{"requests":{"storage":"10Gi"},"limits":{"storage":"20Gi"}},
        "selector":{"matchLabels":{"tier":"a"},
          "matchExpressions":[{"key":"z","operator":"Exists"}]},
        "dataSource":{"kind":"VolumeSnapshot","name":"s"}},
      "status":{"phase":"Bound","accessModes":["ReadWriteMany"],"capacity":{"storage":"1Gi"}}})");
  PersistentVolumeClaim want;
  want.metadata.name = "c";
  want.metadata.namespace_ = "ml";
  want.metadata.uid = "u";
  want.metadata.resource_version = "7";
  want.metadata.annotations = {{"pv.kubernetes.io/bind-completed", "yes"},
                               {"pv.kubernetes.io/bound-by-controller", "yes"},
                               {"volume.kubernetes.io/selected-node", "n1"},
                               {"example.com/a", "b"}};
  want.volume_name = "v";
  want.storage_class = "fast";
  want.volume_attributes_class = "gold";
  want.volume_mode = "Block";
  want.access_modes = {"ReadWriteOnce"};
  want.requested_bytes = 10 * kGi;
  want.selector = LabelSelector{{{"tier", "a"}}, {{"z", SelectorOperator::kExists, {}}}};
  want.phase = "Bound";
  CHECK(claim == want);
}

TEST_CASE("A volume is read", "[decode]") {
  const auto volume = read_as<PersistentVolume>(
      R"({"metadata":{"name":"v","labels":{"topology.kubernetes.io/zone":"a"},
        "annotations":{"pv.kubernetes.io/bound-by-controller":"yes"}},
      "spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteMany"],
        "claimRef":{"kind":"PersistentVolumeClaim","namespace":"ml","name":"c","uid":"u",
          "apiVersion":"v1","resourceVersion":"5"},
        "storageClassName":"fast","volumeAttributesClassName":"gold","volumeMode":"Block",
        "csi":{"driver":"d","volumeHandle":"h","fsType":"ext4"},
        "nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[
          {"key":"zone","operator":"In","values":["a"]}]}]}}},
      "status":{"phase":"Available"}})");
  PersistentVolume want;
  want.metadata.name = "v";
  want.metadata.labels = {{"topology.kubernetes.io/zone", "a"}};
  want.metadata.annotations = {{"pv.kubernetes.io/bound-by-controller", "yes"}};
  want.capacity_bytes = kGi;
  want.access_modes = {"ReadWriteMany"};
  want.claim_ref = ClaimReference{"ml", "c", "u"};
  want.storage_class = "fast";
  want.volume_attributes_class = "gold";
  want.volume_mode = "Block";
  want.csi_driver = "d";
  want.csi_volume_handle = "h";
  want.node_affinity = NodeSelector{{{{{"zone", SelectorOperator::kIn, {"a"}}}, {}}}};
  want.phase = "Available";
  CHECK(volume == want);
}

TEST_CASE("The disks that CSI drivers have taken over are told by their ids", "[decode]") {
  struct Case {
    std::string source;
    std::optional<InTreeDisk> want;
  };
  const std::vector<Case> cases = {
      {R"("awsElasticBlockStore":{"volumeID":"aws://us-1/vol-1","fsType":"ext4"})",
       {{"awsElasticBlockStore", "aws://us-1/vol-1"}}},
      {R"("azureDisk":{"diskName":"d","diskURI":"/subscriptions/s/d"})",
       {{"azureDisk", "/subscriptions/s/d"}}},
      {R"("cinder":{"volumeID":"v"})", {{"cinder", "v"}}},
      {R"("gcePersistentDisk":{"pdName":"p"})", {{"gcePersistentDisk", "p"}}},
      {R"("portworxVolume":{"volumeID":"v"})", {{"portworxVolume", "v"}}},
      {R"("local":{"path":"/data"})", {}},
      {R"("nfs":{"server":"s","path":"/"})", {}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.source);
    const auto volume =
        read_as<PersistentVolume>(R"({"metadata":{"name":"v"},"spec":{)" + c.source + "}}");
    PersistentVolume want;
    want.metadata.name = "v";
    want.in_tree_disk = c.want;
    CHECK(volume == want);
    CHECK(read_as<PersistentVolume>(encode(volume)) == want);
  }
}

TEST_CASE("The old annotation of a class wins, even an empty one", "[decode]") {
  struct Case {
    std::string annotations;
    std::string spec;
    std::string want;
  };
  const std::string annotation = R"("volume.beta.kubernetes.io/storage-class":)";
  const std::vector<Case> cases = {
      {"{}", "{}", ""},
      {"{}", R"({"storageClassName":"new"})", "new"},
      {"{" + annotation + R"("old"})", R"({"storageClassName":"new"})", "old"},
      {"{" + annotation + R"("old"})", "{}", "old"},
      {"{" + annotation + R"(""})", R"({"storageClassName":"new"})", ""},
  };
  for (const Case& c : cases) {
    CAPTURE(c.annotations, c.spec);
    const std::string metadata = R"("metadata":{"name":"x","annotations":)" + c.annotations + "}";
    const std::string spec = R"("spec":)" + c.spec;
    for (const auto& json :
         {"{" + metadata + "," + spec + "}", "{" + spec + "," + metadata + "}"}) {
      CHECK(read_as<PersistentVolumeClaim>(json).storage_class == c.want);
      CHECK(read_as<PersistentVolume>(json).storage_class == c.want);
    }
  }
}

TEST_CASE("A volume mode is Filesystem unless it says otherwise", "[decode]") {
  for (const auto& [given, want] : {std::pair{"{}", ""},
                                    {R"({"volumeMode":"Filesystem"})", ""},
                                    {R"({"volumeMode":"Block"})", "Block"}}) {
    CAPTURE(given);
    const std::string json = R"({"metadata":{"name":"x"},"spec":)" + std::string(given) + "}";
    CHECK(read_as<PersistentVolumeClaim>(json).volume_mode == want);
    CHECK(read_as<PersistentVolume>(json).volume_mode == want);
  }
}

TEST_CASE("Sizes are bytes, and none is not 0", "[decode]") {
  struct Case {
    std::string given;
    std::optional<std::int64_t> want;
  };
  const std::vector<Case> cases = {
      {"{}", std::nullopt},
      {R"({"storage":null})", std::nullopt},
      {R"({"ephemeral-storage":"1"})", std::nullopt},
      {R"({"storage":"0"})", 0},
      {R"({"storage":1000})", 1000},
      {R"({"storage":"1500m"})", 2},
      {R"({"storage":"8Ei"})", std::numeric_limits<std::int64_t>::max()},
  };
  for (const Case& c : cases) {
    CAPTURE(c.given);
    const auto claim = read_as<PersistentVolumeClaim>(
        R"({"metadata":{"name":"c"},"spec":{"resources":{"requests":)" + c.given + "}}}");
    CHECK(claim.requested_bytes == c.want);
    CHECK(read_as<PersistentVolumeClaim>(encode(claim)) == claim);
    const auto volume = read_as<PersistentVolume>(
        R"({"metadata":{"name":"v"},"spec":{"capacity":)" + c.given + "}}");
    CHECK(volume.capacity_bytes == c.want);
  }
  const auto bad = Decoder().object<PersistentVolumeClaim>(
      R"({"metadata":{"name":"c"},"spec":{"resources":{"requests":{"storage":"much"}}}})");
  REQUIRE_FALSE(bad);
  CHECK_THAT(bad.error().message, Catch::Contains("spec.resources.requests.storage: 'much' is"));
}

TEST_CASE("An empty selector of a claim is one, and matches all", "[decode]") {
  const auto claim =
      read_as<PersistentVolumeClaim>(R"({"metadata":{"name":"c"},"spec":{"selector":{}}})");
  REQUIRE(claim.selector);
  CHECK(*claim.selector == LabelSelector());
  CHECK(read_as<PersistentVolumeClaim>(encode(claim)) == claim);
}

TEST_CASE("A storage class is read", "[decode]") {
  const auto fast = read_as<StorageClass>(
      R"({"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"fast"},
      "provisioner":"csi.example","parameters":{"type":"ssd"},"reclaimPolicy":"Delete",
      "volumeBindingMode":"WaitForFirstConsumer","allowedTopologies":[{"matchLabelExpressions":[
        {"key":"zone","values":["a","b"]},{"key":"rack","values":["1"]}]},{}]})");
  StorageClass want;
  want.metadata.name = "fast";
  want.provisioner = "csi.example";
  want.binding_mode = "WaitForFirstConsumer";
  want.allowed_topologies = NodeSelector{
      {{{{"zone", SelectorOperator::kIn, {"a", "b"}}, {"rack", SelectorOperator::kIn, {"1"}}}, {}},
       {}}};
  CHECK(fast == want);

  StorageClass plain;
  plain.metadata.name = "plain";
  plain.provisioner = "p";
  CHECK(read_as<StorageClass>(
            R"({"metadata":{"name":"plain"},"provisioner":"p","allowedTopologies":[]})") == plain);
}

TEST_CASE("A node's CSI drivers are read", "[decode]") {
  const auto node = read_as<CsiNode>(
      R"({"kind":"CSINode","metadata":{"name":"n1","annotations":
        {"storage.alpha.kubernetes.io/migrated-plugins":"kubernetes.io/gce-pd"}},
      "spec":{"drivers":[{"name":"a","nodeID":"i-1","topologyKeys":["zone"],
        "allocatable":{"count":24}},{"name":"b","nodeID":"i-1","allocatable":{}},
        {"name":"c","nodeID":"i-1","allocatable":{"count":0}}]}})");
  CsiNode want;
  want.metadata.name = "n1";
  want.metadata.annotations = {
      {"storage.alpha.kubernetes.io/migrated-plugins", "kubernetes.io/gce-pd"}};
  want.drivers = {{"a", 24}, {"b", std::nullopt}, {"c", 0}};
  CHECK(node == want);
}

TEST_CASE("A CSI driver is read", "[decode]") {
  CsiDriver want;
  want.metadata.name = "d";
  CHECK(read_as<CsiDriver>(R"({"kind":"CSIDriver","metadata":{"name":"d"},
      "spec":{"attachRequired":true,"storageCapacity":false}})") == want);
  want.storage_capacity = true;
  CHECK(read_as<CsiDriver>(R"({"kind":"CSIDriver","metadata":{"name":"d"},
      "spec":{"attachRequired":true,"storageCapacity":true}})") == want);
  want.prevents_if_missing = true;
  CHECK(read_as<CsiDriver>(R"({"kind":"CSIDriver","metadata":{"name":"d"},
      "spec":{"storageCapacity":true,"preventPodSchedulingIfMissing":true}})") == want);
  CHECK(read_as<CsiDriver>(encode(want)) == want);
}

TEST_CASE("A storage capacity is read", "[decode]") {
  const auto capacity = read_as<CsiStorageCapacity>(
      R"({"kind":"CSIStorageCapacity","metadata":{"name":"x","namespace":"kube-system"},
      "storageClassName":"fast","nodeTopology":{"matchLabels":{"zone":"a"}},
      "capacity":"10Gi","maximumVolumeSize":"1Gi"})");
  CsiStorageCapacity want;
  want.metadata.name = "x";
  want.metadata.namespace_ = "kube-system";
  want.storage_class = "fast";
  want.node_topology = LabelSelector{{{"zone", "a"}}, {}};
  want.capacity_bytes = 10 * kGi;
  want.maximum_volume_bytes = kGi;
  CHECK(capacity == want);

  CsiStorageCapacity unknown;
  unknown.metadata.name = "x";
  unknown.storage_class = "fast";
  CHECK(read_as<CsiStorageCapacity>(R"({"metadata":{"name":"x"},"storageClassName":"fast"})") ==
        unknown);
}

TEST_CASE("A volume attachment is read", "[decode]") {
  const auto attachment = read_as<VolumeAttachment>(
      R"({"kind":"VolumeAttachment","metadata":{"name":"x"},"spec":{"attacher":"d",
      "nodeName":"n1","source":{"persistentVolumeName":"v"}},"status":{"attached":true}})");
  VolumeAttachment want;
  want.metadata.name = "x";
  want.attacher = "d";
  want.node = "n1";
  want.volume = "v";
  CHECK(attachment == want);
  want.volume = "";
  CHECK(read_as<VolumeAttachment>(R"({"metadata":{"name":"x"},"spec":{"attacher":"d",
      "nodeName":"n1","source":{"inlineVolumeSpec":{"accessModes":["ReadWriteOnce"]}}}})") == want);
}

}  // namespace
}  // namespace k8s
