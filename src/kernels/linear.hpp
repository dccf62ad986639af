#pragma once

// y = f(x W^T + b) for a tile of rows and columns.
//
// Both factors are packed: W in panels of columns, x in register blocks, because rows that lie a
// power of two apart fall into the same cache sets (with 2 KB between them the product was a
// quarter slower). The bias is what the sums begin with, and the activation follows each block of
// the last slice of the depth.

#include <algorithm>

#include "kernels/activate.hpp"
#include "kernels/micro_kernel.hpp"
#include "kernels/table.hpp"

namespace heed::kernels {

/// A slice of a panel, 24 KB at 8 columns, stays in the first-level cache while all rows of the
/// tile pass over it; between slices y holds the running sum.
inline constexpr std::int64_t kLinearSlice = 768;
/// So many numbers of x, with the panels of a tile, stay in the second-level cache.
inline constexpr std::int64_t kLinearRowsTimesSlice = 96 * 1024;

template <class Isa>
void linear(const LinearTile& t) noexcept {
  constexpr int kRows = simd::Traits<Isa>::kRows;
  constexpr int kWidth = kPanel<Isa>;
  const std::int64_t slices = std::max<std::int64_t>(1, (t.in + kLinearSlice - 1) / kLinearSlice);
  const std::int64_t slice = (t.in + slices - 1) / slices;
  const std::int64_t stretch = std::max<std::int64_t>(
      kRows, kLinearRowsTimesSlice / std::max<std::int64_t>(1, slice) / kRows * kRows);
  for (std::int64_t first = 0; first < t.rows; first += stretch) {
    const std::int64_t last = std::min(first + stretch, t.rows);
    for (std::int64_t n = 0; n < slices; ++n) {
      const std::int64_t d = std::min(n * slice, t.in);
      const std::int64_t depth = std::min(slice, t.in - d);
      for (std::int64_t column = 0; column < t.columns; column += kWidth) {
        const float* panel = t.weight + column * t.in + d * kWidth;
        const std::int64_t width = std::min<std::int64_t>(kWidth, t.columns - column);
        alignas(64) float bias[kWidth] = {};
        if (t.bias) std::copy_n(t.bias + column, width, bias);
        for (std::int64_t r = first; r < last; r += kRows) {
          const int rows = static_cast<int>(std::min<std::int64_t>(kRows, t.rows - r));
          const FixedLeft<1, kRows> x{t.x + r * t.in + d * kRows};
          float* const y = t.y + r * t.y_stride + column;
          // A last panel that is only partly columns of y goes through a block of its own.
          float part[kRows * kWidth];
          float* const c = width == kWidth ? y : part;
          const std::ptrdiff_t stride = width == kWidth ? t.y_stride : kWidth;
          if (n == 0) {
            multiply_rows<Isa, true>(rows, x, panel, depth, bias, 0, c, stride);
          } else {
            if (c == part)
              for (int i = 0; i < rows; ++i)
                std::copy_n(y + i * t.y_stride, width, part + i * kWidth);
            multiply_rows<Isa, true>(rows, x, panel, depth, c, stride);
          }
          if (n + 1 == slices) activate<Isa>(t.activation, rows, c, stride);
          if (c == part)
            for (int i = 0; i < rows; ++i)
              std::copy_n(part + i * kWidth, width, y + i * t.y_stride);
        }
      }
    }
  }
}

/// The same where x and W lie, row by row, for a few rows of x: packing W, which takes longer than
/// reading it, would not pay.
template <class Isa>
void linear_in_place(const LinearTile& t) noexcept {
  using V = simd::Vector<Isa>;
  constexpr int kLanes = static_cast<int>(V::size);
  constexpr int kColumns = 4;
  constexpr int kWidth = kPanel<Isa>;
  static_assert(kWidth % kColumns == 0);
  const std::int64_t whole = t.in / kLanes * kLanes;
  for (std::int64_t first = 0; first < t.columns; first += kWidth) {
    const std::int64_t width = std::min<std::int64_t>(kWidth, t.columns - first);
    for (std::int64_t r = 0; r < t.rows; ++r) {
      const float* const x = t.x + r * t.in;
      alignas(64) float row[kWidth] = {};
      for (std::int64_t column = 0; column < width; column += kColumns) {
        const float* w[kColumns];
        for (int i = 0; i < kColumns; ++i)  // beyond the last column the last one once more
          w[i] = t.weight + (first + std::min(column + i, width - 1)) * t.in;
        V sums[kColumns];
        for (V& sum : sums) sum = V(0.0f);
        for (std::int64_t d = 0; d < whole; d += kLanes) {
          const V x_part = V::load_unaligned(x + d);
          for (int i = 0; i < kColumns; ++i)
            sums[i] = simd::madd<Isa>(x_part, V::load_unaligned(w[i] + d), sums[i]);
        }
        for (int i = 0; i < kColumns; ++i) {
          float sum = xsimd::reduce_add(sums[i]);
          for (std::int64_t d = whole; d < t.in; ++d) sum += x[d] * w[i][d];
          row[column + i] = sum;
        }
      }
      if (t.bias)
        for (std::int64_t c = 0; c < width; ++c) row[c] += t.bias[first + c];
      activate<Isa>(t.activation, 1, row, kWidth);
      std::copy_n(row, width, t.y + r * t.y_stride + first);
    }
  }
}

}  // namespace heed::kernels
