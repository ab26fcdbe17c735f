#include "bench/replay/recording/rerun.h"

#include "bench/replay/recording/recording.h"
#include "scheduler/config/config.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <ostream>
#include <utility>

namespace bench::replay {
namespace {

constexpr int kSame = 0;
constexpr int kDifferent = 1;
constexpr int kUnreadable = 2;

struct Counts {
  std::uint64_t events = 0;
  std::uint64_t steps = 0;
  std::uint64_t decisions = 0;
};

// Calls the engine as recorded; returns the difference as text, or nothing.
std::optional<std::string> repeat(sched::Engine& engine, const sched::live::EngineCall& call,
                                  Counts& counts) {
  if (const auto* applied = std::get_if<sched::live::AppliedCall>(&call)) {
    engine.apply(applied->event, applied->at);
    ++counts.events;
    return std::nullopt;
  }
  const auto& step = std::get<sched::live::StepCall>(call);
  const auto decision = engine.step(step.at);
  ++counts.steps;
  if (decision) ++counts.decisions;
  if (decision == step.decision) return std::nullopt;
  return fmt::format("  recorded: {}\n  computed: {}", sched::live::encode(step.decision),
                     sched::live::encode(decision));
}

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
  Counts counts;
  bool stopped = false;
  while (!(stopped = stop != nullptr && *stop)) {
    const auto call = reader->next();
    if (!call) return unreadable(complaints, call.error());
    if (!*call) break;
    if (const auto difference = repeat(*engine, **call, counts)) {
      out << fmt::format("{}: another decision\n{}\n", reader->place(), *difference);
      return kDifferent;
    }
  }
  if (reader->was_cut()) out << "the last line is cut off and was left out\n";
  out << fmt::format("{}{} events, {} steps, {} decisions: all the same\n",
                     stopped ? "interrupted after " : "", counts.events, counts.steps,
                     counts.decisions);
  return kSame;
}

}  // namespace bench::replay
