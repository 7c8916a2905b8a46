#include "packing.hpp"

#include <algorithm>
#include <cstring>

#include "kernels.hpp"
#include "plan.hpp"

namespace softmodes {
namespace {

constexpr int64_t kTaskRows = 16 * kTileRows;
constexpr int64_t kShortestRun = 32;

int64_t n_tasks(int64_t n_rows) { return (n_rows + kTaskRows - 1) / kTaskRows; }

// Calls tile(first row, n rows, thread) for all rows.
template <class F>
bool for_each_tile(int64_t n_rows, int n_threads, const Interrupted& interrupted, const F& tile) {
  return run_tasks(n_tasks(n_rows), busy_threads(n_tasks(n_rows), n_threads), interrupted,
                   [&](int64_t i, int thread, const Stop& stop) {
                     const int64_t end = std::min(n_rows, (i + 1) * kTaskRows);
                     for (int64_t r = i * kTaskRows; r < end && !stop.requested(); r += kTileRows)
                       tile(r, std::min<int64_t>(kTileRows, end - r), thread);
                   });
}

// Puts codes of one feature into the byte columns of a tile; returns the largest.
template <class T>
uint32_t put(const T* codes, int64_t n, int bits, int shift, uint8_t* column) {
  uint32_t largest = 0;
  if (bits <= 8) {
    T most = 0;
    for (int64_t r = 0; r < n; ++r) {
      column[r] = static_cast<uint8_t>(column[r] | static_cast<unsigned>(codes[r]) << shift);
      most = std::max(most, codes[r]);
    }
    return most;
  }
  for (int b = 0; b < bits / 8; ++b, column += kTileRows)
    for (int64_t r = 0; r < n; ++r)
      column[r] = static_cast<uint8_t>(static_cast<uint32_t>(codes[r]) >> (8 * b));
  for (int64_t r = 0; r < n; ++r) largest = std::max(largest, static_cast<uint32_t>(codes[r]));
  return largest;
}

uint32_t put_column(const CodeColumn& source, int64_t first, int64_t n, int bits, int shift,
                    uint8_t* column) {
  switch (source.bytes) {
    case 1:
      return put(static_cast<const uint8_t*>(source.codes) + first, n, bits, shift, column);
    case 2:
      return put(static_cast<const uint16_t*>(source.codes) + first, n, bits, shift, column);
    default:
      return put(static_cast<const uint32_t*>(source.codes) + first, n, bits, shift, column);
  }
}

// Binary features, side by side in matrix and row, that a comparison of bytes turns into bits.
std::vector<MatrixRun> find_runs(const Layout& layout, const uint8_t* remap,
                                 std::vector<uint8_t>& ones, std::vector<uint8_t>& in_run) {
  std::vector<MatrixRun> runs;
  const auto bit = [&](int64_t j) { return int64_t{layout.byte[j]} * 8 + layout.shift[j]; };
  int64_t last_bit = -1;
  for (int64_t j = 0; j < layout.n_features; ++j)
    if (layout.byte[j] < layout.bit_bytes) last_bit = std::max(last_bit, bit(j));

  std::vector<uint8_t> simple(static_cast<size_t>(layout.n_features));
  for (int64_t j = 0; j < layout.n_features; ++j) {
    const uint8_t* codes = remap + j * 256;
    const auto n_ones = std::count(codes, codes + 256, 1);
    const auto n_zeros = std::count(codes, codes + 256, 0);
    simple[j] = layout.byte[j] < layout.bit_bytes && n_ones == 1 && n_zeros == 255;
    ones[j] = static_cast<uint8_t>(std::find(codes, codes + 256, 1) - codes);
  }
  for (int64_t j = 0; j < layout.n_features; ++j) {
    if (!simple[j] || layout.shift[j]) continue;
    int64_t end = j + 1;
    while (end < layout.n_features && simple[end] && bit(end) == bit(j) + end - j) ++end;
    if (bit(end - 1) != last_bit) end -= (end - j) % 8;  // a shared byte is not for a run
    if (end - j < kShortestRun) continue;
    runs.push_back({j, end - j, layout.byte[j]});
    std::fill(in_run.begin() + j, in_run.begin() + end, 1);
    j = end - 1;
  }
  return runs;
}

}  // namespace

bool pack_columns(const Layout& layout, const std::vector<CodeColumn>& columns, int64_t n_rows,
                  uint8_t* out, std::vector<uint32_t>& largest, int n_threads,
                  const Interrupted& interrupted) {
  const Kernels& isa = kernels();
  const auto n_workers = static_cast<size_t>(busy_threads(n_tasks(n_rows), n_threads));
  const int64_t tile_bytes = layout.stride * kTileRows;
  std::vector<Buffer> tiles;
  for (size_t t = 0; t < n_workers; ++t) tiles.emplace_back(tile_bytes);
  std::vector<std::vector<uint32_t>> most(n_workers, largest);
  const bool finished =
      for_each_tile(n_rows, n_threads, interrupted, [&](int64_t first, int64_t n, int thread) {
        uint8_t* tile = tiles[thread].data();
        std::memset(tile, 0, static_cast<size_t>(tile_bytes));
        for (int64_t j = 0; j < layout.n_features; ++j) {
          const uint32_t m = put_column(columns[j], first, n, layout.bits[j], layout.shift[j],
                                        tile + int64_t{layout.byte[j]} * kTileRows);
          most[thread][j] = std::max(most[thread][j], m);
        }
        isa.untranspose(tile, layout.stride, n, out + first * layout.stride);
      });
  for (const auto& m : most)
    for (size_t j = 0; j < largest.size(); ++j) largest[j] = std::max(largest[j], m[j]);
  return finished;
}

bool pack_matrix(const Layout& layout, const uint8_t* matrix, const uint8_t* remap, int64_t n_rows,
                 uint8_t* out, int n_threads, const Interrupted& interrupted) {
  const Kernels& isa = kernels();
  const int64_t d = layout.n_features;
  std::vector<uint8_t> ones(static_cast<size_t>(d)), in_run(static_cast<size_t>(d));
  const std::vector<MatrixRun> runs = find_runs(layout, remap, ones, in_run);
  const bool only_runs = std::count(in_run.begin(), in_run.end(), 1) == d;
  const int64_t tile_bytes = only_runs ? 0 : layout.stride * kTileRows;
  std::vector<Buffer> tiles;
  for (int t = 0; t < busy_threads(n_tasks(n_rows), n_threads); ++t) tiles.emplace_back(tile_bytes);

  return for_each_tile(n_rows, n_threads, interrupted, [&](int64_t first, int64_t n, int thread) {
    uint8_t* rows = out + first * layout.stride;
    const uint8_t* cells = matrix + first * d;
    if (!only_runs) {
      uint8_t* tile = tiles[thread].data();
      std::memset(tile, 0, static_cast<size_t>(tile_bytes));
      for (int64_t j = 0; j < d; ++j) {
        if (in_run[j]) continue;
        uint8_t* column = tile + int64_t{layout.byte[j]} * kTileRows;
        const uint8_t* codes = remap + j * 256;
        for (int64_t r = 0; r < n; ++r)
          column[r] = static_cast<uint8_t>(column[r] | codes[cells[r * d + j]] << layout.shift[j]);
      }
      isa.untranspose(tile, layout.stride, n, rows);
    }
    for (const MatrixRun& run : runs)
      for (int64_t r = 0; r < n; ++r)
        isa.pack_run(cells + r * d + run.first_feature, ones.data() + run.first_feature, run.count,
                     rows + r * layout.stride + run.first_byte);
  });
}

bool presence(const uint8_t* matrix, int64_t n_rows, int64_t n_columns, uint8_t* seen,
              int n_threads, const Interrupted& interrupted) {
  const Kernels& isa = kernels();
  const auto size = static_cast<size_t>(n_columns);
  n_threads = busy_threads(n_tasks(n_rows), n_threads);
  const int64_t rows = std::max<int64_t>(kTaskRows, (n_rows + 8 * n_threads - 1) / (8 * n_threads));
  std::vector<std::vector<uint8_t>> known(static_cast<size_t>(n_threads)), found(known.size());
  const bool finished =
      run_tasks((n_rows + rows - 1) / rows, n_threads, interrupted,
                [&](int64_t i, int thread, const Stop& stop) {
                  known[thread].resize(2 * size);
                  found[thread].resize(256 * size);
                  const int64_t end = std::min(n_rows, (i + 1) * rows);
                  for (int64_t r = i * rows; r < end && !stop.requested(); r += kTaskRows)
                    isa.presence(matrix + r * n_columns, std::min(kTaskRows, end - r), n_columns,
                                 known[thread].data(), found[thread].data());
                });
  for (const auto& f : found)
    for (size_t i = 0; i < f.size(); ++i) seen[i] |= f[i];
  return finished;
}

}  // namespace softmodes
