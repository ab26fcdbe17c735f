// The way to a scheduler that runs, with the caller's own credentials: by its Lease and the API
// server's proxy of pods, or by a URL (leader.h).
#pragma once

#include "k8s-client/auth/cluster_access.h"
#include "k8s-client/error.h"
#include "k8s-client/http/credentials.h"
#include "k8s-client/http/event_loop.h"
#include "k8s-client/http/transport.h"
#include "scheduler/kubectl-gpu/options.h"
#include "scheduler/kubectl-gpu/ui/leader.h"
#include "scheduler/kubectl-gpu/ui/proxy.h"

#include <memory>
#include <optional>
#include <string>

namespace sched::kubectl {

// On its loop's thread.
class WayToScheduler {
 public:
  // `loop` must outlive it.
  explicit WayToScheduler(k8s::EventLoop& loop);
  ~WayToScheduler();
  WayToScheduler(const WayToScheduler&) = delete;
  WayToScheduler& operator=(const WayToScheduler&) = delete;

  // Once. What it returns may be called while this exists.
  [[nodiscard]] k8s::Result<Fetch> open(const Options& options);
  // The namespace of the kubeconfig's context; empty: it has none.
  [[nodiscard]] const std::string& default_namespace() const { return access_.default_namespace; }

 private:
  class ForServer;

  k8s::Credentials& token();
  k8s::Result<Fetch> by_lease(const Options& options);
  k8s::Result<Fetch> by_url(const SchedulerOptions& options);

  k8s::EventLoop& loop_;
  k8s::ClusterAccess access_;
  std::unique_ptr<k8s::Credentials> own_token_;
  std::unique_ptr<k8s::Credentials> server_;
  std::unique_ptr<ForServer> for_server_;
  std::unique_ptr<k8s::Transport> transport_;
  std::optional<LeaderByLease> leader_;
};

}  // namespace sched::kubectl
