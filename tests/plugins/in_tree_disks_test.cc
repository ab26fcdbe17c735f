#include "plugins/support/in_tree_disks.h"

#include "tests/plugins/labels.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <optional>
#include <string>
#include <vector>

using namespace plugins;
using tests::kZone;
using tests::label;
using tests::term;

namespace {

constexpr const char* kRegionLabel = "topology.kubernetes.io/region";
constexpr const char* kBetaZone = "failure-domain.beta.kubernetes.io/zone";
constexpr const char* kBetaRegion = "failure-domain.beta.kubernetes.io/region";
constexpr const char* kGkeZone = "topology.gke.io/zone";

using DiskHandle = std::optional<std::string>;

k8s::PersistentVolume with_disk(const char* source, const char* id,
                                const k8s::StringMap& labels = {}) {
  k8s::PersistentVolume made = tests::volume("v");
  made.in_tree_disk = {source, id};
  made.metadata.labels = labels;
  return made;
}

DiskHandle in_line_handle(const char* source, const char* id) {
  k8s::Volume made{"d", k8s::Volume::Kind::kDisk, "", source};
  made.disk.id = id;
  return handle_of(made);
}

}  // namespace

TEST_CASE("by which name a driver knows the disk of a volume") {
  struct Case {
    const char* source;
    const char* id;
    k8s::StringMap labels;
    DiskHandle want;
  };
  const std::string gce = "projects/UNSPECIFIED/";
  const std::vector<Case> cases = {
      {"awsElasticBlockStore", "vol-1", {}, "vol-1"},
      {"awsElasticBlockStore", "aws://us-east-1a/vol-1", {}, "vol-1"},
      {"awsElasticBlockStore", "aws:///vol-1", {}, "vol-1"},
      {"awsElasticBlockStore", "aws://us-east-1a//vol-1//", {}, "vol-1"},
      {"awsElasticBlockStore", "aws://us-east-1a", {}, std::nullopt},
      {"awsElasticBlockStore", "aws://us-east-1a/disk-1", {}, std::nullopt},
      {"awsElasticBlockStore", "aws://us-east-1a/vol-1/b", {}, std::nullopt},
      {"gcePersistentDisk", "d", {}, gce + "zones/UNSPECIFIED/disks/d"},
      {"gcePersistentDisk", "d", {{kZone, ""}}, gce + "zones/UNSPECIFIED/disks/d"},
      {"gcePersistentDisk", "d", {{kZone, "us-east1-a"}}, gce + "zones/us-east1-a/disks/d"},
      {"gcePersistentDisk",
       "d",
       {{kBetaZone, "us-east1-b"}, {kZone, "us-east1-a"}},
       gce + "zones/us-east1-b/disks/d"},
      {"gcePersistentDisk",
       "d",
       {{kBetaZone, ""}, {kZone, "us-east1-a"}},
       gce + "zones/us-east1-a/disks/d"},
      {"gcePersistentDisk",
       "d",
       {{kZone, "us-east1-a__us-east1-b"}},
       gce + "regions/us-east1/disks/d"},
      {"gcePersistentDisk", "d", {{kZone, "us-east1-a__us-west1-b"}}, std::nullopt},
      {"gcePersistentDisk", "d", {{kZone, "east-a__east-b"}}, std::nullopt},
      {"azureDisk", "aws://x/y", {{kZone, "a"}}, "aws://x/y"},
  };
  for (const Case& each : cases) {
    CAPTURE(each.source, each.id);
    CHECK(handle_of(with_disk(each.source, each.id, each.labels)) == each.want);
  }
  CHECK(handle_of(tests::volume("v")) == std::nullopt);
  CHECK(in_line_handle("awsElasticBlockStore", "aws://us-east-1a/vol-1") == "vol-1");
  CHECK(in_line_handle("gcePersistentDisk", "d") == gce + "zones/UNSPECIFIED/disks/d");
  CHECK(in_line_handle("cinder", "d") == "d");
}

TEST_CASE("which kinds of disks drivers take over, and on which nodes they have") {
  REQUIRE(in_tree_kind("cinder"));
  CHECK(in_tree_kind("cinder")->driver == "cinder.csi.openstack.org");
  CHECK(in_tree_kind("iscsi") == nullptr);
  REQUIRE(in_tree_kind_of_provisioner("kubernetes.io/aws-ebs"));
  CHECK(in_tree_kind_of_provisioner("kubernetes.io/aws-ebs")->driver == "ebs.csi.aws.com");
  CHECK(in_tree_kind_of_provisioner("kubernetes.io/azure-file") == nullptr);
  CHECK(is_uncounted_provisioner("kubernetes.io/azure-file"));
  CHECK(is_uncounted_provisioner("kubernetes.io/vsphere-volume"));
  CHECK_FALSE(is_uncounted_provisioner("kubernetes.io/aws-ebs"));

  k8s::CsiNode node;
  CHECK_FALSE(is_taken_over(node, *in_tree_kind("azureDisk")));
  node.metadata.annotations.set("storage.alpha.kubernetes.io/migrated-plugins",
                                "kubernetes.io/aws-ebs,kubernetes.io/azure-disk");
  CHECK(is_taken_over(node, *in_tree_kind("awsElasticBlockStore")));
  CHECK(is_taken_over(node, *in_tree_kind("azureDisk")));
  CHECK_FALSE(is_taken_over(node, *in_tree_kind("cinder")));
}

TEST_CASE("where a driver looks for a volume that it has taken over") {
  struct Case {
    const char* name;
    std::vector<k8s::NodeSelectorTerm> by;  // the volume's own affinity; empty: none
    k8s::StringMap labels;
    std::vector<k8s::NodeSelectorTerm> want;  // empty: everywhere
  };
  const auto in = [](const char* key, std::vector<std::string> values) {
    return label(key).in(std::move(values));
  };
  const std::vector<Case> cases = {
      {"anywhere", {}, {}, {}},
      {"in a zone", {term({in(kZone, {"a"})})}, {}, {term({in(kGkeZone, {"a"})})}},
      {"the zone of the affinity counts, not that of a label",
       {term({in(kZone, {"a"})})},
       {{kZone, "b"}, {kBetaZone, "c"}},
       {term({in(kGkeZone, {"a"})})}},
      {"in a zone of each term",
       {term({in(kZone, {"a"})}), term({in("host", {"n"})})},
       {},
       {term({in(kGkeZone, {"a"})}), term({in("host", {"n"})})}},
      {"by the old labels",
       {term({in(kBetaZone, {"a"}), in(kBetaRegion, {"r"})})},
       {},
       {term({in(kGkeZone, {"a"}), in(kRegionLabel, {"r"})})}},
      {"by the old label of a zone alone",
       {term({in(kBetaZone, {"a"}), label(kBetaRegion).exists()})},
       {},
       {term({in(kGkeZone, {"a"}), label(kBetaRegion).exists()})}},
      {"an old region beside a zone stays",
       {term({in(kZone, {"a"}), in(kBetaRegion, {"r"})})},
       {},
       {term({in(kGkeZone, {"a"}), in(kBetaRegion, {"r"})})}},
      {"some zone, and a label says which",
       {term({label(kZone).exists()})},
       {{kZone, "a"}},
       {term({label(kZone).exists(), in(kGkeZone, {"a"})})}},
      {"zones of a label, in each term",
       {term({in("host", {"n"})}), term({in("host", {"m"})})},
       {{kZone, "b__ a "}},
       {term({in("host", {"n"}), in(kGkeZone, {"a", "b"})}),
        term({in("host", {"m"}), in(kGkeZone, {"a", "b"})})}},
      {"a label alone", {}, {{kZone, "a"}}, {term({in(kGkeZone, {"a"})})}},
      {"an old label alone", {}, {{kBetaZone, "a"}}, {term({in(kGkeZone, {"a"})})}},
      {"the new label before the old one",
       {},
       {{kZone, "a"}, {kBetaZone, "b"}},
       {term({in(kGkeZone, {"a"})})}},
      {"an old label, and a region",
       {term({in(kBetaRegion, {"r"})})},
       {{kBetaZone, "a"}},
       {term({in(kRegionLabel, {"r"}), in(kGkeZone, {"a"})})}},
      {"a label without a zone", {}, {{kZone, " __ "}}, {}},
  };
  const InTreeKind& gce = *in_tree_kind("gcePersistentDisk");
  const auto selector = [](const std::vector<k8s::NodeSelectorTerm>& terms) {
    return terms.empty() ? std::optional<k8s::NodeSelector>() : k8s::NodeSelector{terms};
  };
  for (const Case& each : cases) {
    CAPTURE(each.name);
    k8s::PersistentVolume volume = with_disk("gcePersistentDisk", "d", each.labels);
    volume.node_affinity = selector(each.by);
    CHECK((node_affinity_by_driver(volume, gce) == selector(each.want)));
  }
  // A driver without a label of its own.
  k8s::PersistentVolume azure = with_disk("azureDisk", "d", {{kZone, "b"}});
  azure.node_affinity = selector({term({in(kZone, {"a"})})});
  CHECK((node_affinity_by_driver(azure, *in_tree_kind("azureDisk")) == azure.node_affinity));
}
