// Which volumes of CSI drivers are in use on which node, and how many more the drivers' limits let
// each node take.
//
// A volume counts once on a node: it does not matter how many pods use it there, or whether a
// VolumeAttachment names it as well. Every change costs O(log nodes).
#pragma once

#include <boost/container_hash/hash.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace plugins {

using Driver = std::string;
// One volume as its driver knows it: driver, handle.
using Attached = std::pair<Driver, std::string>;

class VolumeRoom {
 public:
  enum class By : std::uint8_t { kPod, kAttachment };

  // Adds a user of the volume on the node: a pod, or a VolumeAttachment / removes a user that was
  // added.
  void add(const std::string& node, const Attached& volume, By by);
  void remove(const std::string& node, const Attached& volume, By by);
  // Replaces the node's limits.
  void limit(const std::string& node, const std::map<Driver, std::int64_t>& limits);

  // Whether the node takes `count` more volumes of the driver; without a limit it does.
  [[nodiscard]] bool takes(const std::string& node, const Driver& driver, std::int64_t count) const;
  // By how much the number of pods that use each volume on a node changes in a trial.
  using Change = std::map<Attached, std::int64_t>;
  // Whether, after that change, the node takes the volumes of the driver among `volumes`. A volume
  // that a pod on the node uses already needs no more room.
  [[nodiscard]] bool takes(const std::string& node, const Driver& driver,
                           const std::set<Attached>& volumes, const Change& change) const;
  // Whether a pod uses the volume, on any node.
  [[nodiscard]] bool is_used(const Attached& volume) const { return used_.contains(volume); }
  // The nodes that do not take `count` more volumes of the driver. O(their number).
  [[nodiscard]] std::vector<const std::string*> short_of(const Driver& driver,
                                                         std::int64_t count) const;

  // The nodes for which takes() may have changed its answer since the last call; a node may be
  // repeated.
  [[nodiscard]] std::vector<std::string> take_changed() { return std::exchange(changed_, {}); }

 private:
  struct Users {
    std::int64_t pods = 0;
    std::int64_t attachments = 0;
  };
  struct Use {
    std::optional<std::int64_t> limit;
    std::unordered_map<std::string, Users> volumes;  // by handle; each has a user
    [[nodiscard]] Users users(const std::string& handle) const {
      const auto known = volumes.find(handle);
      return known == volumes.end() ? Users{} : known->second;
    }
    [[nodiscard]] std::int64_t free() const {
      return *limit - static_cast<std::int64_t>(volumes.size());
    }
  };
  using Node = std::map<Driver, Use>;
  using Nodes = std::unordered_map<std::string, Node>;

  [[nodiscard]] const Use* find(const std::string& node, const Driver& driver) const;
  template <typename Edit>
  void change(const std::string& name, const Driver& driver, Edit&& edit);

  Nodes nodes_;  // with a limit or a volume
  // The nodes with a limit for the driver, by how many more volumes they take; the names are those
  // of nodes_.
  std::map<Driver, std::set<std::pair<std::int64_t, const std::string*>>> by_room_;
  std::unordered_map<Attached, std::size_t, boost::hash<Attached>> used_;  // by so many pods
  std::vector<std::string> changed_;
};

}  // namespace plugins
