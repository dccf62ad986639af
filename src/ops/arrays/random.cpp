#include "ops/arrays/random.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "heed/arrays.hpp"
#include "kernels/elementary.hpp"
#include "ops/parallel_for.hpp"
#include "ops/validate.hpp"

namespace heed {
namespace {

void require_float_range(const char* argument, double number) {
  if (!(std::abs(number) <= static_cast<double>(std::numeric_limits<float>::max())))
    ops::refuse<OptionError>(argument, "a finite number", number);
}

}  // namespace

Tensor random_uniform(Context& context, const Shape& shape, double low, double high,
                      std::uint64_t seed) {
  require_float_range("low", low);
  require_float_range("high", high);
  if (high < low) ops::refuse<OptionError>("high", "at least low", high);
  // Rounding must not leave the range.
  constexpr float kLowest = std::numeric_limits<float>::lowest();
  float first = static_cast<float>(low);
  if (static_cast<double>(first) < low) first = std::nextafter(first, -kLowest);
  float last = static_cast<float>(high);
  if (static_cast<double>(last) >= high) last = std::nextafter(last, kLowest);
  last = std::max(first, last);
  Tensor numbers(shape);
  float* const out = numbers.data().data();
  ops::parallel_for(context.runtime(), shape.elements(), ops::kPieceNumbers, 10.0,
                    [&](std::int64_t begin, std::int64_t count) {
                      for (std::int64_t i = begin; i < begin + count; ++i) {
                        const double number = low + (high - low) * ops::random_fraction(seed, i);
                        out[i] = std::clamp(static_cast<float>(number), first, last);
                      }
                    });
  return numbers;
}

/// Each pair of indices uses a radius and an angle (Box and Muller, 1958).
Tensor random_normal(Context& context, const Shape& shape, double mean, double deviation,
                     std::uint64_t seed) {
  require_float_range("mean", mean);
  require_float_range("deviation", deviation);
  if (deviation < 0.0) ops::refuse<OptionError>("deviation", "a number from 0 on", deviation);
  Tensor numbers(shape);
  float* const out = numbers.data().data();
  const std::int64_t pairs = ops::divide_up(shape.elements(), 2);
  ops::parallel_for(
      context.runtime(), pairs, ops::kPieceNumbers / 2, 200.0,
      [&](std::int64_t first, std::int64_t count) {
        for (std::int64_t i = 2 * first; i < 2 * (first + count); i += 2) {
          const double distance =
              deviation * std::sqrt(-2.0 * kernels::logarithm(1.0 - ops::random_fraction(seed, i)));
          const auto [sine, cosine] =
              kernels::sine_cosine(2.0 * std::numbers::pi * ops::random_fraction(seed, i + 1));
          out[i] = static_cast<float>(mean + distance * cosine);
          if (i + 1 < shape.elements()) out[i + 1] = static_cast<float>(mean + distance * sine);
        }
      });
  return numbers;
}

}  // namespace heed
