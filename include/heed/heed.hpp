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

#include <functional>
#include <optional>
#include <span>

#include "heed/context.hpp"
#include "heed/error.hpp"
#include "heed/kv_cache.hpp"
#include "heed/packed_weights.hpp"
#include "heed/tensor.hpp"

#define HEED_VERSION "0.1.0"

namespace heed {

// ---------------------------------------------------------------------------------------------
// Attention: softmax(scale Q K^T + bias, over the keys that may be seen) V
// (Vaswani et al., "Attention Is All You Need", section 3.2.1, 2017)

/// Which query stands at which key, when there are fewer or more keys than queries: query i has
/// position p = i + offset.
enum class CausalAlignment {
  /// The length of the past with one; kv_lengths[b] - L with those; the sequence's keys - queries
  /// for packed sequences (as FlashAttention 2.1); else 0.
  kDefault,
  /// Query 0 stands at key 0.
  kTopLeft,
  /// The last query stands at the last key.
  kBottomRight,
};

/// A mask evaluated once and kept by blocks of 48 queries x 128 keys, the kernel's own tiles: empty
/// blocks are never visited and full ones not masked (Dong et al., "FlexAttention", 2024).
class BlockMask {
 public:
  static constexpr std::int64_t kQueries = 48;
  static constexpr std::int64_t kKeys = 128;
  static constexpr std::int32_t kEmpty = -1;
  static constexpr std::int32_t kFull = -2;

  /// kinds int32 [batch, heads, blocks of queries, blocks of keys], batch and heads may be 1:
  /// kEmpty, kFull or the index of a block of bits; bits bool [blocks, kQueries, kKeys], true where
  /// a key may be seen. Throws ShapeError, DTypeError, OptionError.
  BlockMask(std::int64_t queries, std::int64_t keys, Tensor kinds, Tensor bits);

  /// From a function, called for every (b, h, q, k) of these sizes.
  static BlockMask from(std::int64_t batch, std::int64_t heads, std::int64_t queries,
                        std::int64_t keys,
                        const std::function<bool(std::int64_t b, std::int64_t h, std::int64_t q,
                                                 std::int64_t k)>& may_see);

  std::int64_t queries() const noexcept { return queries_; }
  std::int64_t keys() const noexcept { return keys_; }
  const Tensor& kinds() const noexcept { return kinds_; }
  const Tensor& bits() const noexcept { return bits_; }

 private:
  std::int64_t queries_;
  std::int64_t keys_;
  Tensor kinds_;
  Tensor bits_;
};

/// How the scores are computed.
enum class Precision {
  kFloat32,
  /// Queries and keys are rounded to whole numbers of 7 bits, a scale to each row, after the mean
  /// of the keys is taken off them (after Zhang et al., "SageAttention", 2024). On normally
  /// distributed inputs the output's cosine similarity with kFloat32 is above 0.9995. Not with a
  /// cache.
  kInt8Scores,
};

struct AttentionOptions {
  /// Query and key/value heads; needed for inputs [B, L, H*D], taken from the shapes otherwise.
  /// 0 for kv_heads means as many as heads.
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  /// Multiplies the scores; 1/sqrt(D) if not given.
  std::optional<float> scale;

  // Which keys a query sees: those that every option below leaves.

  /// Query i sees key j only if j <= p.
  bool is_causal = false;
  CausalAlignment causal_alignment = CausalAlignment::kDefault;
  /// int32 [1] or [B] the offset itself, instead of an alignment; may be negative.
  std::optional<TensorView> causal_offset;
  /// Query i sees key j only if p - window_left <= j <= p + window_right; -1 leaves a side open.
  std::int64_t window_left = -1;
  std::int64_t window_right = -1;
  /// bool: true where a key may be seen. float32: added to the scores, -inf hides a key.
  /// Broadcasts like numpy, aligned right, to [B, H, L, S]; a last axis shorter than S (but not 1)
  /// hides the keys it does not reach.
  std::optional<TensorView> mask;
  /// int32 [B] how many keys of each sequence exist; the rest are not read.
  std::optional<TensorView> kv_lengths;
  /// Blocks of queries and keys that are seen wholly, partly or not at all.
  const BlockMask* block_mask = nullptr;

  Precision precision = Precision::kFloat32;

  // What happens to the scores, in this order, between the scale and the masks.

  /// Scores become softcap * tanh(score / softcap) (Gemma 2, 2024); 0 leaves them.
  float softcap = 0.0f;
  /// float32, added to the scores; broadcasts to [B, H, L, S]. -inf hides a key.
  std::optional<TensorView> bias;
  /// float32 [H]: slope * |p - j| is taken off the scores (ALiBi: Press et al., 2022).
  std::optional<TensorView> alibi_slopes;
  /// float32 [H]: a logit for each head that joins the softmax's denominator and nothing else
  /// (attention sinks: Xiao et al., 2023; gpt-oss, 2025).
  std::optional<TensorView> sinks;
  /// The share of weights that are set to zero, at random by the seed; the rest grow by
  /// 1 / (1 - dropout). A given (seed, b, h, i, j) is always dropped or always kept.
  double dropout = 0.0;
  std::uint64_t dropout_seed = 0;

  // Where keys come from.

  /// Keys and values before those of k and v, [B, G, P, D] and [B, G, P, Dv]; S is then P + the
  /// keys of k, and the result has both together as present_key and present_value.
  std::optional<TensorView> past_key;
  std::optional<TensorView> past_value;
  /// k and v, new tokens, are appended to it, and the queries, which stand at the same positions,
  /// see all it holds; S is the longest sequence's length. kv_lengths tells how many of the new
  /// tokens each sequence takes.
  KvCache* cache = nullptr;
  /// int32 [N + 1]: packed sequences. q is [Tq, H, D], k [Tk, G, D], v [Tk, G, Dv]; sequence n has
  /// the queries [cu_seqlens_q[n], cu_seqlens_q[n + 1]) and the keys likewise, and sees no other's.
  std::optional<TensorView> cu_seqlens_q;
  std::optional<TensorView> cu_seqlens_k;

  // Results beside the output. Nothing of size L x S is stored unless asked for here.

  bool need_weights = false;
  bool need_lse = false;
  /// Keep the scores after the scale: every key's, hidden or not.
  bool capture_scores = false;
  /// The same after the softcap.
  bool capture_capped = false;
  /// Keep the scores after biases and masks; -inf where a key may not be seen.
  bool capture_masked = false;
  /// Keep the entropy of each row of weights, -sum w log w, before any dropout.
  bool capture_entropy = false;
};

struct AttentionResult {
  /// [B, H, L, Dv]; [B, L, H*Dv] for inputs of rank 3; [Tq, H, Dv] for packed ones. Zeros for a
  /// query that sees no key.
  Tensor output;
  /// [B, H, L, S], after dropout. Zeros for a query that sees no key.
  std::optional<Tensor> weights;
  /// [B, H, L], or [H, Tq]: natural log of the softmax denominator, the maximum included. For a
  /// query that sees no key -inf, or the sink.
  std::optional<Tensor> lse;
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

/// q [B, H, L, D], k [B, G, S, D], v [B, G, S, Dv], or q [B, L, H*D], k [B, S, G*D],
/// v [B, S, G*Dv] with head counts in the options. Query head h reads key/value head
/// floor(h / (H/G)), so H must be a multiple of G (grouped-query attention: Ainslie et al., 2023).
/// Keys that a query may not see are never read on its behalf: NaN there does not reach it.
/// q, k, v and the past may all be float16 or bfloat16: then so are output, present_key and
/// present_value, computed in float32; everything else stays float32.
/// Tiled with an online softmax (Dao et al., "FlashAttention", 2022): memory is O((L + S) (D +
/// Dv)). Throws ShapeError, DTypeError, OptionError, MemoryError.
AttentionResult attention(Context& context, const TensorView& q, const TensorView& k,
                          const TensorView& v, const AttentionOptions& options = {});

struct PartialAttention {
  Tensor output;
  Tensor lse;
};

/// One attention from two over parts of the same keys: outputs [B, H, L, Dv] and lse [B, H, L] of
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

struct LinearAttentionOptions {
  LinearRule rule = LinearRule::kLinear;
  /// For inputs [B, L, H*D], as in AttentionOptions.
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  /// 1/sqrt(D) if not given.
  std::optional<float> scale;
  /// Logarithm of the decay, for each row of the state [B, G, L, D] ([B, L, G*D]) or for all
  /// [B, G, L] ([B, L, G]); with the gated rules.
  std::optional<TensorView> decay;
  /// [B, G, L] ([B, L, G]); with the delta rules.
  std::optional<TensorView> beta;
  /// [B, G, D, Dv]; zeros if not given.
  std::optional<TensorView> past_state;
};

struct LinearAttentionResult {
  /// As of attention.
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

/// What is done to each number that a linear layer gives.
enum class Activation {
  kNone,
  kRelu,      ///< max(x, 0)
  kGelu,      ///< x Phi(x), Phi the distribution of the normal law (Hendrycks and Gimpel, 2016)
  kGeluTanh,  ///< x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), the same paper's approximation
  kSilu,      ///< x / (1 + exp(-x))
};

/// activation(x W^T + b). x [..., in], weight [out, in], bias [out] -> [..., out].
/// Throws ShapeError, DTypeError, MemoryError.
Tensor linear(Context& context, const TensorView& x, const TensorView& weight,
              const std::optional<TensorView>& bias = {},
              Activation activation = Activation::kNone);

/// The same with weights packed beforehand. With int8 weights the rows of x are rounded too, each
/// to 128 steps between its least and its greatest number: on normally distributed numbers the
/// result is off by some 2 % of its root mean square. A row of x or of the weights with a number
/// that is not finite gives NaN. Throws also OptionError for weights that a context with another
/// instruction set has packed.
Tensor linear(Context& context, const TensorView& x, const PackedWeights& weight,
              const std::optional<TensorView>& bias = {},
              Activation activation = Activation::kNone);

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

enum class RopeStyle {
  kHalf,         ///< pairs (x[c], x[c + rotary_size / 2])
  kInterleaved,  ///< pairs (x[2c], x[2c + 1])
};

struct RopeOptions {
  RopeStyle style = RopeStyle::kHalf;
  /// Of x [B, L, H*D]; taken from the shape [B, H, L, D] otherwise.
  std::int64_t heads = 0;
  /// So many entries of each head are rotated, the first ones; 0 means all.
  std::int64_t rotary_size = 0;
  double base = 10000.0;
  /// The position of the first row.
  std::int64_t offset = 0;
  /// int32 [B, L], instead of the offset.
  std::optional<TensorView> position_ids;
  /// Tables to use instead of the base: [positions, rotary_size / 2], or [B, L, rotary_size / 2]
  /// row by row.
  std::optional<TensorView> cos;
  std::optional<TensorView> sin;
};

/// Rotary position embedding: pair c of a row at position p is turned by the angle
/// p base^(-2c / rotary_size) (Su et al., "RoFormer", 2021; ONNX RotaryEmbedding 23).
/// x [B, H, L, D] or [B, L, H*D] -> the same shape. Throws ShapeError, DTypeError, OptionError.
Tensor rope(Context& context, const TensorView& x, const RopeOptions& options = {});

/// The same numbers as another floating type, rounded to nearest, ties to even.
/// Throws DTypeError for a type that is not floating.
Tensor cast(Context& context, const TensorView& x, DType dtype);

/// a + b; b broadcasts to the shape of a like numpy, aligned right. Throws ShapeError, DTypeError.
Tensor add(Context& context, const TensorView& a, const TensorView& b);

}  // namespace heed
