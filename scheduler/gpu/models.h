// The GPU models that are known by name: what a name says about memory, compute capability and MIG.
//
// A class is what people say ("H100"); a variant of it is what differs in memory ("H100 with
// 94 GB"), and with the memory how a GPU can be cut. Names are recognised by their words, never by
// the whole text: boards of one model have many spellings. A name that leaves the variant open is
// not guessed at.
//
// Sources: compute capabilities from NVIDIA's list of CUDA GPUs, memory from the data sheets (for
// B200 and what followed as the MIG profile of the whole GPU names it; for GB200 that is 186 or
// 189, depending on the memory that the device reports: NVIDIA/mig-parted, deployments).
#pragma once

#include "scheduler/gpu/mig/geometry.h"

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sched::gpu {

// CUDA compute capability: 9.0 of an H100. {0, 0}: not known.
struct Capability {
  std::int32_t major = 0;
  std::int32_t minor = 0;
  [[nodiscard]] bool is_known() const { return major > 0; }
  friend auto operator<=>(const Capability&, const Capability&) = default;
};
[[nodiscard]] std::string to_string(const Capability& capability);  // "9.0"

// How a board is built, where that is known.
enum class Form : std::uint8_t { kUnknown, kSxm, kPcie, kNvl };

// There is one of each class, so that pointers to them can be compared.
struct GpuClass {
  std::string_view name;                    // "H100", "RTX-PRO-6000"
  std::array<std::string_view, 3> words{};  // that name it, upper case; empty ones say nothing
  Capability compute;
  Form form = Form::kUnknown;  // of boards whose name says nothing of it
};

struct GpuVariant {
  std::int64_t memory_gb = 0;               // as marketed; 0: not known
  const mig::Geometry* geometry = nullptr;  // null: no MIG, or it is not known how
};

// The words of a GPU's name, upper case: what stands between blanks, dashes and underscores.
[[nodiscard]] std::vector<std::string> words_of(std::string_view name);

// The class that the words name; nullptr: none that is known.
[[nodiscard]] const GpuClass* class_of(const std::vector<std::string>& words);

// The variant of a class that one word of a name stands for: "80GB" of an A100, "480GB" of a GH200
// (its CPU's memory; the GPU has 96), "192GB" of a B200 (what is built in; 180 can be used). An
// empty one when the word stands for none.
[[nodiscard]] GpuVariant variant_by_word(const GpuClass& gpu_class, std::string_view word);

// The variant of a class that a name stands for. `memory_mib` is what the device reports, 0 when
// that is not known: it decides where the words do not. An empty variant when both leave it open,
// and the class has several.
[[nodiscard]] GpuVariant variant_of(const GpuClass& gpu_class,
                                    const std::vector<std::string>& words, std::int64_t memory_mib);

}  // namespace sched::gpu
