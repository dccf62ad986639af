#pragma once

// The gradients of attention (attention.hpp) for a loss whose gradients are dO [as output] and, if
// lse was used, dl [as lse]. P are the weights before dropout, M the factors of dropout (0 or
// 1 / (1 - p)), and P0 = exp(sink - lse) the sink's weight. Forward, for one row:
//   O = (P o M) V,   P = exp(s - lse),   lse = log(e^sink + sum e^s).
// The gradients of values and scores:
//   dV = (P o M)^T dO;   dP = M o (dO V^T);   delta = sum P dP - dl;   ds = P o (dP - delta).
// The gradients of the terms added to scores:
//   d sink = -P0 delta;   d bias = d mask = ds;   d slope = -ds |p - j|.
// Through the softcap and the scale, with t the capped score:
//   dx = ds o (1 - (t / c)^2);   dQ = scale dx K;   dK = scale dx^T Q.
// Dao et al., "FlashAttention", appendix B.2, 2022, where delta is written sum dO O. The gradients
// of repeated elements are summed. Only pairs of a query and a key that it sees contribute.

#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>

#include "reference/attention.hpp"

namespace heed::reference {

struct AttentionGradients {
  Array q;
  Array k;
  Array v;
  Array mask;
  Array bias;
  Array alibi_slopes;
  Array sinks;
  Array past_key;
  Array past_value;
};

/// The factor M for (b, h, i, j).
using Kept = std::function<double(std::int64_t, std::int64_t, std::int64_t, std::int64_t)>;

/// Adds the gradient of the score (b, h, i, j), whose query has position p, to the gradients of the
/// terms that were added to it. The batch entry of slopes is n.
inline void add_to_terms(AttentionGradients& shared, const AttentionOptions& options,
                         std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j,
                         std::int64_t p, std::int64_t n, double d_score) {
  if (options.mask && options.mask->dtype() == DType::kFloat32)
    shared.mask[Bias(options.mask).position(b, h, i, j)] += d_score;
  if (options.bias) shared.bias[Bias(options.bias).position(b, h, i, j)] += d_score;
  if (options.alibi_slopes)
    shared.alibi_slopes[head_position(options.alibi_slopes->shape(), n, h)] -=
        d_score * static_cast<double>(std::abs(p - j));
}

/// Adds the gradients of mask, bias, slopes and sinks to the ones in `shared`; returns the
/// gradients of q, k and v.
inline AttentionGradients attention_backward_by_head(const Array& d_output, const Array* d_lse,
                                                     const Array& q, const Array& k, const Array& v,
                                                     const AttentionOptions& options,
                                                     const Kept& kept, AttentionGradients& shared,
                                                     std::int64_t first_batch = 0) {
  const std::int64_t B = q.shape[0], H = q.shape[1], L = q.shape[2], D = q.shape[3];
  const std::int64_t G = k.shape[1], S = k.shape[2], Dv = v.shape[3];
  const AttentionResult forward = attention_by_head(q, k, v, options, {}, first_batch);
  const double scale = options.scale ? *options.scale : 1.0 / std::sqrt(static_cast<double>(D));

  AttentionGradients result;
  result.q = Array(q.shape);
  result.k = Array(k.shape);
  result.v = Array(v.shape);
  for (std::int64_t b = 0; b < B; ++b) {
    const std::int64_t offset = offset_of(options, b, L, S);
    for (std::int64_t h = 0; h < H; ++h)
      for (std::int64_t i = 0; i < L; ++i) {
        const std::int64_t row = (b * H + h) * L + i;
        const auto key_row = [&](std::int64_t j) { return (b * G + h / (H / G)) * S + j; };
        const auto is_visible = [&](std::int64_t j) {
          return forward.masked[row * S + j] != kMinusInfinity;
        };

        std::vector<double> d_weights(static_cast<std::size_t>(S));
        double delta = d_lse ? -(*d_lse)[row] : 0.0;
        for (std::int64_t j = 0; j < S; ++j) {
          const double factor = kept(b, h, i, j);
          if (!is_visible(j) || factor == 0.0) continue;
          const double weight = forward.weights[row * S + j];
          const double* const d_out = d_output.from(row * Dv);
          const double* const value = v.from(key_row(j) * Dv);
          double* const d_value = result.v.from(key_row(j) * Dv);
          double d_weight = 0.0;
          for (std::int64_t d = 0; d < Dv; ++d) {
            d_weight += factor * d_out[d] * value[d];
            d_value[d] += factor * weight * d_out[d];
          }
          d_weights[static_cast<std::size_t>(j)] = d_weight;
          delta += weight * d_weight;
        }
        if (options.sinks) {
          const double sink = head_number(*options.sinks, first_batch + b, h);
          if (sink != kMinusInfinity)
            shared.sinks[head_position(options.sinks->shape(), first_batch + b, h)] -=
                std::exp(sink - forward.lse[row]) * delta;
        }
        for (std::int64_t j = 0; j < S; ++j) {
          if (!is_visible(j)) continue;
          const std::int64_t at = row * S + j;
          double d_score = forward.weights[at] * (d_weights[static_cast<std::size_t>(j)] - delta);
          add_to_terms(shared, options, b, h, i, j, i + offset, first_batch + b, d_score);
          if (options.softcap != 0.0f) {
            const double share = forward.capped[at] / options.softcap;
            d_score *= 1.0 - share * share;
          }
          const double* const query = q.from(row * D);
          const double* const key = k.from(key_row(j) * D);
          double* const d_query = result.q.from(row * D);
          double* const d_key = result.k.from(key_row(j) * D);
          for (std::int64_t d = 0; d < D; ++d) {
            d_query[d] += scale * d_score * key[d];
            d_key[d] += scale * d_score * query[d];
          }
        }
      }
  }
  return result;
}

inline AttentionGradients attention_backward(
    const Array& d_output, const Array& q, const Array& k, const Array& v,
    const AttentionOptions& options = {}, const std::optional<Array>& d_lse = {},
    const Kept& kept = [](auto...) { return 1.0; }) {
  AttentionGradients result;
  const auto like = [](const std::optional<TensorView>& x) {
    return x ? Array(x->shape()) : Array();
  };
  result.mask = like(options.mask);
  result.bias = like(options.bias);
  result.alibi_slopes = like(options.alibi_slopes);
  result.sinks = like(options.sinks);
  if (options.cu_seqlens_q) {
    result.q = Array(q.shape);
    result.k = Array(k.shape);
    result.v = Array(v.shape);
    const std::int64_t Tq = q.shape[0], H = q.shape[1];
    for_each_sequence(options, [&](const PackedSequence& one, const AttentionOptions& alone) {
      const auto [number, first, L, first_key, S] = one;
      Array part_d_lse(Shape{1, H, L});
      for (std::int64_t h = 0; d_lse && h < H; ++h)
        for (std::int64_t i = 0; i < L; ++i) part_d_lse[h * L + i] = (*d_lse)[h * Tq + first + i];
      const Kept part_kept = [&](std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
        return kept(b, h, one.first_query + i, j);
      };
      const AttentionGradients part = attention_backward_by_head(
          sequence_of(d_output, first, first + L), &part_d_lse, sequence_of(q, first, first + L),
          sequence_of(k, first_key, first_key + S), sequence_of(v, first_key, first_key + S), alone,
          part_kept, result, number);
      put_sequence(part.q, first, result.q);
      put_sequence(part.k, first_key, result.k);
      put_sequence(part.v, first_key, result.v);
    });
    return result;
  }

  const auto join = [&](const Array& x) { return q.shape.rank() == 3 ? join_heads(x) : x; };
  const Array keys = all_rows(k, options.past_key, options);
  const Array values = all_rows(v, options.past_value, options);
  const std::int64_t P = options.past_key ? options.past_key->shape()[2] : 0;
  const std::int64_t K = keys.shape[2] - P;
  const AttentionGradients all = attention_backward_by_head(
      separate_heads(d_output, options.heads), d_lse ? &*d_lse : nullptr,
      separate_heads(q, options.heads), keys, values, options, kept, result);
  result.q = join(all.q);
  result.k = join(slice(all.k, 2, P, K));
  result.v = join(slice(all.v, 2, P, K));
  if (options.past_key) {
    result.past_key = slice(all.k, 2, 0, P);
    result.past_value = slice(all.v, 2, 0, P);
  }
  return result;
}

}  // namespace heed::reference
