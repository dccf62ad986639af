#pragma once

// Rotary position embedding (Su et al., "RoFormer", 2021) rotates each pair (a, b) of a row by its
// angle:
//   a' = a cos - b sin,  b' = b cos + a sin.
// The angle of pair c at position p is p base^(-c / pairs).

#include <cstdint>

#include "kernels/elementary.hpp"
#include "kernels/layers/table.hpp"

namespace heed::kernels {

template <class Isa>
void rope_angles(double position, const double* frequencies, std::int64_t pairs, float* cos,
                 float* sin) noexcept {
  for (std::int64_t c = 0; c < pairs; ++c) {
    const auto [sine, cosine] = sine_cosine(position * frequencies[c]);
    cos[c] = static_cast<float>(cosine);
    sin[c] = static_cast<float>(sine);
  }
}

/// Rotates the pairs of a row. `Step` is the distance from one pair to the next, and `partner` the
/// distance between the two numbers of a pair.
template <class Isa, int Step>
inline void rotate_pairs(const RopeRows& t, const float* x, const float* cos, const float* sin,
                         std::int64_t partner, float* __restrict y) noexcept {
  for (std::int64_t c = 0; c < t.pairs; ++c) {
    const float s = t.direction * sin[c];
    const float a = x[c * Step], b = x[c * Step + partner];
    y[c * Step] = a * cos[c] - b * s;
    y[c * Step + partner] = b * cos[c] + a * s;
  }
}

template <class Isa>
void rope(const RopeRows& t) noexcept {
  for (std::int64_t i = 0; i < t.rows; ++i) {
    const float* const x = t.x + i * t.stride;
    float* const y = t.y + i * t.stride;
    const float* const cos = t.cos + i * t.pairs;
    const float* const sin = t.sin + i * t.pairs;
    if (t.is_interleaved)
      rotate_pairs<Isa, 2>(t, x, cos, sin, 1, y);
    else
      rotate_pairs<Isa, 1>(t, x, cos, sin, t.pairs, y);
    for (std::int64_t d = 2 * t.pairs; d < t.size; ++d) y[d] = x[d];
  }
}

}  // namespace heed::kernels
