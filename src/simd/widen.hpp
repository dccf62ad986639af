#pragma once

// Numbers of 16 and 8 bits as operands of a product: float16 to float, and bytes to words whose
// products add up in 32 bits.

#include <bit>
#include <cstdint>
#include <cstring>

#include "simd/vector.hpp"

namespace heed::simd {

/// Reads two vectors of float16; the results times kScale are the numbers.
///
/// Without an instruction for it, the bits of a half are shifted to their position in a float. The
/// exponent of the float is then too small by 112. Callers multiply the other factor by the scale.
/// Infinity and NaN become finite, unless Exact.
template <class Isa, bool Exact>
class Halves {
 public:
  using V = Vector<Isa>;

#if defined(__AVX512F__) || defined(__F16C__) || defined(__aarch64__)
  static constexpr float kScale = 1.0f;

  void operator()(const std::uint16_t* at, V (&out)[2]) const noexcept {
    out[0] = load(at);
    out[1] = load(at + V::size);
  }

 private:
  static V load(const std::uint16_t* at) noexcept {
#if defined(__AVX512F__)
    return V(_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at))));
#elif defined(__F16C__)
    return V(_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at))));
#else
    return V(vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(at))));
#endif
  }
#else
  static constexpr float kScale = 0x1p112f;

  void operator()(const std::uint16_t* at, V (&out)[2]) const noexcept {
    const auto half = Words<Isa>::load_unaligned(reinterpret_cast<const std::int16_t*>(at));
    // The shift copies the sign into the three bits that the mask clears.
    const Words<Isa> high = (half >> 3) & mask_;
    const Words<Isa> low = half << 13;
    out[0] = widened(zip_lo(low, high));
    out[1] = widened(zip_hi(low, high));
  }

 private:
  static V widened(Words<Isa> words) noexcept {
    if constexpr (Exact) {
      using Bits = Batch<std::uint32_t, Isa>;
      const Bits bits = bitwise_cast<std::uint32_t>(words);
      const Bits special = bits | Bits(0x7f800000u);
      return bitwise_cast<float>(
          select((bits & Bits(0x7fffffffu)) >= Bits(0x0f800000u), special, bits));
    } else {
      return bitwise_cast<float>(words);
    }
  }

  Words<Isa> mask_ = bitwise_cast<std::int16_t>(held<Isa>(std::bit_cast<float>(0x8fff8fffu)));
#endif
};

#if defined(__wasm__)
/// Widens halves to 32 bits first, which V8 does for a pair in one instruction, unlike
/// interleaving.
template <bool Exact>
class Halves<WasmPair, Exact> {
 public:
  using V = Vector<WasmPair>;
  static constexpr float kScale = 0x1p112f;

  void operator()(const std::uint16_t* at, V (&out)[2]) const noexcept {
    for (int i = 0; i < 2; ++i) {
      const v128_t half = wasm_v128_load(at + i * V::size);
      // The extended sign fills the three bits that the mask clears.
      const Bits bits =
          (Bits(wasm_i32x4_extend_low_i16x8(half), wasm_i32x4_extend_high_i16x8(half)) << 13) &
          mask_;
      if constexpr (Exact) {
        const auto is_special = (bits & Bits(0x7fffffffu)) >= Bits(0x0f800000u);
        out[i] = bitwise_cast<float>(select(is_special, bits | Bits(0x7f800000u), bits));
      } else {
        out[i] = bitwise_cast<float>(bits);
      }
    }
  }

 private:
  using Bits = Batch<std::uint32_t, WasmPair>;

  Bits mask_ = bitwise_cast<std::uint32_t>(held<WasmPair>(std::bit_cast<float>(0x8fffe000u)));
};
#endif

/// As many bytes, aligned to their size, as a vector has words.
template <class Isa>
inline Words<Isa> load_words(const std::int8_t* at) noexcept {
#if defined(__wasm__)
  return Words<Isa>(wasm_i16x8_load8x8(at));
#elif defined(__AVX512F__)
  return Words<Isa>(_mm512_cvtepi8_epi16(_mm256_load_si256(reinterpret_cast<const __m256i*>(at))));
#elif defined(__AVX2__)
  return Words<Isa>(_mm256_cvtepi8_epi16(_mm_load_si128(reinterpret_cast<const __m128i*>(at))));
#elif defined(__SSE4_2__)
  return Words<Isa>(_mm_cvtepi8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(at))));
#else
  return Words<Isa>(vmovl_s8(vld1_s8(at)));
#endif
}

#if defined(__wasm__)
template <>
inline Words<WasmPair> load_words<WasmPair>(const std::int8_t* at) noexcept {
  return {load_words<Wasm>(at), load_words<Wasm>(at + Words<Wasm>::size)};
}
#endif

/// The same two words in all lanes.
template <class Isa>
inline Words<Isa> broadcast_pair(const std::int16_t* words) noexcept {
  std::int32_t pair;
  std::memcpy(&pair, words, sizeof(pair));
  return bitwise_cast<std::int16_t>(Sums<Isa>(pair));
}

/// sum + the products of each lane's two words, exact if they fit 32 bits.
template <class Isa>
inline Sums<Isa> add_products(Words<Isa> a, Words<Isa> b, Sums<Isa> sum) noexcept {
#if defined(__wasm__)
  return sum + Sums<Isa>(wasm_i32x4_dot_i16x8(a, b));
#elif defined(__AVX512F__)
  return sum + Sums<Isa>(_mm512_madd_epi16(a, b));
#elif defined(__AVX2__)
  return sum + Sums<Isa>(_mm256_madd_epi16(a, b));
#elif defined(__SSE4_2__)
  return sum + Sums<Isa>(_mm_madd_epi16(a, b));
#else
  return sum +
         Sums<Isa>(vpaddq_s32(vmull_s16(vget_low_s16(a), vget_low_s16(b)), vmull_high_s16(a, b)));
#endif
}

#if defined(__wasm__)
template <>
inline Sums<WasmPair> add_products<WasmPair>(Words<WasmPair> a, Words<WasmPair> b,
                                             Sums<WasmPair> sum) noexcept {
  return {add_products<Wasm>(a.low, b.low, sum.low), add_products<Wasm>(a.high, b.high, sum.high)};
}
#endif

}  // namespace heed::simd
