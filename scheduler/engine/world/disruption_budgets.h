// The PodDisruptionBudgets of the cluster, as preemption by priority counts them: which evictions
// would violate a budget.
//
// A budget's number is computed by a controller and comes by the watch, so it is old for a moment
// after each eviction. The API server has the same problem with the evictions that it is asked for:
// it takes one from the number and remembers the pod's name until the controller has seen the pod's
// deletion. Here an evicted pod is subtracted from its budgets until it is gone, because a new
// version of a budget does not show whether it counts the pod. If no new version has come by then,
// the pod stays subtracted until the next one. So a budget may be counted too low for a while.
//
// Each question about a pod, and each eviction, costs as much as there are budgets in its
// namespace, and a tenant may create thousands. So if those of a namespace are too many (kMost),
// none of them is compared: all pods of the namespace are protected. (A single budget could protect
// all of them as well.)
//
// Source: kube-scheduler 1.36, filterPodsWithPDBViolation. Unlike there, a budget covers the pods
// that policy/v1 and the API server's own evictions say: an empty selector covers all pods of its
// namespace, and pods without labels can be covered, too.
#pragma once

#include "k8s-client/api/disruption_budget.h"
#include "scheduler/framework/pod_class.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sched {

class DisruptionBudgets {
 public:
  // For the budgets of a namespace: each counts one, and the parts of its selector.
  static constexpr std::size_t kMost = 2'000;

  struct Pod {
    const PodClass& pod_class;  // has its namespace and labels
    std::string_view name;
  };

  // Replaces what is known of the budget. Without effect if its resource version is known already.
  // A selector that is absent or invalid covers no pod.
  void upsert(k8s::PodDisruptionBudget budget);
  void erase(const std::string& namespace_, const std::string& name);

  // Whether this process may read them. If not, none is known.
  [[nodiscard]] bool readable() const { return readable_; }
  void set_readable(bool readable);

  // Grows with every change of an answer.
  [[nodiscard]] std::uint64_t version() const { return version_; }

  struct Violations {
    std::vector<bool> by;      // for each of the pods
    std::size_t compared = 0;  // the cost: budgets, and parts of their selectors
  };
  // For each of the pods, the most important first, whether it violates a budget if all of them are
  // evicted. Each pod is subtracted from every budget that covers it and does not count its
  // eviction yet. It violates a budget that is then below 0. So with two evictions left in a
  // budget, its first two pods do not violate it. Each pod of a namespace with too many budgets
  // violates one. O(pods · selectors of their namespaces).
  [[nodiscard]] Violations violated_by(const std::vector<Pod>& pods) const;

  // The pod is being evicted: each budget that covers it lets one pod less go. A second call for
  // the pod changes nothing.
  void evicted(const Pod& pod);
  // The pod, which may have been evicted, is gone.
  void gone(const Pod& pod);
  // The pod is not evicted after all.
  void stays(const Pod& pod);

 private:
  // Why a budget lets one pod fewer go.
  enum class By : std::uint8_t {
    kServer,    // in this version already
    kEviction,  // evicted(), since this version has come
    kEarlierEviction,
  };
  struct Budget {
    std::string version;                          // metadata.resourceVersion
    k8s::LabelSelector selector;                  // valid
    std::int64_t left = 0;                        // below 0: more are gone than it allows
    std::map<std::string, By, std::less<>> gone;  // by name: pods that `left` counts already

    // Whether the pod, of this namespace, would take one from it.
    [[nodiscard]] bool counts(const k8s::StringMap& labels, std::string_view name) const;
    void take(std::string_view name, By by);
  };
  struct OfNamespace {
    std::map<std::string, Budget> by_name;
    std::size_t size = 0;  // as kMost counts

    // Evictions are not counted then.
    [[nodiscard]] bool are_too_many() const { return size > kMost; }
  };
  // Labels of pods by name.
  using Evicted = std::map<std::string, k8s::StringMap, std::less<>>;

  // As kMost counts.
  [[nodiscard]] static std::size_t size_of(const Budget& budget);
  // The budget has come, and counts the evictions before.
  void count_evicted(const std::string& namespace_, Budget& budget) const;
  // Budgets of that namespace have come or gone, which had that size before.
  void resized(const std::string& namespace_, OfNamespace& budgets, std::size_t before) const;

  // The eviction of the pod is over. What was taken from budgets for it, for these reasons, is
  // given back.
  void over(const Pod& pod, std::initializer_list<By> given_back);

  std::uint64_t version_ = 0;
  bool readable_ = true;
  // By namespace; no namespace has an empty map.
  std::map<std::string, OfNamespace> budgets_;
  std::map<std::string, Evicted> evicted_;
};

}  // namespace sched
