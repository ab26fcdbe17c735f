#include "k8s-client/api/encode/write_fields.h"

#include "k8s-client/api/decode/rfc3339.h"

#include <utility>

namespace k8s::json {
namespace {

Json json_of_volume(const Volume& volume) {
  Json object = {{"name", volume.name}, {volume.source, Json::object()}};
  Json& source = object[volume.source];
  if (volume.kind == Volume::Kind::kPersistentVolumeClaim) source["claimName"] = volume.claim_name;
  if (volume.kind == Volume::Kind::kDisk) {
    source[std::string(disk_source(volume.source)->id)] = volume.disk.id;
    if (volume.disk.read_only) source["readOnly"] = true;
    if (!volume.disk.monitors.empty()) source["monitors"] = volume.disk.monitors;
    if (!volume.disk.pool.empty()) source["pool"] = volume.disk.pool;
  }
  return object;
}

}  // namespace

Json object_for(std::size_t members) {
  Json object = Json::object();
  object.get_ref<Json::object_t&>().reserve(members);
  return object;
}

Json json_of(const Quantity& quantity) { return quantity.to_string(); }

Json json_of(const Timestamp& time) { return format_rfc3339(time); }

Json json_of(const StringMap& map) {
  Json object = object_for(map.size());
  for (const auto& [key, value] : map) object[key] = value;
  return object;
}

Json json_of(const ResourceList& resources) {
  Json object = object_for(resources.size());
  for (const auto& [name, quantity] : resources) object[name] = quantity.to_string();
  return object;
}

Json json_of(bool is_first, const Choice& choice) {
  return is_first ? choice.first : choice.second;
}

Json json_of(const std::vector<std::string>& names, Names /*how*/) {
  Json items = Json::array();
  for (const std::string& name : names) items.push_back(object_of(named(name)));
  return items;
}

// Their values are not kept.
Json json_of(const std::vector<std::string>& keys, Keys /*how*/) {
  Json object = object_for(keys.size());
  for (const std::string& key : keys) object[key] = nullptr;
  return object;
}

Json json_of(const std::optional<std::int64_t>& bytes, Bytes /*how*/) {
  return Quantity::of(*bytes).to_string();
}

Json json_of(const std::optional<Timestamp>& time, MicroTime /*how*/) {
  return format_micro_time(*time);
}

Json json_of(bool /*restarts_all*/, RestartRules /*how*/) {
  Json rules;
  rules[0]["action"] = "RestartAllContainers";
  return rules;
}

Json json_of(const std::optional<InTreeDisk>& disk, const InTree& how) {
  Json source;
  source[std::string(how.source.id)] = disk->id;
  return source;
}

Json json_of(const std::optional<NodeSelector>& selector, Topologies /*how*/) {
  Json terms = Json::array();
  for (const NodeSelectorTerm& term : selector->terms) {
    Json& object = terms.emplace_back(Json::object());
    for (const SelectorRequirement& each : term.match_expressions) {
      object["matchLabelExpressions"].push_back(object_of(one_of_values(each)));
    }
  }
  return terms;
}

Json json_of(const Pod::Spec& spec, Volumes /*how*/) {
  Json volumes = Json::array();
  for (const Volume& volume : spec.volumes) volumes.push_back(json_of_volume(volume));
  for (const std::string& image : spec.image_volumes) {
    volumes.emplace_back(Json::object())["image"]["reference"] = image;
  }
  return volumes;
}

}  // namespace k8s::json
