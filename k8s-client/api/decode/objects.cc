#include "k8s-client/api/decode/objects.h"

#include "k8s-client/api/decode/read_fields.h"

namespace k8s::json {
namespace {

// The old annotation has precedence. Source: k8s.io/component-helpers/storage/volume/helpers.go,
// GetPersistentVolumeClaimClass and GetPersistentVolumeClass.
template <Of<PersistentVolumeClaim, PersistentVolume> T>
void finish(T& out) {
  const auto* annotated = out.metadata.annotations.find("volume.beta.kubernetes.io/storage-class");
  if (annotated != nullptr) out.storage_class = *annotated;
}
template <typename T>
void finish(T& /*out*/) {}

}  // namespace

#define K8S_READABLE(T)                  \
  bool read(JsonValue value, T& out) {   \
    const bool ok = read<T>(value, out); \
    finish(out);                         \
    return ok;                           \
  }                                      \
  static_assert(Described<T>)
K8S_EACH_KIND(K8S_READABLE);
K8S_READABLE(ObjectMeta);
K8S_READABLE(ListMeta);
K8S_READABLE(Status);
#undef K8S_READABLE

}  // namespace k8s::json
