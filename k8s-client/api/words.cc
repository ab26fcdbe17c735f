#include "k8s-client/api/words.h"

#include <algorithm>
#include <array>

namespace k8s {

SelectorOperator selector_operator(std::string_view word) {
  if (word == "In") return SelectorOperator::kIn;
  if (word == "NotIn") return SelectorOperator::kNotIn;
  if (word == "Exists") return SelectorOperator::kExists;
  if (word == "DoesNotExist") return SelectorOperator::kDoesNotExist;
  if (word == "Gt") return SelectorOperator::kGt;
  if (word == "Lt") return SelectorOperator::kLt;
  return SelectorOperator::kUnknown;
}

TolerationOperator toleration_operator(std::string_view word) {
  if (word.empty() || word == "Equal") return TolerationOperator::kEqual;
  if (word == "Exists") return TolerationOperator::kExists;
  if (word == "Lt") return TolerationOperator::kLt;
  if (word == "Gt") return TolerationOperator::kGt;
  return TolerationOperator::kUnknown;
}

TaintEffect taint_effect(std::string_view word) {
  if (word == "NoSchedule") return TaintEffect::kNoSchedule;
  if (word == "PreferNoSchedule") return TaintEffect::kPreferNoSchedule;
  if (word == "NoExecute") return TaintEffect::kNoExecute;
  return TaintEffect::kUnknown;
}

PodPhase pod_phase(std::string_view word) {
  if (word.empty() || word == "Pending") return PodPhase::kPending;
  if (word == "Running") return PodPhase::kRunning;
  if (word == "Succeeded") return PodPhase::kSucceeded;
  if (word == "Failed") return PodPhase::kFailed;
  return PodPhase::kUnknown;
}

bool mounts_anywhere(std::string_view volume_source) {
  constexpr std::array<std::string_view, 21> kSources = {
      "azureFile",    "cephfs",   "configMap",  "csi",     "downwardAPI",
      "emptyDir",     "fc",       "flexVolume", "flocker", "gitRepo",
      "glusterfs",    "hostPath", "image",      "nfs",     "photonPersistentDisk",
      "projected",    "quobyte",  "scaleIO",    "secret",  "storageos",
      "vsphereVolume"};
  return std::find(kSources.begin(), kSources.end(), volume_source) != kSources.end();
}

// kube-scheduler 1.36 compares the disks of GCE, EBS, iSCSI and RBD (plugins/volumerestrictions)
// and counts those with a driver (plugins/nodevolumelimits/utils.go). csi-translation-lib makes a
// volume handle from these fields (k8s.io/csi-translation-lib/plugins).
const DiskSource* disk_source(std::string_view volume_source) {
  static constexpr std::array<DiskSource, 7> kSources = {{
      {"awsElasticBlockStore", "volumeID", 1, 4, true},
      {"azureDisk", "diskURI", 2, 5, true},
      {"cinder", "volumeID", 1, 3, true},
      {"gcePersistentDisk", "pdName", 1, 4, true},
      {"iscsi", "iqn", 2, 6, false},
      {"portworxVolume", "volumeID", 1, 3, true},
      {"rbd", "image", 2, 8, false},
  }};
  const auto* const found =
      std::find_if(kSources.begin(), kSources.end(),
                   [&](const DiskSource& each) { return each.name == volume_source; });
  return found == kSources.end() ? nullptr : found;
}

Volume::Kind volume_kind(std::string_view volume_source) {
  if (volume_source == "ephemeral") return Volume::Kind::kEphemeral;
  if (volume_source == "persistentVolumeClaim") return Volume::Kind::kPersistentVolumeClaim;
  return disk_source(volume_source) != nullptr ? Volume::Kind::kDisk : Volume::Kind::kUnknown;
}

}  // namespace k8s
