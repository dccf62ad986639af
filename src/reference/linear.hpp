#pragma once

// Linear map: y = x W^T + b.
// Vaswani et al., "Attention Is All You Need", section 3.2.2, 2017 (the projections).
//
//   x [..., in]    weight [out, in]    bias [out]    -> y [..., out]

#include <cstdint>
#include <optional>
#include <vector>

#include "reference/array.hpp"

namespace heed::reference {

inline Array linear(const Array& x, const Array& weight, const std::optional<Array>& bias = {}) {
  const std::int64_t out = weight.shape[0], in = weight.shape[1];
  std::vector<std::int64_t> sizes(x.shape.sizes().begin(), x.shape.sizes().end());
  sizes.back() = out;
  Array y{Shape(sizes)};
  const std::int64_t rows = out == 0 ? 0 : y.shape.elements() / out;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t o = 0; o < out; ++o) {
      double sum = bias ? (*bias)[o] : 0.0;
      for (std::int64_t i = 0; i < in; ++i) sum += x[row * in + i] * weight[o * in + i];
      y[row * out + o] = sum;
    }
  }
  return y;
}

}  // namespace heed::reference
