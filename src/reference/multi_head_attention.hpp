#pragma once

// Multi-head attention: output = concat_h(attention(Q_h, K_h, V_h)) Wo^T + bo. Here Q = query
// Wq^T + bq, K = key Wk^T + bk and V = value Wv^T + bv are cut into heads of E/H columns. Vaswani
// et al., "Attention Is All You Need", section 3.2.2, 2017.
//
//   query [B, L, E]    key [B, S, size of a key]    value [B, S, size of a value].
// The masks may be missing:
//   mask broadcasts to [B, H, L, S].    key_mask bool [B, S].
// The results:
//   output [B, L, E], weights [B, H, L, S], their mean over heads [B, L, S].

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "heed/heed.hpp"
#include "reference/array.hpp"
#include "reference/attention.hpp"
#include "reference/linear.hpp"

namespace heed::reference {

struct MultiHeadAttentionResult {
  Array output;
  Array weights;
  Array average_weights;
};

/// The n-th of three equal parts along the first axis.
inline Array third(const Array& x, std::int64_t n) {
  std::vector<std::int64_t> sizes(x.shape.sizes().begin(), x.shape.sizes().end());
  sizes.front() /= 3;
  Array y{Shape(sizes)};
  for (std::int64_t i = 0; i < y.shape.elements(); ++i) y[i] = x[n * y.shape.elements() + i];
  return y;
}

inline MultiHeadAttentionResult multi_head_attention(const Array& query, const Array& key,
                                                     const Array& value,
                                                     const MultiHeadAttentionParameters& parameters,
                                                     const MultiHeadAttentionOptions& options) {
  const std::int64_t B = query.shape[0], H = options.heads, L = query.shape[1], S = key.shape[1];

  const std::optional<TensorView> separate[] = {parameters.q_proj_weight, parameters.k_proj_weight,
                                                parameters.v_proj_weight};
  const auto project = [&](const Array& x, std::int64_t n) {
    const Array weight =
        parameters.in_proj_weight ? third(*parameters.in_proj_weight, n) : Array(*separate[n]);
    if (!parameters.in_proj_bias) return linear(x, weight);
    return linear(x, weight, third(*parameters.in_proj_bias, n));
  };

  // Both masks as one additive mask.
  std::vector<float> both(static_cast<std::size_t>(B * H * L * S));
  const Bias bias(options.mask);
  std::size_t at = 0;
  for (std::int64_t b = 0; b < B; ++b)
    for (std::int64_t h = 0; h < H; ++h)
      for (std::int64_t i = 0; i < L; ++i)
        for (std::int64_t j = 0; j < S; ++j, ++at) {
          const auto position = static_cast<std::size_t>(b * S + j);
          const bool hidden = options.key_mask && !options.key_mask->data<bool>()[position];
          both[at] = hidden ? -std::numeric_limits<float>::infinity()
                            : static_cast<float>(bias(b, h, i, j));
        }

  AttentionOptions inner;
  inner.heads = H;
  inner.is_causal = options.is_causal;
  inner.mask = TensorView(both.data(), Shape{B, H, L, S});
  AttentionResult attended =
      attention(project(query, 0), project(key, 1), project(value, 2), inner);

  std::optional<Array> out_bias;
  if (parameters.out_proj_bias) out_bias = Array(*parameters.out_proj_bias);
  MultiHeadAttentionResult result{linear(attended.output, *parameters.out_proj_weight, out_bias),
                                  attended.weights, Array(Shape{B, L, S})};
  for (std::int64_t b = 0; b < B; ++b)
    for (std::int64_t h = 0; h < H; ++h)
      for (std::int64_t ij = 0; ij < L * S; ++ij)
        result.average_weights[b * L * S + ij] +=
            attended.weights[(b * H + h) * L * S + ij] / static_cast<double>(H);
  return result;
}

}  // namespace heed::reference
