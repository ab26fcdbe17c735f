// Disks of the kinds that Kubernetes served itself before CSI ("in-tree"), and the CSI drivers that
// serve them today.
//
// A disk of such a kind counts as one of the driver's volumes. If a node's CSINode states that the
// driver has taken over the kind, the node affinity of such a volume uses the driver's own label.
//
// Source: k8s.io/csi-translation-lib v0.36.3; for which kinds are taken over, kube-scheduler,
// plugins/nodevolumelimits/utils.go and plugins/volumebinding/binder.go.
#pragma once

#include "k8s-client/api/pod.h"
#include "k8s-client/api/selector.h"
#include "k8s-client/api/storage.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace plugins {

struct InTreeKind {
  std::string_view source;  // the field of the volume's source
  std::string_view plugin;  // also the provisioner's name in storage classes
  std::string_view driver;
  std::string_view zone_label;  // of nodes, by the driver; empty: it has none
};

inline constexpr std::array<InTreeKind, 5> kInTreeKinds = {{
    {"awsElasticBlockStore", "kubernetes.io/aws-ebs", "ebs.csi.aws.com",
     "topology.ebs.csi.aws.com/zone"},
    {"azureDisk", "kubernetes.io/azure-disk", "disk.csi.azure.com", ""},
    {"cinder", "kubernetes.io/cinder", "cinder.csi.openstack.org",
     "topology.cinder.csi.openstack.org/zone"},
    {"gcePersistentDisk", "kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "topology.gke.io/zone"},
    {"portworxVolume", "kubernetes.io/portworx-volume", "pxd.portworx.com", ""},
}};

// nullptr: not a kind that drivers take over.
[[nodiscard]] const InTreeKind* in_tree_kind(std::string_view source);
[[nodiscard]] const InTreeKind* in_tree_kind_of_provisioner(std::string_view name);
// Whether it is a kind that drivers could take over, and that kube-scheduler never counts.
[[nodiscard]] bool is_uncounted_provisioner(std::string_view name);

// Whether the node's driver has taken over the kind.
[[nodiscard]] bool is_taken_over(const k8s::CsiNode& node, const InTreeKind& kind);

// The driver's name for the disk; nullopt: it has none.
[[nodiscard]] std::optional<std::string> handle_of(const k8s::PersistentVolume& volume);
[[nodiscard]] std::optional<std::string> handle_of(const k8s::Volume& in_line);

// The node affinity of such a volume, by the driver's label: its zones are those of the affinity,
// else those of its labels. nullopt: every node.
[[nodiscard]] std::optional<k8s::NodeSelector> node_affinity_by_driver(
    const k8s::PersistentVolume& volume, const InTreeKind& kind);

}  // namespace plugins
