// Loops bound by one resource each, which the kernels are measured against: one table per
// instruction set.
#pragma once

#include <cstdint>

namespace softmodes {

struct Roofs {
  const char* name;
  bool popcount;      // bits are compared by popcount, not by look-up
  int plane_centers;  // from here rows are compared by planes
  // Bytes that one sweep over rows and centers in the first-level cache compares.
  int64_t sweep_bytes;
  // The inner loop of an assignment, `sweeps` times; `sink` (64 bytes) keeps the sums in use.
  void (*lookup)(int64_t sweeps, uint8_t* sink);
  void (*popcounts)(int64_t sweeps, uint8_t* sink);
  // The same by bit planes: bytes that one sweep adds up.
  int64_t planes_bytes;
  void (*planes)(int64_t sweeps, uint8_t* sink);
  // Reads n bytes, n a multiple of 1024, and no more than that.
  void (*read)(const uint8_t* bytes, int64_t n, uint8_t* sink);
};

}  // namespace softmodes
