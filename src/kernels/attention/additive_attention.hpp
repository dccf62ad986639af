#pragma once

// Additive attention for some queries of one batch entry (Bahdanau et al., "Neural machine
// translation by jointly learning to align and translate", appendix A.1.2, 2015).
//
// Forward:
//   s_j = w . tanh(q + k_j),   p = softmax(s),   o = sum_j p_j v_j.
// Backward, where the hyperbolic tangents are computed again:
//   ds_j = p_j (dp_j - sum_n p_n dp_n),   dp_j = do . v_j + d_weights_j
//   g_j = ds_j w (1 - tanh^2),   dq = sum_j g_j,   dk_j += g_j
//   dw += sum_j ds_j tanh,   dv_j += p_j do.
//
// Nearly all of the time is spent on tanh. The inner loop of the forward pass runs over A, so that
// the sum of a score stays in registers. The inner loop of the backward pass runs over the keys for
// one panel of A, so that dq and dw stay in registers.

#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernels/attention/additive_tile.hpp"
#include "kernels/layers/softmax.hpp"
#include "kernels/product/linear.hpp"
#include "simd/activation.hpp"

namespace heed::kernels {

template <class Isa>
float additive_score(const simd::Tanh<Isa>& tanh, const float* q, const float* k,
                     const float* weight, std::int64_t size) noexcept {
  using V = simd::Vector<Isa>;
  constexpr int kVectors = simd::Traits<Isa>::kVectors;
  constexpr std::int64_t kLanes = V::size;
  V sum[kVectors];
  std::fill_n(sum, kVectors, V(0.0f));
  for (std::int64_t a = 0; a < size; a += kVectors * kLanes) {
    V x[kVectors];
    for (int v = 0; v < kVectors; ++v)
      x[v] = V::load_unaligned(q + a + v * kLanes) + V::load_unaligned(k + a + v * kLanes);
    tanh(x);
    for (int v = 0; v < kVectors; ++v)
      sum[v] = simd::madd<Isa>(V::load_unaligned(weight + a + v * kLanes), x[v], sum[v]);
  }
  for (int v = 1; v < kVectors; ++v) sum[0] += sum[v];
  return simd::reduce_add(sum[0]);
}

template <class Isa>
void additive_attention(const AdditiveTile& t, const bool* allowed, float* weights,
                        float* output) noexcept {
  const simd::Tanh<Isa> tanh;
  for (std::int64_t i = 0; i < t.queries; ++i, weights += t.keys, output += t.value_size) {
    for (std::int64_t j = 0; j < t.keys; ++j)
      weights[j] = allowed && !allowed[j] ? -std::numeric_limits<float>::infinity()
                                          : additive_score<Isa>(tanh, t.q + i * t.size,
                                                                t.k + j * t.size, t.weight, t.size);
    softmax<Isa>(weights, 1, t.keys, weights);
    std::fill_n(output, t.value_size, 0.0f);
    for (std::int64_t j = 0; j < t.keys; ++j) {
      const float p = weights[j];
      if (p == 0.0f) continue;
      const float* const v = t.v + j * t.value_size;
      for (std::int64_t c = 0; c < t.value_size; ++c) output[c] += p * v[c];
    }
  }
}

/// Computes the gradients of q, k and w from the gradients of one query's scores, for the panel of
/// A that begins at entry a.
template <class Isa>
void additive_scores_backward(const simd::Tanh<Isa>& tanh, const AdditiveTile& t,
                              const float* d_scores, const float* q, const float* weight,
                              std::int64_t a, float* d_q, float* d_k, float* d_weight) noexcept {
  using V = simd::Vector<Isa>;
  constexpr int kVectors = simd::Traits<Isa>::kVectors;
  constexpr int kLanes = static_cast<int>(V::size);
  const V one(1.0f);
  V query[kVectors], w[kVectors], sum_q[kVectors], sum_weight[kVectors];
  for (int v = 0; v < kVectors; ++v) {
    query[v] = V::load_unaligned(q + a + v * kLanes);
    w[v] = V::load_unaligned(weight + a + v * kLanes);
    sum_q[v] = V(0.0f);
    sum_weight[v] = V(0.0f);
  }
  for (std::int64_t j = 0; j < t.keys; ++j) {
    if (d_scores[j] == 0.0f) continue;
    const float* const key = t.k + j * t.size + a;
    V x[kVectors];
    for (int v = 0; v < kVectors; ++v) x[v] = query[v] + V::load_unaligned(key + v * kLanes);
    tanh(x);
    const V d_score(d_scores[j]);
    float* const to = d_k + j * t.size + a;
    for (int v = 0; v < kVectors; ++v) {
      sum_weight[v] = simd::madd<Isa>(d_score, x[v], sum_weight[v]);
      const V g = d_score * w[v] * (one - x[v] * x[v]);
      sum_q[v] += g;
      (V::load_unaligned(to + v * kLanes) + g).store_unaligned(to + v * kLanes);
    }
  }
  for (int v = 0; v < kVectors; ++v) {
    sum_q[v].store_unaligned(d_q + a + v * kLanes);
    float* const to = d_weight + a + v * kLanes;
    (V::load_unaligned(to) + sum_weight[v]).store_unaligned(to);
  }
}

template <class Isa>
void additive_attention_backward(const AdditiveTile& t, const AdditiveGradients& d) noexcept {
  const simd::Tanh<Isa> tanh;
  const std::int64_t Dv = t.value_size;
  for (std::int64_t i = 0; i < t.queries; ++i) {
    const float* const p = d.weights + i * t.keys;
    const float* const d_output = d.d_output + i * Dv;
    float mean = 0.0f;
    for (std::int64_t j = 0; j < t.keys; ++j) {
      d.d_scores[j] = 0.0f;
      if (p[j] == 0.0f) continue;
      multiply_by_row<Isa, 1>(d_output, Dv, FloatRow<Isa>{t.v + j * Dv}, d.d_scores + j, 1);
      if (d.d_weights) d.d_scores[j] += d.d_weights[i * t.keys + j];
      mean += p[j] * d.d_scores[j];
      float* const d_v = d.v + j * Dv;
      for (std::int64_t c = 0; c < Dv; ++c) d_v[c] += p[j] * d_output[c];
    }
    for (std::int64_t j = 0; j < t.keys; ++j)
      d.d_scores[j] = p[j] == 0.0f ? 0.0f : p[j] * (d.d_scores[j] - mean);
    for (std::int64_t a = 0; a < t.size; a += kPanel<Isa>)
      additive_scores_backward<Isa>(tanh, t, d.d_scores, t.q + i * t.size, t.weight, a,
                                    d.q + i * t.size, d.k, d.weight);
  }
}

}  // namespace heed::kernels
