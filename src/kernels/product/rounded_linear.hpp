#pragma once

// The register blocks of a panel of y = f(x W^T + b), for all kernels of rounded factors.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/layers/activate.hpp"
#include "kernels/product/micro_kernel.hpp"
#include "kernels/product/table.hpp"

namespace heed::kernels {

/// Calls multiply(row, rows, c, stride) for each register block of a panel of y, whose results it
/// writes to c, and applies the activation. A last panel with fewer columns of y is computed in a
/// separate block.
template <class Isa, class Multiply>
inline void multiply_panel(const RoundedLinearTile& t, std::int64_t column, std::int64_t width,
                           const Multiply& multiply) noexcept {
  constexpr int kRows = simd::Traits<Isa>::kRows;
  constexpr int kWidth = kPanel<Isa>;
  for (std::int64_t r = 0; r < t.rows; r += kRows) {
    const int rows = static_cast<int>(std::min<std::int64_t>(kRows, t.rows - r));
    float* const y = t.y + r * t.y_stride + column;
    float part[kRows * kWidth];
    float* const c = width == kWidth ? y : part;
    const std::ptrdiff_t stride = width == kWidth ? t.y_stride : kWidth;
    multiply(r, rows, c, stride);
    activate<Isa>(t.activation, rows, c, stride);
    if (c == part)
      for (int i = 0; i < rows; ++i) std::copy_n(part + i * kWidth, width, y + i * t.y_stride);
  }
}

}  // namespace heed::kernels
