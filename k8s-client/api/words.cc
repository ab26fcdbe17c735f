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
  constexpr std::array<std::string_view, 15> kSources = {
      "azureFile", "cephfs",    "configMap", "csi",      "downwardAPI",
      "emptyDir",  "gitRepo",   "glusterfs", "hostPath", "image",
      "nfs",       "projected", "quobyte",   "secret",   "flocker"};
  return std::find(kSources.begin(), kSources.end(), volume_source) != kSources.end();
}

// Those that kube-scheduler 1.36 counts (plugins/nodevolumelimits/utils.go), and what their
// translation makes a CSI volume's handle from (k8s.io/csi-translation-lib/plugins).
std::string_view id_field_of(std::string_view volume_source) {
  if (volume_source == "awsElasticBlockStore") return "volumeID";
  if (volume_source == "azureDisk") return "diskURI";
  if (volume_source == "cinder") return "volumeID";
  if (volume_source == "gcePersistentDisk") return "pdName";
  if (volume_source == "portworxVolume") return "volumeID";
  return {};
}

Volume::Kind volume_kind(std::string_view volume_source) {
  if (volume_source == "ephemeral") return Volume::Kind::kEphemeral;
  if (volume_source == "persistentVolumeClaim") return Volume::Kind::kPersistentVolumeClaim;
  return Volume::Kind::kDisk;
}

}  // namespace k8s
