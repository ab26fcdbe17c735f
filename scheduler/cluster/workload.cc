#include "scheduler/cluster/workload.h"

#include "scheduler/cluster/cpu_use.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

namespace sched {
namespace {

constexpr std::uint64_t kSteadyInterval = 1'024;  // arrivals between two checks, in the long run
constexpr std::uint64_t kNodesPerArrival = 2;     // of that interval in a large cluster
constexpr std::uint64_t kCpuInterval = 256;       // changes of nodes, in a small cluster
constexpr std::uint64_t kPodsMoved = 50;          // 1/50 of the workload
constexpr std::int64_t kGpusMoved = 20;           // 1/20 of the GPUs

auto identity(const TypicalPod& pod) {
  return std::tie(pod.cpu, pod.milli, pod.gpus, pod.products);
}

// Whether `now` (its counts add up to `seen`) differs enough from `before`.
bool differs(const ClusterContext& before, const std::vector<TypicalPod>& now, std::uint64_t seen) {
  if (before.pods_seen == 0) return true;
  std::map<decltype(identity(now.front())), std::uint64_t> counts;
  for (const TypicalPod& pod : before.pods) counts.emplace(identity(pod), pod.count);
  double moved = 0;  // half the sum of differences is the share that changed kind
  for (const TypicalPod& pod : now) {
    const auto known = counts.find(identity(pod));
    const double was = known == counts.end() ? 0
                                             : static_cast<double>(known->second) /
                                                   static_cast<double>(before.pods_seen);
    if (known == counts.end() && pod.gpus > 1) return true;
    moved += std::max(0.0, static_cast<double>(pod.count) / static_cast<double>(seen) - was);
  }
  return moved * kPodsMoved >= 1;
}

// More than any pod asks for: sums over kMemory pods stay within 64 bits.
constexpr std::int64_t kMostMemory = std::int64_t{1} << 40;  // MiB

std::int64_t mebibytes(std::int64_t bytes) {
  return std::clamp<std::int64_t>(bytes / (1024 * 1024), 0, kMostMemory);
}

bool counts_as_kind(const PodShape& shape) { return !shape.gpu.has_instances(); }

// Shares mean nothing if GPUs are only counted.
TypicalPod kind_of(const PodShape& shape, bool devices_apart) {
  const gpu::Demand& gpu = shape.gpu;
  TypicalPod pod{.cpu = shape.request(kCpu),
                 .gpus = 0,
                 .milli = 0,
                 .products = {},
                 .count = 1,
                 .memory = mebibytes(shape.request(kMemory))};
  if (gpu.is_none() || (gpu.is_share() && !devices_apart)) return pod;
  pod.gpus = gpu.gpus;
  pod.milli = gpu.milli;
  pod.products = gpu.products;
  return pod;
}

std::size_t bytes_of(const std::vector<std::string>& texts) {
  std::size_t bytes = texts.size() * sizeof(std::string);
  for (const std::string& text : texts) bytes += text.size();
  return bytes;
}

void sort_by_frequency(std::vector<TypicalPod>& pods) {
  std::sort(pods.begin(), pods.end(), [](const TypicalPod& a, const TypicalPod& b) {
    if (a.count != b.count) return a.count > b.count;
    return identity(a) > identity(b);
  });
}

}  // namespace

WorkloadStatistics::WorkloadStatistics(std::optional<std::vector<TypicalPod>> known,
                                       bool devices_apart) {
  auto first = std::make_shared<ClusterContext>();
  first->devices_apart = devices_apart;
  if (known) {
    learning_ = false;
    first->pods = std::move(*known);
    for (const TypicalPod& pod : first->pods) first->pods_seen += pod.count;
  }
  published_ = std::move(first);
}

void WorkloadStatistics::pod_arrived(const PodShape& shape) {
  if (!learning_ || !counts_as_kind(shape)) return;
  TypicalPod pod = kind_of(shape, published_->devices_apart);
  if (bytes_of(pod.products) > kMostProductBytes) std::vector<std::string>().swap(pod.products);
  Seen& seen = kinds_[{
      .cpu = pod.cpu, .milli = pod.milli, .gpus = pod.gpus, .products = std::move(pod.products)}];
  ++seen.pods;
  seen.memory += static_cast<std::uint64_t>(pod.memory);
  ++arrivals_;
  if (++total_ >= kMemory || kinds_.size() > kMostKinds) fade();
}

namespace {

GpuNodeKind kind_of(const NodeFacts& node) {
  constexpr std::int64_t kCore = 1'000;
  constexpr std::int64_t kGibibyte = 1'024;
  return {.product = node.gpu.product.name,
          .gpus = node.gpu.whole_gpus(),
          .cpu = node.allocatable.get(kCpu) / kCore * kCore,
          .memory = mebibytes(node.allocatable.get(kMemory)) / kGibibyte * kGibibyte};
}

}  // namespace

void WorkloadStatistics::node_changed(const NodeFacts* before, const NodeFacts* now) {
  if (before == nullptr && now != nullptr) ++nodes_;
  if (before != nullptr && now == nullptr) --nodes_;
  const auto count = [this](const NodeFacts* facts, int sign) {
    if (facts == nullptr) return;
    GpuNodeKind kind = kind_of(*facts);
    const std::int64_t gpus = kind.gpus;
    if (gpus <= 0) return;
    new_product_ = new_product_ || !has_product(kind.product);
    const auto nodes = gpu_nodes_.try_emplace(std::move(kind)).first;
    nodes->second += sign;
    if (nodes->second == 0) gpu_nodes_.erase(nodes);
    gpus_ = sign > 0 ? saturating_add(gpus_, gpus) : saturating_subtract(gpus_, gpus);
    moved_gpus_ = saturating_add(moved_gpus_, gpus);
    nodes_moved_ = true;
  };
  if (before != nullptr && now != nullptr && kind_of(*before) == kind_of(*now)) return;
  count(before, -1);
  count(now, +1);
}

const ClusterContextPtr& WorkloadStatistics::current(const Nodes& nodes) {
  if (nodes.changes().end() >= look_at_cpu_) look_at_cpu(nodes);
  if (nodes_due() || pods_due()) publish();
  return published_;
}

bool WorkloadStatistics::nodes_due() const {
  return nodes_moved_ && (new_product_ || moved_gpus_ >= published_->gpus / kGpusMoved);
}

bool WorkloadStatistics::has_product(const std::string& product) const {
  const auto first = gpu_nodes_.lower_bound({.product = product});
  return first != gpu_nodes_.end() && first->first.product == product;
}

void WorkloadStatistics::leave_out_absent(std::vector<std::string>& products) const {
  if (products.empty()) return;
  std::erase_if(products, [&](const std::string& product) { return !has_product(product); });
  if (products.empty()) products.emplace_back(kNoNodes);
}

std::uint64_t WorkloadStatistics::steady_interval() const {
  return std::max(kSteadyInterval, nodes_ / kNodesPerArrival);
}

void WorkloadStatistics::look_at_cpu(const Nodes& nodes) {
  look_at_cpu_ = nodes.changes().end() + std::max(kCpuInterval, nodes_);
  const bool scarce = cpu_is_scarce(nodes, published_->cpu_is_scarce);
  if (scarce == published_->cpu_is_scarce) return;
  auto next = std::make_shared<ClusterContext>(*published_);
  ++next->version;
  next->cpu_is_scarce = scarce;
  published_ = std::move(next);
}

bool WorkloadStatistics::pods_due() {
  if (arrivals_ < look_at_) return false;
  while (look_at_ <= arrivals_) look_at_ += std::min(look_at_, steady_interval());
  return differs(*published_, by_frequency(), total_);
}

std::vector<TypicalPod> WorkloadStatistics::by_frequency() const {
  std::map<Kind, Seen> kinds;
  for (const auto& [kind, seen] : kinds_) {
    Kind there = kind;
    leave_out_absent(there.products);
    Seen& sum = kinds[std::move(there)];
    sum.pods += seen.pods;
    sum.memory += seen.memory;
  }
  std::vector<TypicalPod> pods;
  pods.reserve(kinds.size());
  for (const auto& [kind, seen] : kinds) {
    pods.push_back({.cpu = kind.cpu,
                    .gpus = kind.gpus,
                    .milli = kind.milli,
                    .products = kind.products,
                    .count = seen.pods,
                    .memory = static_cast<std::int64_t>(seen.memory / seen.pods)});
  }
  sort_by_frequency(pods);
  return pods;
}

void WorkloadStatistics::publish() {
  auto next = std::make_shared<ClusterContext>(*published_);
  ++next->version;
  if (learning_ && arrivals_ >= kFirstLook) {
    next->pods = by_frequency();
    next->pods_seen = total_;
  }
  next->gpu_nodes = gpu_nodes_;
  next->gpus = gpus_;
  moved_gpus_ = 0;
  nodes_moved_ = false;
  new_product_ = false;
  published_ = std::move(next);
}

void WorkloadStatistics::fade() {
  total_ = 0;
  for (auto kind = kinds_.begin(); kind != kinds_.end();) {
    Seen& seen = kind->second;
    const std::uint64_t pods = seen.pods / 2;
    seen = {.pods = pods, .memory = seen.memory / seen.pods * pods};
    total_ += pods;
    kind = pods == 0 ? kinds_.erase(kind) : std::next(kind);
  }
}

std::vector<TypicalPod> kinds_of(const std::vector<PodShape>& shapes, bool devices_apart) {
  std::vector<TypicalPod> pods;
  for (const PodShape& shape : shapes) {
    if (counts_as_kind(shape)) pods.push_back(kind_of(shape, devices_apart));
  }
  std::sort(pods.begin(), pods.end(),
            [](const TypicalPod& a, const TypicalPod& b) { return identity(a) < identity(b); });
  std::vector<TypicalPod> kinds;
  for (TypicalPod& pod : pods) {
    if (!kinds.empty() && identity(kinds.back()) == identity(pod)) {
      ++kinds.back().count;
      kinds.back().memory += pod.memory;  // the sum, for now
    } else {
      kinds.push_back(std::move(pod));
    }
  }
  for (TypicalPod& kind : kinds) kind.memory /= static_cast<std::int64_t>(kind.count);
  sort_by_frequency(kinds);
  return kinds;
}

}  // namespace sched
