// What the page and the answers for tenants show but the engine does not store: the pods that were
// bound last and why on these nodes, one sentence why each pod waits, and the names of pods that
// have GPUs.
//
// The engine's thread notes decisions, so that their number fits what it answers next; the event
// loop notes outcomes of binds, and pods; the secure port's thread reads. The engine may decide on
// a pod that the event loop has noted as gone, so the loop looks at each decision once more. All of
// it is bounded: beyond the bounds nothing is noted, and the page shows less.
#pragma once

#include "k8s-client/api/pod.h"
#include "scheduler/answers/pod_names.h"
#include "scheduler/answers/queue.h"
#include "scheduler/answers/quotas.h"
#include "scheduler/answers/why.h"
#include "scheduler/engine/answers.h"
#include "scheduler/engine/decision.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace sched::live {

// Thread-safe.
class UiNotes {
 public:
  struct Limits {
    std::size_t bound = 2'000;
    std::size_t refusals = 50'000;
    std::size_t names = 200'000;
    std::size_t open = 10'000;  // binds without an outcome
  };

  struct Bound {
    std::uint64_t number = 0;  // of the decision
    Time at{};                 // the API server took the bind
    decision::Bind bind;
  };

  using Refusal = answers::LastRefusal;

  UiNotes() = default;
  explicit UiNotes(Limits limits) : limits_(limits) {}

  // A decision leaves the engine.
  void decided(const Decision& decision);
  // The API server took the bind that was decided on last of that pod.
  void bound(const decision::Bind& bind, Time at);
  // The bind with that number has ended without that.
  void not_bound(const std::string& uid, std::uint64_t number);
  // The watch does not show the pod unbound any more, though a decision on it has come since.
  void waits_no_more(const std::string& uid);
  // A pod as the API server shows it.
  void saw(const k8s::Pod& pod);
  // The API server does not have the pod any more.
  void gone(const std::string& uid);

  // How many there were; the number of the last.
  [[nodiscard]] std::uint64_t decisions() const;
  // The last first, `at_most` of them.
  [[nodiscard]] std::vector<Bound> last_bound(std::size_t at_most) const;
  [[nodiscard]] std::optional<Refusal> refusal_of(const std::string& uid) const;
  // How a pod that is bound got its node; nullopt: that is too long ago, or this process did not
  // decide it. O(Limits::bound).
  [[nodiscard]] std::optional<answers::Chosen> chosen(const std::string& uid) const;
  // The names of these pods, as far as they are known.
  [[nodiscard]] answers::PodNames names_of(const std::vector<GpuTenant>& pods) const;
  [[nodiscard]] std::vector<answers::Loan> loans_of(
      const std::vector<BorrowedGpus>& borrowed) const;
  // answers::name_ends with the names that are known.
  void name_ends(answers::Why& why) const;

 private:
  // Why the pod waits, by one more decision.
  void note(const std::string& uid, Refusal refusal);

  const Limits limits_{};
  mutable std::mutex mutex_;
  std::uint64_t decisions_ = 0;
  std::unordered_map<std::string, std::uint64_t> open_;  // numbers of binds without an outcome
  std::deque<Bound> bound_;                              // the last first
  std::unordered_map<std::string, Refusal> refusals_;    // by uid
  std::unordered_map<std::string, std::string> names_;   // "namespace/name" of pods with GPUs
};

}  // namespace sched::live
