// How to connect to a cluster and with which identity: from a kubeconfig, or from within a pod.
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
  // "kubeconfig FILE, context CONTEXT": for logs and errors. States if the server is not verified.
  std::string description;
  std::string warning;            // a warning to log once; empty: none
  std::string default_namespace;  // of the context, or of the pod; may be empty
  // By which the API server's audit log and metrics name the program: "gpu-scheduler/0.1.0".
  std::string user_agent = "gpu-scheduler";
};

// The current context of a kubeconfig file: certificates as files (re-read when they change) or
// inline data, token, tokenFile, a credential plugin (exec), context and server name. Settings that
// are not supported (auth-provider, proxy-url, basic auth, impersonation) are an error that names
// them, and so is a proxy of the environment that applies to the server. Relative paths are
// relative to the file. `now` decides when files are read again.
[[nodiscard]] Result<ClusterAccess> load_kubeconfig(
    const std::string& file, const std::string& context = "",
    const auth::Now& now = std::chrono::steady_clock::now);

// The service account of the pod that this process runs in: KUBERNETES_SERVICE_HOST and _PORT, and
// the token and ca.crt under `root`, both re-read every minute (kubelet replaces a bound token in
// time).
[[nodiscard]] Result<ClusterAccess> load_in_cluster(
    const std::string& root = "/var/run/secrets/kubernetes.io/serviceaccount",
    const auth::Now& now = std::chrono::steady_clock::now);

// That kubeconfig; if it is empty, the first that exists of $KUBECONFIG, the service account of the
// pod that this process runs in, and ~/.kube/config. kubectl uses the same order, except that
// inside a pod the pod's account has precedence, unless a context is named.
[[nodiscard]] Result<ClusterAccess> find_cluster(const std::string& kubeconfig,
                                                 const std::string& context = "");

}  // namespace k8s
