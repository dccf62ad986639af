#pragma once

// float16 to float32, several numbers at a time.

#include <algorithm>
#include <bit>
#include <cstdint>

#include "kernels/arrays/half.hpp"
#include "simd/widen.hpp"

namespace heed::kernels {

/// Whether the conversion in registers gives infinity and NaN.
template <class Isa>
inline constexpr bool kWidensAll = simd::Halves<Isa, false>::kScale == 1.0f;

/// Whether there is neither infinity nor NaN among halves. They are rare, so it is faster to look
/// for them first than to convert each number in a way that keeps them.
template <class Isa>
[[gnu::noinline]] bool halves_are_finite(const std::uint16_t* halves, std::int64_t count) noexcept {
  using Bits = simd::Batch<std::uint16_t, Isa>;
  constexpr std::ptrdiff_t kStep = Bits::size;
  constexpr std::uint16_t kInfinity = 0x7c00;
  constexpr std::uint16_t kWithoutSign = 0x7fff;
  const auto mask =
      simd::bitwise_cast<std::uint16_t>(simd::held<Isa>(std::bit_cast<float>(0x7fff7fffu)));
  Bits most[2] = {Bits(std::uint16_t{0}), Bits(std::uint16_t{0})};
  const std::uint16_t* const end = halves + count;
  const std::uint16_t* const last = halves + count / (2 * kStep) * (2 * kStep);
  for (; halves != last; halves += 2 * kStep)
    for (int i = 0; i < 2; ++i)
      most[i] = simd::max(most[i], Bits::load_unaligned(halves + i * kStep) & mask);
  alignas(64) std::uint16_t lanes[kStep];
  simd::max(most[0], most[1]).store_aligned(lanes);
  std::uint16_t of_all = 0;
  for (const std::uint16_t lane : lanes) of_all = std::max(of_all, lane);
  for (; halves != end; ++halves)
    of_all = std::max(of_all, static_cast<std::uint16_t>(*halves & kWithoutSign));
  return of_all < kInfinity;
}

template <class Isa>
[[gnu::noinline]] void widen(const std::uint16_t* halves, std::int64_t count,
                             float* floats) noexcept {
  using V = simd::Vector<Isa>;
  using Halves = simd::Halves<Isa, false>;
  constexpr int kLanes = static_cast<int>(V::size);
  const Halves load{};
  const V scale = simd::held<Isa>(Halves::kScale);
  std::int64_t i = 0;
  if (kWidensAll<Isa> || halves_are_finite<Isa>(halves, count))
    for (; i + 2 * kLanes <= count; i += 2 * kLanes) {
      V x[2];
      load(halves + i, x);
      for (int v = 0; v < 2; ++v) (x[v] * scale).store_unaligned(floats + i + v * kLanes);
    }
  for (; i < count; ++i) floats[i] = from_float16<Isa>(halves[i]);
}

}  // namespace heed::kernels
