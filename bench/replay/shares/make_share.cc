#include "bench/replay/shares/make_share.h"

#include "bench/replay/shares/digest.h"
#include "bench/replay/shares/share_folder.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <ostream>
#include <utility>

namespace bench::replay {
namespace {

k8s::Result<StudyOfShares> described(const Study& study, std::size_t shares) {
  auto program = sha256_of_this_program();
  if (!program) return tl::unexpected<k8s::Error>(std::move(program.error()));
  StudyOfShares described{.version = GPU_SCHEDULER_VERSION,
                          .program = *std::move(program),
                          .shares = shares,
                          .options = study.options,
                          .inputs = study.inputs,
                          .runs = {},
                          .traces = {}};
  for (const PlannedRun& run : study.runs) described.runs.push_back(run.name);
  for (const Trace& trace : study.traces) {
    Trace& brief = described.traces.emplace_back();
    brief.name = trace.name;
    brief.nodes = trace.nodes;
    brief.counts = trace.counts;
  }
  return described;
}

// The same run, which also writes its result into the folder.
PlannedRun kept(const PlannedRun& run, std::size_t number, const ShareFolder& folder,
                const std::string& study) {
  return {run.name, [&run, number, &folder, &study]() -> k8s::Result<Result> {
            auto result = run.run();
            if (!result || result->interrupted) return result;
            if (auto done = folder.write(number, study, *result); !done) {
              return tl::unexpected<k8s::Error>(std::move(done.error()));
            }
            return result;
          }};
}

}  // namespace

int make_share(const Study& study, Share share, const ReplayOptions& options, Terminal terminal,
               const std::atomic<bool>& stop) {
  const ShareFolder folder(options.out);
  auto whole = described(study, share.count);
  if (!whole) return unusable(terminal.complaints, whole.error());
  const std::string digest = whole->digest();
  if (auto begun = folder.begin({share, options.command_line, *std::move(whole)}); !begun) {
    return unusable(terminal.complaints, begun.error());
  }
  std::vector<PlannedRun> left;
  std::size_t all = 0;
  for (std::size_t i = share.index; i < study.runs.size(); i += share.count, ++all) {
    const auto made = folder.has(i, digest);
    if (!made) return unusable(terminal.complaints, made.error());
    if (!*made) left.push_back(kept(study.runs[i], i, folder, digest));
  }
  fmt::print(terminal.out, "share {}: {} of the study's {} runs, {} of them made before\n",
             share.text(), all, study.runs.size(), all - left.size());
  terminal.out << std::flush;
  const auto results = make_runs(left, options, terminal.complaints, stop);
  if (!results) return unusable(terminal.complaints, results.error());
  if (results->size() < left.size()) {
    fmt::print(terminal.complaints,
               "interrupted: {} runs of the share are left; the same command makes them\n",
               left.size() - results->size());
    return kDone;
  }
  fmt::print(terminal.out, "share {} is complete in {}\n", share.text(), options.out);
  return kDone;
}

}  // namespace bench::replay
