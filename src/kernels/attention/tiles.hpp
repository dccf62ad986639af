#pragma once

// The arguments of the kernels that attend from one tile of queries to tiles of keys, and of their
// gradients.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/layers/table.hpp"

namespace heed::kernels {

/// The part for one (batch, head) of an array over [B, H, L, S]: element (i, j) is at
/// row_stride * i + column_stride * j. A stride of 0 repeats.
template <class T>
struct PairSlice {
  const T* data = nullptr;
  std::ptrdiff_t row_stride = 0;
  std::ptrdiff_t column_stride = 0;
};

/// Both masks for one (batch, head); either may be missing.
struct MaskSlice {
  PairSlice<std::uint8_t> allowed;  // nonzero where a key is visible
  PairSlice<float> bias;            // added to the scores; -inf hides
};

/// Queries per tile, and keys per tile: see flash_attention.hpp.
inline constexpr int kQueryTile = 48;
inline constexpr int kKeyTile = 128;

/// A tile of keys and values, packed: `keys` by pack_rows, `values` by pack_columns with this
/// depth, which is a whole number of panels up to kKeyTile. Keys beyond the last are zero.
struct KeyValueTile {
  const float* keys = nullptr;
  const float* values = nullptr;
  std::int64_t depth = 0;
  /// Whether all the values are finite.
  bool finite = false;
  // With int8 scores instead of the keys: the result of quantise_keys.
  const std::int8_t* key_bytes = nullptr;
  const float* key_scales = nullptr;
  const std::int32_t* key_corrections = nullptr;
};

/// A block mask for one query tile.
struct BlockMaskSlice {
  static constexpr std::int32_t kEmpty = -1;
  static constexpr std::int32_t kFull = -2;
  /// [key tiles] kEmpty, kFull, or the index of a block of bits; null without a block mask.
  const std::int32_t* kinds = nullptr;
  /// [blocks][kQueryTile][kKeyTile] nonzero where a key is visible
  const std::uint8_t* bits = nullptr;
};

/// The keys that lengths, causality, the window and a rolling cache allow each query to see.
struct VisibleKeys {
  /// The oldest existing key.
  std::int64_t first;
  /// Query i sees no key before rolling_first + i. Has no effect without a rolling cache.
  std::int64_t rolling_first;
  std::int64_t end;
  bool is_causal;
  std::int64_t offset;  // query i has position i + offset
  std::int64_t left;    // of the window; -1 is open
  std::int64_t right;

  std::int64_t begin_of(std::int64_t query) const noexcept {
    const std::int64_t oldest = std::max(first, rolling_first + query);
    return left < 0 ? oldest : std::max(oldest, query + offset - left);
  }
  std::int64_t end_of(std::int64_t query) const noexcept {
    std::int64_t result = end;
    if (is_causal) result = std::min(result, query + offset + 1);
    if (right >= 0) result = std::min(result, query + offset + right + 1);
    return result;
  }
};

/// One tile of queries of one (batch, head), for attention to all its keys.
struct AttentionTile {
  const float* q = nullptr;         // [queries, head_size]
  const float* packed_q = nullptr;  // the same packed by ScoreTile, or null
  std::ptrdiff_t q_stride;          // between rows
  int queries;                      // at most kQueryTile
  std::int64_t first_query;
  std::int64_t head_size;
  std::int64_t value_size;
  float scale;

  const KeyValueTile* tiles = nullptr;  // [key tiles]
  std::int64_t scored_keys = 0;         // number of packed keys
  // [head_size] the mean that was subtracted from int8 keys; null for float32 scores
  const float* key_mean = nullptr;

  // The keys that a query sees, apart from masks.
  VisibleKeys visible;
  MaskSlice mask;
  BlockMaskSlice blocks;

  float softcap;      // scores become softcap * tanh(score / softcap); 0 leaves them
  float alibi_slope;  // slope * |p - j| is subtracted from the scores
  const float* sink;  // one logit that joins the softmax's denominator, or null
  Dropout dropout;
  std::uint64_t row;  // identifies (b, h, first query) in the dropout

  float* output = nullptr;  // [queries, value_size]
  std::ptrdiff_t output_stride;
  // The other requested results, or null.
  float* lse = nullptr;      // [queries]
  float* maxima = nullptr;   // [queries] of the scores
  float* sums = nullptr;     // [queries] of exp(score - maximum)
  float* entropy = nullptr;  // [queries]
  // [queries, all_keys], rows one after the other
  std::int64_t all_keys;
  float* scores = nullptr;
  float* capped = nullptr;
  float* masked = nullptr;
  float* weights = nullptr;

  float* scratch = nullptr;  // forward_scratch(head_size, value_size) floats
};

/// A tile of queries and the gradients of its outputs, packed for the backward pass, whose products
/// take both as left and as right factors.
struct BackwardQueries {
  float* q;                 // by ScoreTile::pack_queries
  float* d_output;          // by pack_left
  float* q_columns;         // by pack_columns with this depth
  float* d_output_columns;  // the same
  std::int64_t depth;
  float* delta;  // [queries] sum of d_output * output, less the gradient of lse
  // A weight is scales[r] * exp(score - shifts[r]).
  float* shifts;  // [queries] the maximum of a row of scores
  float* scales;  // [queries] 1 / the sum of exp(score - maximum)
  bool finite;    // whether all numbers of these arrays are finite
};

/// The arrays that BackwardQueries is packed from.
struct BackwardInputs {
  const float* output;    // [queries, value_size]
  const float* d_output;  // the same
  const float* d_lse;     // [queries] or null
  const float* maxima;    // [queries] as in AttentionTile
  const float* sums;      // [queries]
};

/// One tile of queries of one (batch, head) against one tile of keys.
struct BackwardTile {
  AttentionTile scores;  // only the arguments of the scores; backward_scratch floats of scratch
  BackwardQueries queries;
  std::int64_t first_key;
  int keys;                  // visible ones, at most kKeyTile
  const float* key_columns;  // by pack_columns with this depth
  const float* value_rows;   // by pack_rows
  std::int64_t depth;
  bool finite;  // whether all keys and values are finite

  // All of these are added to; rows are whole panels long.
  float* d_q = nullptr;       // [queries, head_size] without the scale
  float* d_k = nullptr;       // [keys, head_size] likewise
  float* d_v = nullptr;       // [keys, value_size]
  float* d_bias = nullptr;    // the slice like scores.mask.bias, or null
  double* d_slope = nullptr;  // one number, or null
};

/// Rows of a gradient: scale times the sum of `parts` arrays that are part_stride apart.
struct GradientRows {
  const float* from;
  std::ptrdiff_t from_stride;
  std::int64_t count;
  std::int64_t size;
  float* to;
  std::ptrdiff_t to_stride;
  float scale = 1.0f;
  std::int64_t parts = 1;
  std::ptrdiff_t part_stride = 0;
};

}  // namespace heed::kernels
