// What would the scheduler do with these pods on that cluster, now?
//
// Reads the cluster's state once, puts the pods behind it as if they had just been created, with
// the claims and volumes that stand beside them in their files, and prints what the engine decides.
// It writes nothing: no pod, no namespace, no event. The pods see each other, so ten pods for eight
// GPUs show which two would wait.
#pragma once

#include <string>
#include <vector>

namespace bench {

struct WhatIfOptions {
  std::string kubeconfig;
  std::string config;
  std::string namespace_ = "default";
  std::vector<std::string> files;
};

// The process's exit code: 0 when every pod was judged, 1 when the cluster could not be read, 2 for
// bad input. Pods that would wait are a result, not a failure.
[[nodiscard]] int run_what_if(const WhatIfOptions& options);

}  // namespace bench
