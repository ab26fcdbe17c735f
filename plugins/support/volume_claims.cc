#include "plugins/support/volume_claims.h"

#include "plugins/support/pod_selector.h"

namespace plugins {

std::string volumes_key(const k8s::Pod& pod) {
  std::string key;
  append_key(key, pod.metadata.namespace_);
  for (const k8s::Volume& volume : pod.spec.volumes) {
    if (const auto claim = claim_of(pod, volume)) {
      append_key(key, claim->second);
      continue;
    }
    const k8s::Disk& disk = volume.disk;
    append_key(key, volume.source);
    append_key(key, disk.id);
    append_key(key, disk.pool);
    for (const std::string& monitor : disk.monitors) append_key(key, monitor);
    key += disk.read_only ? "r;" : ";";
  }
  return key;
}

}  // namespace plugins
