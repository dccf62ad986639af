#pragma once

// y = f(x W^T + b) for a tile of rows and columns.
//
// Both factors are packed: W in panels of columns, x in register blocks. Otherwise rows that are a
// power of two apart fall into the same cache sets (with 2 KB between them the product was a
// quarter slower). The sums begin with the bias, and the activation follows each block of the last
// slice of the depth.

#include <algorithm>
#include <bit>

#include "kernels/arrays/widen.hpp"
#include "kernels/layers/activate.hpp"
#include "kernels/product/micro_kernel.hpp"
#include "kernels/product/table.hpp"

namespace heed::kernels {

/// A slice of a panel, 24 KB at 8 columns, stays in the first-level cache while all rows of the
/// tile pass over it; between slices y holds the running sum. Chromium reached 93.0 % of the peak
/// of multiply-adds for [512, 768] x [768, 3072] with slices of 256, and 95.7 % with slices of 768.
/// With 16 columns (256 bits in Node 26 on Zen 4), slices of 384 took 1.03 times as long as slices
/// of 768.
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

/// A row of W, of which `next` reads two vectors.
template <class Isa>
struct FloatRow {
  using V = simd::Vector<Isa>;
  const float* at;

  void next(V (&out)[2]) noexcept {
    for (V& x : out) {
      x = V::load_unaligned(at);
      at += V::size;
    }
  }
  bool is_right() const noexcept { return true; }
};

/// The same of float16, divided by Halves::kScale; wrong unless all are finite.
template <class Isa>
struct HalfRow {
  using V = simd::Vector<Isa>;
  using Halves = simd::Halves<Isa, false>;
  const std::uint16_t* at;
  Halves halves{};
  FiniteHalves<Isa> finite{};

  void next(V (&out)[2]) noexcept {
    halves(at, out);
    finite.add(at);
    at += 2 * V::size;
  }
  bool is_right() const noexcept { return finite.are_all(); }
};

/// scaled = x Halves::kScale / step, so that halves need no factor. The step of a row is a power of
/// two, 1 unless numbers of 2^16 or more would leave the range of floats.
template <class Isa>
void scale_for_halves(const float* x, std::int64_t rows, std::int64_t in, float* scaled,
                      float* steps) noexcept {
  constexpr std::int32_t kBias = 127;
  constexpr std::int32_t kScale =
      std::bit_cast<std::int32_t>(simd::Halves<Isa, false>::kScale) >> 23;
  for (std::int64_t r = 0; r < rows; ++r, x += in, scaled += in) {
    std::int32_t most = 0;  // bits of a magnitude; these integers compare as the floats do
    for (std::int64_t i = 0; i < in; ++i)
      most = std::max(most, std::bit_cast<std::int32_t>(x[i]) & 0x7fffffff);
    const std::int32_t excess = std::max(0, (most >> 23) + (kScale - kBias) - 2 * kBias);
    const float scale = std::bit_cast<float>((kScale - excess) << 23);
    for (std::int64_t i = 0; i < in; ++i) scaled[i] = x[i] * scale;
    steps[r] = std::bit_cast<float>((kBias + excess) << 23);
  }
}

/// The dot product of the last numbers, which do not fill a vector.
template <class Isa, class Number>
[[gnu::noinline]] float multiply_rest(const float* x, const Number* w, const float* end) noexcept {
  float sum = 0.0f;
  for (; x != end; ++x, ++w) {
    if constexpr (sizeof(Number) == 2)
      sum += *x * (from_float16<Isa>(*w) * (1.0f / simd::Halves<Isa, false>::kScale));
    else
      sum += *x * *w;
  }
  return sum;
}

/// The products of some rows of x with one row of W, both in place. Using one row of W at a time
/// reads memory sequentially: four at a time were a quarter slower. Returns whether the products
/// are right: the row of W may have infinities.
template <class Isa, int Rows, class Row>
bool multiply_by_row(const float* x, std::ptrdiff_t in, Row w, float* y,
                     std::ptrdiff_t y_stride) noexcept {
  using V = simd::Vector<Isa>;
  constexpr std::ptrdiff_t kLanes = V::size;
  // Independent sums, because an addition takes about four cycles.
  constexpr int kPairs = Rows <= 2 ? 2 : 1;
  V sums[kPairs][Rows][2];
  for (auto& pair : sums)
    for (auto& row : pair)
      for (V& sum : row) sum = V(0.0f);
  const float* const end = x + in;
  const auto step = [&](V(&pair)[Rows][2]) __attribute__((always_inline)) {
    V part[2];
    w.next(part);
    for (int r = 0; r < Rows; ++r)
      for (int i = 0; i < 2; ++i)
        pair[r][i] =
            simd::madd<Isa>(V::load_unaligned(x + r * in + i * kLanes), part[i], pair[r][i]);
    x += 2 * kLanes;
  };
  const float* const last = x + in / (2 * kPairs * kLanes) * (2 * kPairs * kLanes);
  while (x != last)
    for (auto& pair : sums) step(pair);
  if constexpr (kPairs > 1) {
    if (end - x >= 2 * kLanes) step(sums[0]);
    for (int r = 0; r < Rows; ++r)
      for (int i = 0; i < 2; ++i) sums[0][r][i] += sums[1][r][i];
  }
  for (int r = 0; r < Rows; ++r) {
    y[r * y_stride] = simd::reduce_add(sums[0][r][0] + sums[0][r][1]);
    if (x != end) y[r * y_stride] += multiply_rest<Isa>(x + r * in, w.at, end + r * in);
  }
  return w.is_right();
}

/// multiply_by_row as a separate function. Browsers optimise a function as a whole, so the one that
/// multiplies a single row, a token, is optimised sooner without the code for several.
template <class Isa, int Rows, class Row>
[[gnu::noinline]] bool multiply_some_by_row(const float* x, std::ptrdiff_t in, Row w, float* y,
                                            std::ptrdiff_t y_stride) noexcept {
  return multiply_by_row<Isa, Rows>(x, in, w, y, y_stride);
}

/// The products of min(rows, Rows) rows, with rows >= 1.
template <class Isa, int Rows = simd::Traits<Isa>::kRows, class Row>
inline bool multiply_by_row(int rows, const float* x, std::ptrdiff_t in, const Row& w, float* y,
                            std::ptrdiff_t y_stride) noexcept {
  if constexpr (Rows > 1) {
    if (rows < Rows) return multiply_by_row<Isa, Rows - 1>(rows, x, in, w, y, y_stride);
    return multiply_some_by_row<Isa, Rows>(x, in, w, y, y_stride);
  } else {
    return multiply_by_row<Isa, 1>(x, in, w, y, y_stride);
  }
}

/// The maximum number of rows of x that are multiplied with a row of float16 at a time. Each larger
/// number of rows would need one more function.
inline constexpr int kHalfRows = 3;

/// y = f(x W^T + b) with x and W in place, row by row, for a few rows of x: packing W takes longer
/// than reading it. Rows of float16 are widened in registers.
template <class Isa>
void linear_in_place(const LinearTile& t) noexcept {
  constexpr int kRows = simd::Traits<Isa>::kRows;
  constexpr int kWidth = kPanel<Isa>;
  const auto in = static_cast<std::ptrdiff_t>(t.in);
  HalfRow<Isa> half_row{t.halves};
  for (std::int64_t column = 0; column < t.columns; column += kWidth) {
    const std::int64_t width = std::min<std::int64_t>(kWidth, t.columns - column);
    for (std::int64_t r = 0; r < t.rows; r += kRows) {
      const int rows = static_cast<int>(std::min<std::int64_t>(kRows, t.rows - r));
      const float* const x = t.x + r * t.in;
      float block[kRows * kWidth] = {};
      for (std::int64_t c = 0; c < width; ++c) {
        const std::int64_t at = (column + c) * t.in;
        float* const y = block + c;
        if (!t.halves) {
          multiply_by_row<Isa>(rows, x, in, FloatRow<Isa>{t.weight + at}, y, kWidth);
          continue;
        }
        half_row.at = t.halves + at;
        bool is_right = true;
        for (int i = 0; i < rows; i += kHalfRows)
          is_right &= multiply_by_row<Isa, kHalfRows>(rows - i, x + i * in, in, half_row,
                                                      y + i * kWidth, kWidth);
        if (is_right) continue;
        for (int i = 0; i < rows; ++i)
          y[i * kWidth] = multiply_rest<Isa>(x + i * in, half_row.at, x + (i + 1) * in);
      }
      if (t.steps)
        for (int i = 0; i < rows; ++i)
          for (int c = 0; c < kWidth; ++c) block[i * kWidth + c] *= t.steps[r + i];
      if (t.bias)
        for (int i = 0; i < rows; ++i)
          for (std::int64_t c = 0; c < width; ++c) block[i * kWidth + c] += t.bias[column + c];
      activate<Isa>(t.activation, rows, block, kWidth);
      for (int i = 0; i < rows; ++i)
        std::copy_n(block + i * kWidth, width, t.y + (r + i) * t.y_stride + column);
    }
  }
}

}  // namespace heed::kernels
