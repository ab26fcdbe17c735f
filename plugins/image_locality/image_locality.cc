// ImageLocality: nodes that already have the pod's images are better, the more so the larger the
// images are.
//
// An image counts with its size on the node times the share of all nodes that have it. Otherwise an
// image on few nodes would draw all its pods to these. The sum is over the images of the pod's
// containers, init containers and image volumes: 23 MiB and less score 0; 1,000 MiB for each
// container and more score 100.
//
// The engine counts this as the nodes' own amounts. The plugin stores which images are on which
// nodes, if a profile uses it. Source: kube-scheduler ImageLocality, Score. If nodes report
// different sizes of an image, kube-scheduler uses the size of the node that it saw first, this
// plugin that of the node in question. Without arguments.
#include "plugins/factories.h"
#include "plugins/support/pod_selector.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace plugins {

namespace {

using namespace sched;

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kLeast = 23 * kMiB;                 // scores 0
constexpr std::int64_t kMostOfContainer = 1'000 * kMiB;    // more does not score more
constexpr std::int64_t kLargest = std::int64_t{1} << 50U;  // more than any image has

// In the spelling of nodes.
std::string name_of_image(std::string_view asked) {
  const auto after = [&](char mark) {
    const auto at = asked.rfind(mark);
    return at == std::string_view::npos ? 0 : at + 1;
  };
  std::string name(asked);
  if (after(':') <= after('/')) name += ":latest";
  return name;
}

template <typename Visit>
void for_each_image(const k8s::Pod& pod, Visit&& visit) {
  for (const k8s::Container& each : pod.spec.init_containers) visit(name_of_image(each.image));
  for (const k8s::Container& each : pod.spec.containers) visit(name_of_image(each.image));
  for (const std::string& each : pod.spec.image_volumes) visit(name_of_image(each));
}

// A volume's image counts, but allows no larger sum.
std::int64_t containers_of(const k8s::Pod& pod) {
  return static_cast<std::int64_t>(pod.spec.init_containers.size() + pod.spec.containers.size());
}

// The scores of nodes.
class Locality final : public Counted {
 public:
  explicit Locality(std::unordered_map<std::string, std::int32_t> scores)
      : scores_(std::move(scores)) {}

  std::int32_t amount(const PodClass& /*pod*/) const override { return 0; }
  std::int32_t amount_of_node(const NodeFacts& node) const override {
    const auto known = scores_.find(node.name);
    return known == scores_.end() ? 0 : known->second;
  }

 private:
  std::unordered_map<std::string, std::int32_t> scores_;  // by node; 0 for the others
};

class ImagePreference final : public PodPreference {
 public:
  explicit ImagePreference(DomainCount count) { counts_.push_back(std::move(count)); }

  std::vector<double> weights(std::span<const std::size_t>) const override { return {}; }
  std::int64_t raw(std::span<const std::int64_t> amounts, std::span<const double>) const override {
    return std::max<std::int64_t>(amounts.front(), 0);
  }
  std::int64_t score(std::int64_t raw, const Extremes&) const override { return raw; }
};

class ImageLocality final : public ClusterConstraint {
 public:
  std::string_view name() const override { return "ImageLocality"; }
  bool concerns(const k8s::Pod& /*pod*/) const override { return false; }

  bool prefers(const k8s::Pod& pod) const override {
    bool some = false;
    for_each_image(pod, [&](const std::string& name) { some = some || images_.contains(name); });
    return some;
  }

  std::string reads_besides(const k8s::Pod& pod) const override {
    std::string read = std::to_string(containers_of(pod)) + " containers ";
    for_each_image(pod, [&](const std::string& name) { append_key(read, name); });
    return read;
  }

  std::unique_ptr<PodPreference> preference_for(const k8s::Pod& pod,
                                                const PodDifference& /*trial*/) const override {
    const std::int64_t most = kMostOfContainer * std::max<std::int64_t>(containers_of(pod), 1);
    std::string id = "images:" + std::to_string(nodes_.size()) + "/" + std::to_string(most) + ":";
    std::unordered_map<std::string, std::int64_t> sums;
    for_each_image(pod, [&](const std::string& name) {
      const auto known = images_.find(name);
      if (known == images_.end()) return;
      const auto& [sizes, version] = known->second;
      append_key(id, name);
      id += std::to_string(version);
      const double share = static_cast<double>(sizes.size()) / static_cast<double>(nodes_.size());
      for (const auto& [node, size] : sizes) {
        const auto part = static_cast<std::int64_t>(static_cast<double>(size) * share);
        std::int64_t& sum = sums[std::string(node)];
        sum = std::min(sum + part, most);
      }
    });
    std::unordered_map<std::string, std::int32_t> scores;
    for (const auto& [node, sum] : sums) {
      const std::int64_t score = kMaxScore * (std::max(sum, kLeast) - kLeast) / (most - kLeast);
      if (score > 0) scores.emplace(node, static_cast<std::int32_t>(score));
    }
    if (scores.empty()) return nullptr;
    return std::make_unique<ImagePreference>(
        DomainCount{.id = std::move(id),
                    .key = "",
                    .what = std::make_shared<Locality>(std::move(scores)),
                    .by_node = true});
  }

  std::uint64_t rules_version() const override { return version_; }

  ChangeMask reads() const override { return kNodeChanged; }
  bool apply(const ClusterChange& change) override {
    if (const auto* upserted = std::get_if<NodeUpserted>(&change)) {
      put(upserted->object);
    } else if (const auto* gone = std::get_if<NodeGone>(&change)) {
      const auto known = nodes_.find(gone->name);
      if (known == nodes_.end()) return false;
      ++version_;
      forget_images(*known);
      nodes_.erase(known);
    }
    return true;
  }

 private:
  struct Image {
    std::map<std::string_view, std::int64_t> sizes;  // by the nodes that have it, keys of nodes_
    std::uint64_t version = 0;                       // version_ when that changed last
  };
  using Images = std::unordered_map<std::string, Image>;  // by name
  using Sizes = std::map<std::string, std::int64_t>;      // by name of an image
  using Nodes = std::unordered_map<std::string, Sizes>;   // by name

  void put(const k8s::Node& node) {
    Sizes sizes;
    for (const k8s::ContainerImage& image : node.status.images) {
      const std::int64_t size = std::clamp<std::int64_t>(image.size_bytes, 0, kLargest);
      for (const std::string& name : image.names) sizes.emplace(name, size);
    }
    const auto [known, is_new] = nodes_.try_emplace(node.metadata.name);
    if (!is_new && known->second == sizes) return;
    ++version_;
    forget_images(*known);
    known->second = std::move(sizes);
    for (const auto& [name, size] : known->second) {
      Image& image = images_[name];
      image.sizes.emplace(known->first, size);
      image.version = version_;
    }
  }

  void forget_images(const Nodes::value_type& node) {
    for (const auto& [name, size] : node.second) {
      const auto image = images_.find(name);
      image->second.sizes.erase(node.first);
      image->second.version = version_;
      if (image->second.sizes.empty()) images_.erase(image);
    }
  }

  Images images_;
  Nodes nodes_;
  std::uint64_t version_ = 0;
};

}  // namespace

PluginInstance make_image_locality(k8s::yaml::ObjectReader&) {
  return {.constraint = std::make_unique<ImageLocality>()};
}

}  // namespace plugins
