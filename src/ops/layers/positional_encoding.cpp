#include <cmath>

#include "heed/heed.hpp"
#include "kernels/elementary.hpp"
#include "ops/validate.hpp"

namespace heed {

Tensor sinusoidal_encoding(Context&, std::int64_t length, std::int64_t size,
                           const SinusoidalOptions& options) {
  if (length < 0) ops::refuse<OptionError>("length", "0 or more", length);
  if (size < 0) ops::refuse<OptionError>("size", "0 or more", size);
  if (options.offset < 0) ops::refuse<OptionError>("offset", "0 or more", options.offset);
  if (!(options.base > 0) || !std::isfinite(options.base))
    ops::refuse<OptionError>("base", "a positive number", options.base);
  Tensor table(Shape{length, size});
  if (table.shape().elements() == 0) return table;  // the other size is not limited then
  for (std::int64_t c = 0; c < size; c += 2) {
    const double divisor =
        kernels::power(options.base, static_cast<double>(c) / static_cast<double>(size));
    float* at = table.data().data() + c;
    for (std::int64_t r = 0; r < length; ++r, at += size) {
      const double position = static_cast<double>(options.offset) + static_cast<double>(r);
      const auto [sine, cosine] = kernels::sine_cosine(position / divisor);
      at[0] = static_cast<float>(sine);
      if (c + 1 < size) at[1] = static_cast<float>(cosine);
    }
  }
  return table;
}

}  // namespace heed
