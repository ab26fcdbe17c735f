// Annotations, labels and resources as users write them: letter by letter, since a change of one in
// the scheduler would leave their objects without effect.
#pragma once

namespace tests {

inline constexpr const char* kType = "gpu-scheduler.io/gpu-type";
inline constexpr const char* kSharing = "gpu-scheduler.io/sharing";
inline constexpr const char* kMinMemory = "gpu-scheduler.io/min-gpu-memory";
inline constexpr const char* kProfile = "gpu-scheduler.io/mig-profile";

inline constexpr const char* kShared = "nvidia.com/gpu.shared";
inline constexpr const char* kMig = "nvidia.com/mig-3g.40gb";  // two to a GPU

inline constexpr const char* kHost = "kubernetes.io/hostname";
inline constexpr const char* kZone = "topology.kubernetes.io/zone";

}  // namespace tests
