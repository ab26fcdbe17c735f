#include "scheduler/gpu/mig/product.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <vector>

namespace sched::gpu::mig {

namespace {

// The model of products whose name has all of these words; the first row that matches counts.
struct Row {
  std::array<std::string_view, 4> words;  // upper case; empty ones say nothing
  std::string_view model;                 // empty: known to be none of the others
};
constexpr std::array kRows = {
    Row{{"A30"}, "A30-24GB"},
    Row{{"A100", "40GB"}, "A100-40GB"},
    Row{{"A100", "80GB"}, "A100-80GB"},
    Row{{"A100X"}, "A100-80GB"},
    Row{{"A800", "40GB"}, "A100-40GB"},
    Row{{"A800", "80GB"}, "A100-80GB"},
    Row{{"H100", "NVL"}, "H100-94GB"},
    Row{{"H100", "94GB"}, "H100-94GB"},
    Row{{"H100", "96GB"}, "H100-96GB"},
    Row{{"H100", "80GB"}, "H100-80GB"},
    Row{{"H100", "64GB"}, ""},
    Row{{"H100", "PCIE"}, "H100-80GB"},
    Row{{"H800", "80GB"}, "H100-80GB"},
    Row{{"H800", "PCIE"}, "H100-80GB"},
    Row{{"H20", "3E"}, ""},  // 141 GB; its profiles' names are not known
    Row{{"H20"}, "H100-96GB"},
    Row{{"H200"}, "H200-141GB"},
    Row{{"GH200", "144G"}, "GH200-144GB"},
    Row{{"GH200", "480GB"}, "H100-96GB"},  // what the CPU has; the GPU has 96
    Row{{"GH200", "96GB"}, "H100-96GB"},
    Row{{"B200"}, "B200-180GB"},
    Row{{"GB200"}, "GB200-186GB"},
    Row{{"B300"}, "B300-269GB"},
    Row{{"GB300"}, "GB300-278GB"},
    Row{{"RTX", "PRO", "6000", "BLACKWELL"}, "RTX-PRO-6000-96GB"},
};

// The words of a label, upper case, without what GPU feature discovery appends: "MIG" and all that
// follows. ("SHARED" is a word that no row names.)
std::vector<std::string> words_of(std::string_view product) {
  std::vector<std::string> words(1);
  for (const char c : product) {
    if (c == '-' || c == ' ') {
      words.emplace_back();
    } else {
      words.back() += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
  }
  words.erase(std::find(words.begin(), words.end(), "MIG"), words.end());
  return words;
}

bool matches(const Row& row, const std::vector<std::string>& words) {
  return std::all_of(row.words.begin(), row.words.end(), [&](std::string_view word) {
    return word.empty() || std::find(words.begin(), words.end(), word) != words.end();
  });
}

const Geometry* geometry_of_model(std::string_view model) {
  for (const Geometry& geometry : geometries()) {
    if (geometry.model == model) return &geometry;
  }
  return nullptr;
}

}  // namespace

const Geometry* geometry_of(std::string_view product) {
  const std::vector<std::string> words = words_of(product);
  for (const Row& row : kRows) {
    if (matches(row, words)) return geometry_of_model(row.model);
  }
  return nullptr;
}

}  // namespace sched::gpu::mig
