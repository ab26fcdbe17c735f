#include "k8s-client/api/words.h"

#include <algorithm>

namespace k8s {
namespace {

template <typename Enum>
struct Meaning {
  std::string_view text;
  Enum value;
};

// The words of an enumeration. A value's first word is written; the last value is that of every
// other text.
template <typename Enum>
constexpr std::array<Meaning<Enum>, 0> kWords = {};

template <>
constexpr std::array<Meaning<SelectorOperator>, 7> kWords<SelectorOperator> = {
    {{"In", SelectorOperator::kIn},
     {"NotIn", SelectorOperator::kNotIn},
     {"Exists", SelectorOperator::kExists},
     {"DoesNotExist", SelectorOperator::kDoesNotExist},
     {"Gt", SelectorOperator::kGt},
     {"Lt", SelectorOperator::kLt},
     {"Unknown", SelectorOperator::kUnknown}}};

template <>
constexpr std::array<Meaning<TolerationOperator>, 6> kWords<TolerationOperator> = {
    {{"Equal", TolerationOperator::kEqual},
     {"", TolerationOperator::kEqual},
     {"Exists", TolerationOperator::kExists},
     {"Lt", TolerationOperator::kLt},
     {"Gt", TolerationOperator::kGt},
     {"Unknown", TolerationOperator::kUnknown}}};

template <>
constexpr std::array<Meaning<TaintEffect>, 4> kWords<TaintEffect> = {
    {{"NoSchedule", TaintEffect::kNoSchedule},
     {"PreferNoSchedule", TaintEffect::kPreferNoSchedule},
     {"NoExecute", TaintEffect::kNoExecute},
     {"Unknown", TaintEffect::kUnknown}}};

template <>
constexpr std::array<Meaning<PodPhase>, 6> kWords<PodPhase> = {{{"Pending", PodPhase::kPending},
                                                                {"", PodPhase::kPending},
                                                                {"Running", PodPhase::kRunning},
                                                                {"Succeeded", PodPhase::kSucceeded},
                                                                {"Failed", PodPhase::kFailed},
                                                                {"Unknown", PodPhase::kUnknown}}};

template <>
constexpr std::array<Meaning<GpuQuota::Order>, 3> kWords<GpuQuota::Order> = {
    {{"BestEffort", GpuQuota::Order::kBestEffort},
     {"Strict", GpuQuota::Order::kStrict},
     {"Unknown", GpuQuota::Order::kUnknown}}};

template <>
constexpr std::array<Meaning<GpuQuota::WhenDeleted>, 2> kWords<GpuQuota::WhenDeleted> = {
    {{"Open", GpuQuota::WhenDeleted::kOpen}, {"Close", GpuQuota::WhenDeleted::kClose}}};

}  // namespace

template <typename Enum>
Enum from_word(std::string_view text) {
  for (const Meaning<Enum>& word : kWords<Enum>) {
    if (word.text == text) return word.value;
  }
  return kWords<Enum>.back().value;
}

template <typename Enum>
std::string_view word_of(Enum value) {
  for (const Meaning<Enum>& word : kWords<Enum>) {
    if (word.value == value) return word.text;
  }
  return kWords<Enum>.back().text;
}

#define K8S_WORDS(Enum)                            \
  template Enum from_word<Enum>(std::string_view); \
  template std::string_view word_of<Enum>(Enum)
K8S_WORDS(SelectorOperator);
K8S_WORDS(TolerationOperator);
K8S_WORDS(TaintEffect);
K8S_WORDS(PodPhase);
K8S_WORDS(GpuQuota::Order);
K8S_WORDS(GpuQuota::WhenDeleted);
#undef K8S_WORDS

bool mounts_anywhere(std::string_view volume_source) {
  constexpr std::array<std::string_view, 21> kSources = {
      "azureFile",    "cephfs",   "configMap",  "csi",     "downwardAPI",
      "emptyDir",     "fc",       "flexVolume", "flocker", "gitRepo",
      "glusterfs",    "hostPath", "image",      "nfs",     "photonPersistentDisk",
      "projected",    "quobyte",  "scaleIO",    "secret",  "storageos",
      "vsphereVolume"};
  return std::find(kSources.begin(), kSources.end(), volume_source) != kSources.end();
}

const DiskSource* disk_source(std::string_view volume_source) {
  const auto* const found =
      std::find_if(kDiskSources.begin(), kDiskSources.end(),
                   [&](const DiskSource& each) { return each.name == volume_source; });
  return found == kDiskSources.end() ? nullptr : found;
}

Volume::Kind volume_kind(std::string_view volume_source) {
  if (volume_source == "ephemeral") return Volume::Kind::kEphemeral;
  if (volume_source == "persistentVolumeClaim") return Volume::Kind::kPersistentVolumeClaim;
  return disk_source(volume_source) != nullptr ? Volume::Kind::kDisk : Volume::Kind::kUnknown;
}

}  // namespace k8s
