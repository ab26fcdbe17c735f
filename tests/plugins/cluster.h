// A cluster as an engine with a whole profile sees it: objects go in as events, binds succeed, and
// decisions come out.
#pragma once

#include "k8s-client/api/node.h"
#include "k8s-client/api/pod.h"
#include "scheduler/engine/engine.h"

#include <chrono>
#include <string>
#include <vector>

namespace tests {

inline constexpr const char* kServedBy = "gpu-scheduler";
// The profile that ships.
inline constexpr const char* kDefaultConfig =
    "{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration}";

class Cluster {
 public:
  // `config`: a KubeSchedulerConfiguration of one profile.
  explicit Cluster(const char* config = kDefaultConfig);

  void has(const k8s::Node& object) { apply(sched::event::NodeUpserted{object}); }
  void lacks(const std::string& name) { apply(sched::event::NodeDeleted{name}); }
  void has(const k8s::Pod& object) { apply(sched::event::PodUpserted{object}); }
  void gone(const k8s::Pod& object);
  void wait(std::chrono::seconds time) { now_ += time; }

  // All that there are now.
  std::vector<sched::Decision> decide();
  // The node that the pod gets; else what it is told.
  std::string place(const k8s::Pod& object);

 private:
  void apply(const sched::Event& event) { engine_.apply(event, now_); }

  sched::Engine engine_;
  sched::Time now_{};
};

}  // namespace tests
