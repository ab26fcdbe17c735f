// A cluster as an engine with a whole profile sees it: objects go in as events, binds succeed, and
// decisions come out.
#pragma once

#include "k8s-client/api/node.h"
#include "k8s-client/api/pod.h"
#include "scheduler/engine/engine.h"
#include "tests/support/builders.h"

#include <chrono>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tests {

inline constexpr const char* kServedBy = "gpu-scheduler";
// The profile that ships.
inline constexpr const char* kDefaultConfig =
    "{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration}";

// A pod that this cluster's scheduler decides on.
inline PodBuilder our_pod(std::string_view name) { return pod(name).served_by(kServedBy); }

class Cluster {
 public:
  // `config`: a KubeSchedulerConfiguration of one profile.
  explicit Cluster(const char* config = kDefaultConfig);
  // The same of a file.
  [[nodiscard]] static Cluster configured_by(const std::string& file);

  void has(const k8s::Node& object) { apply(sched::event::NodeUpserted{object}); }
  void has(const k8s::Pod& object) { apply(sched::event::PodUpserted{object}); }
  template <typename Object>
  requires std::is_constructible_v<sched::Event, sched::event::Upserted<Object>>
  void has(const Object& object) { apply(sched::event::Upserted<Object>{object}); }
  template <typename Object>
  void lacks(const std::string& name, const std::string& name_space = {}) {
    apply(sched::event::Deleted<Object>{name, name_space});
  }
  void lacks(const std::string& node) { lacks<k8s::Node>(node); }
  void gone(const k8s::Pod& object);
  void wait(std::chrono::seconds time) { now_ += time; }

  // All that there are now.
  std::vector<sched::Decision> decide();
  // The node that the pod gets; else what it is told.
  std::string place(const k8s::Pod& object);

 private:
  explicit Cluster(sched::Engine engine);
  void apply(const sched::Event& event) { engine_.apply(event, now_); }

  sched::Engine engine_;
  sched::Time now_{};
};

}  // namespace tests
