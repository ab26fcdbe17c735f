#include "scheduler/gpu/models.h"

#include "k8s-client/parse_number.h"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace sched::gpu {

namespace {

constexpr std::array kClasses = {
    GpuClass{"K80", {"K80"}, {3, 7}},
    GpuClass{"M60", {"M60"}, {5, 2}},
    GpuClass{"P4", {"P4"}, {6, 1}},
    GpuClass{"P40", {"P40"}, {6, 1}},
    GpuClass{"P100", {"P100"}, {6, 0}},
    GpuClass{"V100", {"V100"}, {7, 0}},
    GpuClass{"V100S", {"V100S"}, {7, 0}},
    GpuClass{"T4", {"T4"}, {7, 5}},
    GpuClass{"T4G", {"T4G"}, {7, 5}},
    GpuClass{"A2", {"A2"}, {8, 6}},
    GpuClass{"A10", {"A10"}, {8, 6}},
    GpuClass{"A10G", {"A10G"}, {8, 6}},
    GpuClass{"A16", {"A16"}, {8, 6}},
    GpuClass{"A30", {"A30"}, {8, 0}},
    GpuClass{"A40", {"A40"}, {8, 6}},
    GpuClass{"A100", {"A100"}, {8, 0}},
    GpuClass{"A100X", {"A100X"}, {8, 0}},
    GpuClass{"A800", {"A800"}, {8, 0}},
    GpuClass{"L2", {"L2"}, {8, 9}},
    GpuClass{"L4", {"L4"}, {8, 9}},
    GpuClass{"L20", {"L20"}, {8, 9}},
    GpuClass{"L40", {"L40"}, {8, 9}},
    GpuClass{"L40S", {"L40S"}, {8, 9}},
    GpuClass{"H100", {"H100"}, {9, 0}},
    GpuClass{"H800", {"H800"}, {9, 0}, Form::kSxm},
    GpuClass{"H20", {"H20"}, {9, 0}, Form::kSxm},
    GpuClass{"H200", {"H200"}, {9, 0}, Form::kSxm},
    GpuClass{"GH200", {"GH200"}, {9, 0}},
    GpuClass{"B200", {"B200"}, {10, 0}, Form::kSxm},
    GpuClass{"GB200", {"GB200"}, {10, 0}},
    GpuClass{"B300", {"B300"}, {10, 3}, Form::kSxm},
    GpuClass{"GB300", {"GB300"}, {10, 3}},
    GpuClass{"GB10", {"GB10"}, {12, 1}},
    GpuClass{"ORIN", {"ORIN"}, {8, 7}},
    GpuClass{"THOR", {"THOR"}, {11, 0}},
    GpuClass{"QUADRO-RTX-6000", {"QUADRO", "RTX", "6000"}, {7, 5}},
    GpuClass{"QUADRO-RTX-8000", {"QUADRO", "RTX", "8000"}, {7, 5}},
    GpuClass{"RTX-A4000", {"RTX", "A4000"}, {8, 6}},
    GpuClass{"RTX-A4500", {"RTX", "A4500"}, {8, 6}},
    GpuClass{"RTX-A5000", {"RTX", "A5000"}, {8, 6}},
    GpuClass{"RTX-A5500", {"RTX", "A5500"}, {8, 6}},
    GpuClass{"RTX-A6000", {"RTX", "A6000"}, {8, 6}},
    GpuClass{"RTX-2000-ADA", {"RTX", "2000", "ADA"}, {8, 9}},
    GpuClass{"RTX-4000-ADA", {"RTX", "4000", "ADA"}, {8, 9}},
    GpuClass{"RTX-4500-ADA", {"RTX", "4500", "ADA"}, {8, 9}},
    GpuClass{"RTX-5000-ADA", {"RTX", "5000", "ADA"}, {8, 9}},
    GpuClass{"RTX-6000-ADA", {"RTX", "6000", "ADA"}, {8, 9}},
    GpuClass{"RTX-PRO-6000", {"RTX", "PRO", "6000"}, {12, 0}},
    GpuClass{"RTX-PRO-5000", {"RTX", "PRO", "5000"}, {12, 0}},
    GpuClass{"RTX-PRO-4500", {"RTX", "PRO", "4500"}, {12, 0}},
    GpuClass{"RTX-PRO-4000", {"RTX", "PRO", "4000"}, {12, 0}},
    GpuClass{"RTX-PRO-2000", {"RTX", "PRO", "2000"}, {12, 0}},
    GpuClass{"RTX-3090", {"RTX", "3090"}, {8, 6}},
    GpuClass{"RTX-4090", {"RTX", "4090"}, {8, 9}},
    GpuClass{"RTX-5090", {"RTX", "5090"}, {12, 0}},
};

// The words of vGPU types for boards whose class has another word.
struct VgpuBoard {
  std::string_view word;  // upper case
  std::string_view gpu_class;
  Form form = Form::kUnknown;
};
constexpr std::array kVgpuBoards = {
    VgpuBoard{"V100X", "V100", Form::kSxm},  VgpuBoard{"V100D", "V100", Form::kPcie},
    VgpuBoard{"V100DX", "V100", Form::kSxm}, VgpuBoard{"A100X", "A100", Form::kSxm},
    VgpuBoard{"A100D", "A100", Form::kPcie}, VgpuBoard{"A100DX", "A100", Form::kSxm},
    VgpuBoard{"A800D", "A800", Form::kPcie}, VgpuBoard{"A800DX", "A800", Form::kSxm},
    VgpuBoard{"H100L", "H100", Form::kNvl},  VgpuBoard{"H100XL", "H100", Form::kSxm},
    VgpuBoard{"H100XM", "H100", Form::kSxm}, VgpuBoard{"H100XS", "H100", Form::kSxm},
    VgpuBoard{"H800L", "H800", Form::kNvl},  VgpuBoard{"H800XM", "H800", Form::kSxm},
    VgpuBoard{"H200X", "H200", Form::kSxm},  VgpuBoard{"H20X", "H20", Form::kSxm},
    VgpuBoard{"RTXA6000", "RTX-A6000"},      VgpuBoard{"RTXA5000", "RTX-A5000"},
};

// GKE writes "nvidia-tesla-v100", for example. Drivers write "Tesla V100-…", without the vendor.
constexpr std::string_view kGke = "TESLA";

// The variants of each class. The words of a name decide, then the memory that the device reports.
// The row without a word is for names without such a word; a class with several possibilities for
// them has no such row.
struct Row {
  std::string_view gpu_class;
  std::string_view word;  // upper case
  std::int64_t memory_gb = 0;
  std::string_view geometry{};   // the model in mig::geometries(); empty: none is known
  std::int64_t reported_gb = 0;  // GiB, if that differs from memory_gb; else 0
};
constexpr std::array kRows = {
    Row{"K80", "", 12},
    Row{"M60", "", 8},
    Row{"P4", "", 8},
    Row{"P40", "", 24},
    Row{"P100", "12GB", 12},
    Row{"P100", "16GB", 16},
    Row{"P100", kGke, 16},
    Row{"V100", "16GB", 16},
    Row{"V100", "32GB", 32},
    Row{"V100", kGke, 16},
    Row{"V100S", "", 32},
    Row{"T4", "", 16},
    Row{"T4G", "", 16},
    Row{"A2", "", 16},
    Row{"A10", "", 24},
    Row{"A10G", "", 24},
    Row{"A16", "", 16},
    Row{"A30", "", 24, "A30-24GB"},
    Row{"A40", "", 48},
    Row{"A100", "40GB", 40, "A100-40GB"},
    Row{"A100", "80GB", 80, "A100-80GB"},
    Row{"A100", "64GB", 64},
    Row{"A100", kGke, 40, "A100-40GB"},
    Row{"A100X", "", 80, "A100-80GB"},
    Row{"A800", "40GB", 40, "A100-40GB"},
    Row{"A800", "80GB", 80, "A100-80GB"},
    Row{"L2", "", 24},
    Row{"L4", "", 24},
    Row{"L20", "", 48},
    Row{"L40", "", 48},
    Row{"L40S", "", 48},
    Row{"H100", "NVL", 94, "H100-94GB"},
    Row{"H100", "94GB", 94, "H100-94GB"},
    Row{"H100", "96GB", 96, "H100-96GB"},
    Row{"H100", "80GB", 80, "H100-80GB"},
    Row{"H100", "64GB", 64, "H100-64GB"},
    Row{"H100", "PCIE", 80, "H100-80GB"},
    Row{"H800", "NVL", 94, "H100-94GB"},
    Row{"H800", "94GB", 94, "H100-94GB"},
    Row{"H800", "80GB", 80, "H100-80GB"},
    Row{"H800", "PCIE", 80, "H100-80GB"},
    Row{"H800", "", 80, "H100-80GB"},  // the name of the SXM board
    Row{"H20", "3E", 141, "H200-141GB"},
    Row{"H20", "", 96, "H100-96GB"},
    Row{"H200", "", 141, "H200-141GB"},
    Row{"GH200", "144G", 144, "GH200-144GB"},
    Row{"GH200", "480GB", 96, "H100-96GB"},  // 480 is the memory of the CPU, or 120
    Row{"GH200", "120GB", 96, "H100-96GB"},
    Row{"GH200", "96GB", 96, "H100-96GB"},
    Row{"B200", "", 180, "B200-180GB"},
    Row{"B200", "192GB", 180, "B200-180GB"},
    Row{"GB200", "", 186, "GB200-186GB"},
    Row{"GB200", "192GB", 186, "GB200-186GB"},
    Row{"GB200", "189GB", 186, "GB200-189GB", 189},
    Row{"B300", "", 269, "B300-269GB"},
    Row{"B300", "288GB", 269, "B300-269GB"},
    Row{"GB300", "", 278, "GB300-278GB"},
    Row{"GB300", "288GB", 278, "GB300-278GB"},
    Row{"GB300", "252GB", 251, "GB300-251GB"},  // of a DGX Station, where its name does not say so
    Row{"GB10", "", 128},                       // the CPU uses it, too
    Row{"QUADRO-RTX-6000", "", 24},
    Row{"QUADRO-RTX-8000", "", 48},
    Row{"RTX-A4000", "", 16},
    Row{"RTX-A4500", "", 20},
    Row{"RTX-A5000", "", 24},
    Row{"RTX-A5500", "", 24},
    Row{"RTX-A6000", "", 48},
    Row{"RTX-2000-ADA", "", 16},
    Row{"RTX-4000-ADA", "", 20},
    Row{"RTX-4500-ADA", "", 24},
    Row{"RTX-5000-ADA", "", 32},
    Row{"RTX-6000-ADA", "", 48},
    Row{"RTX-PRO-6000", "", 96, "RTX-PRO-6000-96GB"},
    Row{"RTX-PRO-5000", "72GB", 72},
    Row{"RTX-PRO-5000", "", 48, "RTX-PRO-5000-48GB"},
    Row{"RTX-PRO-4500", "", 32, "RTX-PRO-4500-32GB"},
    Row{"RTX-PRO-4000", "", 24},
    Row{"RTX-PRO-2000", "", 16},
    Row{"RTX-3090", "", 24},
    Row{"RTX-4090", "", 24},
    Row{"RTX-5090", "", 32},
};

bool says(const std::vector<std::string>& words, std::string_view word) {
  return word.empty() || std::find(words.begin(), words.end(), word) != words.end();
}

bool says(const std::vector<std::string>& words, const Row& row) {
  return says(words, row.word) && (row.word != kGke || says(words, "NVIDIA"));
}

const GpuClass* class_named(std::string_view name) {
  const auto* const found = std::find_if(kClasses.begin(), kClasses.end(),
                                         [&](const GpuClass& each) { return each.name == name; });
  return found == kClasses.end() ? nullptr : found;
}

// The 8 of "8Q", the 10 of "10CME"; nullopt: not the end of a vGPU type. Less than a gigabyte is 0.
std::optional<std::int64_t> vgpu_gigabytes(std::string_view word) {
  // About the engines of an instance that the part is.
  for (const std::string_view engines : {"MEALL", "NOME", "ME", "GFX"}) {
    if (!word.ends_with(engines)) continue;
    word.remove_suffix(engines.size());
    break;
  }
  if (word.empty() || std::string_view("ABCQ").find(word.back()) == std::string_view::npos) {
    return std::nullopt;
  }
  word.remove_suffix(1);
  return k8s::parse_number<std::int64_t>(word);
}

const mig::Geometry* geometry_of_model(std::string_view model) {
  for (const mig::Geometry& geometry : mig::geometries()) {
    if (geometry.model == model) return &geometry;
  }
  return nullptr;
}

GpuVariant variant_of(const Row& row) {
  return {.memory_gb = row.memory_gb, .geometry = geometry_of_model(row.geometry)};
}

// The row with the memory closest to the device's. A device reports up to 7 % less than its nominal
// memory (a T4 15 of 16), never noticeably more.
const Row* row_by_memory(std::string_view gpu_class, std::int64_t memory_mib) {
  const double reported = static_cast<double>(memory_mib) / 1024;
  const Row* closest = nullptr;
  double least = 0;
  for (const Row& row : kRows) {
    const auto most = static_cast<double>(row.reported_gb > 0 ? row.reported_gb : row.memory_gb);
    if (row.gpu_class != gpu_class || reported < 0.92 * most || reported > 1.02 * most) continue;
    const double away = std::abs(reported - most);
    if (closest == nullptr || away < least) {
      closest = &row;
      least = away;
    }
  }
  return closest;
}

}  // namespace

std::string to_string(const Capability& capability) {
  return std::to_string(capability.major) + "." + std::to_string(capability.minor);
}

std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words;
  bool between = true;
  for (const char c : name) {
    if (c == '-' || c == ' ' || c == '_') {
      between = true;
      continue;
    }
    if (between) words.emplace_back();
    between = false;
    words.back() += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return words;
}

const GpuClass* class_of(const std::vector<std::string>& words) {
  for (const GpuClass& each : kClasses) {
    if (std::all_of(each.words.begin(), each.words.end(),
                    [&](std::string_view word) { return says(words, word); })) {
      return &each;
    }
  }
  return nullptr;
}

std::optional<VgpuType> vgpu_type_of(const std::vector<std::string>& words) {
  const auto memory = words.empty() ? std::nullopt : vgpu_gigabytes(words.back());
  if (!memory) return std::nullopt;
  const auto* const board =
      std::find_if(kVgpuBoards.begin(), kVgpuBoards.end(),
                   [&](const VgpuBoard& each) { return says(words, each.word); });
  const bool by_word = board != kVgpuBoards.end();
  const GpuClass* const known = by_word ? class_named(board->gpu_class) : class_of(words);
  if (known == nullptr) return std::nullopt;
  return VgpuType{
      .gpu_class = known, .memory_gb = *memory, .form = by_word ? board->form : Form::kUnknown};
}

GpuVariant variant_by_word(const GpuClass& gpu_class, std::string_view word) {
  for (const Row& row : kRows) {
    if (row.gpu_class == gpu_class.name && row.word == word) return variant_of(row);
  }
  return {};
}

GpuVariant variant_of(const GpuClass& gpu_class, const std::vector<std::string>& words,
                      std::int64_t memory_mib) {
  const Row* silent = nullptr;
  for (const Row& row : kRows) {
    if (row.gpu_class != gpu_class.name) continue;
    if (row.word.empty()) {
      silent = &row;
    } else if (says(words, row)) {
      return variant_of(row);
    }
  }
  const Row* row = memory_mib > 0 ? row_by_memory(gpu_class.name, memory_mib) : nullptr;
  if (row == nullptr) row = silent;
  return row == nullptr ? GpuVariant{} : variant_of(*row);
}

}  // namespace sched::gpu
