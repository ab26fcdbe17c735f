#include "bench/replay/arrivals/lives.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace bench::replay {
namespace {

constexpr double kMeanLife = 3'600'000;  // milliseconds; a unit

Moment whole(double milliseconds) {
  // Longer than any window, far from the limits of an integer.
  constexpr double kLongest = 1e15;
  return Moment(std::max<std::int64_t>(1, std::llround(std::min(milliseconds, kLongest))));
}

// Lives that do not depend on the pod.
class DrawnLives : public Lives {
 public:
  DrawnLives(const PodPool& pool, const Life& life) : pool_(pool), life_(life) {}

  [[nodiscard]] double mean() const override { return kMeanLife; }
  [[nodiscard]] double mean_gpu_time() const override {
    return static_cast<double>(pool_.milli(pool_.pods)) / static_cast<double>(pool_.pods.size()) *
           kMeanLife;
  }

  Stay arriving(Random& random) const override {
    const std::size_t pod = draw(random);
    return {.pod = pod, .life = whole(kMeanLife * relative(random, false))};
  }

  Stay present(Random& random) const override {
    const std::size_t pod = draw(random);
    if (life_.kind == Life::Kind::kExponential) {
      return {.pod = pod, .life = whole(kMeanLife * relative(random, false))};
    }
    const double rest = random.unit();
    return {.pod = pod, .life = whole(kMeanLife * relative(random, true) * rest)};
  }

 private:
  std::size_t draw(Random& random) const { return pool_.pods[random.below(pool_.pods.size())]; }

  // A life in mean lives.
  double relative(Random& random, bool length_biased) const {
    if (life_.kind == Life::Kind::kExponential) return random.exponential();
    const double variance = life_.sigma * life_.sigma;
    const double centre = length_biased ? variance / 2 : -variance / 2;
    return std::exp(centre + life_.sigma * random.normal());
  }

  const PodPool& pool_;
  Life life_;
};

// Draws places with given weights: O(log n).
class WeightedDraw {
 public:
  void add(double weight) { sums_.push_back(total() + weight); }
  [[nodiscard]] double total() const { return sums_.empty() ? 0 : sums_.back(); }
  [[nodiscard]] std::size_t size() const { return sums_.size(); }
  std::size_t operator()(Random& random) const {
    const auto found = std::lower_bound(sums_.begin(), sums_.end(), random.unit() * total());
    return static_cast<std::size_t>(std::min(found, sums_.end() - 1) - sums_.begin());
  }

 private:
  std::vector<double> sums_;
};

// Lives from the trace.
class RecordedLives : public Lives {
 public:
  RecordedLives(const Trace& trace, const PodPool& pool) : pool_(pool) {
    lives_.reserve(pool.pods.size());
    for (const std::size_t pod : pool.pods) {
      const TracePod& one = trace.pods[pod];
      if (one.created && one.deleted) {
        known_.push_back(std::max(*one.deleted - *one.created, Moment(1)));
        by_length_.add(static_cast<double>(known_.back().count()));
        lives_.emplace_back(known_.back());
      } else {
        lives_.emplace_back();
      }
    }
    if (known_.empty()) return;
    mean_ = by_length_.total() / static_cast<double>(known_.size());
    for (std::size_t i = 0; i < lives_.size(); ++i) {
      const double life = lives_[i] ? static_cast<double>(lives_[i]->count()) : mean_;
      presence_.add(life);
      gpu_time_ += life * static_cast<double>(pool.milli(pool.pods[i]));
    }
  }

  [[nodiscard]] bool none_known() const { return known_.empty(); }

  [[nodiscard]] double mean() const override { return mean_; }
  [[nodiscard]] double mean_gpu_time() const override {
    return gpu_time_ / static_cast<double>(pool_.pods.size());
  }

  Stay arriving(Random& random) const override {
    const std::size_t place = random.below(pool_.pods.size());
    const Moment life = lives_[place] ? *lives_[place] : known_[random.below(known_.size())];
    return {.pod = pool_.pods[place], .life = life};
  }

  Stay present(Random& random) const override {
    const std::size_t place = presence_(random);
    const Moment life = lives_[place] ? *lives_[place] : known_[by_length_(random)];
    const double rest = random.unit();
    return {.pod = pool_.pods[place], .life = whole(static_cast<double>(life.count()) * rest)};
  }

 private:
  const PodPool& pool_;
  std::vector<std::optional<Moment>> lives_;  // by place in the pool
  std::vector<Moment> known_;
  WeightedDraw by_length_;  // of known lives
  WeightedDraw presence_;   // of places in the pool, by (mean) life
  double mean_ = 0;
  double gpu_time_ = 0;  // over the pool
};

}  // namespace

k8s::Result<std::unique_ptr<Lives>> lives_of(const Trace& trace, const PodPool& pool,
                                             const Life& life) {
  if (life.kind != Life::Kind::kTrace) return std::make_unique<DrawnLives>(pool, life);
  auto recorded = std::make_unique<RecordedLives>(trace, pool);
  if (recorded->none_known()) {
    return k8s::config_error("no pod of trace \"" + trace.name +
                             "\" has both a creation and a deletion time: choose exponential or "
                             "lognormal lives");
  }
  return recorded;
}

}  // namespace bench::replay
