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

tl::expected<AskedPod, std::string> take_asked_pod(server::Query& query) {
  AskedPod asked;
  for (const auto& [name, into] :
       {std::pair("namespace", &asked.namespace_), std::pair("pod", &asked.pod)}) {
    const auto value = query.extract(name);
    if (value.empty()) {
      return tl::unexpected(fmt::format("the parameter \"{}\" is missing", name));
    }
    if (!is_name(value.mapped())) {
      return tl::unexpected(
          fmt::format("{} \"{}\": that is no name", name, k8s::shown(value.mapped())));
    }
    *into = value.mapped();
  }
  return asked;
}

}  // namespace sched::live
