// Arrays as they cross the Python boundary. Included by the binding files only.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cstdint>
#include <optional>
#include <stdexcept>

namespace softmodes {

template <class T, size_t N>
using Array = nanobind::ndarray<T, nanobind::ndim<N>, nanobind::c_contig, nanobind::device::cpu>;
template <class T>
using Vector = Array<T, 1>;
template <class T>
using Matrix = Array<T, 2>;
template <class T>
using Maybe = std::optional<T>;

inline void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

template <class A>
int64_t length(const A& array, size_t axis = 0) {
  return static_cast<int64_t>(array.shape(axis));
}

}  // namespace softmodes
