#pragma once

// Products of 4-bit weights with bytes, added up in integers: exact, the same on every instruction
// set.
//
// A vector has four bytes of as many columns as a Vector has lanes. Each byte has two weights, 0 to
// 15: the low halves of a column's bytes are the weights of four neighbouring depths, the high
// halves are the weights of the next four. The left factor is signed, -127 to 127.
//
//   const NibbleDot<Isa> dot;             // before the loop: it holds constants
//   auto sum = dot.zero();
//   dot.add(dot.right(b), a, sum);        // eight depths; at most four times for one sum
//   const Sums<Isa> products = dot.finish(sum, correction);  // plus the correction
//
// The two products of a pair of bytes are at most 2 * 15 * 127. The sum of eight such pairs, of 32
// depths, fits 16 bits: 8 * 2 * 15 * 127 < 2^15. So only this sum is widened to 32 bits.

#include <bit>
#include <cstdint>
#include <cstring>

#include "simd/int8.hpp"

namespace heed::simd {

/// The bytes that eight depths of a row of the left factor take (`store_eight`).
inline constexpr int kEightBytes = kIsPlainWasm ? 16 : 8;

/// Stores eight bytes of a row in the order in which `NibbleDot` reads them. Plain WebAssembly
/// multiplies words, of the even and of the odd depths.
inline void store_eight(const std::int8_t* bytes, std::int8_t* to) noexcept {
  if constexpr (kIsPlainWasm) {
    const std::int16_t words[] = {bytes[0], bytes[2], bytes[4], bytes[6],
                                  bytes[1], bytes[3], bytes[5], bytes[7]};
    std::memcpy(to, words, sizeof(words));
  } else {
    std::memcpy(to, bytes, 8);
  }
}

#if defined(__wasm__) && !defined(__wasm_relaxed_simd__)
template <class Isa>
class NibbleDot {
 public:
  using S = Sums<Isa>;
  using Sum = S;
  struct Right {
    v128_t words[4];  // depths 0 and 2, 4 and 6, 1 and 3, 5 and 7
  };

  static Sum zero() noexcept { return S(0); }
  Right right(const std::uint8_t* b) const noexcept {
    const v128_t bytes = wasm_v128_load(b);
    return {{wasm_v128_and(bytes, low_), wasm_v128_and(wasm_u16x8_shr(bytes, 4), low_),
             wasm_v128_and(wasm_u16x8_shr(bytes, 8), low_), wasm_u16x8_shr(bytes, 12)}};
  }
  void add(const Right& right, const std::int8_t* a, Sum& sum) const noexcept {
    for (int i = 0; i < 4; ++i) {
      float pair;
      std::memcpy(&pair, a + i * 4, sizeof(pair));
      sum = wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(right.words[i], in_all_lanes<Isa>(pair)));
    }
  }
  static S finish(Sum sum, S correction) noexcept { return sum + correction; }

 private:
  v128_t low_ = held<Isa>(std::bit_cast<float>(0x000f000fu));
};
#else
template <class Isa>
class NibbleDot {
 public:
  using B = Bytes<Isa>;
  using S = Sums<Isa>;
  using W = Words<Isa>;
  using Dot = ByteDot<Isa>;
  using Sum = std::conditional_t<kHasDot<Isa>, S, W>;
  struct Right {
    B low, high;
  };

  static Sum zero() noexcept { return Sum(0); }
  Right right(const std::uint8_t* b) const noexcept {
    const W bytes = W::load_aligned(reinterpret_cast<const std::int16_t*>(b));
    return {bitwise_cast<std::int8_t>(bytes & low_),
            bitwise_cast<std::int8_t>((bytes >> 4) & low_)};
  }
  // The weights are the left factor of ByteDot, which has no negative numbers.
  void add(const Right& right, const std::int8_t* a, Sum& sum) const noexcept {
    const B low = broadcast_group<Isa>(a), high = broadcast_group<Isa>(a + kGroup);
    if constexpr (kHasDot<Isa>)
      sum = Dot::multiply_add(right.high, high, Dot::multiply_add(right.low, low, sum));
    else
      sum += Dot::pairs(right.low, low) + Dot::pairs(right.high, high);
  }
  S finish(Sum sum, S correction) const noexcept {
    if constexpr (kHasDot<Isa>)
      return sum + correction;
    else
      return dot_.add(correction, sum);
  }

 private:
  Dot dot_;
  W low_ = bitwise_cast<std::int16_t>(held<Isa>(std::bit_cast<float>(0x0f0f0f0fu)));
};

#if defined(__wasm__)
template <>
class NibbleDot<WasmPair> {
 public:
  using S = Sums<WasmPair>;
  using Half = NibbleDot<Wasm>;
  struct Sum {
    Half::Sum low, high;
  };
  struct Right {
    Half::Right low, high;
  };

  static Sum zero() noexcept { return {Half::zero(), Half::zero()}; }
  Right right(const std::uint8_t* b) const noexcept {
    return {half_.right(b), half_.right(b + 16)};
  }
  void add(const Right& right, const std::int8_t* a, Sum& sum) const noexcept {
    half_.add(right.low, a, sum.low);
    half_.add(right.high, a, sum.high);
  }
  S finish(Sum sum, S correction) const noexcept {
    return {half_.finish(sum.low, correction.low), half_.finish(sum.high, correction.high)};
  }

 private:
  Half half_;
};
#endif
#endif
}  // namespace heed::simd
