#pragma once

// The largest number of each cell of a grid over a matrix.

#include <cstdint>

#include "kernels/image/table.hpp"

namespace heed::kernels {

template <class Isa>
void max_pool(const MaxPoolRow& t) noexcept {
  for (std::int64_t column = 0; column < t.columns; ++column) {
    const std::int64_t left = column * t.width / t.columns;
    const std::int64_t right = ((column + 1) * t.width + t.columns - 1) / t.columns;
    float largest = t.x[left];
    for (std::int64_t i = 0; i < t.height; ++i)
      for (std::int64_t j = left; j < right; ++j) {
        const float value = t.x[i * t.width + j];
        // NaN stays, because no comparison with it is true.
        if (value > largest || value != value) largest = value;
      }
    t.y[column] = largest;
  }
}

}  // namespace heed::kernels
