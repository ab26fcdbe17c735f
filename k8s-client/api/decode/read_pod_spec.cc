#include "k8s-client/api/decode/objects.h"
#include "k8s-client/api/words.h"

namespace k8s::json {
namespace {

// Of a pod on the host's network every port is one of the host. The API server writes that into
// hostPort; a manifest need not have it.
bool read_ports(JsonValue value, bool host_network, std::vector<ContainerPort>& out) {
  out.clear();
  return value.items([&](JsonValue item) {
    ContainerPort port;
    std::int32_t inside = 0;
    const bool ok = item.fields([&](std::string_view key, JsonValue field) {
      if (key == "hostPort") return read(field, port.host_port);
      if (key == "containerPort" && host_network) return read(field, inside);
      if (key == "hostIP") return read(field, port.host_ip);
      if (key == "protocol") return read(field, port.protocol);
      return true;
    });
    if (port.host_port == 0) port.host_port = inside;
    if (ok && port.host_port != 0) out.push_back(std::move(port));
    return ok;
  });
}

bool read_resources(JsonValue value, Container& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "requests") return read(field, out.requests);
    if (key == "limits") return read(field, out.limits);
    return true;
  });
}

bool read_restart_rules(JsonValue value, bool& restarts_all) {
  return value.items([&](JsonValue item) {
    return item.fields([&](std::string_view key, JsonValue field) {
      if (key != "action") return true;
      std::string action;
      if (!read(field, action)) return false;
      restarts_all = restarts_all || action == "RestartAllContainers";
      return true;
    });
  });
}

bool read_container(JsonValue value, bool host_network, Container& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "name") return read(field, out.name);
    if (key == "image") return read(field, out.image);
    if (key == "resources") return read_resources(field, out);
    if (key == "ports") return read_ports(field, host_network, out.ports);
    if (key == "restartPolicyRules") {
      return read_restart_rules(field, out.restarts_all_containers);
    }
    if (key == "restartPolicy") {
      std::string policy;
      if (!read(field, policy)) return false;
      out.restart_always = policy == "Always";
    }
    return true;
  });
}

bool read_containers(JsonValue value, bool host_network, std::vector<Container>& out) {
  out.clear();
  out.reserve(value.item_count());
  return value.items(
      [&](JsonValue item) { return read_container(item, host_network, out.emplace_back()); });
}

bool read_operator(JsonValue value, TolerationOperator& out) {
  std::string text;
  if (!read(value, text)) return false;
  out = toleration_operator(text);
  return true;
}

bool read_tolerations(JsonValue value, std::vector<Toleration>& out) {
  out.clear();
  out.reserve(value.item_count());
  return value.items([&](JsonValue item) {
    Toleration& toleration = out.emplace_back();
    return item.fields([&](std::string_view key, JsonValue field) {
      if (key == "key") return read(field, toleration.key);
      if (key == "operator") return read_operator(field, toleration.op);
      if (key == "value") return read(field, toleration.value);
      // An empty effect means the same as an absent one: all effects.
      if (key == "effect" && field.string_or_empty() != "") {
        return read_optional(field, toleration.effect);
      }
      return true;
    });
  });
}

bool read_image_volume(JsonValue value, std::vector<std::string>& out) {
  std::string& reference = out.emplace_back();
  return value.fields([&](std::string_view key, JsonValue field) {
    return key != "reference" || read(field, reference);
  });
}

bool read_disk(JsonValue value, Volume& out) {
  const DiskSource& source = *disk_source(out.source);
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == source.id) return read(field, out.disk.id);
    if (key == "readOnly") return read(field, out.disk.read_only);
    if (source.name != "rbd") return true;
    if (key == "monitors") return read_list(field, out.disk.monitors);
    if (key == "pool") return read(field, out.disk.pool);
    return true;
  });
}

// Reads one volume; `node_free` if nothing of it ties the pod to nodes.
bool read_volume(JsonValue value, Volume& out, bool& node_free, std::vector<std::string>& images) {
  node_free = true;
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "name") return read(field, out.name);
    if (key == "image") return read_image_volume(field, images);
    if (mounts_anywhere(key)) return true;
    node_free = false;
    // The API server takes one source alone; of several the last one counts.
    out = {.name = std::move(out.name),
           .kind = volume_kind(key),
           .claim_name = {},
           .source = std::string(key)};
    if (out.kind == Volume::Kind::kDisk) return read_disk(field, out);
    if (out.kind != Volume::Kind::kPersistentVolumeClaim) return true;
    return field.fields([&](std::string_view name, JsonValue inner) {
      return name != "claimName" || read(inner, out.claim_name);
    });
  });
}

bool read_volumes(JsonValue value, Pod::Spec& out) {
  out.volumes.clear();
  out.image_volumes.clear();
  return value.items([&](JsonValue item) {
    Volume volume;
    bool node_free = true;
    if (!read_volume(item, volume, node_free, out.image_volumes)) return false;
    if (!node_free) out.volumes.push_back(std::move(volume));
    return true;
  });
}

// The field `name` of each item of a list.
bool read_names(JsonValue value, std::vector<std::string>& out) {
  out.clear();
  return value.items([&](JsonValue item) {
    std::string& name = out.emplace_back();
    return item.fields(
        [&](std::string_view key, JsonValue field) { return key != "name" || read(field, name); });
  });
}

bool read_claims(JsonValue value, std::vector<PodResourceClaim>& out) {
  out.clear();
  return value.items([&](JsonValue item) {
    std::string& name = out.emplace_back().name;
    return item.fields(
        [&](std::string_view key, JsonValue field) { return key != "name" || read(field, name); });
  });
}

bool read_placement(std::string_view key, JsonValue field, Pod::Spec& out) {
  if (key == "nodeSelector") return read(field, out.node_selector);
  if (key == "affinity") return read_affinity(field, out);
  if (key == "tolerations") return read_tolerations(field, out.tolerations);
  if (key == "topologySpreadConstraints") {
    return read_list(field, out.topology_spread_constraints);
  }
  if (key == "schedulingGates") return read_names(field, out.scheduling_gates);
  if (key == "volumes") return read_volumes(field, out);
  if (key == "resourceClaims") return read_claims(field, out.resource_claims);
  if (key == "hostNetwork") return read(field, out.host_network);
  if (key == "hostUsers") {
    bool of_host = true;
    if (!read(field, of_host)) return false;
    out.user_namespace = !of_host;
  }
  return true;
}

}  // namespace

bool read(JsonValue value, Pod::Spec& out) {
  // The containers may come before it.
  const auto found = value.find("hostNetwork");
  const bool host_network = found && found->is_true();
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "schedulerName") return read(field, out.scheduler_name);
    if (key == "nodeName") return read(field, out.node_name);
    if (key == "priority") return read(field, out.priority);
    if (key == "priorityClassName") return read(field, out.priority_class_name);
    if (key == "preemptionPolicy") return read(field, out.preemption_policy);
    if (key == "initContainers") return read_containers(field, host_network, out.init_containers);
    if (key == "containers") return read_containers(field, host_network, out.containers);
    if (key == "overhead") return read(field, out.overhead);
    if (key == "resources") {
      return field.fields([&](std::string_view name, JsonValue inner) {
        return name != "requests" || read_optional(inner, out.resource_requests);
      });
    }
    return read_placement(key, field, out);
  });
}

}  // namespace k8s::json
