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

/// Finds out whether there is neither infinity nor NaN among halves. They are rare, so numbers are
/// converted without them, and a second time if there are any.
template <class Isa>
class FiniteHalves {
 public:
  /// Looks at as many halves as two vectors have numbers.
  void add(const std::uint16_t* halves) noexcept {
    if constexpr (!kWidensAll<Isa>) most_ = simd::max(most_, Bits::load_unaligned(halves) & mask_);
  }
  bool are_all() const noexcept {
    if constexpr (kWidensAll<Isa>) return true;
    constexpr std::uint16_t kInfinity = 0x7c00;
    alignas(64) std::uint16_t lanes[Bits::size];
    most_.store_aligned(lanes);
    return *std::max_element(std::begin(lanes), std::end(lanes)) < kInfinity;
  }

 private:
  using Bits = simd::Batch<std::uint16_t, Isa>;

  Bits most_ = Bits(std::uint16_t{0});
  Bits mask_ =
      simd::bitwise_cast<std::uint16_t>(simd::held<Isa>(std::bit_cast<float>(0x7fff7fffu)));
};

template <class Isa>
[[gnu::noinline]] void widen(const std::uint16_t* halves, std::int64_t count,
                             float* floats) noexcept {
  using V = simd::Vector<Isa>;
  using Halves = simd::Halves<Isa, false>;
  constexpr int kLanes = static_cast<int>(V::size);
  const Halves load{};
  const V scale = simd::held<Isa>(Halves::kScale);
  FiniteHalves<Isa> finite;
  std::int64_t i = 0;
  for (; i + 2 * kLanes <= count; i += 2 * kLanes) {
    V x[2];
    load(halves + i, x);
    finite.add(halves + i);
    for (int v = 0; v < 2; ++v) (x[v] * scale).store_unaligned(floats + i + v * kLanes);
  }
  if (!finite.are_all()) i = 0;
  for (; i < count; ++i) floats[i] = from_float16<Isa>(halves[i]);
}

}  // namespace heed::kernels
