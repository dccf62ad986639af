#pragma once

// An activation over a block that was just computed, while it is in the first-level cache.

#include <algorithm>
#include <cstddef>

#include "kernels/layers/table.hpp"
#include "kernels/product/micro_kernel.hpp"
#include "simd/activation.hpp"

namespace heed::kernels {

/// Two rows of the panel at a time; with an odd number of rows the last one is computed twice.
template <class Isa, class Function>
[[gnu::flatten]] void apply(int rows, float* y, std::ptrdiff_t y_stride) noexcept {
  using V = simd::Vector<Isa>;
  constexpr int kVectors = simd::Traits<Isa>::kVectors;
  constexpr int kLanes = static_cast<int>(V::size);
  const Function function{};
  for (int r = 0; r < rows; r += 2) {
    float* const row[2] = {y + r * y_stride, y + std::min(r + 1, rows - 1) * y_stride};
    V block[2 * kVectors];
    for (int i = 0; i < 2 * kVectors; ++i)
      block[i] = V::load_unaligned(row[i / kVectors] + i % kVectors * kLanes);
    function(block);
    for (int i = 0; i < 2 * kVectors; ++i)
      block[i].store_unaligned(row[i / kVectors] + i % kVectors * kLanes);
  }
}

/// Calls visit with the function and the derivative of an activation. For kNone, does not call it.
template <class Isa, class Visit>
[[gnu::always_inline]] inline void with_activation(Activation activation,
                                                   const Visit& visit) noexcept {
  switch (activation) {
    case Activation::kNone:
      return;
    case Activation::kRelu:
      return visit.template operator()<simd::Relu<Isa>, simd::ReluSlope<Isa>>();
    case Activation::kGelu:
      return visit.template operator()<simd::Gelu<Isa>, simd::GeluSlope<Isa>>();
    case Activation::kGeluTanh:
      return visit.template operator()<simd::GeluTanh<Isa>, simd::GeluTanhSlope<Isa>>();
    case Activation::kSilu:
      return visit.template operator()<simd::Silu<Isa>, simd::SiluSlope<Isa>>();
    case Activation::kTanh:
      return visit.template operator()<simd::Tanh<Isa>, simd::TanhSlope<Isa>>();
    case Activation::kSigmoid:
      return visit.template operator()<simd::Sigmoid<Isa>, simd::SigmoidSlope<Isa>>();
  }
}

/// Applies an activation to `rows` rows of a panel of y. Not inlined, because it would be most of
/// the code of each caller.
template <class Isa>
[[gnu::noinline]] void activate(Activation activation, int rows, float* y,
                                std::ptrdiff_t y_stride) noexcept {
  with_activation<Isa>(activation, [&]<class Function, class>() noexcept {
    apply<Isa, Function>(rows, y, y_stride);
  });
}

}  // namespace heed::kernels
