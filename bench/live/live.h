// live: the scheduler beside kube-scheduler and the floor, on a real API server.
//
// The measuring itself is done by a program of the cluster tests (tests/cluster/cmd/compare, in
// Go), which starts the control plane, the subjects under their own identities, and watches them;
// this finds it beside the build it belongs to, names the gpu-scheduler that was built with this
// bench, and becomes it. What the figures mean is in tests/cluster/README.md.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

namespace bench::live {

// The command line of the harness: its path, the arguments as given ("series" stays first), and
// --gpu-scheduler unless they have one. `self` is the path of this bench,
// DIR/build/PRESET/bin/bench; the harness is DIR/build/cluster/bin/compare.
[[nodiscard]] std::vector<std::string> command_line(const std::filesystem::path& self,
                                                    const std::vector<std::string>& arguments);

// Becomes the harness; returns, with an exit code and the reason on `errors`, only if that cannot
// be, which it cannot before `tests/cluster/build.sh` was run.
[[nodiscard]] int run(const std::vector<std::string>& arguments, std::ostream& errors);

}  // namespace bench::live
