#include "scheduler/gpu/wishes.h"

#include "k8s-client/api/quantity.h"
#include "k8s-client/shown.h"
#include "scheduler/base/nearest_names.h"
#include "scheduler/gpu/labels.h"
#include "scheduler/gpu/mig/resource_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <optional>

namespace sched::gpu {

namespace {

using k8s::shown;

// Annotations that the scheduler itself writes (scheduler/quota/charged_as.h).
constexpr std::string_view kChargedAs = "gpu-scheduler.io/charged-as";
constexpr std::string_view kChargedAt = "gpu-scheduler.io/charged-at";

// How many unknown keys are compared with all known keys. A real pod has few; a pod with hundreds
// gets no messages beyond these.
constexpr std::size_t kMostStrangers = 16;

// No GPU has so little memory: a smaller amount lacks its unit.
constexpr std::int64_t kLeastMemory = std::int64_t{1} << 20;

// "a, b,,c" → visits "a", " b", "", "c", until the visitor returns false.
template <class Visit>
void for_each_item(std::string_view list, const Visit& visit) {
  for (std::size_t from = 0; from <= list.size();) {
    const std::size_t to = std::min(list.find(',', from), list.size());
    if (!visit(list.substr(from, to - from))) return;
    from = to + 1;
  }
}

// "8.0", or "8".
std::optional<Capability> parse_capability(std::string_view text) {
  Capability parsed;
  const char* const end = text.data() + text.size();
  auto [at, error] = std::from_chars(text.data(), end, parsed.major);
  if (error != std::errc() || parsed.major <= 0) return std::nullopt;
  if (at == end) return parsed;
  if (*at != '.' || at + 1 == end) return std::nullopt;
  const auto [after, minor_error] = std::from_chars(at + 1, end, parsed.minor);
  if (minor_error != std::errc() || after != end || parsed.minor < 0) return std::nullopt;
  return parsed;
}

class WishReader {
 public:
  explicit WishReader(const k8s::Pod& pod) : pod_(pod) {}

  Wishes read() && {
    read_annotations();
    read_labels();
    read_node_selection();
    auto& profiles = wishes_.known_profiles;
    std::sort(profiles.begin(), profiles.end());
    profiles.erase(std::unique(profiles.begin(), profiles.end()), profiles.end());
    profiles.shrink_to_fit();
    return std::move(wishes_);
  }

 private:
  // Always false.
  template <class... Parts>
  bool problem(std::string_view key, fmt::format_string<Parts...> format, Parts&&... parts) {
    const std::string what = fmt::format(format, std::forward<Parts>(parts)...);
    wishes_.problems.push_back({.key = key, .text = fmt::format("{}: {}", key, what)});
    return false;
  }

  void read_annotations() {
    for (const auto& [key, value] : pod_.metadata.annotations) {
      if (!is_wish(key)) continue;
      if (key == kTypeAnnotation) {
        read_types(value);
      } else if (key == kMinMemoryAnnotation) {
        wishes_.min_memory = read_memory(kMinMemoryAnnotation, value);
      } else if (key == kMinComputeAnnotation) {
        read_compute(value);
      } else if (key == kMinDriverAnnotation) {
        wishes_.min_driver = read_version(kMinDriverAnnotation, value, "570.86");
      } else if (key == kMinCudaAnnotation) {
        wishes_.min_cuda = read_version(kMinCudaAnnotation, value, "12.8");
      } else if (key == kSharingAnnotation) {
        read_sharing(value);
      } else if (key == kGpuMemoryAnnotation) {
        wishes_.gpu_memory = read_memory(kGpuMemoryAnnotation, value);
      } else if (key == kMigProfileAnnotation) {
        read_profile(value);
      } else if (key != kChargedAs && key != kChargedAt) {
        stranger("annotation", key);
      }
    }
  }

  void read_labels() {
    for (const auto& [key, value] : pod_.metadata.labels) {
      if (!is_ours(key)) continue;
      const auto* const known = std::find(kWishAnnotations.begin(), kWishAnnotations.end(), key);
      if (key == kMigProfileAnnotation) {
        read_profile(value);
      } else if (known != kWishAnnotations.end() || !is_wish(key)) {
        wishes_.problems.push_back(
            {.key = known == kWishAnnotations.end() ? kTypeAnnotation : *known,
             .text = fmt::format("{} is an annotation, not a label", key)});
      } else {
        stranger("label", key);
      }
    }
  }

  // A key with the scheduler's prefix that nothing reads. The plugin that reads the nearest key
  // reports it.
  void stranger(std::string_view kind, std::string_view key) {
    if (++strangers_ > kMostStrangers) return;
    std::string_view nearest;
    std::string_view nearest_wish;
    std::size_t least = std::numeric_limits<std::size_t>::max();
    const auto compare = [&](std::string_view known) {
      const std::size_t distance = edit_distance(key.substr(kAnnotationPrefix.size()),
                                                 known.substr(kAnnotationPrefix.size()));
      if (distance >= least) return false;
      least = distance;
      nearest = known;
      return true;
    };
    for (const std::string_view known : kWishAnnotations) {
      if (compare(known)) nearest_wish = known;
    }
    compare(kPodGroupAnnotation);
    compare(kMinCountAnnotation);
    constexpr std::size_t kSlip = 2;
    wishes_.problems.push_back(
        {.key = nearest_wish,
         .text = fmt::format("{} {} is not known; {}", kind, shown(key),
                             least <= kSlip ? fmt::format("{} is", nearest)
                                            : fmt::format("the nearest is {}", nearest))});
  }

  void read_types(std::string_view list) {
    if (list.size() > Wishes::kMostTypeBytes) {
      problem(kTypeAnnotation, "longer than {} bytes", Wishes::kMostTypeBytes);
      return;
    }
    for_each_item(list, [&](std::string_view item) {
      TypeName type = parse_type_name(item);
      if (!names_something(type)) {
        return problem(kTypeAnnotation, "\"{}\" has an item that names nothing", shown(list));
      }
      if (wishes_.types.size() == Wishes::kMostTypes) {
        return problem(kTypeAnnotation, "more than {} types", Wishes::kMostTypes);
      }
      if (!type.mig_profile.empty()) add_known(type.mig_profile);
      wishes_.types.push_back(std::move(type));
      return true;
    });
  }

  // In both, `key` is one of the constants: problems refer to it.
  std::int64_t read_memory(std::string_view key, const std::string& text) {
    const auto amount = k8s::Quantity::parse(text);
    if (!amount || *amount < k8s::Quantity::of(1)) {
      problem(key, "\"{}\" is not an amount of memory, such as 40Gi", shown(text));
    } else if (const std::int64_t bytes = amount->value(); bytes < kLeastMemory) {
      const bool plain = text.find_first_not_of("0123456789") == std::string::npos;
      const std::string_view unit = bytes < 1'000 ? "G" : "M";
      problem(key, "\"{}\" is {} bytes{}", shown(text), bytes,
              plain ? fmt::format(": {0}{1}i or {0}{1}?", bytes, unit) : ", less than any GPU has");
    } else {
      return bytes;
    }
    return 0;
  }

  Version read_version(std::string_view key, std::string_view text, std::string_view example) {
    if (const auto version = parse_version(text)) return *version;
    problem(key, "\"{}\" is not a version, such as \"{}\"", shown(text), example);
    return {};
  }

  void read_compute(std::string_view text) {
    if (const auto capability = parse_capability(text)) {
      wishes_.min_compute = *capability;
      return;
    }
    problem(kMinComputeAnnotation, "\"{}\" is not a compute capability, such as \"8.0\"",
            shown(text));
  }

  void read_sharing(std::string_view text) {
    if (text == "allowed") {
      wishes_.sharing = SharingWish::kAllowed;
    } else if (text == "required") {
      wishes_.sharing = SharingWish::kRequired;
    } else if (text == "never") {
      wishes_.sharing = SharingWish::kNever;
    } else {
      problem(kSharingAnnotation, "\"{}\" is none of allowed, required, never", shown(text));
    }
  }

  void read_profile(std::string_view text) {
    const auto profile = mig::profile_spelling(text);
    if (!profile) {
      problem(kMigProfileAnnotation, "\"{}\" is not a MIG profile, such as 1g.10gb", shown(text));
      return;
    }
    if (!wishes_.mig_profile.empty() && wishes_.mig_profile != *profile) {
      problem(kMigProfileAnnotation, "annotation and label name different profiles, {} and {}",
              wishes_.mig_profile, *profile);
    }
    wishes_.mig_profile = *profile;
    add_known(*profile);
  }

  // The node labels that give the profile of its nvidia.com/gpu, and their values.
  void read_node_selection() {
    for (const auto& [key, value] : pod_.spec.node_selector) add_selected(key, value);
    if (!pod_.spec.node_affinity || !pod_.spec.node_affinity->required) return;
    for (const k8s::NodeSelectorTerm& term : pod_.spec.node_affinity->required->terms) {
      for (const k8s::SelectorRequirement& requirement : term.match_expressions) {
        if (requirement.op != k8s::SelectorOperator::kIn) continue;
        for (const std::string& value : requirement.values) add_selected(requirement.key, value);
      }
    }
  }

  void add_selected(std::string_view key, std::string_view value) {
    if (key == kPartitionSizeLabel) add_known(value);
    if (key == kProductLabel && value.find("-MIG-") != std::string_view::npos) {
      add_known(parse_product(value).mig_profile);
    }
  }

  void add_known(std::string_view profile) {
    if (const auto spelled = mig::profile_spelling(profile)) {
      wishes_.known_profiles.push_back(*spelled);
    }
  }

  const k8s::Pod& pod_;
  Wishes wishes_;
  std::size_t strangers_ = 0;
};

}  // namespace

std::optional<Version> parse_version(std::string_view text) {
  Version version;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (std::int32_t& part : version.parts) {
    const auto [after, error] = std::from_chars(at, end, part);
    if (error != std::errc() || part < 0) return std::nullopt;
    if (after == end) return version.is_known() ? std::optional(version) : std::nullopt;
    if (*after != '.') return std::nullopt;
    at = after + 1;
  }
  return std::nullopt;
}

std::string to_string(const Version& version) {
  const auto [first, second, third] = version.parts;
  return third > 0 ? fmt::format("{}.{}.{}", first, second, third)
                   : fmt::format("{}.{}", first, second);
}

Wishes wishes_of(const k8s::Pod& pod) { return WishReader(pod).read(); }

bool same_of_ours(const k8s::StringMap& a, const k8s::StringMap& b,
                  bool (*counts)(std::string_view key)) {
  const auto entry_counts = [&](const k8s::StringMap::Entry& entry) { return counts(entry.first); };
  auto x = std::find_if(a.begin(), a.end(), entry_counts);
  auto y = std::find_if(b.begin(), b.end(), entry_counts);
  while (x != a.end() && y != b.end() && *x == *y) {
    x = std::find_if(std::next(x), a.end(), entry_counts);
    y = std::find_if(std::next(y), b.end(), entry_counts);
  }
  return x == a.end() && y == b.end();
}

bool names_profile(const Wishes& wishes, std::string_view profile) {
  return std::binary_search(wishes.known_profiles.begin(), wishes.known_profiles.end(), profile);
}

}  // namespace sched::gpu
