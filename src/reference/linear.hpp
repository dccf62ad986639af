#pragma once

// Linear map and activation: y = f(x W^T + b).
// Vaswani et al., "Attention Is All You Need", section 3.2.2, 2017 (the projections);
// Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016.
//
//   x [..., in]    weight [out, in]    bias [out]    -> y [..., out]

#include <cmath>
#include <cstdint>
#include <numbers>
#include <optional>
#include <vector>

#include "heed/heed.hpp"
#include "reference/array.hpp"

namespace heed::reference {

inline double activate(double x, Activation activation) {
  switch (activation) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return x < 0.0 ? 0.0 : x;
    case Activation::kGelu:
      return x * 0.5 * std::erfc(-x / std::numbers::sqrt2);
    case Activation::kGeluTanh:
      return x * 0.5 *
             (1.0 + std::tanh(std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case Activation::kSilu:
      return x / (1.0 + std::exp(-x));
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kSigmoid:
      return 1.0 / (1.0 + std::exp(-x));
  }
  return x;
}

inline Array linear(const Array& x, const Array& weight, const std::optional<Array>& bias = {},
                    Activation activation = Activation::kNone) {
  const std::int64_t out = weight.shape[0], in = weight.shape[1];
  std::vector<std::int64_t> sizes(x.shape.sizes().begin(), x.shape.sizes().end());
  sizes.back() = out;
  Array y{Shape(sizes)};
  const std::int64_t rows = out == 0 ? 0 : y.shape.elements() / out;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t o = 0; o < out; ++o) {
      double sum = bias ? (*bias)[o] : 0.0;
      for (std::int64_t i = 0; i < in; ++i) sum += x[row * in + i] * weight[o * in + i];
      y[row * out + o] = activate(sum, activation);
    }
  }
  return y;
}

struct LinearGradients {
  Array x, weight, bias;
};

/// dx = dy W, dW = dy^T x, db = sum of dy over the rows: the gradients of y = x W^T + b.
inline LinearGradients linear_backward(const Array& d_y, const Array& x, const Array& weight) {
  const std::int64_t out = weight.shape[0], in = weight.shape[1];
  LinearGradients d{Array(x.shape), Array(weight.shape), Array(Shape{out})};
  const std::int64_t rows = out == 0 ? 0 : d_y.shape.elements() / out;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t o = 0; o < out; ++o) {
      const double g = d_y[row * out + o];
      d.bias[o] += g;
      for (std::int64_t i = 0; i < in; ++i) {
        d.x[row * in + i] += g * weight[o * in + i];
        d.weight[o * in + i] += g * x[row * in + i];
      }
    }
  }
  return d;
}

}  // namespace heed::reference
