#include "scheduler/engine/world/pod_group.h"

#include "k8s-client/parse_number.h"
#include "k8s-client/shown.h"
#include "scheduler/base/qualified_name.h"
#include "scheduler/gpu/wishes.h"

#include <fmt/format.h>

#include <string_view>

namespace sched {
namespace {

std::optional<std::size_t> parse_count(std::string_view text) {
  const auto count = k8s::parse_number<std::size_t>(text);
  return count && *count >= 1 && *count <= PodGroup::kMostPods ? count : std::nullopt;
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
