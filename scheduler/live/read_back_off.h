// How long to wait after a failed read of the cluster before the next one.
#pragma once

#include "k8s-client/back_off.h"

#include <chrono>

namespace sched::live {

// A scheduler cannot work without reading its cluster, so it reads again within seconds after a
// failure has ended. client-go's limit of 30 s is meant for thousands of clients. If the server
// asks for a longer pause, it gets a longer one.
inline constexpr k8s::BackOffOptions kReadBackOff{.limit = std::chrono::seconds{3},
                                                  .max_retry_after = std::chrono::seconds{10}};

}  // namespace sched::live
