#pragma once

// y_i = exp(x_i - max x) / sum_j exp(x_j - max x), row by row; a row of nothing but -inf gives
// zeros. Three passes over a row: maximum, exponentials and their sum, division.

#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernels/lanes.hpp"
#include "kernels/layers/table.hpp"

namespace heed::kernels {

template <class Isa>
void softmax(const float* x, std::int64_t rows, std::int64_t columns, float* y) noexcept {
  using V = simd::Vector<Isa>;
  constexpr std::int64_t kLanes = V::size;
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  const std::int64_t whole = columns / kLanes * kLanes;
  const simd::Exp2<Isa> exp2;
  for (std::int64_t row = 0; row < rows; ++row, x += columns, y += columns) {
    // The rest of the row, padded with -inf, which adds nothing.
    alignas(64) float tail[kLanes];
    std::fill(std::copy(x + whole, x + columns, tail), tail + kLanes, kLowest);

    V highest = V::load_aligned(tail);
    for (std::int64_t i = 0; i < whole; i += kLanes)
      highest = simd::max(highest, V::load_unaligned(x + i));
    const float maximum = simd::reduce_max(highest);
    if (maximum == kLowest) {
      // All numbers are -inf, or there is a NaN: the maximum may ignore it, but the sum keeps it.
      float sum = 0.0f;
      for (std::int64_t i = 0; i < columns; ++i) sum += x[i];
      std::fill_n(y, columns, sum == kLowest ? 0.0f : sum);
      continue;
    }
    const V shift(maximum);
    const V tail_exponential = exp2.natural(V::load_aligned(tail) - shift);
    V sum = tail_exponential;
    for (std::int64_t i = 0; i < whole; i += kLanes) {
      const V exponential = exp2.natural(V::load_unaligned(x + i) - shift);
      exponential.store_unaligned(y + i);
      sum += exponential;
    }
    const V scale(1.0f / simd::reduce_add(sum));
    for (std::int64_t i = 0; i < whole; i += kLanes)
      (V::load_unaligned(y + i) * scale).store_unaligned(y + i);
    (tail_exponential * scale).store_aligned(tail);
    std::copy_n(tail, columns - whole, y + whole);
  }
}

/// The sums that the logarithm of a softmax and its mean need: chunks of a row in float, the sums
/// of chunks in double.
template <class Isa>
void softmax_sums(const float* x, std::int64_t rows, std::int64_t columns,
                  RowSums* row_sums) noexcept {
  using V = simd::Vector<Isa>;
  using L = Lanes<Isa>;
  const simd::Exp2<Isa> exp2;
  for (std::int64_t row = 0; row < rows; ++row, x += columns) {
    V highest(-std::numeric_limits<float>::infinity());
    float rest = -std::numeric_limits<float>::infinity();
    std::int64_t i = 0;
    for (; i + L::kSize <= columns; i += L::kSize)
      highest = simd::max(highest, V::load_unaligned(x + i));
    for (; i < columns; ++i) rest = std::max(rest, x[i]);
    const float maximum = std::max(rest, simd::reduce_max(highest));
    double exponentials = 0.0, differences = 0.0;
    for_chunks(columns, [&](std::int64_t begin, std::int64_t end) {
      typename L::Sum part, difference_part;
      L::each(begin, end, [&]<class T>(std::int64_t at, int chain) {
        const T difference = L::template load<T>(x + at) - T(maximum);
        if constexpr (sizeof(T) == sizeof(float))
          part.add(chain, exp2.natural(V(difference)).get(0));
        else
          part.add(chain, exp2.natural(difference));
        difference_part.add(chain, difference);
      });
      exponentials += part.total();
      differences += difference_part.total();
    });
    row_sums[row] = {maximum, exponentials, differences};
  }
}

/// d_x = y (d_y - sum_j d_y_j y_j), row by row
template <class Isa>
void softmax_backward(const float* d_y, const float* y, std::int64_t rows, std::int64_t columns,
                      float* d_x) noexcept {
  using L = Lanes<Isa>;
  for (std::int64_t row = 0; row < rows; ++row, d_y += columns, y += columns, d_x += columns) {
    double sum = 0.0;
    for_chunks(columns, [&](std::int64_t begin, std::int64_t end) {
      typename L::Sum part;
      L::each(begin, end, [&]<class T>(std::int64_t i, int chain) {
        part.add(chain, L::template load<T>(d_y + i) * L::template load<T>(y + i));
      });
      sum += part.total();
    });
    const auto product = static_cast<float>(sum);
    L::each(0, columns, [&]<class T>(std::int64_t i, int) {
      L::store(d_x + i, L::template load<T>(y + i) * (L::template load<T>(d_y + i) - T(product)));
    });
  }
}

}  // namespace heed::kernels
