#pragma once

// The arguments of the attention kernels, and the list of these kernels.

#include <cstddef>
#include <cstdint>

#include "kernels/attention/tiles.hpp"

namespace heed::kernels {

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
