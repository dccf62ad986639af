#pragma once

// Heed: attention. This header is the manual of the C++ library.
//
// Dimensions, used in every comment, message and test:
//   B  batch                 L  queries            D   size of a query or key head
//   H  query heads           S  keys               Dv  size of a value head
//   G  key/value heads       E  embedding size.
//
// Arrays are dense and row-major. Operations take views, return tensors that they allocate, and
// check shapes, types and options first. If a check fails, they throw a heed::Error that names the
// argument, the expected value and the given one, and leave all arguments unchanged. Results do not
// depend on the number of threads.

#include <functional>
#include <optional>
#include <span>

#include "heed/arrays.hpp"
#include "heed/attention_pooling.hpp"
#include "heed/context.hpp"
#include "heed/error.hpp"
#include "heed/kv_cache.hpp"
#include "heed/layers.hpp"
#include "heed/optim.hpp"
#include "heed/sampling.hpp"
#include "heed/tensor.hpp"

#define HEED_VERSION "0.1.0"

namespace heed {

// ---------------------------------------------------------------------------------------------
// Attention: softmax(scale Q K^T + bias) V over the visible keys
// (Vaswani et al., "Attention Is All You Need", section 3.2.1, 2017)

/// The positions of queries when there are fewer or more keys than queries: query i has position
/// p = i + offset.
enum class CausalAlignment {
  /// The length of the past, if there is one; kv_lengths[b] - L, if they are given; else 0. For
  /// packed sequences, the number of keys minus the number of queries (as FlashAttention 2.1).
  kDefault,
  /// Query 0 has the position of key 0.
  kTopLeft,
  /// The last query has the position of the last key.
  kBottomRight,
};

/// A mask that is evaluated once and stored by blocks of 48 queries x 128 keys, the kernel's tiles.
/// Empty blocks are skipped and full ones are not masked (Dong et al., "FlexAttention", 2024).
class BlockMask {
 public:
  static constexpr std::int64_t kQueries = 48;
  static constexpr std::int64_t kKeys = 128;
  static constexpr std::int32_t kEmpty = -1;
  static constexpr std::int32_t kFull = -2;

  /// kinds int32 [batch, heads, blocks of queries, blocks of keys] contains kEmpty, kFull or the
  /// index of a block of bits; batch and heads may be 1. The array bits, bool
  /// [blocks, kQueries, kKeys], is true where a key is visible. Throws ShapeError, DTypeError,
  /// OptionError.
  BlockMask(std::int64_t queries, std::int64_t keys, Tensor kinds, Tensor bits);

  /// From a function, which is called for every (b, h, q, k) within these sizes.
  static BlockMask from(std::int64_t batch, std::int64_t heads, std::int64_t queries,
                        std::int64_t keys,
                        const std::function<bool(std::int64_t b, std::int64_t h, std::int64_t q,
                                                 std::int64_t k)>& may_see);

  std::int64_t queries() const noexcept { return queries_; }
  std::int64_t keys() const noexcept { return keys_; }
  const Tensor& kinds() const noexcept { return kinds_; }
  const Tensor& bits() const noexcept { return bits_; }
  std::size_t bytes() const noexcept { return kinds_.owned_bytes() + bits_.owned_bytes(); }

 private:
  std::int64_t queries_;
  std::int64_t keys_;
  Tensor kinds_;
  Tensor bits_;
};

/// How the scores are computed.
enum class Precision {
  kFloat32,
  /// Queries and keys are rounded to integers of 7 bits with one scale per row, after the mean of
  /// the keys is subtracted from them (after Zhang et al., "SageAttention", 2024). On normally
  /// distributed inputs the output's cosine similarity with kFloat32 is above 0.9995. Not with a
  /// cache.
  kInt8Scores,
};

/// Options of attention.
struct AttentionOptions {
  /// Query and key/value heads; needed for inputs [B, L, H*D], taken from the shapes otherwise.
  /// 0 for kv_heads means as many as heads.
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  /// Multiplies the scores; 1/sqrt(D) if not given.
  std::optional<float> scale;

  // A query sees the keys that all of the following options allow.

  /// Query i sees key j only if j <= p.
  bool is_causal = false;
  CausalAlignment causal_alignment = CausalAlignment::kDefault;
  /// int32 [1] or [B] the offset itself, instead of an alignment; may be negative.
  std::optional<TensorView> causal_offset;
  /// Query i sees key j only if p - window_left <= j <= p + window_right; -1 leaves a side open.
  std::int64_t window_left = -1;
  std::int64_t window_right = -1;
  /// bool: true where a key is visible. float32: added to the scores, -inf hides a key.
  /// Broadcasts like numpy, aligned right, to [B, H, L, S]; a last axis shorter than S (but not 1)
  /// hides the keys it does not reach.
  std::optional<TensorView> mask;
  /// int32 [B] how many keys of each sequence exist; the rest are not read.
  std::optional<TensorView> kv_lengths;
  /// Blocks of queries and keys that are visible entirely, in part or not at all.
  const BlockMask* block_mask = nullptr;

  Precision precision = Precision::kFloat32;

  // Operations on the scores, in this order, after the scale and before the masks.

  /// Scores become softcap * tanh(score / softcap) (Gemma 2, 2024); 0 leaves them.
  float softcap = 0.0f;
  /// float32, added to the scores; broadcasts to [B, H, L, S]. -inf hides a key.
  std::optional<TensorView> bias;
  /// float32 [H] or [B, H], of which either axis may be 1: slope * |p - j| is subtracted from the
  /// scores (ALiBi: Press et al., 2022). For packed sequences B is the number of sequences.
  std::optional<TensorView> alibi_slopes;
  /// float32, in the same shapes: a logit for each head that is added to the softmax's denominator
  /// only (attention sinks: Xiao et al., 2023; gpt-oss, 2025).
  std::optional<TensorView> sinks;
  /// The probability that a weight is set to zero; the others are multiplied by 1 / (1 - dropout).
  /// The seed and (b, h, i, j) alone decide whether a weight is dropped.
  double dropout = 0.0;
  std::uint64_t dropout_seed = 0;

  // Keys and values in addition to k and v.

  /// Past keys and values, [B, G, P, D] and [B, G, P, Dv], which come before k and v. S is then
  /// P + the keys of k, and the result has both together as present_key and present_value.
  std::optional<TensorView> past_key;
  std::optional<TensorView> past_value;
  /// k and v, the new tokens, are appended to the cache; the queries have the positions of the new
  /// tokens and see all tokens of the cache. S is the length of the longest sequence. kv_lengths is
  /// the number of new tokens that each sequence takes.
  KvCache* cache = nullptr;
  /// int32 [N + 1]: packed sequences, with q [Tq, H, D], k [Tk, G, D] and v [Tk, G, Dv]. Sequence n
  /// has the queries [cu_seqlens_q[n], cu_seqlens_q[n + 1]), and its keys are given likewise by
  /// cu_seqlens_k. A query sees only keys of the same sequence.
  std::optional<TensorView> cu_seqlens_q;
  std::optional<TensorView> cu_seqlens_k;

  // Results in addition to the output. Arrays of size L x S are stored only if they are requested
  // here.

  bool need_weights = false;
  bool need_lse = false;
  /// Keep the maximum and the sum of each row of the softmax, which attention_backward needs.
  bool need_statistics = false;
  /// Keep the scores after the scale, also of hidden keys.
  bool capture_scores = false;
  /// The same after the softcap.
  bool capture_capped = false;
  /// Keep the scores after biases and masks; -inf where a key is hidden.
  bool capture_masked = false;
  /// Keep the entropy of each row of weights, -sum w log w, before any dropout.
  bool capture_entropy = false;
};

/// The results of attention; results that were not requested are empty.
struct AttentionResult {
  /// [B, H, L, Dv]; [B, L, H*Dv] for inputs of rank 3; [Tq, H, Dv] for packed ones. Zeros for a
  /// query that sees no key.
  Tensor output;
  /// [B, H, L, S], after dropout. Zeros for a query that sees no key.
  std::optional<Tensor> weights;
  /// [B, H, L], or [H, Tq]: natural log of the softmax denominator, the maximum included. If a
  /// query sees no key, this is -inf, or the sink.
  std::optional<Tensor> lse;
  /// [2, B, H, L], or [2, H, Tq]: the maximum m of each row of scores s, and the sum l of
  /// exp(s - m). A sink counts as a score. A weight is exp(s - m) / l, which is accurate for large
  /// scores. The form exp(s - lse) is not accurate, because lse = m + log l then has few digits
  /// after the point. If a query sees no key, these are -inf and 0, or the sink and 1.
  std::optional<Tensor> statistics;
  /// [B, H, L, S] each
  std::optional<Tensor> scores;
  std::optional<Tensor> capped;
  std::optional<Tensor> masked;
  /// [B, H, L], or [H, Tq]
  std::optional<Tensor> entropy;
  /// [B, G, P + new keys, D] and [.., Dv], when there was a past.
  std::optional<Tensor> present_key;
  std::optional<Tensor> present_value;
};

/// The shapes are q [B, H, L, D], k [B, G, S, D] and v [B, G, S, Dv]. With head counts in the
/// options, they may be q [B, L, H*D], k [B, S, G*D] and v [B, S, G*Dv]. Query head h reads
/// key/value head floor(h / (H/G)), so H must be a multiple of G (grouped-query attention: Ainslie
/// et al., 2023). Keys that are hidden from a query are not read for it: NaN there does not reach
/// its output.
///
/// Tensors q, k, v and the past may all be float16 or bfloat16. Then output, present_key and
/// present_value have the same type, computed in float32; everything else stays float32. Tiled with
/// an online softmax (Dao et al., "FlashAttention", 2022), so that memory is O((L + S) (D + Dv)).
/// Throws ShapeError, DTypeError, OptionError, MemoryError.
AttentionResult attention(Context& context, const TensorView& q, const TensorView& k,
                          const TensorView& v, const AttentionOptions& options = {});

/// The gradients that attention_backward computes in addition to the gradients of q, k and v.
struct AttentionGradientOptions {
  /// Compute the gradients of a float mask or bias, of slopes, of sinks. OptionError if the forward
  /// call had none.
  bool need_mask = false;
  bool need_bias = false;
  bool need_alibi_slopes = false;
  bool need_sinks = false;
  /// The gradient of the loss with respect to lse, in the shape of lse, if lse was used.
  std::optional<TensorView> d_lse;
};

/// The results of attention_backward; results that were not requested are empty.
struct AttentionGradients {
  Tensor q;
  Tensor k;
  Tensor v;
  /// Each gradient has the shape of its argument.
  std::optional<Tensor> mask;
  std::optional<Tensor> bias;
  std::optional<Tensor> alibi_slopes;
  std::optional<Tensor> sinks;
  std::optional<Tensor> past_key;
  std::optional<Tensor> past_value;
};

/// The gradients of a loss whose gradient for the output is d_output. `output` and `statistics`
/// must be results of the same call of attention. Scores are computed once more (Dao et al.,
/// "FlashAttention", section 3.1 and appendix B, 2022), so that memory is O((L + S) (D + Dv)), plus
/// the gradient of a bias. A query that sees no key has gradient zero, and so has a key that no
/// query sees. Caches, int8 scores and float16 are refused: OptionError, DTypeError. Otherwise
/// throws as attention.
AttentionGradients attention_backward(Context& context, const TensorView& d_output,
                                      const TensorView& q, const TensorView& k, const TensorView& v,
                                      const TensorView& output, const TensorView& statistics,
                                      const AttentionOptions& options = {},
                                      const AttentionGradientOptions& gradient_options = {});

/// Attention over some of its keys: output [B, H, L, Dv], lse [B, H, L].
struct PartialAttention {
  Tensor output;
  Tensor lse;
};

/// Merges attention over two disjoint parts of the keys: outputs [B, H, L, Dv] and lse [B, H, L] of
/// each. Associative; a part with no key (lse -inf) changes nothing.
/// (Ye et al., "Cascade Inference", FlashInfer, 2024.) Throws ShapeError, DTypeError.
PartialAttention merge_attention(Context& context, const TensorView& output_a,
                                 const TensorView& lse_a, const TensorView& output_b,
                                 const TensorView& lse_b);

// ---------------------------------------------------------------------------------------------
// Linear attention: a state instead of a cache

/// How a token changes the state S [D, Dv], before it is read as scale S^T q:
enum class LinearRule {
  kLinear,      ///< S += k v^T (Katharopoulos et al., 2020)
  kGated,       ///< S = exp(decay) S + k v^T (Yang et al., "Gated Linear Attention", 2023)
  kDelta,       ///< S += beta k (v - S^T k)^T (Schlag et al., 2021)
  kGatedDelta,  ///< S' = exp(decay) S; S = S' + beta k (v - S'^T k)^T (Yang et al., 2024)
};

/// Options of linear_attention.
struct LinearAttentionOptions {
  LinearRule rule = LinearRule::kLinear;
  /// For inputs [B, L, H*D], as in AttentionOptions.
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  /// 1/sqrt(D) if not given.
  std::optional<float> scale;
  /// Logarithm of the decay, for each row of the state [B, G, L, D] ([B, L, G*D]) or for all
  /// [B, G, L] ([B, L, G]); with the gated rules. An axis of size 1 repeats its number: [B, L, 1]
  /// is one decay for all heads.
  std::optional<TensorView> decay;
  /// [B, G, L] or [B, G, L, 1] ([B, L, G]), axes of size 1 as for decay; with the delta rules.
  std::optional<TensorView> beta;
  /// [B, G, D, Dv]; zeros if not given.
  std::optional<TensorView> past_state;
};

/// The results of linear_attention.
struct LinearAttentionResult {
  /// As in AttentionResult.
  Tensor output;
  /// [B, G, D, Dv]
  Tensor present_state;
};

/// q, k, v as in attention, with as many keys as queries. (ONNX LinearAttention 27.)
/// Throws ShapeError, DTypeError, OptionError, MemoryError.
LinearAttentionResult linear_attention(Context& context, const TensorView& q, const TensorView& k,
                                       const TensorView& v,
                                       const LinearAttentionOptions& options = {});

// ---------------------------------------------------------------------------------------------
// Multi-head attention: projections, attention, output projection
// (Vaswani et al., section 3.2.2, 2017). Parameters have the layout of torch.nn.MultiheadAttention.

/// The parameters of multi_head_attention.
struct MultiHeadAttentionParameters {
  /// [3E, E] the query, key and value projections in one array, or else the three below.
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

/// Options of multi_head_attention.
struct MultiHeadAttentionOptions {
  /// Must divide E.
  std::int64_t heads = 0;
  bool is_causal = false;
  /// As in AttentionOptions: bool, true where a key is visible, or float32, added.
  std::optional<TensorView> mask;
  /// bool [B, S], true where a key is visible: the negation of torch's key_padding_mask.
  std::optional<TensorView> key_mask;
  bool need_weights = false;
  /// Weights as the mean over heads, [B, L, S], instead of [B, H, L, S].
  bool average_weights = false;
};

/// The results of multi_head_attention.
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

/// The checks of multi_head_attention, except the check of the mask, for callers that compute it in
/// steps. Throws ShapeError, DTypeError, OptionError.
void check_multi_head_attention(const TensorView& query, const TensorView& key,
                                const TensorView& value,
                                const MultiHeadAttentionParameters& parameters,
                                const MultiHeadAttentionOptions& options);

}  // namespace heed
