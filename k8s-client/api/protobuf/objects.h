// Readers of a Pod and its parts, and of a DeviceClass. Their results equal those of the JSON
// readers (../decode) for the same object: tests/k8s-client/api/protobuf compares them.
#pragma once

#include "k8s-client/api/device_class.h"
#include "k8s-client/api/pod.h"
#include "k8s-client/api/protobuf/message.h"
#include "k8s-client/api/selector.h"

namespace k8s::protobuf {

bool read(Value value, ObjectMeta& out);

bool read(Value value, LabelSelector& out);
bool read(Value value, NodeSelectorTerm& out);
bool read(Value value, NodeSelector& out);

// The three kinds of affinity of a pod's spec.affinity.
bool read_affinity(Value value, Pod::Spec& out);
bool read(Value value, TopologySpreadConstraint& out);

// One volume; `out` gets it unless every node can mount it.
bool read_volume(Value value, Pod::Spec& out);

bool read(Value value, Pod::Spec& out);
bool read(Value value, Pod::Status& out);
bool read(Value value, Pod& out);

bool read(Value value, DeviceClass& out);

}  // namespace k8s::protobuf
