#include <cmath>

#include "heed/heed.hpp"

namespace heed {

Tensor sinusoidal_encoding(Context&, std::int64_t length, std::int64_t size,
                           const SinusoidalOptions& options) {
  if (length < 0) throw OptionError("length", "0 or more", length);
  if (size < 0) throw OptionError("size", "0 or more", size);
  if (options.offset < 0) throw OptionError("offset", "0 or more", options.offset);
  if (!(options.base > 0) || !std::isfinite(options.base))
    throw OptionError("base", "a positive number", options.base);
  Tensor table(Shape{length, size});
  if (size == 0) return table;  // the number of rows is not limited then
  float* row = table.data().data();
  for (std::int64_t r = 0; r < length; ++r, row += size) {
    const double position = static_cast<double>(options.offset) + static_cast<double>(r);
    for (std::int64_t c = 0; c < size; ++c) {
      const double exponent = static_cast<double>(c / 2 * 2) / static_cast<double>(size);
      const double angle = position / std::pow(options.base, exponent);
      row[c] = static_cast<float>(c % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
  return table;
}

}  // namespace heed
