// What the ledger answers about a pod: on which charge classes its quota has room for it, and what
// each line says.
#pragma once

#include "scheduler/quota/charge_class.h"
#include "scheduler/quota/gpu_share.h"
#include "scheduler/quota/line.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

namespace sched::quota {

// How many of the quota's holds come before the pod's own: what these hold is kept from it.
enum class HoldRank : std::uint32_t {};
inline constexpr HoldRank kFirstHold{0};
inline constexpr HoldRank kNoHold{~std::uint32_t{0}};  // nothing is held for it

// Where a pod has room by its quota.
struct Admission {
  // Classes on which the pod would be within the guarantee / would borrow; by ascending id.
  std::vector<ChargeClassId> within;
  std::vector<ChargeClassId> borrowing;
  bool refused_some = false;  // some class that the pod may run on has no room

  void add(ChargeClassId on, Room room) {
    switch (room) {
      case Room::kGuaranteed:
        return within.push_back(on);
      case Room::kBorrowed:
        return borrowing.push_back(on);
      case Room::kNone:
        refused_some = true;
    }
  }
  // Whether that class has room.
  [[nodiscard]] bool allows(ChargeClassId on, bool may_borrow) const {
    const auto has = [on](const std::vector<ChargeClassId>& classes) {
      return std::binary_search(classes.begin(), classes.end(), on);
    };
    return has(within) || (may_borrow && has(borrowing));
  }
  // All classes with room, by ascending id.
  [[nodiscard]] std::vector<ChargeClassId> classes() const {
    std::vector<ChargeClassId> all;
    all.reserve(within.size() + borrowing.size());
    std::merge(within.begin(), within.end(), borrowing.begin(), borrowing.end(),
               std::back_inserter(all));
    return all;
  }
  // There are GPUs that the pod may run on, and none with room.
  [[nodiscard]] bool refuses() const { return within.empty() && borrowing.empty() && refused_some; }
};

// One line's answer for a pod.
struct LineAnswer {
  enum class Why : std::uint8_t { kHasRoom, kLimit, kCohort, kBound, kKept, kTooLarge, kNoLine };
  std::string gpu_type;  // of the line; if no line names the GPUs, of the GPUs
  Why why = Why::kHasRoom;
  GpuShare needs;
  GpuShare used;
  GpuShare guaranteed;
  GpuShare limit;
  GpuShare most;  // the part of the limit that guarantee and cohort could ever give
  GpuShare borrowed;
  GpuShare missing;  // what must be freed first
  std::string cohort;
  std::string parent;  // the quota that this quota is in
  friend bool operator==(const LineAnswer&, const LineAnswer&) = default;
};

}  // namespace sched::quota
