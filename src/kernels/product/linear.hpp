#pragma once

// y = f(x W^T + b) for a tile of rows and columns.
//
// Both factors are packed: W in panels of columns, x in register blocks, because rows that are a
// power of two apart fall into the same cache sets (with 2 KB between them the product was a
// quarter slower). The sums begin with the bias, and the activation follows each block of the last
// slice of the depth.

#include <algorithm>

#include "kernels/layers/activate.hpp"
#include "kernels/product/micro_kernel.hpp"
#include "kernels/product/table.hpp"

namespace heed::kernels {

/// A slice of a panel, 24 KB at 8 columns, stays in the first-level cache while all rows of the
/// tile pass over it; between slices y holds the running sum. Of the peak of multiply-adds
/// [512, 768] x [768, 3072] reached 93.0 % in Chromium with slices of 256, and 95.7 % with 768.
/// With 16 columns (256 bits in Node 26 on Zen 4) slices of 384 took 1.03 times as long as those of
/// 768.
inline constexpr std::int64_t kLinearSlice = 768;
/// The numbers of x that, with the panels of a tile, stay in a second-level cache of 512 KB or
/// more. On a Zen 4 core, whose third-level cache is fast, this gains 0.5 %.
inline constexpr std::int64_t kLinearRowsTimesSlice = 96 * 1024;

template <class Isa>
void linear(const LinearTile& t) noexcept {
  constexpr int kRows = simd::Traits<Isa>::kRows;
  constexpr int kWidth = kPanel<Isa>;
  const std::int64_t slices = std::max<std::int64_t>(1, (t.in + kLinearSlice - 1) / kLinearSlice);
  const std::int64_t slice = (t.in + slices - 1) / slices;
  const std::int64_t row_chunk = std::max<std::int64_t>(
      kRows, kLinearRowsTimesSlice / std::max<std::int64_t>(1, slice) / kRows * kRows);
  for (std::int64_t first = 0; first < t.rows; first += row_chunk) {
    const std::int64_t last = std::min(first + row_chunk, t.rows);
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
          // A last panel with fewer columns of y is computed in a separate block.
          float part[kRows * kWidth];  // not cleared for each block: in WebAssembly that is a call
          float* const c = width == kWidth ? y : part;
          const std::ptrdiff_t stride = width == kWidth ? t.y_stride : kWidth;
          if (n > 0 && c == part) {
            std::fill_n(part, kRows * kWidth, 0.0f);
            for (int i = 0; i < rows; ++i)
              std::copy_n(y + i * t.y_stride, width, part + i * kWidth);
          }
          multiply_rows<Isa, true>(rows, x, panel, depth, n == 0 ? bias : c, n == 0 ? 0 : stride, c,
                                   stride);
          if (n + 1 == slices) activate<Isa>(t.activation, rows, c, stride);
          if (c == part)
            for (int i = 0; i < rows; ++i)
              std::copy_n(part + i * kWidth, width, y + i * t.y_stride);
        }
      }
    }
  }
}

/// The dot product of the last numbers, which do not fill a vector.
template <class Isa>
[[gnu::noinline]] float multiply_rest(const float* a, const float* b, std::int64_t count) noexcept {
  float sum = 0.0f;
  for (std::int64_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

/// The products of some rows of x with one row of W, both in place. One row of W at a time reads
/// memory sequentially: four at a time were a quarter slower.
template <class Isa, int Rows>
void multiply_by_row(const float* x, std::int64_t in, const float* w, float* y,
                     std::ptrdiff_t y_stride) noexcept {
  using V = simd::Vector<Isa>;
  constexpr int kLanes = static_cast<int>(V::size);
  constexpr int kChains = 2;  // independent sums
  V sums[Rows][kChains];
  for (int r = 0; r < Rows; ++r)
    for (V& sum : sums[r]) sum = V(0.0f);
  std::int64_t d = 0;
  for (; d + kChains * kLanes <= in; d += kChains * kLanes) {
    V part[kChains];
    for (int i = 0; i < kChains; ++i) part[i] = V::load_unaligned(w + d + i * kLanes);
    for (int r = 0; r < Rows; ++r)
      for (int i = 0; i < kChains; ++i)
        sums[r][i] =
            simd::madd<Isa>(V::load_unaligned(x + r * in + d + i * kLanes), part[i], sums[r][i]);
  }
  for (int r = 0; r < Rows; ++r) {
    y[r * y_stride] = xsimd::reduce_add(sums[r][0] + sums[r][1]);
    if (d < in) y[r * y_stride] += multiply_rest<Isa>(x + r * in + d, w + d, in - d);
  }
}

template <class Isa, int Rows = simd::Traits<Isa>::kRows>
inline void multiply_by_row(int rows, const float* x, std::int64_t in, const float* w, float* y,
                            std::ptrdiff_t y_stride) noexcept {
  if constexpr (Rows > 1) {
    if (rows < Rows) return multiply_by_row<Isa, Rows - 1>(rows, x, in, w, y, y_stride);
  }
  multiply_by_row<Isa, Rows>(x, in, w, y, y_stride);
}

/// y = f(x W^T + b) with x and W in place, row by row, for a few rows of x: packing W takes longer
/// than reading it.
template <class Isa>
void linear_in_place(const LinearTile& t) noexcept {
  constexpr int kRows = simd::Traits<Isa>::kRows;
  constexpr int kWidth = kPanel<Isa>;
  for (std::int64_t column = 0; column < t.columns; column += kWidth) {
    const std::int64_t width = std::min<std::int64_t>(kWidth, t.columns - column);
    for (std::int64_t r = 0; r < t.rows; r += kRows) {
      const int rows = static_cast<int>(std::min<std::int64_t>(kRows, t.rows - r));
      float block[kRows * kWidth] = {};
      for (std::int64_t c = 0; c < width; ++c) {
        multiply_by_row<Isa>(rows, t.x + r * t.in, t.in, t.weight + (column + c) * t.in, block + c,
                             kWidth);
        if (t.bias)
          for (int i = 0; i < rows; ++i) block[i * kWidth + c] += t.bias[column + c];
      }
      activate<Isa>(t.activation, rows, block, kWidth);
      for (int i = 0; i < rows; ++i)
        std::copy_n(block + i * kWidth, width, t.y + (r + i) * t.y_stride + column);
    }
  }
}

}  // namespace heed::kernels
