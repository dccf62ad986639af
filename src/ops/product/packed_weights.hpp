#pragma once

#include "heed/packed_weights.hpp"
#include "kernels/table.hpp"
#include "runtime/memory.hpp"

namespace heed {

/// The contents of packed weights: panels of columns (kernels/product/pack.hpp,
/// kernels/product/byte_linear.hpp, kernels/product/nibble_linear.hpp).
struct PackedWeights::Panels {
  Shape shape;
  Format format;
  /// The instruction set whose layout this is.
  std::string_view isa;
  std::size_t bytes;
  Memory memory;
  float* floats = nullptr;
  // With int8:
  std::int8_t* integers = nullptr;
  float* scales = nullptr;
  float* sums = nullptr;
  // With int4:
  std::uint8_t* nibbles = nullptr;
};

}  // namespace heed
