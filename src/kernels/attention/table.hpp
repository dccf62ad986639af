#pragma once

// The arguments of the attention kernels, and the list of these kernels.

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

/// How a cache stores its numbers.
enum class NumberFormat { kFloat32, kFloat16, kInt8 };

/// A tile of a cache: a KeyValueTile of depth kKeyTile in floats or halves. In int8 panels two
/// neighbours of the depth are adjacent, keys [ceil(head_size / 2)][panel][2] and values
/// [kKeyTile / 2][panel][2], and a number is its byte times the scale of its key.
struct StoredTile {
  const void* keys;
  const void* values;
  const float* key_scales;    // [kKeyTile]
  const float* value_scales;  // [kKeyTile]
  /// Whether all the values are finite; for halves also the keys.
  bool finite;
};

/// A key or value to be stored in a tile of a cache: number i goes to the index
/// first + i / run * stride + i % run * step.
struct CacheRow {
  NumberFormat format;
  const float* row;
  std::int64_t size;
  void* to;
  std::int64_t first;
  std::int64_t run;
  std::int64_t step;
  std::int64_t stride;
  float* scale;  // of int8
};

/// Panels [panels][depth, even for int8][width] of a tile of a cache in float16 or int8. They are
/// converted to floats [panels][depth][width]. Int8 has a scale for each column or for each step of
/// the depth.
struct CachePanels {
  NumberFormat format;
  const void* from;
  std::int64_t columns;
  std::int64_t width;
  std::int64_t depth;
  const float* column_scales;
  const float* depth_scales;
  float* to;
};

/// The maximum number of rows, queries times heads, of a decode step.
inline constexpr int kDecodeRows = 32;

/// The state (m, l, o) of online_softmax.hpp for some rows, after some of the keys.
struct PartialState {
  float* m;  // [rows]
  float* l;  // [rows]
  float* o;  // [rows, whole panels of value_size], not divided by l
};

/// Consecutive tiles of one key/value head against the few queries of its query heads. Row r of the
/// state belongs to query r / heads and head r % heads.
struct DecodeChunk {
  const float* q;  // [heads, queries, head_size]
  std::ptrdiff_t q_head_stride;
  std::ptrdiff_t q_stride;
  int heads;
  int queries;
  std::int64_t head_size;
  std::int64_t value_size;
  float scale;
  NumberFormat format;
  const StoredTile* tiles;
  int tile_count;
  std::int64_t first_key;  // of the first tile
  VisibleKeys visible;
  float softcap;              // 0 for none
  const float* alibi_slopes;  // [heads] or null
  std::ptrdiff_t alibi_stride;
  PartialState state;
  float* scratch;  // decode_scratch(head_size) floats
};

/// Merges the states of all chunks of one key/value head.
struct DecodeMerge {
  const PartialState* parts;
  std::int64_t part_count;
  int heads;
  int queries;
  std::int64_t value_size;
  VisibleKeys visible;
  const float* sinks;  // [heads] or null
  std::ptrdiff_t sink_stride;
  float* output;  // [heads, queries, value_size]
  std::ptrdiff_t output_head_stride;
  std::ptrdiff_t output_stride;
  float* lse;  // [heads, queries] or null
  std::ptrdiff_t lse_head_stride;
  std::ptrdiff_t lse_stride;
};

/// Two outputs over disjoint keys, to be merged.
struct OutputMerge {
  const float* output_a;  // [rows, value_size]
  const float* lse_a;     // [rows]
  const float* output_b;
  const float* lse_b;
  std::int64_t rows;
  std::int64_t value_size;
  float* output;  // [rows, value_size]
  float* lse;     // [rows]
};

/// All tokens of one (batch, key/value head) and the query heads that share it; strides are between
/// tokens, or between heads.
struct LinearAttentionHead {
  std::int64_t tokens;
  std::int64_t head_size;
  std::int64_t value_size;
  int query_heads;
  float scale;
  const float* q;
  std::int64_t q_head_stride;
  std::int64_t q_stride;
  const float* k;
  std::int64_t k_stride;
  const float* v;
  std::int64_t v_stride;
  const float* decay;  // or null
  std::int64_t decay_stride;
  std::int64_t decay_step;  // between rows of the state; 0 if they share one number
  const float* beta;        // or null
  std::int64_t beta_stride;
  float* state;  // [head_size, value_size]
  float* output;
  std::int64_t output_head_stride;
  std::int64_t output_stride;
  float* scratch;  // [value_size]
};

/// Some queries of one batch entry of additive attention. Rows over A are padded with zeros to
/// `size` numbers, whole panels.
struct AdditiveTile {
  const float* q;       // [queries, size]
  const float* k;       // [keys, size]
  const float* v;       // [keys, value_size]
  const float* weight;  // [size]
  std::int64_t queries;
  std::int64_t keys;
  std::int64_t size;
  std::int64_t value_size;
};

/// The arguments and results of the backward pass of additive attention.
struct AdditiveGradients {
  const float* weights;    // [queries, keys]; where zero, key and value are not read
  const float* d_weights;  // [queries, keys] or null
  const float* d_output;   // [queries, value_size]
  float* d_scores;         // [keys] scratch
  float* q;                // [queries, size]
  // Added to:
  float* k;       // [keys, size]
  float* v;       // [keys, value_size]
  float* weight;  // [size]
};

/// The positions of one batch entry to average, or their gradients.
struct AverageRows {
  const float* from;    // [rows, size]
  const bool* visible;  // [rows] or null for all
  std::int64_t rows;
  std::int64_t size;
  bool is_causal;
  double* sum;  // [size] scratch
  float* to;    // [rows, size]
};

/// A kernel regression.
struct Regression {
  const float* query;  // [queries, features]
  const float* train;  // [points, features]
  const float* y;      // [points, values]
  std::int64_t queries;
  std::int64_t points;
  std::int64_t features;
  std::int64_t values;
  double bandwidth;
};

/// The arguments and results of the backward pass of a kernel regression.
struct RegressionGradients {
  const float* d_output;  // [queries, values]
  const float* weights;   // [queries, points]
  double* scratch;        // [points + features + points features + points values]
  float* query;           // [queries, features]
  float* train;           // [points, features]
  float* y;               // [points, values]
  float* bandwidth;
};

/// The attention kernels of one instruction set.
struct AttentionKernels {
  std::int64_t (*forward_scratch)(std::int64_t head_size, std::int64_t value_size) noexcept;
  void (*forward)(const AttentionTile& tile) noexcept;
  std::int64_t (*backward_scratch)(std::int64_t head_size) noexcept;
  void (*pack_backward)(const AttentionTile& tile, const BackwardInputs& inputs,
                        BackwardQueries& queries) noexcept;
  void (*backward)(const BackwardTile& tile) noexcept;
  void (*store_gradient)(const GradientRows& rows) noexcept;
  /// Returns whether the stored row is finite.
  bool (*store_cache_row)(const CacheRow& row) noexcept;
  void (*widen_cache_panels)(const CachePanels& panels) noexcept;
  std::int64_t (*decode_scratch)(std::int64_t head_size) noexcept;
  void (*decode)(const DecodeChunk& chunk) noexcept;
  void (*merge_states)(const DecodeMerge& merge) noexcept;
  void (*merge_outputs)(const OutputMerge& merge) noexcept;
  void (*average)(const AverageRows& rows) noexcept;
  void (*average_backward)(const AverageRows& rows) noexcept;
  /// For one query; scratch [points + values].
  void (*kernel_regression)(const Regression& regression, std::int64_t query, double* scratch,
                            float* weights, float* output) noexcept;
  void (*kernel_regression_backward)(const Regression& regression,
                                     const RegressionGradients& gradients) noexcept;
  void (*linear_attention)(const LinearAttentionHead& head) noexcept;
  /// `allowed` [keys] is true where a key is visible; null if all are visible.
  void (*additive_attention)(const AdditiveTile& tile, const bool* allowed, float* weights,
                             float* output) noexcept;
  void (*additive_attention_backward)(const AdditiveTile& tile,
                                      const AdditiveGradients& gradients) noexcept;
};

}  // namespace heed::kernels
