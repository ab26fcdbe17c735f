// Host ports in use on a node, and whether two uses clash.
//
// Two uses clash when protocol and port are equal and the addresses are equal or one of them is
// 0.0.0.0. Source: kube-scheduler framework/types.go, HostPortInfo.
#pragma once

#include "k8s-client/api/pod.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sched {

struct HostPort {
  std::string ip;        // never empty: "0.0.0.0" stands for all
  std::string protocol;  // never empty: "TCP"
  std::int32_t port = 0;
  [[nodiscard]] bool clashes_with(const HostPort& other) const;
  friend bool operator==(const HostPort&, const HostPort&) = default;
  friend auto operator<=>(const HostPort&, const HostPort&) = default;
};

// The host ports of containers and sidecars, sorted; ports ≤ 0 are left out.
[[nodiscard]] std::vector<HostPort> host_ports_of(const k8s::Pod& pod);

}  // namespace sched
