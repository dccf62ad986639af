#pragma once

// y = x W^T + b for a tile of rows and columns.
//
// The depth is cut into slices of 256, so that a slice of a panel (8 columns: 8 KB) stays in the
// first-level cache while all rows of the tile pass over it; y holds the running sum between
// slices. A last panel that is only partly columns of y goes through a block of its own, because
// the register block writes whole panels.

#include <algorithm>

#include "kernels/micro_kernel.hpp"
#include "kernels/table.hpp"

namespace heed::kernels {

template <class Isa>
void linear(const LinearTile& t) noexcept {
  constexpr int kRows = simd::Traits<Isa>::kRows;
  constexpr int kWidth = kPanel<Isa>;
  constexpr std::int64_t kSlice = 256;
  for (std::int64_t r = 0; r < t.rows; ++r) {
    if (t.bias)
      std::copy_n(t.bias, t.columns, t.y + r * t.y_stride);
    else
      std::fill_n(t.y + r * t.y_stride, t.columns, 0.0f);
  }
  for (std::int64_t d = 0; d < t.in; d += kSlice) {
    const std::int64_t depth = std::min(kSlice, t.in - d);
    for (std::int64_t column = 0; column < t.columns; column += kWidth) {
      const float* panel = t.panels + column * t.in + d * kWidth;
      const std::int64_t width = std::min<std::int64_t>(kWidth, t.columns - column);
      for (std::int64_t r = 0; r < t.rows; r += kRows) {
        const int rows = static_cast<int>(std::min<std::int64_t>(kRows, t.rows - r));
        const float* x = t.x + r * t.in + d;
        float* y = t.y + r * t.y_stride + column;
        if (width == kWidth) {
          multiply_rows<Isa, true>(rows, StridedLeft{x, static_cast<std::ptrdiff_t>(t.in)}, panel,
                                   depth, y, t.y_stride);
          continue;
        }
        float block[kRows * kWidth];
        multiply_rows<Isa, false>(rows, StridedLeft{x, static_cast<std::ptrdiff_t>(t.in)}, panel,
                                  depth, block, kWidth);
        for (int i = 0; i < rows; ++i)
          for (std::int64_t c = 0; c < width; ++c) y[i * t.y_stride + c] += block[i * kWidth + c];
      }
    }
  }
}

}  // namespace heed::kernels
