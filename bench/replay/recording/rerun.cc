#include "bench/replay/recording/rerun.h"

#include "bench/replay/recording/approximate.h"
#include "bench/replay/recording/recording.h"
#include "scheduler/config/config.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <variant>

namespace bench::replay {
namespace {

constexpr int kSame = 0;
constexpr int kDifferent = 1;
constexpr int kUnreadable = 2;

// One pass over a recording.
class Rerun {
 public:
  Rerun(sched::Engine engine, const sched::live::RecordHeader& header, std::ostream& out)
      : engine_(std::move(engine)), out_(out) {
    if (header.snapshot) begin_with(*header.snapshot);
  }

  // Returns false after it has printed a difference.
  bool repeat(const sched::live::EngineCall& call, const std::string& place) {
    if (const auto* applied = std::get_if<sched::live::AppliedCall>(&call)) {
      engine_.apply(applied->event, applied->at);
      ++events_;
      return true;
    }
    if (const auto* lost = std::get_if<sched::live::LostCalls>(&call)) {
      out_ << gap(*lost, place);
      if (!approximate_) approximate_.emplace();
      return true;
    }
    const auto& step = std::get<sched::live::StepCall>(call);
    ++steps_;
    if (step.decision) ++decisions_;
    if (!approximate_) return is_same(step, place);
    approximate_->repeat(engine_, step, place);
    return true;
  }

  void close(bool stopped) const {
    out_ << fmt::format("{}{} events, {} steps, {} decisions{}\n",
                        stopped ? "interrupted after " : "", events_, steps_, decisions_,
                        approximate_ ? "" : ": all the same");
    if (approximate_) approximate_->report(out_);
  }

 private:
  void begin_with(const sched::live::RecordHeader::Snapshot& snapshot) {
    out_ << fmt::format(
        "begins with a snapshot of {} objects: what else the engine knew is not in it, so "
        "decisions "
        "may differ\n",
        snapshot.objects);
    approximate_.emplace();
  }

  static std::string gap(const sched::live::LostCalls& lost, const std::string& place) {
    if (lost.events + lost.decisions == 0) {
      return fmt::format("{}: calls are missing before it: decisions may differ from here on\n",
                         place);
    }
    return fmt::format(
        "{}: {} events and {} decisions are missing: decisions may differ from here on\n", place,
        lost.events, lost.decisions);
  }

  bool is_same(const sched::live::StepCall& step, const std::string& place) {
    const auto decision = engine_.step(step.at);
    if (decision == step.decision) return true;
    out_ << fmt::format("{}: another decision\n  recorded: {}\n  computed: {}\n", place,
                        sched::live::encode(step.decision), sched::live::encode(decision));
    return false;
  }

  sched::Engine engine_;
  std::ostream& out_;
  std::optional<ApproximateRerun> approximate_;  // nullopt: it is exact
  std::uint64_t events_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t decisions_ = 0;
};

int unreadable(std::ostream& complaints, const k8s::Error& error) {
  complaints << error.message << '\n';
  return kUnreadable;
}

}  // namespace

k8s::Result<sched::Engine> engine_of(const sched::live::RecordHeader& header,
                                     const sched::Registry& registry) {
  auto config = sched::config::parse(header.config, header.config_file, registry);
  if (!config) return tl::unexpected<k8s::Error>(std::move(config.error()));
  return sched::Engine(std::move(config->profiles), config->engine);
}

int rerun(const std::string& file, const sched::Registry& registry, std::ostream& out,
          std::ostream& complaints, const std::atomic<bool>* stop) {
  auto reader = RecordingReader::open(file);
  if (!reader) return unreadable(complaints, reader.error());
  auto engine = engine_of(reader->header(), registry);
  if (!engine) return unreadable(complaints, engine.error());
  Rerun rerun(*std::move(engine), reader->header(), out);
  bool stopped = false;
  while (!(stopped = stop != nullptr && *stop)) {
    const auto call = reader->next();
    if (!call) return unreadable(complaints, call.error());
    if (!*call) break;
    if (!rerun.repeat(**call, reader->place())) return kDifferent;
  }
  if (reader->was_cut()) out << "the last line is cut off and was left out\n";
  for (const std::string& damage : reader->damages()) out << damage << '\n';
  rerun.close(stopped);
  return kSame;
}

}  // namespace bench::replay
