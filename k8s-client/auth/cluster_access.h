// How to reach a cluster and as whom: from a kubeconfig, or from within a pod.
#pragma once

#include "k8s-client/auth/watched_file.h"
#include "k8s-client/error.h"
#include "k8s-client/http/credentials.h"
#include "k8s-client/http/endpoint.h"

#include <memory>
#include <string>

namespace k8s {

struct ClusterAccess {
  Endpoint endpoint;
  std::unique_ptr<Credentials> credentials;
  // "kubeconfig FILE, context CONTEXT": for logs and errors. Says so if the server is not verified.
  std::string description;
  std::string warning;            // what its user should be told, once; empty: nothing
  std::string default_namespace;  // of the context, or of the pod; may be empty
};

// The current context of a kubeconfig file: certificates as files (re-read when they change) or
// inline data, token, tokenFile, a credential plugin (exec), context and server name. What we do
// not support (auth-provider, proxy-url, basic auth, impersonation) is an error that says so, and
// so is a proxy of the environment that applies to the server. Relative paths are relative to the
// file. `now` decides when files are read again.
[[nodiscard]] Result<ClusterAccess> load_kubeconfig(
    const std::string& file, const std::string& context = "",
    const auth::Now& now = std::chrono::steady_clock::now);

// The service account of the pod we run in: KUBERNETES_SERVICE_HOST and _PORT, and the token and
// ca.crt under `root`, both re-read every minute (a bound token is replaced by kubelet in time).
[[nodiscard]] Result<ClusterAccess> load_in_cluster(
    const std::string& root = "/var/run/secrets/kubernetes.io/serviceaccount",
    const auth::Now& now = std::chrono::steady_clock::now);

// That kubeconfig; if it is empty, $KUBECONFIG, the service account of the pod we run in,
// ~/.kube/config: the first that there is. kubectl asks in the same order, but that inside of a pod
// it is the pod's account that is meant, unless a context is named.
[[nodiscard]] Result<ClusterAccess> find_cluster(const std::string& kubeconfig,
                                                 const std::string& context = "");

}  // namespace k8s
