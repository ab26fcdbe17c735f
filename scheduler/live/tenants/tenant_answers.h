// Answers for `kubectl gpu`. Accounts that may not list the pods and nodes of the cluster cannot
// compute them; for others they are quicker than lists.
//
//   GET /answers/overview                     as `kubectl gpu -o json`; ?namespace=NS: pods of
//                                             other namespaces do not count as waiting
//   GET /answers/why?namespace=NS&pod=NAME    as `kubectl gpu why -o json` (answers/json.h)
//   GET /answers/queue?namespace=NS           as `kubectl gpu queue -o json`, of the pods of NS
//   GET /answers/quota?namespace=NS           as `kubectl gpu quota -o json`, of NS's quotas
//
// An account must be allowed to get the pods of NS, and for the queue to list them; otherwise the
// answer says nothing, not even whether the pod exists. For the overview it must be allowed to list
// all pods, and nodes. The answer names a pod of another namespace only to an account that may get
// the pods of that one, or list all, and nodes only to one that may list nodes
// (answers/withhold.h). The API server reviews each right, and its answer is valid for some seconds
// (server/delegated_access.h). A name is left out if the right cannot be reviewed. Exception: nodes
// that do not exist any more are not recognised. If the reason why a pod waits names such a node,
// the name stays, as in the pod's own status.
//
// Soon after an answer about a pod that waits, the pod's status says the same
// (Scheduler::on_judged).
//
// Each answer says how old the cluster state is from which it was computed. For a pod with a node
// it says how the node was chosen, and which was the runner-up, if this process decided that lately
// (ui/notes.h).
//
// Each account has a budget of questions (questions/budgeted_access.h). The limits for all
// questions to the engine apply, too (questions/asker.h).
//
// The pod of `why` is read from the API server with the scheduler's own rights, after those of the
// account were reviewed, as for /explain (questions/pod_questions.h).
#pragma once

#include "k8s-client/api/pod.h"
#include "scheduler/answers/why.h"
#include "scheduler/answers/withhold.h"
#include "scheduler/live/questions/asker.h"
#include "scheduler/live/questions/budgeted_access.h"
#include "scheduler/live/questions/pod_questions.h"
#include "scheduler/live/ui/notes.h"
#include "scheduler/server/delegated_access.h"
#include "scheduler/server/http_server.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace sched::live {

// On its loop's thread.
class TenantAnswers {
 public:
  using GetPod = PodQuestions::GetPod;

  struct Scheduler {
    const UiNotes* notes = nullptr;  // names of pods that have GPUs
    std::set<std::string> names;     // the schedulers whose pods these are
    std::function<Time()> clock;     // what people read
    Budget::Limits budget = {};
    // Calls back on the loop's thread.
    FindDataAge data_age = [](const auto& done) { done(std::nullopt); };
    // Called with each answer of `why`, on the engine's thread: before whatever is decided later.
    std::function<void(const answers::Why&)> on_judged = [](const answers::Why& /*why*/) {};
  };

  // All that it borrows must outlive it, and it must outlive the callbacks of `get_pod`.
  TenantAnswers(k8s::EventLoop& loop, server::DelegatedAccess& access, Asker& asker, GetPod get_pod,
                Scheduler scheduler);

  [[nodiscard]] static bool serves(std::string_view path);
  // Of a path that it serves.
  void get(const server::Request& request, server::HttpServer::Answer answer);

 private:
  struct Asked;

  void find_age(Asked asked);
  void answer_allowed(const std::shared_ptr<const Asked>& asked);
  void read_pod(const std::shared_ptr<const Asked>& asked);
  void ask_overview(const std::shared_ptr<const Asked>& asked);
  void ask_why(const std::shared_ptr<const Asked>& asked, const k8s::Pod& pod);
  void ask_queue(const std::shared_ptr<const Asked>& asked);
  void ask_quota(const std::shared_ptr<const Asked>& asked);
  // Calls `done` with what the account may see of the names in an answer: nodes, if it has any, and
  // pods of its own and of `others`.
  void find_visible(const std::shared_ptr<const Asked>& asked, bool has_nodes,
                    std::set<std::string> others,
                    const std::function<void(const answers::Visible&)>& done);
  // With what the account may see.
  void reply(const std::shared_ptr<const Asked>& asked, const answers::Why& why);

  server::DelegatedAccess& access_;
  Asker& asker_;
  const GetPod get_pod_;
  const Scheduler scheduler_;
  BudgetedAccess budgeted_;
};

}  // namespace sched::live
