#pragma once

// One attention from two over disjoint parts of the keys: with Z = exp(lse),
//   O = (Z_a O_a + Z_b O_b) / (Z_a + Z_b),  lse = log(Z_a + Z_b).
// Ye et al., "Cascade Inference", FlashInfer, 2024. A part without keys has lse -inf; two of them
// give output 0 and lse -inf.
//
//   output [B, H, L, Dv] and lse [B, H, L] of each part -> the same

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "reference/array.hpp"

namespace heed::reference {

struct PartialAttention {
  Array output;
  Array lse;
};

inline PartialAttention merge_attention(const PartialAttention& a, const PartialAttention& b) {
  const std::int64_t Dv = a.output.shape[3];
  PartialAttention merged{Array(a.output.shape), Array(a.lse.shape)};
  for (std::int64_t row = 0; row < a.lse.shape.elements(); ++row) {
    const double maximum = std::max(a.lse[row], b.lse[row]);
    merged.lse[row] = maximum;
    if (maximum == -std::numeric_limits<double>::infinity()) continue;
    const double power_a = std::exp(a.lse[row] - maximum);
    const double power_b = std::exp(b.lse[row] - maximum);
    merged.lse[row] = maximum + std::log(power_a + power_b);
    for (std::int64_t c = 0; c < Dv; ++c)
      merged.output[row * Dv + c] =
          (power_a * a.output[row * Dv + c] + power_b * b.output[row * Dv + c]) /
          (power_a + power_b);
  }
  return merged;
}

}  // namespace heed::reference
