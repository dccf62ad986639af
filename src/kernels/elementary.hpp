#pragma once

// Elementary functions in double precision, without tables: the tables of a C library add 10 KB to
// the WebAssembly binary and do not compress. The functions are not templates over the instruction
// set, because they use none; elementary.cpp is compiled once.

namespace heed::kernels {

/// The error is below 1 unit in the last place.
double exponential(double x) noexcept;
/// For x > 0 and NaN. The error is below 1 unit in the last place.
double logarithm(double x) noexcept;
/// base^exponent for base > 0, and for base 0 if exponent >= 1. The error is below 1 unit in the
/// last place for results between e^-30 and e^30, and grows with the logarithm of the result.
double power(double base, double exponent) noexcept;

struct SineCosine {
  double sine;
  double cosine;
};
/// The error is below 2^-52 for |x| < 2^20 and below 1e-12 for |x| < 2^53. For larger |x|, which
/// are farther apart than a radian, the results are only a point near the unit circle.
SineCosine sine_cosine(double x) noexcept;

}  // namespace heed::kernels
