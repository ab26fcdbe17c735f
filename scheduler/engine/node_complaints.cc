#include "scheduler/engine/node_complaints.h"

#include <fmt/format.h>

#include <utility>

namespace sched {

namespace {

// Whoever may label nodes could make up more.
constexpr std::size_t kMostProducts = 1'000;

}  // namespace

void NodeComplaints::seen(const std::string& node, const gpu::Inventory& inventory) {
  const gpu::Product& product = inventory.product;
  if (!product.name.empty() && product.gpu_class == nullptr && inventory.has_gpu() &&
      unknown_products_.size() < kMostProducts && unknown_products_.insert(product.name).second) {
    to_tell_.push_back(
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
    to_tell_.push_back({.node = node, .complaints = known, .lasts = true});
  }
}

void NodeComplaints::gone(const std::string& node) {
  if (known_.erase(node) > 0) to_tell_.push_back({.node = node, .complaints = {}, .lasts = true});
}

std::optional<decision::NodeComplaint> NodeComplaints::next() {
  if (to_tell_.empty()) return std::nullopt;
  decision::NodeComplaint complaint = std::move(to_tell_.front());
  to_tell_.pop_front();
  return complaint;
}

}  // namespace sched
