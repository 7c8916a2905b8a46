// Working memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "isa/kernels.hpp"

namespace softmodes {

inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
inline int64_t floor_div(int64_t a, int64_t b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

// Memory, all zero, that starts on a cache line. By `calloc`: what is never touched costs nothing.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(int64_t size)
      : memory_(static_cast<uint8_t*>(std::calloc(static_cast<size_t>(size) + 64, 1))) {
    if (!memory_) throw std::bad_alloc();
    data_ = memory_.get() + (64 - reinterpret_cast<uintptr_t>(memory_.get()) % 64);
  }
  // All of which will be touched: much of it lies in pages of some MB, if the system has them.
  // Thousands of small ones take as long to get as to be filled.
  static Buffer to_be_filled(int64_t size) {
    Buffer buffer(size);
#if defined(__linux__)
    constexpr int64_t kMuch = int64_t{1} << 22, kPage = int64_t{1} << 12;
    const int64_t before = reinterpret_cast<intptr_t>(buffer.data_) % kPage;
    if (size >= kMuch)  // it may be refused: then pages are small
      madvise(buffer.data_ + kPage - before, static_cast<size_t>(size - kPage), MADV_HUGEPAGE);
#endif
    return buffer;
  }
  bool empty() const { return !memory_; }
  uint8_t* data() const { return data_; }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }

 private:
  struct Free {
    void operator()(uint8_t* memory) const { std::free(memory); }
  };
  std::unique_ptr<uint8_t[], Free> memory_;
  uint8_t* data_ = nullptr;
};

// Bytes of each part of a thread's Scratch.
struct ScratchSizes {
  int64_t rows = 0;
  int64_t tile = 0;
  int64_t distances = 0;
  int64_t planes = 0;
  int64_t offers = 0;
  int64_t groups = 0;
  int64_t notes = 0;
  int64_t total() const { return rows + tile + distances + planes + offers + groups + notes; }
};

// Owns the working memory of one thread.
class ThreadScratch {
 public:
  explicit ThreadScratch(const ScratchSizes& sizes)
      : rows_(sizes.rows),
        tile_(sizes.tile),
        distances_(sizes.distances),
        planes_(sizes.planes),
        offers_(sizes.offers),
        groups_(sizes.groups),
        notes_(sizes.notes) {}
  Scratch view() const {
    return {rows_.data(),   tile_.data(),   distances_.data(), planes_.data(),
            offers_.data(), groups_.data(), notes_.data()};
  }

 private:
  Buffer rows_, tile_, distances_, planes_, offers_, groups_, notes_;
};

}  // namespace softmodes
