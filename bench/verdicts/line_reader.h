// The lines of a text file, plain or gzipped.
#pragma once

#include "k8s-client/error.h"

#include <memory>
#include <optional>
#include <string>

namespace bench::verdicts {

class LineReader {
 public:
  // Whether the file is gzipped is found out by looking into it, not at its name.
  [[nodiscard]] static k8s::Result<LineReader> open(const std::string& path);

  LineReader(LineReader&&) noexcept;
  LineReader& operator=(LineReader&&) noexcept;
  ~LineReader();

  // The next line without its end, or nullopt at the end of the file. An error names file and line:
  // one longer than 256 MiB, a damaged or truncated gzip stream, a failed read.
  [[nodiscard]] k8s::Result<std::optional<std::string>> next();

  // Where the last line stood: "cases.jsonl.gz:7".
  [[nodiscard]] std::string place() const;

 private:
  struct File;
  LineReader(std::string path, std::unique_ptr<File> file);

  std::string path_;
  std::unique_ptr<File> file_;
  std::size_t line_ = 0;
};

}  // namespace bench::verdicts
