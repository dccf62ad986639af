#pragma once

// Steps of optimisers over a range of numbers; heed/optim.hpp has their equations. The order of the
// operations is torch's. The compiler vectorises the loops.

#include <cmath>
#include <cstdint>

#include "kernels/training/table.hpp"

namespace heed::kernels {

/// p -= learning_rate direction(i, g).
template <class Isa, class Direction>
inline void descend(const SgdStep& s, std::int64_t begin, std::int64_t end,
                    const Direction& direction) noexcept {
  for (std::int64_t i = begin; i < end; ++i) {
    const float g = s.gradient[i] + s.weight_decay * s.parameter[i];
    s.parameter[i] -= s.learning_rate * direction(i, g);
  }
}

template <class Isa>
void sgd_step(const SgdStep& step, std::int64_t begin, std::int64_t end) noexcept {
  const SgdStep s = step;  // a copy, because the arrays could alias the argument
  // The factors of g and of the buffer.
  const float of_g = s.nesterov ? 1.0f : 0.0f;
  const float of_b = s.nesterov ? s.momentum : 1.0f;
  if (!s.buffer)
    descend<Isa>(s, begin, end, [](std::int64_t, float g) { return g; });
  else if (s.is_first)
    descend<Isa>(s, begin, end, [=](std::int64_t i, float g) {
      s.buffer[i] = g;
      return of_g * g + of_b * g;
    });
  else
    descend<Isa>(s, begin, end, [=](std::int64_t i, float g) {
      const float b = s.momentum * s.buffer[i] + s.share * g;
      s.buffer[i] = b;
      return of_g * g + of_b * b;
    });
}

template <class Isa>
void adam_step(const AdamStep& s, std::int64_t begin, std::int64_t end) noexcept {
  for (std::int64_t i = begin; i < end; ++i) {
    const float p = s.parameter[i] * s.shrink;
    const float g = s.gradient[i] + s.weight_decay * p;
    const float m = s.average[i] + s.share1 * (g - s.average[i]);
    const float v = s.beta2 * s.average_of_squares[i] + s.share2 * g * g;
    s.average[i] = m;
    s.average_of_squares[i] = v;
    s.parameter[i] = p - s.step_size * m / (std::sqrt(v) * s.inverse_deviation + s.eps);
  }
}

/// The sum of squares, in eight independent sums.
template <class Isa>
double sum_of_squares(const float* x, std::int64_t count) noexcept {
  constexpr int kSums = 8;
  double sums[kSums] = {};
  std::int64_t i = 0;
  for (; i + kSums <= count; i += kSums)
    for (int n = 0; n < kSums; ++n) {
      const auto number = static_cast<double>(x[i + n]);
      sums[n] += number * number;
    }
  for (int n = 0; i < count; ++i, ++n) {
    const auto number = static_cast<double>(x[i]);
    sums[n] += number * number;
  }
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

}  // namespace heed::kernels
