#pragma once

// Sums over rows, and cumulative sums. Blocks of kSumTerms rows are added in float, and their sums
// in double: the error of a float sum of a hundred numbers is a few roundings. With fewer columns
// than kMinSumColumns, several rows are treated as one wide row.

#include <cstdint>

#include "kernels/arrays/table.hpp"

namespace heed::kernels {

/// sums[c] += x[r][c]
template <class Isa>
void add_rows(const float* x, std::int64_t rows, std::int64_t stride, std::int64_t width,
              float* __restrict sums) noexcept {
  std::int64_t r = 0;
  for (; r + 4 <= rows; r += 4, x += 4 * stride)
    for (std::int64_t c = 0; c < width; ++c)
      sums[c] += (x[c] + x[stride + c]) + (x[2 * stride + c] + x[3 * stride + c]);
  for (; r < rows; ++r, x += stride)
    for (std::int64_t c = 0; c < width; ++c) sums[c] += x[c];
}

template <class Isa>
void sum_block(const float* x, std::int64_t rows, std::int64_t columns, std::int64_t width,
               std::int64_t together, double* sums) noexcept {
  float side[kSumColumns] = {};
  const std::int64_t whole = rows / together;
  add_rows<Isa>(x, whole, together * columns, together * width, side);
  for (std::int64_t c = 0; c < width; ++c) {
    double sum = 0.0;
    for (std::int64_t i = 0; i < together; ++i) sum += side[i * columns + c];
    for (std::int64_t r = whole * together; r < rows; ++r) sum += x[r * columns + c];
    sums[c] = sum;
  }
}

template <class Isa>
void sum_parts(double* parts, std::int64_t rows, std::int64_t columns, float* sums) noexcept {
  for (std::int64_t r = 1; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) parts[c] += parts[r * columns + c];
  for (std::int64_t c = 0; c < columns; ++c) sums[c] = static_cast<float>(parts[c]);
}

template <class Isa>
void running_sums(const float* x, std::int64_t rows, std::int64_t stride, std::int64_t width,
                  float* y) noexcept {
  double sums[kSumColumns];
  for (std::int64_t c = 0; c < width; ++c) sums[c] = 0.0;
  for (; rows > 0; --rows, x += stride, y += stride)
    for (std::int64_t c = 0; c < width; ++c) y[c] = static_cast<float>(sums[c] += x[c]);
}

template <class Isa>
void add_block(const float* x, std::int64_t rows, std::int64_t columns, float* to,
               std::int64_t stride) noexcept {
  for (; rows > 0; --rows, x += columns, to += stride)
    for (std::int64_t c = 0; c < columns; ++c) to[c] += x[c];
}

}  // namespace heed::kernels
