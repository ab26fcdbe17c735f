// The calls of the last hour, packed, in bounded memory: what a flight recording is made of.
//
// Calls are collected in segments of some hundred kilobytes of text; a full one is packed
// (gzip_member.h). When the oldest segments are older than the limit, or all is larger than the
// limit, they are *folded* into the snapshot: of their calls only the last state of each object is
// kept, as the event that brought it, and deleted objects are dropped. So the recording begins with
// the cluster's objects as the engine knew them at that time, and continues with every call since.
//
// A snapshot of objects is not the engine's state. It lacks what the engine derives from the order
// and time of earlier events: how often a pod was tried and since when it waits, back-offs of pods
// and nodes, holds, pods assumed on nodes whose bind was not confirmed yet, random draws of ties.
// As long as nothing has been folded, there is no snapshot: the calls begin with the engine's first
// one, and a replay makes exactly its decisions again.
//
// Folding costs time in proportion to the snapshot, so it is done for several segments at a time.
// No threads, no clock: flight_recorder.h has both. Readers share the members, which are never
// changed.
#pragma once

#include "scheduler/live/record/record.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sched::live {

// A row of gzip members: a recording, when written one after the other.
using RecordingParts = std::vector<std::shared_ptr<const std::string>>;

class RecordingRing {
 public:
  struct Limits {
    std::size_t bytes = 64U << 20U;  // of all that is kept; for a moment a segment or two more
    std::chrono::microseconds age = std::chrono::hours(1);
  };

  RecordingRing(RecordHeader header, Limits limits);

  // `call` is not older than those before it.
  void add(const EngineCall& call);

  // False: the objects alone are larger than the limit. Nothing is kept any more.
  [[nodiscard]] bool is_keeping() const { return !given_up_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  // The time from the first call behind the snapshot to the last one.
  [[nodiscard]] std::chrono::microseconds span() const;

  // The recording as it is now.
  [[nodiscard]] RecordingParts parts() const;

 private:
  // What a line says of an object: 0, nothing. Otherwise a hash of the object's kind and name (a
  // pod's uid), and in the lowest bit whether it is gone. kSynced: it is the event Synced.
  using LineKey = std::uint64_t;
  static constexpr LineKey kSynced = 1;

  struct Segment {
    std::shared_ptr<const std::string> packed;
    std::vector<LineKey> keys;  // of its lines, in order
    std::uint64_t decisions = 0;
    Time begin{};
    Time end{};
    [[nodiscard]] std::size_t bytes() const {
      return packed->size() + keys.size() * sizeof(LineKey);
    }
  };
  // Lines that become a segment.
  struct Open {
    std::string text;
    std::vector<LineKey> keys;
    std::uint64_t decisions = 0;
    Time begin{};
    Time end{};
    void append(std::string_view line, LineKey key, Time at);
    [[nodiscard]] Segment packed();  // and empties it
  };
  using LastLines = std::unordered_map<LineKey, std::size_t>;

  [[nodiscard]] static LineKey key_of(const EngineCall& call);
  void keep_limits();
  // How many of the oldest segments are to be folded; 0: none.
  [[nodiscard]] std::size_t too_old() const;
  [[nodiscard]] std::size_t too_many_bytes() const;
  void fold(std::size_t segments);
  // By object, the number of the line that is the last about it; lines are counted over the
  // snapshot and then the oldest segments.
  [[nodiscard]] LastLines last_lines(std::size_t segments);
  void give_up();

  RecordHeader header_;
  const Limits limits_;
  std::deque<Segment> snapshot_;  // a line for each object
  bool synced_ = false;           // before the first call behind the snapshot
  std::deque<Segment> segments_;
  Open open_;
  std::size_t bytes_ = 0;  // of snapshot_ and segments_
  bool given_up_ = false;
};

}  // namespace sched::live
