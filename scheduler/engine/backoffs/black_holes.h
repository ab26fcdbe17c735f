// Black holes: nodes on which kubelet rejects pods with devices, one after the other.
//
// A node with a broken device plugin looks free: pods are bound there, fail at once with
// UnexpectedAdmissionError or OutOf…, their controllers create new ones, and these are bound there
// again, because no node is as free. (One Ready node is on record that rejected 554 pods in 106
// minutes: pytorch/ci-infra pull request 1058.) So after `limits.pods` rejections within
// `limits.within` the node is backed off: for `initial_backoff`, then twice as long each time, up
// to `max_backoff`. After a back-off the node is on trial, for as long as it was backed off or for
// `within`, whichever is longer: one more rejection and it is backed off again. A pod that starts
// there (its kubelet admitted it after the last rejection), with one of the devices that all
// rejected pods had asked for, proves that the device works: the back-off ends at once and the
// node's record is cleared. If the rejected pods had no device in common, any device counts. A
// back-off is for all devices, because one kubelet serves them all.
//
// Events on a node are ordered by its kubelet's clock, as far as that is not ahead of the engine's;
// back-offs are timed by the engine's clock. Ignored: rejections that are older than `within` by
// both clocks, and rejections that are repeated, whatever has happened since, because watches
// repeat events. Memory: nodes with a rejection or a proof within that time or on trial, at most
// `limits.pods` pods each, and kMostAhead that kubelet dated ahead.
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

  // A kubelet rejected a pod. True: its node is backed off from now on. A pod counts once, even if
  // it is repeated. O(log nodes), and now and then O(nodes).
  bool rejected(const event::PodRejected& pod, Time now);
  using Devices = std::map<std::string, std::int64_t>;  // as in event::PodRejected
  // A pod with those devices runs; the node's kubelet admitted it at `admitted` (kubelet's clock).
  // True: this ended a back-off of the node.
  bool started(const std::string& node, const Devices& devices, Time admitted, Time now);
  // The node is gone; a new node of that name starts without a record, and what the old one had
  // rejected does not count against it, even if it is repeated. True: it was backed off.
  bool forget(const std::string& node);
  // Ends the back-offs that are over by `now`, and returns their nodes, in order.
  [[nodiscard]] std::vector<std::string> end(Time now);

  // When end() will next have something to do.
  [[nodiscard]] std::optional<Time> next_end() const;
  // Null: not backed off.
  [[nodiscard]] const gpu::AdmissionBackoff* backoff(const std::string& node) const;
  // How many back-offs in a row the node had, including the present one; 0: none.
  [[nodiscard]] int in_a_row(const std::string& node) const;
  // How many rejections were counted, ever.
  [[nodiscard]] std::uint64_t rejections() const { return rejections_; }
  // Nodes that are backed off.
  [[nodiscard]] std::size_t backed_off() const { return ends_.size(); }
  // No node has a record.
  [[nodiscard]] bool empty() const { return records_.empty(); }
  // Whether the node has a record.
  [[nodiscard]] bool knows(const std::string& node) const { return records_.contains(node); }
  // How many nodes have a record.
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
    std::vector<Rejection> recent;  // since the last back-off, ≤ limits.pods, in order of arrival
    Time last{};                    // the latest rejection or proof, by the kubelet's clock
    // When the pod that proved the node was admitted, or the last rejection by an earlier node of
    // that name: rejections up to then are old.
    Time proven = Time::min();
    // The uids of the latest rejections that were dated ahead of the engine's clock: their time
    // does not show that they are repeated. And the latest such time.
    std::deque<std::string> ahead;
    Time latest_ahead = Time::min();
    Names broken;  // devices that all pods behind the back-offs asked for; may be empty
    int in_a_row = 0;
    int rejected = 0;  // pods, since the last back-off ended
    std::optional<gpu::AdmissionBackoff> backoff;
    Time trial_ends{};  // after the end of the back-off
  };

  // Rejections up to that time are old from now on. True: the node was backed off.
  bool clear(const std::string& node, Record& record, Time proven);
  [[nodiscard]] static bool is_known(const Record& record, const event::PodRejected& pod);
  [[nodiscard]] bool is_too_many(const Record& record) const;
  // The devices that all recorded pods asked for.
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
