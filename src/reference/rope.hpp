#pragma once

// Rotary position embedding. In each head, pair c of the first R = rotary_size entries is rotated:
//   (a, b) -> (a cos t - b sin t, b cos t + a sin t),  t = p base^(-2c / R).
// Su et al., "RoFormer", section 3.2.2, 2021. There, and in style interleaved, the pairs are
// (x[2c], x[2c+1]); in style half they are (x[c], x[c + R/2]). The position p is offset + row, or
// position_ids[b, row].
//
//   x [B, H, L, D] or [B, L, H*D] -> the same    position_ids [B, L] or [1, L].
// Tables may replace the cosine and sine of t:
//   cos, sin [positions, R/2], read at p, or [B, L, R/2] or [1, L, R/2].

#include <cmath>
#include <cstdint>

#include "heed/heed.hpp"
#include "reference/array.hpp"
#include "reference/attention.hpp"

namespace heed::reference {

inline Array rope(const Array& x, const RopeOptions& options = {}, double direction = 1.0) {
  if (x.shape.rank() == 3)
    return join_heads(rope(split_heads(x, options.heads), options, direction));
  const std::int64_t B = x.shape[0], H = x.shape[1], L = x.shape[2], D = x.shape[3];
  const std::int64_t R = options.rotary_size == 0 ? D : options.rotary_size;
  const bool is_half = options.style == RopeStyle::kHalf;
  Array y = x;
  for (std::int64_t b = 0; b < B; ++b)
    for (std::int64_t h = 0; h < H; ++h)
      for (std::int64_t i = 0; i < L; ++i)
        for (std::int64_t c = 0; c < R / 2; ++c) {
          // The row of a table [B, L, ..] or [1, L, ..], which batch entries may share.
          const auto row_of = [&](const TensorView& table) {
            return (table.shape()[0] == 1 ? 0 : b) * L + i;
          };
          std::int64_t p = options.offset + i;
          if (options.position_ids)
            p = options.position_ids
                    ->data<std::int32_t>()[static_cast<std::size_t>(row_of(*options.position_ids))];
          const double angle =
              static_cast<double>(p) *
              std::pow(options.base, -2.0 * static_cast<double>(c) / static_cast<double>(R));
          double cos = std::cos(angle);
          double sin = std::sin(angle);
          if (options.cos) {
            const std::int64_t row = options.cos->shape().rank() == 3 ? row_of(*options.cos) : p;
            cos = options.cos->data<float>()[static_cast<std::size_t>(row * (R / 2) + c)];
            sin = options.sin->data<float>()[static_cast<std::size_t>(row * (R / 2) + c)];
          }
          sin *= direction;
          const std::int64_t row = ((b * H + h) * L + i) * D;
          const std::int64_t first = row + (is_half ? c : 2 * c);
          const std::int64_t second = row + (is_half ? c + R / 2 : 2 * c + 1);
          y[first] = x[first] * cos - x[second] * sin;
          y[second] = x[second] * cos + x[first] * sin;
        }
  return y;
}

/// The transpose of a rotation is the rotation by the negative angle.
inline Array rope_backward(const Array& d_output, const RopeOptions& options = {}) {
  return rope(d_output, options, -1.0);
}

}  // namespace heed::reference
