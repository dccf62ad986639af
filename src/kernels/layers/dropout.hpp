#pragma once

// A hash of (seed, row, key) decides which weights are dropped. So neither tiles nor threads
// matter, and a backward pass can drop the same weights again without storing them. The row is
// mixed by SplitMix64 (Steele et al., 2014), each key by the finaliser of MurmurHash3 (Appleby,
// 2011).

#include <algorithm>
#include <cstdint>

#include "kernels/layers/table.hpp"
#include "simd/vector.hpp"

namespace heed::kernels {

/// The hash of a key, T a number or a vector of them.
template <class T>
inline T hash_key(T key, std::uint32_t low, std::uint32_t high) noexcept {
  T h = (key * T(0x9e3779b9u) + T(low)) ^ T(high);
  h = (h ^ (h >> 16)) * T(0x85ebca6bu);
  h = (h ^ (h >> 13)) * T(0xc2b2ae35u);
  return h ^ (h >> 16);
}

/// w[j] = 0 or w[j] / (1 - p), for the keys [first + begin, first + end) of a row.
template <class Isa>
void drop(const Dropout& dropout, std::uint64_t row, std::int64_t first, int begin, int end,
          float* w) noexcept {
  using V = simd::Vector<Isa>;
  using Bits = simd::Batch<std::uint32_t, Isa>;
  constexpr int kLanes = static_cast<int>(V::size);
  if (dropout.keep == 0) return std::fill(w + begin, w + end, 0.0f);
  std::uint64_t mixed = dropout.seed + (row + 1) * 0x9e3779b97f4a7c15u;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
  mixed ^= mixed >> 31;
  const auto low = static_cast<std::uint32_t>(mixed);
  const auto high = static_cast<std::uint32_t>(mixed >> 32);
  const auto last_kept = static_cast<std::uint32_t>(dropout.keep - 1);
  int j = begin;
  alignas(64) std::uint32_t ramp[kLanes];
  for (int i = 0; i < kLanes; ++i) ramp[i] = static_cast<std::uint32_t>(first + begin + i);
  Bits keys = Bits::load_aligned(ramp);
  const V scale(dropout.scale);
  for (; j + kLanes <= end; j += kLanes, keys += Bits(kLanes)) {
    const auto is_kept = hash_key(keys, low, high) <= Bits(last_kept);
    const V kept = V::load_unaligned(w + j) * scale;
    simd::select(simd::batch_bool_cast<float>(is_kept), kept, V(0.0f)).store_unaligned(w + j);
  }
  for (; j < end; ++j) {
    const bool is_kept = hash_key(static_cast<std::uint32_t>(first + j), low, high) <= last_kept;
    w[j] = is_kept ? w[j] * dropout.scale : 0.0f;
  }
}

}  // namespace heed::kernels
