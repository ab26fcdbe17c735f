// Readers of whole objects, and of what answers have besides them. Their results equal those of the
// JSON readers (../decode) for the same object: tests/k8s-client/api/protobuf compares them.
#pragma once

#include "k8s-client/api/decode.h"
#include "k8s-client/api/protobuf/message.h"

namespace k8s::protobuf {

bool read(const Value& value, Pod& out);
bool read(const Value& value, DeviceClass& out);
bool read(const Value& value, ReplicationController& out);
bool read(const Value& value, ReplicaSet& out);
bool read(const Value& value, StatefulSet& out);
bool read(const Value& value, ListMeta& out);
bool read(const Value& value, Status& out);

}  // namespace k8s::protobuf
