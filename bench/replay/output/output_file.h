// A file that is complete or absent.
#pragma once

#include "k8s-client/error.h"

#include <fstream>
#include <string>

namespace bench::replay {

// Written beside its place under another name, and moved there by keep(). Without keep() it is
// removed.
class OutputFile {
 public:
  [[nodiscard]] static k8s::Result<OutputFile> create(const std::string& path);
  ~OutputFile();
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;

  [[nodiscard]] std::ostream& stream() { return stream_; }
  // The error covers anything that could not be written.
  [[nodiscard]] k8s::Result<void> keep();

 private:
  OutputFile(std::string path, std::string draft, std::ofstream stream);

  std::string path_;
  std::string draft_;  // empty: kept, or moved from
  std::ofstream stream_;
};

}  // namespace bench::replay
