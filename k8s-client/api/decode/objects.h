// Readers of whole objects, and of what answers have besides them.
#pragma once

#include "k8s-client/api/decode.h"
#include "k8s-client/api/decode/json_value.h"

namespace k8s::json {

#define K8S_READABLE(T) bool read(JsonValue value, T& out)
K8S_EACH_KIND(K8S_READABLE);
K8S_READABLE(ObjectMeta);
K8S_READABLE(ListMeta);
K8S_READABLE(Status);
#undef K8S_READABLE

}  // namespace k8s::json
