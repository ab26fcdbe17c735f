#include "k8s-client/api/decode/read_fields.h"

namespace k8s::json {
namespace {

bool read_ports(JsonValue value, std::vector<ContainerPort>& out) {
  out.clear();
  return value.items([&](JsonValue item) {
    ContainerPort port;
    if (!read(item, port)) return false;
    const auto inside = item.find("containerPort");
    if (port.host_port == 0 && inside && !read(*inside, port.host_port)) return false;
    if (port.host_port != 0) out.push_back(std::move(port));
    return true;
  });
}

bool read_ports_of(JsonValue value, std::vector<Container>& out) {
  auto container = out.begin();
  return value.items([&](JsonValue item) {
    if (container == out.end()) return true;  // there is a second list, and that one counts
    const auto ports = item.find("ports");
    Container& of = *container++;
    return !ports || read_ports(*ports, of.ports);
  });
}

}  // namespace

// Of a pod on the host's network every port is one of the host. The API server writes that into
// hostPort; a manifest need not have it.
bool read(JsonValue value, Pod::Spec& out) {
  if (!read<Pod::Spec>(value, out)) return false;
  return !out.host_network || value.fields([&](std::string_view key, JsonValue field) {
    if (key == "initContainers") return read_ports_of(field, out.init_containers);
    if (key == "containers") return read_ports_of(field, out.containers);
    return true;
  });
}

}  // namespace k8s::json
