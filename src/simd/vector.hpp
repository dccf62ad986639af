#pragma once

// Vectors of float: what the kernels need beyond xsimd's operators.

#include <cstdint>

#include "simd/isa.hpp"

#if defined(__wasm_relaxed_simd__)
#include <wasm_simd128.h>
#endif

namespace heed::simd {

template <class Isa>
using Vector = xsimd::batch<float, Isa>;

/// a * b + c, in one rounding where the instruction set has it and two where it has not.
/// xsimd knows no relaxed SIMD: on WebAssembly its fma is always mul and add.
template <class Isa>
inline Vector<Isa> madd(Vector<Isa> a, Vector<Isa> b, Vector<Isa> c) noexcept {
#if defined(__wasm_relaxed_simd__)
  return Vector<Isa>(wasm_f32x4_relaxed_madd(a, b, c));
#else
  return xsimd::fma(a, b, c);
#endif
}

/// exp(x) for x <= 88: relative error below 2e-7; NaN stays NaN. Below -86.5 the result is exactly
/// zero, so that neither it nor a half of it is ever subnormal: WebAssembly cannot flush subnormals
/// to zero, and a multiply-add on one is many times slower.
///
/// exp(x) = 2^n exp(r) with n = round(x / ln 2), |r| <= ln(2)/2 (Cody and Waite, "Software Manual
/// for the Elementary Functions", 1980). The polynomial 1 + r + r^2 (c0 + ... + c4 r^4) is the
/// minimax one in relative error (3.1e-9), found by Remez exchange.
template <class Isa>
inline Vector<Isa> exp(Vector<Isa> x) noexcept {
  using V = Vector<Isa>;
  constexpr float kLowest = -86.5f;
  // Adding 1.5 * 2^23 leaves round(x / ln 2) in the low bits; 127 more makes them an exponent.
  constexpr float kRound = 12582912.0f + 127.0f;
  const V shifted = madd<Isa>(x, V(1.44269504088896341f), V(kRound));
  const V n = shifted - V(kRound);
  V r = madd<Isa>(n, V(-0.693359375f), x);
  r = madd<Isa>(n, V(2.12194440e-4f), r);
  V p = V(0.0013814613260779772f);
  p = madd<Isa>(p, r, V(0.008368709824171195f));
  p = madd<Isa>(p, r, V(0.04166838736126115f));
  p = madd<Isa>(p, r, V(0.1666652068983302f));
  p = madd<Isa>(p, r, V(0.49999993451708435f));
  p = madd<Isa>(p, r, V(1.0f));
  p = madd<Isa>(p, r, V(1.0f));
  const V power = xsimd::bitwise_cast<float>(xsimd::bitwise_cast<std::int32_t>(shifted) << 23);
  return xsimd::select(x < V(kLowest), V(0.0f), p * power);
}

/// tanh(x), absolute error below 2e-7: (1 - e) / (1 + e) with e = exp(-2 |x|), and for small |x|,
/// where that cancels, the odd polynomial of Cephes (Moshier, 1984).
template <class Isa>
inline Vector<Isa> tanh(Vector<Isa> x) noexcept {
  using V = Vector<Isa>;
  const V magnitude = xsimd::abs(x);
  const V e = exp<Isa>(V(-2.0f) * magnitude);
  const V large = (V(1.0f) - e) / (V(1.0f) + e);
  const V square = x * x;
  V p = V(-5.70498872745e-3f);
  p = madd<Isa>(p, square, V(2.06390887954e-2f));
  p = madd<Isa>(p, square, V(-5.37397155531e-2f));
  p = madd<Isa>(p, square, V(1.33314422036e-1f));
  p = madd<Isa>(p, square, V(-3.33332819422e-1f));
  const V small = madd<Isa>(p * square, x, x);
  return xsimd::select(magnitude < V(0.625f), small, xsimd::copysign(large, x));
}

}  // namespace heed::simd
