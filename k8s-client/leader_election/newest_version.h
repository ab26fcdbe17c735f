// Whether an object is shown at an older version than before: then its store was set back.
//
// Versions of a kind only grow (Kubernetes compares them as numbers, KEP-5504), and a consistent
// read is never older than an earlier one. election.h says why that is proof, and of what.
#pragma once

#include "k8s-client/api/meta.h"

#include <cstdint>
#include <optional>
#include <string>

namespace k8s {

class NewestVersion {
 public:
  // What a consistent read or a write has shown. If it is older than what was shown before: a
  // message that says so; `what` names the object: "the lease".
  [[nodiscard]] std::optional<std::string> seen(const ObjectMeta& object, const std::string& what);

 private:
  std::uint64_t newest_ = 0;
};

}  // namespace k8s
