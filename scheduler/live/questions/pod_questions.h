// GET /explain and GET /candidates: why one pod waits, or is where it is, and where it could go.
//
//   /explain?namespace=NS&pod=NAME[&limit=N]       each node's answer, the first N by name
//   /candidates?namespace=NS&pod=NAME[&limit=N]    the N best nodes that take it, with their scores
//
// Both judge the pod as it is now, by the engine's world as it is now, as if the pod held nothing;
// answers are JSON (answers.h), refusals a sentence.
//
// The pod is read from the API server first: the engine keeps whole only pods that wait, and by uid
// alone, and what the server says now is what the user means. So what is unknown there is a 404,
// and the engine is not asked about pods that are not this scheduler's, or have finished.
//
// Who asks needs two rights, each reviewed by the API server: to get the path, a nonResourceURL,
// since an answer names nodes with what is free on them and costs the engine's time; and to get
// that very pod, so that nobody learns of a pod that is hidden from him.
#pragma once

#include "k8s-client/api/pod.h"
#include "k8s-client/error.h"
#include "scheduler/live/questions/asker.h"
#include "scheduler/server/delegated_access.h"
#include "scheduler/server/http_server.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>

namespace sched::live {

// On its loop's thread.
class PodQuestions {
 public:
  // As of k8s::Client.
  using GetPod = std::function<void(const std::string& namespace_, const std::string& name,
                                    std::function<void(k8s::Result<k8s::Pod>)>)>;

  // `access` and `asker` must outlive it, and it what they and `get_pod` may still call back.
  // `scheduler_names`: whose pods may be asked about.
  PodQuestions(server::DelegatedAccess& access, Asker& asker, GetPod get_pod,
               std::unordered_set<std::string> scheduler_names);

  [[nodiscard]] static bool serves(std::string_view path);
  // Of a path that it serves.
  void get(const server::Request& request, server::HttpServer::Answer answer);

 private:
  struct Asked;

  void read_pod(const std::shared_ptr<const Asked>& asked);
  void ask_engine(const std::shared_ptr<const Asked>& asked, const k8s::Pod& pod);
  // What keeps the pod from being asked about; empty: nothing.
  [[nodiscard]] std::string objection_to(const k8s::Pod& pod) const;

  server::DelegatedAccess& access_;
  Asker& asker_;
  const GetPod get_pod_;
  const std::unordered_set<std::string> scheduler_names_;
};

}  // namespace sched::live
