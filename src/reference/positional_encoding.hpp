#pragma once

// Sinusoidal positional encoding: y[r, c] = sin(a) for even c, cos(a) for odd c, with
// a = (offset + r) / base^(2 floor(c/2) / size).
// Vaswani et al., "Attention Is All You Need", section 3.5, 2017.
//
//   length, size -> y [length, size]

#include <cmath>
#include <cstdint>

#include "heed/heed.hpp"
#include "reference/array.hpp"

namespace heed::reference {

inline Array sinusoidal_encoding(std::int64_t length, std::int64_t size,
                                 const SinusoidalOptions& options = {}) {
  Array y(Shape{length, size});
  for (std::int64_t r = 0; r < length; ++r) {
    for (std::int64_t c = 0; c < size; ++c) {
      const double exponent = static_cast<double>(c / 2 * 2) / static_cast<double>(size);
      const double angle =
          static_cast<double>(options.offset + r) / std::pow(options.base, exponent);
      y[r * size + c] = c % 2 == 0 ? std::sin(angle) : std::cos(angle);
    }
  }
  return y;
}

}  // namespace heed::reference
