// A whole text file in memory, for the readers of traces.
#pragma once

#include "k8s-client/error.h"

#include <string>
#include <string_view>

namespace bench::replay {

struct TextFile {
  std::string path;  // for messages
  std::string text;  // UTF-8, without byte order mark
};

// Reads a file, plain or gzipped (detected from its content). Text that is not UTF-8 is an error.
[[nodiscard]] k8s::Result<TextFile> read_text_file(const std::string& path);

// The text in `bytes` of the file of that name, by the same rules.
[[nodiscard]] k8s::Result<TextFile> as_text_file(const std::string& path, std::string bytes);

// The path without folders, without ".gz" and without its last extension: the name of a trace.
[[nodiscard]] std::string stem_of(std::string_view path);

}  // namespace bench::replay
