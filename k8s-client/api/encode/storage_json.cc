#include "k8s-client/api/encode/json.h"
#include "k8s-client/api/words.h"

#include <cstdint>
#include <string>
#include <utility>

namespace k8s::json {
namespace {

std::string size_text(std::int64_t bytes) { return Quantity::of(bytes).to_string(); }

// A term of a StorageClass's allowedTopologies, which has only the operator In.
Json topology_json(const NodeSelectorTerm& term) {
  Json object = Json::object();
  for (const auto& requirement : term.match_expressions) {
    Json each;
    each["key"] = requirement.key;
    each["values"] = requirement.values;
    object["matchLabelExpressions"].push_back(std::move(each));
  }
  return object;
}

}  // namespace

Json to_json(const ClaimReference& claim) {
  Json object;
  object["apiVersion"] = "v1";
  object["kind"] = "PersistentVolumeClaim";
  object["namespace"] = claim.namespace_;
  object["name"] = claim.name;
  set(object, "uid", claim.uid);
  return object;
}

void fill(Json& object, const PersistentVolumeClaim& claim) {
  Json& spec = object["spec"] = Json::object();
  set(spec, "volumeName", claim.volume_name);
  set(spec, "storageClassName", claim.storage_class);
  set(spec, "volumeAttributesClassName", claim.volume_attributes_class);
  set(spec, "volumeMode", claim.volume_mode);
  set(spec, "accessModes", claim.access_modes);
  if (claim.requested_bytes) {
    spec["resources"]["requests"]["storage"] = size_text(*claim.requested_bytes);
  }
  if (claim.selector) spec["selector"] = to_json(*claim.selector);
  Json& status = object["status"] = Json::object();
  set(status, "phase", claim.phase);
}

void fill(Json& object, const PersistentVolume& volume) {
  Json& spec = object["spec"] = Json::object();
  if (volume.capacity_bytes) spec["capacity"]["storage"] = size_text(*volume.capacity_bytes);
  set(spec, "storageClassName", volume.storage_class);
  set(spec, "volumeAttributesClassName", volume.volume_attributes_class);
  set(spec, "volumeMode", volume.volume_mode);
  set(spec, "accessModes", volume.access_modes);
  if (volume.claim_ref) spec["claimRef"] = to_json(*volume.claim_ref);
  if (volume.node_affinity) {
    spec["nodeAffinity"]["required"] = to_json(*volume.node_affinity);
  }
  if (!volume.csi_driver.empty() || !volume.csi_volume_handle.empty()) {
    Json& csi = spec["csi"] = Json::object();
    set(csi, "driver", volume.csi_driver);
    set(csi, "volumeHandle", volume.csi_volume_handle);
  }
  if (volume.in_tree_disk) {
    const std::string& source = volume.in_tree_disk->source;
    spec[source][std::string(disk_source(source)->id)] = volume.in_tree_disk->id;
  }
  Json& status = object["status"] = Json::object();
  set(status, "phase", volume.phase);
}

void fill(Json& object, const StorageClass& storage_class) {
  object["provisioner"] = storage_class.provisioner;
  if (storage_class.binding_mode) object["volumeBindingMode"] = *storage_class.binding_mode;
  if (!storage_class.allowed_topologies) return;
  for (const auto& term : storage_class.allowed_topologies->terms) {
    object["allowedTopologies"].push_back(topology_json(term));
  }
}

void fill(Json& object, const CsiNode& node) {
  Json drivers = Json::array();
  for (const auto& driver : node.drivers) {
    Json each;
    each["name"] = driver.name;
    if (driver.allocatable_count) each["allocatable"]["count"] = *driver.allocatable_count;
    drivers.push_back(std::move(each));
  }
  object["spec"]["drivers"] = std::move(drivers);
}

void fill(Json& object, const CsiDriver& driver) {
  Json& spec = object["spec"] = Json::object();
  if (driver.storage_capacity) spec["storageCapacity"] = true;
}

void fill(Json& object, const CsiStorageCapacity& capacity) {
  object["storageClassName"] = capacity.storage_class;
  if (capacity.node_topology) object["nodeTopology"] = to_json(*capacity.node_topology);
  if (capacity.capacity_bytes) object["capacity"] = size_text(*capacity.capacity_bytes);
  if (capacity.maximum_volume_bytes) {
    object["maximumVolumeSize"] = size_text(*capacity.maximum_volume_bytes);
  }
}

void fill(Json& object, const VolumeAttachment& attachment) {
  Json& spec = object["spec"] = Json::object();
  spec["attacher"] = attachment.attacher;
  spec["nodeName"] = attachment.node;
  Json& source = spec["source"] = Json::object();
  set(source, "persistentVolumeName", attachment.volume);
}

}  // namespace k8s::json
