// A node filter with a single reason.
#pragma once

#include "scheduler/framework/plugin.h"

#include <string>
#include <utility>
#include <vector>

namespace plugins {

class OneReasonFilter : public sched::NodeFilter {
 public:
  [[nodiscard]] const std::vector<std::string>& reasons() const final { return reasons_; }

 protected:
  // The set with that reason.
  static constexpr std::uint64_t kTheReason = 1;

  explicit OneReasonFilter(std::string reason) : reasons_{std::move(reason)} {}

 private:
  std::vector<std::string> reasons_;
};

}  // namespace plugins
