#include "bench/what_if/manifests.h"

#include "k8s-client/api/decode.h"
#include "k8s-client/api/defaults.h"
#include "k8s-client/yaml/value.h"

namespace bench {
namespace {

bool is_pod(const k8s::yaml::Value& document) {
  const k8s::yaml::Value* kind = document.find("kind");
  return kind != nullptr && kind->string() != nullptr && *kind->string() == "Pod";
}

}  // namespace

k8s::Result<std::vector<k8s::Pod>> load_pods(const std::string& file,
                                             const std::string& namespace_) {
  auto documents = k8s::yaml::parse_file(file);
  if (!documents) return tl::unexpected(documents.error());
  k8s::Decoder decoder;
  std::vector<k8s::Pod> pods;
  for (const k8s::yaml::Value& document : *documents) {
    const std::string where = file + ":" + std::to_string(document.line);
    if (!is_pod(document)) return k8s::decode_error(where + ": want an object of kind Pod");
    auto pod = decoder.object<k8s::Pod>(k8s::yaml::to_json(document));
    if (!pod) return tl::unexpected(k8s::with_context(pod.error(), where));
    k8s::set_defaults(*pod, namespace_);
    if (pod->metadata.uid.empty()) {
      pod->metadata.uid = "what-if/" + pod->metadata.namespace_ + "/" + pod->metadata.name;
    }
    pods.push_back(std::move(*pod));
  }
  return pods;
}

}  // namespace bench
