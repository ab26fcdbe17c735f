#include "tests/scheduler/config/registry_double.h"

#include <string>
#include <utility>

namespace sched::test {

namespace {

class NamedFilter : public FilterPlugin {
 public:
  explicit NamedFilter(std::string name) : name_(std::move(name)) {}
  std::string_view name() const override { return name_; }
  FilterPreparation prepare(const PodShape&, const PrepareContext&) const override { return {}; }

 private:
  std::string name_;
};

class NamedScore : public ScorePlugin {
 public:
  explicit NamedScore(std::string name) : name_(std::move(name)) {}
  std::string_view name() const override { return name_; }
  std::unique_ptr<NodeScore> prepare(const PodShape&, const PrepareContext&) const override {
    return nullptr;
  }

 private:
  std::string name_;
};

class NamedConstraint : public ClusterConstraint {
 public:
  explicit NamedConstraint(std::string name) : name_(std::move(name)) {}
  std::string_view name() const override { return name_; }
  bool apply(const ClusterChange&) override { return false; }

 private:
  std::string name_;
};

PluginInstance both(std::string name) {
  return {.filter = std::make_unique<NamedFilter>(name),
          .score = std::make_unique<NamedScore>(std::move(name))};
}

PluginInstance make_taints(k8s::yaml::ObjectReader&) { return both("TaintToleration"); }
PluginInstance make_affinity(k8s::yaml::ObjectReader&) { return both("NodeAffinity"); }

PluginInstance make_ports(k8s::yaml::ObjectReader&) {
  return {.filter = std::make_unique<NamedFilter>("NodePorts")};
}

PluginInstance make_fit(k8s::yaml::ObjectReader& args) {
  std::string strategy = "LeastAllocated";
  args.object("scoringStrategy", [&](k8s::yaml::ObjectReader& fields) {
    strategy = fields.one_of("type", {"LeastAllocated", "MostAllocated"}).value_or(strategy);
    fields.objects("resources", [](k8s::yaml::ObjectReader& resource) {
      resource.string("name");
      resource.integer("weight", {.min = 1, .max = 100});
    });
  });
  return both("NodeResourcesFit/" + strategy);
}

PluginInstance make_packing(k8s::yaml::ObjectReader&) {
  return {.score = std::make_unique<NamedScore>("GpuPacking")};
}

PluginInstance make_alternative(k8s::yaml::ObjectReader&) { return both("Alternative"); }

PluginInstance make_unsupported(k8s::yaml::ObjectReader&) {
  return {.constraint = std::make_unique<NamedConstraint>("UnsupportedConstraints")};
}

}  // namespace

const Registry& registry_double() {
  static const Registry registry{
      {.name = "TaintToleration",
       .filters = true,
       .scores = true,
       .default_weight = 30,
       .make = make_taints},
      {.name = "NodeAffinity",
       .filters = true,
       .scores = true,
       .default_weight = 20,
       .make = make_affinity},
      {.name = "NodePorts", .filters = true, .make = make_ports},
      {.name = "NodeResourcesFit",
       .filters = true,
       .scores = true,
       .score_args = {"scoringStrategy"},
       .make = make_fit},
      {.name = "GpuPacking", .scores = true, .default_weight = 10, .make = make_packing},
      {.name = "Alternative",
       .filters = true,
       .scores = true,
       .on_by_default = false,
       .make = make_alternative},
      {.name = "UnsupportedConstraints", .constrains = true, .make = make_unsupported},
  };
  return registry;
}

}  // namespace sched::test
