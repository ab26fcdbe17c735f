// Nodes that swallow pods: those whose kubelet rejects pods with devices, one after the other.
//
// A node whose device plugin is broken looks free: pods are bound there, fail at once with
// UnexpectedAdmissionError or OutOf…, their controllers make new ones, and these are bound there
// again, since nothing is as free as it. (One Ready node is on record that rejected 554 pods in 106
// minutes: pytorch/ci-infra pull request 1058.) So after `limits.pods` rejections within
// `limits.within` the node is backed off: for `initial_backoff`, twice that the next time, up to
// `max_backoff`. When the time is over it is on trial, for as long as it was backed off or
// `within`, whichever is longer: one more rejection and it is backed off again. A pod that starts
// there (its kubelet admitted it after the last rejection) with one of the devices that all the
// rejected had asked for releases it at once and clears its record: what was broken works. Where
// these had none in common any device will do. The back-off itself is from all devices, for one
// kubelet serves them all.
//
// What happened on a node is ordered by its kubelet's clock, as far as that is not ahead of the
// engine's; back-offs are counted by the engine's. Rejections that are older than `within` by both
// are no news, nor are those that are told again, whatever has happened since: watches repeat
// themselves. Memory: nodes with a rejection or a release within that time or on trial, at most
// `limits.pods` pods each, and kMostAhead that their kubelet dated ahead.
#pragma once

#include "scheduler/base/event.h"
#include "scheduler/gpu/health.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace sched {

class BlackHoles {
 public:
  explicit BlackHoles(gpu::RejectionLimits limits) : limits_(limits) {}

  // A kubelet rejected a pod. True: its node is backed off from now on. The same pod told twice
  // counts once. O(log nodes), and now and then O(nodes).
  bool rejected(const event::PodRejected& pod, Time now);
  using Devices = std::map<std::string, std::int64_t>;  // as in event::PodRejected
  // A pod with those devices runs, which the node's kubelet took in at `admitted` (its clock).
  // True: the node was backed off and is not any more.
  bool started(const std::string& node, const Devices& devices, Time admitted, Time now);
  // The node is gone; one of the same name starts anew. True: it was backed off.
  bool forget(const std::string& node);
  // Ends the back-offs whose time is over, and names their nodes, in order.
  [[nodiscard]] std::vector<std::string> end(Time now);

  // When end() will next have something to do.
  [[nodiscard]] std::optional<Time> next_end() const;
  // Null: not backed off.
  [[nodiscard]] const gpu::AdmissionBackoff* backoff(const std::string& node) const;
  // Back-offs in a row of the node, the present one included; 0: none.
  [[nodiscard]] int in_a_row(const std::string& node) const;
  // Rejections that were news, ever.
  [[nodiscard]] std::uint64_t rejections() const { return rejections_; }
  // Nodes that are backed off.
  [[nodiscard]] std::size_t backed_off() const { return ends_.size(); }
  // Nothing is known against any node.
  [[nodiscard]] bool empty() const { return records_.empty(); }
  // Something is known of that node.
  [[nodiscard]] bool knows(const std::string& node) const { return records_.contains(node); }
  // Nodes that something is known of.
  [[nodiscard]] std::size_t size() const { return records_.size(); }

 private:
  static constexpr std::size_t kMostAhead = 100;
  using Names = std::set<std::string>;
  struct Rejection {
    std::string uid;
    Time at{};
    Names devices;
  };
  struct Record {
    std::vector<Rejection> recent;  // since the last back-off, ≤ limits.pods, by time told
    Time last{};                    // the latest rejection or release, by the kubelet's clock
    // A pod was admitted then that proved the node: what was rejected up to then is history.
    Time proven = Time::min();
    // The uids of rejections that were dated ahead of the engine's clock: when they are told again
    // their time does not show it. The latest; and the latest such time.
    std::deque<std::string> ahead;
    Time latest_ahead = Time::min();
    Names broken;  // what all asked for that led to the back-offs; empty: they had none in common
    int in_a_row = 0;
    int rejected = 0;  // pods, since the last back-off ended
    std::optional<gpu::AdmissionBackoff> backoff;
    Time trial_ends{};  // once the back-off is over
  };

  [[nodiscard]] static bool is_known(const Record& record, const event::PodRejected& pod);
  [[nodiscard]] bool is_too_many(const Record& record) const;
  // What all asked for that speak against the node.
  [[nodiscard]] static Names devices_in_common(const Record& record);
  void back_off(const std::string& node, Record& record, const event::PodRejected& pod, Time now);
  [[nodiscard]] std::chrono::seconds length_of(int in_a_row) const;
  void drop_old(Time now);

  gpu::RejectionLimits limits_;
  std::map<std::string, Record> records_;        // by node
  std::set<std::pair<Time, std::string>> ends_;  // of the present back-offs
  Time drop_at_{};
  std::uint64_t rejections_ = 0;
};

}  // namespace sched
