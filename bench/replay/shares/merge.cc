#include "bench/replay/shares/merge.h"

#include "bench/replay/output/table.h"
#include "bench/replay/shares/share_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <set>
#include <utility>

namespace bench::replay {
namespace {

// The share that all others are compared with.
k8s::Result<StoredShare> study_in(const std::vector<std::string>& folders) {
  std::optional<StoredShare> first;
  std::string first_file;
  for (const std::string& name : folders) {
    const auto files = ShareFolder(name).share_files();
    if (!files) return tl::unexpected<k8s::Error>(files.error());
    if (files->empty()) {
      return k8s::config_error(fmt::format("--merge {}: no share of a study is in it", name));
    }
    for (const std::string& file : *files) {
      auto share = ShareFolder::read_share(file);
      if (!share) return tl::unexpected<k8s::Error>(std::move(share.error()));
      if (!first) {
        first_file = file;
        first = *std::move(share);
        continue;
      }
      if (const auto words = share->study.difference_to(first->study); !words.empty()) {
        return k8s::config_error(
            fmt::format("--merge: {} and {} are of different studies: the first is of {}", file,
                        first_file, words));
      }
    }
  }
  if (first->study.version != GPU_SCHEDULER_VERSION) {
    return k8s::config_error(
        fmt::format("--merge: the study was made by version {}, this is version {}",
                    first->study.version, GPU_SCHEDULER_VERSION));
  }
  return *std::move(first);
}

using Runs = std::vector<std::optional<Result>>;

k8s::Result<void> read_runs(const std::vector<std::string>& folders, const std::string& digest,
                            Runs& runs) {
  for (const std::string& name : folders) {
    const auto files = ShareFolder(name).run_files();
    if (!files) return tl::unexpected<k8s::Error>(files.error());
    for (const std::string& file : *files) {
      auto stored = ShareFolder::read_run(file);
      if (!stored) return tl::unexpected<k8s::Error>(std::move(stored.error()));
      if (stored->study != digest || stored->run >= runs.size()) {
        return k8s::config_error(fmt::format("--merge: {} is a run of another study", file));
      }
      runs[stored->run] = std::move(stored->result);
    }
  }
  return {};
}

// All of them, or an error with the first that is missing and the shares to run again.
k8s::Result<std::vector<Result>> complete(Runs runs, const StudyOfShares& study) {
  std::vector<Result> results;
  std::size_t missing = 0;
  std::string first;
  std::set<std::size_t> shares;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i]) {
      results.push_back(*std::move(runs[i]));
      continue;
    }
    if (missing++ == 0) first = study.runs[i];
    shares.insert(i % study.shares);
  }
  if (missing == 0) return results;
  std::vector<std::string> again;
  for (const std::size_t index : shares) again.push_back(Share{index, study.shares}.text());
  return k8s::config_error(fmt::format(
      "--merge: {} of {} runs are missing, the first is {}; run again, or name the folders of: "
      "--share {}",
      missing, runs.size(), first, fmt::join(again, ", ")));
}

k8s::Result<std::vector<Condition>> conditions_of(const std::vector<std::string>& texts) {
  std::vector<Condition> conditions;
  for (const std::string& text : texts) {
    auto condition = parse_condition(text);
    if (!condition) return tl::unexpected<k8s::Error>(std::move(condition.error()));
    conditions.push_back(*std::move(condition));
  }
  return conditions;
}

}  // namespace

int merge(const std::vector<std::string>& folders, const ReplayOptions& options,
          Terminal terminal) {
  const auto fail_if = conditions_of(options.fail_if);
  if (!fail_if) return unusable(terminal.complaints, fail_if.error());
  auto share = study_in(folders);
  if (!share) return unusable(terminal.complaints, share.error());
  StudyOfShares& whole = share->study;
  Runs runs(whole.runs.size());
  if (const auto read = read_runs(folders, whole.digest(), runs); !read) {
    return unusable(terminal.complaints, read.error());
  }
  const auto results = complete(std::move(runs), whole);
  if (!results) return unusable(terminal.complaints, results.error());
  auto folder = OutputFolder::open(options.out);
  if (!folder) return unusable(terminal.complaints, folder.error());

  ReplayOptions of_study = options;
  of_study.command_line = share->command;
  write_counts(terminal.out, whole.traces);
  return present(
      {.study = {.runs = {}, .traces = whole.traces, .fail_if = *fail_if, .options = whole.options},
       .results = *results},
      of_study, *folder, terminal);
}

}  // namespace bench::replay
