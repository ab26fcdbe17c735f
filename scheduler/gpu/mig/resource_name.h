// The resource names of MIG instances: "nvidia.com/mig-1g.10gb",
// "nvidia.com/mig-1g.24gb.me.shared".
//
// Resource names have no '+', so the device plugin writes "1g.10gb+me" as "1g.10gb.me"; a suffix
// after '-' ("1g.24gb-me") stays. A trailing ".shared" is not part of the profile. Source: NVIDIA
// k8s-device-plugin, internal/rm.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sched::gpu::mig {

struct ResourceName {
  std::string profile;  // as the resource writes it: "1g.10gb.me"
  bool shared = false;
};

// nullopt: not a resource of a MIG profile.
[[nodiscard]] std::optional<ResourceName> parse_resource(std::string_view resource);

// A profile's name in the spelling of resources; nullopt: not a profile's name ("<g>g.<m>gb" with a
// suffix). Accepts NVIDIA's spelling, too.
[[nodiscard]] std::optional<std::string> profile_spelling(std::string_view profile);

}  // namespace sched::gpu::mig
