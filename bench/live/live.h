// live: compares the scheduler with kube-scheduler and the floor, on a real API server.
//
// A program of the cluster tests measures (tests/cluster/cmd/compare, in Go): it starts the control
// plane and the subjects with their own identities, and watches them. This code finds that program
// beside the build, passes it the gpu-scheduler of the same build, and executes it in place of
// itself. tests/cluster/README.md explains the figures.
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

// Executes the harness in place of this process. Returns only if that is not possible, with an exit
// code and the reason on `errors`; so before `tests/cluster/build.sh` was run.
[[nodiscard]] int run(const std::vector<std::string>& arguments, std::ostream& errors);

}  // namespace bench::live
