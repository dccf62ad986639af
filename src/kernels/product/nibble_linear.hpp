#pragma once

// y = f(x W^T + b) with weights of 4 bits.
//
// The depth is split into groups of 32. In each group, a row of W is s (n - 8), where n are
// integers of 0..15 and s is a float16. The number of the largest magnitude becomes n = 0. This is
// the format Q4_0 of llama.cpp, so such weights are stored without loss. A row of x is t q in each
// group, where q are integers of -127..127, rounded when the layer runs. Then
//     x W^T = sum over groups of s t (q n - 8 sum(q)),
// and q n is an exact product of integers (simd/nibble.hpp). A scale for each group of x keeps
// outliers, which hidden states of language models have, from using up all the steps.
//
// Weights are unpacked in registers. A panel has, for each group of the depth, the scales of its
// kPanel columns, then 16 bytes for each column, so that it is read sequentially: 4.5 bits for a
// weight.

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/arrays/half.hpp"
#include "kernels/product/quantise.hpp"
#include "kernels/product/rounded_linear.hpp"
#include "simd/nibble.hpp"
#include "simd/widen.hpp"

namespace heed::kernels {

/// The most rows of x whose products with a vector of columns are computed at a time. More rows
/// share the unpacking of the weights; six were 1.1 times as fast as four and as three.
template <class Isa>
inline constexpr int kNibbleRows = std::min(simd::Traits<Isa>::kRows, 6);

/// Depths that share the bytes of a column in a vector.
inline constexpr int kEight = 8;
/// The bytes of a group of a row of x.
inline constexpr int kNibbleLeft = kNibbleGroup / kEight * simd::kEightBytes;

/// The products of some rows of a block of x with `Vectors` vectors of columns of a panel.
template <class Isa, int Rows, int Vectors>
[[gnu::noinline]] void multiply_nibbles(const std::int8_t* x, const NibbleRow* x_rows,
                                        const std::uint8_t* panel, int first_vector,
                                        std::int64_t groups, const float* bias, float* c,
                                        std::ptrdiff_t c_stride) noexcept {
  using V = simd::Vector<Isa>;
  using Dot = simd::NibbleDot<Isa>;
  using Halves = simd::Halves<Isa, false>;
  constexpr int kLanes = static_cast<int>(V::size);
  constexpr int kStep = kPanel<Isa> * simd::kGroup;  // the bytes of eight depths
  const Dot dot;
  const Halves halves;
  const V half_scale = simd::held<Isa>(Halves::kScale);
  V sums[Rows][Vectors];
  for (int v = 0; v < Vectors; ++v)
    for (int r = 0; r < Rows; ++r)
      sums[r][v] = V::load_unaligned(bias + (first_vector + v) * kLanes);
  const std::uint8_t* scales_at = panel + first_vector * kLanes * 2;
  const std::uint8_t* weights = panel + kPanel<Isa> * 2 + first_vector * kLanes * simd::kGroup;
  for (std::int64_t g = 0; g < groups; ++g) {
    typename Dot::Sum products[Rows][Vectors];
    for (auto& row : products)
      for (auto& product : row) product = Dot::zero();
    // If LLVM unrolled the loop, V8 would keep many numbers of x in memory: with one row it took
    // 1.1 times as long, with six rows 1.1 to 1.4 times.
    const std::uint8_t* w = weights;
#pragma GCC unroll 1
    for (const std::int8_t* a = x; a != x + kNibbleLeft; a += simd::kEightBytes, w += kStep) {
      for (int v = 0; v < Vectors; ++v) {
        const auto right = dot.right(w + v * kLanes * simd::kGroup);
        for (int r = 0; r < Rows; ++r) dot.add(right, a + r * kNibbleLeft, products[r][v]);
      }
      hide(w);
      hide(a);
    }
    V scales[2];  // with one vector, the second has no meaning
    halves(reinterpret_cast<const std::uint16_t*>(scales_at), scales);
    for (int v = 0; v < Vectors; ++v) {
      const V scale = scales[v] * half_scale;
      for (int r = 0; r < Rows; ++r) {
        const auto sum = dot.finish(products[r][v], simd::Sums<Isa>(x_rows[r].correction));
        sums[r][v] = simd::madd<Isa>(simd::to_float(sum), scale * V(x_rows[r].step), sums[r][v]);
      }
    }
    x += simd::Traits<Isa>::kRows * kNibbleLeft;
    x_rows += simd::Traits<Isa>::kRows;
    scales_at += kNibbleColumn * kPanel<Isa>;
    weights += kNibbleColumn * kPanel<Isa>;
  }
  for (int r = 0; r < Rows; ++r)
    for (int v = 0; v < Vectors; ++v)
      sums[r][v].store_unaligned(c + r * c_stride + (first_vector + v) * kLanes);
}

/// The same for some of the rows, with all columns of the panel. Returns the number of rows. With
/// one row, the sums of both vectors fit the registers; with more rows, the sums of one vector do.
template <class Isa, int Rows = kNibbleRows<Isa>>
int multiply_nibble_rows(int rows, const std::int8_t* x, const NibbleRow* x_rows,
                         const std::uint8_t* panel, std::int64_t groups, const float* bias,
                         float* c, std::ptrdiff_t c_stride) noexcept {
  static_assert(simd::Traits<Isa>::kVectors == 2);
  if constexpr (Rows == 1) {
    multiply_nibbles<Isa, 1, 2>(x, x_rows, panel, 0, groups, bias, c, c_stride);
  } else {
    if (rows < Rows)
      return multiply_nibble_rows<Isa, Rows / 2>(rows, x, x_rows, panel, groups, bias, c, c_stride);
    for (int v = 0; v < 2; ++v)
      multiply_nibbles<Isa, Rows, 1>(x, x_rows, panel, v, groups, bias, c, c_stride);
  }
  return Rows;
}

template <class Isa>
void nibble_linear(const NibbleLinearTile& t) noexcept {
  constexpr int kWidth = kPanel<Isa>;
  const std::int64_t groups = nibble_groups(t.in);
  for (std::int64_t column = 0; column < t.columns; column += kWidth) {
    const std::int64_t width = std::min<std::int64_t>(kWidth, t.columns - column);
    alignas(64) float bias[kWidth] = {};
    if (t.bias) std::copy_n(t.bias + column, width, bias);
    multiply_panel<Isa>(
        t, column, width, [&](std::int64_t r, int rows, float* c, std::ptrdiff_t stride) {
          for (int i = 0; i < rows;)
            i += multiply_nibble_rows<Isa>(
                rows - i, t.x + (r * groups + i) * kNibbleLeft, t.x_rows + r * groups + i,
                t.weight + column * groups * kNibbleColumn, groups, bias, c + i * stride, stride);
        });
  }
}

/// Copies a group of a row, padded with zeros, and finds its minimum and maximum. Returns whether
/// all numbers are finite.
template <class Isa>
bool read_group(const float* row, std::int64_t depth, std::int64_t group,
                float (&numbers)[kNibbleGroup], float& least, float& greatest) noexcept {
  const std::int64_t first = group * kNibbleGroup;
  const std::int64_t count = std::min(kNibbleGroup, depth - first);
  std::fill(std::copy_n(row + first, count, numbers), std::end(numbers), 0.0f);
  return find_range<Isa>(row + first, count, least, greatest);
}

/// Rounds rows of x to register blocks: a group of each of kRows rows, then the next groups.
template <class Isa>
void quantise_nibble_left(const float* rows, std::int64_t count, std::int64_t depth,
                          std::int8_t* blocks, NibbleRow* nibble_rows) noexcept {
  constexpr int kRows = simd::Traits<Isa>::kRows;
  const std::int64_t groups = nibble_groups(depth);
  for (std::int64_t r = 0; r < count; ++r, rows += depth) {
    for (std::int64_t g = 0; g < groups; ++g) {
      float numbers[kNibbleGroup], least, greatest;
      const bool finite = read_group<Isa>(rows, depth, g, numbers, least, greatest);
      const float step = std::max(-least, greatest) / 127.0f;
      const float inverse = inverse_of(step);
      const std::int64_t at = (r / kRows * groups + g) * kRows + r % kRows;
      std::int32_t sum = 0;
      for (int k = 0; k < kNibbleGroup / kEight; ++k) {
        std::int8_t bytes[kEight];
        sum += round_to_bytes<kEight>(numbers + k * kEight, inverse, kRoundToLowBits, bytes);
        simd::store_eight(bytes, blocks + at * kNibbleLeft + k * simd::kEightBytes);
      }
      nibble_rows[at] = {finite ? step : std::numeric_limits<float>::quiet_NaN(), -8 * sum};
    }
  }
}

/// Rounds rows of W to columns of panels. Returns whether all numbers are finite and all scales fit
/// float16.
template <class Isa>
bool quantise_nibble_weight(const float* rows, std::int64_t count, std::int64_t depth,
                            std::uint8_t* panels) noexcept {
  constexpr int kWidth = kPanel<Isa>;
  constexpr int kStep = kWidth * simd::kGroup;
  const std::int64_t groups = nibble_groups(depth);
  std::fill_n(panels, whole_panels<Isa>(count) * groups * kNibbleColumn, std::uint8_t{0});
  for (std::int64_t r = 0; r < count; ++r, rows += depth) {
    for (std::int64_t g = 0; g < groups; ++g) {
      float numbers[kNibbleGroup], least, greatest;
      if (!read_group<Isa>(rows, depth, g, numbers, least, greatest)) return false;
      const std::uint16_t half = to_float16<Isa>((-least > greatest ? least : greatest) / -8.0f);
      if ((half & 0x7fffu) >= 0x7c00u) return false;
      const float scale = from_float16<Isa>(half);
      std::uint8_t* const group =
          panels + r / kWidth * kWidth * groups * kNibbleColumn + g * kWidth * kNibbleColumn;
      std::memcpy(group + r % kWidth * 2, &half, sizeof(half));
      for (int d = 0; d < kNibbleGroup; ++d) {
        const float n = scale == 0.0f ? 8.0f : std::nearbyint(numbers[d] / scale) + 8.0f;
        const auto nibble = static_cast<std::uint8_t>(std::clamp(n, 0.0f, 15.0f));
        group[kWidth * 2 + d / kEight * kStep + r % kWidth * simd::kGroup + d % 4] |=
            static_cast<std::uint8_t>(nibble << d % kEight / 4 * 4);
      }
    }
  }
  return true;
}

}  // namespace heed::kernels
