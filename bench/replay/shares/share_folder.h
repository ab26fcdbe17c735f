// The folder in which the runs of a large study are collected, when they are made in shares.
//
//   share-2-of-8.json   the study that share 2 is of, written when the share begins
//   run-17.json         run 17 of it, written when the run has ended
//
// All shares of a study may have one folder, since no two write the same file, or each one of its
// own. A file is complete or absent: it is written under another name and then moved to its place.
// One that a power failure cut counts as absent where runs are made, and is an error where they are
// merged. A run names its study by its digest, so that no run of another study is ever taken.
#pragma once

#include "bench/replay/result.h"
#include "bench/replay/shares/run_json.h"
#include "bench/replay/shares/share.h"
#include "k8s-client/error.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::replay {

class ShareFolder {
 public:
  explicit ShareFolder(std::string name) : name_(std::move(name)) {}

  // Makes the folder, and writes the share's file unless it is there. The error: it cannot be
  // written, or the folder has a share of another study.
  [[nodiscard]] k8s::Result<void> begin(const StoredShare& share) const;

  // Whether the run has been made. The error: it is one of another study.
  [[nodiscard]] k8s::Result<bool> has(std::size_t run, const std::string& study) const;
  [[nodiscard]] k8s::Result<void> write(std::size_t run, const std::string& study,
                                        const Result& result) const;

  // For a merge: the names of the files in it, and what they hold. The error names a file that is
  // not whole.
  [[nodiscard]] k8s::Result<std::vector<std::string>> share_files() const {
    return files("share-");
  }
  [[nodiscard]] k8s::Result<std::vector<std::string>> run_files() const { return files("run-"); }
  [[nodiscard]] static k8s::Result<StoredShare> read_share(const std::string& file);
  [[nodiscard]] static k8s::Result<StoredRun> read_run(const std::string& file);

 private:
  [[nodiscard]] std::string run_file(std::size_t run) const;
  [[nodiscard]] k8s::Result<std::vector<std::string>> files(std::string_view prefix) const;

  std::string name_;
};

}  // namespace bench::replay
