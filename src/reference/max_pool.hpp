#pragma once

// The maximum of each cell of a grid over a matrix (torch.nn.AdaptiveMaxPool2d). Along an axis of
// size R, cell i of r goes from floor(i R / r) to below ceil((i + 1) R / r). So neighbouring cells
// overlap if r does not divide R.
//
//   adaptive_max_pool: x [..., H, W] -> [..., rows, columns]; NaN where a cell contains NaN

#include <cmath>
#include <cstdint>

#include "heed/arrays.hpp"
#include "reference/array.hpp"

namespace heed::reference {

inline Array adaptive_max_pool(const Array& x, std::int64_t rows, std::int64_t columns) {
  const int rank = x.shape.rank();
  const std::int64_t H = x.shape[rank - 2], W = x.shape[rank - 1];
  std::vector<std::int64_t> sizes(x.shape.sizes().begin(), x.shape.sizes().end() - 2);
  sizes.insert(sizes.end(), {rows, columns});
  Array y{Shape(sizes)};
  // Whether position p of an axis of `size` is in cell i of `parts`.
  const auto holds = [](std::int64_t p, std::int64_t i, std::int64_t size, std::int64_t parts) {
    return (p + 1) * parts > i * size && p * parts < (i + 1) * size;
  };
  for (std::int64_t place = 0; place < y.shape.elements(); ++place) {
    const std::int64_t column = place % columns, row = place / columns % rows;
    double largest = -INFINITY;
    for (std::int64_t i = 0; i < H; ++i)
      for (std::int64_t j = 0; j < W; ++j) {
        if (!holds(i, row, H, rows) || !holds(j, column, W, columns)) continue;
        const double value = x[(place / columns / rows * H + i) * W + j];
        largest = std::isnan(value) || std::isnan(largest) ? NAN : std::fmax(largest, value);
      }
    y[place] = largest;
  }
  return y;
}

}  // namespace heed::reference
