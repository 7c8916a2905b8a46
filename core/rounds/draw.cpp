#include "rounds/draw.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "hashing.hpp"
#include "rounds/split.hpp"

namespace softmodes {
namespace {

double unit_interval(uint64_t uniform) { return static_cast<double>(uniform >> 11) * 0x1p-53; }

// Natural logarithms of small counts, computed once per call: most counts are small.
class Logarithms {
 public:
  explicit Logarithms(int64_t largest) : table_(std::min<int64_t>(largest, kLimit) + 1) {
    for (size_t i = 1; i < table_.size(); ++i) table_[i] = std::log(static_cast<double>(i));
  }
  double operator()(int64_t count) const {
    return count < static_cast<int64_t>(table_.size()) ? table_[count]
                                                       : std::log(static_cast<double>(count));
  }

 private:
  static constexpr int64_t kLimit = 1 << 16;
  std::vector<double> table_;
};

// One value of the next centers: from which counts it is drawn, and the random words' address.
struct CenterValue {
  const int64_t* counts;
  int64_t n_values;
  const int32_t* codes;  // null: value v has code v
  uint64_t key;          // of (seed, run[, round], cluster, feature)

  int32_t code(int64_t v) const { return codes ? codes[v] : static_cast<int32_t>(v); }
};

constexpr int64_t kNothing = -1;

// Proportional to the counts. Values are passed over by sixteens, the last of which are counted
// through without a branch: where the draw falls cannot be foreseen.
int64_t draw_proportional(const CenterValue& value) {
  constexpr int64_t kAtOnce = 16;
  const auto total =
      static_cast<uint64_t>(std::reduce(value.counts, value.counts + value.n_values));
  if (total == 0) return kNothing;
  uint64_t ticket = scale_to(value.key, total);
  int64_t begin = 0;
  for (; begin + kAtOnce < value.n_values; begin += kAtOnce) {
    const int64_t* some = value.counts + begin;
    const auto sum = static_cast<uint64_t>(std::reduce(some, some + kAtOnce));
    if (ticket < sum) break;
    ticket -= sum;
  }
  const int64_t end = std::min(begin + kAtOnce, value.n_values);
  int64_t drawn = begin;
  uint64_t sum = 0;
  for (int64_t v = begin; v < end; ++v) {
    sum += static_cast<uint64_t>(value.counts[v]);
    drawn += sum <= ticket;
  }
  return drawn;
}

// The values of one center that were observed, ascending.
class Observed {
 public:
  void take(const CenterValue& value) {
    places_.resize(static_cast<size_t>(value.n_values) + 1);  // one to spare, and no branches
    n_ = 0;
    largest_ = 0;
    for (int64_t v = 0; v < value.n_values; ++v) {
      places_[n_] = static_cast<int32_t>(v);
      n_ += value.counts[v] != 0;
      largest_ = std::max(largest_, value.counts[v]);
    }
  }
  const int32_t* begin() const { return places_.data(); }
  const int32_t* end() const { return places_.data() + n_; }
  int64_t largest() const { return largest_; }

 private:
  std::vector<int32_t> places_;
  int64_t n_ = 0;
  int64_t largest_ = 0;
};

int64_t draw_plurality(const CenterValue& value, const Observed& observed) {
  int64_t winner = kNothing;
  uint64_t winner_rank = 0;
  for (const int32_t v : observed) {
    if (value.counts[v] != observed.largest()) continue;
    const uint64_t rank = fold(value.key, static_cast<uint64_t>(value.code(v)));
    if (winner == kNothing || rank < winner_rank) {
      winner = v;
      winner_rank = rank;
    }
  }
  return winner;
}

// Counts to the power of t, relative to the largest one: so no t underflows all of them. Where that
// is small, as it is of most of many values, powers are remembered.
class RelativePowers {
 public:
  RelativePowers(double t, const Logarithms& logarithm) : t_(t), logarithm_(logarithm) {}
  // Calls visit(power) with a function of counts up to the largest.
  template <class Visit>
  void of(int64_t largest, const Visit& visit) {
    if (largest >= kSmall) {
      const double top = logarithm_(largest);
      return visit([&](int64_t count) { return power(count, largest, top); });
    }
    std::vector<double>& known = known_[largest];
    if (known.empty())
      for (int64_t count = 0; count <= largest; ++count)
        known.push_back(power(count, largest, logarithm_(largest)));
    visit([table = known.data()](int64_t count) { return table[count]; });
  }

 private:
  static constexpr int64_t kSmall = 64;

  double power(int64_t count, int64_t largest, double top) const {
    return count == largest ? 1.0 : count ? std::exp(t_ * (logarithm_(count) - top)) : 0.0;
  }

  double t_;
  const Logarithms& logarithm_;
  std::vector<double> known_[kSmall];
};

int64_t draw_soft(const CenterValue& value, const Observed& observed, RelativePowers& powers,
                  std::vector<double>& weights) {
  double total = 0.0;
  weights.clear();
  powers.of(observed.largest(), [&](const auto& power) {
    for (const int32_t v : observed) {
      weights.push_back(power(value.counts[v]));
      total += weights.back();
    }
  });
  double ticket = unit_interval(value.key) * total;
  int64_t last = kNothing;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0.0) continue;
    last = observed.begin()[i];
    if (ticket < weights[i]) break;
    ticket -= weights[i];
  }
  return last;  // the last of all if rounding errors used up the whole weight
}

// What no count exceeds, and less than twice the largest: bits are joined faster than compared.
int64_t bound_of(const int64_t* counts, int64_t n, const Threads& threads) {
  constexpr int64_t kAtOnce = int64_t{1} << 17;
  const int64_t n_tasks = (n + kAtOnce - 1) / kAtOnce;
  std::vector<int64_t> bits(static_cast<size_t>(n_tasks));
  run_tasks(n_tasks, threads.at_most(n_tasks), [&](int64_t i, int, const Stop&) {
    int64_t joined = 0;
    for (int64_t at = i * kAtOnce; at < std::min(n, (i + 1) * kAtOnce); ++at) joined |= counts[at];
    bits[i] = joined;
  });
  return std::accumulate(bits.begin(), bits.end(), int64_t{0}, std::bit_or<int64_t>());
}

Logarithms logarithms_for(double t, const int64_t* counts, int64_t n, const Threads& threads) {
  return Logarithms(std::isinf(t) || t == 1.0 ? 0 : bound_of(counts, n, threads));
}

class Drawing {
 public:
  Drawing(double t, const Logarithms& logarithm) : t_(t), powers_(t, logarithm) {}

  // Returns the index of the drawn value, or kNothing where nothing was observed.
  int64_t operator()(const CenterValue& value) {
    if (t_ == 1.0) return draw_proportional(value);
    observed_.take(value);
    if (std::isinf(t_)) return draw_plurality(value, observed_);
    return draw_soft(value, observed_, powers_, weights_);
  }

 private:
  double t_;
  RelativePowers powers_;
  Observed observed_;
  std::vector<double> weights_;  // of what was observed
};

}  // namespace

void draw_dense(const DenseCounts& tally, double t, uint64_t key, int32_t* centers,
                const Threads& threads) {
  const Logarithms logarithm =
      logarithms_for(t, tally.counts, tally.n_clusters * tally.n_cells, threads);
  const auto task = [&](int64_t first, int64_t last) {
    Drawing draw(t, logarithm);
    for (int64_t i = first; i < last; ++i) {
      const uint64_t cluster_key = fold(key, static_cast<uint64_t>(i));
      for (int64_t j = 0; j < tally.n_features; ++j) {
        if (tally.is_sparse(j)) continue;
        const uint64_t cell_key = fold(cluster_key, static_cast<uint64_t>(j));
        const int64_t v = draw(CenterValue{tally.of(i, j), tally.n_values[j], nullptr, cell_key});
        if (v != kNothing) centers[i * tally.n_features + j] = static_cast<int32_t>(v);
      }
    }
  };
  constexpr int64_t kDrawnPerThread = kCellsPerThread / 4;  // a power takes longer than a sum
  split_clusters(tally, 0, tally.n_clusters, threads, task, kDrawnPerThread);
}

void draw_wide(const WideCounts& tally, double t, uint64_t key, int32_t* centers,
               int64_t n_features, const Threads& threads) {
  const Logarithms logarithm = logarithms_for(t, tally.counts, tally.n_counts(), threads);
  split_features(tally, threads, [&](int64_t f) {
    Drawing draw(t, logarithm);
    const int64_t j = tally.features[f];
    for (int64_t i = 0; i < tally.n_clusters; ++i) {
      const WideCounts::Values values = tally.of(f, i);
      const uint64_t cell_key = fold(fold(key, static_cast<uint64_t>(i)), static_cast<uint64_t>(j));
      const int64_t v = draw(CenterValue{values.counts, values.n, values.codes, cell_key});
      if (v != kNothing) centers[i * n_features + j] = values.codes[v];
    }
  });
}

}  // namespace softmodes
