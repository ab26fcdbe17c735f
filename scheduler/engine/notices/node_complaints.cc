#include "scheduler/engine/notices/node_complaints.h"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

namespace sched {

namespace {

// The limit, because a user who may label nodes could make up any number.
constexpr std::size_t kMostProducts = 1'000;

}  // namespace

void NodeComplaints::seen(const std::string& node, const gpu::Inventory& inventory) {
  const gpu::Product& product = inventory.product;
  if (!product.name.empty() && product.gpu_class == nullptr && inventory.has_gpu() &&
      unknown_products_.size() < kMostProducts && unknown_products_.insert(product.name).second) {
    products_.push_back(
        {.node = node,
         .complaints = {fmt::format("GPUs of product {} are not known: they work as plain extended "
                                    "resources, and their memory, compute capability and MIG "
                                    "profiles are what labels say",
                                    product.name)},
         .lasts = false});
  }
  if (inventory.complaints.empty()) return gone(node);
  if (std::vector<std::string>& known = known_[node]; known != inventory.complaints) {
    known = inventory.complaints;
    unreported_.insert(node);
  }
}

void NodeComplaints::gone(const std::string& node) {
  if (known_.erase(node) == 0) return;
  if (reported_.contains(node)) {
    unreported_.insert(node);
  } else {
    unreported_.erase(node);  // ended before it was reported
  }
}

std::optional<decision::NodeComplaint> NodeComplaints::next() {
  if (!products_.empty()) {
    decision::NodeComplaint complaint = std::move(products_.front());
    products_.pop_front();
    return complaint;
  }
  if (unreported_.empty()) return std::nullopt;
  const std::string node = std::move(unreported_.extract(unreported_.begin()).value());
  const auto found = known_.find(node);
  if (found == known_.end()) {
    reported_.erase(node);
    return decision::NodeComplaint{.node = node, .complaints = {}, .lasts = true};
  }
  reported_.insert(node);
  return decision::NodeComplaint{.node = node, .complaints = found->second, .lasts = true};
}

}  // namespace sched
