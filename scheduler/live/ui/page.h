// The page at /ui: what the cluster's GPUs do, which pods wait and why, for people with a browser.
//
//   /ui/                           the page and its parts: scheduler/server/ui/files.h
//   /ui/state                      all that it shows, one JSON document (state.h)
//   /ui/why?namespace=NS&pod=NAME  why a pod waits, judged now; as `kubectl gpu why -o json`
//   /ui/node?node=NAME             a node and the pods that have its GPUs; as of
//                                  `kubectl gpu nodes -o json`
//   /ui/what-if?…                  the same of a pod that need not exist (what_if.h), with "notes"
//
// Read-only. A user to whom the API server grants `get` of the nonResourceURL /ui sees all of it:
// the page names pods of all namespaces. It needs a token, which no browser has: `kubectl gpu ui`
// adds it (scheduler/kubectl-gpu/ui/).
//
// All that it says of the cluster are answers of the engine, by the functions that kubectl-gpu
// asks. The document is made once a second at most, however many read it; a question about one pod
// counts against the account that asks. Each account has a budget for all that it gets, and a
// smaller one for questions (questions/budgeted_access.h).
#pragma once

#include "k8s-client/http/event_loop.h"
#include "scheduler/answers/why.h"
#include "scheduler/live/questions/asker.h"
#include "scheduler/live/questions/budgeted_access.h"
#include "scheduler/live/ui/history.h"
#include "scheduler/live/ui/notes.h"
#include "scheduler/live/ui/state.h"
#include "scheduler/server/delegated_access.h"
#include "scheduler/server/http_server.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sched::live {

// On its loop's thread.
class UiPage {
 public:
  struct Scheduler {
    const UiNotes* notes = nullptr;
    UiAbout about;
    std::function<Time()> clock;  // what people read
    // Calls back on the loop's thread.
    FindDataAge data_age = [](const auto& done) { done(std::nullopt); };
    // Called with each answer about a pod that waits, on the engine's thread: before whatever is
    // decided later.
    std::function<void(const answers::Why&)> on_judged = [](const answers::Why& /*why*/) {};
    // The processor time that the calling thread has taken so far.
    std::function<std::chrono::nanoseconds()> processor_time = thread_time;
  };

  // A page that is opened gets some twenty parts, and then the document every three seconds.
  static constexpr Budget::Limits kBudget{.at_once = 200, .each = std::chrono::milliseconds{200}};
  static constexpr Budget::Limits kBudgetOfQuestions{.at_once = 30,
                                                     .each = std::chrono::seconds{1}};
  // The document is made anew at most every second, and less often if it would otherwise take more
  // than one percent of the engine's thread, however many users look and however large the cluster
  // is.
  static constexpr std::chrono::seconds kStateLife{1};
  static constexpr int kStateRest = 100;

  // All that it borrows must outlive it.
  UiPage(k8s::EventLoop& loop, server::DelegatedAccess& access, Asker& asker, Scheduler scheduler);

  [[nodiscard]] static bool serves(std::string_view path);
  // Of a path that it serves.
  void get(const server::Request& request, server::HttpServer::Answer answer);

 private:
  using Answer = server::HttpServer::Answer;

  void answer_for(const std::string& path, const std::string& query, Asker::Client client,
                  Answer answer);
  void get_state(Answer answer);
  void ask_for_state();
  void ask_for_state(std::optional<std::chrono::seconds> data_age);
  void has_seen(ClusterSeen seen);
  void get_why(const std::string& query, Asker::Client client, Answer answer);
  void get_node(const std::string& query, Asker::Client client, Answer answer);
  void get_what_if(const std::string& query, Asker::Client client, Answer answer);
  void sample_later();
  static std::chrono::nanoseconds thread_time();

  k8s::EventLoop& loop_;
  BudgetedAccess access_;
  BudgetedAccess questions_;
  Asker& asker_;
  const Scheduler scheduler_;
  History history_;
  std::shared_ptr<const std::string> state_;  // as of state_made_; nullptr: never made
  k8s::EventLoop::Clock::time_point state_made_{};
  k8s::EventLoop::Clock::duration state_life_ = kStateLife;
  bool is_asking_ = false;
  std::vector<Answer> waiting_;         // for the document
  std::shared_ptr<const bool> itself_;  // the asker of the document
  std::unique_ptr<k8s::Timer> next_sample_;
};

}  // namespace sched::live
