#pragma once

// Two kinds of attention without parameters, over x [B, L, E].
//
// average: y_i = mean of x_j over the visible j (j <= i if causal, key_mask[b, j] true). Rows
// without a visible j are zeros. Nadaraya, "On Estimating Regression", section 1, 1964, with a
// constant kernel.
//
// self_similarity: Y = P X, P = softmax(X X^T). Vaswani et al., "Attention Is All You Need",
// section 3.2.1, 2017, with Q = K = V = X and no scale.
//
// Shapes of average, with the gradient dx of dy:
//   x [B, L, E], key_mask bool [B, L] -> y [B, L, E]; backward dy -> dx.
// Shapes of self_similarity:
//   x [B, L, E] -> y [B, L, E], weights [B, L, L].

#include <cstdint>

#include "heed/heed.hpp"
#include "reference/arithmetic.hpp"
#include "reference/array.hpp"
#include "reference/softmax.hpp"

namespace heed::reference {

/// Whether position i of batch b sees position j of L.
inline bool sees(const AverageOptions& options, std::int64_t b, std::int64_t i, std::int64_t j,
                 std::int64_t L) {
  if (options.is_causal && j > i) return false;
  return !options.key_mask || options.key_mask->data<bool>()[static_cast<std::size_t>(b * L + j)];
}

inline Array average(const Array& x, const AverageOptions& options = {}) {
  const std::int64_t B = x.shape[0], L = x.shape[1], E = x.shape[2];
  Array y(x.shape);
  for (std::int64_t b = 0; b < B; ++b) {
    for (std::int64_t i = 0; i < L; ++i) {
      double count = 0.0;
      for (std::int64_t j = 0; j < L; ++j) {
        if (!sees(options, b, i, j, L)) continue;
        count += 1.0;
        for (std::int64_t e = 0; e < E; ++e) y[(b * L + i) * E + e] += x[(b * L + j) * E + e];
      }
      if (count == 0.0) continue;
      for (std::int64_t e = 0; e < E; ++e) y[(b * L + i) * E + e] /= count;
    }
  }
  return y;
}

/// dx_j = sum of dy_i / (the number of positions that i sees) over the i that see j.
inline Array average_backward(const Array& d_output, const AverageOptions& options = {}) {
  const std::int64_t B = d_output.shape[0], L = d_output.shape[1], E = d_output.shape[2];
  Array d_x(d_output.shape);
  for (std::int64_t b = 0; b < B; ++b)
    for (std::int64_t i = 0; i < L; ++i) {
      double count = 0.0;
      for (std::int64_t j = 0; j < L; ++j) count += sees(options, b, i, j, L) ? 1.0 : 0.0;
      for (std::int64_t j = 0; j < L; ++j)
        for (std::int64_t e = 0; sees(options, b, i, j, L) && e < E; ++e)
          d_x[(b * L + j) * E + e] += d_output[(b * L + i) * E + e] / count;
    }
  return d_x;
}

inline WeightedResult self_similarity(const Array& x) {
  const Array weights = softmax(matmul(x, x, false, true));
  return {matmul(weights, x, false, false), weights};
}

}  // namespace heed::reference
