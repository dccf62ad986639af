#pragma once

// Norms: y = (x - m) / sqrt(mean((x - m)^2) + eps) * weight + bias over the last axes.
// Layer norm, m = mean(x): Ba et al., "Layer Normalization", equation 4, 2016.
// RMS norm, m = 0: Zhang and Sennrich, "Root Mean Square Layer Normalization", equation 4, 2019.
//
//   x [rows, N], any shape with that many numbers    weight, bias [N]    -> y as x

#include <cmath>
#include <cstdint>
#include <optional>

#include "reference/array.hpp"

namespace heed::reference {

struct Norm {
  std::int64_t size;  // N
  bool is_centred;
  double eps;
  std::optional<Array> weight = {};
  std::optional<Array> bias = {};

  double weight_of(std::int64_t i) const { return weight ? (*weight)[i] : 1.0; }
  double bias_of(std::int64_t i) const { return bias ? (*bias)[i] : 0.0; }

  /// Writes the normalised row to y; returns 1 / sqrt(mean((x - m)^2) + eps).
  double normalise(const Array& x, std::int64_t row, Array& y) const {
    double mean = 0.0, square = 0.0;
    for (std::int64_t i = 0; i < size && is_centred; ++i)
      mean += x[row * size + i] / static_cast<double>(size);
    for (std::int64_t i = 0; i < size; ++i)
      square += (x[row * size + i] - mean) * (x[row * size + i] - mean) / static_cast<double>(size);
    const double r = 1.0 / std::sqrt(square + eps);
    for (std::int64_t i = 0; i < size; ++i) y[row * size + i] = (x[row * size + i] - mean) * r;
    return r;
  }
  std::int64_t rows(const Array& x) const { return size == 0 ? 0 : x.shape.elements() / size; }
};

inline Array norm(const Array& x, const Norm& n) {
  Array y(x.shape);
  for (std::int64_t row = 0; row < n.rows(x); ++row) {
    n.normalise(x, row, y);
    for (std::int64_t i = 0; i < n.size; ++i)
      y[row * n.size + i] = y[row * n.size + i] * n.weight_of(i) + n.bias_of(i);
  }
  return y;
}

struct NormGradients {
  Array x, weight, bias;
};

/// With n the normalised row and g = dy weight, dx = r (g - mean(g) - n mean(g n)). RMS norm has no
/// term mean(g). dweight = sum of dy n and dbias = sum of dy over the rows.
inline NormGradients norm_backward(const Array& d_y, const Array& x, const Norm& n) {
  NormGradients d{Array(x.shape), Array(Shape{n.size}), Array(Shape{n.size})};
  Array normal(x.shape);
  for (std::int64_t row = 0; row < n.rows(x); ++row) {
    const double r = n.normalise(x, row, normal);
    double mean = 0.0, product = 0.0;
    for (std::int64_t i = 0; i < n.size; ++i) {
      const std::int64_t at = row * n.size + i;
      const double g = d_y[at] * n.weight_of(i);
      mean += n.is_centred ? g / static_cast<double>(n.size) : 0.0;
      product += g * normal[at] / static_cast<double>(n.size);
      d.weight[i] += d_y[at] * normal[at];
      d.bias[i] += d_y[at];
    }
    for (std::int64_t i = 0; i < n.size; ++i) {
      const std::int64_t at = row * n.size + i;
      d.x[at] = r * (d_y[at] * n.weight_of(i) - mean - normal[at] * product);
    }
  }
  return d;
}

}  // namespace heed::reference
