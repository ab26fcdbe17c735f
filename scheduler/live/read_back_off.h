// How long to wait before the cluster is read again, after a read that failed.
#pragma once

#include "k8s-client/back_off.h"

#include <chrono>

namespace sched::live {

// A scheduler that does not see its cluster is of no use, so it looks again within seconds of the
// end of any trouble. client-go's limit of 30 s is for clients that are there by the thousands.
// Where the server asks for patience it gets some more.
inline constexpr k8s::BackOffOptions kReadBackOff{.limit = std::chrono::seconds{3},
                                                  .max_retry_after = std::chrono::seconds{10}};

}  // namespace sched::live
