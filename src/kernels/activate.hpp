#pragma once

// An activation over a block that was just computed, while it is in the first-level cache.

#include <cstddef>

#include "kernels/micro_kernel.hpp"
#include "kernels/table.hpp"
#include "simd/activation.hpp"

namespace heed::kernels {

template <class Isa, class Function>
void apply(int rows, float* y, std::ptrdiff_t y_stride) noexcept {
  using V = simd::Vector<Isa>;
  const Function function;
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < kPanel<Isa>; c += static_cast<int>(V::size))
      function(V::load_unaligned(y + r * y_stride + c)).store_unaligned(y + r * y_stride + c);
}

/// To `rows` rows of a panel of y.
template <class Isa>
inline void activate(Activation activation, int rows, float* y, std::ptrdiff_t y_stride) noexcept {
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
  }
}

}  // namespace heed::kernels
