#include "k8s-client/leader_election/newest_version.h"

#include <fmt/format.h>

#include <charconv>

namespace k8s {

std::optional<std::string> NewestVersion::seen(const ObjectMeta& object, const std::string& what) {
  const std::string& text = object.resource_version;
  std::uint64_t version = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), version);
  if (read.ec != std::errc()) return std::nullopt;  // not a version of Kubernetes: proves nothing
  if (version >= newest_) {
    newest_ = version;
    return std::nullopt;
  }
  return fmt::format(
      "{} is at version {} after {}: its store has gone back in time, as when etcd is restored "
      "from a backup",
      what, text, newest_);
}

}  // namespace k8s
