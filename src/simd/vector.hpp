#pragma once

// Vectors, and functions on them. The kernels use xsimd through these names only.

#include <cstdint>
#include <type_traits>

#include "simd/isa.hpp"

#if defined(__wasm_relaxed_simd__)
#include <wasm_simd128.h>
#endif

namespace heed::simd {

using xsimd::abs;
using xsimd::batch_bool_cast;
using xsimd::bitwise_cast;
using xsimd::max;
using xsimd::min;
using xsimd::reduce_add;
using xsimd::reduce_max;
using xsimd::reduce_min;
using xsimd::select;
using xsimd::to_float;
using xsimd::zip_hi;
using xsimd::zip_lo;

#if defined(__wasm__)
template <class T, class Isa>
using Batch = std::conditional_t<std::is_same_v<Isa, WasmPair>, Pair<T>, xsimd::batch<T, Isa>>;
#else
template <class T, class Isa>
using Batch = xsimd::batch<T, Isa>;
#endif
template <class Isa>
using Vector = Batch<float, Isa>;
/// Integers, as many as a Vector has floats.
template <class Isa>
using Sums = Batch<std::int32_t, Isa>;
/// Integers of 16 bits, twice as many as a Vector has floats.
template <class Isa>
using Words = Batch<std::int16_t, Isa>;

/// Whether this is WebAssembly without relaxed SIMD.
#if defined(__wasm_relaxed_simd__)
inline constexpr bool kIsPlainWasm = false;
#else
inline constexpr bool kIsPlainWasm = kIsWasm;
#endif

/// Whether the first step of an inner loop is written before it, and the loop ends at a pointer
/// that is hidden from the compiler. V8 adds the start of the memory to each constant offset from a
/// pointer at each use, unless code before the loop has done so. V8 also unrolls such a loop, but
/// not one with a counter. tests/js/ops/codegen.test.ts counts the instructions.
inline constexpr bool kPeelsLoops = kIsWasm;

/// a * b + c, rounded once if the instruction set has a fused multiply-add, and twice otherwise.
/// The fma of xsimd for WebAssembly is always mul and add, because xsimd does not support relaxed
/// SIMD.
template <class Isa>
inline Vector<Isa> madd(Vector<Isa> a, Vector<Isa> b, Vector<Isa> c) noexcept {
#if defined(__wasm_relaxed_simd__)
  return Vector<Isa>(wasm_f32x4_relaxed_madd(a, b, c));
#else
  return xsimd::fma(a, b, c);
#endif
}

#if defined(__wasm__)
template <>
inline Vector<WasmPair> madd<WasmPair>(Vector<WasmPair> a, Vector<WasmPair> b,
                                       Vector<WasmPair> c) noexcept {
  return {madd<Wasm>(a.low, b.low, c.low), madd<Wasm>(a.high, b.high, c.high)};
}
#endif

/// A number in all lanes. WebAssembly has an instruction that loads and copies it. JavaScriptCore
/// loads it into a general register first, and its users get the binary without relaxed SIMD:
/// products of matrices took 1.3 times as long there. The barrier keeps the compiler from that
/// instruction.
template <class Isa>
inline Vector<Isa> in_all_lanes(float x) noexcept {
  if constexpr (kIsPlainWasm) asm("" : "+r"(x));
  return Vector<Isa>(x);
}

/// A constant that stays in a register throughout a loop. V8 rematerialises a vector constant at
/// each use, in several instructions, unless its value was read from memory.
template <class Isa>
inline Vector<Isa> held(float constant) noexcept {
#if defined(__wasm__)
  const volatile float hidden = constant;
  return Vector<Isa>(hidden);
#else
  return Vector<Isa>(constant);
#endif
}

/// The larger of x and a limit; NaN if x is. With NaN, max returns its first argument in
/// WebAssembly and the second one on x86, and min does too.
template <class Isa>
inline Vector<Isa> at_least(Vector<Isa> x, Vector<Isa> limit) noexcept {
  return kIsWasm ? max(x, limit) : max(limit, x);
}

/// The smaller of x and a limit; NaN if x is.
template <class Isa>
inline Vector<Isa> at_most(Vector<Isa> x, Vector<Isa> limit) noexcept {
  return kIsWasm ? min(x, limit) : min(limit, x);
}

/// 2^t for t <= 124. An object holds the constants, so make it before a loop. Relative error below
/// 2e-7; NaN stays NaN. Below -124.5 the result is exactly zero and never subnormal. WebAssembly
/// cannot flush subnormals to zero, and a multiply-add on one is many times slower.
///
/// 2^t = 2^n 2^r with n = round(t), |r| <= 1/2. The polynomial 1 + r (c1 + ... + c5 r^4) is the
/// minimax one in relative error (9.1e-8), found by Remez exchange. Its coefficients are four times
/// too large and the power of two is four times too small. So its exponent field becomes zero,
/// which makes the result zero, before the result would be subnormal.
template <class Isa>
class Exp2 {
 public:
  using V = Vector<Isa>;

  V operator()(V t) const noexcept {
    t = at_least<Isa>(t, lowest_);
    const V rounded = t + round_;
    return power(t - (rounded - round_), rounded);
  }

  /// exp(x) for x <= 86, with the same error: the remainder of x by ln(2) is computed in two steps
  /// (Cody and Waite, "Software Manual for the Elementary Functions", 1980).
  V natural(V x) const noexcept {
    constexpr float kLog2E = 1.44269504088896341f;
    x = at_least<Isa>(x, V(-86.64340f));
    const V rounded = madd<Isa>(x, V(kLog2E), round_);
    const V n = rounded - round_;
    const V r = madd<Isa>(n, V(2.12194440e-4f), madd<Isa>(n, V(-0.693359375f), x));
    return power(r * V(kLog2E), rounded);
  }

 private:
  /// 2^n 2^r, where the low bits of `rounded` are n + 125.
  V power(V r, V rounded) const noexcept {
    V p = madd<Isa>(c5_, r, c4_);
    p = madd<Isa>(p, r, c3_);
    p = madd<Isa>(p, r, c2_);
    p = madd<Isa>(p, r, c1_);
    p = madd<Isa>(p, r, c0_);
    return p * bitwise_cast<float>(bitwise_cast<std::int32_t>(rounded) << 23);
  }

  V lowest_ = held<Isa>(-125.0f);
  V round_ = held<Isa>(12582912.0f + 125.0f);  // 1.5 * 2^23: adding it rounds to an integer
  V c5_ = held<Isa>(4.0f * 0.0013264727160874061f);
  V c4_ = held<Isa>(4.0f * 0.009671512638886767f);
  V c3_ = held<Isa>(4.0f * 0.05550733743367504f);
  V c2_ = held<Isa>(4.0f * 0.2402224208540023f);
  V c1_ = held<Isa>(4.0f * 0.6931469775991131f);
  V c0_ = held<Isa>(4.0f);
};

}  // namespace heed::simd
