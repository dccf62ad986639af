#pragma once

// Rounds rows of floats to bytes, in the layout that byte_kernel.hpp reads.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/product/micro_kernel.hpp"
#include "kernels/product/table.hpp"
#include "simd/int8.hpp"

namespace heed::kernels {

/// The offset that is added to bytes of queries.
inline constexpr std::int32_t kQueryZero = 64;

/// Adding it leaves the rounded number in the low bits.
inline constexpr float kRoundToLowBits = 12582912.0f;  // 1.5 * 2^23

/// Finds the minimum and the maximum of the numbers and zero. Returns whether all numbers are
/// finite.
template <class Isa>
bool find_range(const float* x, std::int64_t count, float& least, float& greatest) noexcept {
  using V = simd::Vector<Isa>;
  constexpr auto kLanes = static_cast<std::int64_t>(V::size);
  V low(0.0f), high(0.0f), not_finite(0.0f);
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const V v = V::load_unaligned(x + i);
    low = simd::min(low, v);
    high = simd::max(high, v);
    not_finite += v - v;
  }
  least = simd::reduce_min(low);
  greatest = simd::reduce_max(high);
  float rest = simd::reduce_add(not_finite);
  for (; i < count; ++i) {
    least = std::min(least, x[i]);
    greatest = std::max(greatest, x[i]);
    rest += x[i] - x[i];
  }
  return rest == 0.0f;
}

/// The low byte of x inverse + round.
inline std::int8_t rounded_byte(float x, float inverse, float round) noexcept {
  return static_cast<std::int8_t>(std::bit_cast<std::int32_t>(x * inverse + round));
}

/// The same for Count numbers, whose sum it returns. Bytes could alias the numbers, so that
/// compilers would not use vectors if they were written one by one.
template <int Count>
inline std::int32_t round_to_bytes(const float* x, float inverse, float round,
                                   std::int8_t* to) noexcept {
  std::int8_t bytes[Count];
  std::int32_t sum = 0;
  for (int i = 0; i < Count; ++i) bytes[i] = rounded_byte(x[i], inverse, round);
  for (int i = 0; i < Count; ++i) sum += bytes[i];
  std::memcpy(to, bytes, Count);
  return sum;
}

/// Writes a row of a block: the bytes round(x inverse) + zero.
template <class Isa>
void round_to_block(const float* row, std::int64_t depth, float inverse, float zero,
                    std::int8_t* block) noexcept {
  constexpr int kStep = simd::Traits<Isa>::kRows * kByteStep;
  const float round = kRoundToLowBits + zero;
  for (; depth >= kByteStep; depth -= kByteStep, row += kByteStep, block += kStep)
    round_to_bytes<kByteStep>(row, inverse, round, block);
  for (std::int64_t i = 0; i < depth; ++i) block[i] = rounded_byte(row[i], inverse, round);
}

/// The index of the first byte of row r in the blocks.
template <class Isa>
std::int64_t byte_row(std::int64_t r, std::int64_t depth) noexcept {
  constexpr int kRows = simd::Traits<Isa>::kRows;
  return r / kRows * kRows * byte_depth(depth) + r % kRows * kByteStep;
}

/// 1 / step, or 0 if all numbers are zero or close to it.
constexpr float inverse_of(float step) noexcept { return step < 1e-36f ? 0.0f : 1.0f / step; }

template <class Isa>
void quantise_left(const float* rows, std::int64_t count, std::int64_t depth, std::int8_t* blocks,
                   ByteRow* byte_rows) noexcept {
  constexpr auto kNaN = std::numeric_limits<float>::quiet_NaN();
  for (std::int64_t r = 0; r < count; ++r, rows += depth) {
    float least, greatest;
    const bool finite = find_range<Isa>(rows, depth, least, greatest);
    // 126 steps, because both ends may be rounded outwards.
    const float step = greatest / 126.0f - least / 126.0f;
    const float inverse = inverse_of(step);
    const float zero = std::nearbyint(-least * inverse);
    byte_rows[r] = {finite ? step : kNaN, zero};
    round_to_block<Isa>(rows, depth, inverse, zero, blocks + byte_row<Isa>(r, depth));
  }
}

/// Rounds a row to a column of a panel: bytes of -64..64. Sets their scale and returns their sum.
template <class Isa>
std::int32_t quantise_column(const float* row, std::int64_t depth, std::int8_t* column,
                             float& scale) noexcept {
  constexpr int kStep = kPanel<Isa> * simd::kGroup;
  constexpr float kMax = 64.0f;
  float least, greatest;
  if (!find_range<Isa>(row, depth, least, greatest)) {
    scale = std::numeric_limits<float>::quiet_NaN();
    return 0;
  }
  scale = std::max(-least, greatest) / kMax;
  const float inverse = inverse_of(scale);
  std::int32_t sum = 0;
  std::int64_t d = 0;
  std::int8_t group[simd::kGroup];
  for (; d + simd::kGroup <= depth; d += simd::kGroup, column += kStep) {
    sum += round_to_bytes<simd::kGroup>(row + d, inverse, kRoundToLowBits, group);
    simd::store_group(group, column);
  }
  if (d < depth) {
    std::fill_n(group, simd::kGroup, std::int8_t{0});
    for (int i = 0; d < depth; ++d, ++i) {
      group[i] = rounded_byte(row[d], inverse, kRoundToLowBits);
      sum += group[i];
    }
    simd::store_group(group, column);
  }
  return sum;
}

/// The index of the first byte of row r, which is a column, in the panels.
template <class Isa>
std::int64_t byte_column(std::int64_t r, std::int64_t depth) noexcept {
  constexpr int kWidth = kPanel<Isa>;
  return r / kWidth * kWidth * byte_depth(depth) + simd::group_offset(r % kWidth);
}

template <class Isa>
void quantise_weight(const float* rows, std::int64_t count, std::int64_t depth, std::int8_t* panels,
                     float* scales, float* sums) noexcept {
  std::fill_n(panels, whole_panels<Isa>(count) * byte_depth(depth), std::int8_t{0});
  for (std::int64_t r = 0; r < count; ++r)
    sums[r] = static_cast<float>(quantise_column<Isa>(
        rows + r * depth, depth, panels + byte_column<Isa>(r, depth), scales[r]));
}

// Rows of queries and keys are rotated by the same orthogonal matrix before they are rounded. This
// spreads an outlier channel over several, so that it does not use up all the steps. Sources:
// Ashkboos et al., "QuaRot", 2024; for attention Shah et al., "FlashAttention-3", 2024. After
// pseudo-random signs, a Hadamard matrix is applied over every fourth number. Its size is a quarter
// of the largest power of two that divides the depth. The matrix is not normalised: a product grows
// by this factor.
constexpr std::int64_t rotation_growth(std::int64_t depth) noexcept {
  return std::max<std::int64_t>(1, (depth & -depth) / 4);
}

template <class Isa>
void rotate(float* row, std::int64_t depth) noexcept {
  // Signs by the bits of 2^32 / golden ratio.
  constexpr auto kSigns = [] {
    std::array<float, 32> signs{};
    for (std::size_t i = 0; i < signs.size(); ++i) signs[i] = 0x9e3779b9u >> i & 1 ? -1.0f : 1.0f;
    return signs;
  }();
  std::int64_t d = 0;
  for (; d + 32 <= depth; d += 32)
    for (std::int64_t i = 0; i < 32; ++i) row[d + i] *= kSigns[static_cast<std::size_t>(i)];
  for (std::int64_t i = 0; d + i < depth; ++i) row[d + i] *= kSigns[static_cast<std::size_t>(i)];
  const std::int64_t block = 4 * rotation_growth(depth);
  for (std::int64_t half = 4; half < block; half *= 2)
    for (std::int64_t first = 0; first < depth; first += 2 * half)
      for (d = first; d < first + half; d += 4) {
        float x[4], y[4];
        std::copy_n(row + d, 4, x);
        std::copy_n(row + d + half, 4, y);
        for (int i = 0; i < 4; ++i) row[d + i] = x[i] + y[i];
        for (int i = 0; i < 4; ++i) row[d + half + i] = x[i] - y[i];
      }
}

/// Rounds a query to a row of a block: bytes of 1..127 that represent step * (byte - 64). Returns
/// the step.
template <class Isa>
float quantise_query(const float* row, std::int64_t depth, std::int8_t* block) noexcept {
  float least, greatest;
  if (!find_range<Isa>(row, depth, least, greatest)) return std::numeric_limits<float>::quiet_NaN();
  const float step = std::max(-least, greatest) / 63.0f;
  round_to_block<Isa>(row, depth, inverse_of(step), kQueryZero, block);
  return step;
}

template <class Isa>
void quantise_keys(const ByteKeys& k) noexcept {
  const std::int64_t padded = whole_panels<Isa>(k.count);
  std::fill_n(k.panels, padded * byte_depth(k.depth), std::int8_t{0});
  std::fill(k.scales + k.count, k.scales + padded, 0.0f);
  std::fill(k.corrections + k.count, k.corrections + padded, 0);
  for (std::int64_t r = 0; r < k.count; ++r) {
    const float* const row = k.rows + r * k.row_stride;
    for (std::int64_t d = 0; d < k.depth; ++d) k.scratch[d] = row[d] - k.mean[d];
    rotate<Isa>(k.scratch, k.depth);
    k.corrections[r] =
        -kQueryZero * quantise_column<Isa>(k.scratch, k.depth,
                                           k.panels + byte_column<Isa>(r, k.depth), k.scales[r]);
  }
}

}  // namespace heed::kernels
