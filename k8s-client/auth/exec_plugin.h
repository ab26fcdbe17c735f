// The `exec` of a kubeconfig's user: a program that prints credentials.
// https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
//
// This reads its settings in the kubeconfig and makes its environment. Running it, and storing its
// output, is in plugin_credentials.h.
#pragma once

#include "k8s-client/auth/child_process.h"
#include "k8s-client/http/credentials.h"
#include "k8s-client/http/endpoint.h"
#include "k8s-client/yaml/object_reader.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace k8s::auth {

struct ExecPlugin {
  std::string api_version;  // client.authentication.k8s.io/v1 or v1beta1
  std::string command;      // as it is written
  std::string program;      // path of the executable
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;  // besides this process's
  std::string install_hint;
  bool provide_cluster_info = false;
};

// The cluster, for a plugin that asks for it.
struct ExecCluster {
  Endpoint endpoint;
  std::string config_json;  // its extension "client.authentication.k8s.io/exec"; may be empty
};

// Reads `exec`. Errors, besides malformed fields: a command that does not exist, and
// interactiveMode Always, because there is no user to ask. A command with a slash is relative to
// `directory`, the kubeconfig's; one without is searched in $PATH.
[[nodiscard]] ExecPlugin read_exec_plugin(yaml::ObjectReader& reader,
                                          const std::filesystem::path& directory);

// The value of KUBERNETES_EXEC_INFO: an ExecCredential with only its spec. `tls` is the cluster's.
[[nodiscard]] std::string exec_info(const ExecPlugin& plugin, const ExecCluster& cluster,
                                    const TlsMaterial& tls);

// How to run it: this process's environment, the plugin's own and KUBERNETES_EXEC_INFO; if a name
// occurs several times, the last one counts.
[[nodiscard]] Command command_of(const ExecPlugin& plugin, const std::string& exec_info);

}  // namespace k8s::auth
