#pragma once

// What the kernels of one instruction set offer to the operations: plain functions on raw pointers.
// They allocate nothing and throw nothing.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace heed::kernels {

/// A mask for one (batch, head): element (i, j) stands at row_stride * i + column_stride * j. A
/// stride of 0 repeats.
struct MaskSlice {
  const std::uint8_t* allowed = nullptr;  // nonzero where a key may be seen
  const float* bias = nullptr;            // added to the scores; -inf hides
  std::ptrdiff_t row_stride = 0;
  std::ptrdiff_t column_stride = 0;
};

/// Queries per tile, and keys per tile: see flash_attention.hpp.
inline constexpr int kQueryTile = 48;
inline constexpr int kKeyTile = 128;

/// One tile of queries of one (batch, head) against all its keys.
struct AttentionTile {
  const float* q;           // [queries, head_size]
  std::ptrdiff_t q_stride;  // between rows
  int queries;              // at most kQueryTile
  std::int64_t first_query;
  std::int64_t head_size;
  std::int64_t value_size;
  float scale;

  const float* k_panels;  // packed by pack_rows: packed_keys keys
  std::int64_t packed_keys;
  const float* v_panels;         // packed by pack_columns, one group of panels a key tile
  const std::uint8_t* v_finite;  // [key tiles] whether all values of the tile are finite

  std::int64_t keys;  // key j < keys exists
  bool is_causal;     // query i sees key j <= i + offset
  std::int64_t offset;
  MaskSlice mask;

  float* output;  // [queries, value_size]
  std::ptrdiff_t output_stride;
  float* lse;  // [queries] or null
  // [queries, all_keys] or null, rows one after the other
  std::int64_t all_keys;
  float* weights;
  float* scores;
  float* masked;

  float* scratch;  // attention_scratch(head_size, value_size) floats
};

/// y = x W^T + bias for some rows of x and some panels of W.
struct LinearTile {
  const float* x;  // [rows, in]
  std::int64_t rows;
  std::int64_t in;
  const float* panels;  // packed by pack_rows, from the first column of this tile on
  std::int64_t columns;
  const float* bias;  // [columns] or null
  float* y;           // [rows, columns]
  std::ptrdiff_t y_stride;
};

struct KernelTable {
  std::string_view isa;
  /// Columns of a panel.
  int panel;
  void (*pack_rows)(const float* rows, std::ptrdiff_t row_stride, std::int64_t count,
                    std::ptrdiff_t depth, float* panels) noexcept;
  bool (*pack_columns)(const float* rows, std::ptrdiff_t row_stride, std::int64_t count,
                       std::ptrdiff_t columns, std::ptrdiff_t depth, float* panels) noexcept;
  std::int64_t (*attention_scratch)(std::int64_t head_size, std::int64_t value_size) noexcept;
  void (*attention)(const AttentionTile& tile) noexcept;
  void (*linear)(const LinearTile& tile) noexcept;
  void (*softmax)(const float* x, std::int64_t rows, std::int64_t columns, float* y) noexcept;
};

/// Defined once for each instruction set, by kernels/table.cpp.
template <class Isa>
const KernelTable& kernel_table() noexcept;

}  // namespace heed::kernels
