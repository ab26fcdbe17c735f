// Which pods of a trace come when: the unchanged trace, or a workload drawn from it.
//
//   trace            at their own times, for as long as they lived
//   backlog          all at once, in the order of their creation; none leaves
//   inflate:130      the trace shuffled, then pods drawn from it until they ask for 130 % of the
//                    cluster's GPUs; one after the other, none leaves. The protocol under which FGD
//                    was published (Weng et al., ATC'23, and its artefact).
//   stationary:95    a Poisson stream of pods drawn from the trace, with such lives that they would
//                    fill 95 % of the GPUs; starts from the population of that load
//
// All draws come from one seeded generator of this project, so that a seed gives the same workload
// everywhere.
#pragma once

#include "bench/replay/trace/trace.h"
#include "k8s-client/error.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

namespace bench::replay {

// How long pods of a stationary stream live: an hour on average, whatever the pod (the hour is a
// unit; figures do not depend on it), or, with kTrace, each as long as in the trace (stationary.h).
struct Life {
  enum class Kind : std::uint8_t { kExponential, kLogNormal, kTrace };
  Kind kind = Kind::kExponential;
  double sigma = 2.0;  // kLogNormal
};

struct TraceArrival {};
struct BacklogArrival {};
struct InflateArrival {
  double percent = 130;
};
struct StationaryArrival {
  double percent = 95;
  Life life;
  double warm_up_lives = 6;
  double window_lives = 24;
};
using ArrivalMode = std::variant<TraceArrival, BacklogArrival, InflateArrival, StationaryArrival>;

// "inflate:130", "stationary:95", "trace", "backlog".
[[nodiscard]] k8s::Result<ArrivalMode> parse_arrival(std::string_view text);
// "exponential", "lognormal:2", "trace".
[[nodiscard]] k8s::Result<Life> parse_life(std::string_view text);

struct Arrival {
  std::size_t pod = 0;  // index in Trace::pods; may come several times
  Moment at{0};
  std::optional<Moment> leaves;  // > at; nullopt: never
};

// In order of time; arrivals of one moment in the order in which they come.
struct Workload {
  std::vector<Arrival> arrivals;
  // The figures of a stationary stream are taken from `measure_from` to `ends`.
  Moment measure_from{0};
  std::optional<Moment> ends;  // nullopt: with the last event
};

// An error if the trace cannot be arranged in that way: no creation times, no GPU in the cluster.
[[nodiscard]] k8s::Result<Workload> arrange(const Trace& trace, const ArrivalMode& mode,
                                            std::uint64_t seed);

}  // namespace bench::replay
