#include "k8s-client/auth/cluster_access.h"

#include <cstdlib>
#include <filesystem>
#include <string>

namespace k8s {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

// What $KUBECONFIG names, less empty entries of the list, as in "FILE:".
std::string listed_files() {
  const std::string list = environment("KUBECONFIG");
  const auto begin = list.find_first_not_of(':');
  if (begin == std::string::npos) return {};
  return list.substr(begin, list.find_last_not_of(':') + 1 - begin);
}

}  // namespace

Result<ClusterAccess> find_cluster(const std::string& kubeconfig, const std::string& context) {
  if (!kubeconfig.empty()) return load_kubeconfig(kubeconfig, context);
  if (const std::string file = listed_files(); !file.empty()) {
    if (file.find(':') != std::string::npos) {
      return config_error(
          "$KUBECONFIG names several files, which are not merged here; name "
          "one with --kubeconfig");
    }
    return load_kubeconfig(file, context);
  }
  if (context.empty() && !environment("KUBERNETES_SERVICE_HOST").empty()) return load_in_cluster();
  const std::string home = environment("HOME") + "/.kube/config";
  if (std::filesystem::exists(home)) return load_kubeconfig(home, context);
  return config_error(
      "no cluster: not in a pod, no $KUBECONFIG and no ~/.kube/config; name one with --kubeconfig");
}

}  // namespace k8s
