#pragma once

// Attention: O = P V, P = softmax(s) over the visible keys, with
//   s = scale Q K^T;  s = c tanh(s / c);  s += bias + float mask - slope[h] |p - j|.
// Vaswani et al., "Attention Is All You Need", section 3.2.1, 2017. Heads that share keys and
// values: Ainslie et al., "GQA", section 2, 2023. Softcap c: Gemma 2, section 2, 2024. Slopes:
// Press et al., "Train Short, Test Long", section 3, 2022. Sinks: Xiao et al., "Efficient Streaming
// Language Models with Attention Sinks", section 3, 2023, as a learned logit.
//
// Shapes with separate heads:
//   q [B, H, L, D]    k [B, G, K, D]    v [B, G, K, Dv]    -> output [B, H, L, Dv].
// Shapes with joined heads:
//   q [B, L, H*D]     k [B, K, G*D]     v [B, K, G*Dv]     -> output [B, L, H*Dv].
// The past comes first: past_key [B, G, P, D], past_value [B, G, P, Dv], S = P + K. Further
// results:
//   weights, scores (after the scale), capped, masked [B, H, L, S]    lse, entropy [B, H, L].
// Packed sequences, with one attention for each sequence:
//   q [Tq, H, D]    k [Tk, G, D]    v [Tk, G, Dv]    -> output [Tq, H, Dv], lse, entropy [H, Tq].
//
// Query i of batch b has position p = i + offset and sees key j iff all of these conditions are
// true.
//   `rolling.oldest[b] <= j`      If a rolling cache has dropped older keys.
//   `rolling.first[b] + i <= j`   The last `capacity` keys of a rolling cache, up to its own.
//   `j < kv_lengths[b]`           If key lengths are given.
//   `j <= p`                      If causal.
//   `p - window_left <= j`        Unless window_left is -1.
//   `j <= p + window_right`       Unless window_right is -1.
//   `mask[b, h, i, j] is true`    If a bool mask is given. It hides keys beyond its last axis.
//   `mask[b, h, i, j] > -inf`     If a float mask is given, and for the bias; likewise.
//   With a block mask, the block of (i, j) is full, or the bit of (i, j) in the block is true.
// A query that sees no key has output 0, weights 0, entropy 0 and, as lse, -inf or the sink.
//
// Not included: dropout and the cache. The tests of the cache keep track of its keys.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "heed/heed.hpp"
#include "reference/arithmetic.hpp"
#include "reference/array.hpp"

namespace heed::reference {

struct AttentionResult {
  Array output;
  Array weights;
  Array lse;
  Array scores;
  Array capped;
  Array masked;
  Array entropy;
  Array present_key;
  Array present_value;
};

inline constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

/// [B, N, heads*D] -> [B, heads, N, D]
inline Array split_heads(const Array& x, std::int64_t heads) {
  const std::int64_t B = x.shape[0], N = x.shape[1], D = x.shape[2] / heads;
  Array y(Shape{B, heads, N, D});
  for (std::int64_t b = 0; b < B; ++b)
    for (std::int64_t h = 0; h < heads; ++h)
      for (std::int64_t n = 0; n < N; ++n)
        for (std::int64_t d = 0; d < D; ++d)
          y[((b * heads + h) * N + n) * D + d] = x[((b * N + n) * heads + h) * D + d];
  return y;
}

/// [B, heads, N, D] -> [B, N, heads*D]
inline Array join_heads(const Array& x) {
  const std::int64_t B = x.shape[0], heads = x.shape[1], N = x.shape[2], D = x.shape[3];
  Array y(Shape{B, N, heads * D});
  for (std::int64_t b = 0; b < B; ++b)
    for (std::int64_t h = 0; h < heads; ++h)
      for (std::int64_t n = 0; n < N; ++n)
        for (std::int64_t d = 0; d < D; ++d)
          y[((b * N + n) * heads + h) * D + d] = x[((b * heads + h) * N + n) * D + d];
  return y;
}

/// [B, G, P, D] and [B, G, K, D] -> [B, G, P + K, D]
inline Array concatenate(const Array& past, const Array& x) {
  const std::int64_t B = x.shape[0], G = x.shape[1], P = past.shape[2], K = x.shape[2];
  const std::int64_t D = x.shape[3];
  Array y(Shape{B, G, P + K, D});
  for (std::int64_t bg = 0; bg < B * G; ++bg)
    for (std::int64_t j = 0; j < P + K; ++j)
      for (std::int64_t d = 0; d < D; ++d)
        y[(bg * (P + K) + j) * D + d] =
            j < P ? past[(bg * P + j) * D + d] : x[(bg * K + j - P) * D + d];
  return y;
}

/// The term that a mask or a bias adds to a score; -inf hides the key.
class Bias {
 public:
  explicit Bias(const std::optional<TensorView>& mask) : mask_(mask) {}

  double operator()(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
    if (!mask_) return 0.0;
    const std::int64_t at = position(b, h, i, j);
    if (at < 0) return kMinusInfinity;
    const auto element = static_cast<std::size_t>(at);
    if (mask_->dtype() == DType::kFloat32) return mask_->data<float>()[element];
    return mask_->data<bool>()[element] ? 0.0 : kMinusInfinity;
  }

  /// The index of the element that is added; -1 beyond a short last axis.
  std::int64_t position(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
    const Shape& shape = mask_->shape();
    const std::int64_t at[4] = {b, h, i, j};
    std::int64_t result = 0;
    for (int axis = 0; axis < shape.rank(); ++axis) {
      const std::int64_t size = shape[axis];
      const std::int64_t index = size == 1 ? 0 : at[4 - shape.rank() + axis];
      if (index >= size) return -1;
      result = result * size + index;
    }
    return result;
  }

 private:
  const std::optional<TensorView>& mask_;
};

inline bool block_mask_shows(const BlockMask* mask, std::int64_t b, std::int64_t h, std::int64_t i,
                             std::int64_t j) {
  if (!mask) return true;
  const Shape& shape = mask->kinds().shape();
  const std::int64_t slice = (shape[0] == 1 ? 0 : b) * shape[1] + (shape[1] == 1 ? 0 : h);
  const std::int64_t block =
      (slice * shape[2] + i / BlockMask::kQueries) * shape[3] + j / BlockMask::kKeys;
  const std::int32_t kind = mask->kinds().data<std::int32_t>()[static_cast<std::size_t>(block)];
  if (kind == BlockMask::kEmpty) return false;
  if (kind == BlockMask::kFull) return true;
  const std::int64_t bit =
      (kind * BlockMask::kQueries + i % BlockMask::kQueries) * BlockMask::kKeys +
      j % BlockMask::kKeys;
  return mask->bits().data<bool>()[static_cast<std::size_t>(bit)];
}

/// The number for batch b in an int32 array, which may have one number for all.
inline std::int64_t number_of(const TensorView& numbers, std::int64_t b) {
  const auto values = numbers.data<std::int32_t>();
  return values[values.size() == 1 ? 0 : static_cast<std::size_t>(b)];
}

/// The number of keys of batch b.
inline std::int64_t length_of(const AttentionOptions& options, std::int64_t b, std::int64_t S) {
  if (!options.kv_lengths) return S;
  return options.kv_lengths->data<std::int32_t>()[static_cast<std::size_t>(b)];
}

/// The position of query 0 of batch b.
inline std::int64_t offset_of(const AttentionOptions& options, std::int64_t b, std::int64_t L,
                              std::int64_t S) {
  if (options.causal_offset) return number_of(*options.causal_offset, b);
  if (options.causal_alignment == CausalAlignment::kTopLeft) return 0;
  if (options.causal_alignment == CausalAlignment::kBottomRight)
    return length_of(options, b, S) - L;
  if (options.past_key) return options.past_key->shape()[2];
  if (options.kv_lengths) return length_of(options, b, S) - L;
  return 0;
}

/// The index for (b, h) in slopes or sinks [H] or [B, H]; either axis of the latter may be 1.
inline std::int64_t head_position(const Shape& shape, std::int64_t b, std::int64_t h) {
  if (shape.rank() == 1) return h;
  return (shape[0] == 1 ? 0 : b) * shape[1] + (shape[1] == 1 ? 0 : h);
}

inline double head_number(const TensorView& numbers, std::int64_t b, std::int64_t h) {
  return numbers.data<float>()[static_cast<std::size_t>(head_position(numbers.shape(), b, h))];
}

/// The keys that a rolling cache hides, one number for each batch entry; empty for other caches.
struct RollingKeys {
  std::vector<std::int64_t> oldest;
  std::vector<std::int64_t> first;  // for query 0
};

/// Attention with separate heads. The batch entries of slopes and sinks are counted from
/// `first_batch`.
struct HeadAttention {
  const Array& q;
  const Array& k;
  const Array& v;
  const AttentionOptions& options;
  const RollingKeys& rolling;
  std::int64_t first_batch;
  std::int64_t B = q.shape[0], H = q.shape[1], L = q.shape[2], D = q.shape[3];
  std::int64_t G = k.shape[1], S = k.shape[2], Dv = v.shape[3];
  Bias mask{options.mask}, bias{options.bias};
  Shape rows{B, H, L}, pairs{B, H, L, S};
  AttentionResult result{Array(Shape{B, H, L, Dv}),
                         Array(pairs),
                         Array(rows),
                         Array(pairs),
                         Array(pairs),
                         Array(pairs),
                         Array(rows),
                         {},
                         {}};

  /// Whether query i, at position p of the keys, sees key j.
  bool sees(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j, std::int64_t p) const {
    const auto n = static_cast<std::size_t>(b);
    return (rolling.oldest.empty() || std::max(rolling.oldest[n], rolling.first[n] + i) <= j) &&
           j < length_of(options, b, S) && (!options.is_causal || j <= p) &&
           (options.window_left == -1 || p - j <= options.window_left) &&
           (options.window_right == -1 || j - p <= options.window_right) &&
           mask(b, h, i, j) != kMinusInfinity && bias(b, h, i, j) != kMinusInfinity &&
           block_mask_shows(options.block_mask, b, h, i, j);
  }

  /// Computes the scores of query i. Returns whether it sees each key.
  std::vector<bool> score(std::int64_t b, std::int64_t h, std::int64_t i) {
    const double scale = options.scale ? *options.scale : 1.0 / std::sqrt(static_cast<double>(D));
    const double cap = options.softcap;
    const double slope =
        options.alibi_slopes ? head_number(*options.alibi_slopes, first_batch + b, h) : 0.0;
    const std::int64_t p = i + offset_of(options, b, L, S);
    const std::int64_t row = (b * H + h) * L + i;
    const double* const query = q.from(row * D);
    std::vector<bool> visible;
    for (std::int64_t j = 0; j < S; ++j) {
      const std::int64_t at = row * S + j;
      const double* const key = k.from(((b * G + h / (H / G)) * S + j) * D);
      double dot = 0.0;
      for (std::int64_t d = 0; d < D; ++d) dot += query[d] * key[d];
      result.scores[at] = D == 0 ? 0.0 : scale * dot;
      result.capped[at] = cap == 0.0 ? result.scores[at] : cap * std::tanh(result.scores[at] / cap);
      visible.push_back(sees(b, h, i, j, p));
      const auto distance = static_cast<double>(std::abs(p - j));
      result.masked[at] = visible.back() ? result.capped[at] + mask(b, h, i, j) + bias(b, h, i, j) -
                                               slope * distance
                                         : kMinusInfinity;
    }
    return visible;
  }

  /// Computes the results of query i.
  void attend(std::int64_t b, std::int64_t h, std::int64_t i) {
    const std::int64_t row = (b * H + h) * L + i;
    const std::vector<bool> visible = score(b, h, i);
    const double sink =
        options.sinks ? head_number(*options.sinks, first_batch + b, h) : kMinusInfinity;
    if (std::ranges::count(visible, true) == 0) {
      result.lse[row] = sink;
      return;
    }
    const double* const s = result.masked.from(row * S);
    double* const output = result.output.from(row * Dv);
    double maximum = sink;
    for (std::int64_t j = 0; j < S; ++j) maximum = std::max(maximum, s[j]);
    const auto power = [&](std::int64_t j) {
      return visible[static_cast<std::size_t>(j)] ? std::exp(s[j] - maximum) : 0.0;
    };
    double sum = std::exp(sink - maximum);
    for (std::int64_t j = 0; j < S; ++j) sum += power(j);
    result.lse[row] = maximum + std::log(sum);
    for (std::int64_t j = 0; j < S; ++j) {
      const double weight = power(j) / sum;
      result.weights[row * S + j] = weight;
      if (!visible[static_cast<std::size_t>(j)]) continue;
      if (weight != 0.0) result.entropy[row] -= weight * std::log(weight);
      const double* const value = v.from(((b * G + h / (H / G)) * S + j) * Dv);
      for (std::int64_t d = 0; d < Dv; ++d) output[d] += weight * value[d];
    }
  }
};

inline AttentionResult attention_by_head(const Array& q, const Array& k, const Array& v,
                                         const AttentionOptions& options,
                                         const RollingKeys& rolling = {},
                                         std::int64_t first_batch = 0) {
  HeadAttention heads{q, k, v, options, rolling, first_batch};
  for (std::int64_t b = 0; b < heads.B; ++b)
    for (std::int64_t h = 0; h < heads.H; ++h)
      for (std::int64_t i = 0; i < heads.L; ++i) heads.attend(b, h, i);
  return std::move(heads.result);
}

/// The rows [begin, end) of x [T, heads, D] as [1, heads, end - begin, D].
inline Array sequence_of(const Array& x, std::int64_t begin, std::int64_t end) {
  Array rows = slice(x, 0, begin, end - begin);
  rows.shape = Shape{1, end - begin, x.shape[1] * x.shape[2]};
  return split_heads(rows, x.shape[1]);
}

/// Copies the sequence y [1, heads, N, D] to the rows of x [T, heads, D] from `begin` on.
inline void put_sequence(const Array& y, std::int64_t begin, Array& x) {
  std::ranges::copy(join_heads(y).values, x.from(begin * y.shape[1] * y.shape[3]));
}

/// One packed sequence: its rows of q, and of k and v.
struct PackedSequence {
  std::int64_t number, first_query, queries, first_key, keys;
};

/// Calls visit(sequence, options) for each packed sequence with its own options.
template <class Visit>
void for_each_sequence(const AttentionOptions& options, const Visit& visit) {
  const auto starts_q = options.cu_seqlens_q->data<std::int32_t>();
  const auto starts_k = options.cu_seqlens_k->data<std::int32_t>();
  for (std::size_t n = 0; n + 1 < starts_q.size(); ++n) {
    AttentionOptions alone = options;
    alone.cu_seqlens_q.reset();
    alone.cu_seqlens_k.reset();
    const bool is_default = options.causal_alignment == CausalAlignment::kDefault;
    if (is_default) alone.causal_alignment = CausalAlignment::kBottomRight;
    std::array<std::int32_t, 1> offset{};
    if (options.causal_offset) {
      offset[0] = static_cast<std::int32_t>(
          number_of(*options.causal_offset, static_cast<std::int64_t>(n)));
      alone.causal_offset = TensorView(offset.data(), Shape{1});
    }
    visit(PackedSequence{static_cast<std::int64_t>(n), starts_q[n], starts_q[n + 1] - starts_q[n],
                         starts_k[n], starts_k[n + 1] - starts_k[n]},
          alone);
  }
}

/// Returns only output, lse and entropy.
inline AttentionResult packed_attention(const Array& q, const Array& k, const Array& v,
                                        const AttentionOptions& options) {
  const std::int64_t Tq = q.shape[0], H = q.shape[1];
  AttentionResult result;
  result.output = Array(Shape{Tq, H, v.shape[2]});
  result.lse = Array(Shape{H, Tq});
  result.entropy = Array(Shape{H, Tq});
  for_each_sequence(options, [&](const PackedSequence& one, const AttentionOptions& alone) {
    const auto [number, first, L, first_key, S] = one;
    const AttentionResult part = attention_by_head(
        sequence_of(q, first, first + L), sequence_of(k, first_key, first_key + S),
        sequence_of(v, first_key, first_key + S), alone, {}, number);
    for (std::int64_t h = 0; h < H; ++h)
      for (std::int64_t i = 0; i < L; ++i) {
        result.lse[h * Tq + first + i] = part.lse[h * L + i];
        result.entropy[h * Tq + first + i] = part.entropy[h * L + i];
      }
    put_sequence(part.output, first, result.output);
  });
  return result;
}

/// x with separate heads, of which there are `heads` if it has joined ones.
inline Array separate_heads(const Array& x, std::int64_t heads) {
  return x.shape.rank() == 3 ? split_heads(x, heads) : x;
}

/// Keys or values with separate heads, after the past.
inline Array all_rows(const Array& x, const std::optional<TensorView>& past,
                      const AttentionOptions& options) {
  const Array rows = separate_heads(x, options.kv_heads == 0 ? options.heads : options.kv_heads);
  return past ? concatenate(*past, rows) : rows;
}

inline AttentionResult attention(const Array& q, const Array& k, const Array& v,
                                 const AttentionOptions& options = {},
                                 const RollingKeys& rolling = {}) {
  if (options.cu_seqlens_q) return packed_attention(q, k, v, options);
  Array keys = all_rows(k, options.past_key, options);
  Array values = all_rows(v, options.past_value, options);
  AttentionResult result =
      attention_by_head(separate_heads(q, options.heads), keys, values, options, rolling);
  if (q.shape.rank() == 3) result.output = join_heads(result.output);
  if (options.past_key) {
    result.present_key = std::move(keys);
    result.present_value = std::move(values);
  }
  return result;
}

}  // namespace heed::reference
