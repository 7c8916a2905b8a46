// Totals of rows by scores, the nearest clusters and the shares that follow, for one instruction
// set.
#include <bit>
#include <type_traits>

#include "isa/scores/least.hpp"
#include "isa/scores/lines.hpp"
#include "isa/scores/quads.hpp"
#include "isa/scores/share.hpp"
#include "isa/scores/sixteens.hpp"

namespace softmodes::SOFTMODES_ISA {

// Adds a line to others. Lanes without a cluster are zeros.
SOFTMODES_INLINE void add_line(const uint32_t* line, int64_t lanes, uint32_t* total) {
  const auto add = [&](auto numbers) {
    using Numbers = decltype(numbers);
    for (int64_t i = 0; i < lanes; i += Numbers::kNumbers)
      Numbers::store(total + i, Numbers::add(Numbers::load(total + i), Numbers::load(line + i)));
  };
  lanes == Quad::kNumbers ? add(Quad{}) : add(Half{});
}

// A cell of several bytes: two or three.
SOFTMODES_INLINE int32_t wide_code(const WideColumn& column, const uint8_t* row) {
  const uint8_t* cell = row + column.byte;
  return cell[0] | cell[1] << 8 | (column.n_bytes > 2 ? cell[2] << 16 : 0);
}

// What such a cell adds to the totals of clusters first .. first + lanes.
static inline void add_wide_cell(const ScoreView& view, const WideColumn& column,
                                 const uint8_t* row, int64_t first, int64_t lanes,
                                 uint32_t* total) {
  const int64_t n = view.n_centers - first < lanes ? view.n_centers - first : lanes;
  const int32_t code = wide_code(column, row);
  if (code >= column.n_values) {
    if (column.other)
      for (int64_t c = 0; c < n; ++c) total[c] += column.other[first + c];
  } else if (column.lines) {
    add_line(column.lines + code * view.lanes() + first, lanes, total);
  } else {
    for (int64_t e = column.indptr[code]; e < column.indptr[code + 1]; ++e) {
      const int64_t c = column.clusters[e] - first;
      if (c >= 0 && c < n) total[c] -= column.bonus[e];
    }
  }
}

static void add_wide(const ScoreView& view, const uint8_t* row, int64_t first, int64_t lanes,
                     uint32_t* total) {
  for (int64_t i = 0; i < view.n_wide; ++i)
    add_wide_cell(view, view.wide[i], row, first, lanes, total);
}

// What cells of one column add to the totals of some rows, of all clusters, if it has no lines.
// Values lie all over memory: where the bonuses of many are is looked up before any is read, so
// that the memory is not waited for one by one.
static void add_bonuses(const ScoreView& view, const WideColumn& column, const uint8_t* rows,
                        int64_t n_rows, uint32_t* totals) {
  constexpr int64_t kAtOnce = 32;
  const int64_t lanes = view.lanes();
  for (int64_t first = 0; first < n_rows; first += kAtOnce) {
    const int64_t n = n_rows - first < kAtOnce ? n_rows - first : kAtOnce;
    uint32_t* some = totals + first * lanes;
    int64_t begin[kAtOnce], end[kAtOnce];
    for (int64_t r = 0; r < n; ++r) {
      const int32_t code = wide_code(column, rows + (first + r) * view.shape.stride);
      const bool value = code < column.n_values;
      begin[r] = value ? column.indptr[code] : 0;
      end[r] = value ? column.indptr[code + 1] : 0;
      if (!value && column.other)
        for (int64_t c = 0; c < view.n_centers; ++c) some[r * lanes + c] += column.other[c];
    }
    for (int64_t r = 0; r < n; ++r) {
      __builtin_prefetch(column.clusters + begin[r]);
      __builtin_prefetch(column.bonus + begin[r]);
    }
    for (int64_t r = 0; r < n; ++r)
      for (int64_t e = begin[r]; e < end[r]; ++e)
        some[r * lanes + column.clusters[e]] -= column.bonus[e];
  }
}

// Column by column: what values cost is looked up for all rows before that of the next column.
static void add_wide_columns(const ScoreView& view, const TileRows& rows, uint32_t* totals) {
  const int64_t lanes = view.lanes(), stride = view.shape.stride;
  for (int64_t i = 0; i < view.n_wide; ++i) {
    const WideColumn& column = view.wide[i];
    if (!column.lines) {
      add_bonuses(view, column, rows.bytes, rows.n, totals);
      continue;
    }
    for (int64_t r = 0; r < rows.n; ++r)
      add_wide_cell(view, column, rows.bytes + r * stride, 0, lanes, totals + r * lanes);
  }
}

// Calls visit(row, totals) for all rows from one on; totals of a group are at totals(row).
template <class Totals, class Visit>
static void group_totals(const ScoreView& view, const TileRows& rows, int64_t from, int64_t group,
                         const Totals& totals, const Visit& visit) {
  const uint8_t* lines = view.lines + group * view.group_bytes;
  const uint32_t* start = view.start + group * view.group;
  const int64_t stride = view.shape.stride;
  const auto each = [&](auto sum) {
    for (int64_t r = from; r < rows.n; ++r) {
      const uint8_t* row = rows.bytes + r * stride;
      uint32_t* total = totals(r);
      sum(row, total);
      if (view.n_wide && !view.by_column)
        add_wide(view, row, group * view.group, view.group, total);
      visit(r, total);
    }
  };
  const auto sum_words = [&](auto numbers, auto n, auto nibbles) {
    const auto* words = reinterpret_cast<const uint32_t*>(lines);
    each([&](const uint8_t* x, uint32_t* t) {
      sum_wholes<decltype(numbers), n, nibbles>(view.shape, words, start, x, t);
    });
  };
  const auto with_nibbles = [&](const auto& f) {
    view.shape.nibbles ? f(std::true_type{}) : f(std::false_type{});
  };
  if (view.whole)
    return with_numbers(view.group, [&](auto numbers) {
      with_vectors<decltype(numbers)>(view.group, [&](auto n) {
        with_nibbles([&](auto nibbles) { sum_words(numbers, n, nibbles); });
      });
    });
  with_count(view.group * 2 / kWidth, [&](auto n) {
    with_nibbles([&](auto nibbles) {
      each(
          [&](const uint8_t* x, uint32_t* t) { sum_halves<n, nibbles>(view, lines, start, x, t); });
    });
  });
}

template <class Numbers>
static void nearest_of_groups(const ScoreView& view, const TileRows& rows, int64_t group,
                              int64_t from, const Ranks& ranks, Nearest out) {
  const int64_t first = group * view.group;
  alignas(64) uint32_t buffer[kMostVectors * kWidth / 2];
  group_totals(
      view, rows, from, group, [&](int64_t) { return buffer; },
      [&](int64_t r, const uint32_t* total) {
        const uint32_t least = least_total<Numbers>(total, view.group);
        if (group && least > out.distance[r]) return;
        BestRank best(ranks, r);
        if (group && least == out.distance[r]) best.offer(out.label[r]);
        const auto wanted = Numbers::broadcast(least);
        visit_lanes<Numbers>(
            total, view.group, [&](auto x) { return Numbers::equal_bits(x, wanted); },
            [&](int64_t lane) { best.offer(first + lane); });
        out.distance[r] = least;
        out.label[r] = best.best();
      });
}

void nearest_by_scores(const ScoreView& view, const TileRows& rows, int64_t group, const Ties& ties,
                       const Scratch&, Nearest out) {
  const Ranks ranks{ties, rows.bytes, view.clusters};
  int64_t done = 0;
#if defined(__AVX2__)
  if (view.group == Quad::kNumbers && !view.n_wide) {
    view.shape.nibbles ? nearest_by_quads<true>(view, rows, ranks, out)
                       : nearest_by_quads<false>(view, rows, ranks, out);
    done = rows.n / 4 * 4;
  }
#endif
  with_numbers(view.group, [&](auto numbers) {
    nearest_of_groups<decltype(numbers)>(view, rows, group, done, ranks, out);
  });
}

// Totals of one row for one group.
void score_group(const ScoreView& view, const TileRows& row, int64_t group, uint32_t* totals) {
  group_totals(
      view, row, 0, group, [&](int64_t) { return totals; }, [](int64_t, const uint32_t*) {});
}

void score_totals(const ScoreView& view, const TileRows& rows, uint32_t* totals) {
  const int64_t lanes = view.lanes();
  for (int64_t group = 0; group < view.n_groups; ++group)
    group_totals(
        view, rows, 0, group, [&](int64_t r) { return totals + r * lanes + group * view.group; },
        [](int64_t, const uint32_t*) {});
  if (view.by_column) add_wide_columns(view, rows, totals);
}

template <class Numbers>
static int64_t share_rows(const ScoreView& view, const Powers& powers, const TileRows& rows,
                          const Ranks& ranks, const uint32_t* totals, const Shares& out) {
  Sharing sharing(powers, ranks, out);
  for (int64_t r = 0; r < rows.n; ++r)
    sharing.dense<Numbers>(r, totals + r * view.lanes(), view.lanes());
  return sharing.n_parts();
}

int64_t share(const ScoreView& view, const Powers& powers, const TileRows& rows, const Ties& ties,
              const uint32_t* totals, const Shares& out) {
  const Ranks ranks{ties, rows.bytes, view.clusters};
  return with_numbers(view.lanes(), [&](auto numbers) {
    return share_rows<decltype(numbers)>(view, powers, rows, ranks, totals, out);
  });
}

void share_in_place(const ScoreView& view, const Powers& powers, const TileRows& rows,
                    const Ties& ties, uint32_t* totals, const Shares& out) {
  const Ranks ranks{ties, rows.bytes, view.clusters};
  Sharing sharing(powers, ranks, out);
  const int64_t lanes = view.lanes();
  with_numbers(lanes, [&](auto numbers) {
    for (int64_t r = 0; r < rows.n; ++r)
      sharing.in_place<decltype(numbers)>(r, totals + r * lanes, lanes);
  });
}

template <class Numbers, int N, bool kNibbles>
static void add_rows(const LineShape& shape, const uint8_t* rows, int64_t n, const uint32_t* parts,
                     int64_t step, uint32_t* sums) {
  constexpr int kCount = Numbers::kNumbers;
  for (int64_t i = 0; i < n; ++i, rows += shape.stride, parts += step) {
    typename Numbers::Vec part[N];
    for (int v = 0; v < N; ++v) part[v] = Numbers::load(parts + v * kCount);
    const auto add = [&](int64_t line) {
      uint32_t* at = sums + line * (N * kCount);
      for (int v = 0; v < N; ++v)
        Numbers::store(at + v * kCount, Numbers::add(Numbers::load(at + v * kCount), part[v]));
    };
    narrow_lines<kNibbles>(rows, 0, shape.narrow_bytes, add);
    byte_lines<kNibbles>(shape, rows, 0, shape.byte_columns, add);
  }
}

void add_parts(const LineShape& shape, int64_t lanes, const uint8_t* rows, int64_t n,
               const uint32_t* parts, int64_t step, uint32_t* sums) {
  const auto add = [&](auto numbers, auto vectors) {
    using Numbers = decltype(numbers);
    shape.nibbles ? add_rows<Numbers, vectors, true>(shape, rows, n, parts, step, sums)
                  : add_rows<Numbers, vectors, false>(shape, rows, n, parts, step, sums);
  };
  with_numbers(lanes, [&](auto numbers) {
    with_vectors<decltype(numbers)>(lanes, [&](auto vectors) { add(numbers, vectors); });
  });
}

void add_to_lines(const int32_t* line, int64_t lanes, int64_t n, const uint32_t* parts,
                  int64_t step, uint32_t* sums) {
  for (int64_t i = 0; i < n; ++i)
    add_line(parts + i * step, lanes, sums + (line ? line[i] : 0) * lanes);
}

// Calls f with the number of clusters, two to four.
template <class F>
[[maybe_unused]] static void with_few(int64_t n_centers, const F& f) {
  if (n_centers <= 2) return f(std::integral_constant<int, 2>{});
  n_centers == 3 ? f(std::integral_constant<int, 3>{}) : f(std::integral_constant<int, 4>{});
}

void soft_by_quads([[maybe_unused]] const ScoreView& view, [[maybe_unused]] const Powers& powers,
                   [[maybe_unused]] const TileRows& rows, [[maybe_unused]] const Ties& ties,
                   [[maybe_unused]] uint32_t* sums, [[maybe_unused]] const QuadSums& out) {
#if defined(__AVX2__)
  const Ranks ranks{ties, rows.bytes, view.clusters};
  with_few(view.n_centers, [&](auto k) {
    view.shape.nibbles ? share_quads<true, k>(view, powers, rows, ranks, sums, out)
                       : share_quads<false, k>(view, powers, rows, ranks, sums, out);
  });
#endif
}

void soft_by_sixteens([[maybe_unused]] const ScoreView& view,
                      [[maybe_unused]] const SixteenView& sixteens,
                      [[maybe_unused]] const Powers& powers, [[maybe_unused]] const TileRows& rows,
                      [[maybe_unused]] const Ties& ties, [[maybe_unused]] uint8_t* scratch,
                      [[maybe_unused]] uint32_t* sums, [[maybe_unused]] const QuadSums& out) {
#if defined(__AVX512VNNI__)
  const Ranks ranks{ties, rows.bytes, view.clusters};
  with_few(view.n_centers, [&](auto k) {
    share_sixteens<k>(view, sixteens, powers, rows, ranks, scratch, sums, out);
  });
#endif
}

}  // namespace softmodes::SOFTMODES_ISA
