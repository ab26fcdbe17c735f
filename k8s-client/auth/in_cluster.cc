#include "k8s-client/auth/cluster_access.h"
#include "k8s-client/auth/file_credentials.h"
#include "k8s-client/auth/proxy_environment.h"
#include "k8s-client/parse_number.h"

#include <utility>

namespace k8s {
namespace {

Result<Endpoint> endpoint_of_environment() {
  Endpoint endpoint;
  endpoint.host = auth::environment_variable("KUBERNETES_SERVICE_HOST");
  const std::string port = auth::environment_variable("KUBERNETES_SERVICE_PORT");
  if (endpoint.host.empty() || port.empty()) {
    return config_error(
        "not running in a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set; "
        "outside of a cluster a kubeconfig is needed");
  }
  endpoint.port = parse_number<std::uint16_t>(port).value_or(0);
  if (endpoint.port == 0) {
    return config_error("KUBERNETES_SERVICE_PORT: \"" + port + "\" is not a port");
  }
  return endpoint;
}

}  // namespace

Result<ClusterAccess> load_in_cluster(const std::string& root, const auth::Now& now) {
  auto endpoint = endpoint_of_environment();
  if (!endpoint) return tl::unexpected<Error>(std::move(endpoint.error()));
  if (auto error = auth::refuse_proxy(*endpoint)) {
    return tl::unexpected<Error>(std::move(*error));
  }
  auth::CredentialSources sources;
  sources.ca.file = root + "/ca.crt";
  sources.token_file = root + "/token";
  ClusterAccess access;
  access.endpoint = std::move(*endpoint);
  access.credentials = std::make_unique<auth::FileCredentials>(sources, now);
  access.description = "service account of the pod (" + root + ")";
  // Nothing works without both, so it is better to report their absence now than at each request.
  const auto token = access.credentials->bearer_token();
  if (!token) return tl::unexpected<Error>(with_context(token.error(), access.description));
  const auto tls = access.credentials->tls();
  if (!tls) return tl::unexpected<Error>(with_context(tls.error(), access.description));
  access.default_namespace = auth::read_small_file(root + "/namespace").value_or("");
  return access;
}

}  // namespace k8s
