#include "bench/rerun/rerun.h"

#include "scheduler/config/config.h"
#include "scheduler/live/record/record.h"

#include <fmt/format.h>

#include <cstdint>
#include <fstream>
#include <optional>
#include <ostream>
#include <utility>

namespace bench {

namespace {

constexpr int kSame = 0;
constexpr int kDifferent = 1;
constexpr int kUnreadable = 2;

// The lines of a recording. A last line without its newline is what a killed process left; it is
// not part of the recording.
class Lines {
 public:
  explicit Lines(const std::string& file) : stream_(file, std::ios::binary) {}

  [[nodiscard]] bool is_open() const { return stream_.is_open(); }
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] bool was_cut() const { return cut_; }

  std::optional<std::string> next() {
    std::string line;
    if (!std::getline(stream_, line)) return std::nullopt;
    cut_ = stream_.eof();
    if (cut_) return std::nullopt;
    ++number_;
    return line;
  }

 private:
  std::ifstream stream_;
  std::uint64_t number_ = 0;
  bool cut_ = false;
};

struct Counts {
  std::uint64_t events = 0;
  std::uint64_t steps = 0;
  std::uint64_t decisions = 0;
};

k8s::Result<sched::Engine> engine_of(const std::string& header_line,
                                     const sched::Registry& registry) {
  const auto header = sched::live::decode_header(header_line);
  if (!header) return tl::unexpected<k8s::Error>(header.error());
  auto config = sched::config::parse(header->config, header->config_file, registry);
  if (!config) return tl::unexpected<k8s::Error>(std::move(config.error()));
  return sched::Engine(std::move(config->profiles), config->engine);
}

// Calls the engine as recorded; the difference in words, or nothing.
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

}  // namespace

int rerun(const RerunOptions& options, const sched::Registry& registry, std::ostream& out,
          std::ostream& complaints) {
  Lines lines(options.file);
  if (!lines.is_open()) {
    complaints << fmt::format("{}: cannot be opened\n", options.file);
    return kUnreadable;
  }
  auto engine = engine_of(lines.next().value_or(""), registry);
  if (!engine) {
    complaints << fmt::format("{}:1: {}\n", options.file, engine.error().message);
    return kUnreadable;
  }
  Counts counts;
  while (const auto line = lines.next()) {
    const auto call = sched::live::decode_call(*line);
    if (!call) {
      complaints << fmt::format("{}:{}: {}\n", options.file, lines.number(), call.error().message);
      return kUnreadable;
    }
    if (const auto difference = repeat(*engine, *call, counts)) {
      out << fmt::format("{}:{}: another decision\n{}\n", options.file, lines.number(),
                         *difference);
      return kDifferent;
    }
  }
  if (lines.was_cut()) out << "the last line is cut off and was left out\n";
  out << fmt::format("{} events, {} steps, {} decisions: all the same\n", counts.events,
                     counts.steps, counts.decisions);
  return kSame;
}

}  // namespace bench
