// Runs every pass over made-up tables with each instruction set of this machine and compares all
// that comes out with what `generic` gives, bit by bit. Needs no Python, so that it also runs
// cross-compiled under an emulator. Exit code 0: all alike; 1: not; 2: there was nothing to
// compare.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "centers/plan.hpp"
#include "isa/kernels.hpp"
#include "layout/layout.hpp"
#include "layout/packing.hpp"
#include "memory.hpp"
#include "passes/passes.hpp"

namespace {

using namespace softmodes;

constexpr int kDefaultCases = 216;
constexpr int64_t kSmallWork = 3000000;  // comparisons of two codes, one by one
constexpr int32_t kTooLarge = 1 << 24;   // a code that no cell can hold

class Random {
 public:
  explicit Random(uint64_t seed) : bits_(seed) {}
  uint64_t bits() { return bits_(); }
  int64_t below(int64_t n) { return static_cast<int64_t>(bits_() % static_cast<uint64_t>(n)); }
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  bool one_in(int64_t n) { return below(n) == 0; }

 private:
  std::mt19937_64 bits_;
};

template <class T, size_t n>
T pick(const T (&choices)[n], int64_t i) {
  return choices[i % static_cast<int64_t>(n)];
}

// How many codes the features of a table have, and how many features there are.
struct Kind {
  const char* name;
  std::vector<int32_t> n_codes;  // one of these each
  std::vector<int64_t> n_features;
};

const Kind kKinds[] = {
    {"binary", {2}, {1, 7, 8, 63, 64, 65, 130, 300}},
    {"long binary", {2}, {2047, 2048, 2100, 4200}},
    {"plain nibbles", {2, 3}, {1, 5, 33, 257}},
    {"nibbles", {2, 3, 4, 5, 8, 9, 16}, {1, 6, 31, 120, 1100}},
    {"nibbles of one field", {9, 16}, {1, 15, 40}},
    {"one byte", {17, 32, 33, 200, 256}, {1, 3, 16, 70, 260}},
    {"two bytes", {257, 300, 5000, 65536}, {1, 4, 17}},
    {"three bytes", {65537, 70000}, {1, 5}},
    {"all", {1, 2, 2, 2, 3, 4, 7, 16, 17, 40, 256, 300, 70000}, {13, 50, 140}},
};
constexpr int64_t kNumbersOfRows[] = {1, 15, 16, 17, 70, 255, 256, 257, 511, 513, 700, 1300, 5000};
constexpr int64_t kNumbersOfCenters[] = {1, 2, 3, 4, 5, 15, 16, 17, 33, 128, 129, 600};

struct Case {
  std::string text;
  Layout layout;
  int64_t n_rows, n_centers, first_row = 0;
  Threads threads{1, {}};
  std::vector<std::vector<int32_t>> columns{};  // codes
  std::vector<int64_t> weight{};                // of rows, or none
  std::vector<uint32_t> feature_weight{};       // or none
  std::vector<int32_t> centers{}, next_centers{};
  std::vector<int32_t> changed{};
  std::optional<uint64_t> tie_key{};
  std::optional<Layout> fit_layout{};

  Centers with(const std::vector<int32_t>& codes) const {
    const uint32_t* weights = feature_weight.empty() ? nullptr : feature_weight.data();
    return {n_centers, CodeCenters{codes.data(), weights}};
  }
  Block block(const Buffer& packed) const {
    return {layout,
            packed.data(),
            n_rows,
            first_row,
            weight.empty() ? nullptr : weight.data(),
            fit_layout ? &*fit_layout : nullptr};
  }
  // The same rows where features have room for further codes, as in a table that is predicted.
  Case with_room() const {
    std::vector<int32_t> n_codes = layout.n_codes;
    for (size_t j = 0; j < n_codes.size(); j += 2) ++n_codes[j];
    Case other = *this;
    other.layout = Layout(std::move(n_codes), layout.ignored);
    other.fit_layout = layout;
    return other;
  }
  int64_t largest_distance() const {
    if (feature_weight.empty()) return layout.n_features;
    int64_t sum = 0;
    for (const uint32_t w : feature_weight) sum += w;
    return sum;
  }
};

// A center near a row; if `strange`, with a few codes that match nothing.
void write_center(const Case& c, bool strange, Random& random, int32_t* out) {
  const int64_t row = random.below(c.n_rows);
  for (int64_t j = 0; j < c.layout.n_features; ++j) {
    out[j] = c.columns[j][row];
    if (random.one_in(4)) out[j] = static_cast<int32_t>(random.below(c.layout.n_codes[j]));
    if (strange && random.one_in(20)) out[j] = random.one_in(2) ? -1 : kTooLarge;
  }
}

Layout make_layout(const Kind& kind, int64_t n_features, bool ignores, Random& random) {
  std::vector<int32_t> n_codes, ignored;
  for (int64_t j = 0; j < n_features; ++j) {
    n_codes.push_back(kind.n_codes[random.below(static_cast<int64_t>(kind.n_codes.size()))]);
    const bool ignore = ignores && random.one_in(2);
    ignored.push_back(ignore ? static_cast<int32_t>(random.below(n_codes.back())) : -1);
  }
  return Layout(std::move(n_codes), std::move(ignored));
}

Case make_case(int64_t i) {
  Random random(static_cast<uint64_t>(i));
  const Kind& kind = kKinds[i % static_cast<int64_t>(std::size(kKinds))];
  const auto round = i / static_cast<int64_t>(std::size(kKinds));
  const int64_t d = kind.n_features[random.below(static_cast<int64_t>(kind.n_features.size()))];
  const bool ignores = random.one_in(2), few_values = random.one_in(3), strange = random.one_in(3);
  Case c{.text = {},
         .layout = make_layout(kind, d, ignores, random),
         .n_rows = pick(kNumbersOfRows, random.below(13)),
         .n_centers = pick(kNumbersOfCenters, round)};
  if (d > 1000 || c.n_centers > 100) c.n_rows = std::min<int64_t>(c.n_rows, 300);
  c.threads = {static_cast<int>(random.between(1, 3)), {}};
  if (random.one_in(2)) c.first_row = random.below(int64_t{1} << 40);
  for (int64_t j = 0; j < d; ++j) {
    const int32_t lowest = few_values ? std::max(0, c.layout.n_codes[j] - 3) : 0;
    auto& column = c.columns.emplace_back();
    for (int64_t r = 0; r < c.n_rows; ++r)
      column.push_back(static_cast<int32_t>(random.between(lowest, c.layout.n_codes[j] - 1)));
  }
  if (random.one_in(3))
    for (int64_t r = 0; r < c.n_rows; ++r) c.weight.push_back(random.below(1000));
  const int64_t heaviest = pick({1, 15, 16, 300, 65535}, random.below(5));
  if (random.one_in(3))
    for (int64_t j = 0; j < d; ++j)
      c.feature_weight.push_back(static_cast<uint32_t>(random.between(0, heaviest)));
  if (!random.one_in(3)) c.tie_key = random.bits();

  c.centers.resize(static_cast<size_t>(c.n_centers * d));
  for (int64_t k = 0; k < c.n_centers; ++k)
    write_center(c, strange, random, c.centers.data() + k * d);
  for (int64_t k = 1; k < c.n_centers; k += 5)  // the same as another one: ties
    std::copy_n(c.centers.data(), d, c.centers.data() + k * d);
  c.next_centers = c.centers;
  for (int32_t k = 0; k < c.n_centers; ++k)
    if (random.one_in(3)) {
      c.changed.push_back(k);
      write_center(c, strange, random, c.next_centers.data() + k * d);
    }
  char text[200];
  std::snprintf(text, sizeof text, "case %d: %d rows x %d features (%s), %d clusters%s%s%s%s",
                static_cast<int>(i), static_cast<int>(c.n_rows), static_cast<int>(d), kind.name,
                static_cast<int>(c.n_centers), ignores ? ", ignored codes" : "",
                c.weight.empty() ? "" : ", weights of rows",
                c.feature_weight.empty() ? "" : ", weights of features",
                c.tie_key ? ", ties by hash" : ", ties to the lowest");
  c.text = text;
  return c;
}

// What the passes gave: (pass, bytes).
class Outputs {
 public:
  template <class T>
  void add(const char* pass, const T* values, int64_t n) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(values);
    all_.emplace_back(pass, std::vector<uint8_t>(bytes, bytes + n * int64_t{sizeof(T)}));
  }
  template <class T>
  void add(const char* pass, const std::vector<T>& values) {
    add(pass, values.data(), static_cast<int64_t>(values.size()));
  }
  size_t size() const { return all_.size(); }
  size_t n_bytes() const {
    size_t sum = 0;
    for (const auto& [pass, bytes] : all_) sum += bytes.size();
    return sum;
  }
  // The first pass that differs, or null.
  const char* difference(const Outputs& other) const {
    for (size_t i = 0; i < all_.size(); ++i)
      if (i >= other.all_.size() || all_[i] != other.all_[i]) return all_[i].first.c_str();
    return all_.size() == other.all_.size() ? nullptr : "number of passes";
  }

 private:
  std::vector<std::pair<std::string, std::vector<uint8_t>>> all_;
};

struct TallyResult {
  TallyResult(const Case& c)
      : counts(static_cast<size_t>(c.n_centers * c.layout.n_cells())),
        sizes(static_cast<size_t>(c.n_centers)),
        labels(static_cast<size_t>(c.n_rows)),
        distances(static_cast<size_t>(c.n_rows)) {}
  void add_to(Outputs& out, const char* pass) const {
    out.add(pass, counts);
    out.add(pass, sizes);
    out.add(pass, labels);
    out.add(pass, distances);
    out.add(pass, &cost, 1);
    out.add(pass, &fingerprint, 1);
  }
  void add(const TallySum& sum) {
    cost += sum.cost;
    fingerprint += sum.fingerprint;
  }
  std::vector<int64_t> counts, sizes;
  std::vector<int32_t> labels;
  std::vector<uint32_t> distances;
  int64_t cost = 0;
  uint64_t fingerprint = 0;
};

TallyResult run_tally(const Case& c, const Block& block, const std::vector<int32_t>& centers) {
  TallyResult found(c);
  const TallyOut out{found.counts.data(), found.sizes.data(), found.labels.data(),
                     found.distances.data()};
  found.add(tally(block, c.with(centers), c.tie_key, out, c.threads));
  return found;
}

Buffer run_packing(const Case& c, Outputs& out) {
  const int64_t d = c.layout.n_features, n_bytes = c.n_rows * c.layout.stride;
  Buffer packed(n_bytes);
  std::vector<CodeColumn> columns;
  for (const auto& column : c.columns) columns.push_back({column.data(), 4});
  std::vector<uint32_t> largest(static_cast<size_t>(d));
  pack_columns(c.layout, columns, c.n_rows, packed.data(), largest, c.threads);
  out.add("pack_columns", packed.data(), n_bytes);
  out.add("pack_columns, largest codes", largest);
  if (c.layout.sparse_features.empty()) {
    std::vector<uint8_t> matrix(static_cast<size_t>(c.n_rows * d));
    std::vector<uint8_t> remap(static_cast<size_t>(d * 256)), seen(remap.size());
    for (int64_t j = 0; j < d; ++j) {  // code v is written as byte 255 - v
      for (int32_t v = 0; v < c.layout.n_codes[j]; ++v)
        remap[j * 256 + 255 - v] = static_cast<uint8_t>(v);
      for (int64_t r = 0; r < c.n_rows; ++r)
        matrix[r * d + j] = static_cast<uint8_t>(255 - c.columns[j][r]);
    }
    Buffer from_matrix(n_bytes);
    pack_matrix(c.layout, matrix.data(), remap.data(), c.n_rows, from_matrix.data(), c.threads);
    out.add("pack_matrix", from_matrix.data(), n_bytes);
    presence(matrix.data(), c.n_rows, d, seen.data(), c.threads);
    out.add("presence", seen);
  }
  return packed;
}

// What one row after the other says: whether distances and nearest distances are those.
bool distances_are_right(const Case& c, const std::vector<uint32_t>& distances,
                         const TallyResult& tally) {
  for (int64_t r = 0; r < c.n_rows; ++r) {
    uint32_t nearest = std::numeric_limits<uint32_t>::max();
    for (int64_t k = 0; k < c.n_centers; ++k) {
      uint32_t distance = 0;
      for (int64_t j = 0; j < c.layout.n_features; ++j) {
        const int32_t code = c.columns[j][r], center = c.centers[k * c.layout.n_features + j];
        const bool is_near =
            code == c.layout.ignored[j] || (code == center && center != c.layout.ignored[j]);
        if (!is_near) distance += c.feature_weight.empty() ? 1 : c.feature_weight[j];
      }
      if (distance != distances[r * c.n_centers + k]) return false;
      nearest = std::min(nearest, distance);
    }
    if (tally.distances[r] != nearest) return false;
    if (distances[r * c.n_centers + tally.labels[r]] != nearest) return false;
  }
  return true;
}

template <class D>
void run_candidates(const Case& c, const Block& block, const TallyResult& tally, Outputs& out) {
  std::vector<D> current;  // some rows nearer, some not
  for (size_t r = 0; r < tally.distances.size(); ++r)
    current.push_back(static_cast<D>(tally.distances[r] + r % 3));
  const Centers centers = c.with(c.next_centers);
  std::vector<D> distances(static_cast<size_t>(c.n_centers * c.n_rows));
  std::vector<int64_t> totals(
      static_cast<size_t>((c.n_rows + kTaskRows - 1) / kTaskRows * c.n_centers));
  candidate_totals<D>(block, centers, current.data(), distances.data(), totals.data(), c.threads);
  out.add("candidate_totals", distances);
  out.add("candidate_totals", totals);
  const NearerRows<D> found = nearer<D>(block, centers, current.data(), c.threads);
  out.add("nearer", found.start);
  out.add("nearer", found.rows);
  out.add("nearer", found.distances);
}

void fail(const Case& c, const char* isa, const char* what) {
  std::printf("%s: %s is wrong. %s\n", isa, what, c.text.c_str());
  std::exit(1);
}

// Rows in another layout than that of the fit: labels, and so ties, must be as there.
void run_with_room(const Case& c, const TallyResult& tally, const char* isa, Outputs& out) {
  const Case other = c.with_room();
  const Buffer packed = run_packing(other, out);
  const TallyResult found = run_tally(other, other.block(packed), c.centers);
  found.add_to(out, "tally in another layout");
  if (found.labels != tally.labels || found.fingerprint != tally.fingerprint)
    fail(c, isa, "a tally in another layout, against that of the fit,");
}

// Prices for the features of a case; the last code of some is no value.
class Prices {
 public:
  Prices(const Case& c, uint64_t seed) : c_(c) {
    Random random(seed);
    const int64_t k = c.n_centers, dearest = pick({3, 100, 3000, 15000}, random.below(4));
    resolution_ = static_cast<int>(random.between(0, 11)) - 1;
    offsets_.push_back(0);
    for (int64_t j = 0; j < c.layout.n_features; ++j) {
      const int32_t n_codes = c.layout.n_codes[j];
      n_values_.push_back(n_codes > 1 && random.one_in(3) ? n_codes - 1 : n_codes);
      offsets_.push_back(offsets_.back() + (n_values_[j] > 256 ? 0 : n_values_[j]));
    }
    for (int64_t i = 0; i < k * offsets_.back(); ++i)
      prices_.push_back(static_cast<uint32_t>(random.below(dearest)));
    for (int64_t i = 0; i < k; ++i) base_.push_back(static_cast<uint32_t>(random.below(500)));
    for (int64_t i = 5; i < k; i += 7) {  // the same as another one: ties
      base_[i] = base_[0];
      std::copy_n(prices_.data(), offsets_.back(), prices_.data() + i * offsets_.back());
    }
    for (int64_t j = 0; j < c.layout.n_features; ++j)
      if (n_values_[j] > 256) sparse_.push_back(sparse_feature(j, random));
  }
  Centers centers() const {
    ScoreCenters scores{prices_.data(),
                        base_.data(),
                        offsets_.data(),
                        n_values_.data(),
                        offsets_.back(),
                        resolution_,
                        {}};
    for (const Sparse& some : sparse_)
      scores.sparse.push_back({some.feature, some.usual.data(), some.shared.data(),
                               some.indptr.data(), some.clusters.data(), some.bonus.data()});
    return {c_.n_centers, std::move(scores)};
  }

 private:
  struct Sparse {
    int64_t feature;
    std::vector<uint32_t> usual{}, shared{};
    std::vector<int64_t> indptr{0};
    std::vector<int32_t> clusters{};
    std::vector<uint32_t> bonus{};
  };
  Sparse sparse_feature(int64_t j, Random& random) const {
    Sparse some{j};
    for (int64_t k = 0; k < c_.n_centers; ++k)
      some.usual.push_back(static_cast<uint32_t>(random.between(100, 900)));
    for (int64_t v = 0; v < n_values_[j]; ++v) {
      some.shared.push_back(static_cast<uint32_t>(random.below(900)));
      if (random.one_in(2)) {
        const int64_t k = random.below(c_.n_centers);
        some.clusters.push_back(static_cast<int32_t>(k));
        some.bonus.push_back(static_cast<uint32_t>(random.below(some.usual[k])));
      }
      some.indptr.push_back(static_cast<int64_t>(some.clusters.size()));
    }
    return some;
  }

  const Case& c_;
  std::vector<uint32_t> prices_, base_;
  std::vector<int64_t> offsets_;
  std::vector<int32_t> n_values_;
  int resolution_;
  std::vector<Sparse> sparse_;
};

// By scores: labels and counts, shares of rows, and both once more row by row.
void run_scores(const Case& c, const Block& block, int64_t i, const char* isa, Outputs& out) {
  const Prices prices(c, static_cast<uint64_t>(i) + 77);
  const Centers centers = prices.centers();
  const int64_t k = c.n_centers;
  TallyResult hard(c);
  const TallyOut to{hard.counts.data(), hard.sizes.data(), hard.labels.data(), nullptr};
  hard.add(tally(block, centers, c.tie_key, to, c.threads));
  hard.distances.clear();
  hard.add_to(out, "tally by scores");

  std::vector<int64_t> counts(hard.counts.size()), sizes(hard.sizes.size());
  const SoftSum sum =
      soft_tally(block, centers, c.tie_key, {counts.data(), sizes.data()}, c.threads);
  out.add("soft_tally", counts);
  out.add("soft_tally", sizes);
  const uint64_t sums[] = {sum.least.high, sum.least.low, sum.log.high, sum.log.low};
  out.add("soft_tally, sums", sums, 4);
  for (const SparseCounts& some : sum.sparse) {
    out.add("soft_tally, sparse", some.indptr);
    out.add("soft_tally, sparse", some.codes);
    out.add("soft_tally, sparse", some.counts);
  }

  std::vector<int64_t> totals(static_cast<size_t>(c.n_rows * k)), again(sizes.size());
  std::vector<uint32_t> parts(totals.size());
  std::vector<double> logs(static_cast<size_t>(c.n_rows));
  score_rows(block, centers, c.tie_key, {totals.data(), parts.data(), logs.data()}, c.threads);
  out.add("score_rows", totals);
  out.add("score_rows", parts);
  out.add("score_rows", logs);
  for (int64_t r = 0; r < c.n_rows; ++r) {
    const int64_t* total = totals.data() + r * k;
    if (total[hard.labels[r]] != *std::min_element(total, total + k))
      fail(c, isa, "a label by scores, against the totals,");
    const int64_t weight = c.weight.empty() ? 1 : c.weight[r];
    for (int64_t cluster = 0; cluster < k; ++cluster)
      again[cluster] += weight * parts[r * k + cluster];
  }
  if (again != sizes) fail(c, isa, "soft_tally, against the shares of rows,");
}

Outputs run_passes(const Case& c, int64_t i, const char* isa) {
  Outputs out;
  const Buffer packed = run_packing(c, out);
  const Block block = c.block(packed);
  run_scores(c, block, i, isa, out);
  const TallyResult first = run_tally(c, block, c.centers);
  first.add_to(out, "tally");
  run_with_room(c, first, isa, out);
  TallyResult updated = first;
  const TallyOut kept{updated.counts.data(), updated.sizes.data(), updated.labels.data(),
                      updated.distances.data()};
  updated.add(update(block, c.with(c.next_centers), c.changed, c.tie_key, kept, c.threads));
  updated.add_to(out, "update");
  Outputs before, after;
  updated.add_to(before, "update");
  run_tally(c, block, c.next_centers).add_to(after, "update");
  if (before.difference(after)) fail(c, isa, "update, against a tally of the new centers,");

  std::vector<uint32_t> found(static_cast<size_t>(c.n_rows * c.n_centers));
  distances(block, c.with(c.centers), found.data(), c.threads);
  out.add("distances", found);
  const bool is_small = c.n_rows * c.n_centers * c.layout.n_features < kSmallWork;
  if (is_small && !distances_are_right(c, found, first))
    fail(c, isa, "a distance, against its definition,");
  run_candidates<uint32_t>(c, block, first, out);
  if (c.largest_distance() < 65000) run_candidates<uint16_t>(c, block, first, out);
  for (const SparseCounts& counts :
       sparse_counts(block, first.labels.data(), c.n_centers, c.threads)) {
    out.add("sparse_counts", counts.indptr);
    out.add("sparse_counts", counts.codes);
    out.add("sparse_counts", counts.counts);
  }
  return out;
}

// How many cases went each way.
struct Ways {
  void add(const Case& c) {
    switch (choose_strategy(c.layout, c.with(c.centers), c.n_rows, kernels())) {
      case Strategy::tiles:
        ++by_tiles;
        break;
      case Strategy::planes:
        ++by_planes;
        break;
      case Strategy::cells:
        ++by_cells;
        break;
      default:
        ++by_rows;
    }
  }
  bool all() const {
    return by_tiles && by_cells && by_planes && (by_rows || !kernels().few_centers);
  }
  int by_tiles = 0, by_cells = 0, by_planes = 0, by_rows = 0;
};

void compare(const char* isa, int n_cases) {
  Ways ways;
  size_t n_outputs = 0, n_bytes = 0;
  for (int i = 0; i < n_cases; ++i) {
    const Case c = make_case(i);
    use_instruction_set("generic");
    const Outputs expected = run_passes(c, i, "generic");
    use_instruction_set(isa);
    const Outputs found = run_passes(c, i, isa);
    if (const char* pass = expected.difference(found)) fail(c, isa, pass);
    ways.add(c);
    n_outputs += found.size();
    n_bytes += found.n_bytes();
  }
  std::printf(
      "%s gives what generic gives: %d cases (rows compared by tiles %d, by cells %d, by bit "
      "planes "
      "%d, along the row %d), %zu arrays, %.1f MB\n",
      isa, n_cases, ways.by_tiles, ways.by_cells, ways.by_planes, ways.by_rows, n_outputs,
      static_cast<double>(n_bytes) / 1e6);
  if (n_cases >= kDefaultCases && !ways.all()) {
    std::printf("%s: one of these ways was never taken: nothing was tested there\n", isa);
    std::exit(1);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int n_cases = argc > 1 ? std::atoi(argv[1]) : kDefaultCases;
  int n = 0;
  const char* const* names = instruction_sets(&n);
  if (n < 2 || n_cases < 1) {
    std::puts("nothing to compare: generic is the only instruction set here, or no case asked for");
    return 2;
  }
  std::puts(
      "passes: pack_columns, pack_matrix, presence, tally in two layouts, update, distances, "
      "candidate_totals, nearer, sparse_counts; by scores tally, soft_tally, score_rows");
  for (int i = 1; i < n; ++i) compare(names[i], n_cases);
  return 0;
}
