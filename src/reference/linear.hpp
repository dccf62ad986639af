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

/// The derivative of activate.
inline double activation_slope(double x, Activation activation) {
  const double s = 1.0 / (1.0 + std::exp(-x));
  switch (activation) {
    case Activation::kNone:
      return 1.0;
    case Activation::kRelu:
      return x > 0.0 ? 1.0 : 0.0;
    case Activation::kGelu:
      return 0.5 * std::erfc(-x / std::numbers::sqrt2) +
             x * std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi);
    case Activation::kGeluTanh: {
      const double c = std::sqrt(2.0 / std::numbers::pi);
      const double t = std::tanh(c * (x + 0.044715 * x * x * x));
      return 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * c * (1.0 + 3.0 * 0.044715 * x * x);
    }
    case Activation::kSilu:
      return s * (1.0 + x * (1.0 - s));
    case Activation::kTanh:
      return 1.0 - std::tanh(x) * std::tanh(x);
    case Activation::kSigmoid:
      return s * (1.0 - s);
  }
  return 1.0;
}

inline Array activate(const Array& x, Activation activation) {
  Array y(x.shape);
  for (std::int64_t i = 0; i < x.shape.elements(); ++i) y[i] = activate(x[i], activation);
  return y;
}

/// dx = dy f'(x)
inline Array activate_backward(const Array& d_y, const Array& x, Activation activation) {
  Array d_x(x.shape);
  for (std::int64_t i = 0; i < x.shape.elements(); ++i)
    d_x[i] = d_y[i] * activation_slope(x[i], activation);
  return d_x;
}

/// y = silu(gate) up (Shazeer, "GLU Variants Improve Transformer", 2020)
inline Array swiglu(const Array& gate, const Array& up) {
  Array y = activate(gate, Activation::kSilu);
  for (std::int64_t i = 0; i < y.shape.elements(); ++i) y[i] *= up[i];
  return y;
}

struct SwigluGradients {
  Array gate, up;
};

inline SwigluGradients swiglu_backward(const Array& d_y, const Array& gate, const Array& up) {
  SwigluGradients d{Array(gate.shape), Array(gate.shape)};
  for (std::int64_t i = 0; i < gate.shape.elements(); ++i) {
    d.gate[i] = d_y[i] * up[i] * activation_slope(gate[i], Activation::kSilu);
    d.up[i] = d_y[i] * activate(gate[i], Activation::kSilu);
  }
  return d;
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
