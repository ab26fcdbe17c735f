// DeviceClasses: reports when a GPU is served by DRA, which gpu-scheduler does not allocate yet.
//
// A DeviceClass may map an extended resource (nvidia.com/gpu) to devices of DRA. Then nodes have
// none of it in their allocatable, and "Insufficient nvidia.com/gpu" alone would mislead. The
// implicit names deviceclass.resource.kubernetes.io/CLASS are served by DRA only: a pod that asks
// for one is refused. Source: KEP-5004. Without arguments.
#include "plugins/factories.h"

#include <map>

namespace plugins {

namespace {

using namespace sched;

constexpr std::string_view kImplicitPrefix = "deviceclass.resource.kubernetes.io/";

// The first by name of the resources that a container names with an amount above zero and for which
// `is_meant` is true; empty: none.
template <typename IsMeant>
std::string first_resource(const k8s::Pod& pod, IsMeant&& is_meant) {
  std::string first;
  for (const auto* containers : {&pod.spec.init_containers, &pod.spec.containers}) {
    for (const k8s::Container& container : *containers) {
      for (const auto& [name, amount] : container.requests) {
        if (!is_meant(name) || amount.value() <= 0) continue;
        if (first.empty() || name < first) first = name;
      }
    }
  }
  return first;
}

class DeviceClasses final : public ClusterConstraint {
 public:
  std::string_view name() const override { return "DeviceClasses"; }
  bool concerns(const k8s::Pod& pod) const override { return refuses(pod).has_value(); }

  std::optional<Refusal> refuses(const k8s::Pod& pod) const override {
    const std::string resource = first_resource(
        pod, [](const std::string& name) { return name.starts_with(kImplicitPrefix); });
    if (resource.empty()) return std::nullopt;
    return Refusal{resource + " is served by DRA, which gpu-scheduler does not allocate yet"};
  }

  std::string note(const k8s::Pod& pod) const override {
    if (served_.empty()) return {};
    const std::string resource =
        first_resource(pod, [this](const std::string& name) { return class_of(name) != nullptr; });
    if (resource.empty()) return {};
    return resource + " is also served by DRA (DeviceClass \"" + *class_of(resource) +
           "\"), which gpu-scheduler does not allocate yet";
  }

  ChangeMask reads() const override { return kDeviceClassChanged; }
  bool apply(const ClusterChange& change) override {
    if (const auto* upserted = std::get_if<ObjectUpserted<k8s::DeviceClass>>(&change)) {
      served_[upserted->object.metadata.name] = upserted->object.extended_resource_name;
    } else if (const auto* gone = std::get_if<ObjectGone<k8s::DeviceClass>>(&change)) {
      served_.erase(gone->name);
    }
    return true;
  }

 private:
  // The first class that serves the resource; null: none.
  [[nodiscard]] const std::string* class_of(const std::string& resource) const {
    for (const auto& [name, served] : served_) {
      if (served == resource) return &name;
    }
    return nullptr;
  }

  std::map<std::string, std::string> served_;  // class → extended resource, empty: none
};

}  // namespace

PluginInstance make_device_classes(k8s::yaml::ObjectReader&) {
  return {.constraint = std::make_unique<DeviceClasses>()};
}

}  // namespace plugins
