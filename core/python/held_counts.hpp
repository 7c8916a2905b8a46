// Counts as Python holds them.
#pragma once

#include <utility>
#include <vector>

#include "checks.hpp"
#include "layout/layout.hpp"
#include "python/arrays.hpp"
#include "rounds/counts.hpp"
#include "rounds/wide_prices.hpp"

namespace softmodes {

// Of all but the sparse features; keeps the layout and the arrays alive, and has checked them.
class HeldDense {
 public:
  HeldDense(nanobind::handle_t<Layout> layout, Matrix<const int64_t> counts,
            Vector<const int32_t> n_values)
      : owner_(nanobind::borrow(layout)),
        layout_(nanobind::cast<const Layout&>(layout)),
        counts_(std::move(counts)),
        n_values_(std::move(n_values)) {
    require(length(counts_, 1) == layout_.n_cells(), "counts must be clusters x cells");
    require(length(n_values_) == layout_.n_features, "n_values must have one entry per feature");
    const DenseCounts dense = view();
    for (int64_t j = 0; j < layout_.n_features; ++j)
      require(
          dense.is_sparse(j) || (dense.n_values[j] >= 0 && dense.n_values[j] <= layout_.n_codes[j]),
          "a feature has more values than codes");
  }

  DenseCounts view() const {
    return {counts_.data(),  layout_.offsets.data(), n_values_.data(),
            length(counts_), layout_.n_features,     layout_.n_cells()};
  }

 private:
  nanobind::object owner_;
  const Layout& layout_;
  Matrix<const int64_t> counts_;
  Vector<const int32_t> n_values_;
};

// Of all sparse features.
class HeldWide {
 public:
  HeldWide(Vector<const int64_t> starts, Vector<const int32_t> codes, Vector<const int64_t> counts,
           Vector<const int32_t> features, Vector<const int32_t> n_values, int64_t n_clusters)
      : starts_(std::move(starts)),
        codes_(std::move(codes)),
        counts_(std::move(counts)),
        features_(std::move(features)),
        n_values_(std::move(n_values)),
        value_starts_(static_cast<size_t>(length(features_)) + 1),
        n_clusters_(n_clusters) {
    require(n_clusters >= 0 && length(codes_) == length(counts_) &&
                is_list(starts_, n_clusters * length(features_), length(codes_)),
            "starts must go from 0 to the number of counts, by feature and cluster");
    require(length(n_values_) == length(features_), "n_values must have one entry per feature");
    for (int64_t f = 0; f < length(features_); ++f) {
      require(n_values_.data()[f] >= 0, "n_values must not be negative");
      value_starts_[f + 1] = value_starts_[f] + n_values_.data()[f];
    }
    require(never_negative(codes_.data(), length(codes_)), "codes must not be negative");
  }

  WideCounts view() const {
    return {starts_.data(),   codes_.data(),     counts_.data(), features_.data(),
            n_values_.data(), length(features_), n_clusters_};
  }
  const std::vector<int64_t>& value_starts() const { return value_starts_; }
  WideShape shape() const { return {value_starts_.data(), length(features_), n_clusters_}; }
  int64_t n_features() const { return length(features_); }
  int64_t n_values() const { return value_starts_.back(); }
  int64_t n_clusters() const { return n_clusters_; }

 private:
  Vector<const int64_t> starts_;
  Vector<const int32_t> codes_;
  Vector<const int64_t> counts_;
  Vector<const int32_t> features_;
  Vector<const int32_t> n_values_;
  std::vector<int64_t> value_starts_;
  int64_t n_clusters_;
};

// Which clusters have something of each value of all sparse features; keeps its arrays alive, and
// has checked them.
class HeldCells {
 public:
  HeldCells(Vector<const int64_t> indptr, Vector<const int32_t> clusters, int64_t n_clusters)
      : indptr_(std::move(indptr)), clusters_(std::move(clusters)), n_clusters_(n_clusters) {
    require(length(indptr_) >= 1 && is_list(indptr_, n_values(), n_cells()),
            "indptr must go from 0 to the number of cells, by value");
    require(are_within(clusters_.data(), n_cells(), n_clusters - 1),
            "clusters must lie in 0 .. k - 1");
  }

  ValueCells view() const { return {indptr_.data(), clusters_.data()}; }
  // Numbers that are listed so, of as many values and clusters.
  template <class T>
  ByValueView<T> with(const Vector<const T>& numbers, int64_t n_values, int64_t n_clusters) const {
    require(n_values == this->n_values() && n_clusters == n_clusters_,
            "cells must have the same values and clusters");
    require(length(numbers) == n_cells(), "there must be one number for each cell");
    return {view(), numbers.data()};
  }
  int64_t n_values() const { return length(indptr_) - 1; }
  int64_t n_cells() const { return length(clusters_); }
  int64_t n_clusters() const { return n_clusters_; }

 private:
  Vector<const int64_t> indptr_;
  Vector<const int32_t> clusters_;
  int64_t n_clusters_;
};

}  // namespace softmodes
