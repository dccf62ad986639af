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

/// Applies an activation to `rows` rows of a panel of y. Not inlined, because it would be most of
/// the code of each caller.
template <class Isa>
[[gnu::noinline]] void activate(Activation activation, int rows, float* y,
                                std::ptrdiff_t y_stride) noexcept {
  switch (activation) {
    case Activation::kNone:
      return;
    case Activation::kRelu:
      return apply<Isa, simd::Relu<Isa>>(rows, y, y_stride);
    case Activation::kGelu:
      return apply<Isa, simd::Gelu<Isa>>(rows, y, y_stride);
    case Activation::kGeluTanh:
      return apply<Isa, simd::GeluTanh<Isa>>(rows, y, y_stride);
    case Activation::kSilu:
      return apply<Isa, simd::Silu<Isa>>(rows, y, y_stride);
    case Activation::kTanh:
      return apply<Isa, simd::Tanh<Isa>>(rows, y, y_stride);
    case Activation::kSigmoid:
      return apply<Isa, simd::Sigmoid<Isa>>(rows, y, y_stride);
  }
}

}  // namespace heed::kernels
