// The answer to "may a pod of this shape run on this node?".
//
// On the hot path an answer must cost nothing, so a Verdict is a code and a set of bits: bit i
// stands for the i-th of the reasons that the filter listed when it was prepared for the shape. The
// filter makes the texts and numbers only when a message needs them.
#pragma once

#include <cstdint>

namespace sched {

enum class Code : std::uint8_t {
  kOk,
  kUnschedulable,  // no, but something may change: a pod may leave
  kUnresolvable,   // no, and no eviction on this node can help: only other facts of the node can
};

// Kubernetes' names: "Success", "Unschedulable", "UnschedulableAndUnresolvable".
[[nodiscard]] constexpr const char* to_string(Code code) {
  switch (code) {
    case Code::kOk:
      return "Success";
    case Code::kUnschedulable:
      return "Unschedulable";
    case Code::kUnresolvable:
      return "UnschedulableAndUnresolvable";
  }
  return "";
}

class [[nodiscard]] Verdict {
 public:
  // A filter has at most this many different reasons.
  static constexpr unsigned kMaxReasons = 64;

  static constexpr Verdict ok() { return {}; }
  static constexpr Verdict unschedulable(std::uint64_t reasons) {
    return {Code::kUnschedulable, reasons};
  }
  static constexpr Verdict unresolvable(std::uint64_t reasons) {
    return {Code::kUnresolvable, reasons};
  }

  [[nodiscard]] constexpr Code code() const { return code_; }
  [[nodiscard]] constexpr bool is_ok() const { return code_ == Code::kOk; }
  // Bit i: reason i of the filter that answered. Zero exactly when ok.
  [[nodiscard]] constexpr std::uint64_t reasons() const { return reasons_; }

  friend constexpr bool operator==(const Verdict&, const Verdict&) = default;

 private:
  constexpr Verdict() = default;
  constexpr Verdict(Code code, std::uint64_t reasons) : code_(code), reasons_(reasons) {}

  Code code_ = Code::kOk;
  std::uint64_t reasons_ = 0;
};

}  // namespace sched
