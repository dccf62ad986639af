#pragma once

// Products of bytes, four to a 32-bit lane: exact integers, the same on every instruction set.
//
// How to use it. A product x W^T of bytes takes its depth in groups of four. Of the left factor the
// group of one row, four neighbouring bytes, goes into all lanes (`broadcast_group`); of the right
// factor a vector holds the groups of as many columns as it has lanes, column after column
// (`Bytes::load_aligned`), so that kPanel columns x 4 bytes are adjacent. `ByteDot` adds
// the products of each lane, four to a group, to a sum:
//
//   const ByteDot<Isa> dot;                        // before the loop: it holds a constant
//   sum = dot(left0, right0, left1, right1, sum);  // two groups; left 0..127, right -64..64
//
// Signed left numbers are stored with an offset added, and the offset times the sum of the right
// column is subtracted from the result. With 2^31 / (127 * 64) products, 264,000, a lane cannot
// overflow.
//
// Reason: the multiplication that all x86 machines have (and WebAssembly's relaxed one, whose
// result is the same on every machine only if left is below 128) multiplies unsigned by signed
// bytes and adds two products in 16 bits, 2 * 127 * 128 < 2^15. A second instruction adds the pairs
// in 32 bits. With right numbers of 7 bits two such vectors fit 16 bits, 4 * 127 * 64 < 2^15, and
// share the second. A set with dot products of bytes (`kHasDot`) does all of it in one instruction
// without 16-bit sums; it gets the same numbers, so that its results are the same. WebAssembly's
// relaxed dot product with an accumulator is one instruction on machines with VNNI, but five in V8
// on others, one of which rematerialises a constant.

#include <cstdint>
#include <cstring>

#include "simd/vector.hpp"

#if defined(__wasm__)
#include <wasm_simd128.h>
#endif

namespace heed::simd {

/// Whether one instruction multiplies four pairs of bytes and adds the products to a lane.
template <class Isa>
inline constexpr bool kHasDot = requires { typename Traits<Isa>::Base; };

template <class Isa>
using Bytes = xsimd::batch<std::int8_t, Isa>;

/// Bytes whose products share a lane.
inline constexpr int kGroup = 4;

/// The same four bytes in all lanes.
template <class Isa>
inline Bytes<Isa> broadcast_group(const void* bytes) noexcept {
  std::int32_t group;
  std::memcpy(&group, bytes, sizeof(group));
  return xsimd::bitwise_cast<std::int8_t>(Sums<Isa>(group));
}

template <class Isa>
class ByteDot {
 public:
  using B = Bytes<Isa>;
  using S = Sums<Isa>;

#if defined(__wasm_relaxed_simd__)
  ByteDot() noexcept : ones_(hidden_ones()) {}

  S operator()(B left0, B right0, B left1, B right1, S sum) const noexcept {
    const v128_t both = wasm_i16x8_add(pairs(left0, right0), pairs(left1, right1));
    return wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(both, ones_));
  }

 private:
  static v128_t pairs(v128_t left, v128_t right) noexcept {
    return wasm_i16x8_relaxed_dot_i8x16_i7x16(right, left);
  }

  /// V8 rematerialises a constant that it recognises in every iteration of a loop.
  static v128_t hidden_ones() noexcept {
    const volatile std::int32_t two = 0x00010001;
    return wasm_i32x4_splat(two);
  }

  v128_t ones_;

#elif defined(__wasm__)
  S operator()(B left0, B right0, B left1, B right1, S sum) const noexcept {
    return add(add(sum, left0, right0), left1, right1);
  }

 private:
  // Widening even and odd bytes separately keeps the products of a lane in that lane.
  static S add(S sum, B left, B right) noexcept {
    return wasm_i32x4_add(wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(even(left), even(right))),
                          wasm_i32x4_dot_i16x8(odd(left), odd(right)));
  }
  static v128_t even(v128_t x) noexcept { return wasm_i16x8_shr(wasm_i16x8_shl(x, 8), 8); }
  static v128_t odd(v128_t x) noexcept { return wasm_i16x8_shr(x, 8); }

#elif defined(__x86_64__) || defined(_M_X64)
  S operator()(B left0, B right0, B left1, B right1, S sum) const noexcept {
    if constexpr (kHasDot<Isa>)
      return multiply_add(left1, right1, multiply_add(left0, right0, sum));
    else
      return add(sum, pairs(left0, right0) + pairs(left1, right1));
  }

 private:
  static S multiply_add(B left, B right, S sum) noexcept {
    if constexpr (B::size == 64)
      return S(_mm512_dpbusd_epi32(sum, left, right));
    else
      return S(_mm256_dpbusd_avx_epi32(sum, left, right));
  }

  using Words = xsimd::batch<std::int16_t, Isa>;

  static Words pairs(B left, B right) noexcept {
    if constexpr (B::size == 64)
      return Words(_mm512_maddubs_epi16(left, right));
    else if constexpr (B::size == 32)
      return Words(_mm256_maddubs_epi16(left, right));
    else
      return Words(_mm_maddubs_epi16(left, right));
  }

  static S add(S sum, Words pairs) noexcept {
    const Words ones(std::int16_t{1});
    if constexpr (B::size == 64)
      return sum + S(_mm512_madd_epi16(pairs, ones));
    else if constexpr (B::size == 32)
      return sum + S(_mm256_madd_epi16(pairs, ones));
    else
      return sum + S(_mm_madd_epi16(pairs, ones));
  }

#elif defined(__aarch64__)
  S operator()(B left0, B right0, B left1, B right1, S sum) const noexcept {
    if constexpr (kHasDot<Isa>)
      return S(vdotq_s32(vdotq_s32(sum, left0, right0), left1, right1));
    else
      return S(vpadalq_s16(sum, vaddq_s16(pairs(left0, right0), pairs(left1, right1))));
  }

 private:
  static int16x8_t pairs(int8x16_t left, int8x16_t right) noexcept {
    return vpaddq_s16(vmull_s8(vget_low_s8(left), vget_low_s8(right)), vmull_high_s8(left, right));
  }
#endif
};

#if defined(__wasm__)
template <>
class ByteDot<WasmPair> {
 public:
  using B = Bytes<WasmPair>;
  using S = Sums<WasmPair>;

  S operator()(B left0, B right0, B left1, B right1, S sum) const noexcept {
    return {half_(left0.low, right0.low, left1.low, right1.low, sum.low),
            half_(left0.high, right0.high, left1.high, right1.high, sum.high)};
  }

 private:
  ByteDot<Wasm> half_;
};
#endif

}  // namespace heed::simd
