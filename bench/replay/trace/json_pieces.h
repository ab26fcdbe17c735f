// The objects of a JSON text, as pieces of it: documents one after the other (JSON Lines), the
// items of a List, the elements of an array.
//
// It finds where pieces begin and end and on which line, which a JSON parser would not report; the
// parser checks whether a piece is JSON. So a large text is parsed piece by piece, and an error has
// its line.
#pragma once

#include "k8s-client/error.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bench::replay {

struct JsonPiece {
  std::string_view text;  // from "{" to "}"; borrowed
  std::size_t line = 0;   // where it begins, from 1
  // For an item of a "PodList": "Pod", because its items need not have a kind; else empty.
  std::string_view kind;
};

// An error is "FILE:LINE:COLUMN: …": something other than an object, or a text that breaks off.
[[nodiscard]] k8s::Result<std::vector<JsonPiece>> json_pieces(std::string_view text,
                                                              const std::string& file);

}  // namespace bench::replay
