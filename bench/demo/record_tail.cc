#include "bench/demo/record_tail.h"

#include "scheduler/live/record/record.h"

#include <variant>

namespace bench {

k8s::Result<void> RecordTail::read(const std::function<void(const sched::Decision&)>& each) {
  if (!in_.is_open()) in_.open(file_);
  if (!in_.is_open()) return {};
  in_.clear();
  std::string part;
  while (std::getline(in_, part)) {
    line_ += part;
    if (in_.eof()) break;  // no newline yet
    const std::string line = std::exchange(line_, {});
    if (!std::exchange(header_seen_, true)) continue;
    auto call = sched::live::decode_call(line);
    if (!call) return tl::unexpected(k8s::with_context(call.error(), file_));
    const auto* step = std::get_if<sched::live::StepCall>(&*call);
    if (step != nullptr && step->decision) each(*step->decision);
  }
  return {};
}

}  // namespace bench
