#include "k8s-client/api/decode/objects.h"
#include "k8s-client/api/words.h"

#include <cstdint>

namespace k8s::json {
namespace {

// The field `key` of an object, into `out`; any other field is not read.
template <typename T>
bool read_field(JsonValue value, std::string_view key, T& out) {
  return value.fields(
      [&](std::string_view name, JsonValue field) { return name != key || read(field, out); });
}

bool read_bytes(JsonValue value, std::optional<std::int64_t>& out) {
  Quantity quantity;
  if (!read(value, quantity)) return false;
  out = quantity.value();
  return true;
}

// The amount of storage in a list of amounts.
bool read_storage_amount(JsonValue value, std::optional<std::int64_t>& out) {
  return value.fields([&](std::string_view name, JsonValue field) {
    return name != "storage" || read_bytes(field, out);
  });
}

bool read_volume_mode(JsonValue value, std::string& out) {
  if (!read(value, out)) return false;
  if (out == "Filesystem") out.clear();
  return true;
}

// The old annotation has precedence. Source: k8s.io/component-helpers/storage/volume/helpers.go,
// GetPersistentVolumeClaimClass and GetPersistentVolumeClass.
void prefer_annotation(const ObjectMeta& metadata, std::string& storage_class) {
  const auto* annotated = metadata.annotations.find("volume.beta.kubernetes.io/storage-class");
  if (annotated != nullptr) storage_class = *annotated;
}

bool read_claim_spec(JsonValue value, PersistentVolumeClaim& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "volumeName") return read(field, out.volume_name);
    if (key == "storageClassName") return read(field, out.storage_class);
    if (key == "volumeAttributesClassName") return read(field, out.volume_attributes_class);
    if (key == "volumeMode") return read_volume_mode(field, out.volume_mode);
    if (key == "accessModes") return read_list(field, out.access_modes);
    if (key == "selector") return read_optional(field, out.selector);
    if (key == "resources") {
      return field.fields([&](std::string_view name, JsonValue inner) {
        return name != "requests" || read_storage_amount(inner, out.requested_bytes);
      });
    }
    return true;
  });
}

bool read(JsonValue value, ClaimReference& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "namespace") return json::read(field, out.namespace_);
    if (key == "name") return json::read(field, out.name);
    if (key == "uid") return json::read(field, out.uid);
    return true;
  });
}

bool read_source(std::string_view key, JsonValue field, PersistentVolume& out) {
  if (key == "csi") {
    return field.fields([&](std::string_view name, JsonValue inner) {
      if (name == "driver") return json::read(inner, out.csi_driver);
      if (name == "volumeHandle") return json::read(inner, out.csi_volume_handle);
      return true;
    });
  }
  const DiskSource* source = disk_source(key);
  if (source == nullptr || !source->has_driver) return true;
  InTreeDisk& disk = out.in_tree_disk.emplace();
  disk.source = key;
  return read_field(field, source->id, disk.id);
}

bool read_volume_spec(JsonValue value, PersistentVolume& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "accessModes") return read_list(field, out.access_modes);
    if (key == "capacity") return read_storage_amount(field, out.capacity_bytes);
    if (key == "storageClassName") return json::read(field, out.storage_class);
    if (key == "volumeAttributesClassName") return json::read(field, out.volume_attributes_class);
    if (key == "volumeMode") return read_volume_mode(field, out.volume_mode);
    if (key == "claimRef") return read(field, out.claim_ref.emplace());
    if (key == "nodeAffinity") {
      return field.fields([&](std::string_view name, JsonValue inner) {
        return name != "required" || read_optional(inner, out.node_affinity);
      });
    }
    return read_source(key, field, out);
  });
}

// corev1.TopologySelectorLabelRequirement: one of these values.
bool read_topology_requirement(JsonValue value, SelectorRequirement& out) {
  out.op = SelectorOperator::kIn;
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "key") return json::read(field, out.key);
    if (key == "values") return read_list(field, out.values);
    return true;
  });
}

bool read_topologies(JsonValue value, std::optional<NodeSelector>& out) {
  out.reset();
  return value.items([&](JsonValue item) {
    if (!out) out.emplace();
    NodeSelectorTerm& term = out->terms.emplace_back();
    return item.fields([&](std::string_view key, JsonValue field) {
      if (key != "matchLabelExpressions") return true;
      term.match_expressions.clear();
      return field.items([&](JsonValue requirement) {
        return read_topology_requirement(requirement, term.match_expressions.emplace_back());
      });
    });
  });
}

bool read(JsonValue value, CsiNode::Driver& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "name") return json::read(field, out.name);
    if (key != "allocatable") return true;
    return field.fields([&](std::string_view name, JsonValue inner) {
      return name != "count" || read_optional(inner, out.allocatable_count);
    });
  });
}

bool read_drivers(JsonValue value, std::vector<CsiNode::Driver>& out) {
  out.clear();
  return value.items([&](JsonValue item) { return read(item, out.emplace_back()); });
}

bool read_attachment_spec(JsonValue value, VolumeAttachment& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "attacher") return json::read(field, out.attacher);
    if (key == "nodeName") return json::read(field, out.node);
    if (key == "source") return read_field(field, "persistentVolumeName", out.volume);
    return true;
  });
}

}  // namespace

bool read(JsonValue value, PersistentVolumeClaim& out) {
  const bool ok = value.fields([&](std::string_view key, JsonValue field) {
    if (key == "metadata") return read(field, out.metadata);
    if (key == "spec") return read_claim_spec(field, out);
    if (key == "status") return read_field(field, "phase", out.phase);
    return true;
  });
  prefer_annotation(out.metadata, out.storage_class);
  return ok;
}

bool read(JsonValue value, PersistentVolume& out) {
  const bool ok = value.fields([&](std::string_view key, JsonValue field) {
    if (key == "metadata") return read(field, out.metadata);
    if (key == "spec") return read_volume_spec(field, out);
    if (key == "status") return read_field(field, "phase", out.phase);
    return true;
  });
  prefer_annotation(out.metadata, out.storage_class);
  return ok;
}

bool read(JsonValue value, StorageClass& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "metadata") return read(field, out.metadata);
    if (key == "provisioner") return read(field, out.provisioner);
    if (key == "volumeBindingMode") return read_optional(field, out.binding_mode);
    if (key == "allowedTopologies") return read_topologies(field, out.allowed_topologies);
    return true;
  });
}

bool read(JsonValue value, CsiNode& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "metadata") return read(field, out.metadata);
    if (key != "spec") return true;
    return field.fields([&](std::string_view name, JsonValue inner) {
      return name != "drivers" || read_drivers(inner, out.drivers);
    });
  });
}

bool read(JsonValue value, CsiDriver& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "metadata") return read(field, out.metadata);
    if (key == "spec") return read_field(field, "storageCapacity", out.storage_capacity);
    return true;
  });
}

bool read(JsonValue value, CsiStorageCapacity& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "metadata") return read(field, out.metadata);
    if (key == "storageClassName") return read(field, out.storage_class);
    if (key == "nodeTopology") return read_optional(field, out.node_topology);
    if (key == "capacity") return read_bytes(field, out.capacity_bytes);
    if (key == "maximumVolumeSize") return read_bytes(field, out.maximum_volume_bytes);
    return true;
  });
}

bool read(JsonValue value, VolumeAttachment& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "metadata") return read(field, out.metadata);
    if (key == "spec") return read_attachment_spec(field, out);
    return true;
  });
}

}  // namespace k8s::json
