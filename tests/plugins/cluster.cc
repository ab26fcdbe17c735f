#include "tests/plugins/cluster.h"

#include "plugins/registry.h"
#include "scheduler/config/config.h"
#include "tests/support/catch.h"

#include <utility>
#include <variant>

namespace tests {

using namespace sched;

namespace {

Engine engine(k8s::Result<config::Configuration> config) {
  if (!config) FAIL(config.error().message);
  return {std::move(config->profiles), config->engine};
}

}  // namespace

Cluster::Cluster(const char* config)
    : Cluster(engine(config::parse(config, "profile.yaml", plugins::registry()))) {}
Cluster::Cluster(Engine engine) : engine_(std::move(engine)) { apply(event::Synced{}); }

Cluster Cluster::configured_by(const std::string& file) {
  return Cluster(engine(config::load(file, plugins::registry())));
}

void Cluster::gone(const k8s::Pod& object) {
  apply(event::PodDeleted{{object.metadata.namespace_, object.metadata.name, object.metadata.uid}});
}

std::vector<Decision> Cluster::decide() {
  std::vector<Decision> all;
  while (auto decision = engine_.step(now_)) {
    if (const auto* bind = std::get_if<decision::Bind>(&*decision)) {
      apply(event::BindSucceeded{bind->pod, bind->node});
    }
    all.push_back(std::move(*decision));
  }
  return all;
}

std::string Cluster::place(const k8s::Pod& object) {
  has(object);
  for (const Decision& decision : decide()) {
    if (const auto* bind = std::get_if<decision::Bind>(&decision)) return bind->node;
    if (const auto* no = std::get_if<decision::Unschedulable>(&decision)) {
      return no->message + " " + no->details;
    }
  }
  return {};
}

}  // namespace tests
