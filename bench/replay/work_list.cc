#include "bench/replay/work_list.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace bench::replay {

void work_through(std::size_t count, std::size_t threads,
                  const std::function<bool(std::size_t)>& job) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      if (!job(i)) next = count;
    }
  };
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < std::min(threads, count); ++i) others.emplace_back(work);
  work();
}

}  // namespace bench::replay
