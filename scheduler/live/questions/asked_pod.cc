#include "scheduler/live/questions/asked_pod.h"

#include "k8s-client/shown.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

namespace sched::live {

namespace {

constexpr std::size_t kLongestName = 253;

bool is_name(std::string_view text) {
  const auto is_alphanumeric = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  };
  return !text.empty() && text.size() <= kLongestName && is_alphanumeric(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_alphanumeric(c) || c == '-' || c == '.'; });
}

}  // namespace

tl::expected<std::string, std::string> take_name(server::Query& query,
                                                 const std::string& parameter) {
  auto value = query.extract(parameter);
  if (value.empty()) {
    return tl::unexpected(fmt::format("the parameter \"{}\" is missing", parameter));
  }
  if (!is_name(value.mapped())) {
    return tl::unexpected(
        fmt::format("{} \"{}\": that is no name", parameter, k8s::shown(value.mapped())));
  }
  return std::move(value.mapped());
}

tl::expected<AskedPod, std::string> take_asked_pod(server::Query& query) {
  auto namespace_ = take_name(query, "namespace");
  if (!namespace_) return tl::unexpected(std::move(namespace_.error()));
  auto pod = take_name(query, "pod");
  if (!pod) return tl::unexpected(std::move(pod.error()));
  return AskedPod{.namespace_ = *std::move(namespace_), .pod = *std::move(pod)};
}

}  // namespace sched::live
