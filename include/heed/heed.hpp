#pragma once

// Heed: attention. This header is the manual of the C++ library.
//
// Dimensions, used in every comment, message and test:
//   B  batch                 L  queries            D   size of a query or key head
//   H  query heads           S  keys               Dv  size of a value head
//   G  key/value heads       E  embedding size
//
// Arrays are dense and row-major. Operations take views, return tensors that they allocate, and
// check shapes, types and options first: they throw a heed::Error that names the argument, what
// was expected and what came, and leave everything as it was. Results do not depend on the number
// of threads.

#include <optional>
#include <span>

#include "heed/context.hpp"
#include "heed/error.hpp"
#include "heed/tensor.hpp"

#define HEED_VERSION "0.1.0"

namespace heed {

// ---------------------------------------------------------------------------------------------
// Attention: softmax(scale Q K^T + bias, over the keys that may be seen) V
// (Vaswani et al., "Attention Is All You Need", section 3.2.1, 2017)

struct AttentionOptions {
  /// Query and key/value heads; needed for inputs [B, L, H*D], taken from the shapes otherwise.
  /// 0 for kv_heads means as many as heads.
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  /// Multiplies the scores; 1/sqrt(D) if not given.
  std::optional<float> scale;
  /// Query i sees key j only if j <= i + offset; the offset is kv_lengths[b] - L where key lengths
  /// are given, else 0.
  bool is_causal = false;
  /// bool: true where a key may be seen. float32: added to the scores, -inf hides a key.
  /// Broadcasts like numpy, aligned right, to [B, H, L, S]; a last axis shorter than S (but not 1)
  /// hides the keys it does not reach.
  std::optional<TensorView> mask;
  /// [B] how many keys of each sequence exist; the rest are not read.
  std::optional<TensorView> kv_lengths;
  /// Results beside the output. Nothing of size L x S is stored unless asked for here.
  bool need_weights = false;
  bool need_lse = false;
  /// Keep the scores after the scale and before the mask: every key's, hidden or not.
  bool capture_scores = false;
  /// Keep the scores after bias and mask; -inf where a key may not be seen.
  bool capture_masked = false;
};

struct AttentionResult {
  /// [B, H, L, Dv], or [B, L, H*Dv] for inputs of rank 3. Zeros for a query that sees no key.
  Tensor output;
  /// [B, H, L, S]. Zeros for a query that sees no key.
  std::optional<Tensor> weights;
  /// [B, H, L] natural log of the softmax denominator, the maximum included; -inf for a query that
  /// sees no key.
  std::optional<Tensor> lse;
  /// [B, H, L, S]
  std::optional<Tensor> scores;
  std::optional<Tensor> masked;
};

/// q [B, H, L, D], k [B, G, S, D], v [B, G, S, Dv], or q [B, L, H*D], k [B, S, G*D],
/// v [B, S, G*Dv] with head counts in the options. Query head h reads key/value head
/// floor(h / (H/G)), so H must be a multiple of G (grouped-query attention: Ainslie et al., 2023).
/// Keys that a query may not see are never read on its behalf: NaN there does not reach it.
/// Tiled with an online softmax (Dao et al., "FlashAttention", 2022): memory is O((L + S) (D +
/// Dv)). Throws ShapeError, DTypeError, OptionError, MemoryError.
AttentionResult attention(Context& context, const TensorView& q, const TensorView& k,
                          const TensorView& v, const AttentionOptions& options = {});

// ---------------------------------------------------------------------------------------------
// Multi-head attention: projections, attention, output projection
// (Vaswani et al., section 3.2.2, 2017). Parameters have the layout of torch.nn.MultiheadAttention.

struct MultiHeadAttentionParameters {
  /// [3E, E] the query, key and value projections in one; or leave it out and give the three below.
  std::optional<TensorView> in_proj_weight;
  /// [E, E], [E, size of a key], [E, size of a value]
  std::optional<TensorView> q_proj_weight;
  std::optional<TensorView> k_proj_weight;
  std::optional<TensorView> v_proj_weight;
  /// [3E]
  std::optional<TensorView> in_proj_bias;
  /// [E, E] and [E]
  std::optional<TensorView> out_proj_weight;
  std::optional<TensorView> out_proj_bias;
};

struct MultiHeadAttentionOptions {
  /// Must divide E.
  std::int64_t heads = 0;
  bool is_causal = false;
  /// As in AttentionOptions: bool, true where a key may be seen, or float32, added.
  std::optional<TensorView> mask;
  /// bool [B, S], true where a key may be seen: torch's key_padding_mask with the opposite sense.
  std::optional<TensorView> key_mask;
  bool need_weights = false;
  /// Weights as the mean over heads, [B, L, S], instead of [B, H, L, S].
  bool average_weights = false;
};

struct MultiHeadAttentionResult {
  /// [B, L, E]
  Tensor output;
  std::optional<Tensor> weights;
};

/// query [B, L, E], key [B, S, size of a key], value [B, S, size of a value].
/// Throws ShapeError, DTypeError, OptionError, MemoryError.
MultiHeadAttentionResult multi_head_attention(Context& context, const TensorView& query,
                                              const TensorView& key, const TensorView& value,
                                              const MultiHeadAttentionParameters& parameters,
                                              const MultiHeadAttentionOptions& options);

// ---------------------------------------------------------------------------------------------
// Where attention comes from

struct AverageOptions {
  /// Position i averages the positions j <= i only.
  bool is_causal = false;
  /// bool [B, L], true where a position counts.
  std::optional<TensorView> key_mask;
};

/// The mean over the positions that may be seen: attention whose scores are all equal.
/// x [B, L, E] -> [B, L, E]; zeros where nothing may be seen. Throws ShapeError, DTypeError.
Tensor average(Context& context, const TensorView& x, const AverageOptions& options = {});

struct SelfSimilarityResult {
  /// [B, L, E]
  Tensor output;
  /// [B, L, L]
  Tensor weights;
};

/// softmax(X X^T) X: dot-product attention with no parameters and no scale.
/// x [B, L, E]. Throws ShapeError, DTypeError.
SelfSimilarityResult self_similarity(Context& context, const TensorView& x);

// ---------------------------------------------------------------------------------------------
// The steps around attention

/// x W^T + b. x [..., in], weight [out, in], bias [out] -> [..., out]. Throws ShapeError,
/// DTypeError.
Tensor linear(Context& context, const TensorView& x, const TensorView& weight,
              const std::optional<TensorView>& bias = {});

/// exp(x_i) / sum_j exp(x_j) over the last axis; a row of nothing but -inf gives zeros.
/// x [..., N] -> [..., N]. Throws DTypeError, ShapeError for rank 0.
Tensor softmax(Context& context, const TensorView& x);

/// Rows of a table. ids int32 [...], weight [V, E] -> [..., E].
/// Throws ShapeError, DTypeError, OptionError for an id outside [0, V).
Tensor embedding(Context& context, const TensorView& ids, const TensorView& weight);

struct SinusoidalOptions {
  double base = 10000.0;
  /// The position of the first row.
  std::int64_t offset = 0;
};

/// Row r, column c holds sin (c even) or cos (c odd) of (offset + r) / base^(2 floor(c/2) / size).
/// -> [length, size] (Vaswani et al., section 3.5, 2017). Throws OptionError for a negative size or
/// offset, a base that is not positive.
Tensor sinusoidal_encoding(Context& context, std::int64_t length, std::int64_t size,
                           const SinusoidalOptions& options = {});

/// a + b; b broadcasts to the shape of a like numpy, aligned right. Throws ShapeError, DTypeError.
Tensor add(Context& context, const TensorView& a, const TensorView& b);

}  // namespace heed
