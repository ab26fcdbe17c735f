// What a request costs over each transport: POSTs to a real API server, in one run.
//
// Rounds alternate between the transports, each in the opposite order of the one before, so that
// other load of the machine affects both. The result is the ratio within a round. The request is a
// SelfSubjectReview: the API server answers it alone, without its store.
#pragma once

#include <iosfwd>
#include <string>

namespace bench::transport {

struct Options {
  std::string kubeconfig;
  int requests = 5'000;  // of each round and transport
  int in_flight = 32;
  int rounds = 3;
};

// Writes a table to `out`. 0; 1 if a request was not answered with success, 2 if there is no
// cluster or no second transport, both with the reason on `errors`.
[[nodiscard]] int run(const Options& options, std::ostream& out, std::ostream& errors);

}  // namespace bench::transport
