#include "scheduler/live/record/recording_ring.h"

#include "scheduler/live/record/gzip_member.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <type_traits>
#include <utility>
#include <variant>

namespace sched::live {

namespace {

constexpr std::size_t kSegmentText = 1U << 20U;
// A segment spans no more than this part of the age.
constexpr int kSegmentsAtLeast = 12;
// Segments are folded when the oldest one exceeds the age by this part of it, so that several are
// folded at once.
constexpr int kLate = 6;

constexpr std::uint64_t kGone = 1;

std::string name_in(const std::string& namespace_, const std::string& name) {
  return namespace_ + '/' + name;
}

std::uint64_t key_for(std::string_view kind, const std::string& name) {
  // Neither 0 nor 1, and without the lowest bit.
  return (std::hash<std::string>()(std::string(kind) + '\n' + name) | 2U) & ~kGone;
}

std::string id_of(const std::string& uid, const std::string& namespace_, const std::string& name) {
  return uid.empty() ? name_in(namespace_, name) : uid;
}

struct KeyOf {
  template <typename Other>
  std::uint64_t operator()(const Other& /*other*/) const {
    return 0;
  }
  // The snapshot keeps the last event of this type, like the last version of an object.
  std::uint64_t operator()(const event::DisruptionBudgetsReadable& /*e*/) const {
    return key_for("DisruptionBudgetsReadable", {});
  }
  template <typename Object>
  std::uint64_t operator()(const event::Upserted<Object>& e) const {
    const k8s::ObjectMeta& meta = e.object.metadata;
    if constexpr (std::is_same_v<Object, k8s::Pod>) {
      return key_for(kWatched<Object>.word, id_of(meta.uid, meta.namespace_, meta.name));
    } else {
      return key_for(kWatched<Object>.word, name_in(meta.namespace_, meta.name));
    }
  }
  template <typename Object>
  std::uint64_t operator()(const event::Deleted<Object>& e) const {
    if constexpr (std::is_same_v<Object, k8s::Pod>) {
      return key_for(kWatched<Object>.word, id_of(e.pod.uid, e.pod.namespace_, e.pod.name)) | kGone;
    } else {
      return key_for(kWatched<Object>.word, name_in(e.namespace_, e.name)) | kGone;
    }
  }
};

Time time_of(const EngineCall& call) {
  return std::visit([](const auto& one) { return one.at; }, call);
}

std::uint64_t decisions_in(const EngineCall& call) {
  if (const auto* lost = std::get_if<LostCalls>(&call)) return lost->decisions;
  const auto* step = std::get_if<StepCall>(&call);
  return step != nullptr && step->decision ? 1 : 0;
}

template <typename Segments>
std::size_t total_bytes(const Segments& segments) {
  return std::accumulate(segments.begin(), segments.end(), std::size_t{0},
                         [](std::size_t sum, const auto& each) { return sum + each.bytes(); });
}

}  // namespace

RecordingRing::RecordingRing(RecordHeader header, Limits limits)
    : header_(std::move(header)), limits_(limits) {}

RecordingRing::LineKey RecordingRing::key_of(const EngineCall& call) {
  const auto* applied = std::get_if<AppliedCall>(&call);
  if (applied == nullptr) return 0;
  if (std::holds_alternative<event::Synced>(applied->event)) return kSynced;
  return std::visit(KeyOf{}, applied->event);
}

void RecordingRing::Open::append(std::string_view line, LineKey key, Time at) {
  if (keys.empty()) begin = at;
  end = at;
  text += line;
  text += '\n';
  keys.push_back(key);
}

RecordingRing::Segment RecordingRing::Open::packed() {
  keys.shrink_to_fit();
  Segment segment{.packed = std::make_shared<const std::string>(gzip_member(text)),
                  .keys = std::exchange(keys, {}),
                  .decisions = std::exchange(decisions, 0),
                  .begin = begin,
                  .end = end};
  text.clear();
  return segment;
}

void RecordingRing::add(const EngineCall& call) {
  if (given_up_) return;
  const Time at = time_of(call);
  open_.append(encode(call), key_of(call), at);
  open_.decisions += decisions_in(call);
  const bool is_full =
      open_.text.size() >= kSegmentText || at - open_.begin >= limits_.age / kSegmentsAtLeast;
  if (!is_full) return;
  segments_.push_back(open_.packed());
  bytes_ += segments_.back().bytes();
  keep_limits();
}

void RecordingRing::keep_limits() {
  if (const std::size_t old = too_old(); old > 0) fold(old);
  if (const std::size_t many = too_many_bytes(); many > 0) fold(many);
  // Otherwise little room would be left for calls, and they would be folded again and again.
  if (total_bytes(snapshot_) > limits_.bytes / 4 * 3) give_up();
}

std::size_t RecordingRing::too_old() const {
  const auto older_than = [&](Time limit) {
    return [limit](const Segment& segment) { return segment.end < limit; };
  };
  const Time limit = segments_.back().end - limits_.age;
  if (!older_than(limit - limits_.age / kLate)(segments_.front())) return 0;
  const auto first_young = std::find_if_not(segments_.begin(), segments_.end(), older_than(limit));
  return static_cast<std::size_t>(first_young - segments_.begin());
}

std::size_t RecordingRing::too_many_bytes() const {
  if (bytes_ <= limits_.bytes) return 0;
  std::size_t left = bytes_;
  std::size_t segments = 0;
  while (segments < segments_.size() && left > limits_.bytes / 8 * 7) {
    left -= segments_[segments++].bytes();
  }
  return segments;
}

RecordingRing::LastLines RecordingRing::last_lines(std::size_t segments) {
  LastLines last;
  std::size_t line = 0;
  const auto look = [&](const Segment& segment) {
    for (const LineKey key : segment.keys) {
      if (key == kSynced) synced_ = true;
      if (key > kSynced) last[key | kGone] = line;
      ++line;
    }
  };
  std::for_each(snapshot_.begin(), snapshot_.end(), look);
  std::for_each_n(segments_.begin(), segments, look);
  return last;
}

void RecordingRing::fold(std::size_t segments) {
  const LastLines last = last_lines(segments);
  const Time until = segments_[segments - 1].end;
  std::deque<Segment> snapshot;
  Open open;
  std::size_t line = 0;
  std::size_t objects = 0;
  std::uint64_t decisions = header_.snapshot ? header_.snapshot->decisions : 0;
  // Each segment is dropped once it was read, so that the old and the new snapshot are never both
  // whole in memory.
  const auto move_over = [&](std::deque<Segment>& from) {
    const Segment segment = std::move(from.front());
    from.pop_front();
    const auto unpacked = unpack_member(*segment.packed);
    // Only broken memory can cause this. It is no reason to end the process.
    if (!unpacked) return static_cast<void>(line += segment.keys.size());
    std::string_view rest = unpacked->text;
    for (const LineKey key : segment.keys) {
      const std::size_t size = rest.find('\n');
      const bool is_object = key > kSynced && (key & kGone) == 0;
      if (is_object && last.at(key | kGone) == line) {
        open.append(rest.substr(0, size), key, until);
        ++objects;
      }
      rest.remove_prefix(size + 1);
      ++line;
    }
    if (open.text.size() >= kSegmentText) snapshot.push_back(open.packed());
  };
  while (!snapshot_.empty()) move_over(snapshot_);
  for (std::size_t i = 0; i < segments; ++i) {
    decisions += segments_.front().decisions;
    move_over(segments_);
  }
  if (!open.keys.empty()) snapshot.push_back(open.packed());
  snapshot_ = std::move(snapshot);
  header_.snapshot =
      RecordHeader::Snapshot{.objects = objects, .decisions = decisions, .at = until};
  bytes_ = total_bytes(snapshot_) + total_bytes(segments_);
}

void RecordingRing::give_up() {
  given_up_ = true;
  snapshot_.clear();
  segments_.clear();
  open_ = {};
  bytes_ = 0;
}

std::chrono::microseconds RecordingRing::span() const {
  if (segments_.empty()) return open_.end - open_.begin;
  return std::max(open_.end, segments_.back().end) - segments_.front().begin;
}

RecordingParts RecordingRing::parts() const {
  const auto packed = [](const std::string& text) {
    return std::make_shared<const std::string>(gzip_member(text));
  };
  RecordingParts parts{packed(encode(header_) + '\n')};
  for (const Segment& segment : snapshot_) parts.push_back(segment.packed);
  if (header_.snapshot && synced_) {
    parts.push_back(packed(encode(AppliedCall{event::Synced{}, header_.snapshot->at}) + '\n'));
  }
  for (const Segment& segment : segments_) parts.push_back(segment.packed);
  if (!open_.text.empty()) parts.push_back(packed(open_.text));
  return parts;
}

}  // namespace sched::live
