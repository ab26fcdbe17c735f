// A small trace for tests of workloads.
#pragma once

#include "bench/replay/trace/trace.h"
#include "tests/support/builders.h"

#include <cstdint>
#include <optional>
#include <string>

namespace bench::replay {

inline TracePod lived(k8s::Pod pod, std::optional<Moment> created, std::optional<Moment> deleted) {
  return {.pod = std::move(pod), .created = created, .deleted = deleted};
}

inline k8s::Pod asks(const std::string& name, std::int64_t gpus) {
  return tests::pod(name).gpus(gpus);
}

inline k8s::Pod asks_milli(const std::string& name, const std::string& milli) {
  return tests::pod(name).requests("gpu-scheduler.io/gpu-milli", milli);
}

// `nodes` nodes of eight GPUs; per ten pods: two without GPU, three of 300 and one of 700
// thousandths, two of one GPU, one of two and one of eight: 1.36 GPUs each on average. Pod i came
// at i minutes and lived for i + 1 minutes. Names are in no order.
inline Trace small_trace(std::size_t nodes, std::size_t pods) {
  Trace trace;
  trace.name = "small";
  for (std::size_t i = 0; i < nodes; ++i) {
    trace.nodes.push_back(tests::node("n" + std::to_string(i)).gpus(8));
  }
  for (std::size_t i = 0; i < pods; ++i) {
    const std::string name = "p" + std::to_string(i * 7'919 % 100'003);
    k8s::Pod pod = tests::pod(name);
    if (i % 10 >= 2 && i % 10 < 5) pod = asks_milli(name, "300");
    if (i % 10 == 5) pod = asks_milli(name, "700");
    if (i % 10 == 6 || i % 10 == 7) pod = asks(name, 1);
    if (i % 10 == 8) pod = asks(name, 2);
    if (i % 10 == 9) pod = asks(name, 8);
    const Moment created = std::chrono::minutes(i);
    trace.pods.push_back(lived(pod, created, created + std::chrono::minutes(i + 1)));
  }
  return trace;
}

}  // namespace bench::replay
