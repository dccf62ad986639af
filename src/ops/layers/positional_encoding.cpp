#include "heed/heed.hpp"
#include "kernels/elementary.hpp"
#include "ops/validate.hpp"

namespace heed {

Tensor sinusoidal_encoding(Context&, std::int64_t length, std::int64_t size,
                           const SinusoidalOptions& options) {
  ops::require_not_negative("length", length);
  ops::require_not_negative("size", size);
  ops::require_not_negative("offset", options.offset);
  ops::require_positive("base", options.base);
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
