// What the published baselines measure amounts by: the largest node of the openb trace.
//
// Source: MaxSpecCpu and MaxSpecGpu of the artefact of Weng et al., ATC'23,
// hkust-adsl/kubernetes-scheduler-simulator@8f3d641.
#pragma once

#include <cstdint>

namespace bench {

inline constexpr std::int64_t kPublishedMaxCpu = 128'000;  // milli-CPU
inline constexpr std::int64_t kPublishedMaxGpu = 8'000;    // milli-GPU

}  // namespace bench
