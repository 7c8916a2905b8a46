// The loops of roofs.hpp for one instruction set; compiled like the kernels.
#include "roofs.hpp"

#include "isa/planes/number.hpp"

namespace softmodes::SOFTMODES_ISA {

constexpr int kCenters = 4;
constexpr int kVectors = 2;
constexpr int kColumns = 64;
constexpr int kStreams = 8;

struct ByLookup {
  static V center(const uint8_t* p) { return broadcast_lane(p); }
  static V mismatches(V center, V x) { return lookup(center, x); }
};

struct ByPopcount {
  static V center(const uint8_t* p) { return broadcast32(reinterpret_cast<const uint32_t*>(p)); }
  static V mismatches(V center, V x) { return popcount8(xor_(center, x)); }
};

// Rows and centers that fit in the first-level cache together, as nibbles.
struct Sample {
  alignas(64) uint8_t rows[kColumns * kVectors * kWidth];
  alignas(64) uint8_t centers[kColumns * kCenters * 16];
  Sample() {
    uint32_t state = 1;
    const auto nibble = [&] { return static_cast<uint8_t>((state = state * 69069 + 1) >> 28); };
    for (auto& x : rows) x = nibble();
    for (auto& x : centers) x = nibble();
  }
};

template <class By>
static void sweep(int64_t sweeps, uint8_t* sink) {
  const Sample sample;
  V sum[kCenters][kVectors];
  for (auto& row : sum)
    for (auto& s : row) s = zero();
  for (int64_t i = 0; i < sweeps; ++i) {
    const uint8_t* x = sample.rows;
    const uint8_t* center = sample.centers;
    for (int column = 0; column < kColumns; ++column, x += kVectors * kWidth) {
      for (int c = 0; c < kCenters; ++c, center += 16) {
        const V ready = By::center(center);
        for (int v = 0; v < kVectors; ++v)
          sum[c][v] = add8(sum[c][v], By::mismatches(ready, load(x + v * kWidth)));
      }
    }
  }
  for (const auto& row : sum)
    for (const V& s : row) store(sink, xor_(load(sink), s));
}

constexpr int kPlanes = 64;

static void add_up(int64_t sweeps, uint8_t* sink) {
  alignas(64) uint8_t planes[kPlanes * kWidth];
  uint16_t offsets[kPlanes];
  for (int i = 0; i < kPlanes * kWidth; ++i) planes[i] = static_cast<uint8_t>(i * 37);
  for (int i = 0; i < kPlanes; ++i)
    offsets[i] = static_cast<uint16_t>(i * 29 % kPlanes * kWidth / 8);
  V sum[6], carries = zero();
  for (auto& s : sum) s = zero();
  for (int64_t i = 0; i < sweeps; ++i)
    carries = xor_(carries, add_planes<kPlanes>(planes, offsets, sum));
  store(sink, carries);
  for (const V& s : sum) store(sink, xor_(load(sink), s));
}

static void read(const uint8_t* bytes, int64_t n, uint8_t* sink) {
  V seen[kStreams];
  for (auto& s : seen) s = zero();
  for (int64_t i = 0; i < n; i += kStreams * kWidth)
    for (int s = 0; s < kStreams; ++s) seen[s] = xor_(seen[s], load(bytes + i + s * kWidth));
  for (const V& s : seen) store(sink, xor_(load(sink), s));
}

extern const Roofs roofs;
const Roofs roofs = {
    .name = SOFTMODES_STRING(SOFTMODES_ISA),
    .popcount = kPopcount,
    .plane_centers = kPlaneCenters,
    .sweep_bytes = int64_t{kColumns} * kCenters * kVectors * kWidth,
    .lookup = sweep<ByLookup>,
    .popcounts = sweep<ByPopcount>,
    .planes_bytes = int64_t{kPlanes} * kWidth,
    .planes = add_up,
    .read = read,
};

}  // namespace softmodes::SOFTMODES_ISA
