// The folder of a replay's outputs: --out.
#pragma once

#include "bench/replay/output/output_file.h"
#include "bench/replay/output/summary.h"
#include "bench/replay/result.h"
#include "k8s-client/error.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace bench::replay {

class OutputFolder {
 public:
  // Makes the folder. Without a name nothing is ever written.
  [[nodiscard]] static k8s::Result<OutputFolder> open(const std::string& name);
  // Removes the files of runs that did not finish.
  ~OutputFolder();
  OutputFolder(OutputFolder&& other) noexcept;
  OutputFolder& operator=(OutputFolder&&) = delete;

  // A file for the decisions of run `index`. If kept, it becomes part of decisions.jsonl.
  [[nodiscard]] k8s::Result<OutputFile> decisions_of(std::size_t index) const;

  // Writes summary.json, steps.csv, report.html, and decisions.jsonl from the files of the runs, in
  // their order; each is complete or absent. Returns the files written.
  [[nodiscard]] k8s::Result<std::vector<std::string>> write(const Summary& summary,
                                                            const std::string& command_line);

 private:
  explicit OutputFolder(std::string name) : name_(std::move(name)) {}
  [[nodiscard]] std::string path(const std::string& file) const { return name_ + '/' + file; }
  [[nodiscard]] std::vector<std::string> parts() const;
  void remove_parts() const;

  std::string name_;  // empty: none
};

// Calls run(log), a k8s::Result<Result>(std::ostream*), with a log for run `index` if one is wanted
// (else null), and keeps the log if the run finished.
template <typename Run>
[[nodiscard]] k8s::Result<Result> with_decisions(const OutputFolder& folder, bool wanted,
                                                 std::size_t index, Run&& run) {
  if (!wanted) return run(nullptr);
  auto log = folder.decisions_of(index);
  if (!log) return tl::unexpected<k8s::Error>(std::move(log.error()));
  auto result = run(&log->stream());
  if (!result || result->interrupted) return result;
  if (auto kept = log->keep(); !kept) return tl::unexpected<k8s::Error>(std::move(kept.error()));
  return result;
}

}  // namespace bench::replay
