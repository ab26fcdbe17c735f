// GET /explain and GET /candidates: why one pod waits, or why it is on its node, and where it could
// go.
//
//   /explain?namespace=NS&pod=NAME[&limit=N]       each node's answer, the first N by name
//   /candidates?namespace=NS&pod=NAME[&limit=N]    the N best nodes that take it, with their scores
//
// Both judge the pod as it is now, in the engine's present state, as if the pod held nothing;
// answers are JSON (answers.h), refusals a sentence.
//
// The pod is read from the API server first: the engine stores whole only waiting pods, and only by
// uid, and the user means the pod that the server has now. So a pod that is unknown there is a 404,
// and the engine is not asked about pods of other schedulers or pods that have finished.
//
// The client needs two rights, each checked by the API server: to get the path, a nonResourceURL,
// because an answer names nodes with what is free on them and costs the engine's time; and to get
// that pod, so that an answer reveals no pod that the client may not read. Each account has a
// budget for both pages together (budgeted_access.h).
#pragma once

#include "k8s-client/api/pod.h"
#include "k8s-client/error.h"
#include "scheduler/live/questions/asker.h"
#include "scheduler/live/questions/budgeted_access.h"
#include "scheduler/server/delegated_access.h"
#include "scheduler/server/http_server.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>

namespace sched::live {

// On its loop's thread.
class PodQuestions {
 public:
  // As k8s::Client's.
  using GetPod = std::function<void(const std::string& namespace_, const std::string& name,
                                    std::function<void(k8s::Result<k8s::Pod>)>)>;

  static constexpr Budget::Limits kBudget{.at_once = 30, .each = std::chrono::seconds{1}};

  // `loop`, `access` and `asker` must outlive it, and it must outlive their callbacks and those of
  // `get_pod`. `scheduler_names`: questions are answered about the pods of these.
  PodQuestions(k8s::EventLoop& loop, server::DelegatedAccess& access, Asker& asker, GetPod get_pod,
               std::unordered_set<std::string> scheduler_names);

  [[nodiscard]] static bool serves(std::string_view path);
  // Answers a request for a path that it serves.
  void get(const server::Request& request, server::HttpServer::Answer answer);

 private:
  struct Asked;

  void read_pod(const std::shared_ptr<const Asked>& asked);
  void ask_engine(const std::shared_ptr<const Asked>& asked, const k8s::Pod& pod);
  // Why the engine is not asked about the pod; empty: it is.
  [[nodiscard]] std::string objection_to(const k8s::Pod& pod) const;

  BudgetedAccess access_;
  Asker& asker_;
  const GetPod get_pod_;
  const std::unordered_set<std::string> scheduler_names_;
};

}  // namespace sched::live
