// What a pod's annotations ask of GPUs, besides its resources and node selection.
//
//   gpu-scheduler.io/gpu-type: "H100, A100-80GB"     types in order of preference (type_name.h)
//   gpu-scheduler.io/min-gpu-memory: 40Gi            of the GPU or instance that it gets a piece of
//   gpu-scheduler.io/min-compute-capability: "8.0"
//   gpu-scheduler.io/min-driver-version: "570.86"    of NVIDIA's driver
//   gpu-scheduler.io/min-cuda-version: "12.8"        of the newest CUDA that the driver serves
//   gpu-scheduler.io/sharing: allowed                or required, or never: a piece of a shared GPU
//   gpu-scheduler.io/gpu-memory: 10Gi                what it takes of each GPU or piece
//   gpu-scheduler.io/mig-profile: 1g.10gb            what nvidia.com/gpu is to be (or as a label)
//
// The wishes are part of a pod's shape: plugins read them parsed, once per kind of pod. A value
// that cannot be read is a problem: if the plugin concerned is in use, the pod waits, with a
// message, because to ignore a wish could put the pod onto the wrong GPU. The same holds for every
// other annotation or label with the scheduler's prefix, because a key that nothing reads is most
// likely a mistake.
#pragma once

#include "k8s-client/api/pod.h"
#include "scheduler/gpu/type_name.h"

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sched::gpu {

// The prefix of the scheduler's annotations and labels.
inline constexpr std::string_view kAnnotationPrefix = "gpu-scheduler.io/";

inline constexpr std::string_view kTypeAnnotation = "gpu-scheduler.io/gpu-type";
inline constexpr std::string_view kMinMemoryAnnotation = "gpu-scheduler.io/min-gpu-memory";
inline constexpr std::string_view kMinComputeAnnotation = "gpu-scheduler.io/min-compute-capability";
inline constexpr std::string_view kMinDriverAnnotation = "gpu-scheduler.io/min-driver-version";
inline constexpr std::string_view kMinCudaAnnotation = "gpu-scheduler.io/min-cuda-version";
inline constexpr std::string_view kSharingAnnotation = "gpu-scheduler.io/sharing";
inline constexpr std::string_view kGpuMemoryAnnotation = "gpu-scheduler.io/gpu-memory";
inline constexpr std::string_view kMigProfileAnnotation = "gpu-scheduler.io/mig-profile";

// All annotations that wishes are read from.
inline constexpr std::array kWishAnnotations = {
    kTypeAnnotation,    kMinMemoryAnnotation, kMinComputeAnnotation, kMinDriverAnnotation,
    kMinCudaAnnotation, kSharingAnnotation,   kGpuMemoryAnnotation,  kMigProfileAnnotation};

// The group with which a pod starts (engine/world/pod_group.h). No node reads them.
inline constexpr std::string_view kPodGroupAnnotation = "gpu-scheduler.io/pod-group";
inline constexpr std::string_view kMinCountAnnotation = "gpu-scheduler.io/pod-group-min-count";

// Whether a label or annotation of that key has the scheduler's prefix, or seems meant to have it.
[[nodiscard]] inline bool is_ours(std::string_view key) {
  return key.starts_with(kAnnotationPrefix);
}
// Whether an annotation of that key may be a wish: a known one, or one that is misspelt.
[[nodiscard]] inline bool is_wish(std::string_view key) {
  return is_ours(key) && key != kPodGroupAnnotation && key != kMinCountAnnotation;
}

enum class SharingWish : std::uint8_t { kUnsaid, kAllowed, kRequired, kNever };

// Of a driver, or of CUDA: "570.124.06" is {570, 124, 6}. {0, 0, 0}: not known.
struct Version {
  std::array<std::int32_t, 3> parts{};
  [[nodiscard]] bool is_known() const { return parts[0] > 0; }
  friend auto operator<=>(const Version&, const Version&) = default;
};
// Up to three numbers, the first of them above zero; nullopt for any other text.
[[nodiscard]] std::optional<Version> parse_version(std::string_view text);
[[nodiscard]] std::string to_string(const Version& version);  // "570.124.6", "12.8"

// An annotation that cannot be read.
struct WishProblem {
  std::string_view key;  // the annotation, or the nearest known one, of those above
  std::string text;      // "gpu-scheduler.io/sharing: \"maybe\" is none of …"
  friend bool operator==(const WishProblem&, const WishProblem&) = default;
};

struct Wishes {
  static constexpr std::size_t kMostTypes = 16;
  static constexpr std::size_t kMostTypeBytes = 1'024;  // of the whole list

  std::vector<TypeName> types;  // in order of preference; empty: any
  std::int64_t min_memory = 0;  // bytes
  Capability min_compute;       // {0, 0}: any
  Version min_driver;           // {0, 0, 0}: any
  Version min_cuda;             // the same
  SharingWish sharing = SharingWish::kUnsaid;
  std::int64_t gpu_memory = 0;  // bytes of each GPU or piece that the pod asks for; 0: not stated
  // The MIG profile that nvidia.com/gpu must be, in the spelling of resources; empty: none.
  std::string mig_profile;
  // Profiles that the pod names in its node selection; it may get an instance of one of them.
  std::vector<std::string> known_profiles;  // sorted, each once
  std::vector<WishProblem> problems;

  friend bool operator==(const Wishes&, const Wishes&) = default;
};

[[nodiscard]] Wishes wishes_of(const k8s::Pod& pod);

// Whether both have equal entries under the keys for which `counts` returns true; by default the
// keys with the scheduler's prefix. O(entries).
[[nodiscard]] bool same_of_ours(const k8s::StringMap& a, const k8s::StringMap& b,
                                bool (*counts)(std::string_view key) = is_ours);

// Whether the pod states that it can use MIG instances of `profile` as nvidia.com/gpu.
[[nodiscard]] bool names_profile(const Wishes& wishes, std::string_view profile);

}  // namespace sched::gpu
