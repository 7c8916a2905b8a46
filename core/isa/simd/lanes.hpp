// Lanes of 8, 16 or 32 bits for finding the nearest center: portable, left to the compiler.
// An instruction set may specialise it.
#pragma once

#include <cstdint>
#include <cstring>

// For functions on arrays of vectors, which must not go through memory. With sanitizers they do,
// and to compile them all in one would take minutes.
#if defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__)
#define SOFTMODES_INLINE inline __attribute__((always_inline))
#else
#define SOFTMODES_INLINE inline
#endif

namespace softmodes::SOFTMODES_ISA {

inline void prefetch([[maybe_unused]] const uint8_t* p, [[maybe_unused]] int64_t n) {
#if defined(__GNUC__)
  for (int64_t byte = 0; byte < n; byte += 64) __builtin_prefetch(p + byte);
#endif
}

template <class D>
struct Lanes {
  static constexpr int kCount = 16;
  struct Vec {
    D at[kCount];
  };

  static Vec load(const D* p) {
    Vec v;
    std::memcpy(v.at, p, sizeof v.at);
    return v;
  }
  static void store(D* p, Vec v) { std::memcpy(p, v.at, sizeof v.at); }
  static Vec broadcast(int64_t x) {
    Vec v;
    for (D& a : v.at) a = static_cast<D>(x);
    return v;
  }
  static Vec min(Vec a, Vec b) {
    for (int i = 0; i < kCount; ++i) a.at[i] = a.at[i] < b.at[i] ? a.at[i] : b.at[i];
    return a;
  }
  static Vec max(Vec a, Vec b) {
    for (int i = 0; i < kCount; ++i) a.at[i] = a.at[i] > b.at[i] ? a.at[i] : b.at[i];
    return a;
  }
  static Vec add(Vec a, Vec b) {
    for (int i = 0; i < kCount; ++i) a.at[i] = static_cast<D>(a.at[i] + b.at[i]);
    return a;
  }
  // a == b ? yes : no
  static Vec if_equal(Vec a, Vec b, Vec yes, Vec no) {
    for (int i = 0; i < kCount; ++i) no.at[i] = a.at[i] == b.at[i] ? yes.at[i] : no.at[i];
    return no;
  }
  static uint64_t equal_bits(Vec a, Vec b) {
    uint64_t bits = 0;
    for (int i = 0; i < kCount; ++i) bits |= uint64_t{a.at[i] == b.at[i]} << i;
    return bits;
  }
};

}  // namespace softmodes::SOFTMODES_ISA
