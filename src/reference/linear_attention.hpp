#pragma once

// Linear attention: tokens change a state S [D, Dv], and o_t = scale S_t^T q_t.
//   linear       S_t = S_{t-1} + k v^T                      Katharopoulos et al., section 3.4, 2020
//   gated        S_t = diag(e^g) S_{t-1} + k v^T            Yang et al., "GLA", section 4, 2023
//   delta        S_t = S_{t-1} + b k (v - S_{t-1}^T k)^T    Schlag et al., section 4.2, 2021
//   gated delta  the same with S_{t-1} replaced by diag(e^g) S_{t-1}    Yang et al., 2024
// without a normaliser (ONNX LinearAttention 27).
//
//   q [B, H, L, D]    k [B, G, L, D]    v [B, G, L, Dv]    -> output [B, H, L, Dv]
//   decay g [B, G, L, D] or [B, G, L]    beta b [B, G, L]
//   q [B, L, H*D]     k [B, L, G*D]     v [B, L, G*Dv]     -> output [B, L, H*Dv]
//   decay [B, L, G*D] or [B, L, G]       beta [B, L, G]
//   past_state, present_state [B, G, D, Dv]

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "heed/heed.hpp"
#include "reference/array.hpp"
#include "reference/attention.hpp"

namespace heed::reference {

struct LinearAttentionResult {
  Array output;
  Array present_state;
};

inline LinearAttentionResult linear_attention(const Array& q, const Array& k, const Array& v,
                                              const LinearAttentionOptions& options = {}) {
  const bool is_joined = q.shape.rank() == 3;
  if (is_joined) {
    const std::int64_t kv_heads = options.kv_heads == 0 ? options.heads : options.kv_heads;
    // One number for each head and token becomes [B, G, L, 1], the same order as [B, G, L].
    std::vector<float> decays, betas;
    LinearAttentionOptions split = options;
    const auto by_head = [&](const TensorView& x, std::vector<float>& memory) {
      const Array y = split_heads(x, kv_heads);
      for (const double number : y.values) memory.push_back(static_cast<float>(number));
      return TensorView(memory.data(), y.shape);
    };
    if (options.decay) split.decay = by_head(*options.decay, decays);
    if (options.beta) split.beta = by_head(*options.beta, betas);
    LinearAttentionResult result = linear_attention(
        split_heads(q, options.heads), split_heads(k, kv_heads), split_heads(v, kv_heads), split);
    result.output = join_heads(result.output);
    return result;
  }

  const std::int64_t B = q.shape[0], H = q.shape[1], L = q.shape[2], D = q.shape[3];
  const std::int64_t G = k.shape[1], Dv = v.shape[3];
  const double scale = options.scale ? *options.scale : 1.0 / std::sqrt(static_cast<double>(D));
  const bool is_delta =
      options.rule == LinearRule::kDelta || options.rule == LinearRule::kGatedDelta;
  const bool is_gated =
      options.rule == LinearRule::kGated || options.rule == LinearRule::kGatedDelta;
  LinearAttentionResult result{Array(Shape{B, H, L, Dv}), Array(Shape{B, G, D, Dv})};
  if (options.past_state) result.present_state = *options.past_state;
  const Array decay = is_gated ? Array(*options.decay) : Array();
  for (std::int64_t bg = 0; bg < B * G; ++bg) {
    double* const state = result.present_state.values.data() + bg * D * Dv;
    for (std::int64_t t = 0; t < L; ++t) {
      const std::int64_t token = bg * L + t;
      if (is_gated) {
        const std::int64_t per_token = decay.shape.elements() / (B * G * L);
        for (std::int64_t d = 0; d < D; ++d)
          for (std::int64_t c = 0; c < Dv; ++c)
            state[d * Dv + c] *= std::exp(decay[token * per_token + (per_token == 1 ? 0 : d)]);
      }
      for (std::int64_t c = 0; c < Dv; ++c) {
        double added = v[token * Dv + c];
        if (is_delta) {
          for (std::int64_t d = 0; d < D; ++d) added -= state[d * Dv + c] * k[token * D + d];
          added *= options.beta->data<float>()[static_cast<std::size_t>(token)];
        }
        for (std::int64_t d = 0; d < D; ++d) state[d * Dv + c] += k[token * D + d] * added;
      }
      const std::int64_t b = bg / G, g = bg % G;
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

}  // namespace heed::reference
