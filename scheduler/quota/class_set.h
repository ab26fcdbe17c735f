// Interned sets of charge classes. Only few different sets occur as the classes that a quota allows
// a pod, so other answers are stored by the small number of such a set.
//
// A set always contains the class of nodes without GPUs, because quota does not limit those.
#pragma once

#include "scheduler/quota/charge_class.h"

#include <cstdint>
#include <map>
#include <vector>

namespace sched::quota {

enum class ClassSetId : std::uint32_t {};
inline constexpr ClassSetId kEveryClass{0};  // also classes that are not known yet

class ClassSets {
 public:
  // `classes` by ascending id, without kNoGpuClass.
  ClassSetId intern(std::vector<ChargeClassId> classes);
  [[nodiscard]] bool contains(ClassSetId set, ChargeClassId id) const;

 private:
  std::map<std::vector<ChargeClassId>, ClassSetId> ids_;
  std::vector<std::vector<bool>> members_{{}};  // by set, by class; the first is kEveryClass
};

}  // namespace sched::quota
