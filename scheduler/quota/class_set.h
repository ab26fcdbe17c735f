// Sets of charge classes, interned: where a pod may go by its quota is one of few answers, and a
// small number to keep other answers by.
//
// A set always contains the class of nodes without GPUs: quota says nothing about those.
#pragma once

#include "scheduler/quota/charge_class.h"

#include <cstdint>
#include <map>
#include <vector>

namespace sched::quota {

enum class ClassSetId : std::uint32_t {};
inline constexpr ClassSetId kEveryClass{0};  // also those that are not known yet

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
