#pragma once

#include <concepts>

#include "simd/vector.hpp"

namespace heed::simd {

/// Transposes a square of as many vectors as a vector has lanes. Each round interleaves the two
/// halves of the rows; after log2(lanes) rounds the bits of the row index and the column index have
/// been exchanged.
template <class Isa>
inline void transpose(Vector<Isa> (&rows)[Vector<Isa>::size]) noexcept {
  constexpr std::size_t kLanes = Vector<Isa>::size;
  for (std::size_t round = 1; round < kLanes; round *= 2) {
    Vector<Isa> interleaved[kLanes];
    for (std::size_t i = 0; i < kLanes / 2; ++i) {
      interleaved[2 * i] = zip_lo(rows[i], rows[i + kLanes / 2]);
      interleaved[2 * i + 1] = zip_hi(rows[i], rows[i + kLanes / 2]);
    }
    for (std::size_t i = 0; i < kLanes; ++i) rows[i] = interleaved[i];
  }
}

#if defined(__AVX512F__)
/// AVX-512 interleaves within quarters of a vector; across quarters xsimd needs seven instructions,
/// which took half the time of packing. This transposes four by four within the quarters, and then
/// the quarters.
template <class Isa>
  requires std::derived_from<Isa, Avx512>
inline void transpose(Vector<Isa> (&rows)[Vector<Isa>::size]) noexcept {
  __m512 quarters[16];
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {
    const __m512d a = _mm512_castps_pd(_mm512_unpacklo_ps(rows[i], rows[i + 1]));
    const __m512d b = _mm512_castps_pd(_mm512_unpackhi_ps(rows[i], rows[i + 1]));
    const __m512d c = _mm512_castps_pd(_mm512_unpacklo_ps(rows[i + 2], rows[i + 3]));
    const __m512d d = _mm512_castps_pd(_mm512_unpackhi_ps(rows[i + 2], rows[i + 3]));
    quarters[i] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, c));
    quarters[i + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, c));
    quarters[i + 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(b, d));
    quarters[i + 3] = _mm512_castpd_ps(_mm512_unpackhi_pd(b, d));
  }
  constexpr int kEven = 0b10001000;  // quarters 0 and 2 of both
  constexpr int kOdd = 0b11011101;
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const __m512 a = _mm512_shuffle_f32x4(quarters[i], quarters[i + 4], kEven);
    const __m512 b = _mm512_shuffle_f32x4(quarters[i], quarters[i + 4], kOdd);
    const __m512 c = _mm512_shuffle_f32x4(quarters[i + 8], quarters[i + 12], kEven);
    const __m512 d = _mm512_shuffle_f32x4(quarters[i + 8], quarters[i + 12], kOdd);
    rows[i] = _mm512_shuffle_f32x4(a, c, kEven);
    rows[i + 4] = _mm512_shuffle_f32x4(b, d, kEven);
    rows[i + 8] = _mm512_shuffle_f32x4(a, c, kOdd);
    rows[i + 12] = _mm512_shuffle_f32x4(b, d, kOdd);
  }
}
#endif

}  // namespace heed::simd
