#include "scheduler/engine/world/pod_group.h"

#include "k8s-client/shown.h"
#include "scheduler/base/qualified_name.h"
#include "scheduler/gpu/wishes.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <system_error>

namespace sched {
namespace {

std::optional<std::size_t> parse_count(std::string_view text) {
  std::size_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, count);
  if (error != std::errc() || after != end || count == 0) return std::nullopt;
  return count > PodGroup::kMostPods ? std::nullopt : std::optional(count);
}

}  // namespace

tl::expected<std::optional<PodGroup>, std::string> group_of(const k8s::Pod& pod) {
  using gpu::kMinCountAnnotation;
  using gpu::kPodGroupAnnotation;
  const std::string* name = pod.metadata.annotations.find(kPodGroupAnnotation);
  const std::string* count = pod.metadata.annotations.find(kMinCountAnnotation);
  if (name == nullptr && count == nullptr) return std::nullopt;
  if (name == nullptr || count == nullptr) {
    return tl::unexpected(fmt::format("{} needs {} beside it",
                                      name == nullptr ? kMinCountAnnotation : kPodGroupAnnotation,
                                      name == nullptr ? kPodGroupAnnotation : kMinCountAnnotation));
  }
  if (name->empty() || !is_label_value(*name)) {
    return tl::unexpected(
        fmt::format("{}: \"{}\" is no name of a group: 1 to 63 letters, digits and -_. within",
                    kPodGroupAnnotation, k8s::shown(*name)));
  }
  const auto min_count = parse_count(*count);
  if (!min_count) {
    return tl::unexpected(fmt::format("{}: \"{}\" is no whole number from 1 to {}",
                                      kMinCountAnnotation, k8s::shown(*count),
                                      PodGroup::kMostPods));
  }
  return PodGroup{.name = *name, .min_count = *min_count};
}

}  // namespace sched
