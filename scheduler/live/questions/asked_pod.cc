#include "scheduler/live/questions/asked_pod.h"

#include "k8s-client/shown.h"
#include "scheduler/base/qualified_name.h"

#include <fmt/format.h>

#include <utility>

namespace sched::live {

tl::expected<std::string, std::string> take_name(server::Query& query,
                                                 const std::string& parameter) {
  auto value = query.extract(parameter);
  if (value.empty()) {
    return tl::unexpected(fmt::format("the parameter \"{}\" is missing", parameter));
  }
  if (!is_subdomain(value.mapped())) {
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
