#pragma once

// Additive attention: s_ij = w . tanh(q_i + k_j), P = softmax(s) over the visible keys, Y = P V.
// Bahdanau et al., "Neural Machine Translation by Jointly Learning to Align and Translate",
// appendix A.1.2, 2015.
//
//   q [B, L, A]    k [B, S, A]    v [B, S, Dv]    weight [A]    key_mask bool [B, S]
//   -> output [B, L, Dv], weights [B, L, S].
//
// The backward pass starts with the gradients of the scores s:
//   dP = dY V^T (+ the gradient of P itself), ds = P (dP - sum_j P dP), dV = P^T dY.
// The others follow, with t = tanh(q_i + k_j):
//   dw = sum_ij ds t,  dq_i = sum_j ds w (1 - t^2),  dk_j = sum_i ds w (1 - t^2).

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "heed/attention_pooling.hpp"
#include "reference/array.hpp"
#include "reference/softmax.hpp"

namespace heed::reference {

inline WeightedResult additive_attention(const Array& q, const Array& k, const Array& v,
                                         const Array& weight,
                                         const std::optional<TensorView>& key_mask = {}) {
  const std::int64_t B = q.shape[0], L = q.shape[1], A = q.shape[2];
  const std::int64_t S = k.shape[1], Dv = v.shape[2];
  Array scores(Shape{B, L, S});
  for (std::int64_t b = 0; b < B; ++b)
    for (std::int64_t i = 0; i < L; ++i)
      for (std::int64_t j = 0; j < S; ++j) {
        double& score = scores[(b * L + i) * S + j];
        for (std::int64_t a = 0; a < A; ++a)
          score += weight[a] * std::tanh(q[(b * L + i) * A + a] + k[(b * S + j) * A + a]);
        if (key_mask && !key_mask->data<bool>()[static_cast<std::size_t>(b * S + j)])
          score = -std::numeric_limits<double>::infinity();
      }
  WeightedResult result{Array(Shape{B, L, Dv}), softmax(scores)};
  for (std::int64_t b = 0; b < B; ++b)
    for (std::int64_t i = 0; i < L; ++i)
      for (std::int64_t j = 0; j < S; ++j) {
        const double p = result.weights[(b * L + i) * S + j];
        for (std::int64_t c = 0; p != 0.0 && c < Dv; ++c)
          result.output[(b * L + i) * Dv + c] += p * v[(b * S + j) * Dv + c];
      }
  return result;
}

struct AdditiveAttentionGradients {
  Array q, k, v, weight;
};

inline AdditiveAttentionGradients additive_attention_backward(const Array& d_output,
                                                              const std::optional<Array>& d_weights,
                                                              const Array& q, const Array& k,
                                                              const Array& v, const Array& weight,
                                                              const Array& weights) {
  const std::int64_t B = q.shape[0], L = q.shape[1], A = q.shape[2];
  const std::int64_t S = k.shape[1], Dv = v.shape[2];
  AdditiveAttentionGradients d{Array(q.shape), Array(k.shape), Array(v.shape), Array(weight.shape)};
  for (std::int64_t b = 0; b < B; ++b)
    for (std::int64_t i = 0; i < L; ++i) {
      Array d_p(Shape{S});
      double mean = 0.0;
      for (std::int64_t j = 0; j < S; ++j) {
        const double p = weights[(b * L + i) * S + j];
        if (p == 0.0) continue;
        if (d_weights) d_p[j] = (*d_weights)[(b * L + i) * S + j];
        for (std::int64_t c = 0; c < Dv; ++c) {
          d_p[j] += d_output[(b * L + i) * Dv + c] * v[(b * S + j) * Dv + c];
          d.v[(b * S + j) * Dv + c] += p * d_output[(b * L + i) * Dv + c];
        }
        mean += p * d_p[j];
      }
      for (std::int64_t j = 0; j < S; ++j) {
        const double p = weights[(b * L + i) * S + j];
        if (p == 0.0) continue;
        const double d_score = p * (d_p[j] - mean);
        for (std::int64_t a = 0; a < A; ++a) {
          const double t = std::tanh(q[(b * L + i) * A + a] + k[(b * S + j) * A + a]);
          const double d_sum = d_score * weight[a] * (1.0 - t * t);
          d.weight[a] += d_score * t;
          d.q[(b * L + i) * A + a] += d_sum;
          d.k[(b * S + j) * A + a] += d_sum;
        }
      }
    }
  return d;
}

}  // namespace heed::reference
