// A block as Python holds it.
#pragma once

#include "layout/layout.hpp"
#include "python/arrays.hpp"

namespace softmodes {

// Keeps the layout and the arrays alive, and has checked their shapes.
class HeldBlock {
 public:
  HeldBlock(nanobind::handle_t<Layout> layout, Matrix<const uint8_t> packed, int64_t first_row,
            Maybe<Vector<const int64_t>> weight, Maybe<nanobind::handle_t<Layout>> fit_layout)
      : owner_(nanobind::borrow(layout)),
        layout_(nanobind::cast<const Layout&>(layout)),
        packed_(std::move(packed)),
        first_row_(first_row),
        weight_(std::move(weight)) {
    if (fit_layout) {
      fit_owner_ = nanobind::borrow(*fit_layout);
      fit_layout_ = &nanobind::cast<const Layout&>(*fit_layout);
      require(fit_layout_->n_features == layout_.n_features,
              "fit_layout must have the features of layout");
    }
    require(length(packed_, 1) == layout_.stride, "packed must have layout.stride columns");
    require(!weight_ || length(*weight_) == length(packed_), "weight must have one entry per row");
  }

  const Layout& layout() const { return layout_; }
  int64_t n_rows() const { return length(packed_); }
  Block view() const {
    return {layout_, packed_.data(), n_rows(), first_row_, pointer(weight_), fit_layout_};
  }

 private:
  nanobind::object owner_, fit_owner_;
  const Layout& layout_;
  const Layout* fit_layout_ = nullptr;
  Matrix<const uint8_t> packed_;
  int64_t first_row_;
  Maybe<Vector<const int64_t>> weight_;
};

}  // namespace softmodes
