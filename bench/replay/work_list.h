// Runs jobs on all cores: threads take the next job of a list until there is none.
#pragma once

#include <cstddef>
#include <functional>

namespace bench::replay {

// Calls job(0) … job(count − 1), each once, on `threads` threads, and returns when all have
// returned. Jobs are begun in order; after one returned false no more are begun.
void work_through(std::size_t count, std::size_t threads,
                  const std::function<bool(std::size_t)>& job);

}  // namespace bench::replay
