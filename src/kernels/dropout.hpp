#pragma once

// Which weights are dropped: a hash of (seed, row, key), so that neither tiles nor threads matter
// and a backward pass can drop the same ones again without storing them. The row is mixed by
// SplitMix64 (Steele et al., 2014), each key by the finaliser of MurmurHash3 (Appleby, 2011).

#include "kernels/table.hpp"

namespace heed::kernels {

/// w[j] = 0 or w[j] / (1 - p), for the keys [first + begin, first + end) of a row.
template <class Isa>
void drop(const Dropout& dropout, std::uint64_t row, std::int64_t first, int begin, int end,
          float* w) noexcept {
  std::uint64_t mixed = dropout.seed + (row + 1) * 0x9e3779b97f4a7c15u;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
  mixed ^= mixed >> 31;
  const auto low = static_cast<std::uint32_t>(mixed);
  const auto high = static_cast<std::uint32_t>(mixed >> 32);
  for (int j = begin; j < end; ++j) {
    std::uint32_t h = (static_cast<std::uint32_t>(first + j) * 0x9e3779b9u + low) ^ high;
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    h ^= h >> 16;
    w[j] = h < dropout.keep ? w[j] * dropout.scale : 0.0f;
  }
}

}  // namespace heed::kernels
