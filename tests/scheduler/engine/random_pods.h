// What a model of random events knows of pods, whatever the events are about, and what may happen
// to a pod that was decided: its bind fails or goes through, the watch shows it, it ends.
#pragma once

#include "tests/scheduler/engine/harness.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace tests {

class RandomPods {
 protected:
  enum class Stage { kWaiting, kPreparing, kAssumed, kBound };
  struct Pod {
    k8s::Pod object;
    std::string resource = "nvidia.com/gpu";
    std::int64_t count = 0;  // of that resource
    Stage stage = Stage::kWaiting;
    std::string node;
    std::string charged_as;  // noted when it was bound
    bool ours = true;
    bool server_took_it = false;
    sched::Time backoff_until{};
  };

  explicit RandomPods(unsigned seed, sched::EngineOptions options = {})
      : random_(seed), s_(std::move(options)) {}

  unsigned pick(std::size_t n) { return static_cast<unsigned>(random_() % n); }

  // A random pod in that stage; null: there is none.
  Pod* some(Stage stage) {
    std::vector<Pod*> found;
    for (auto& [name, pod] : pods_) {
      if (pod.stage == stage) found.push_back(&pod);
    }
    return found.empty() ? nullptr : found[pick(found.size())];
  }
  [[nodiscard]] std::string new_name(const char* kind) { return kind + std::to_string(++created_); }
  // It was bound by another client.
  void is_foreign(Pod& pod, const std::string& node) {
    pod.object.spec.node_name = node;
    pod.ours = false;
    pod.stage = Stage::kBound;
    pod.node = node;
    s_.has(pod.object);
  }

  // A pod is deleted, or has finished.
  void pod_gone() {
    if (pods_.empty()) return;
    const auto gone = std::next(pods_.begin(), pick(pods_.size()));
    if (pick(2) == 0 && gone->second.stage == Stage::kBound) {
      k8s::Pod finished = as_stored(gone->second);
      finished.status.phase = k8s::PodPhase::kSucceeded;
      s_.has(finished);
    } else {
      s_.pod_gone(gone->second.object);
    }
    pods_.erase(gone);
  }
  void bind_failed() {
    Pod* pod = some(Stage::kAssumed);
    if (pod == nullptr || pod->server_took_it) return;
    s_.bind_failed(pod->object, pod->node);
    pod->stage = Stage::kWaiting;
    pod->backoff_until = s_.now + std::chrono::seconds(1);  // at least
  }
  void bind_succeeded() {
    Pod* pod = some(Stage::kAssumed);
    if (pod == nullptr) return;
    s_.bind_succeeded(pod->object, pod->node);
    pod->server_took_it = true;
  }
  void watch_shows_bound() {
    Pod* pod = some(Stage::kAssumed);
    if (pod == nullptr) return;
    s_.has(as_stored(*pod));
    pod->stage = Stage::kBound;
  }
  // As the API server has it.
  [[nodiscard]] static k8s::Pod as_stored(const Pod& pod) {
    k8s::Pod object = pod.object;
    if (pod.stage == Stage::kWaiting) return object;
    object.spec.node_name = pod.node;
    if (!pod.charged_as.empty()) {
      object.metadata.annotations.set("gpu-scheduler.io/charged-as", pod.charged_as);
    }
    return object;
  }

  // What pods on the node have of a resource.
  [[nodiscard]] std::int64_t taken(const std::string& node, const std::string& resource) const {
    std::int64_t sum = 0;
    for (const auto& [name, pod] : pods_) {
      const bool there = pod.stage != Stage::kWaiting && pod.node == node;
      if (there && pod.resource == resource) sum += pod.count;
    }
    return sum;
  }

  std::mt19937 random_;
  Scheduler s_;
  std::map<std::string, Pod> pods_;  // by name

 private:
  int created_ = 0;
};

}  // namespace tests
