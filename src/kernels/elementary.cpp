// Arguments are reduced to a small interval, where series converge after a few terms. A second
// double carries the digits that exceed 53 bits (Dekker, "A floating-point technique for extending
// the available precision", 1971).

#include "kernels/elementary.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace heed::kernels {
namespace {

/// high + low, where |low| is at most half a unit in the last place of high.
struct Pair {
  double high;
  double low;
};

Pair sum(double a, double b) {
  const double high = a + b;
  const double part = high - a;
  return {high, (a - (high - part)) + (b - part)};
}

/// The first 26 bits, so that products of such numbers are exact.
double first_bits(double x) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & ~std::uint64_t{0x7ffffff});
}

Pair product(double a, double b) {
  const double high = a * b;
  const double a1 = first_bits(a), b1 = first_bits(b);
  const double a2 = a - a1, b2 = b - b1;
  return {high, ((a1 * b1 - high) + a1 * b2 + a2 * b1) + a2 * b2};
}

/// 2^n for a normal result.
double power_of_two(int n) { return std::bit_cast<double>(std::int64_t{n + 1023} << 52); }

/// first + x second + x^2 (...): with two terms at a time the processor waits half as long.
template <class... Rest>
double polynomial(double x, double first, double second, Rest... rest) {
  if constexpr (sizeof...(Rest) == 0)
    return first + x * second;
  else if constexpr (sizeof...(Rest) == 1)
    return (first + x * second) + (x * x) * (rest + ...);
  else
    return (first + x * second) + (x * x) * polynomial(x, rest...);
}

// log 2; a whole number of 11 bits times the high part is exact.
constexpr Pair kLog2 = {0x1.62e42fefa38p-1, 0x1.ef35793c7673p-45};

/// With x = 2^k m and s = (m - 1) / (m + 1), log x = k log 2 + 2 (s + s^3/3 + s^5/5 + ...).
Pair logarithm_in_pair(double x) {
  constexpr int kShift = 54;
  const bool is_tiny = x < std::numeric_limits<double>::min();
  if (is_tiny) x *= 0x1p54;
  // The exponent as it would be if m began at sqrt(1/2).
  constexpr std::int64_t kRootOfHalf = 0x3fe6a09e667f3bcd;
  const auto bits = std::bit_cast<std::int64_t>(x);
  const std::int64_t exponent = (bits - kRootOfHalf) >> 52;
  const double f = std::bit_cast<double>(bits - (exponent << 52)) - 1.0;
  const auto k = static_cast<double>(is_tiny ? exponent - kShift : exponent);
  const Pair divisor = sum(2.0, f);
  const double inverse = 1.0 / divisor.high;
  const double s = f * inverse;
  const Pair back = product(s, divisor.high);
  const double s_low = ((f - back.high) - back.low - s * divisor.low) * inverse;
  const double z = s * s;
  const double rest = z * polynomial(z, 1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13,
                                     1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21, 1.0 / 23);
  const Pair whole = sum(k * kLog2.high, 2.0 * s);
  return sum(whole.high, whole.low + (k * kLog2.low + 2.0 * (s_low + s * rest)));
}

/// With x = k log 2 + r, e^x = 2^k e^r. A series gives c, and c gives e^r:
///   r coth(r/2) = 2 + r^2/6 - r^4/360 + ... = 2 + r - c,   e^r = 1 + r + r c / (2 - c).
double exponential_of_pair(double x, double low) {
  if (!(std::abs(x) < 746.0))
    return x > 0 ? std::numeric_limits<double>::infinity() : x < 0 ? 0.0 : x;
  const double k = std::nearbyint(x * 0x1.71547652b82fep0);
  const double first = x - k * kLog2.high;
  const double second = low - k * kLog2.low;
  const double r = first + second;
  const double z = r * r;
  const double c = r - z * polynomial(z, 1.0 / 6, -1.0 / 360, 1.0 / 15120, -1.0 / 604800,
                                      1.0 / 23950080, -691.0 / 653837184000);
  const Pair one_and_r = sum(1.0, first);
  const double power = one_and_r.high + (one_and_r.low + (second + r * c / (2.0 - c)));
  const auto n = static_cast<int>(k);
  if (n > -1000 && n < 1000) return power * power_of_two(n);
  return power * power_of_two(n / 2) * power_of_two(n - n / 2);
}

}  // namespace

double exponential(double x) noexcept { return exponential_of_pair(x, 0.0); }

double logarithm(double x) noexcept {
  return x < std::numeric_limits<double>::infinity() ? logarithm_in_pair(x).high : x;
}

double power(double base, double exponent) noexcept {
  const Pair log = logarithm_in_pair(base);
  const Pair x = product(exponent, log.high);
  return exponential_of_pair(x.high, x.low + exponent * log.low);
}

SineCosine sine_cosine(double x) noexcept {
  // x = n pi / 2 + r + low
  constexpr double kTurns = 0x1.45f306dc9c883p-1;  // 2 / pi
  double n = std::nearbyint(x * kTurns);
  Pair angle;
  if (std::abs(n) < 0x1p20) {
    // pi / 2 in three parts; the products with the first two, of 33 bits each, are exact.
    constexpr double kFirst = 0x1.921fb54400000p+0, kSecond = 0x1.0b4611a600000p-34,
                     kThird = 0x1.3198a2e037073p-69;
    const Pair rest = sum(x - n * kFirst, -n * kSecond);
    angle = sum(rest.high, rest.low - n * kThird);
  } else {
    constexpr double kTurnsLow = -0x1.6b01ec5417056p-55;
    constexpr Pair kQuarter = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};  // pi / 2
    const Pair turns = product(x, kTurns);
    Pair f = sum(turns.high - n, turns.low + x * kTurnsLow);
    // From 2^52 on, n is not the nearest quarter, and later the low part holds whole quarters too.
    const double rest = std::nearbyint(f.high);
    n += rest;
    f = sum(f.high - rest, f.low - std::nearbyint(f.low));
    angle = product(f.high, kQuarter.high);
    angle.low += f.high * kQuarter.low + f.low * kQuarter.high;
  }
  const auto [r, low] = angle;
  const double z = r * r;
  const double sine =
      r + (low * (1.0 - 0.5 * z) + r * z *
                                       polynomial(z, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880,
                                                  -1.0 / 39916800, 1.0 / 6227020800,
                                                  -1.0 / 1307674368000, 1.0 / 355687428096000));
  const double half = 0.5 * z, one_less = 1.0 - half;
  const double cosine =
      one_less + (((1.0 - one_less) - half) +
                  (z * z *
                       polynomial(z, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800,
                                  1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000) -
                   r * low));
  const double quarter = n - 4.0 * std::floor(0.25 * n);
  const bool is_odd = quarter == 1.0 || quarter == 3.0;
  const double s = is_odd ? cosine : sine, c = is_odd ? sine : cosine;
  return {quarter >= 2.0 ? -s : s, quarter == 1.0 || quarter == 2.0 ? -c : c};
}

}  // namespace heed::kernels
