// A cluster in which a crowd of one tenant's pods may cost a neighbour's pods steps and bytes.
#pragma once

#include "scheduler/engine/engine.h"
#include "tests/support/builders.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tests {

inline constexpr int kNodes = 200;

// Of eight GPUs, in one of three zones. Its name is "n" and the number.
[[nodiscard]] k8s::Node node_of(int i);
// Its name is the team, "-" and the number.
[[nodiscard]] PodBuilder pod_of(const char* team, int i);
// Near pods of its own namespace with the label "app" of that value, by zones.
[[nodiscard]] k8s::PodAffinityTerm near_own(const std::string& value);
// "made", whose claims wait for their pod.
[[nodiscard]] k8s::StorageClass waiting_class();
// A claim that is not bound.
[[nodiscard]] k8s::PersistentVolumeClaim claim_of(const std::string& team, const std::string& name,
                                                  const std::string& storage_class);

// kNodes nodes, and one of the neighbour's pods.
class Cluster {
 public:
  explicit Cluster(const sched::EngineMemory& memory = {},
                   std::optional<sched::Preemption> preemption = {});

  void tell(sched::Event event);
  // What has to be written for pods before they are bound is written.
  void prepare_all();
  // Time passes; returns how many decisions there are then.
  int pass(sched::Time::duration time);

  [[nodiscard]] const sched::Engine& engine() const { return engine_; }
  [[nodiscard]] sched::Time now() const { return now_; }

  // One of the neighbour's pods ends, and another comes.
  void turn();
  // One of the neighbour's pods comes, and is bound.
  void neighbour_comes();

 private:
  sched::Time now_{std::chrono::seconds{1'000'000}};
  sched::Engine engine_;
  sched::decision::Bind bound_;
  std::vector<std::uint64_t> plans_;  // in preparation
  int neighbours_ = 0;
};

}  // namespace tests
