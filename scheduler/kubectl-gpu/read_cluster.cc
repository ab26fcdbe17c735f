#include "scheduler/kubectl-gpu/read_cluster.h"

#include "k8s-client/http/asio_transport.h"
#include "scheduler/live/intake.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

namespace sched::kubectl {
namespace {

using std::chrono::milliseconds;

constexpr std::chrono::minutes kReadLimit{2};

// The name of a kind in the intake, for messages: failed pods are read separately from the others.
std::string words_of(const std::string& kind) {
  return kind == "failedpods" ? "pods that have failed" : kind;
}

k8s::Error in_words(k8s::Error error, const std::string& kind) {
  if (error.is_status(403)) {
    error.message += "; every answer needs them, and the ClusterRole gpu-scheduler-reader lets you";
  }
  return k8s::with_context(std::move(error), "reading " + words_of(kind));
}

class Reading {
 public:
  Reading(k8s::EventLoop& loop, k8s::Transport& transport, std::function<void(Event)> sink,
          ChangeMask reads)
      : loop_(loop),
        sink_(std::move(sink)),
        intake_(transport, loop, hooks(), {}, {.hidden_after = milliseconds{0}, .reads = reads}) {}

  k8s::Result<std::vector<std::string>> run() {
    const auto limit = loop_.after(kReadLimit, [this] { loop_.stop(); });
    loop_.post([this] { intake_.start(milliseconds{0}); });
    loop_.run();
    intake_.stop();
    if (synced_) return std::move(hidden_);
    if (problem_) return tl::unexpected(*std::move(problem_));
    return k8s::config_error("the cluster could not be read within 2 minutes");
  }

 private:
  live::Intake::Hooks hooks() {
    return {.on_event =
                [this](Event event) {
                  // Events of a watch after its list belong to the next reading.
                  if (!synced_) sink_(std::move(event));
                },
            .on_pod = [](const k8s::Pod&) {},
            .on_pod_gone = [](const std::string&) {},
            .on_problem = [this](const std::string& kind, const k8s::Error& error,
                                 milliseconds retry_in) { on_problem(kind, error, retry_in); },
            .on_recovered = [](const std::string&) {},
            .on_synced =
                [this] {
                  synced_ = true;
                  loop_.stop();
                }};
  }

  void on_problem(const std::string& kind, const k8s::Error& error, milliseconds retry_in) {
    // A streamed list that the server refuses is asked for in pages at once.
    if (retry_in == milliseconds{0} || is_listed(kind)) return;
    const Needed needed = live::Intake::needed(kind);
    if (needed >= Needed::kIfThere && error.is_status(404)) return;
    if (needed >= Needed::kIfReadable && error.is_status(403)) return hidden_.push_back(kind);
    if (error.asks_for_patience()) return;
    problem_ = in_words(error, kind);
    loop_.stop();
  }

  // Whether the list of that kind is complete: a watch is not needed.
  [[nodiscard]] bool is_listed(const std::string& kind) const {
    const auto sources = intake_.sources();
    return std::any_of(sources.begin(), sources.end(), [&](const live::Intake::Source& source) {
      return source.kind == kind && source.synced;
    });
  }

  k8s::EventLoop& loop_;
  std::function<void(Event)> sink_;
  std::vector<std::string> hidden_;
  std::optional<k8s::Error> problem_;
  bool synced_ = false;
  live::Intake intake_;
};

}  // namespace

k8s::Result<std::vector<std::string>> read_cluster(k8s::EventLoop& loop,
                                                   const k8s::ClusterAccess& access,
                                                   std::function<void(Event)> sink,
                                                   ChangeMask reads) {
  const auto transport = k8s::make_asio_transport(loop, access.endpoint, *access.credentials,
                                                  {.user_agent = access.user_agent});
  return Reading(loop, *transport, std::move(sink), reads).run();
}

}  // namespace sched::kubectl
