// Columns of text for a terminal or a pipe.
#pragma once

#include "scheduler/base/types.h"
#include "scheduler/kubectl-gpu/text_out.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sched::kubectl {

// How answers are shown.
struct Style {
  bool colours = false;
  bool bars = false;
  bool wide = false;
  // Flags of the command line that a suggested next command repeats (given_flags.h): the cluster
  // for kubectl; the cluster, or the files in its place, for kubectl gpu; the namespace, if one was
  // given; the way to the scheduler, for commands that may ask it.
  std::string kubectl_flags = {};
  std::string cluster_flags = {};
  std::string namespace_flag = {};
  std::string scheduler_flags = {};
  std::string lease = {};  // the scheduler's, for kubectl: "NAME -n NAMESPACE"
  Time now{};              // ages are computed relative to it
};

// Without a colour where `style` has none.
[[nodiscard]] Coloured coloured(std::string text, Colour colour, const Style& style);

class Table {
 public:
  // If a header begins with ">", its column is aligned to the right.
  explicit Table(std::vector<std::string> headers, std::size_t indent = 0);
  // As many cells as headers, each on one line: they are kept in their plain form.
  void add(std::vector<std::string> row);
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  void print(TextOut out, const Style& style) const;

 private:
  std::vector<std::string> headers_;
  std::vector<bool> to_the_right_;
  std::vector<std::vector<std::string>> rows_;
  std::size_t indent_;
};

// "███▌" of `cells` places, for used/total; "" where `style` has no bars.
[[nodiscard]] std::string bar(std::int64_t used, std::int64_t total, const Style& style,
                              std::size_t cells = 4);

// "45s", "7m", "5h", "3d".
[[nodiscard]] std::string age(Time since, Time now);

// "As of 2s ago", of a scheduler's answer, on a line; nothing where that is not known.
void show_age(TextOut out, std::optional<std::chrono::seconds> data_age);

// "1 pod", "5 pods".
[[nodiscard]] std::string counted(std::int64_t count, std::string_view what);

// The first so many characters of the text.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t most);

}  // namespace sched::kubectl
