#include "k8s-client/api/protobuf/objects.h"

namespace k8s::protobuf {

// resource.k8s.io/v1 DeviceClass. Its config (2) is skipped.
bool read(Value value, DeviceClass& out) {
  return value.fields([&](std::uint32_t number, Value field) {
    if (number == 1) return read(field, out.metadata);
    if (number != 2) return true;
    return field.fields([&](std::uint32_t inner_number, Value inner) {
      return inner_number != 4 || read(inner, out.extended_resource_name);
    });
  });
}

}  // namespace k8s::protobuf
