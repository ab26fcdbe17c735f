#include "bench/questions/questions.h"

#include "bench/decide/cluster.h"
#include "bench/decide/kinds.h"
#include "plugins/registry.h"
#include "scheduler/answers/why.h"
#include "scheduler/config/config.h"
#include "scheduler/engine/engine.h"
#include "scheduler/kubectl-gpu/table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <ctime>
#include <limits>
#include <stdexcept>
#include <utility>

namespace bench::questions {
namespace {

constexpr sched::Time kNow{std::chrono::seconds{1'767'265'200}};
// A scrape each quarter of a minute, as manifests/monitoring has it.
constexpr double kScrapeInterval = 15;
constexpr std::size_t kNamespaces = 300;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

sched::Engine make_engine() {
  auto config = sched::config::parse("", "default", plugins::registry());
  if (!config) throw std::runtime_error(config.error().message);
  return {std::move(config->profiles), std::move(config->engine)};
}

class Cluster {
 public:
  Cluster(std::size_t nodes, const Options& options) : kinds_(decide::kinds(100)) {
    for (std::size_t i = 0; i < nodes; ++i) apply(sched::event::NodeUpserted{decide::node(i)});
    for (std::size_t i = 0; i < nodes; ++i) {
      const decide::NodeGroup& group = decide::kGroups[decide::group_of(i)];
      std::int64_t free = group.gpus;
      for (std::size_t k = 0; k < options.pods_per_node; ++k) free -= add_bound(i, free);
    }
    apply(sched::event::Synced{});
    for (std::size_t i = 0; i < options.waiting; ++i) {
      k8s::Pod pod = decide::numbered(decide::unfit_pod(i % kinds_.size()), ++pods_);
      pod.metadata.namespace_ = namespace_of(i);
      apply(sched::event::PodUpserted{std::move(pod)});
    }
    while (engine_.step(kNow)) {
    }
  }

  // For which pods would have to end, on whichever node it goes to.
  [[nodiscard]] k8s::Pod pod_without_room() const {
    k8s::Pod pod = with_gpus(kinds_[0].pod, 8);
    pod.metadata.name = pod.metadata.uid = "without-room";
    return pod;
  }
  // The same with two things that it asks of a node, each of which it might do without.
  [[nodiscard]] k8s::Pod pod_with_wishes() const {
    k8s::Pod pod = pod_without_room();
    pod.spec.node_selector.set("topology.kubernetes.io/zone", "europe-west4-a");
    pod.metadata.annotations.set("gpu-scheduler.io/gpu-type", "H100");
    return pod;
  }

  // The shortest time of some.
  template <typename Ask>
  [[nodiscard]] double cost(std::size_t rounds, const Ask& ask) const {
    double least = std::numeric_limits<double>::max();
    for (std::size_t i = 0; i < rounds; ++i) {
      const double began = cpu_seconds();
      const auto answer = ask(engine_);
      least = std::min(least, cpu_seconds() - began);
      static_cast<void>(answer);
    }
    return least;
  }

  // The median over pods of ten kinds that come, are placed and go.
  [[nodiscard]] double cost_of_decision() {
    constexpr std::size_t kDecisions = 1'001;
    std::vector<double> spent;
    for (std::size_t i = 0; i < kDecisions; ++i) {
      k8s::Pod pod = decide::numbered(kinds_[i % 10].pod, ++pods_);
      const std::string uid = pod.metadata.uid;
      k8s::Pod gone = pod;
      apply(sched::event::PodUpserted{std::move(pod)});
      const double began = cpu_seconds();
      while (engine_.step(kNow)) {
      }
      spent.push_back(cpu_seconds() - began);
      apply(sched::event::PodDeleted{.pod = {gone.metadata.namespace_, gone.metadata.name, uid}});
    }
    const auto middle = spent.begin() + kDecisions / 2;
    std::nth_element(spent.begin(), middle, spent.end());
    return *middle;
  }

 private:
  void apply(sched::Event event) { engine_.apply(std::move(event), kNow); }
  static std::string namespace_of(std::size_t i) {
    return "team-" + std::to_string(i % kNamespaces);
  }

  static k8s::Pod with_gpus(k8s::Pod pod, std::int64_t gpus) {
    for (k8s::Container& container : pod.spec.containers) {
      for (auto& [resource, amount] : container.limits) {
        if (resource == "nvidia.com/gpu") amount = k8s::Quantity::of(gpus);
      }
    }
    return pod;
  }

  // Returns the GPUs of a pod that is put on that node; 0: it has none, or none is free.
  std::int64_t add_bound(std::size_t node, std::int64_t free) {
    if (free <= 0) return 0;
    const std::int64_t gpus = 1 + static_cast<std::int64_t>(pods_ % 2);
    if (gpus > free) return 0;
    k8s::Pod pod = with_gpus(decide::numbered(kinds_[0].pod, ++pods_), gpus);
    pod.metadata.namespace_ = namespace_of(pods_);
    pod.spec.node_name = decide::node(node).metadata.name;
    apply(sched::event::PodUpserted{std::move(pod)});
    return gpus;
  }

  std::vector<decide::Kind> kinds_;
  std::size_t pods_ = 0;
  sched::Engine engine_ = make_engine();
};

}  // namespace

std::vector<Figure> measure(std::size_t nodes, const Options& options) {
  Cluster cluster(nodes, options);
  const auto cost = [&](const auto& ask) { return cluster.cost(options.rounds, ask); };
  std::vector<Figure> figures;
  const auto add = [&](std::string question, double seconds) {
    figures.push_back({.question = std::move(question), .nodes = nodes, .cpu_seconds = seconds});
  };
  add("a scrape (gpu_totals)", cost([](const auto& engine) { return engine.gpu_totals(); }));
  add("the page: nodes (gpu_nodes)", cost([](const auto& engine) { return engine.gpu_nodes(); }));
  add("the page: waiting pods (in_line)",
      cost([](const auto& engine) { return engine.in_line(); }));
  const auto why = [&](const k8s::Pod& pod) {
    return cost([&](const auto& engine) {
      return sched::answers::why_seen(engine, pod, {"gpu-scheduler"}, kNow);
    });
  };
  add("why a pod waits (why_seen)", why(cluster.pod_without_room()));
  add("the same of a pod with two wishes", why(cluster.pod_with_wishes()));
  add("a decision", cluster.cost_of_decision());
  return figures;
}

int run(const Options& options, std::ostream& out) {
  nlohmann::json all = nlohmann::json::array();
  sched::kubectl::Table table({">NODES", "QUESTION", ">MS", ">DECISIONS", ">% AT ONE IN 15 s"});
  for (const std::size_t nodes : options.nodes) {
    const std::vector<Figure> figures = measure(nodes, options);
    const double decision = figures.back().cpu_seconds;
    for (const Figure& figure : figures) {
      const double decisions = figure.cpu_seconds / decision;
      const double percent = 100 * figure.cpu_seconds / kScrapeInterval;
      all.push_back({{"nodes", nodes},
                     {"question", figure.question},
                     {"cpu_seconds", figure.cpu_seconds},
                     {"decisions", decisions},
                     {"percent_at_15_s", percent}});
      table.add({std::to_string(nodes), figure.question,
                 fmt::format("{:.3f}", 1e3 * figure.cpu_seconds), fmt::format("{:.0f}", decisions),
                 fmt::format("{:.3f}", percent)});
    }
  }
  if (options.output == Output::kJson) {
    out << all.dump(2) << '\n';
  } else {
    table.print(out, {});
  }
  return 0;
}

}  // namespace bench::questions
