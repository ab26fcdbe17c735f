#include "plugins/device_classes/device_classes.h"

#include <map>
#include <set>

namespace plugins {

namespace {

using namespace sched;

constexpr std::string_view kImplicitPrefix = "deviceclass.resource.kubernetes.io/";

// Every resource that some container names, with an amount above zero.
std::set<std::string> resources_of(const k8s::Pod& pod) {
  std::set<std::string> names;
  for (const auto* containers : {&pod.spec.init_containers, &pod.spec.containers}) {
    for (const k8s::Container& container : *containers) {
      for (const auto& [name, amount] : container.requests) {
        if (amount.value() > 0) names.insert(name);
      }
    }
  }
  return names;
}

class DeviceClasses final : public ClusterConstraint {
 public:
  std::string_view name() const override { return "DeviceClasses"; }

  std::optional<std::string> refuses(const k8s::Pod& pod) const override {
    for (const std::string& resource : resources_of(pod)) {
      if (!resource.starts_with(kImplicitPrefix)) continue;
      return resource + " is served by DRA, which gpu-scheduler does not allocate yet";
    }
    return std::nullopt;
  }

  ChangeMask wakes_on() const override { return 0; }

  std::string note(const k8s::Pod& pod) const override {
    for (const std::string& resource : resources_of(pod)) {
      for (const auto& [name, served] : served_) {
        if (served != resource) continue;
        return resource + " is also served by DRA (DeviceClass \"" + name +
               "\"), which gpu-scheduler does not allocate yet";
      }
    }
    return {};
  }

  bool apply(const ClusterChange& change) override {
    if (const auto* upserted = std::get_if<DeviceClassUpserted>(&change)) {
      served_[upserted->object.metadata.name] = upserted->object.extended_resource_name;
    } else if (const auto* gone = std::get_if<DeviceClassGone>(&change)) {
      served_.erase(gone->name);
    }
    return false;  // what it refuses is in the pod itself
  }

 private:
  std::map<std::string, std::string> served_;  // class → extended resource, empty: none
};

}  // namespace

PluginInstance make_device_classes(k8s::yaml::ObjectReader&) {
  PluginInstance instance;
  instance.constraint = std::make_unique<DeviceClasses>();
  return instance;
}

}  // namespace plugins
