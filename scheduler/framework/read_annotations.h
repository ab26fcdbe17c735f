// Which annotations and labels of a pod are read.
//
// Several places must agree on this set, so it is defined here once. A shape is computed from those
// of is_annotation_of_shape() and is_label_of_shape(); live/intake.cc drops every annotation of a
// pod that is not read; engine/intake.cc tries a waiting pod again when one that is read has
// changed. (All labels are stored: rules across nodes read them.)
#pragma once

#include "scheduler/gpu/wishes.h"

#include <string_view>

namespace sched {

// For FilterPlugin and ScorePlugin, which read the shape.
[[nodiscard]] inline bool is_annotation_of_shape(std::string_view key) { return gpu::is_wish(key); }
[[nodiscard]] inline bool is_label_of_shape(std::string_view key) { return gpu::is_ours(key); }

// By anything: also by the engine, and by constraints.
[[nodiscard]] inline bool is_read_annotation(std::string_view key) {
  return is_annotation_of_shape(key) || gpu::is_ours(key);
}

}  // namespace sched
