#include "ops/random.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "heed/arrays.hpp"
#include "ops/validate.hpp"
#include "runtime/runtime.hpp"

namespace heed {
namespace {

void require_float_range(const char* argument, double number) {
  if (!(std::abs(number) <= static_cast<double>(std::numeric_limits<float>::max())))
    throw OptionError(argument, "a finite number", std::to_string(number));
}

/// Calls fill(begin, end) for even stretches, shared out.
template <class Fill>
Tensor filled(Context& context, const Shape& shape, double operations, const Fill& fill) {
  constexpr std::int64_t kPiece = 4096;
  Tensor numbers(shape);
  const std::int64_t count = shape.elements();
  const bool alone = operations * static_cast<double>(count) < ops::kWorthSharing;
  context.runtime().pool().run(ops::divide_up(count, kPiece), alone, [&](std::int64_t piece, int) {
    fill(piece * kPiece, std::min(count, (piece + 1) * kPiece), numbers.data().data());
  });
  return numbers;
}

}  // namespace

Tensor random_uniform(Context& context, const Shape& shape, double low, double high,
                      std::uint64_t seed) {
  require_float_range("low", low);
  require_float_range("high", high);
  if (high < low) throw OptionError("high", "at least low", std::to_string(high));
  // Rounding must not lead out of the range.
  constexpr float kLowest = std::numeric_limits<float>::lowest();
  float first = static_cast<float>(low);
  if (static_cast<double>(first) < low) first = std::nextafter(first, -kLowest);
  float last = static_cast<float>(high);
  if (static_cast<double>(last) >= high) last = std::nextafter(last, kLowest);
  last = std::max(first, last);
  return filled(context, shape, 10.0, [&](std::int64_t begin, std::int64_t end, float* out) {
    for (std::int64_t i = begin; i < end; ++i) {
      const double number = low + (high - low) * ops::random_fraction(seed, i);
      out[i] = std::clamp(static_cast<float>(number), first, last);
    }
  });
}

/// Each pair of places takes a distance and an angle (Box and Muller, 1958).
Tensor random_normal(Context& context, const Shape& shape, double mean, double deviation,
                     std::uint64_t seed) {
  require_float_range("mean", mean);
  require_float_range("deviation", deviation);
  if (deviation < 0.0)
    throw OptionError("deviation", "a number from 0 on", std::to_string(deviation));
  return filled(context, shape, 100.0, [&](std::int64_t begin, std::int64_t end, float* out) {
    for (std::int64_t i = begin; i < end; i += 2) {
      const double distance =
          deviation * std::sqrt(-2.0 * std::log(1.0 - ops::random_fraction(seed, i)));
      const double angle = 2.0 * std::numbers::pi * ops::random_fraction(seed, i + 1);
      out[i] = static_cast<float>(mean + distance * std::cos(angle));
      if (i + 1 < end) out[i + 1] = static_cast<float>(mean + distance * std::sin(angle));
    }
  });
}

}  // namespace heed
