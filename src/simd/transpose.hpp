#pragma once

#include "simd/vector.hpp"

namespace heed::simd {

/// Turns a square of as many vectors as a vector has lanes: entry (i, j) goes to (j, i). Each round
/// deals the two halves of the rows like a pack of cards; after log2(lanes) rounds the bits of row
/// and column have changed places.
template <class Isa>
inline void transpose(Vector<Isa> (&rows)[Vector<Isa>::size]) noexcept {
  constexpr std::size_t kLanes = Vector<Isa>::size;
  for (std::size_t round = 1; round < kLanes; round *= 2) {
    Vector<Isa> dealt[kLanes];
    for (std::size_t i = 0; i < kLanes / 2; ++i) {
      dealt[2 * i] = xsimd::zip_lo(rows[i], rows[i + kLanes / 2]);
      dealt[2 * i + 1] = xsimd::zip_hi(rows[i], rows[i + kLanes / 2]);
    }
    for (std::size_t i = 0; i < kLanes; ++i) rows[i] = dealt[i];
  }
}

}  // namespace heed::simd
