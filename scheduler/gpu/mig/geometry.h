// MIG geometry: which GPU instances a GPU model can be partitioned into, and where on the GPU each
// may be.
//
// A GPU in MIG mode is a row of memory slices (8 on A100, H100 and later models, 4 on A30, 12 units
// on RTX PRO 6000, 2 on RTX PRO 5000 and 4500). An instance of a profile takes consecutive slices,
// and may begin only at certain ones: 3g at 0 or 4 of 8. So whether another instance fits depends
// on where the others are, not on how many slices are free.
//
// The name of a profile means nothing without the model: 1g.10gb is the plain one-slice profile of
// an A100-80GB and takes two slices on an A100-40GB. So everything is looked up in the Geometry of
// a model (product.h finds it).
//
// NVIDIA's maxima ask for nothing more than that instances do not overlap: no set of disjoint
// instances has more of a profile, or more compute slices, than a GPU has (tests count them all).
// Exception: what a GPU has once, such as its JPEG and optical flow engines, which "+me" takes.
// These are the `extras` of a DeviceUse.
//
// Tables: NVIDIA's MIG User Guide ("Supported MIG Profiles"), placements from `nvidia-smi mig
// -lgipp` and from ResourceSlices of live A100, H100 and B200 machines. H200, GH200, GB200, B300
// and GB300 have the same profile ids; the same placements are assumed for them. The profiles of an
// H100 with 64 GB and of an H20 with 141 (those of an H200) are in NVIDIA's reference of vGPU types
// ("Hopper Architecture vGPU Types"); those of a DGX Station's GB300, which newer drivers call
// 1g.31gb … 7g.251gb, in its MIG playbook (NVIDIA/dgx-spark-playbooks).
#pragma once

#include "scheduler/gpu/devices.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sched::gpu::mig {

// Bits of DeviceUse::extras. Bit i below kOnlyEngines: the media engines of memory slice i (used
// for models where an instance may have all of them, or none). kOnlyEngines: the engines of which a
// GPU has one.
inline constexpr std::uint16_t kOnlyEngines = 1U << 15U;
inline constexpr std::uint16_t kEveryEngine = 0x0fff;

struct Profile {
  std::string name;                 // NVIDIA's: "3g.40gb", "1g.10gb+me", "1g.24gb-me"
  std::uint8_t compute_slices = 0;  // the 3 of 3g
  std::uint8_t memory_slices = 0;   // ≥ 1
  std::uint8_t max_instances = 0;   // of this profile on one GPU
  std::uint16_t starts = 0;         // bit s: an instance may begin at memory slice s
  // The slices of a plain profile with other engines: +me, +gfx, -me, +me.all.
  bool is_variant = false;
  // It takes the media engines of its own slices: the bits of its slices in DeviceUse::extras.
  bool own_engines = false;
  // Bits of DeviceUse::extras that it takes at every start.
  std::uint16_t extras = 0;
};

// The instances of one GPU model. Immutable; there is one object per model, so pointers to them can
// be compared.
struct Geometry {
  std::string model;                // "A100-80GB"
  std::size_t index = 0;            // in geometries()
  std::uint8_t slices = 0;          // memory slices: 2, 4, 8 or 12
  std::vector<Profile> profiles{};  // largest first; variants after all plain ones
  // Other names of the same profiles on machines with GPUs that report a little more or less
  // memory: {"3g.95gb", "3g.93gb"}. A node's memory label shows which name it uses; without that
  // label both names mean the same.
  std::vector<std::pair<std::string, std::string>> aliases{};

  // By NVIDIA's name or as a resource writes it ("1g.10gb.me" for "1g.10gb+me"); nullptr: this
  // model has no such profile. O(profiles).
  [[nodiscard]] const Profile* find(std::string_view profile) const;
};

// The resource that pods ask for: "nvidia.com/mig-1g.10gb.me".
[[nodiscard]] std::string resource_of(const Profile& profile);

// All known geometries.
[[nodiscard]] const std::vector<Geometry>& geometries();

// The profile of one name on each model, to look it up for many nodes: O(1) per lookup.
class ProfileByModel {
 public:
  explicit ProfileByModel(std::string_view profile);
  // nullptr: no geometry, or no such profile in it.
  [[nodiscard]] const Profile* on(const Geometry* geometry) const {
    return geometry == nullptr ? nullptr : profiles_[geometry->index];
  }

 private:
  std::vector<const Profile*> profiles_;
};

// The memory slices of an instance that begins at `start`.
[[nodiscard]] constexpr std::uint16_t slices_at(const Profile& profile, unsigned start) {
  return static_cast<std::uint16_t>(((1U << profile.memory_slices) - 1U) << start);
}

// Where an instance may begin on a device of which `use` is taken: bit s for memory slice s. 0 on a
// device that is shared or taken whole. O(1).
[[nodiscard]] std::uint16_t legal_starts(const Profile& profile, const DeviceUse& use);

// What an instance at `start` takes; `start` must be one of legal_starts().
[[nodiscard]] DeviceShare instance_at(const Profile& profile, std::uint32_t device, unsigned start);

}  // namespace sched::gpu::mig
