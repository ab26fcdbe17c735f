#include "k8s-client/api/protobuf/objects.h"
#include "k8s-client/api/words.h"

#include <utility>

namespace k8s::protobuf {
namespace {

bool read(Value value, ContainerPort& out) {
  return value.fields([&](std::uint32_t number, Value field) {
    if (number == 2) return protobuf::read(field, out.host_port);
    if (number == 4) return protobuf::read(field, out.protocol);
    if (number == 5) return protobuf::read(field, out.host_ip);
    return true;
  });
}

bool read_port(Value value, std::vector<ContainerPort>& out) {
  ContainerPort port;
  if (!read(value, port)) return false;
  if (port.host_port != 0) out.push_back(std::move(port));
  return true;
}

bool read_restart_rule(Value value, bool& restarts_all) {
  return value.fields([&](std::uint32_t number, Value field) {
    if (number == 1 && field.bytes() == "RestartAllContainers") restarts_all = true;
    return true;
  });
}

bool read(Value value, Container& out) {
  return value.fields([&](std::uint32_t number, Value field) {
    switch (number) {
      case 1:
        return protobuf::read(field, out.name);
      case 2:
        return protobuf::read(field, out.image);
      case 6:
        return read_port(field, out.ports);
      case 8:
        return field.fields([&](std::uint32_t inner_number, Value inner) {
          if (inner_number == 1) return read_entry(inner, out.limits);
          if (inner_number == 2) return read_entry(inner, out.requests);
          return true;
        });
      case 24:
        out.restart_always = field.bytes() == "Always";
        return true;
      case 25:
        return read_restart_rule(field, out.restarts_all_containers);
      default:
        return true;
    }
  });
}

bool read(Value value, Toleration& out) {
  return value.fields([&](std::uint32_t number, Value field) {
    switch (number) {
      case 1:
        return protobuf::read(field, out.key);
      case 2:
        out.op = toleration_operator(field.bytes());
        return true;
      case 3:
        return protobuf::read(field, out.value);
      case 4:
        // An empty effect means the same as an absent one: all effects.
        if (!field.bytes().empty()) out.effect = taint_effect(field.bytes());
        return true;
      default:
        return true;
    }
  });
}

// The first field of a message, a text.
bool read_name(Value value, std::string& out) {
  return value.fields(
      [&](std::uint32_t number, Value field) { return number != 1 || protobuf::read(field, out); });
}

bool read_pod_resources(Value value, Pod::Spec& out) {
  return value.fields([&](std::uint32_t number, Value field) {
    if (number != 2) return true;
    if (!out.resource_requests) out.resource_requests.emplace();
    return read_entry(field, *out.resource_requests);
  });
}

}  // namespace

bool read(Value value, Pod::Spec& out) {
  std::vector<StringMap::Entry> node_selector;
  const bool ok = value.fields([&](std::uint32_t number, Value field) {
    switch (number) {
      case 1:
        return read_volume(field, out);
      case 2:
        return read(field, out.containers.emplace_back());
      case 7:
        return read_entry(field, node_selector);
      case 10:
        return read(field, out.node_name);
      case 11:
        return read(field, out.host_network);
      case 18:
        return read_affinity(field, out);
      case 19:
        return read(field, out.scheduler_name);
      case 20:
        return read(field, out.init_containers.emplace_back());
      case 22:
        return read(field, out.tolerations.emplace_back());
      case 24:
        return read(field, out.priority_class_name);
      case 25:
        return read(field, out.priority);
      case 31:
        return read(field, out.preemption_policy);
      case 32:
        return read_entry(field, out.overhead);
      case 33:
        return read(field, out.topology_spread_constraints.emplace_back());
      case 37: {
        bool of_host = true;
        if (!read(field, of_host)) return false;
        out.user_namespace = !of_host;
        return true;
      }
      case 38:
        return read_name(field, out.scheduling_gates.emplace_back());
      case 39:
        return read_name(field, out.resource_claims.emplace_back().name);
      case 40:
        return read_pod_resources(field, out);
      default:
        return true;
    }
  });
  if (!node_selector.empty()) out.node_selector = StringMap(std::move(node_selector));
  return ok;
}

}  // namespace k8s::protobuf
