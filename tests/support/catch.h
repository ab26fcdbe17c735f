// The test framework, whichever major version is installed. Tests use the names of version 2.
#pragma once

#if __has_include(<catch2/catch.hpp>)
#include <catch2/catch.hpp>
#else
#include <catch2/catch_all.hpp>

#include <string>

namespace Catch {
using Matchers::EndsWith;
using Matchers::Matches;
using Matchers::StartsWith;
using TestEventListenerBase = EventListenerBase;
inline auto Contains(const std::string& text) { return Matchers::ContainsSubstring(text); }
}  // namespace Catch
using Catch::Approx;
#endif
