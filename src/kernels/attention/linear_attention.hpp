#pragma once

// Linear attention as a recurrence over the tokens t of one (batch, key/value head). A state
// S [head_size, value_size] replaces the cache of keys and values.
//     `S *= exp(g_t)`                     Gated and gated delta. g_t per row of S, or one for all.
//     `u = v_t`                           Linear and gated.
//     `u = beta_t (v_t - S^T k_t)`        Delta and gated delta.
//     S += k_t u^T,   o_t = scale S^T q_t for every query head of the group.
// Linear: Katharopoulos et al., "Transformers are RNNs", 2020. Gated: Yang et al., 2023. Delta:
// Schlag et al., 2021. Gated delta: Yang et al., 2024. All in one form: ONNX LinearAttention 27.
//
// Loops go along the rows of S, which are contiguous; the compiler vectorises them.

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace heed::kernels {

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

template <class Isa>
void linear_attention(const LinearAttentionHead& head) noexcept {
  const std::int64_t D = head.head_size;
  const std::int64_t Dv = head.value_size;
  float* const u = head.scratch;
  for (std::int64_t t = 0; t < head.tokens; ++t) {
    const float* k = head.k + t * head.k_stride;
    const float* v = head.v + t * head.v_stride;
    if (head.decay) {
      const float* g = head.decay + t * head.decay_stride;
      for (std::int64_t d = 0; d < D; ++d) {
        const float factor = std::exp(g[d * head.decay_step]);
        for (std::int64_t c = 0; c < Dv; ++c) head.state[d * Dv + c] *= factor;
      }
    }
    std::copy_n(v, Dv, u);
    if (head.beta) {
      for (std::int64_t d = 0; d < D; ++d)
        for (std::int64_t c = 0; c < Dv; ++c) u[c] -= head.state[d * Dv + c] * k[d];
      const float beta = head.beta[t * head.beta_stride];
      for (std::int64_t c = 0; c < Dv; ++c) u[c] *= beta;
    }
    for (std::int64_t d = 0; d < D; ++d)
      for (std::int64_t c = 0; c < Dv; ++c) head.state[d * Dv + c] += k[d] * u[c];
    for (int h = 0; h < head.query_heads; ++h) {
      const float* q = head.q + h * head.q_head_stride + t * head.q_stride;
      float* o = head.output + h * head.output_head_stride + t * head.output_stride;
      std::fill_n(o, Dv, 0.0f);
      for (std::int64_t d = 0; d < D; ++d)
        for (std::int64_t c = 0; c < Dv; ++c) o[c] += head.scale * q[d] * head.state[d * Dv + c];
    }
  }
}

}  // namespace heed::kernels
