// What quotas that contend for an hour get of what their cohort lends, on average over time.
#include "tests/scheduler/engine/quota_cluster.h"

#include <chrono>
#include <map>
#include <random>
#include <string>

using namespace sched;
using namespace tests;
using namespace std::chrono_literals;

namespace {

// Teams that always have pods waiting, of one GPU each and of any length up to two minutes.
class Contention {
 public:
  explicit Contention(unsigned seed) : random_(seed) {
    for (int i = 0; i < 8; ++i) s_.has(h100("h" + std::to_string(i)));
    for (int i = 0; i < 4; ++i) s_.has(l4("l" + std::to_string(i), 8));
  }
  QuotaCluster& cluster() { return s_; }
  void add(const std::string& team, const std::string& product) { teams_[team] = product; }

  // GPUs in use by team, on average over an hour after the first ten minutes.
  std::map<std::string, double> run() {
    constexpr int kWarmUp = 600;
    constexpr int kHour = 3'600;
    std::map<std::string, double> mean;
    for (int second = 0; second < kWarmUp + kHour; ++second) {
      s_.now += 1s;
      for (auto end = ends_.begin(); end != ends_.end() && end->first <= s_.now;) {
        const k8s::Pod& pod = end->second;
        --running_[pod.metadata.namespace_];
        s_.pod_gone(pod);
        end = ends_.erase(end);
      }
      for (const auto& [team, product] : teams_) {
        while (waiting_[team] < 30) submit(team, product);
      }
      while (const auto decision = s_.engine.step(s_.now)) start(*decision);
      if (second < kWarmUp) continue;
      for (const auto& [team, pods] : running_) mean[team] += double(pods) / kHour;
    }
    return mean;
  }

 private:
  void submit(const std::string& team, const std::string& product) {
    const std::string name = team + std::to_string(++pods_);
    PodBuilder pod = in(team, name, 1).selects("nvidia.com/gpu.product", product);
    pod.created_at(s_.now);
    waiting_pods_.emplace(name, pod);
    s_.has(waiting_pods_.at(name));
    ++waiting_[team];
  }
  void start(const Decision& decision) {
    const auto* bind = std::get_if<decision::Bind>(&decision);
    if (bind == nullptr) return;
    const k8s::Pod pod = waiting_pods_.at(bind->pod.name);
    waiting_pods_.erase(bind->pod.name);
    --waiting_[pod.metadata.namespace_];
    ++running_[pod.metadata.namespace_];
    ends_.emplace(s_.now + std::chrono::seconds(1 + random_() % 120), pod);
  }

  QuotaCluster s_;
  std::mt19937 random_;
  int pods_ = 0;
  std::map<std::string, std::string> teams_;  // what they ask for
  std::map<std::string, k8s::Pod> waiting_pods_;
  std::map<std::string, int> waiting_;
  std::map<std::string, int> running_;
  std::multimap<Time, k8s::Pod> ends_;
};

bool is_about(double value, double want) { return value > 0.95 * want && value < 1.05 * want; }

}  // namespace

TEST_CASE("what a cohort lends goes to those who want it by their guarantees of that type") {
  Contention all(GENERATE(1U, 2U, 3U));
  const auto quota = [](const char* name) { return gpu_quota(name).of(name).in_cohort("c"); };
  // 64 H100. Small has twice the L4 of large and uses them all, which is no share of H100.
  all.cluster().has(quota("lender").line("H100", 40).line("L4", 0));
  all.cluster().has(quota("small").line("H100", 8).line("L4", 16));
  all.cluster().has(quota("large").line("H100", 16).line("L4", 8));
  all.cluster().has(quota("none").line("H100", 0));
  for (int i = 0; i < 16; ++i) {
    const std::string name = "l4-" + std::to_string(i);
    all.cluster().has(in("small", name, 1).on("l" + std::to_string(i / 8)));
  }
  for (const char* team : {"small", "large", "none"}) all.add(team, kH100);
  const auto mean = all.run();
  INFO("small " << mean.at("small") << ", large " << mean.at("large"));
  CHECK(is_about(mean.at("small"), 64.0 * 8 / 24));
  CHECK(is_about(mean.at("large"), 64.0 * 16 / 24));
  CHECK(mean.at("none") < 0.1);
}

TEST_CASE(
    "what a company lends goes to its departments by their weights, and in each to its teams") {
  Contention all(GENERATE(1U, 2U));
  // 64 H100, 40 of them unused. Physics weighs as much as it guarantees, biology twice that.
  all.cluster().has(gpu_quota("rest").of("rest").in_cohort("c").line("H100", 40));
  all.cluster().has(gpu_quota("physics").in_cohort("c").line("H100", 12));
  all.cluster().has(gpu_quota("biology").in_cohort("c").line("H100", 12).weighs(24));
  const auto team = [](const char* name, const char* parent) {
    return gpu_quota(name).of(name).in_quota(parent);
  };
  all.cluster().has(team("lattice", "physics").line("H100", 8));
  all.cluster().has(team("optics", "physics").line("H100", 4));
  all.cluster().has(team("cells", "biology").line("H100", 6).weighs(1));
  all.cluster().has(team("genes", "biology").line("H100", 6).weighs(3));
  for (const char* name : {"lattice", "optics", "cells", "genes"}) all.add(name, kH100);
  const auto mean = all.run();
  INFO("lattice " << mean.at("lattice") << ", optics " << mean.at("optics") << ", cells "
                  << mean.at("cells") << ", genes " << mean.at("genes"));
  const double physics = 12 + 40.0 / 3;
  CHECK(is_about(mean.at("lattice") + mean.at("optics"), physics));
  CHECK(is_about(mean.at("lattice"), physics * 8 / 12));
  CHECK(is_about(mean.at("cells"), 6 + (40.0 * 2 / 3) / 4));
  CHECK(is_about(mean.at("genes"), 6 + (40.0 * 2 / 3) * 3 / 4));
}
