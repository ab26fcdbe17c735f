// The pod that a request asks about: namespace=NS&pod=NAME.
#pragma once

#include "scheduler/server/query.h"

#include <tl/expected.hpp>

#include <string>

namespace sched::live {

struct AskedPod {
  std::string namespace_;
  std::string pod;
};

// Takes the parameter, which must be a name, out of `query`. Roughly the rules for names: no
// character with a meaning in a path. On error: what is wrong, for the person who asked.
[[nodiscard]] tl::expected<std::string, std::string> take_name(server::Query& query,
                                                               const std::string& parameter);
// The same for both parameters.
[[nodiscard]] tl::expected<AskedPod, std::string> take_asked_pod(server::Query& query);

}  // namespace sched::live
