#pragma once

// Copies matrices into the panels that micro_kernel.hpp reads. What a panel has beyond the matrix
// is zero.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/micro_kernel.hpp"

namespace heed::kernels {

/// Rows become columns: panel[d][r] = rows[r][d], for r < count and d < depth.
/// A key matrix [S, D] or a weight matrix [out, in] becomes the right factor of x W^T.
template <class Isa>
void pack_rows(const float* rows, std::ptrdiff_t row_stride, std::int64_t count,
               std::ptrdiff_t depth, float* panels) noexcept {
  constexpr int kWidth = kPanel<Isa>;
  for (std::int64_t first = 0; first < count; first += kWidth, panels += depth * kWidth) {
    const int width = static_cast<int>(std::min<std::int64_t>(kWidth, count - first));
    if (width < kWidth) std::fill_n(panels, depth * kWidth, 0.0f);
    for (int r = 0; r < width; ++r) {
      const float* row = rows + (first + r) * row_stride;
      for (std::ptrdiff_t d = 0; d < depth; ++d) panels[d * kWidth + r] = row[d];
    }
  }
}

/// Columns stay columns: panel c of kPanel columns holds rows[0..count), `depth` of them reserved.
/// A tile of a value matrix [S, Dv] becomes the right factor of P V.
/// Returns whether all the numbers are finite.
template <class Isa>
bool pack_columns(const float* rows, std::ptrdiff_t row_stride, std::int64_t count,
                  std::ptrdiff_t columns, std::ptrdiff_t depth, float* panels) noexcept {
  constexpr int kWidth = kPanel<Isa>;
  // x - x is 0 for a finite x and NaN for any other, and a sum keeps a NaN.
  float not_finite = 0.0f;
  for (std::ptrdiff_t first = 0; first < columns; first += kWidth, panels += depth * kWidth) {
    const std::ptrdiff_t width = std::min<std::ptrdiff_t>(kWidth, columns - first);
    float* out = panels;
    for (std::int64_t r = 0; r < count; ++r, out += kWidth) {
      const float* row = rows + r * row_stride + first;
      for (std::ptrdiff_t c = 0; c < width; ++c) {
        out[c] = row[c];
        not_finite += row[c] - row[c];
      }
      std::fill(out + width, out + kWidth, 0.0f);
    }
    std::fill(out, panels + depth * kWidth, 0.0f);
  }
  return not_finite == 0.0f;
}

}  // namespace heed::kernels
