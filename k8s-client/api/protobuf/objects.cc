#include "k8s-client/api/protobuf/objects.h"

#include "k8s-client/api/protobuf/read_fields.h"

namespace k8s::protobuf {

bool read(const Value& value, Pod& out) { return read<Pod>(value, out); }
bool read(const Value& value, DeviceClass& out) { return read<DeviceClass>(value, out); }
bool read(const Value& value, ReplicationController& out) {
  return read<ReplicationController>(value, out);
}
bool read(const Value& value, ReplicaSet& out) { return read<ReplicaSet>(value, out); }
bool read(const Value& value, StatefulSet& out) { return read<StatefulSet>(value, out); }
bool read(const Value& value, ListMeta& out) { return read<ListMeta>(value, out); }
bool read(const Value& value, Status& out) { return read<Status>(value, out); }

}  // namespace k8s::protobuf
