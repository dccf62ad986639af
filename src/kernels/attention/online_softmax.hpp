#pragma once

// softmax(s) V for a row of scores that are given part by part.
//
// The state after some of the keys is (m, l, o): the largest score, the sum of exp(s - m), and the
// sum of exp(s - m) v. The division by l follows at the end. New scores s update the state:
//     m' = max(m, max s),  a = exp(m - m'),  p = exp(s - m').
//     Then l' = a l + sum p,  o' = a o + p V.
// After the last key, o / l is the result (Milakov and Gimelshein, "Online normalizer calculation
// for softmax", 2018; Dao et al., "FlashAttention", 2022; the division at the end: Dao,
// "FlashAttention-2", 2023). States of disjoint parts of the keys merge into l = sum a_i l_i and
// o = sum a_i o_i, where m is the largest m_i and a_i = exp(m_i - m).
//
// A sink is a key without a value: the state begins as (sink, 1, 0) instead of (-inf, 0, 0).
// Sources: Xiao et al., "Efficient Streaming Language Models with Attention Sinks", 2023; with a
// learned logit: gpt-oss, 2025.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/product/micro_kernel.hpp"

namespace heed::kernels {

inline constexpr float kLog2E = 1.44269504088896341f;

/// The score of a key that is hidden.
inline constexpr float kHidden = -std::numeric_limits<float>::infinity();

/// The largest of a number and the scores in [begin, end).
template <class Isa>
inline float row_maximum(const float* s, int begin, int end, float start) noexcept {
  using V = simd::Vector<Isa>;
  constexpr int kLanes = static_cast<int>(V::size);
  constexpr int kVectors = simd::Traits<Isa>::kVectors;
  V highest[kVectors];
  std::fill_n(highest, kVectors, V(start));
  for (int j = begin; j < end; j += kPanel<Isa>)
    for (int v = 0; v < kVectors; ++v)
      highest[v] = simd::max(highest[v], V::load_aligned(s + j + v * kLanes));
  for (int v = 1; v < kVectors; ++v) highest[0] = simd::max(highest[0], highest[v]);
  return simd::reduce_max(highest[0]);
}

/// s = exp(s - shift) for the scores in [begin, end); returns their sum.
template <class Isa>
inline float exponentials(const simd::Exp2<Isa>& exp2, float* s, int begin, int end,
                          float shift) noexcept {
  using V = simd::Vector<Isa>;
  constexpr int kLanes = static_cast<int>(V::size);
  const V shifts(shift);
  const V log2_e = simd::held<Isa>(kLog2E);
  V sum(0.0f);
  for (int j = begin; j < end; j += kLanes) {
    const V p = exp2((V::load_aligned(s + j) - shifts) * log2_e);
    p.store_aligned(s + j);
    sum += p;
  }
  return simd::reduce_add(sum);
}

/// The state of one row, in memory that the caller owns.
template <class Isa>
struct OnlineSoftmax {
  using V = simd::Vector<Isa>;
  static constexpr std::int64_t kLanes = V::size;

  float& m;
  float& l;
  float* o;           // [size]
  std::int64_t size;  // a multiple of kLanes for `update`

  /// A state to merge.
  struct Part {
    float m;
    float l;
    const float* o;
  };

  /// Sets m and l to the state before the first key. The caller sets o to zero for all rows in one
  /// call, because in WebAssembly filling memory is a call.
  void init(float sink = kHidden) const noexcept {
    m = sink;
    l = sink == kHidden ? 0.0f : 1.0f;
  }

  /// Updates m and l with the scores [begin, end), whole panels, rescales o, and replaces the
  /// scores by p. The caller adds p V to o.
  void update(const simd::Exp2<Isa>& exp2, float* s, int begin, int end) const noexcept {
    const float largest = row_maximum<Isa>(s, begin, end, m);
    const float shift = shift_for(largest);
    const float sum = exponentials<Isa>(exp2, s, begin, end, shift);
    if (m != largest) {
      // Before the first visible key, l and o are zero.
      if (m != kHidden) {
        const float decay = exp2(V((m - shift) * kLog2E)).get(0);
        l *= decay;
        scale(decay);
      }
      m = largest;
    }
    l += sum;
  }

  /// Sets the state to the merger of part(0), ..., part(count - 1) and a sink; o may alias the o of
  /// part(0).
  template <class PartAt>
  void merge(float sink, std::int64_t count, const PartAt& part) const noexcept {
    const simd::Exp2<Isa> exp2;
    const auto exponential = [&](float x) { return exp2.natural(V(x)).get(0); };
    m = sink;
    for (std::int64_t n = 0; n < count; ++n) m = std::max(m, part(n).m);
    const float shift = shift_for(m);
    l = sink == kHidden ? 0.0f : exponential(sink - shift);
    for (std::int64_t n = 0; n < count; ++n) {
      const Part from = part(n);
      const float weight = exponential(from.m - shift);
      const float sum = weight * from.l;
      // The o of a part without keys, or with a weight of 0, is not read. NaN scores may leave m at
      // -inf, but then l is NaN.
      if (sum == 0.0f) {
        if (n == 0) std::fill_n(o, size, 0.0f);
        continue;
      }
      l += sum;
      std::int64_t c = 0;
      for (; c + kLanes <= size; c += kLanes) {
        const V before = n == 0 ? V(0.0f) : V::load_unaligned(o + c);
        simd::madd<Isa>(V::load_unaligned(from.o + c), V(weight), before).store_unaligned(o + c);
      }
      for (; c < size; ++c) o[c] = from.o[c] * weight + (n == 0 ? 0.0f : o[c]);
    }
  }

  /// out = o / l for `count` numbers.
  void normalise(std::int64_t count, float* out) const noexcept {
    const float inverse = 1.0f / l;
    std::int64_t c = 0;
    for (; c + kLanes <= count; c += kLanes)
      (V::load_unaligned(o + c) * V(inverse)).store_unaligned(out + c);
    for (; c < count; ++c) out[c] = o[c] * inverse;
  }

  /// The natural logarithm of the sum of exp(s); -inf if there is neither a key nor a sink.
  float lse() const noexcept { return l == 0.0f ? kHidden : m + std::log(l); }

 private:
  /// The number to subtract from the scores: 0 before the first visible key, because -inf - -inf is
  /// NaN.
  static float shift_for(float largest) noexcept { return largest == kHidden ? 0.0f : largest; }

  void scale(float factor) const noexcept {
    for (std::int64_t c = 0; c < size; c += kLanes)
      (V::load_unaligned(o + c) * V(factor)).store_unaligned(o + c);
  }
};

}  // namespace heed::kernels
