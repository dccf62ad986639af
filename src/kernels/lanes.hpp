#pragma once

// Loops over a row, and sums of it.

#include <algorithm>
#include <cstdint>

#include "simd/vector.hpp"

namespace heed::kernels {

/// A row as vectors and the remaining numbers, for loops that are written once for both.
template <class Isa>
struct Lanes {
  using V = simd::Vector<Isa>;
  static constexpr std::int64_t kSize = V::size;
  static constexpr int kChains = 2;  // independent sums

  template <class T>
  static T load(const float* at) noexcept {
    if constexpr (sizeof(T) == sizeof(float))
      return *at;
    else
      return V::load_unaligned(at);
  }
  static void store(float* at, float x) noexcept { *at = x; }
  static void store(float* at, V x) noexcept { x.store_unaligned(at); }

  struct Sum {
    V vectors[kChains] = {V(0.0f), V(0.0f)};
    float rest = 0.0f;

    void add(int chain, V x) noexcept { vectors[chain] += x; }
    void add(int, float x) noexcept { rest += x; }
    float total() const noexcept { return simd::reduce_add(vectors[0] + vectors[1]) + rest; }
  };

  /// Calls body.template operator()<T>(i, chain), T a vector or a float.
  template <class Body>
  [[gnu::flatten]] static void each(std::int64_t begin, std::int64_t end,
                                    const Body& body) noexcept {
    std::int64_t i = begin;
    for (; i + kChains * kSize <= end; i += kChains * kSize) {
      body.template operator()<V>(i, 0);
      body.template operator()<V>(i + kSize, 1);
    }
    if (i + kSize <= end) {
      body.template operator()<V>(i, 0);
      i += kSize;
    }
    for (; i < end; ++i) body.template operator()<float>(i, 0);
  }
};

/// Rows are summed in float by chunks of this size; the sums of chunks are added in double.
inline constexpr std::int64_t kSumChunk = 2048;

/// Calls part(begin, end) for the chunks of a row.
template <class Part>
inline void for_chunks(std::int64_t size, const Part& part) noexcept {
  for (std::int64_t i = 0; i < size; i += kSumChunk) part(i, std::min(i + kSumChunk, size));
}

}  // namespace heed::kernels
