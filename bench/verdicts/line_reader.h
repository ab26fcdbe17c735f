// The lines of a text file, plain or gzipped.
#pragma once

#include "k8s-client/error.h"

#include <memory>
#include <optional>
#include <string>

namespace bench::verdicts {

class LineReader {
 public:
  // Whether the file is gzipped is detected from its content, not from its name.
  [[nodiscard]] static k8s::Result<LineReader> open(const std::string& path);

  LineReader(LineReader&&) noexcept;
  LineReader& operator=(LineReader&&) noexcept;
  ~LineReader();

  // The next line without its end, or nullopt at the end of the file. An error names file and line:
  // a line longer than 256 MiB, a damaged or truncated gzip stream, a failed read.
  [[nodiscard]] k8s::Result<std::optional<std::string>> next();

  // The place of the last line: "cases.jsonl.gz:7".
  [[nodiscard]] std::string place() const;

 private:
  struct File;
  LineReader(std::string path, std::unique_ptr<File> file);

  std::string path_;
  std::unique_ptr<File> file_;
  std::size_t line_ = 0;
};

}  // namespace bench::verdicts
