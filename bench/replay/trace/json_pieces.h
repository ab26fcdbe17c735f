// The objects of a JSON text, as pieces of it: documents one behind the other (JSON Lines), the
// items of a List, the elements of an array.
//
// It finds where pieces begin and end and on which line, which a JSON parser would not tell;
// whether a piece itself is JSON is for the parser to say. So a large text is parsed piece by
// piece, and a complaint has its line.
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
  // Of an item of a "PodList": "Pod", since its items need not say so themselves; else empty.
  std::string_view kind;
};

// An error is "FILE:LINE:COLUMN: …": something else than an object, or a text that breaks off.
[[nodiscard]] k8s::Result<std::vector<JsonPiece>> json_pieces(std::string_view text,
                                                              const std::string& file);

}  // namespace bench::replay
