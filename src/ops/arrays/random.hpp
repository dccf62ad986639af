#pragma once

// Random numbers as a function of a seed and an index, so that their order of computation does not
// matter. The function is the finaliser of SplitMix64 (Steele et al., "Fast splittable pseudorandom
// number generators", 2014) of a counter that begins at the hash of the seed.

#include <cstdint>

namespace heed::ops {

constexpr std::uint64_t mixed(std::uint64_t bits) noexcept {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  return bits ^ (bits >> 31);
}

/// In [0, 1): 53 bits of the hash.
constexpr double random_fraction(std::uint64_t seed, std::int64_t index) noexcept {
  constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15u;
  const std::uint64_t start = mixed(seed + kStep);
  return static_cast<double>(mixed(start + static_cast<std::uint64_t>(index) * kStep) >> 11) *
         0x1p-53;
}

}  // namespace heed::ops
