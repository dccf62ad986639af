#pragma once

// Products of bytes, four to a 32-bit lane: exact integers, the same on every instruction set.
//
// How to use it. A product x W^T of bytes takes its depth in groups of four. From the left factor,
// the group of one row, four neighbouring bytes, goes into all lanes (`broadcast_group`). From the
// right factor, a vector has the groups of as many columns as it has lanes, column after column
// (`store_group`), so that kPanel columns x 4 bytes are adjacent. `ByteDot` adds the products of
// each lane to a sum, of `kGroups` groups at a time.
//
//   const ByteDot<Isa> dot;                // before the loop: it holds a constant
//   const auto right = dot.right(b, step); // -64..64, `step` bytes from group to group
//   const auto left = dot.left(a);         // 0..127
//   sum = dot(left, right, sum);
//
// Signed left numbers are stored with an offset added, and the offset times the sum of the right
// column is subtracted from the result. With 2^31 / (127 * 64) products, 264,000, a lane cannot
// overflow.
//
// The reason is the multiplication of bytes that all x86 machines have. It multiplies unsigned by
// signed bytes and adds two products in 16 bits, 2 * 127 * 128 < 2^15. WebAssembly's relaxed
// instruction does the same, with the same result on every machine only if left is below 128. A
// second instruction adds the pairs in 32 bits. With right numbers of 7 bits two such vectors fit
// 16 bits, 4 * 127 * 64 < 2^15, and share the second instruction.
//
// A set with dot products of bytes (`kHasDot`) does all of this in one instruction without 16-bit
// sums; it gets the same numbers, so that its results are the same. WebAssembly's relaxed dot
// product with an accumulator is one machine instruction with VNNI. Without VNNI, V8 needs five,
// one of which rematerialises a constant. So the relaxed binary has both forms (simd/isa.hpp).

#include <bit>
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
using Bytes = Batch<std::int8_t, Isa>;

/// Bytes whose products share a lane.
inline constexpr int kGroup = 4;

/// The same four bytes in all lanes.
template <class Isa>
inline Bytes<Isa> broadcast_group(const void* bytes) noexcept {
  std::int32_t group;
  std::memcpy(&group, bytes, sizeof(group));
  return bitwise_cast<std::int8_t>(Sums<Isa>(group));
}

/// Plain WebAssembly splits the group of a column in a panel: bytes 0 and 2 are in the first half
/// of the column's vector, 1 and 3 in the other. The reason: only the widening of a half while
/// loading it is one instruction.
inline constexpr bool kSplitsGroups = kIsPlainWasm;

/// The index of the group of column c among the groups of a panel.
constexpr std::int64_t group_offset(std::int64_t c) noexcept {
  return kSplitsGroups ? c / 4 * 16 + c % 4 * 2 : c * kGroup;
}

inline void store_group(const std::int8_t* bytes, std::int8_t* to) noexcept {
  if constexpr (kSplitsGroups) {
    const std::int8_t split[] = {bytes[0], bytes[2], bytes[1], bytes[3]};
    std::memcpy(to, split, 2);
    std::memcpy(to + 8, split + 2, 2);
  } else {
    std::memcpy(to, bytes, kGroup);
  }
}

#if defined(__wasm__) && !defined(__wasm_relaxed_simd__)
/// Bytes are widened to 16 bits, even and odd ones separately, so that the products of a lane stay
/// in that lane. One group at a time: two would need more registers than x86 has.
template <class Isa>
class ByteDot {
 public:
  using S = Sums<Isa>;
  static constexpr int kGroups = 1;
  struct Operand {
    v128_t even, odd;
  };

  Operand left(const std::int8_t* a) const noexcept {
    float group;
    std::memcpy(&group, a, sizeof(group));
    const v128_t bytes = in_all_lanes<Isa>(group);
    return {wasm_v128_and(bytes, low_), wasm_u16x8_shr(bytes, 8)};
  }
  Operand right(const std::int8_t* b, std::ptrdiff_t) const noexcept {
    return {wasm_i16x8_load8x8(b), wasm_i16x8_load8x8(b + 8)};
  }
  S operator()(Operand left, Operand right, S sum) const noexcept {
    return wasm_i32x4_add(wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(left.even, right.even)),
                          wasm_i32x4_dot_i16x8(left.odd, right.odd));
  }

 private:
  v128_t low_ = held<Isa>(std::bit_cast<float>(0x00ff00ffu));
};
#else
/// The operands of two groups.
template <class Isa>
struct TwoGroups {
  using B = Bytes<Isa>;
  static constexpr int kGroups = 2;
  struct Operand {
    B first, second;
  };

  static Operand left(const std::int8_t* a) noexcept {
    return {broadcast_group<Isa>(a), broadcast_group<Isa>(a + kGroup)};
  }
  static Operand right(const std::int8_t* b, std::ptrdiff_t step) noexcept {
    return {B::load_aligned(b), B::load_aligned(b + step)};
  }
};

/// The operands of one group, whose dot products are one instruction.
template <class Isa>
struct OneGroup {
  using B = Bytes<Isa>;
  static constexpr int kGroups = 1;
  using Operand = B;

  static Operand left(const std::int8_t* a) noexcept { return broadcast_group<Isa>(a); }
  static Operand right(const std::int8_t* b, std::ptrdiff_t) noexcept { return B::load_aligned(b); }
};

template <class Isa>
using Groups = std::conditional_t<kHasDot<Isa>, OneGroup<Isa>, TwoGroups<Isa>>;

template <class Isa>
class ByteDot : public Groups<Isa> {
 public:
  using B = Bytes<Isa>;
  using S = Sums<Isa>;
  using W = Words<Isa>;
  using Operand = typename Groups<Isa>::Operand;

  S operator()(Operand left, Operand right, S sum) const noexcept {
    if constexpr (kHasDot<Isa>)
      return multiply_add(left, right, sum);
    else
      return add(sum, pairs(left.first, right.first) + pairs(left.second, right.second));
  }

#if defined(__wasm__)
  static S multiply_add(B left, B right, S sum) noexcept {
    return wasm_i32x4_relaxed_dot_i8x16_i7x16_add(right, left, sum);
  }
  /// The sums of two neighbouring products.
  static W pairs(B left, B right) noexcept {
    return wasm_i16x8_relaxed_dot_i8x16_i7x16(right, left);
  }
  /// sum + the two words of each lane
  S add(S sum, W pairs) const noexcept {
    return wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(pairs, ones_));
  }

 private:
  v128_t ones_ = held<Isa>(std::bit_cast<float>(0x00010001u));

#elif defined(__x86_64__) || defined(_M_X64)
  static S multiply_add(B left, B right, S sum) noexcept {
    if constexpr (B::size == 64)
      return S(_mm512_dpbusd_epi32(sum, left, right));
    else
      return S(_mm256_dpbusd_avx_epi32(sum, left, right));
  }
  static W pairs(B left, B right) noexcept {
    if constexpr (B::size == 64)
      return W(_mm512_maddubs_epi16(left, right));
    else if constexpr (B::size == 32)
      return W(_mm256_maddubs_epi16(left, right));
    else
      return W(_mm_maddubs_epi16(left, right));
  }
  static S add(S sum, W pairs) noexcept {
    const W ones(std::int16_t{1});
    if constexpr (B::size == 64)
      return sum + S(_mm512_madd_epi16(pairs, ones));
    else if constexpr (B::size == 32)
      return sum + S(_mm256_madd_epi16(pairs, ones));
    else
      return sum + S(_mm_madd_epi16(pairs, ones));
  }

#elif defined(__aarch64__)
  static S multiply_add(B left, B right, S sum) noexcept { return S(vdotq_s32(sum, left, right)); }
  static W pairs(B left, B right) noexcept {
    return W(
        vpaddq_s16(vmull_s8(vget_low_s8(left), vget_low_s8(right)), vmull_high_s8(left, right)));
  }
  static S add(S sum, W pairs) noexcept { return S(vpadalq_s16(sum, pairs)); }
#endif
};

#if defined(__wasm__)
template <>
class ByteDot<WasmPair> : public TwoGroups<WasmPair> {
 public:
  using S = Sums<WasmPair>;

  S operator()(Operand left, Operand right, S sum) const noexcept {
    return {half_({left.first.low, left.second.low}, {right.first.low, right.second.low}, sum.low),
            half_({left.first.high, left.second.high}, {right.first.high, right.second.high},
                  sum.high)};
  }

 private:
  ByteDot<Wasm> half_;
};
#endif
#endif
}  // namespace heed::simd
