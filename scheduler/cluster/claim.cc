#include "scheduler/cluster/claim.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace sched {
namespace {

constexpr std::int64_t kLimit = std::numeric_limits<std::int64_t>::max();

bool at_limit(const NodeUsage& usage, const Claim& claim) {
  return usage.nonzero.cpu == kLimit || usage.nonzero.memory == kLimit ||
         usage.gpu_memory == kLimit ||
         std::any_of(claim.requests.begin(), claim.requests.end(),
                     [&](const ResourceAmount& request) {
                       return usage.requested.get(request.resource) == kLimit;
                     });
}

}  // namespace

Claim claim_of(const PodShape& shape) {
  return {.requests = shape.requests,
          .nonzero = shape.nonzero,
          .host_ports = shape.host_ports,
          .devices = {},
          .gpu_size = gpu::size_class_of(shape.gpu),
          .gpu_memory = shape.gpu_memory};
}

Claim claim_of_bound(const k8s::Pod& pod, ResourceNames& names) {
  Claim claim{.requests = {},
              .nonzero = nonzero_requests_of(pod, true),
              .host_ports = host_ports_of(pod),
              .devices = {},
              .gpu_size = {},
              .gpu_memory = 0};
  const Resources requests = requests_of_bound(pod, names);
  requests.for_each([&](ResourceId id, std::int64_t amount) {
    if (id != kPods && amount > 0) claim.requests.push_back({id, amount});
  });
  claim.gpu_size = gpu::size_class_of(gpu::demand_of(claim.requests, pod.spec, names));
  claim.gpu_memory = gpu_memory_of(gpu::wishes_of(pod), claim.requests, names);
  return claim;
}

void add_claim(NodeUsage& usage, const Claim& claim) {
  usage.requested.add(claim.requests);
  usage.requested.add(kPods, 1);
  usage.nonzero.cpu = saturating_add(usage.nonzero.cpu, claim.nonzero.cpu);
  usage.nonzero.memory = saturating_add(usage.nonzero.memory, claim.nonzero.memory);
  for (const HostPort& port : claim.host_ports) {
    auto& ports = usage.host_ports;
    ports.insert(std::upper_bound(ports.begin(), ports.end(), port), port);
  }
  for (const gpu::DeviceShare& share : claim.devices) gpu::add(usage.devices, share);
  if (claim.gpu_size) ++usage.gpu_pods[static_cast<std::size_t>(*claim.gpu_size)];
  usage.gpu_memory = saturating_add(usage.gpu_memory, claim.gpu_memory);
}

bool subtract_claim(NodeUsage& usage, const Claim& claim) {
  if (at_limit(usage, claim)) return false;
  usage.requested.subtract(claim.requests);
  usage.requested.add(kPods, -1);
  usage.nonzero.cpu -= claim.nonzero.cpu;
  usage.nonzero.memory -= claim.nonzero.memory;
  for (const HostPort& port : claim.host_ports) {
    auto& ports = usage.host_ports;
    ports.erase(std::lower_bound(ports.begin(), ports.end(), port));
  }
  for (const gpu::DeviceShare& share : claim.devices) gpu::subtract(usage.devices, share);
  if (claim.gpu_size) --usage.gpu_pods[static_cast<std::size_t>(*claim.gpu_size)];
  usage.gpu_memory -= claim.gpu_memory;
  return true;
}

}  // namespace sched
