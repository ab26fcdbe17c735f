// Flags that have no effect beside others, in one table. Such a command line is refused, because
// what it asks for would not happen.
//
// Not in the table: --bind-address beside --secure-port 0 and the lease's times without leader
// election, because the manifests and scripts for kube-scheduler always pass them.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace sched::live {

// What the command line switches on.
struct SwitchedOn {
  bool secure_port = false;
  bool record = false;
  bool flight_recording = false;
  bool flight_recording_dir = false;
};

// What is wrong with the first flag of the table that is given and has no effect; nullopt: nothing.
// `is_given` is asked for names such as "--record".
[[nodiscard]] std::optional<std::string> idle_flag(
    const SwitchedOn& on, const std::function<bool(const std::string& flag)>& is_given);

}  // namespace sched::live
