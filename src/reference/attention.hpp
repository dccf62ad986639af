#pragma once

// Attention: O = P V, P = softmax(scale Q K^T + bias) over the keys that may be seen.
// Vaswani et al., "Attention Is All You Need", section 3.2.1, 2017; heads that share keys and
// values: Ainslie et al., "GQA", section 2, 2023.
//
//   q [B, H, L, D]    k [B, G, S, D]    v [B, G, S, Dv]    -> output [B, H, L, Dv]
//   q [B, L, H*D]     k [B, S, G*D]     v [B, S, G*Dv]     -> output [B, L, H*Dv]
//   weights, scores, masked [B, H, L, S]    lse [B, H, L]
//
// Query i of batch b sees key j iff all of these hold:
//   j < kv_lengths[b]           where key lengths are given
//   j <= i + offset             if causal; offset = kv_lengths[b] - L where given, else 0
//   mask[b, h, i, j] is true    where a bool mask is given; it hides keys beyond its last axis
//   mask[b, h, i, j] > -inf     where a float mask is given; likewise
// A query that sees nothing has output 0, weights 0 and lse -inf.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "heed/heed.hpp"
#include "reference/array.hpp"

namespace heed::reference {

struct AttentionResult {
  Array output;
  Array weights;
  Array lse;
  Array scores;
  Array masked;
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

/// What the mask adds to a score: -inf hides the key.
class Bias {
 public:
  explicit Bias(const std::optional<TensorView>& mask) : mask_(mask) {}

  double operator()(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
    if (!mask_) return 0.0;
    const Shape& shape = mask_->shape();
    const std::int64_t at[4] = {b, h, i, j};
    std::int64_t position = 0;
    for (int axis = 0; axis < shape.rank(); ++axis) {
      const std::int64_t size = shape[axis];
      const std::int64_t index = size == 1 ? 0 : at[4 - shape.rank() + axis];
      if (index >= size) return kMinusInfinity;
      position = position * size + index;
    }
    const auto element = static_cast<std::size_t>(position);
    if (mask_->dtype() == DType::kFloat32) return mask_->data<float>()[element];
    return mask_->data<bool>()[element] ? 0.0 : kMinusInfinity;
  }

 private:
  const std::optional<TensorView>& mask_;
};

inline AttentionResult attention_by_head(const Array& q, const Array& k, const Array& v,
                                         const AttentionOptions& options) {
  const std::int64_t B = q.shape[0], H = q.shape[1], L = q.shape[2], D = q.shape[3];
  const std::int64_t G = k.shape[1], S = k.shape[2], Dv = v.shape[3];
  const double scale = options.scale ? *options.scale : 1.0 / std::sqrt(static_cast<double>(D));
  const Bias bias(options.mask);

  AttentionResult result{Array(Shape{B, H, L, Dv}), Array(Shape{B, H, L, S}), Array(Shape{B, H, L}),
                         Array(Shape{B, H, L, S}), Array(Shape{B, H, L, S})};
  for (std::int64_t b = 0; b < B; ++b) {
    std::int64_t length = S;
    std::int64_t offset = 0;
    if (options.kv_lengths) {
      length = options.kv_lengths->data<std::int32_t>()[static_cast<std::size_t>(b)];
      offset = length - L;
    }
    for (std::int64_t h = 0; h < H; ++h) {
      const std::int64_t g = h / (H / G);
      for (std::int64_t i = 0; i < L; ++i) {
        const std::int64_t row = (b * H + h) * L + i;

        double maximum = kMinusInfinity;
        bool sees_a_key = false;
        const auto visible = [&](std::int64_t j) {
          return j < length && (!options.is_causal || j <= i + offset) &&
                 bias(b, h, i, j) != kMinusInfinity;
        };
        for (std::int64_t j = 0; j < S; ++j) {
          double dot = 0.0;
          for (std::int64_t d = 0; d < D; ++d)
            dot += q[row * D + d] * k[((b * G + g) * S + j) * D + d];
          const double score = D == 0 ? 0.0 : scale * dot;
          result.scores[row * S + j] = score;
          result.masked[row * S + j] = visible(j) ? score + bias(b, h, i, j) : kMinusInfinity;
          if (visible(j)) {
            sees_a_key = true;
            maximum = std::max(maximum, result.masked[row * S + j]);
          }
        }
        if (!sees_a_key) {
          result.lse[row] = kMinusInfinity;
          continue;
        }

        double sum = 0.0;
        for (std::int64_t j = 0; j < S; ++j)
          if (visible(j)) sum += std::exp(result.masked[row * S + j] - maximum);
        result.lse[row] = maximum + std::log(sum);
        for (std::int64_t j = 0; j < S; ++j) {
          const double power = visible(j) ? std::exp(result.masked[row * S + j] - maximum) : 0.0;
          const double weight = power / sum;
          result.weights[row * S + j] = weight;
          if (!visible(j)) continue;
          for (std::int64_t d = 0; d < Dv; ++d)
            result.output[row * Dv + d] += weight * v[((b * G + g) * S + j) * Dv + d];
        }
      }
    }
  }
  return result;
}

inline AttentionResult attention(const Array& q, const Array& k, const Array& v,
                                 const AttentionOptions& options = {}) {
  if (q.shape.rank() == 4) return attention_by_head(q, k, v, options);
  const std::int64_t kv_heads = options.kv_heads == 0 ? options.heads : options.kv_heads;
  AttentionResult result = attention_by_head(
      split_heads(q, options.heads), split_heads(k, kv_heads), split_heads(v, kv_heads), options);
  result.output = join_heads(result.output);
  return result;
}

}  // namespace heed::reference
