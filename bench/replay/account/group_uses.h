// How many GPUs each namespace and each GPU model used.
#pragma once

#include "bench/replay/result.h"
#include "bench/replay/trace/trace.h"

#include <cstdint>
#include <map>
#include <string>

namespace bench::replay {

// One kind of grouping. A group's allocation over time is stored as an integral, updated when it
// changes.
class GroupUses {
 public:
  void came(const std::string& group, std::int64_t gpu_milli);
  // `counts`: as a pod that came, not only as taken GPUs.
  void placed(const std::string& group, std::int64_t gpu_milli, Moment now, bool counts);
  void left(const std::string& group, std::int64_t gpu_milli, Moment now);
  // Averages begin here.
  void begin_window(Moment now);

  // With the present allocation, or its average since the window began.
  [[nodiscard]] std::map<std::string, GroupUse> now() const;
  [[nodiscard]] std::map<std::string, GroupUse> average_until(Moment now) const;

 private:
  struct Group {
    GroupUse use;  // `asked` in thousandths
    std::int64_t allocated = 0;
    double over_time = 0;  // thousandths × milliseconds, up to `since`
    Moment since{0};
    void advance(Moment now);
  };
  [[nodiscard]] static GroupUse result(const Group& group, double allocated);
  Group& group(const std::string& name);

  std::map<std::string, Group> groups_;
  Moment window_begin_{0};
};

}  // namespace bench::replay
