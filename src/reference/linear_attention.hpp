#pragma once

// Linear attention, without a normaliser (ONNX LinearAttention 27). Tokens change a state
// S [D, Dv], and o_t = scale S_t^T q_t.
//   linear       S_t = S_{t-1} + k v^T.
//   Katharopoulos et al., section 3.4, 2020.
//   gated        S_t = diag(e^g) S_{t-1} + k v^T.
//   Yang et al., "GLA", section 4, 2023.
//   delta        S_t = S_{t-1} + b k (v - S_{t-1}^T k)^T.
//   Schlag et al., section 4.2, 2021.
//   gated delta  As delta, with S_{t-1} replaced by diag(e^g) S_{t-1}.
//   Yang et al., 2024.
//
// Shapes with separate heads:
//   q [B, H, L, D]    k [B, G, L, D]    v [B, G, L, Dv]    -> output [B, H, L, Dv].
//   Decay g [B, G, L, D] or [B, G, L].    Beta b [B, G, L] or [B, G, L, 1].
// Shapes with joined heads:
//   q [B, L, H*D]     k [B, L, G*D]     v [B, L, G*Dv]     -> output [B, L, H*Dv].
//   Decay [B, L, G*D] or [B, L, G].       Beta [B, L, G].
// Any axis of decay and beta may be 1 instead: its number repeats. The past_state and the
// present_state are [B, G, D, Dv].

#include <cmath>
#include <cstdint>

#include "heed/heed.hpp"
#include "reference/array.hpp"
#include "reference/attention.hpp"

namespace heed::reference {

struct LinearAttentionResult {
  Array output;
  Array present_state;
};

/// The number of a decay or beta for batch b, head g of G, token t and row d of the state.
inline double rate_of(const TensorView& rates, bool is_joined, std::int64_t G, std::int64_t b,
                      std::int64_t g, std::int64_t t, std::int64_t d) {
  const Shape& shape = rates.shape();
  const auto of_axis = [&](int axis, std::int64_t at) { return shape[axis] == 1 ? 0 : at; };
  std::int64_t index = 0;
  if (is_joined) {
    const std::int64_t width = shape[2], per_head = width / G;
    index = (of_axis(0, b) * shape[1] + of_axis(1, t)) * width;
    if (width > 1) index += per_head == 1 ? g : g * per_head + d;
  } else {
    const std::int64_t at[] = {b, g, t, d};
    for (int axis = 0; axis < shape.rank(); ++axis)
      index = index * shape[axis] + of_axis(axis, at[axis]);
  }
  return rates.data<float>()[static_cast<std::size_t>(index)];
}

/// For q, k and v with separate heads; decay and beta have joined heads if `is_joined`.
inline LinearAttentionResult linear_attention_by_head(const Array& q, const Array& k,
                                                      const Array& v,
                                                      const LinearAttentionOptions& options,
                                                      bool is_joined) {
  const std::int64_t B = q.shape[0], H = q.shape[1], L = q.shape[2], D = q.shape[3];
  const std::int64_t G = k.shape[1], Dv = v.shape[3];
  const double scale = options.scale ? *options.scale : 1.0 / std::sqrt(static_cast<double>(D));
  const bool is_delta =
      options.rule == LinearRule::kDelta || options.rule == LinearRule::kGatedDelta;
  const bool is_gated =
      options.rule == LinearRule::kGated || options.rule == LinearRule::kGatedDelta;
  LinearAttentionResult result{Array(Shape{B, H, L, Dv}), Array(Shape{B, G, D, Dv})};
  if (options.past_state) result.present_state = *options.past_state;
  for (std::int64_t bg = 0; bg < B * G; ++bg) {
    const std::int64_t b = bg / G, g = bg % G;
    double* const state = result.present_state.from(bg * D * Dv);
    for (std::int64_t t = 0; t < L; ++t) {
      const std::int64_t token = bg * L + t;
      if (is_gated)
        for (std::int64_t d = 0; d < D; ++d)
          for (std::int64_t c = 0; c < Dv; ++c)
            state[d * Dv + c] *= std::exp(rate_of(*options.decay, is_joined, G, b, g, t, d));
      for (std::int64_t c = 0; c < Dv; ++c) {
        double added = v[token * Dv + c];
        if (is_delta) {
          for (std::int64_t d = 0; d < D; ++d) added -= state[d * Dv + c] * k[token * D + d];
          added *= rate_of(*options.beta, is_joined, G, b, g, t, 0);
        }
        for (std::int64_t d = 0; d < D; ++d) state[d * Dv + c] += k[token * D + d] * added;
      }
      for (std::int64_t h = g * (H / G); h < (g + 1) * (H / G); ++h) {
        const std::int64_t row = (b * H + h) * L + t;
        for (std::int64_t c = 0; c < Dv; ++c)
          for (std::int64_t d = 0; d < D; ++d)
            result.output[row * Dv + c] += scale * q[row * D + d] * state[d * Dv + c];
      }
    }
  }
  return result;
}

inline LinearAttentionResult linear_attention(const Array& q, const Array& k, const Array& v,
                                              const LinearAttentionOptions& options = {}) {
  if (q.shape.rank() == 4) return linear_attention_by_head(q, k, v, options, false);
  const std::int64_t kv_heads = options.kv_heads == 0 ? options.heads : options.kv_heads;
  LinearAttentionResult result =
      linear_attention_by_head(split_heads(q, options.heads), split_heads(k, kv_heads),
                               split_heads(v, kv_heads), options, true);
  result.output = join_heads(result.output);
  return result;
}

}  // namespace heed::reference
