// Arrays as they cross the Python boundary, and how passes run on their side of it. Included by the
// binding files only.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "checks.hpp"
#include "parallel.hpp"

namespace softmodes {

template <class T, size_t N>
using Array = nanobind::ndarray<T, nanobind::ndim<N>, nanobind::c_contig, nanobind::device::cpu>;
template <class T>
using Vector = Array<T, 1>;
template <class T>
using Matrix = Array<T, 2>;
template <class T>
using Maybe = std::optional<T>;
template <class T>
using NewArray = nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>, nanobind::c_contig>;

inline void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

template <class A>
int64_t length(const A& array, size_t axis = 0) {
  return static_cast<int64_t>(array.shape(axis));
}

template <class A>
auto* pointer(const Maybe<A>& array) {
  return array ? array->data() : nullptr;
}

template <class T>
NewArray<T> as_array(std::vector<T>&& values) {
  auto owned = std::make_unique<std::vector<T>>(std::move(values));
  T* data = owned->data();
  const size_t size = owned->size();
  nanobind::capsule owner(owned.release(),
                          [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return NewArray<T>(data, {size}, owner);
}

template <class T>
NewArray<T> as_array(std::unique_ptr<T[]>&& values, int64_t n) {
  T* data = values.get();
  nanobind::capsule owner(values.release(), [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return NewArray<T>(data, {static_cast<size_t>(n)}, owner);
}

// Whether the entries of `starts` go from 0 to `end` without falling, in `n` steps.
inline bool is_list(const Vector<const int64_t>& starts, int64_t n, int64_t end) {
  if (length(starts) != n + 1 || starts.data()[0] != 0 || starts.data()[n] != end) return false;
  return never_fall(starts.data(), n + 1);
}

// Exact array types, nothing converted.
inline auto exact(const char* name) { return nanobind::arg(name).noconvert(); }
inline auto exact_or_none(const char* name) { return nanobind::arg(name).noconvert().none(); }

inline bool signal_pending() {
  const nanobind::gil_scoped_acquire held;
  return PyErr_CheckSignals() != 0;
}

// Runs without the GIL; a signal handler's exception goes on to Python.
template <class F>
auto without_gil(int n_threads, const F& f) {
  try {
    const nanobind::gil_scoped_release released;
    return f(Threads{n_threads, signal_pending});
  } catch (const Interrupt&) {
    throw nanobind::python_error();
  }
}

}  // namespace softmodes
