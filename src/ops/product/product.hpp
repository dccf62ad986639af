#pragma once

// Products of matrices, for all operations.

#include <cstdint>

#include "heed/layers.hpp"
#include "ops/product/packed_weights.hpp"
#include "runtime/runtime.hpp"

namespace heed::ops {

inline kernels::Activation for_kernel(Activation activation) {
  constexpr auto is_same = [](Activation a, kernels::Activation b) {
    return static_cast<int>(a) == static_cast<int>(b);
  };
  static_assert(is_same(Activation::kNone, kernels::Activation::kNone) &&
                is_same(Activation::kRelu, kernels::Activation::kRelu) &&
                is_same(Activation::kGelu, kernels::Activation::kGelu) &&
                is_same(Activation::kGeluTanh, kernels::Activation::kGeluTanh) &&
                is_same(Activation::kSilu, kernels::Activation::kSilu) &&
                is_same(Activation::kTanh, kernels::Activation::kTanh) &&
                is_same(Activation::kSigmoid, kernels::Activation::kSigmoid));
  return static_cast<kernels::Activation>(activation);
}

/// C = activation(A B + bias), for `count` products with adjacent matrices; bias and activation
/// only for A B^T and packed weights.
struct Product {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t depth = 0;
  std::int64_t count = 1;
  const float* a = nullptr;  ///< [rows, depth], or [depth, rows]
  bool transpose_a = false;
  const float* b = nullptr;  ///< [depth, columns], or [columns, depth]
  bool transpose_b = false;
  /// [columns, depth] in float16 instead of b, with transpose_b; then there is one product.
  const std::uint16_t* halves = nullptr;
  /// Whether b is the right factor of all products.
  bool one_right = false;
  /// The right factor instead of b. The left factor is then not transposed, and there is one
  /// product.
  const PackedWeights::Panels* packed = nullptr;
  const float* bias = nullptr;  ///< [columns] or null
  Activation activation = Activation::kNone;
  float* c = nullptr;  ///< [rows, columns]
};

/// Takes scratch memory from the arena. Throws MemoryError.
void multiply(Context::Runtime& runtime, const Product& product);

}  // namespace heed::ops
