#include "bench/replay/work_list.h"

#include "tests/support/catch.h"

#include <atomic>
#include <vector>

using bench::replay::work_through;

TEST_CASE("each job is done once, however many threads there are") {
  for (const std::size_t threads : {0UL, 1UL, 3UL, 64UL}) {
    std::vector<std::atomic<int>> times(20);
    work_through(times.size(), threads, [&](std::size_t i) {
      ++times[i];
      return true;
    });
    for (const auto& count : times) CHECK(count == 1);
  }
  work_through(0, 4, [](std::size_t) -> bool { throw std::logic_error("there is no job"); });
}

TEST_CASE("after a job that says no none is begun") {
  std::vector<std::size_t> done;
  work_through(10, 1, [&](std::size_t i) {
    done.push_back(i);
    return i < 3;
  });
  CHECK(done == std::vector<std::size_t>{0, 1, 2, 3});
}
