#pragma once

// Softmax over the last axis: y_i = exp(x_i) / sum_j exp(x_j); zeros where every x_j is -inf.
// Bridle, "Probabilistic Interpretation of Feedforward Classification Network Outputs",
// section 2, 1990; here with the maximum taken off first, which changes no value.
//
//   x [..., N] -> y [..., N]

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "reference/array.hpp"

namespace heed::reference {

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

}  // namespace heed::reference
