#include "bench/replay/recording/site_settings.h"

#include "k8s-client/yaml/value.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::replay {

k8s::Result<sched::config::Configuration> recorded_config(const sched::live::RecordHeader& header,
                                                          const sched::Registry& registry) {
  auto config = sched::config::parse(header.config, header.config_file, registry);
  if (config) return config;
  return tl::unexpected(k8s::with_context(std::move(config.error()), "recorded configuration"));
}

k8s::Result<void> take_site_settings(const sched::live::RecordHeader& header, const Policy& policy,
                                     const sched::Registry& registry,
                                     sched::config::Configuration& config) {
  auto recorded = recorded_config(header, registry);
  if (!recorded) return tl::unexpected<k8s::Error>(std::move(recorded.error()));
  const auto documents = k8s::yaml::parse(policy.config, policy.file);
  if (!documents) return tl::unexpected<k8s::Error>(documents.error());
  const auto has = [&](std::string_view key) {
    return std::any_of(documents->begin(), documents->end(), [&](const k8s::yaml::Value& document) {
      return document.find(key) != nullptr;
    });
  };
  if (!has("gpuLabels")) config.engine.site_labels = recorded->engine.site_labels;
  if (!has("gpuQuota")) config.engine.quota = recorded->engine.quota;
  return {};
}

}  // namespace bench::replay
