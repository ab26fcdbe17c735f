// What a request costs over each transport: POSTs to a real API server, in one run.
//
// Rounds alternate between the transports, each in the other order than the one before, so that
// what else the machine does falls on both. What counts is the ratio within a round. The request is
// a SelfSubjectReview: answered by the API server alone, without the store behind it.
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
