// The way to the scheduler that leads.
//
// By default through the API server, which reaches the pod where nothing else does: the Lease names
// the pod, and the API server's proxy of pods passes requests on to its secure port. It takes the
// header Authorization for itself, so the scheduler gets the token in a header of its own
// (server/http_server.h). The API server does not verify the scheduler's certificate: the token is
// shown to whatever answers at the pod's address.
//
// Or straight to a URL, whose certificate is verified.
#pragma once

#include "k8s-client/client.h"
#include "k8s-client/http/credentials.h"
#include "k8s-client/http/event_loop.h"
#include "k8s-client/http/transport.h"
#include "scheduler/kubectl-gpu/options.h"
#include "scheduler/kubectl-gpu/ui/proxy.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace sched::kubectl {

// On its loop's thread.
class LeaderByLease {
 public:
  // All outlive it. `token`: of the user for whom the scheduler is asked.
  LeaderByLease(k8s::EventLoop& loop, k8s::Transport& api_server, k8s::Credentials& token,
                LeaderAddress address);

  // As Fetch. If the leader gives no answer, or answers that it does not lead any more, the next
  // request looks for it again. If it answers so and the Lease names another pod by now, that pod
  // is asked, once.
  void fetch(const std::string& target, std::function<void(k8s::Result<k8s::Response>)> done);

 private:
  using Done = std::function<void(k8s::Result<k8s::Response>)>;

  void find_leader();
  void found(k8s::Result<k8s::Lease> lease);
  // `again`: another one is asked if this one decides nothing.
  void send(const std::string& target, Done done, bool again = true);
  // `pod` has replied `said`, because it does not lead. Asks the leader that the Lease names now;
  // if there is no other, `said` is the answer.
  void ask_another(const std::string& pod, const std::string& target, k8s::Response said,
                   const Done& done);

  k8s::EventLoop& loop_;
  k8s::Transport& api_server_;
  k8s::Client client_;
  k8s::Credentials& token_;
  const LeaderAddress address_;
  std::string pod_;  // empty: not known
  bool is_looking_ = false;
  std::vector<std::pair<std::string, Done>> waiting_;  // for the leader to be found
};

// The pod of a Lease's holder, "NAME_UUID"; empty: it has no holder.
[[nodiscard]] std::string pod_of_holder(const std::string& identity);

// Straight to a server with such a transport, which adds the credentials.
[[nodiscard]] Fetch fetch_from(k8s::Transport& transport);

}  // namespace sched::kubectl
