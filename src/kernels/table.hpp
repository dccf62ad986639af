#pragma once

// What the kernels of one instruction set offer to the operations: plain functions on raw pointers.
// They allocate nothing and throw nothing.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace heed::kernels {

/// A part for one (batch, head) of an array over [B, H, L, S]: element (i, j) stands at
/// row_stride * i + column_stride * j. A stride of 0 repeats.
template <class T>
struct PairSlice {
  const T* data = nullptr;
  std::ptrdiff_t row_stride = 0;
  std::ptrdiff_t column_stride = 0;
};

/// Both masks for one (batch, head); either may be missing.
struct MaskSlice {
  PairSlice<std::uint8_t> allowed;  // nonzero where a key may be seen
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
  // With int8 scores these stand for the keys: what quantise_keys makes of them.
  const std::int8_t* key_bytes = nullptr;
  const float* key_scales = nullptr;
  const std::int32_t* key_starts = nullptr;
};

/// Keys [count, depth] to be rounded to panels of bytes, `mean` [depth] taken off.
struct ByteKeys {
  const float* rows;
  std::ptrdiff_t row_stride;
  std::int64_t count;
  std::int64_t depth;
  const float* mean;
  float* scratch;  // [depth]
  std::int8_t* panels;
  // For each column of the panels its scale, and with what its products with queries begin.
  float* scales;
  std::int32_t* starts;
};

/// What a query tile sees of each key tile, when a block mask says so.
struct BlockMaskSlice {
  static constexpr std::int32_t kEmpty = -1;
  static constexpr std::int32_t kFull = -2;
  /// [key tiles] kEmpty, kFull, or the index of a block of bits; null without a block mask.
  const std::int32_t* kinds = nullptr;
  /// [blocks][kQueryTile][kKeyTile] nonzero where a key may be seen
  const std::uint8_t* bits = nullptr;
};

/// Weights dropped at random: which ones is a function of the seed, the row and the key alone.
struct Dropout {
  std::uint64_t seed = 0;
  /// Of 2^32: a weight is kept if its hash is below.
  std::uint64_t keep = std::uint64_t{1} << 32;
  /// 1 / probability of being kept.
  float scale = 1.0f;
};

/// The keys that a query may see, as far as lengths, causality, the window and a rolling cache say.
struct VisibleKeys {
  /// The oldest key that there is.
  std::int64_t first;
  /// Query i sees no key before rolling_first + i. Does nothing without a rolling cache.
  std::int64_t rolling_first;
  std::int64_t end;
  bool is_causal;
  std::int64_t offset;  // query i stands at position i + offset
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

/// One tile of queries of one (batch, head) against all its keys.
struct AttentionTile {
  const float* q = nullptr;         // [queries, head_size]
  const float* packed_q = nullptr;  // the same as ScoreTile packs them, if that is done already
  std::ptrdiff_t q_stride;          // between rows
  int queries;                      // at most kQueryTile
  std::int64_t first_query;
  std::int64_t head_size;
  std::int64_t value_size;
  float scale;

  const KeyValueTile* tiles = nullptr;  // [key tiles]
  std::int64_t scored_keys = 0;         // so many are packed
  // [head_size] what int8 keys had taken off; null for float32 scores
  const float* key_mean = nullptr;

  // Of these keys a query sees those that no mask hides.
  VisibleKeys visible;
  MaskSlice mask;
  BlockMaskSlice blocks;

  float softcap;      // scores become softcap * tanh(score / softcap); 0 leaves them
  float alibi_slope;  // times |p - j| is taken off the scores
  const float* sink;  // one logit that joins the softmax's denominator, or null
  Dropout dropout;
  std::uint64_t row;  // stands for (b, h, first query) in the dropout

  float* output = nullptr;  // [queries, value_size]
  std::ptrdiff_t output_stride;
  // What else is asked for, or null.
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

  float* scratch = nullptr;  // attention_scratch(head_size, value_size) floats
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
  bool finite;    // all of these
};

/// What those are packed from.
struct BackwardInputs {
  const float* output;    // [queries, value_size]
  const float* d_output;  // the same
  const float* d_lse;     // [queries] or null
  const float* maxima;    // [queries] as of AttentionTile
  const float* sums;      // [queries]
};

/// One tile of queries of one (batch, head) against one tile of keys.
struct BackwardTile {
  AttentionTile scores;  // only that which scores are made of; attention_backward_scratch floats
  BackwardQueries queries;
  std::int64_t first_key;
  int keys;                  // that may be seen, at most kKeyTile
  const float* key_columns;  // by pack_columns with this depth
  const float* value_rows;   // by pack_rows
  std::int64_t depth;
  bool finite;  // keys and values

  // All of these are added to; rows are whole panels long.
  float* d_q = nullptr;       // [queries, head_size] without the scale
  float* d_k = nullptr;       // [keys, head_size] likewise
  float* d_v = nullptr;       // [keys, value_size]
  float* d_bias = nullptr;    // the slice like scores.mask.bias, or null
  double* d_slope = nullptr;  // or null
};

/// Rows of a gradient: scale times the sum of `parts` arrays that stand part_stride apart.
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

/// A tile of a cache: as a KeyValueTile of depth kKeyTile, in floats or halves. For int8 the panels
/// have two neighbours of the depth side by side, keys [ceil(head_size / 2)][panel][2] and values
/// [kKeyTile / 2][panel][2], and a number is its byte times the scale of its key.
struct StoredTile {
  const void* keys;
  const void* values;
  const float* key_scales;    // [kKeyTile]
  const float* value_scales;  // [kKeyTile]
  /// Whether all the values are finite; of halves also the keys.
  bool finite;
};

/// Rows, queries times heads, that decode takes at most.
inline constexpr int kDecodeRows = 32;

/// The state (m, l, o) of flash_attention.hpp for some rows, after some of the keys.
struct PartialState {
  float* m;  // [rows]
  float* l;  // [rows]
  float* o;  // [rows, whole panels of value_size], not divided by l
};

/// Some tiles of one key/value head against the few queries of its query heads. The rows of the
/// state are query after query, for each head after head.
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

/// Puts the states of all chunks of one key/value head together.
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

/// As heed::Activation.
enum class Activation : std::uint8_t { kNone, kRelu, kGelu, kGeluTanh, kSilu, kTanh, kSigmoid };

/// y = activation(x W^T + bias) for some rows of x and some rows of W.
struct LinearTile {
  const float* x;  // [rows, in] where it lies, or packed by pack_left
  std::int64_t rows;
  std::int64_t in;
  const float* weight;  // [columns, in] where it lies, or packed by pack_rows
  std::int64_t columns;
  const float* bias;  // [columns] or null
  Activation activation;
  float* y;  // [rows, columns]
  std::ptrdiff_t y_stride;
};

/// Bytes come in twos of groups of four: simd/int8.hpp.
inline constexpr std::int64_t kByteStep = 8;
constexpr std::int64_t byte_depth(std::int64_t depth) noexcept {
  return (depth + kByteStep - 1) / kByteStep * kByteStep;
}

/// So many products of bytes, 127 * 64 at most, add up in 32 bits.
inline constexpr std::int64_t kMostByteDepth = 1 << 18;

/// A row of bytes stands for the numbers step * (byte - zero).
struct ByteRow {
  float step;
  float zero;
};

/// The same with bytes.
struct ByteLinearTile {
  const std::int8_t* x;   // packed by quantise_left
  const ByteRow* x_rows;  // [rows]
  std::int64_t rows;
  std::int64_t in;
  const std::int8_t* weight;  // packed by quantise_weight
  const float* scales;        // [columns] of the weights
  const float* sums;          // [columns] of the weights' bytes
  std::int64_t columns;
  const float* bias;
  Activation activation;
  float* y;
  std::ptrdiff_t y_stride;
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

/// The queries of one batch entry that additive attention takes at a time. Rows over A are padded
/// with zeros to `size` numbers, whole panels.
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

/// What its backward pass takes and gives.
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

/// One step of one sequence in a gated recurrent unit, and what its backward pass gives.
struct GruStep {
  std::int64_t size;
  const float* input;   // [3 size] W_ih x + b_ih
  const float* hidden;  // [3 size] W_hh h + b_hh
  const float* state;   // [size] h
  float* next;          // [size] h'
  float* gates;         // [4 size] r, z, n, W_hn h + b_hn, or null
};
struct GruStepGradients {
  std::int64_t size;
  const float* gates;
  const float* state;
  float* d_state;   // [size] of h'; becomes that of h, but for what passes through W_hh
  float* d_input;   // [3 size]
  float* d_hidden;  // [3 size]
};

inline constexpr std::int64_t kNonLocalSlack = 16;

/// Some rows of non-local means. The image stands in a larger one, patch_radius pixels of the
/// border on each side; rows are `stride` apart and have kNonLocalSlack more numbers at their end.
struct NonLocalBand {
  const float* padded;
  std::int64_t stride;
  std::int64_t height;
  std::int64_t width;
  std::int64_t first;  // of the band's rows
  std::int64_t rows;
  std::int64_t patch_radius;
  std::int64_t search_radius;
  // A weight is 2^(fall * max(sum over the patch - noise, 0)).
  float noise;
  float fall;
  float* output;      // [height, width]
  float* weight_sum;  // [height, width]
  float* scratch;     // non_local_scratch(band)
};

/// A step of stochastic gradient descent.
struct SgdStep {
  float* parameter;
  const float* gradient;
  float* buffer;  // or null
  float learning_rate;
  float momentum;
  float share;  // of the gradient in the buffer
  float weight_decay;
  bool is_first;
  bool nesterov;
};

/// A step of Adam: torch's equations with what does not depend on the number taken together.
struct AdamStep {
  float* parameter;
  const float* gradient;
  float* average;
  float* average_of_squares;
  float share1;  // 1 - beta1
  float beta2;
  float share2;             // 1 - beta2
  float step_size;          // learning rate / (1 - beta1^t)
  float inverse_deviation;  // 1 / sqrt(1 - beta2^t)
  float eps;
  float weight_decay;  // into the gradient
  float shrink;        // of the parameter, before all else
};

/// Rows [rows, size] to be normalised.
struct NormTile {
  const float* x;
  std::int64_t rows;
  std::int64_t size;
  bool is_centred;  // whether their mean is taken off first
  float eps;
  const float* weight;  // [size]
  const float* bias;
  float* y;
};

/// The same for their gradients.
struct NormGradientTile {
  const float* x;
  std::int64_t rows;
  std::int64_t size;
  bool is_centred;
  float eps;
  const float* weight;
  const float* d_y;
  float* d_x;
  float* d_weight;  // [size], of these rows alone
  float* d_bias;
};

/// Of a row of logits: the maximum, sum_j exp(x_j - maximum) and sum_j (x_j - maximum).
struct RowSums {
  float maximum;
  double powers;
  double differences;
};

struct KernelTable {
  std::string_view isa;
  /// Columns of a panel, and rows of a register block.
  int panel;
  int rows;
  void (*pack_rows)(const float* rows, std::ptrdiff_t row_stride, std::int64_t count,
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
  std::int64_t (*attention_scratch)(std::int64_t head_size, std::int64_t value_size) noexcept;
  void (*attention)(const AttentionTile& tile) noexcept;
  std::int64_t (*attention_backward_scratch)(std::int64_t head_size) noexcept;
  void (*pack_backward)(const AttentionTile& tile, const BackwardInputs& inputs,
                        BackwardQueries& queries) noexcept;
  void (*attention_backward)(const BackwardTile& tile) noexcept;
  void (*store_gradient)(const GradientRows& rows) noexcept;
  std::int64_t (*decode_scratch)(std::int64_t head_size) noexcept;
  void (*decode)(const DecodeChunk& chunk) noexcept;
  void (*merge)(const DecodeMerge& merge) noexcept;
  void (*linear)(const LinearTile& tile) noexcept;
  /// The same for x and weight where they lie.
  void (*linear_in_place)(const LinearTile& tile) noexcept;
  void (*byte_linear)(const ByteLinearTile& tile) noexcept;
  /// [count, depth] -> register blocks of bytes, as long as byte_depth(depth) says.
  void (*quantise_left)(const float* rows, std::int64_t count, std::int64_t depth,
                        std::int8_t* blocks, ByteRow* byte_rows) noexcept;
  /// [count, depth] -> panels of bytes.
  void (*quantise_weight)(const float* rows, std::int64_t count, std::int64_t depth,
                          std::int8_t* panels, float* scales, float* sums) noexcept;
  void (*quantise_keys)(const ByteKeys& keys) noexcept;
  void (*linear_attention)(const LinearAttentionHead& head) noexcept;
  void (*softmax)(const float* x, std::int64_t rows, std::int64_t columns, float* y) noexcept;
  /// `allowed` [keys], or null, says which keys are seen.
  void (*additive_attention)(const AdditiveTile& tile, const bool* allowed, float* weights,
                             float* output) noexcept;
  void (*additive_attention_backward)(const AdditiveTile& tile,
                                      const AdditiveGradients& gradients) noexcept;
  void (*gru_step)(const GruStep& step) noexcept;
  void (*gru_step_backward)(const GruStepGradients& step) noexcept;
  std::int64_t (*non_local_scratch)(const NonLocalBand& band) noexcept;
  void (*non_local_means)(const NonLocalBand& band) noexcept;
  // Over the numbers [begin, end).
  void (*sgd_step)(const SgdStep& step, std::int64_t begin, std::int64_t end) noexcept;
  void (*adam_step)(const AdamStep& step, std::int64_t begin, std::int64_t end) noexcept;
  double (*sum_of_squares)(const float* x, std::int64_t count) noexcept;
  void (*softmax_sums)(const float* x, std::int64_t rows, std::int64_t columns,
                       RowSums* row_sums) noexcept;
  void (*softmax_backward)(const float* d_y, const float* y, std::int64_t rows,
                           std::int64_t columns, float* d_x) noexcept;
  void (*norm)(const NormTile& tile) noexcept;
  void (*norm_backward)(const NormGradientTile& tile) noexcept;
  void (*activate)(Activation activation, const float* x, std::int64_t count, float* y) noexcept;
  void (*activate_backward)(Activation activation, const float* x, const float* d_y,
                            std::int64_t count, float* d_x) noexcept;
  void (*swiglu)(const float* gate, const float* up, std::int64_t count, float* y) noexcept;
  void (*swiglu_backward)(const float* d_y, const float* gate, const float* up, std::int64_t count,
                          float* d_gate, float* d_up) noexcept;
  /// w[begin, end) of a row, dropped.
  void (*drop)(const Dropout& dropout, std::uint64_t row, std::int64_t first, int begin, int end,
               float* w) noexcept;
};

/// Defined once for each instruction set, by kernels/table.cpp.
template <class Isa>
const KernelTable& kernel_table() noexcept;

}  // namespace heed::kernels
