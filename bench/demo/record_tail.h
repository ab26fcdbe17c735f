// Reads a scheduler's record while it is being written, for the decisions in it.
#pragma once

#include "k8s-client/error.h"
#include "scheduler/engine/decision.h"

#include <fstream>
#include <functional>
#include <string>

namespace bench {

class RecordTail {
 public:
  explicit RecordTail(std::string file) : file_(std::move(file)) {}

  // Hands out the decisions written since the last call. A file that is not there yet has none; a
  // line that is not finished yet waits for the next call.
  [[nodiscard]] k8s::Result<void> read(const std::function<void(const sched::Decision&)>& each);

 private:
  std::string file_;
  std::ifstream in_;
  std::string line_;
  bool header_seen_ = false;
};

}  // namespace bench
