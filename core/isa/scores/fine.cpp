// Many clusters: prices in fine levels first, by look-up, and exact totals only of clusters that
// may still be the cheapest, or within a row's reach. For AVX-512, which looks up 32 numbers of 16
// bits at once.
//
// A price is unit * level + error, and `start` has the lower bound of the errors, as among coarse
// levels. But a level has 16 bits: errors are small, hardly any cluster comes into question that is
// out of reach, and sums need not be emptied. They are added with saturation; the plan sees to it
// that what is in reach of the least stays below.
//
// A cluster that comes into question for a row is a hit. Its level tells the total up to `slack`,
// less than 2^16, so that the exact total is needed modulo 2^16 only. Where all fields are counted
// by bits, that is a sum over the set bits of the row: additions under a mask.
#include "isa/scores/lines.hpp"
#include "isa/scores/share.hpp"
#include "isa/tiles/transpose.hpp"

namespace softmodes::SOFTMODES_ISA {

#if defined(__AVX512F__)

constexpr int kWords = kWidth / 2;      // of 16 bits in a vector
constexpr int kFineVectors = 4;         // of rows, whose levels of a quad are summed in registers
constexpr int64_t kFineColumns = 64;    // that stay in L1 while all centers pass
constexpr int64_t kFineTable = kWords;  // levels of a column
constexpr int64_t kTileWords = kTileRows / kWords;

inline V load_words(const uint16_t* p) { return _mm512_loadu_si512(p); }
inline void store_words(uint16_t* p, V x) { _mm512_storeu_si512(p, x); }

// In place. Left to itself, GCC 12 copies every sum in every step.
SOFTMODES_INLINE V add_saturated(V sum, V x) {
  asm("vpaddusw %1, %0, %0" : "+v"(sum) : "v"(x));
  return sum;
}
// Tables that are used for several vectors of rows, loaded once.
SOFTMODES_INLINE V load_table(const uint16_t* p) {
  V table = load_words(p);
  asm("" : "+v"(table));
  return table;
}

// Columns of bytes -> those of a fine view, 16 bits for each row.
static void fill_columns(const FineView& view, const uint8_t* bytes, int64_t n_rows,
                         uint16_t* words) {
  const auto widened = [](const uint8_t* p) {
    return _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  };
  for (int64_t i = 0; i < view.n_columns; ++i, words += kTileRows) {
    const uint8_t* first = bytes + view.columns[i].byte * kTileRows;
    const __m128i shift = _mm_cvtsi32_si128(view.columns[i].shift);
    for (int64_t r = 0; r < n_rows; r += kWords) {
      const V both = or_(widened(first + r), _mm512_slli_epi16(widened(first + kTileRows + r), 8));
      store_words(words + r, _mm512_srl_epi16(both, shift));
    }
  }
}

// Sums n columns of levels of a quad for some rows, from its start or from what is in `levels`, and
// lowers the least of the rows unless that is null. A function of its own, or sums would not stay
// in registers.
template <bool kFirst>
[[gnu::noinline]] static void sum_strip(const uint16_t* words, const uint16_t* tables, int64_t n,
                                        const uint16_t* start, uint16_t* levels, uint16_t* least) {
  V sum[kQuad][kFineVectors];
  for (int c = 0; c < kQuad; ++c)
    for (int v = 0; v < kFineVectors; ++v)
      sum[c][v] = kFirst ? _mm512_set1_epi16(static_cast<short>(start[c]))
                         : load_words(levels + c * kTileRows + v * kWords);
  for (int64_t i = 0; i < n; ++i, words += kTileRows, tables += kQuad * kFineTable) {
    V column[kFineVectors];
    for (int v = 0; v < kFineVectors; ++v) column[v] = load_words(words + v * kWords);
    for (int c = 0; c < kQuad; ++c) {
      const V table = load_table(tables + c * kFineTable);
      for (int v = 0; v < kFineVectors; ++v)
        sum[c][v] = add_saturated(sum[c][v], _mm512_permutexvar_epi16(column[v], table));
    }
  }
  for (int c = 0; c < kQuad; ++c)
    for (int v = 0; v < kFineVectors; ++v)
      store_words(levels + c * kTileRows + v * kWords, sum[c][v]);
  for (int v = 0; least && v < kFineVectors; ++v) {
    V lower = load_words(least + v * kWords);
    for (int c = 0; c < kQuad; ++c) lower = _mm512_min_epu16(lower, sum[c][v]);
    store_words(least + v * kWords, lower);
  }
}

// Levels of all centers, and the least of each row.
static void sum_levels(const FineView& view, const uint16_t* words, int64_t n_rows,
                       uint16_t* levels, uint16_t* least) {
  for (int64_t r = 0; r < kTileRows; ++r) least[r] = 0xffff;
  for (int64_t first = 0; first < view.n_columns; first += kFineColumns) {
    const int64_t left = view.n_columns - first, n = left < kFineColumns ? left : kFineColumns;
    for (int64_t c = 0; c < view.bytes.n_centers; c += kQuad) {
      const uint16_t* tables = view.tables + (c * view.n_columns + first * kQuad) * kFineTable;
      for (int64_t r = 0; r < n_rows; r += kFineVectors * kWords) {
        const uint16_t* x = words + first * kTileRows + r;
        uint16_t* out = levels + c * kTileRows + r;
        uint16_t* lower = n == left ? least + r : nullptr;
        first ? sum_strip<false>(x, tables, n, view.start + c, out, lower)
              : sum_strip<true>(x, tables, n, view.start + c, out, lower);
      }
    }
  }
}

// Sums of 16 numbers of 32 bits, 16 times.
SOFTMODES_INLINE V sums_of_16(V (&x)[16]) {
  for (int i = 0; i < 8; ++i)
    x[i] = _mm512_add_epi32(_mm512_unpacklo_epi32(x[2 * i], x[2 * i + 1]),
                            _mm512_unpackhi_epi32(x[2 * i], x[2 * i + 1]));
  for (int i = 0; i < 4; ++i)
    x[i] = _mm512_add_epi32(_mm512_unpacklo_epi64(x[2 * i], x[2 * i + 1]),
                            _mm512_unpackhi_epi64(x[2 * i], x[2 * i + 1]));
  const auto add_lanes = [](V a, V b) {
    return _mm512_add_epi32(_mm512_shuffle_i32x4(a, b, 0x88), _mm512_shuffle_i32x4(a, b, 0xdd));
  };
  return add_lanes(add_lanes(x[0], x[1]), add_lanes(x[2], x[3]));
}

// One tile: its hits, and exact totals of those of rows that have several.
class FineTile {
 public:
  FineTile(const FineView& view, uint32_t window, const TileRows& rows, const Scratch& scratch)
      : view_(view),
        rows_(rows),
        levels_(reinterpret_cast<uint16_t*>(scratch.distances)),
        hits_(reinterpret_cast<Hit*>(scratch.offers)),
        candidates_(reinterpret_cast<Candidate*>(scratch.groups)) {
    auto* words = reinterpret_cast<uint16_t*>(scratch.tile);
    transpose_tile(view.bytes, whole_tile(rows, kTileRows, view.bytes.stride, scratch), rows.n,
                   scratch.planes);
    fill_columns(view, scratch.planes, rows.n, words);
    alignas(64) uint16_t least[kTileRows];
    sum_levels(view, words, rows.n, levels_, least);
    if (list_hits(least, window)) find_candidates();
  }

  // False if there are too many hits.
  bool found() const { return n_hits_ >= 0; }

  // Calls settled(row, center) or open(row, candidates, n), row by row.
  template <class Settled, class Open>
  void visit(const Settled& settled, const Open& open) const {
    for (int64_t r = 0; r < rows_.n; ++r) {
      const Candidate* first = candidates_ + end_[r] - n_of_[r];
      if (n_of_[r] == 1)
        settled(r, first->center);
      else
        open(r, first, n_of_[r]);
    }
  }

 private:
  bool list_hits(const uint16_t* least, uint32_t window) {
    const int64_t margin = (view_.slack + window) / view_.unit;
    alignas(64) uint16_t limit[kTileRows];
    for (int64_t r = 0; r < kTileRows; ++r) {
      const int64_t most = least[r] + margin;
      limit[r] = static_cast<uint16_t>(most < 0xfffe ? most : 0xfffe);
    }
    const int64_t n_centers = view_.bytes.n_centers;
    for (int64_t c = 0; c < n_centers; c += kListedCenters) {
      if (n_hits_ > view_.most_hits) {
        n_hits_ = -1;
        return false;
      }
      list_centers(c, n_centers - c < kListedCenters ? n_centers - c : kListedCenters, limit);
    }
    return true;
  }

  // Which of 64 rows a center is near to.
  struct Near {
    uint64_t rows;
    int32_t center, first_row;
  };
  void list_centers(int64_t first, int64_t n, const uint16_t* limit) {
    Near some[kListedCenters * kTileRows / 64 + 1];
    int64_t n_some = 0, n_hits = 0;
    for (int64_t c = first; c < first + n; ++c)
      for (int64_t r = 0; r < rows_.n; r += 64) {
        const uint64_t near = near_rows(levels_ + c * kTileRows + r, limit + r, rows_.n - r);
        some[n_some] = {near, static_cast<int32_t>(c), static_cast<int32_t>(r)};
        n_some += near != 0;
        n_hits += std::popcount(near);
      }
    // Without branches, which would go either way: after the last row the next of `some` comes.
    const Near* at = some;
    uint64_t rows = at->rows;
    for (int64_t i = 0; i < n_hits; ++i) {
      const int64_t row = at->first_row + std::countr_zero(rows);
      hits_[n_hits_++] = {at->center, static_cast<uint16_t>(row),
                          levels_[at->center * kTileRows + row]};
      ++n_of_[row];
      rows &= rows - 1;
      const uint64_t done = rows == 0;
      at += done;
      rows |= at->rows & (0 - done);
    }
  }
  static uint64_t near_rows(const uint16_t* level, const uint16_t* limit, int64_t n) {
    const auto low = _mm512_cmple_epu16_mask(load_words(level), load_words(limit));
    const auto high =
        _mm512_cmple_epu16_mask(load_words(level + kWords), load_words(limit + kWords));
    const uint64_t near = bits_of(low) | bits_of(high) << kWords;
    return n < 64 ? near & ((uint64_t{1} << n) - 1) : near;
  }

  // Hits by row, in the order of centers.
  void find_candidates() {
    for (int64_t r = 0, sum = 0; r < rows_.n; ++r) {
      end_[r] = static_cast<int32_t>(sum);
      sum += n_of_[r];
    }
    if (!view_.bits)
      sum_lines();
    else if (view_.n_words > kMostVectors)
      sum_bits<0>();
    else
      with_count(view_.n_words, [&](auto n) { sum_bits<n>(); });
  }
  int64_t low(const Hit& hit) const { return view_.unit * (hit.level + view_.lowest); }
  void add(const Hit& hit, uint32_t sum) {
    const int64_t from = low(hit);
    const auto above = static_cast<uint16_t>(sum + view_.exact_start[hit.center] - from);
    candidates_[end_[hit.row]++] = {hit.center, static_cast<uint32_t>(from + above)};
  }

  // N: words of a row, if prices of a center are kept in registers for all its hits; or 0.
  template <int N>
  void sum_bits() {
    constexpr int kAtOnce = 16;
    const Hit* open[kAtOnce];
    V sums[kAtOnce], price[N + 1];
    int n = 0;
    int32_t center = -1;
    const auto empty = [&] {
      alignas(64) uint32_t sum[kAtOnce];
      for (int i = n; i < kAtOnce; ++i) sums[i] = zero();
      _mm512_store_si512(sum, sums_of_16(sums));
      for (int i = 0; i < n; ++i) add(*open[i], sum[i]);
      n = 0;
    };
    for (int64_t i = 0; i < n_hits_; ++i) {
      const Hit& hit = hits_[i];
      if (n_of_[hit.row] == 1) {
        candidates_[end_[hit.row]++] = {hit.center, 0};
        continue;
      }
      const uint16_t* prices = view_.bits + hit.center * view_.n_words * kWords;
      if (N && hit.center != center) {
        center = hit.center;
        for (int w = 0; w < N; ++w) price[w] = load_words(prices + w * kWords);
      }
      open[n] = &hit;
      const uint8_t* row = rows_.bytes + hit.row * view_.bytes.stride;
      V sum = zero();
      for (int64_t w = 0; w < (N ? N : view_.n_words); ++w) {
        uint32_t bits;
        std::memcpy(&bits, row + 4 * w, 4);
        sum = _mm512_mask_add_epi16(sum, bits, sum, N ? price[w] : load_words(prices + w * kWords));
      }
      sums[n++] = _mm512_madd_epi16(sum, _mm512_set1_epi16(1));
      if (n == kAtOnce) empty();
    }
    empty();
  }

  void sum_lines() {
    for (int64_t i = 0; i < n_hits_; ++i) {
      const Hit& hit = hits_[i];
      add(hit, n_of_[hit.row] == 1 ? 0 : lines_of(hit));
    }
  }
  uint32_t lines_of(const Hit& hit) const {
    const int64_t n = view_.bytes.bit_columns;
    const uint8_t* row = rows_.bytes + hit.row * view_.bytes.stride;
    const uint16_t* price = view_.lines + hit.center * n * 32;
    uint32_t even = 0, odd = 0;
    for (int64_t i = 0; i < n; ++i, price += 32) {
      even += price[row[i] & 15];
      odd += price[16 + (row[i] >> 4)];
    }
    return even + odd;
  }

  const FineView& view_;
  const TileRows& rows_;
  uint16_t* levels_;
  Hit* hits_;
  int64_t n_hits_ = 0;
  Candidate* candidates_;  // by row
  int32_t n_of_[kTileRows] = {};
  int32_t end_[kTileRows];
};

bool nearest_by_fine(const ScoreView& view, const FineView& fine, const TileRows& rows,
                     const Ties& ties, const Scratch& scratch, Nearest out) {
  const Ranks ranks{ties, rows.bytes, view.clusters};
  const FineTile tile(fine, 0, rows, scratch);
  if (!tile.found()) return false;
  tile.visit([&](int64_t r, int32_t center) { out.label[r] = center; },
             [&](int64_t r, const Candidate* candidates, int64_t n) {
               out.label[r] = cheapest(ranks, r, candidates, n);
             });
  return true;
}

bool share_by_fine(const ScoreView& view, const FineView& fine, const Powers& powers,
                   const TileRows& rows, const Ties& ties, const Scratch& scratch,
                   const Shares& out) {
  const Ranks ranks{ties, rows.bytes, view.clusters};
  Sharing sharing(powers, ranks, out);
  const FineTile tile(fine, powers.limit, rows, scratch);
  if (!tile.found()) return false;
  tile.visit([&](int64_t r, int32_t center) { sharing.alone(r, center); },
             [&](int64_t r, const Candidate* candidates, int64_t n) {
               sharing.candidates(r, candidates, n);
             });
  return true;
}

#else

bool nearest_by_fine(const ScoreView&, const FineView&, const TileRows&, const Ties&,
                     const Scratch&, Nearest) {
  return false;
}
bool share_by_fine(const ScoreView&, const FineView&, const Powers&, const TileRows&, const Ties&,
                   const Scratch&, const Shares&) {
  return false;
}

#endif

}  // namespace softmodes::SOFTMODES_ISA
