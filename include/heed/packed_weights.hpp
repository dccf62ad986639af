#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "heed/context.hpp"
#include "heed/tensor.hpp"

namespace heed {

/// The weights of a linear layer in the layout that its kernel reads, for layers that are used many
/// times. The numbers are copied, so the original array need not be kept.
class PackedWeights {
 public:
  /// kInt8 stores integers from -64 to 64 and a scale for each output. It has at most 2^18 inputs.
  /// kInt4 stores integers from -8 to 7 and a float16 scale for each 32 inputs of an output (Q4_0
  /// of llama.cpp). Its weights must be finite, with magnitudes below 524,160.
  enum class Format { kFloat32, kInt8, kInt4 };

  /// weight [out, in]. Throws ShapeError, DTypeError, OptionError, MemoryError.
  PackedWeights(Context& context, const TensorView& weight, Format format = Format::kFloat32);
  ~PackedWeights();
  PackedWeights(PackedWeights&&) noexcept;
  PackedWeights& operator=(PackedWeights&&) noexcept;

  /// [out, in]
  const Shape& shape() const noexcept;
  Format format() const noexcept;
  std::size_t bytes() const noexcept;

  /// Internal: for the operations of this library.
  struct Panels;
  const Panels& panels() const noexcept { return *panels_; }

 private:
  std::unique_ptr<Panels> panels_;
};

}  // namespace heed
