#pragma once

// Layer norm and RMS norm of rows, and their gradients. m is mean(x) for layer norm and 0 for RMS
// norm; g is dy w.
//
//   Forward:   n = (x - m) r    y = n w + b    r = 1 / sqrt(mean((x - m)^2) + eps).
//   Backward:  dx = r (g - mean(g) - n mean(g n)); without mean(g) for RMS norm.
//              dw = sum of dy n, db = sum of dy over the rows.
//
// The variance of numbers far from zero must not be a difference of large numbers. So a first mean
// is subtracted, and the mean of the remainders, which is small, corrects it (Chan, Golub and
// LeVeque, "Algorithms for Computing the Sample Variance", 1983, the corrected two-pass algorithm).
// Each pass over a row after the first finds it in the first-level cache.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/lanes.hpp"
#include "kernels/layers/table.hpp"

namespace heed::kernels {

/// n = (x - shift) r - offset
struct NormRow {
  float shift;
  float r;
  float offset;
};

template <class Isa>
[[gnu::noinline]] NormRow norm_row(const float* x, std::int64_t size, bool is_centred,
                                   float eps) noexcept {
  using L = Lanes<Isa>;
  const double count = static_cast<double>(size);
  float shift = 0.0f;
  if (is_centred) {
    double sum = 0.0;
    for_chunks(size, [&](std::int64_t begin, std::int64_t end) {
      typename L::Sum part;
      L::each(begin, end, [&]<class T>(std::int64_t i, int chain) {
        part.add(chain, L::template load<T>(x + i));
      });
      sum += part.total();
    });
    shift = static_cast<float>(sum / count);
  }
  double rest = 0.0, squares = 0.0;
  for_chunks(size, [&](std::int64_t begin, std::int64_t end) {
    typename L::Sum part, square;
    L::each(begin, end, [&]<class T>(std::int64_t i, int chain) {
      const T d = L::template load<T>(x + i) - T(shift);
      part.add(chain, d);
      square.add(chain, d * d);
    });
    rest += part.total();
    squares += square.total();
  });
  const double correction = is_centred ? rest / count : 0.0;
  const double variance = squares / count - correction * correction;
  const double r = 1.0 / std::sqrt((variance < 0.0 ? 0.0 : variance) + static_cast<double>(eps));
  return {shift, static_cast<float>(r), static_cast<float>(correction * r)};
}

template <class Isa>
void norm(const NormTile& t, float* to) noexcept {
  using L = Lanes<Isa>;
  for (std::int64_t row = 0; row < t.rows; ++row) {
    const float* const x = t.x + row * t.size;
    float* const y = to + row * t.size;
    const NormRow n = norm_row<Isa>(x, t.size, t.is_centred, t.eps);
    L::each(0, t.size, [&]<class T>(std::int64_t i, int) {
      const T normal = (L::template load<T>(x + i) - T(n.shift)) * T(n.r) - T(n.offset);
      L::store(y + i, normal * L::template load<T>(t.weight + i) + L::template load<T>(t.bias + i));
    });
  }
}

template <class Isa>
void norm_backward(const NormTile& t, const NormGradients& gradients) noexcept {
  using L = Lanes<Isa>;
  std::fill_n(gradients.d_weight, t.size, 0.0f);
  std::fill_n(gradients.d_bias, t.size, 0.0f);
  for (std::int64_t row = 0; row < t.rows; ++row) {
    const float* const x = t.x + row * t.size;
    const float* const d_y = gradients.d_y + row * t.size;
    float* const d_x = gradients.d_x + row * t.size;
    const NormRow n = norm_row<Isa>(x, t.size, t.is_centred, t.eps);
    double sum = 0.0, product = 0.0;
    for_chunks(t.size, [&](std::int64_t begin, std::int64_t end) {
      typename L::Sum g_sum, gn_sum;
      L::each(begin, end, [&]<class T>(std::int64_t i, int chain) {
        const T d = L::template load<T>(d_y + i);
        const T normal = (L::template load<T>(x + i) - T(n.shift)) * T(n.r) - T(n.offset);
        const T g = d * L::template load<T>(t.weight + i);
        g_sum.add(chain, g);
        gn_sum.add(chain, g * normal);
        L::store(gradients.d_weight + i, L::template load<T>(gradients.d_weight + i) + d * normal);
        L::store(gradients.d_bias + i, L::template load<T>(gradients.d_bias + i) + d);
      });
      sum += g_sum.total();
      product += gn_sum.total();
    });
    const double count = static_cast<double>(t.size);
    const float mean = t.is_centred ? static_cast<float>(sum / count) : 0.0f;
    const float slope = static_cast<float>(product / count);
    L::each(0, t.size, [&]<class T>(std::int64_t i, int) {
      const T normal = (L::template load<T>(x + i) - T(n.shift)) * T(n.r) - T(n.offset);
      const T g = L::template load<T>(d_y + i) * L::template load<T>(t.weight + i);
      L::store(d_x + i, (g - T(mean) - normal * T(slope)) * T(n.r));
    });
  }
}

}  // namespace heed::kernels
