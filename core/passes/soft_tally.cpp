// Rows shared among clusters, and their parts counted.
//
// Parts of a row are added to its lines, as its totals were summed from them: sums of 32 bits hold
// those of kMostSummed rows, and are then added to the counts. For few clusters a line holds the
// sums of all of them. For many, most rows belong to one cluster alone and are counted as in a
// tally; the parts of the others are sorted, so that one cluster's sums at a time are in the cache.
// Codes of sparse features have lines of sums as well, if these are few; else parts are kept, and
// counted feature by feature: by lines again, if clusters are few.
#include <memory>
#include <mutex>
#include <utility>

#include "centers/sixteen_plan.hpp"
#include "layout/row_hasher.hpp"
#include "passes/count_by_cluster.hpp"
#include "passes/line_map.hpp"
#include "passes/passes.hpp"
#include "passes/powers.hpp"
#include "passes/shares.hpp"
#include "passes/sparse_sums.hpp"

namespace softmodes {
namespace {

constexpr int64_t kMostSummed = 65535;  // rows in sums of 32 bits
constexpr int64_t kFewClusters = 48;    // in a line of sums
constexpr int64_t kFewAdditions = 80;   // of vectors for a row: parts need not be sorted
constexpr int64_t kFewSumBytes = int64_t{3} << 19;     // of these lines, in the cache
constexpr int64_t kMostSumBytes = int64_t{1} << 26;    // of all clusters, for one thread
constexpr int64_t kRangeRows = int64_t{1} << 16;       // whose parts are kept
constexpr int64_t kMostParts = int64_t{1} << 22;       // kept, if every row had one in each cluster
constexpr int64_t kPartsAtOnce = int64_t{1} << 18;     // that are sorted
constexpr int64_t kRangeBytes = int64_t{1} << 25;      // or whose labels are
constexpr int64_t kFewKeptLanes = 32;                  // whose parts are kept, though they be 0
constexpr int64_t kFewSparseSums = int64_t{1} << 20;   // of all sparse features, for one thread
constexpr int64_t kMostSparseSums = int64_t{1} << 24;  // if parts would be as many

struct Part {
  int32_t row;
  int32_t cluster;
  uint32_t part;
};

// How parts are counted.
enum class Way {
  together,  // lines of all clusters
  sorted,    // rows of one cluster alone as in a tally, the others cluster by cluster
  one_by_one
};

struct SoftWorker {
  SoftWorker(const ScorePlan& plan, int64_t n_sums, int64_t n_code_sums, int64_t scratch_bytes)
      : sharer(plan),
        sums(4 * n_sums),
        code_sums(4 * n_code_sums),
        size_sums(4 * plan.view().lanes()),
        scratch(scratch_bytes),
        cluster_sizes(static_cast<size_t>(plan.n_centers())),
        n_alone(cluster_sizes.size()),
        in_sums(cluster_sizes.size()) {}
  Sharer sharer;
  Buffer sums;
  Buffer code_sums;  // by code, of all sparse features or of one, and lane
  Buffer size_sums;  // by lane
  Buffer scratch;    // by sixteens
  std::vector<int64_t> cluster_sizes;
  std::vector<int64_t> n_alone;  // rows by the cluster that they belong to alone
  int64_t n_summed = 0;          // rows in sums
  std::vector<int64_t> in_sums;  // parts by cluster, if sums are by bit
  std::vector<Part> parts;
  std::vector<RowPart> sorted;
  std::vector<int32_t> codes;      // of a feature, of some rows
  std::vector<SparseSums> sparse;  // of its own rows, if these are few
  Sum128 least, log;
};

class SoftPass {
 public:
  SoftPass(const Block& block, const Centers& centers, Ties ties, const SoftOut& out,
           const Threads& threads)
      : kernels_(kernels()),
        block_(block),
        plan_(block.layout, centers, block.n_rows, kernels_),
        powers_(powers_of(std::get<ScoreCenters>(centers.kind).resolution)),
        ties_(ties),
        out_(out),
        k_(centers.n),
        counting_(counting_threads(block, threads)),
        threads_(plan_.by_cells() ? counting_ : useful_threads(block, centers.n, threads)),
        way_(plan_.by_cells() ? Way::one_by_one  // sums by line are as many as lines
                              : way_of(block.layout, k_, block.weight, kernels_)),
        sums_sparse_(sums_sparse(block.layout, k_, way_, block.n_rows)),
        keeps_all_parts_(keeps_all_parts(block.layout, k_, way_, block.n_rows)),
        keeps_lanes_(keeps_lanes(block.layout, k_, way_, block.n_rows, kernels_)),
        map_(block.layout, lines_of(block.layout, k_, way_, kernels_)),
        counters_(block.layout),
        found_(block.layout.sparse_features.size()) {
    if (!counts_at_once()) sparse_ = sparse_sums();
    if (way_ == Way::sorted) alone_.resize(static_cast<size_t>(k_ * block.layout.n_cells()));
    if (by_quads() && SixteenPlan::suits(block.layout, k_, kernels_))
      sixteens_ = std::make_unique<SixteenPlan>(block.layout, plan_.view());
    const int64_t scratch = sixteens_ ? SixteenPlan::scratch_bytes(block.layout) : 0;
    if (keeps_lanes())
      kept_ = Buffer(4 * together_lanes(k_, kernels_) *
                     std::min(block.n_rows, range_rows(block.layout, k_, way_, block.n_rows)));
    for (int t = 0; t < threads_.n; ++t)
      workers_.push_back(std::make_unique<SoftWorker>(plan_, n_sums(), n_code_sums(), scratch));
    if (sums_sparse() && way_ != Way::together)
      for (auto& w : workers_) w->sparse = sparse_sums();
  }

  SoftSum run() {
    const int64_t at_once = range_rows(block_.layout, k_, way_, block_.n_rows);
    for (int64_t first = 0; first < block_.n_rows; first += at_once)
      range(first, std::min(at_once, block_.n_rows - first));
    SoftSum total;
    for (auto& w : workers_) {
      empty_sums(*w);
      total.least += w->least;
      total.log += w->log;
      for (int64_t c = 0; c < k_; ++c) out_.cluster_sizes[c] += w->cluster_sizes[c];
      for (size_t i = 0; i < w->sparse.size(); ++i) sparse_[i].add(w->sparse[i]);
    }
    if (way_ == Way::sorted) add_alone(total);
    run_tasks(static_cast<int64_t>(sparse_.size()), counting_,
              [&](int64_t i, int, const Stop&) { found_[i] = sparse_[i].counts(); });
    total.sparse = std::move(found_);
    return total;
  }

  static Way way_of(const Layout& layout, int64_t k, bool weighted, const Kernels& kernels) {
    if (weighted) return Way::one_by_one;
    const int64_t lanes = together_lanes(k, kernels);
    const LineShape few = ScorePlan::shape_of(layout, 4 * lanes);
    const int64_t additions = few.n_columns() * ceil_div(4 * lanes, kernels.vector_bytes);
    if (!few.n_columns()) return Way::together;
    if ((k <= kFewClusters || additions <= kFewAdditions) && lanes <= kernels.vector_bytes * 2 &&
        few.n_lines() * 4 * lanes <= kFewSumBytes)
      return Way::together;
    LineShape many = few;
    many.nibbles = true;
    return many.n_lines() * 4 * k <= kMostSumBytes ? Way::sorted : Way::one_by_one;
  }
  static LineShape lines_of(const Layout& layout, int64_t k, Way way, const Kernels& kernels) {
    LineShape shape = ScorePlan::shape_of(layout, 4 * together_lanes(k, kernels));
    if (way != Way::together) shape.nibbles = true;
    return shape;
  }
  static int64_t together_lanes(int64_t k, const Kernels& kernels) {
    return ScorePlan::lanes_of(k, 4, kernels);
  }
  // Whether parts are added to the counts of sparse features at once, without being kept: where
  // sums are few, or lines of them no more than rows.
  static bool sums_sparse(const Layout& layout, int64_t k, Way way, int64_t n_rows) {
    const int64_t n_codes = n_sparse_codes(layout);
    const bool lines = way == Way::together && n_codes <= n_rows;
    return n_codes && k * n_codes <= (lines ? kMostSparseSums : kFewSparseSums);
  }
  static int64_t n_sparse_codes(const Layout& layout) {
    int64_t n = 0;
    for (const int32_t j : layout.sparse_features) n += layout.n_codes[j];
    return n;
  }
  static bool keeps_all_parts(const Layout& layout, int64_t k, Way way, int64_t n_rows) {
    return way == Way::one_by_one ||
           (!layout.sparse_features.empty() && !sums_sparse(layout, k, way, n_rows));
  }
  // Whether they are kept by row and lane: to add a line takes no longer than to add a part.
  static bool keeps_lanes(const Layout& layout, int64_t k, Way way, int64_t n_rows,
                          const Kernels& kernels) {
    return way == Way::together && keeps_all_parts(layout, k, way, n_rows) &&
           together_lanes(k, kernels) <= kFewKeptLanes;
  }
  // How many codes of sparse features have lines of sums.
  static int64_t n_code_lines(const Layout& layout, int64_t k, Way way, int64_t n_rows,
                              const Kernels& kernels) {
    if (sums_sparse(layout, k, way, n_rows)) return n_sparse_codes(layout);
    int64_t most = 0;
    for (const int32_t j : layout.sparse_features)
      most = std::max<int64_t>(most, layout.n_codes[j]);
    return keeps_lanes(layout, k, way, n_rows, kernels) ? most : 0;
  }
  static int64_t range_rows(const Layout& layout, int64_t k, Way way, int64_t n_rows) {
    if (keeps_all_parts(layout, k, way, n_rows))
      return std::min(std::clamp(kMostParts / k, kTaskRows, kRangeRows), kMostSummed);
    return std::max(kRangeRows, kRangeBytes / layout.stride);
  }

 private:
  int64_t n_sums() const {
    const int64_t lines = map_.shape().n_lines();
    switch (way_) {
      case Way::together:
        return lines * together_lanes(k_, kernels_);
      case Way::sorted:
        return (by_bits() ? counters_.size() : lines) * k_;
      default:
        return 0;
    }
  }
  int64_t n_code_sums() const {
    if (way_ != Way::together) return 0;
    return n_code_lines(block_.layout, k_, way_, block_.n_rows, kernels_) *
           together_lanes(k_, kernels_);
  }
  bool sums_sparse() const { return sums_sparse_; }
  bool keeps_all_parts() const { return keeps_all_parts_; }
  bool keeps_lanes() const { return keeps_lanes_; }
  // Whether the parts of all rows are kept: then one sparse feature after the other is counted.
  bool counts_at_once() const {
    return block_.n_rows && keeps_all_parts() && !sums_sparse() &&
           block_.n_rows <= range_rows(block_.layout, k_, way_, block_.n_rows);
  }
  std::vector<SparseSums> sparse_sums() const {
    std::vector<SparseSums> sums;
    const int64_t most = sums_sparse() ? kMostSparseSums : SparseSums::kMostCounts;
    for (const int32_t j : block_.layout.sparse_features)
      sums.emplace_back(k_, block_.layout.n_codes[j], most);
    return sums;
  }

  void range(int64_t first, int64_t n) {
    if (way_ == Way::sorted) labels_.resize(static_cast<size_t>(n));
    for (auto& w : workers_) w->parts.clear();
    // Long rows, of which there may be few: some for every thread.
    const int64_t some =
        plan_.by_totals() ? std::min(kTaskRows, ceil_div(n, int64_t{2} * threads_.n)) : kTaskRows;
    run_tasks(ceil_div(n, some), threads_, [&](int64_t i, int thread, const Stop& stop) {
      if (stop.requested()) return;
      task(first, i * some, std::min(some, n - i * some), *workers_[thread]);
    });
    const Block rows = block_.rows_from(first, n);
    if (way_ == Way::sorted)
      count_by_cluster(counters_, rows, labels_.data(), k_, alone_.data(), counting_);
    if (keeps_all_parts()) count_kept(rows);
  }

  // Rows that belong to one cluster alone: their counts, and what they cost.
  void add_alone(SoftSum& total) {
    const Layout& layout = block_.layout;
    const Floor& floor = plan_.floor();
    for (size_t i = 0; i < alone_.size(); ++i) out_.counts[i] += alone_[i] << kPartBits;
    for (int64_t c = 0; by_levels() && c < k_; ++c) {
      for (const auto& w : workers_)
        total.least.add_product(static_cast<uint64_t>(w->n_alone[c]), plan_.view().start[c]);
      for (int64_t j = 0; j < layout.n_features; ++j) {
        const int64_t* counts = alone_.data() + c * layout.n_cells() + layout.offsets[j];
        for (int64_t v = 0; v < floor.n_values(j); ++v)
          total.least.add_product(static_cast<uint64_t>(counts[v]), floor.above(c, j, v));
      }
    }
  }

  // Rows start + (first .. first + n) of the block.
  void task(int64_t start, int64_t first, int64_t n, SoftWorker& w) {
    const size_t n_before = w.parts.size();
    if (w.n_summed + n > kMostSummed) empty_sums(w);
    if (way_ == Way::together) w.n_summed += n;
    int64_t n_done = 0;
    if (by_quads())
      n_done = sixteens_ ? add_sixteens(start + first, n, w) : add_quads(start + first, n, w);
    if (way_ == Way::together)
      return w.sharer.share_in_place(
          kernels_, powers_, block_, start + first + n_done, n - n_done, ties_,
          [&](int64_t row, int64_t n_rows, const Shares& shares, const uint32_t* parts) {
            add_logs(row, n_rows, shares, w);
            add_together(row, n_rows, parts, w);
            if (keeps_all_parts()) keep_parts(row - start, n_rows, parts, w);
          });
    const auto take = [&](int64_t row, int64_t n_rows, const Shares& shares, const uint32_t*) {
      add_logs(row, n_rows, shares, w);
      if (!w.sparse.empty()) sum_sparse(row, n_rows, shares, w);
      list_parts(start, row - start, n_rows, shares, w);
      if (way_ == Way::sorted && !keeps_all_parts() &&
          static_cast<int64_t>(w.parts.size()) > kPartsAtOnce) {
        add_sorted(start, 0, w);
        w.parts.clear();
      }
    };
    w.sharer.share(kernels_, powers_, block_, start + first, n, ties_, by_levels(), take);
    if (way_ == Way::sorted) {
      add_sorted(start, n_before, w);
      if (!keeps_all_parts()) w.parts.clear();
    }
  }

  // By levels nothing but its cluster is known of many a row; what these cost, their counts tell.
  bool by_levels() const { return way_ == Way::sorted && plan_.has_levels(); }
  // Where counting bits counts codes, a part is added to the set bits of its row.
  bool by_bits() const {
    const CountShape& shape = counters_.shape();
    return way_ == Way::sorted && kernels_.has_bit_parts && !shape.mixed_pieces &&
           !shape.few_pieces && !shape.n_bytes;
  }
  bool by_quads() const {
    const ScoreView& view = plan_.view();
    return kernels_.has_quads && way_ == Way::together && view.whole && view.group == kFewLanes &&
           view.shape.nibbles == map_.shape().nibbles && block_.layout.sparse_features.empty() &&
           !view.n_wide && powers_.resolution >= 0;
  }
  // Returns how many rows are done.
  int64_t add_quads(int64_t first, int64_t n, SoftWorker& w) const {
    uint64_t least = 0, log = 0;
    const QuadSums out{w.cluster_sizes.data(), &least, &log};
    const int64_t n_fours = n / 4 * 4;
    for (int64_t r = 0; r < n_fours; r += kTileRows) {
      const TileRows rows{block_.rows + (first + r) * block_.layout.stride,
                          std::min<int64_t>(kTileRows, n_fours - r)};
      kernels_.soft_by_quads(plan_.view(), powers_, rows, ties_, w.sums.as<uint32_t>(), out);
    }
    w.least.add(least);
    w.log.add(log);
    return n_fours;
  }

  int64_t add_sixteens(int64_t first, int64_t n, SoftWorker& w) const {
    uint64_t least = 0, log = 0;
    const QuadSums out{w.cluster_sizes.data(), &least, &log};
    kernels_.soft_by_sixteens(plan_.view(), sixteens_->view(), powers_,
                              {block_.rows + first * block_.layout.stride, n}, ties_,
                              w.scratch.data(), w.sums.as<uint32_t>(), out);
    w.least.add(least);
    w.log.add(log);
    return n;
  }

  void add_logs(int64_t row, int64_t n, const Shares& shares, SoftWorker& w) const {
    if (block_.weight) {
      for (int64_t r = 0; r < n; ++r) {
        const auto weight = static_cast<uint64_t>(block_.weight[row + r]);
        w.least.add_product(weight, shares.least[r]);
        w.log.add_product(weight, shares.log[r]);
      }
      return;
    }
    const bool all = !by_levels();
    uint64_t least = 0, log = 0;
    for (int64_t r = 0; r < n; ++r) {
      least += all || shares.n[r] > 1 ? shares.least[r] : 0;
      log += shares.log[r];
    }
    w.least.add(least);
    w.log.add(log);
  }

  // Of parts by row and lane.
  void add_together(int64_t row, int64_t n, const uint32_t* parts, SoftWorker& w) const {
    const int64_t lanes = together_lanes(k_, kernels_), step = plan_.view().lanes();
    const Layout& layout = block_.layout;
    const uint8_t* rows = block_.rows + row * layout.stride;
    kernels_.add_to_lines(nullptr, lanes, n, parts, step, w.size_sums.as<uint32_t>());
    if (map_.shape().n_columns())
      kernels_.add_parts(map_.shape(), lanes, rows, n, parts, step, w.sums.as<uint32_t>());
    if (!sums_sparse()) return;
    auto* sums = w.code_sums.as<uint32_t>();
    for (const int32_t j : layout.sparse_features) {
      take_codes(layout, rows, n, j, w.codes);
      kernels_.add_to_lines(w.codes.data(), lanes, n, parts, step, sums);
      sums += layout.n_codes[j] * lanes;
    }
  }

  void sum_sparse(int64_t row, int64_t n, const Shares& shares, SoftWorker& w) const {
    const Layout& layout = block_.layout;
    for (size_t f = 0; f < w.sparse.size(); ++f) {
      const int64_t j = layout.sparse_features[f];
      for (int64_t r = row, i = 0; r < row + n; ++r) {
        const int32_t code = layout.code(block_.rows + r * layout.stride, j);
        const int64_t weight = block_.weight ? block_.weight[r] : 1;
        for (const int64_t end = i + shares.n[r - row]; i < end; ++i)
          w.sparse[f].add(shares.cluster[i], code, weight * shares.part[i]);
      }
    }
  }

  void keep_parts(int64_t row, int64_t n, const uint32_t* parts, SoftWorker& w) const {
    const int64_t lanes = together_lanes(k_, kernels_);
    for (int64_t r = 0; r < n; ++r, parts += plan_.view().lanes())
      if (keeps_lanes())
        std::copy_n(parts, lanes, kept_.as<uint32_t>() + (row + r) * lanes);
      else
        for (int32_t c = 0; c < k_; ++c)
          if (parts[c]) w.parts.push_back({static_cast<int32_t>(row + r), c, parts[c]});
  }

  // Labels of rows that belong to one cluster, parts of the others; or all parts. `row` counts from
  // the start of the range.
  void list_parts(int64_t start, int64_t row, int64_t n, const Shares& shares, SoftWorker& w) {
    int64_t n_parts = 0;
    for (int64_t r = 0; r < n; ++r) n_parts += shares.n[r];
    const size_t n_before = w.parts.size();
    w.parts.resize(n_before + static_cast<size_t>(n_parts));
    Part* next = w.parts.data() + n_before;
    for (int64_t r = 0, i = 0; r < n; ++r) {
      const bool alone = shares.n[r] == 1;
      const int64_t weight = block_.weight ? block_.weight[start + row + r] : 1;
      if (way_ == Way::sorted) {
        labels_[row + r] = alone ? shares.cluster[i] : static_cast<int32_t>(k_);
        w.n_alone[shares.cluster[i]] += alone;
      }
      const int64_t keep = !alone || keeps_all_parts();
      for (const int64_t end = i + shares.n[r]; i < end; ++i) {
        w.cluster_sizes[shares.cluster[i]] += weight * shares.part[i];
        *next = {static_cast<int32_t>(row + r), shares.cluster[i], shares.part[i]};
        next += keep;
      }
    }
    w.parts.resize(static_cast<size_t>(next - w.parts.data()));
  }

  // Adds the parts from `from` on of rows with several to the sums of their clusters.
  void add_sorted(int64_t start, size_t from, SoftWorker& w) {
    const std::vector<Part>& parts = w.parts;
    for (size_t i = from; i < parts.size(); ++i)
      w.n_summed += labels_[parts[i].row] == k_ && (i == from || parts[i].row != parts[i - 1].row);
    std::vector<int64_t> end(static_cast<size_t>(k_) + 1);
    for (size_t i = from; i < parts.size(); ++i)
      if (labels_[parts[i].row] == k_) ++end[parts[i].cluster + 1];
    for (int64_t c = 0; c < k_; ++c) end[c + 1] += end[c];
    w.sorted.resize(static_cast<size_t>(end[k_]));
    for (size_t i = from; i < parts.size(); ++i)
      if (labels_[parts[i].row] == k_)
        w.sorted[end[parts[i].cluster]++] = {parts[i].row, parts[i].part};
    const uint8_t* rows = block_.rows + start * block_.layout.stride;
    for (int64_t c = 0, i = 0; c < k_; i = end[c++])
      by_bits() ? add_bits(c, rows, w.sorted.data() + i, end[c] - i, w)
                : add_lines(c, rows, w.sorted.data() + i, end[c] - i, w);
  }
  void add_lines(int64_t c, const uint8_t* rows, const RowPart* parts, int64_t n,
                 SoftWorker& w) const {
    uint32_t* sums = w.sums.as<uint32_t>() + c * map_.shape().n_lines();
    for (int64_t i = 0; i < n; ++i)
      map_.add(rows + parts[i].row * block_.layout.stride, parts[i].part, sums);
  }
  void add_bits(int64_t c, const uint8_t* rows, const RowPart* parts, int64_t n,
                SoftWorker& w) const {
    if (!n) return;
    for (int64_t i = 0; i < n; ++i) w.in_sums[c] += parts[i].part;
    kernels_.add_bit_parts(rows, block_.layout.stride, 8 * block_.layout.plain_end, parts, n,
                           w.sums.as<uint32_t>() + c * counters_.size());
  }

  void empty_sums(SoftWorker& w) {
    if (!w.n_summed) return;
    w.n_summed = 0;
    if (way_ == Way::one_by_one) return;
    auto* sums = w.sums.as<uint32_t>();
    const int64_t lines = map_.shape().n_lines();
    const bool together = way_ == Way::together;
    const int64_t lanes = together ? together_lanes(k_, kernels_) : 1;
    const std::lock_guard<std::mutex> lock(adding_);
    if (together) map_.add_to_cells(sums, lanes, k_, out_.counts);
    for (int64_t c = 0; !together && c < k_; ++c) {
      int64_t* cells = out_.counts + c * block_.layout.n_cells();
      if (by_bits())
        counters_.add_to_cells(sums + c * counters_.size(), std::exchange(w.in_sums[c], 0), cells);
      else
        map_.add_to_cells(sums + c * lines, 1, 1, cells);
    }
    std::fill_n(sums, n_sums(), 0);
    if (!together) return;
    auto* sizes = w.size_sums.as<uint32_t>();
    for (int64_t c = 0; c < k_; ++c) out_.cluster_sizes[c] += std::exchange(sizes[c], 0);
    if (sums_sparse()) empty_code_sums(w);
  }
  void empty_code_sums(SoftWorker& w) {
    uint32_t* lines = w.code_sums.as<uint32_t>();
    for (size_t i = 0; i < sparse_.size(); ++i) {
      const int64_t n_codes = block_.layout.n_codes[block_.layout.sparse_features[i]];
      empty_lines(n_codes, lines, sparse_[i]);
      lines += n_codes * together_lanes(k_, kernels_);
    }
  }
  void empty_lines(int64_t n_codes, uint32_t* line, SparseSums& sums) const {
    const int64_t lanes = together_lanes(k_, kernels_);
    for (int64_t v = 0; v < n_codes; ++v, line += lanes)
      for (int64_t c = 0; c < lanes; ++c)
        if (const uint32_t sum = std::exchange(line[c], 0); sum && c < k_) sums.add(c, v, sum);
  }

  // Parts of all workers, of rows of a range.
  void count_kept(const Block& rows) {
    if (way_ == Way::one_by_one) {
      std::vector<std::vector<Part>> by_cluster(static_cast<size_t>(k_));
      for (const auto& w : workers_)
        for (const Part& part : w->parts) by_cluster[part.cluster].push_back(part);
      run_tasks(k_, counting_,  // no two threads at one cluster
                [&](int64_t c, int, const Stop&) { count_cells(rows, by_cluster[c]); });
    }
    if (sums_sparse()) return;
    const auto& features = block_.layout.sparse_features;
    const Threads some = counting_.at_most(static_cast<int64_t>(workers_.size()));
    run_tasks(static_cast<int64_t>(features.size()), some, [&](int64_t i, int thread, const Stop&) {
      const auto count = [&](SparseSums& sums) {
        if (keeps_lanes())
          add_lanes(rows, features[i], *workers_[thread], sums);
        else
          for (const auto& w : workers_) add_sparse(rows, w->parts, features[i], sums);
        sums.add_up();
      };
      if (!counts_at_once()) return count(sparse_[i]);
      SparseSums sums(k_, block_.layout.n_codes[features[i]]);
      count(sums);
      found_[i] = sums.counts();
    });
  }

  void add_lanes(const Block& rows, int64_t feature, SoftWorker& w, SparseSums& sums) const {
    const Layout& layout = rows.layout;
    auto* lines = w.code_sums.as<uint32_t>();
    take_codes(layout, rows.rows, rows.n_rows, feature, w.codes);
    const int64_t lanes = together_lanes(k_, kernels_);
    kernels_.add_to_lines(w.codes.data(), lanes, rows.n_rows, kept_.as<uint32_t>(), lanes, lines);
    empty_lines(layout.n_codes[feature], lines, sums);
  }

  static void take_codes(const Layout& layout, const uint8_t* rows, int64_t n, int64_t feature,
                         std::vector<int32_t>& codes) {
    codes.resize(static_cast<size_t>(n));
    for (int64_t r = 0; r < n; ++r) codes[r] = layout.code(rows + r * layout.stride, feature);
  }

  void add_sparse(const Block& rows, const std::vector<Part>& parts, int64_t feature,
                  SparseSums& sums) const {
    for (const Part& part : parts)
      sums.add(part.cluster, rows.layout.code(rows.rows + part.row * rows.layout.stride, feature),
               amount(rows, part));
  }

  static int64_t amount(const Block& rows, const Part& part) {
    return (rows.weight ? rows.weight[part.row] : 1) * int64_t{part.part};
  }

  void count_cells(const Block& rows, const std::vector<Part>& parts) const {
    const Layout& layout = rows.layout;
    // Some features at a time: their counts stay in the cache.
    const int64_t at_once = features_in_cache(8 * layout.n_cells(), layout.n_features);
    for (int64_t first = 0; first < layout.n_features; first += at_once) {
      const int64_t end = std::min(first + at_once, layout.n_features);
      for (const Part& part : parts) {
        int64_t* cells = out_.counts + part.cluster * layout.n_cells();
        const uint8_t* row = rows.rows + part.row * layout.stride;
        const int64_t more = amount(rows, part);
        for (int64_t j = first; j < end; ++j)
          if (layout.bits[j] <= 8) cells[layout.offsets[j] + layout.code(row, j)] += more;
      }
    }
  }

  const Kernels& kernels_;
  const Block& block_;
  ScorePlan plan_;
  Powers powers_;
  Ties ties_;
  SoftOut out_;
  int64_t k_;
  Threads counting_, threads_;
  Way way_;
  bool sums_sparse_, keeps_all_parts_, keeps_lanes_;
  LineMap map_;
  CounterMap counters_;
  std::unique_ptr<SixteenPlan> sixteens_;
  std::vector<std::unique_ptr<SoftWorker>> workers_;
  std::vector<int64_t> alone_;   // counts of rows that belong to one cluster alone
  std::vector<int32_t> labels_;  // of the rows of a range; k_: several clusters
  std::vector<SparseSums> sparse_;
  std::vector<SparseCounts> found_;  // by sparse feature
  Buffer kept_;                      // parts of a range, by row and lane
  std::mutex adding_;
};

}  // namespace

SoftSum soft_tally(const Block& block, const Centers& centers, std::optional<uint64_t> tie_key,
                   const SoftOut& out, const Threads& threads) {
  const RowHasher hasher(block);
  const Ties ties{tie_key.has_value(), tie_key.value_or(0), hasher.view()};
  return SoftPass(block, centers, ties, out, threads).run();
}

int64_t score_bytes(const Layout& layout, int64_t n_centers, const Threads& threads) {
  const Kernels& isa = kernels();
  const CounterMap counters(layout);
  const int64_t lanes = n_centers + isa.vector_bytes;
  const bool sixteens = SixteenPlan::suits(layout, n_centers, isa);
  int64_t most = 0;
  using Kind = std::pair<bool, int64_t>;  // whether rows have weights, and how many they are
  for (const auto& [weighted, n_rows] :
       {Kind{false, 0}, Kind{false, kMostRowsAtOnce}, Kind{true, 0}}) {
    const Way way = SoftPass::way_of(layout, n_centers, weighted, isa);
    const LineShape lines = SoftPass::lines_of(layout, n_centers, way, isa);
    int64_t sums = 0;
    if (way != Way::one_by_one)
      sums = 4 * std::max(lines.n_lines(), counters.size()) *
             (way == Way::together ? SoftPass::together_lanes(n_centers, isa) : n_centers);
    const int64_t range = SoftPass::range_rows(layout, n_centers, way, n_rows);
    // Where all parts are kept, there may be one for every row and cluster.
    const bool all = SoftPass::keeps_all_parts(layout, n_centers, way, n_rows);
    const int64_t n_parts =
        all ? range * n_centers / threads.n : kPartsAtOnce + kTileRows * n_centers;
    const int64_t parts = static_cast<int64_t>(2 * sizeof(Part)) * n_parts;
    const int64_t scratch = sixteens ? SixteenPlan::scratch_bytes(layout) : 0;
    const int64_t n_codes = SoftPass::n_code_lines(layout, n_centers, way, n_rows, isa);
    const int64_t own = std::max(8 * n_centers, 4 * lanes) * n_codes;
    const int64_t worker =
        Sharer::bytes(layout, lanes) + sums + scratch + own + 8 * n_centers + parts;
    const int64_t one = layout.sparse_features.empty() ? 0 : SparseSums::kMostCounts;
    const int64_t sparse = 8 * std::max(one, n_centers * n_codes);
    const int64_t alone = way == Way::sorted ? 8 * n_centers * layout.n_cells() : 0;
    most = std::max(most, 4 * range + alone + sparse + threads.n * worker +
                              count_by_cluster_bytes(counters, layout, range, n_centers, threads));
  }
  return most + (sixteens ? SixteenPlan::bytes(layout) : 0) + RowHasher::bytes(layout) +
         ScorePlan::most_bytes(layout, n_centers, isa);
}

}  // namespace softmodes
