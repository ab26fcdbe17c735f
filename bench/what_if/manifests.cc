#include "bench/what_if/manifests.h"

#include "k8s-client/api/decode.h"
#include "k8s-client/yaml/value.h"

#include <algorithm>

namespace bench {
namespace {

// A limit without a request is a request of the same amount.
void default_requests(std::vector<k8s::Container>& containers) {
  for (k8s::Container& container : containers) {
    for (const auto& [name, quantity] : container.limits) {
      const bool requested =
          std::any_of(container.requests.begin(), container.requests.end(),
                      [&, wanted = name](const auto& request) { return request.first == wanted; });
      if (!requested) container.requests.emplace_back(name, quantity);
    }
  }
}

void apply_defaults(k8s::Pod& pod, const std::string& namespace_) {
  if (pod.metadata.namespace_.empty()) pod.metadata.namespace_ = namespace_;
  if (pod.metadata.uid.empty()) {
    pod.metadata.uid = "what-if/" + pod.metadata.namespace_ + "/" + pod.metadata.name;
  }
  if (pod.spec.scheduler_name.empty()) pod.spec.scheduler_name = "default-scheduler";
  default_requests(pod.spec.init_containers);
  default_requests(pod.spec.containers);
}

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
    apply_defaults(*pod, namespace_);
    pods.push_back(std::move(*pod));
  }
  return pods;
}

}  // namespace bench
