#include "scheduler/live/ui/what_if.h"

#include "k8s-client/api/decode.h"
#include "k8s-client/api/defaults.h"
#include "k8s-client/json_text.h"
#include "k8s-client/parse_number.h"
#include "k8s-client/shown.h"
#include "k8s-client/yaml/value.h"
#include "scheduler/framework/pod_requests.h"
#include "scheduler/gpu/wishes.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

namespace sched::live {

namespace {

using Read = tl::expected<WhatIf, std::string>;

constexpr std::array<std::string_view, 5> kParameters = {"namespace", "gpus", "type", "tolerates",
                                                         "manifest"};
constexpr int kMostGpus = 1'000;
constexpr const char* kDefaultNamespace = "default";
constexpr const char* kName = "what-if";

// Of a parameter; empty: it is not given.
std::string given(const server::Query& query, std::string_view name) {
  const auto found = query.find(name);
  return found == query.end() ? std::string() : found->second;
}

tl::expected<k8s::Pod, std::string> pod_of(const std::string& json) {
  k8s::Decoder decoder;
  auto pod = decoder.object<k8s::Pod>(json);
  if (!pod) return tl::unexpected(std::move(pod.error().message));
  return *std::move(pod);
}

// Whether the text may contain a YAML anchor. With anchors a few bytes could stand for a million
// values.
bool has_anchor(std::string_view text) {
  constexpr std::string_view kBeforeValues = " \t\n:,[{-";
  for (std::size_t at = 0; at + 1 < text.size(); ++at) {
    if (text[at] != '&') continue;
    const bool begins = at == 0 || kBeforeValues.find(text[at - 1]) != std::string_view::npos;
    if (begins && std::isalnum(static_cast<unsigned char>(text[at + 1])) != 0) return true;
  }
  return false;
}

tl::expected<k8s::Pod, std::string> pod_of_manifest(const std::string& text) {
  if (has_anchor(text))
    return tl::unexpected<std::string>("YAML anchors (&name) are not read here");
  const auto values = k8s::yaml::parse(text, "manifest");
  if (!values) return tl::unexpected(values.error().message);
  if (values->size() != 1)
    return tl::unexpected<std::string>("want one Pod, and no other document");
  auto object = nlohmann::json::parse(k8s::yaml::to_json(values->front()));
  const std::string kind = object.is_object() ? object.value("kind", "") : "";
  if (kind != "Pod") {
    return tl::unexpected(fmt::format(
        "want a Pod, found kind \"{}\"; what others would start: kubectl gpu plan -f FILE",
        k8s::shown(kind)));
  }
  nlohmann::json& metadata = object["metadata"];
  if (!metadata.is_object()) metadata = nlohmann::json::object();
  if (!metadata.contains("name")) metadata["name"] = kName;
  return pod_of(k8s::json_text(object));
}

tl::expected<k8s::Pod, std::string> pod_with_gpus(const std::string& count, const std::string& type,
                                                  const std::string& tolerates) {
  const int gpus = k8s::parse_number<int>(count).value_or(-1);
  if (gpus < 0 || gpus > kMostGpus) {
    return tl::unexpected(
        fmt::format("gpus \"{}\": it must be a number from 0 to {}", k8s::shown(count), kMostGpus));
  }
  nlohmann::json pod = {{"kind", "Pod"}, {"metadata", {{"name", kName}}}};
  if (!type.empty()) pod["metadata"]["annotations"][std::string(gpu::kTypeAnnotation)] = type;
  nlohmann::json container = {{"name", "main"}, {"image", "none"}};
  if (gpus > 0) container["resources"]["limits"]["nvidia.com/gpu"] = std::to_string(gpus);
  pod["spec"]["containers"] = nlohmann::json::array({container});
  if (gpus > 0 && !tolerates.empty()) {
    pod["spec"]["tolerations"] =
        nlohmann::json::array({{{"key", tolerates}, {"operator", "Exists"}}});
  }
  return pod_of(k8s::json_text(pod));
}

// Makes it a new pod: without a node, and with a uid that no pod in the engine has.
Read as_new(k8s::Pod pod, const std::string& namespace_, const std::vector<std::string>& served,
            bool is_manifest) {
  WhatIf what;
  k8s::set_defaults(pod, namespace_);
  set_pod_level_requests(pod);
  pod.metadata.uid = kName;
  pod.spec.node_name.clear();
  std::string& scheduler = pod.spec.scheduler_name;
  const bool is_ours = std::find(served.begin(), served.end(), scheduler) != served.end();
  if (!is_ours && is_manifest) {
    what.notes.push_back(
        fmt::format("schedulerName is \"{}\", so the pod waits for that scheduler; the answer is "
                    "for \"{}\"",
                    k8s::shown(scheduler), served.front()));
  }
  if (!is_ours) scheduler = served.front();
  if (!pod.spec.scheduling_gates.empty()) {
    what.notes.emplace_back(
        "the pod has scheduling gates; the answer is for when they are removed");
  }
  if (!pod.spec.priority_class_name.empty()) {
    what.notes.emplace_back("its priority class is not read: it changes whose turn is first");
  }
  what.pod = std::move(pod);
  return what;
}

}  // namespace

Read read_what_if(const server::Query& query, const std::vector<std::string>& served) try {
  for (const auto& [name, value] : query) {
    const auto* const known = std::find(kParameters.begin(), kParameters.end(), name);
    if (known != kParameters.end()) continue;
    return tl::unexpected(fmt::format("there is no parameter \"{}\"; there are {}",
                                      k8s::shown(name), fmt::join(kParameters, ", ")));
  }
  const std::string manifest = given(query, "manifest");
  std::string namespace_ = given(query, "namespace");
  if (namespace_.empty()) namespace_ = kDefaultNamespace;
  auto pod = manifest.empty() ? pod_with_gpus(given(query, "gpus"), given(query, "type"),
                                              given(query, "tolerates"))
                              : pod_of_manifest(manifest);
  if (!pod) return tl::unexpected(std::move(pod.error()));
  return as_new(*std::move(pod), namespace_, served, !manifest.empty());
} catch (const nlohmann::json::exception&) {
  return tl::unexpected<std::string>("the manifest is no object");
}

}  // namespace sched::live
