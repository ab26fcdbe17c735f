// The version of a program.
#pragma once

#include <string_view>

namespace sched {

// With the commit that it was built from, as a semantic version. Each program that names it has it
// from write_version (cmake/version.cmake).
extern const std::string_view kVersion;

}  // namespace sched
