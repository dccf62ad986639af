#pragma once

// Elementary functions in double precision, without tables: those of a C library add 10 KB of
// numbers to the WebAssembly binary, which do not compress. The error is below 1 unit in the last
// place. Not templates over the instruction set, because they use none; elementary.cpp is compiled
// once.

namespace heed::kernels {

double exponential(double x) noexcept;
/// For x > 0 and NaN.
double logarithm(double x) noexcept;
/// base^exponent for base > 0, and for base 0 if exponent >= 1.
double power(double base, double exponent) noexcept;

struct SineCosine {
  double sine;
  double cosine;
};
/// The error grows with |x| from 2^30 on.
SineCosine sine_cosine(double x) noexcept;

}  // namespace heed::kernels
