#pragma once

// The loss of each row of logits x with target t and label smoothing e over C classes:
//   (1 - e) (log sum_c exp(x_c) - x_t) + e (log sum_c exp(x_c) - mean(x)).
// Its gradient is softmax(x) - e / C, less 1 - e for the target.

#include <algorithm>
#include <cstdint>

#include "kernels/elementary.hpp"
#include "kernels/training/table.hpp"

namespace heed::kernels {

template <class Isa>
double cross_entropy(const LossRows& t, const RowSums* sums, float* losses) noexcept {
  double total = 0.0;
  for (std::int64_t row = 0; row < t.rows; ++row) {
    double loss = 0.0;
    if (!t.is_ignored(row)) {
      loss = logarithm(sums[row].exponentials);
      if (t.smoothing < 1.0)
        loss += (1.0 - t.smoothing) * (static_cast<double>(sums[row].maximum) -
                                       t.logits[row * t.classes + t.targets[row]]);
      if (t.smoothing > 0.0)
        loss -= t.smoothing * sums[row].differences / static_cast<double>(t.classes);
    }
    if (losses) losses[row] = static_cast<float>(loss);
    total += loss;
  }
  return total;
}

template <class Isa>
void cross_entropy_backward(const LossRows& t, std::int64_t begin, std::int64_t end,
                            const float* factors, bool repeats, float* d_logits) noexcept {
  const auto share = static_cast<float>(t.smoothing / static_cast<double>(t.classes));
  const auto target_share = static_cast<float>(1.0 - t.smoothing);
  for (std::int64_t row = begin; row < end; ++row) {
    float* const d = d_logits + row * t.classes;
    if (t.is_ignored(row)) {
      std::fill_n(d, t.classes, 0.0f);
      continue;
    }
    const float factor = factors[repeats ? 0 : row];
    d[t.targets[row]] -= target_share;
    for (std::int64_t c = 0; c < t.classes; ++c) d[c] = (d[c] - share) * factor;
  }
}

}  // namespace heed::kernels
