// What a pod's annotations ask of GPUs, beside what its resources and node selection say.
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
// The wishes are part of a pod's shape: plugins read them parsed, once per kind of pod. What cannot
// be understood is a problem that keeps the pod waiting with a message, where the plugin concerned
// is in use: a wish that is ignored would put the pod onto the wrong GPU. That goes for every other
// annotation or label with our prefix, too: what nobody reads was meant for somebody.
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

// Annotations and labels of ours begin with it.
inline constexpr std::string_view kAnnotationPrefix = "gpu-scheduler.io/";

inline constexpr std::string_view kTypeAnnotation = "gpu-scheduler.io/gpu-type";
inline constexpr std::string_view kMinMemoryAnnotation = "gpu-scheduler.io/min-gpu-memory";
inline constexpr std::string_view kMinComputeAnnotation = "gpu-scheduler.io/min-compute-capability";
inline constexpr std::string_view kMinDriverAnnotation = "gpu-scheduler.io/min-driver-version";
inline constexpr std::string_view kMinCudaAnnotation = "gpu-scheduler.io/min-cuda-version";
inline constexpr std::string_view kSharingAnnotation = "gpu-scheduler.io/sharing";
inline constexpr std::string_view kGpuMemoryAnnotation = "gpu-scheduler.io/gpu-memory";
inline constexpr std::string_view kMigProfileAnnotation = "gpu-scheduler.io/mig-profile";

// All that are read.
inline constexpr std::array kWishAnnotations = {
    kTypeAnnotation,    kMinMemoryAnnotation, kMinComputeAnnotation, kMinDriverAnnotation,
    kMinCudaAnnotation, kSharingAnnotation,   kGpuMemoryAnnotation,  kMigProfileAnnotation};

// Whether a label or annotation of that key is one of ours, or means to be.
[[nodiscard]] inline bool is_ours(std::string_view key) {
  return key.starts_with(kAnnotationPrefix);
}

enum class SharingWish : std::uint8_t { kUnsaid, kAllowed, kRequired, kNever };

// Of a driver, or of CUDA: "570.124.06" is {570, 124, 6}. {0, 0, 0}: not known.
struct Version {
  std::array<std::int32_t, 3> parts{};
  [[nodiscard]] bool is_known() const { return parts[0] > 0; }
  friend auto operator<=>(const Version&, const Version&) = default;
};
// Up to three numbers, the first of them above zero; nullopt: the text is something else.
[[nodiscard]] std::optional<Version> parse_version(std::string_view text);
[[nodiscard]] std::string to_string(const Version& version);  // "570.124.6", "12.8"

// An annotation that makes no sense.
struct WishProblem {
  std::string_view key;  // the annotation that was meant, or is the nearest, one of those above
  std::string text;      // "gpu-scheduler.io/sharing: \"maybe\" is none of …"
  friend bool operator==(const WishProblem&, const WishProblem&) = default;
};

struct Wishes {
  static constexpr std::size_t kMostTypes = 16;
  static constexpr std::size_t kMostTypeBytes = 1'024;  // of the list as a whole

  std::vector<TypeName> types;  // the most wanted first; empty: any
  std::int64_t min_memory = 0;  // bytes
  Capability min_compute;       // {0, 0}: any
  Version min_driver;           // {0, 0, 0}: any
  Version min_cuda;             // the same
  SharingWish sharing = SharingWish::kUnsaid;
  std::int64_t gpu_memory = 0;  // bytes of each GPU, or piece of one, that it asks for; 0: not said
  // The MIG profile that nvidia.com/gpu is to be, in the spelling of resources; empty: none.
  std::string mig_profile;
  // Profiles that the pod names in its node selection, so that it may get an instance of one.
  std::vector<std::string> known_profiles;  // sorted, each once
  std::vector<WishProblem> problems;

  friend bool operator==(const Wishes&, const Wishes&) = default;
};

[[nodiscard]] Wishes wishes_of(const k8s::Pod& pod);

// Whether the entries that are ours are the same in both. O(entries).
[[nodiscard]] bool same_of_ours(const k8s::StringMap& a, const k8s::StringMap& b);

// Whether the pod knows that nvidia.com/gpu are MIG instances of `profile` where it goes.
[[nodiscard]] bool names_profile(const Wishes& wishes, std::string_view profile);

}  // namespace sched::gpu
