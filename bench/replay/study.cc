#include "bench/replay/study.h"

#include "bench/replay/output/means.h"
#include "bench/replay/output/table.h"
#include "bench/replay/work_list.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <ostream>
#include <thread>

namespace bench::replay {
namespace {

// Makes the runs, and stores their results in order.
class Progress {
 public:
  // `line`: where each finished run is reported, on one line that is overwritten; may be null.
  Progress(const std::vector<PlannedRun>& runs, std::ostream* line)
      : runs_(runs), line_(line), results_(runs.size()) {}

  void make_all(std::size_t threads, const std::atomic<bool>& stop) {
    work_through(runs_.size(), threads, [&](std::size_t i) { return !stop && make(i); });
    if (line_ != nullptr) *line_ << "\r\x1b[K" << std::flush;
  }
  [[nodiscard]] const std::optional<k8s::Error>& error() const { return error_; }
  [[nodiscard]] std::vector<Result> finished() {
    std::vector<Result> finished;
    for (auto& result : results_) {
      if (result) finished.push_back(*std::move(result));
    }
    return finished;
  }

 private:
  bool make(std::size_t i) {
    auto result = runs_[i].run();
    const std::lock_guard lock(mutex_);
    if (!result) {
      if (!error_) error_ = k8s::with_context(std::move(result.error()), runs_[i].name);
      return false;
    }
    if (result->interrupted) return false;
    ++done_;
    if (line_ != nullptr) {
      fmt::print(*line_, "\r\x1b[K{}/{} runs: {}: {:.1f} s", done_, runs_.size(), runs_[i].name,
                 result->seconds);
      line_->flush();
    }
    results_[i] = *std::move(result);
    return true;
  }

  const std::vector<PlannedRun>& runs_;
  std::ostream* line_;
  std::mutex mutex_;  // guards what follows
  std::vector<std::optional<Result>> results_;
  std::optional<k8s::Error> error_;
  std::size_t done_ = 0;
};

std::size_t threads_of(const ReplayOptions& options) {
  if (options.jobs > 0) return options.jobs;
  return std::max(1U, std::thread::hardware_concurrency());
}

int judge(const std::vector<Condition>& fail_if, const std::vector<PolicyMeans>& means,
          std::ostream& out, std::ostream& complaints) {
  const auto lines = failures(fail_if, means);
  if (!lines) return unusable(complaints, lines.error());
  for (const std::string& line : *lines) fmt::print(out, "failed: {}\n", line);
  return lines->empty() ? kDone : kFailed;
}

}  // namespace

int unusable(std::ostream& complaints, const k8s::Error& error) {
  fmt::print(complaints, "replay: {}\n", error.message);
  return kUnusable;
}

k8s::Result<std::vector<Result>> make_runs(const std::vector<PlannedRun>& runs,
                                           const ReplayOptions& options, std::ostream& complaints,
                                           const std::atomic<bool>& stop) {
  Progress progress(runs, options.progress ? &complaints : nullptr);
  progress.make_all(threads_of(options), stop);
  if (progress.error()) return tl::unexpected<k8s::Error>(*progress.error());
  return progress.finished();
}

int present(const Findings& findings, const ReplayOptions& options, OutputFolder& folder,
            Terminal terminal) {
  const std::vector<PolicyMeans> means = means_over_seeds(findings.results);
  write_table(terminal.out, means, options.format);
  const auto written = folder.write({.options = findings.study.options,
                                     .traces = findings.study.traces,
                                     .results = findings.results,
                                     .means = means,
                                     .interrupted = findings.interrupted},
                                    options.command_line);
  if (!written) return unusable(terminal.complaints, written.error());
  if (!written->empty()) fmt::print(terminal.out, "\nwritten: {}\n", fmt::join(*written, ", "));
  return judge(findings.study.fail_if, means, terminal.out, terminal.complaints);
}

int carry_out(const Study& study, const ReplayOptions& options, OutputFolder& folder,
              std::ostream& out, std::ostream& complaints, const std::atomic<bool>& stop) {
  const auto results = make_runs(study.runs, options, complaints, stop);
  if (!results) return unusable(complaints, results.error());
  const bool interrupted = results->size() < study.runs.size();
  if (interrupted) {
    fmt::print(complaints, "interrupted: {} of {} runs had finished\n", results->size(),
               study.runs.size());
  }
  if (results->empty()) return kDone;
  return present({study, *results, interrupted}, options, folder, {out, complaints});
}

}  // namespace bench::replay
