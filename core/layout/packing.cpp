#include "layout/packing.hpp"

#include <algorithm>
#include <cstring>

#include "isa/kernels.hpp"
#include "memory.hpp"

namespace softmodes {
namespace {

constexpr int64_t kPackRows = 16 * kTileRows;
constexpr int64_t kShortestSpan = 32;

// Calls tile(first row, n rows, thread) for all rows.
template <class F>
void for_each_tile(int64_t n_rows, const Threads& threads, const F& tile) {
  run_tasks(ceil_div(n_rows, kPackRows), threads, [&](int64_t i, int thread, const Stop& stop) {
    const int64_t end = std::min(n_rows, (i + 1) * kPackRows);
    for (int64_t r = i * kPackRows; r < end && !stop.requested(); r += kTileRows)
      tile(r, std::min<int64_t>(kTileRows, end - r), thread);
  });
}

// The memory of a thread, made when it is first needed.
uint8_t* zeroed(Buffer& buffer, int64_t size) {
  if (buffer.empty())
    buffer = Buffer(size);
  else
    std::memset(buffer.data(), 0, static_cast<size_t>(size));
  return buffer.data();
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
struct BitSpan {
  int64_t first_feature;
  int64_t n;
  int64_t first_byte;  // the span starts at bit 0 of this byte
};

std::vector<BitSpan> find_spans(const Layout& layout, const uint8_t* remap,
                                std::vector<uint8_t>& ones, std::vector<uint8_t>& in_span) {
  std::vector<BitSpan> spans;
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
    if (bit(end - 1) != last_bit) end -= (end - j) % 8;  // a shared byte is not for a span
    if (end - j < kShortestSpan) continue;
    spans.push_back({j, end - j, layout.byte[j]});
    std::fill(in_span.begin() + j, in_span.begin() + end, 1);
    j = end - 1;
  }
  return spans;
}

}  // namespace

void pack_columns(const Layout& layout, const std::vector<CodeColumn>& columns, int64_t n_rows,
                  uint8_t* out, std::vector<uint32_t>& largest, const Threads& threads) {
  const Kernels& isa = kernels();
  const auto n_threads = static_cast<size_t>(threads.n);
  const int64_t tile_bytes = layout.stride * kTileRows;
  std::vector<Buffer> tiles(n_threads);
  std::vector<std::vector<uint32_t>> most(n_threads, largest);
  for_each_tile(n_rows, threads, [&](int64_t first, int64_t n, int thread) {
    uint8_t* tile = zeroed(tiles[thread], tile_bytes);
    for (int64_t j = 0; j < layout.n_features; ++j) {
      const uint32_t m = put_column(columns[j], first, n, layout.bits[j], layout.shift[j],
                                    tile + int64_t{layout.byte[j]} * kTileRows);
      most[thread][j] = std::max(most[thread][j], m);
    }
    isa.untranspose(tile, layout.stride, n, out + first * layout.stride);
  });
  for (const auto& m : most)
    for (size_t j = 0; j < largest.size(); ++j) largest[j] = std::max(largest[j], m[j]);
}

void pack_matrix(const Layout& layout, const uint8_t* matrix, const uint8_t* remap, int64_t n_rows,
                 uint8_t* out, const Threads& threads) {
  const Kernels& isa = kernels();
  const int64_t d = layout.n_features;
  std::vector<uint8_t> ones(static_cast<size_t>(d)), in_span(static_cast<size_t>(d));
  const std::vector<BitSpan> spans = find_spans(layout, remap, ones, in_span);
  const bool only_spans = std::count(in_span.begin(), in_span.end(), 1) == d;
  std::vector<Buffer> tiles(static_cast<size_t>(threads.n));

  for_each_tile(n_rows, threads, [&](int64_t first, int64_t n, int thread) {
    uint8_t* rows = out + first * layout.stride;
    const uint8_t* cells = matrix + first * d;
    if (!only_spans) {
      uint8_t* tile = zeroed(tiles[thread], layout.stride * kTileRows);
      for (int64_t j = 0; j < d; ++j) {
        if (in_span[j]) continue;
        uint8_t* column = tile + int64_t{layout.byte[j]} * kTileRows;
        const uint8_t* codes = remap + j * 256;
        for (int64_t r = 0; r < n; ++r)
          column[r] = static_cast<uint8_t>(column[r] | codes[cells[r * d + j]] << layout.shift[j]);
      }
      isa.untranspose(tile, layout.stride, n, rows);
    }
    for (const BitSpan& span : spans)
      for (int64_t r = 0; r < n; ++r)
        isa.pack_bits(cells + r * d + span.first_feature, ones.data() + span.first_feature, span.n,
                      rows + r * layout.stride + span.first_byte);
  });
}

void presence(const uint8_t* matrix, int64_t n_rows, int64_t n_columns, uint8_t* seen,
              const Threads& threads) {
  const Kernels& isa = kernels();
  const auto size = static_cast<size_t>(n_columns);
  const int64_t rows = std::max<int64_t>(kPackRows, ceil_div(n_rows, int64_t{8} * threads.n));
  std::vector<std::vector<uint8_t>> known(static_cast<size_t>(threads.n)), found(known.size());
  run_tasks(ceil_div(n_rows, rows), threads, [&](int64_t i, int thread, const Stop& stop) {
    known[thread].resize(2 * size);
    found[thread].resize(256 * size);
    const int64_t end = std::min(n_rows, (i + 1) * rows);
    for (int64_t r = i * rows; r < end && !stop.requested(); r += kPackRows)
      isa.presence(matrix + r * n_columns, std::min(kPackRows, end - r), n_columns,
                   known[thread].data(), found[thread].data());
  });
  for (const auto& f : found)
    for (size_t i = 0; i < f.size(); ++i) seen[i] |= f[i];
}

void unpack(const Block& block, const int64_t* rows, int64_t n, int32_t* out) {
  const Layout& layout = block.layout;
  for (int64_t i = 0; i < n; ++i) {
    const uint8_t* row = block.rows + rows[i] * layout.stride;
    for (int64_t j = 0; j < layout.n_features; ++j)
      out[i * layout.n_features + j] = layout.code(row, j);
  }
}

}  // namespace softmodes
