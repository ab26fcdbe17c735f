#include "k8s-client/api/decode/objects.h"

namespace k8s::json {
namespace {

bool read_spec(JsonValue value, Lease::Spec& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "holderIdentity") return read(field, out.holder_identity);
    if (key == "leaseDurationSeconds") return read(field, out.lease_duration_seconds);
    if (key == "acquireTime") return read_optional(field, out.acquire_time);
    if (key == "renewTime") return read_optional(field, out.renew_time);
    if (key == "leaseTransitions") return read(field, out.lease_transitions);
    return true;
  });
}

}  // namespace

bool read(JsonValue value, Lease& out) {
  return value.fields([&](std::string_view key, JsonValue field) {
    if (key == "metadata") return read(field, out.metadata);
    if (key == "spec") return read_spec(field, out.spec);
    return true;
  });
}

}  // namespace k8s::json
