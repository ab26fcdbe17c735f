#include "plugins/node_resources_fit/args.h"

#include "plugins/support/args.h"
#include "scheduler/base/qualified_name.h"
#include "scheduler/framework/plugin.h"

namespace plugins {

namespace {

using k8s::yaml::ObjectReader;

std::vector<std::string> read_names(ObjectReader& args, std::string_view key) {
  std::vector<std::string> names = args.strings(key);
  for (const std::string& name : names) {
    if (!sched::is_qualified_name(name)) {
      args.complain(key, "'" + name + "' is not a name, such as example.com/device");
    }
  }
  return names;
}

void read_resources(ObjectReader& strategy, NodeResourcesFitArgs& read) {
  std::vector<NodeResourcesFitArgs::Weighted> resources;
  strategy.objects("resources", [&](ObjectReader& reader) {
    NodeResourcesFitArgs::Weighted resource;
    resource.name = reader.string("name").value_or("");
    if (resource.name.empty()) reader.complain("name", "is missing, such as cpu");
    // Absent and 0 mean 1, as with upstream.
    const std::int64_t weight = reader.integer("weight", {.min = 0, .max = 100}).value_or(0);
    resource.weight = weight == 0 ? 1 : weight;
    resources.push_back(std::move(resource));
  });
  if (!resources.empty()) read.resources = std::move(resources);
}

// Absent numbers are 0, as with upstream.
std::vector<UtilizationPoint> read_shape(ObjectReader& ratio) {
  constexpr std::int64_t kMostOfPoint = 10;  // upstream's MaxCustomPriorityScore
  std::vector<UtilizationPoint> shape;
  ratio.objects("shape", [&](ObjectReader& reader) {
    const UtilizationPoint point{
        .utilization = reader.integer("utilization", {.min = 0, .max = 100}).value_or(0),
        .score = reader.integer("score", {.min = 0, .max = kMostOfPoint}).value_or(0) *
                 (sched::kMaxScore / kMostOfPoint)};
    if (!shape.empty() && point.utilization <= shape.back().utilization) {
      reader.complain("utilization", "must be above that of the point before it");
    }
    shape.push_back(point);
  });
  if (shape.empty()) {
    ratio.complain("shape", "needs a point, such as {utilization: 100, score: 10}");
  }
  return shape;
}

void read_strategy(ObjectReader& strategy, NodeResourcesFitArgs& read) {
  using Strategy = NodeResourcesFitArgs::Strategy;
  constexpr std::string_view kRatio = "requestedToCapacityRatio";
  const auto type =
      strategy.one_of("type", {"LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"});
  if (!type) {
    strategy.complain("type",
                      "is missing; one of LeastAllocated, MostAllocated, RequestedToCapacityRatio");
  }
  if (type == "MostAllocated") read.strategy = Strategy::kMostAllocated;
  const k8s::yaml::Value* ratio = strategy.raw(kRatio);
  const bool has_ratio = ratio != nullptr && !ratio->is_null();
  if (type == "RequestedToCapacityRatio") {
    read.strategy = Strategy::kByUtilization;
    if (!has_ratio) strategy.complain(kRatio, "is missing: its shape is the score by utilization");
    strategy.object(kRatio, [&](ObjectReader& reader) { read.shape = read_shape(reader); });
  } else if (has_ratio) {
    strategy.complain(kRatio, "is for the type RequestedToCapacityRatio alone");
  }
  read_resources(strategy, read);
}

}  // namespace

NodeResourcesFitArgs read_node_resources_fit_args(ObjectReader& args) {
  NodeResourcesFitArgs read;
  read_type(args, "NodeResourcesFitArgs");
  read.ignored_resources = read_names(args, "ignoredResources");
  read.ignored_resource_groups = read_names(args, "ignoredResourceGroups");
  for (const std::string& group : read.ignored_resource_groups) {
    if (group.find('/') != std::string::npos) {
      args.complain("ignoredResourceGroups", "'" + group + "' may not contain '/'");
    }
  }
  args.object("scoringStrategy", [&](ObjectReader& strategy) { read_strategy(strategy, read); });
  return read;
}

}  // namespace plugins
