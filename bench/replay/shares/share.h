// A share of a large study: a part of its runs, for a process of its own (`bench replay --share`).
#pragma once

#include "bench/replay/trace/trace.h"
#include "k8s-client/error.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::replay {

// A part of the runs of a study: those whose number modulo `count` is `index`. So the traces and
// policies are spread evenly over the shares.
struct Share {
  std::size_t index = 0;
  std::size_t count = 1;

  [[nodiscard]] std::string text() const;  // "2/8"
};

// "2/8": the third of eight.
[[nodiscard]] k8s::Result<Share> parse_share(std::string_view text);

using Words = std::vector<std::pair<std::string, std::string>>;

// What all shares of a study have in common. Everything that a result depends on is in it.
struct StudyOfShares {
  std::string version;
  std::string program;  // digest
  std::size_t shares = 1;
  Words options;                  // Study::options
  Words inputs;                   // Study::inputs
  std::vector<std::string> runs;  // their names
  // Only what a report shows of them: names, counts, and the nodes' names and GPU models.
  std::vector<Trace> traces;

  [[nodiscard]] std::string digest() const;
  // What differs from the other, in words; empty: nothing.
  [[nodiscard]] std::string difference_to(const StudyOfShares& other) const;
};

struct StoredShare {
  Share share;
  std::string command;  // the command line, for the report; shares may have different ones
  StudyOfShares study;
};

// What a share's file holds: what is read is what was written.
[[nodiscard]] std::string share_as_json(const StoredShare& share);
// The error says that the text is not a whole share.
[[nodiscard]] k8s::Result<StoredShare> share_of_json(std::string_view text);

}  // namespace bench::replay
