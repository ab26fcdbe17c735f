// Reads the decisions of a scheduler's record while it is being written.
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

  // Returns the decisions written since the last call. A missing file has none; an unfinished line
  // is read by a later call.
  [[nodiscard]] k8s::Result<void> read(const std::function<void(const sched::Decision&)>& each);

 private:
  std::string file_;
  std::ifstream in_;
  std::string line_;
  bool header_seen_ = false;
};

}  // namespace bench
