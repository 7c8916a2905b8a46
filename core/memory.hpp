// Working memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

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
