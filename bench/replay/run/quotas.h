// GPU quotas in a replay: read from a file, and how much of each is used over time.
//
// The engine gets the quotas before anything else, and the pods' namespaces, which are those of the
// trace. Of a namespace's labels a trace has only the one that Kubernetes gives each,
// kubernetes.io/metadata.name. Every hundredth of a run, by time or by pods that came, the engine
// is asked for the account that a live scheduler would write into the quotas' status.
#pragma once

#include "bench/replay/result.h"
#include "bench/replay/trace/trace.h"
#include "k8s-client/api/gpu_quota.h"
#include "k8s-client/api/namespace.h"
#include "k8s-client/error.h"
#include "scheduler/engine/engine.h"

#include <string>
#include <vector>

namespace bench::replay {

// Every GpuQuota of a YAML file of one or more documents; another kind, or an invalid one, is an
// error with file and line, and so is a file without any. Without times of creation an earlier one
// in the file is the older one.
[[nodiscard]] k8s::Result<std::vector<k8s::GpuQuota>> read_quotas(const std::string& file);

// The namespaces of the trace's pods, by name.
[[nodiscard]] std::vector<k8s::Namespace> namespaces_of(const Trace& trace);

class QuotaSteps {
 public:
  // Until `end`, which is hours since the start, or a number of pods.
  explicit QuotaSteps(double end) : interval_(end / kSteps) {}

  // `x` does not decrease. Asks the engine if a step has passed.
  void advance(double x, const sched::Engine& engine);
  // Nothing changes from `x` until `end`. If a step passes by then, writes down what holds so long,
  // unless it is what was written down last.
  void holds(double x, double end, const sched::Engine& engine);
  // Also records the end.
  void finish(double x, const sched::Engine& engine);
  [[nodiscard]] const std::vector<QuotaStep>& steps() const { return steps_; }

 private:
  void ask(double x, const sched::Engine& engine);

  static constexpr int kSteps = 100;
  double interval_;
  double next_ = 0;
  std::vector<QuotaStep> steps_;
};

}  // namespace bench::replay
