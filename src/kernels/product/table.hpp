#pragma once

// The arguments of the kernels of matrix products, and the list of these kernels.

#include <cstddef>
#include <cstdint>

#include "kernels/layers/table.hpp"

namespace heed::kernels {

/// Keys [count, depth] to be rounded to panels of bytes after `mean` [depth] is subtracted.
struct ByteKeys {
  const float* rows;
  std::ptrdiff_t row_stride;
  std::int64_t count;
  std::int64_t depth;
  const float* mean;
  float* scratch;  // [depth]
  std::int8_t* panels;
  // For each column of the panels its scale, and the zero-point correction of its products with
  // queries: -zero * sum of its bytes. The sums begin with this correction.
  float* scales;
  std::int32_t* corrections;
};

/// y = activation(x W^T + bias) for some rows of x and some rows of W.
struct LinearTile {
  const float* x;  // [rows, in], in place or packed by pack_left; with halves, see scale_for_halves
  std::int64_t rows;
  std::int64_t in;
  const float* weight;                    // [columns, in], in place or packed by pack_rows
  const std::uint16_t* halves = nullptr;  // [columns, in] in place, instead of the weight
  const float* steps = nullptr;           // [rows] factors of the results, for x scaled for halves
  std::int64_t columns;
  const float* bias;  // [columns] or null
  Activation activation = Activation::kNone;
  float* y;  // [rows, columns]
  std::ptrdiff_t y_stride;
};

/// Bytes come in pairs of groups of four: simd/int8.hpp.
inline constexpr std::int64_t kByteStep = 8;
constexpr std::int64_t byte_depth(std::int64_t depth) noexcept {
  return (depth + kByteStep - 1) / kByteStep * kByteStep;
}

/// The maximum number of products of bytes, each at most 127 * 64, whose sum fits 32 bits.
inline constexpr std::int64_t kMaxByteDepth = 1 << 18;

/// A row of bytes represents the numbers step * (byte - zero).
struct ByteRow {
  float step;
  float zero;
};

/// The members of a LinearTile that tiles of rounded numbers have too.
struct RoundedLinearTile {
  const std::int8_t* x;
  std::int64_t rows;
  std::int64_t in;
  std::int64_t columns;
  const float* bias;
  Activation activation;
  float* y;
  std::ptrdiff_t y_stride;
};

/// With weights of 8 bits, and x packed by quantise_left.
struct ByteLinearTile : RoundedLinearTile {
  const ByteRow* x_rows;      // [rows]
  const std::int8_t* weight;  // packed by quantise_weight
  const float* scales;        // [columns] of the weights
  const float* sums;          // [columns] of the weights' bytes
};

/// Weights of 4 bits: kernels/product/nibble_linear.hpp. The depths of a group share a scale.
inline constexpr std::int64_t kNibbleGroup = 32;
/// The bytes of a group of a column: its numbers and its scale.
inline constexpr std::int64_t kNibbleColumn = kNibbleGroup / 2 + 2;
constexpr std::int64_t nibble_groups(std::int64_t depth) noexcept {
  return (depth + kNibbleGroup - 1) / kNibbleGroup;
}

/// A group of a row of bytes represents the numbers step * byte.
struct NibbleRow {
  float step;
  std::int32_t correction;  // -8 times the sum of the bytes
};

/// With weights of 4 bits, and x packed by quantise_nibble_left.
struct NibbleLinearTile : RoundedLinearTile {
  const NibbleRow* x_rows;     // for each group of each row
  const std::uint8_t* weight;  // packed by quantise_nibble_weight
};

/// The kernels of matrix products of one instruction set.
struct ProductKernels {
  void (*pack_rows)(const float* rows, std::ptrdiff_t row_stride, std::int64_t count,
                    std::ptrdiff_t depth, float* panels) noexcept;
  void (*pack_half_rows)(const std::uint16_t* rows, std::ptrdiff_t row_stride, std::int64_t count,
                         std::ptrdiff_t depth, float* panels) noexcept;
  bool (*pack_columns)(const float* rows, std::ptrdiff_t row_stride, std::int64_t count,
                       std::ptrdiff_t columns, std::ptrdiff_t depth, float* panels) noexcept;
  bool (*all_finite)(const float* rows, std::ptrdiff_t row_stride, std::int64_t count,
                     std::ptrdiff_t columns) noexcept;
  /// Rows of a left factor, by register blocks.
  void (*pack_left)(const float* rows, std::ptrdiff_t row_stride, std::int64_t count,
                    std::ptrdiff_t depth, float* blocks) noexcept;
  /// Columns of a right factor, by panels, and of a transposed left one, by register blocks.
  void (*pack_right_columns)(const float* rows, std::ptrdiff_t row_stride, std::int64_t count,
                             std::ptrdiff_t columns, std::ptrdiff_t depth, float* panels) noexcept;
  void (*pack_left_columns)(const float* rows, std::ptrdiff_t row_stride, std::int64_t count,
                            std::ptrdiff_t columns, std::ptrdiff_t depth, float* blocks) noexcept;
  void (*linear)(const LinearTile& tile) noexcept;
  /// The same, but x and weight are read in place.
  void (*linear_in_place)(const LinearTile& tile) noexcept;
  /// Scales x [rows, in] for linear_in_place with halves, and writes the factors of its results
  /// [rows]. The pointer is null if x is used unchanged.
  void (*scale_for_halves)(const float* x, std::int64_t rows, std::int64_t in, float* scaled,
                           float* steps) noexcept;
  void (*byte_linear)(const ByteLinearTile& tile) noexcept;
  /// [count, depth] -> register blocks of bytes with depth byte_depth(depth).
  void (*quantise_left)(const float* rows, std::int64_t count, std::int64_t depth,
                        std::int8_t* blocks, ByteRow* byte_rows) noexcept;
  /// [count, depth] -> panels of bytes.
  void (*quantise_weight)(const float* rows, std::int64_t count, std::int64_t depth,
                          std::int8_t* panels, float* scales, float* sums) noexcept;
  void (*quantise_keys)(const ByteKeys& keys) noexcept;
  void (*nibble_linear)(const NibbleLinearTile& tile) noexcept;
  /// The bytes of a group of a row in the blocks of quantise_nibble_left.
  std::int64_t nibble_left;
  /// [count, depth] -> register blocks of bytes.
  void (*quantise_nibble_left)(const float* rows, std::int64_t count, std::int64_t depth,
                               std::int8_t* blocks, NibbleRow* nibble_rows) noexcept;
  /// [count, depth] -> panels of nibbles.
  bool (*quantise_nibble_weight)(const float* rows, std::int64_t count, std::int64_t depth,
                                 std::uint8_t* panels) noexcept;
};

}  // namespace heed::kernels
