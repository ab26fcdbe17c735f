#include "scheduler/gpu/mig/geometry.h"

#include "scheduler/gpu/demand.h"

#include <algorithm>
#include <array>

namespace sched::gpu::mig {

namespace {

// Starts as bits.
constexpr std::uint16_t at(std::initializer_list<unsigned> slices) {
  unsigned bits = 0;
  for (const unsigned slice : slices) bits |= 1U << slice;
  return static_cast<std::uint16_t>(bits);
}

std::string name_of(int compute_slices, int gigabytes) {
  return std::to_string(compute_slices) + "g." + std::to_string(gigabytes) + "gb";
}

Profile variant_of(const Profile& plain, std::string_view suffix) {
  Profile variant = plain;
  variant.name += suffix;
  variant.is_variant = true;
  return variant;
}

// "+me": a plain profile with the engines of which there is one.
Profile with_media(const Profile& plain) {
  Profile variant = variant_of(plain, "+me");
  variant.max_instances = 1;
  variant.extras = kOnlyEngines;
  return variant;
}

Profile with_all_media(const Profile& plain) {
  Profile variant = variant_of(plain, "+me.all");
  variant.max_instances = 1;
  variant.own_engines = false;
  variant.extras = kOnlyEngines | kEveryEngine;
  return variant;
}

Profile without_media(const Profile& plain) {
  Profile variant = variant_of(plain, "-me");
  variant.own_engines = false;
  variant.extras = 0;
  return variant;
}

// The 8-slice models differ in the gigabytes in their profiles' names.
struct EightSlices {
  const char* model;
  int one;   // 1g
  int two;   // 1g with double memory, and 2g
  int four;  // 3g and 4g
  int all;   // 7g
};
constexpr std::array kEightSlices = {
    EightSlices{"A100-40GB", 5, 10, 20, 40},      EightSlices{"A100-80GB", 10, 20, 40, 80},
    EightSlices{"H100-80GB", 10, 20, 40, 80},     EightSlices{"H100-94GB", 12, 24, 47, 94},
    EightSlices{"H100-96GB", 12, 24, 48, 96},     EightSlices{"H100-64GB", 8, 16, 32, 64},
    EightSlices{"H200-141GB", 18, 35, 71, 141},   EightSlices{"GH200-144GB", 18, 36, 72, 144},
    EightSlices{"B200-180GB", 23, 45, 90, 180},   EightSlices{"GB200-186GB", 23, 47, 93, 186},
    EightSlices{"GB200-189GB", 24, 47, 95, 189},  EightSlices{"B300-269GB", 34, 67, 135, 269},
    EightSlices{"GB300-278GB", 35, 70, 139, 278}, EightSlices{"GB300-251GB", 31, 63, 126, 251}};

Geometry eight_slices(const EightSlices& row) {
  Geometry made{.model = row.model, .slices = 8};
  const auto add = [&](int compute, int memory, int max, int gigabytes, std::uint16_t starts) {
    made.profiles.push_back({.name = name_of(compute, gigabytes),
                             .compute_slices = static_cast<std::uint8_t>(compute),
                             .memory_slices = static_cast<std::uint8_t>(memory),
                             .max_instances = static_cast<std::uint8_t>(max),
                             .starts = starts});
  };
  add(7, 8, 1, row.all, at({0}));
  add(4, 4, 1, row.four, at({0}));
  add(3, 4, 2, row.four, at({0, 4}));
  add(2, 2, 3, row.two, at({0, 2, 4}));
  add(1, 2, 4, row.two, at({0, 2, 4, 6}));
  add(1, 1, 7, row.one, at({0, 1, 2, 3, 4, 5, 6}));
  made.profiles.push_back(with_media(made.profiles.back()));
  return made;
}

Geometry a30() {
  Geometry made{.model = "A30-24GB", .slices = 4};
  const Profile all{"4g.24gb", 4, 4, 1, at({0})};
  const Profile two{"2g.12gb", 2, 2, 2, at({0, 2})};
  const Profile one{"1g.6gb", 1, 1, 4, at({0, 1, 2, 3})};
  made.profiles = {all, two, one, with_media(two), with_media(one)};
  return made;
}

// Twelve units of 8 GB. An instance takes 3, 6 or 12 of them, with the media engines of its part
// unless its name has another suffix.
Geometry rtx_pro_6000() {
  Geometry made{.model = "RTX-PRO-6000-96GB", .slices = 12};
  Profile all{"4g.96gb", 4, 12, 1, at({0})};
  Profile two{"2g.48gb", 2, 6, 2, at({0, 6})};
  Profile one{"1g.24gb", 1, 3, 4, at({0, 3, 6, 9})};
  for (Profile* each : {&all, &two, &one}) each->own_engines = true;
  all.extras = kOnlyEngines;
  made.profiles = {all,
                   two,
                   one,
                   variant_of(all, "+gfx"),
                   variant_of(two, "+gfx"),
                   with_all_media(two),
                   without_media(two),
                   variant_of(one, "+gfx"),
                   with_media(one),
                   with_all_media(one),
                   without_media(one)};
  return made;
}

// Two halves. Which media engines an instance has is in its name, as on RTX PRO 6000.
Geometry halves(const char* model, int gigabytes) {
  Geometry made{.model = model, .slices = 2};
  Profile all{name_of(2, gigabytes), 2, 2, 1, at({0})};
  Profile one{name_of(1, gigabytes / 2), 1, 1, 2, at({0, 1})};
  for (Profile* each : {&all, &one}) each->own_engines = true;
  all.extras = kOnlyEngines;
  made.profiles = {all,
                   one,
                   variant_of(all, "+gfx"),
                   variant_of(one, "+gfx"),
                   with_all_media(one),
                   without_media(one)};
  return made;
}

// RTX PRO 4500 has no "+me".
Geometry rtx_pro_5000() {
  Geometry made = halves("RTX-PRO-5000-48GB", 48);
  made.profiles.push_back(with_media(*made.find("1g.24gb")));
  return made;
}

// Two models of one GPU: each has its own profiles' names, or the other's, depending on the driver.
struct OtherNames {
  std::string_view model;
  std::string_view other;
};
constexpr std::array kOtherNames = {
    OtherNames{"GB200-186GB", "GB200-189GB"}, OtherNames{"GB200-189GB", "GB200-186GB"},
    OtherNames{"GB300-278GB", "GB300-251GB"}, OtherNames{"GB300-251GB", "GB300-278GB"}};

// The other model's names of the same profiles, where they differ.
void add_aliases(Geometry& made, const Geometry& other) {
  for (std::size_t i = 0; i < made.profiles.size(); ++i) {
    const std::string& name = made.profiles[i].name;
    const std::string& alias = other.profiles[i].name;
    if (alias != name) made.aliases.emplace_back(alias, name);
  }
}

std::vector<Geometry> all_geometries() {
  std::vector<Geometry> all;
  for (const EightSlices& row : kEightSlices) all.push_back(eight_slices(row));
  for (const OtherNames& each : kOtherNames) {
    const auto named = [&](std::string_view model) {
      return std::find_if(all.begin(), all.end(),
                          [&](const Geometry& geometry) { return geometry.model == model; });
    };
    add_aliases(*named(each.model), *named(each.other));
  }
  all.push_back(a30());
  all.push_back(rtx_pro_6000());
  all.push_back(rtx_pro_5000());
  all.push_back(halves("RTX-PRO-4500-32GB", 32));
  for (std::size_t i = 0; i < all.size(); ++i) all[i].index = i;
  return all;
}

// "1g.10gb.me" → "1g.10gb+me": resource names have no '+'.
std::string nvidia_name(std::string_view profile) {
  std::string name(profile);
  const std::size_t unit = name.find("gb.");
  if (unit != std::string::npos) name[unit + 2] = '+';
  return name;
}

// Bit s: `length` bits in a row are set from s on.
unsigned runs(unsigned bits, unsigned length) {
  for (unsigned done = 1; done < length;) {
    const unsigned step = std::min(done, length - done);
    bits &= bits >> step;
    done += step;
  }
  return bits;
}

}  // namespace

const std::vector<Geometry>& geometries() {
  static const std::vector<Geometry> kGeometries = all_geometries();
  return kGeometries;
}

const Profile* Geometry::find(std::string_view profile) const {
  std::string name = nvidia_name(profile);
  for (const auto& [alias, meant] : aliases) {
    if (name == alias) name = meant;
  }
  for (const Profile& each : profiles) {
    if (each.name == name) return &each;
  }
  return nullptr;
}

std::string resource_of(const Profile& profile) {
  std::string name(kMigResourcePrefix);
  name += profile.name;
  std::replace(name.begin(), name.end(), '+', '.');
  return name;
}

ProfileByModel::ProfileByModel(std::string_view profile) {
  for (const Geometry& geometry : geometries()) profiles_.push_back(geometry.find(profile));
}

std::uint16_t legal_starts(const Profile& profile, const DeviceUse& use) {
  if (use.milli != 0 || (use.extras & profile.extras) != 0) return 0;
  const unsigned engines = profile.own_engines ? use.extras & kEveryEngine : 0U;
  const unsigned free = ~(use.slices | engines) & 0xffffU;
  return static_cast<std::uint16_t>(runs(free, profile.memory_slices) & profile.starts);
}

DeviceShare instance_at(const Profile& profile, std::uint32_t device, unsigned start) {
  const std::uint16_t slices = slices_at(profile, start);
  const unsigned own = profile.own_engines ? slices : 0U;
  return {.device = device,
          .milli = 0,
          .slices = slices,
          .extras = static_cast<std::uint16_t>(profile.extras | own)};
}

}  // namespace sched::gpu::mig
