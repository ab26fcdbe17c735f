// The GPU models that are known by name: what a name determines of memory, compute capability and
// MIG.
//
// A class is the common name ("H100"). Its variants differ in memory ("H100 with 94 GB"), and with
// the memory in how a GPU can be partitioned. Names are recognised by their words, never by the
// whole text, because boards of one model have many spellings. If a name leaves the variant open,
// none is guessed.
//
// Sources: compute capabilities from NVIDIA's list of CUDA GPUs, memory from the data sheets (for
// B200 and what followed as the MIG profile of the whole GPU names it; for GB200 that is 186 or
// 189, depending on the memory that the device reports: NVIDIA/mig-parted, deployments; the GB300
// of a DGX Station has 251: NVIDIA/dgx-spark-playbooks, its MIG playbook). Jetson's GPUs are called
// Orin and NVIDIA Thor, and share their board's memory with the CPU. Names of vGPU types: NVIDIA AI
// Enterprise, vGPU types reference; NVIDIA/vgpu-device-manager.
#pragma once

#include "scheduler/gpu/mig/geometry.h"

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
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

// The form of a board, if known.
enum class Form : std::uint8_t { kUnknown, kSxm, kPcie, kNvl };

// There is one object of each class, so pointers to them can be compared.
struct GpuClass {
  std::string_view name;                    // "H100", "RTX-PRO-6000"
  std::array<std::string_view, 3> words{};  // that name it, upper case; empty ones are unused
  Capability compute;
  Form form = Form::kUnknown;  // of boards with a name that does not give the form
};

struct GpuVariant {
  std::int64_t memory_gb = 0;               // as marketed; 0: not known
  const mig::Geometry* geometry = nullptr;  // null: no MIG, or not known
};

// The words of a GPU's name, upper case: separated by blanks, dashes and underscores.
[[nodiscard]] std::vector<std::string> words_of(std::string_view name);

// The class that the words name; nullptr: no known class.
[[nodiscard]] const GpuClass* class_of(const std::vector<std::string>& words);

// A vGPU type: a part of a GPU, as a virtual machine has it.
struct VgpuType {
  const GpuClass* gpu_class = nullptr;  // of the board; never null
  std::int64_t memory_gb = 0;           // of the part; 0: less than a gigabyte
  Form form = Form::kUnknown;           // of the board, if its word gives it
};
// The vGPU type of a name that ends in the part's memory: "A40-8Q", "A100-3-20C". In such names
// boards have words of their own: H100XM is an H100 with SXM and 80 GB, and A100X an A100 with SXM
// and 40, not the board of that name. nullopt: not a vGPU type, or of no known board.
[[nodiscard]] std::optional<VgpuType> vgpu_type_of(const std::vector<std::string>& words);

// The variant of a class that one word of a name stands for: "80GB" of an A100, "480GB" of a GH200
// (the memory of its CPU; the GPU has 96), "192GB" of a B200 (what is built in; 180 can be used).
// Empty if the word stands for none.
[[nodiscard]] GpuVariant variant_by_word(const GpuClass& gpu_class, std::string_view word);

// The variant of a class that a name stands for. `memory_mib` is what the device reports, 0 if that
// is not known; it decides if the words do not. Empty if both leave it open and the class has
// several variants.
[[nodiscard]] GpuVariant variant_of(const GpuClass& gpu_class,
                                    const std::vector<std::string>& words, std::int64_t memory_mib);

}  // namespace sched::gpu
