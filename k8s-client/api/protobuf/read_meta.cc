#include "k8s-client/api/protobuf/objects.h"

namespace k8s::protobuf {
namespace {

bool read(Value value, OwnerReference& out) {
  return value.fields([&](std::uint32_t number, Value field) {
    switch (number) {
      case 1:
        return protobuf::read(field, out.kind);
      case 3:
        return protobuf::read(field, out.name);
      case 4:
        return protobuf::read(field, out.uid);
      case 5:
        return protobuf::read(field, out.api_version);
      case 6:
        return protobuf::read(field, out.controller);
      default:
        return true;
    }
  });
}

// The time of the delete request plus the grace period, which may be any number of seconds: only
// its presence counts.
bool read_deletion(Value value, std::optional<Timestamp>& out) {
  if (!read(value, out)) return false;
  if (!out && !value.bytes().empty()) out = kLastTime;
  return true;
}

}  // namespace

bool read(Value value, ObjectMeta& out) {
  std::vector<StringMap::Entry> labels;
  std::vector<StringMap::Entry> annotations;
  const bool ok = value.fields([&](std::uint32_t number, Value field) {
    switch (number) {
      case 1:
        return read(field, out.name);
      case 3:
        return read(field, out.namespace_);
      case 5:
        return read(field, out.uid);
      case 6:
        return read(field, out.resource_version);
      case 7:
        return read(field, out.generation);
      case 8:
        return read(field, out.creation_timestamp);
      case 9:
        return read_deletion(field, out.deletion_timestamp);
      case 11:
        return read_entry(field, labels);
      case 12:
        return read_entry(field, annotations);
      case 13:
        return read(field, out.owner_references.emplace_back());
      default:
        return true;
    }
  });
  if (!labels.empty()) out.labels = StringMap(std::move(labels));
  if (!annotations.empty()) out.annotations = StringMap(std::move(annotations));
  return ok;
}

}  // namespace k8s::protobuf
