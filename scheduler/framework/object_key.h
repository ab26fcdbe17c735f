// The name of one object of a kind that is watched.
#pragma once

#include "scheduler/base/watched_kinds.h"

#include <compare>
#include <string>
#include <utility>

namespace sched {

// One object of a kind; without a name, any object of that kind.
struct ObjectKey {
  ChangeMask kind = 0;  // one bit
  std::string namespace_{};
  std::string name{};
  friend auto operator<=>(const ObjectKey&, const ObjectKey&) = default;
};
template <typename Object>
[[nodiscard]] ObjectKey object_key(std::string name, std::string name_space = {}) {
  return {.kind = kWatched<Object>.change,
          .namespace_ = std::move(name_space),
          .name = std::move(name)};
}

}  // namespace sched
