// The loop of a replay: virtual time, the engine, and the account of its decisions.
//
// At each moment the pods that leave go first, then new pods come. With kRefuse the pods of one
// moment come one by one, each decided on before the next; with kQueue they all come, and the
// engine's queue decides the order. Binds succeed at once. A pod lives from when it is placed, so a
// pod that has waited leaves that much later.
//
// A pod's uid is the number of its arrival: a pod of the trace that comes again is another pod,
// with a name of its own ("train-0.1" the second time).
#pragma once

#include "bench/replay/account/account.h"
#include "bench/replay/account/kind_of_pod.h"
#include "bench/replay/arrivals/arrivals.h"
#include "bench/replay/run/decision_log.h"
#include "bench/replay/run/quotas.h"
#include "bench/replay/run/run.h"
#include "bench/replay/trace/trace.h"
#include "scheduler/base/resources.h"
#include "scheduler/engine/engine.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <string>
#include <vector>

namespace bench::replay {

// Whether pods leave, or the time is given: else a run is measured by how much has arrived.
[[nodiscard]] bool is_over_time(const Workload& workload);

[[nodiscard]] double in_hours(Moment moment);

class VirtualRun {
 public:
  // All arguments outlive it. `scheduler_name` is that of the engine's profile.
  struct Parts {
    const Trace& trace;
    const Workload& workload;
    const RunOptions& options;
    const std::string& scheduler_name;
    const sched::gpu::SiteLabels& site_labels;  // the engine's
    sched::Engine& engine;
    Account& account;
    QuotaSteps* quotas = nullptr;  // may be null
    DecisionLog* log = nullptr;    // may be null
  };
  explicit VirtualRun(const Parts& parts);

  // Runs to the end; false if it was stopped before.
  [[nodiscard]] bool run();
  [[nodiscard]] std::size_t decisions() const { return decisions_; }

 private:
  // Pods by number: arrivals of the workload first, then those present at the start.
  using Number = std::size_t;
  struct Departure {
    Moment at{0};
    Number pod = 0;
    friend auto operator<=>(const Departure&, const Departure&) = default;
  };

  void apply(const sched::Event& event);
  void begin();
  void was_there(Number number);
  // After it nothing counts; nullopt: there is no such time.
  [[nodiscard]] std::optional<Moment> end_of_time() const;
  // When something happens next; nullopt: never.
  [[nodiscard]] std::optional<Moment> next_moment() const;
  // Everything that happens now.
  void depart();
  void arrive();
  void arrive(Number number);
  void decide();
  // The progress of the run, as QuotaStep::x.
  [[nodiscard]] double progress() const;

  void carry_out(const sched::decision::Bind& bind);
  void carry_out(const sched::decision::Unschedulable& decision);
  // A pod that the engine has not placed leaves.
  void turn_away(Number number, const std::string& message, const std::string& details);

  [[nodiscard]] std::size_t trace_pod(Number number) const;
  [[nodiscard]] const KindOfPod& kind(Number number) const { return kinds_[trace_pod(number)]; }
  [[nodiscard]] sched::PodRef ref(Number number) const;
  // The pod as it comes, without traces of an earlier life.
  [[nodiscard]] k8s::Pod object(Number number) const;
  [[nodiscard]] sched::Time time() const;
  [[nodiscard]] bool refuses() const { return parts_.options.when_full == WhenFull::kRefuse; }

  const Parts parts_;
  const bool over_time_;
  sched::ResourceNames names_;
  std::vector<KindOfPod> kinds_;         // of the trace's pods
  std::vector<std::uint32_t> came_;      // of the trace's pods: how often so far
  std::vector<std::uint32_t> time_;      // by number: how often the pod came before
  std::vector<std::size_t> start_pods_;  // the trace's pods that were present at the start
  Moment now_{0};
  Number next_arrival_ = 0;
  std::priority_queue<Departure, std::vector<Departure>, std::greater<>> departures_;
  std::size_t decisions_ = 0;
};

}  // namespace bench::replay
