#include "scheduler/framework/host_ports.h"

#include <algorithm>

namespace sched {

namespace {

constexpr const char* kEveryAddress = "0.0.0.0";

void add_ports(const k8s::Container& container, std::vector<HostPort>& ports) {
  for (const k8s::ContainerPort& port : container.ports) {
    if (port.host_port <= 0) continue;
    ports.push_back({.ip = port.host_ip.empty() ? kEveryAddress : port.host_ip,
                     .protocol = port.protocol.empty() ? "TCP" : port.protocol,
                     .port = port.host_port});
  }
}

}  // namespace

bool HostPort::clashes_with(const HostPort& other) const {
  return port == other.port && protocol == other.protocol &&
         (ip == other.ip || ip == kEveryAddress || other.ip == kEveryAddress);
}

std::vector<HostPort> host_ports_of(const k8s::Pod& pod) {
  std::vector<HostPort> ports;
  for (const k8s::Container& container : pod.spec.init_containers) {
    if (container.restart_always) add_ports(container, ports);
  }
  for (const k8s::Container& container : pod.spec.containers) add_ports(container, ports);
  std::sort(ports.begin(), ports.end());
  return ports;
}

}  // namespace sched
