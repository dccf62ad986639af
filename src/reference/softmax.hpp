#pragma once

// Softmax over the last axis: y_i = exp(x_i) / sum_j exp(x_j); zeros where every x_j is -inf.
// Bridle, "Probabilistic Interpretation of Feedforward Classification Network Outputs",
// section 2, 1990; here with the maximum subtracted first, which does not change the result.
//
//   x [..., N] -> y [..., N]

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "reference/array.hpp"

namespace heed::reference {

/// The results of attention that also returns its weights.
struct WeightedResult {
  Array output;
  Array weights;
};

inline Array softmax(const Array& x) {
  const std::int64_t N = x.shape[-1];
  Array y(x.shape);
  const std::int64_t rows = N == 0 ? 0 : x.shape.elements() / N;
  for (std::int64_t row = 0; row < rows; ++row) {
    double maximum = -std::numeric_limits<double>::infinity();
    bool is_empty = true;
    for (std::int64_t i = 0; i < N; ++i) {
      maximum = std::max(maximum, x[row * N + i]);
      is_empty = is_empty && x[row * N + i] == -std::numeric_limits<double>::infinity();
    }
    if (is_empty) continue;
    double sum = 0.0;
    for (std::int64_t i = 0; i < N; ++i) sum += std::exp(x[row * N + i] - maximum);
    for (std::int64_t i = 0; i < N; ++i) y[row * N + i] = std::exp(x[row * N + i] - maximum) / sum;
  }
  return y;
}

/// y = log sum_i exp(x_i), with the maximum subtracted first: x [..., N] -> y [...]
inline Array logsumexp(const Array& x) {
  const std::int64_t N = x.shape[-1];
  Array y(x.shape.without_last());
  for (std::int64_t row = 0; row < y.shape.elements(); ++row) {
    double maximum = -std::numeric_limits<double>::infinity(), sum = 0.0;
    bool has_nan = false;
    for (std::int64_t i = 0; i < N; ++i) {
      maximum = std::max(maximum, x[row * N + i]);
      has_nan = has_nan || std::isnan(x[row * N + i]);
    }
    for (std::int64_t i = 0; i < N; ++i) sum += std::exp(x[row * N + i] - maximum);
    y[row] = std::isinf(maximum) && !has_nan ? maximum : maximum + std::log(sum);
  }
  return y;
}

/// dx_i = y_i (dy_i - sum_j dy_j y_j), y being the softmax of x.
inline Array softmax_backward(const Array& d_y, const Array& y) {
  const std::int64_t N = y.shape[-1];
  Array d_x(y.shape);
  const std::int64_t rows = N == 0 ? 0 : y.shape.elements() / N;
  for (std::int64_t row = 0; row < rows; ++row) {
    double sum = 0.0;
    for (std::int64_t j = 0; j < N; ++j) sum += d_y[row * N + j] * y[row * N + j];
    for (std::int64_t i = 0; i < N; ++i)
      d_x[row * N + i] = y[row * N + i] * (d_y[row * N + i] - sum);
  }
  return d_x;
}

}  // namespace heed::reference
