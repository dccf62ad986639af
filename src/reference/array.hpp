#pragma once

// The arrays of the references: row-major, of doubles.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heed/tensor.hpp"

namespace heed::reference {

struct Array {
  Array() : shape{0} {}
  explicit Array(const Shape& size)
      : shape(size), values(static_cast<std::size_t>(size.elements())) {}
  /// The same numbers as a float32 tensor.
  Array(const TensorView& tensor) : Array(tensor.shape()) {
    // By pointers, because sanitizers check each call that a vector or a span makes.
    const float* from = tensor.data<float>().data();
    double* to = values.data();
    for (std::size_t i = 0; i < values.size(); ++i) to[i] = from[i];
  }
  Array(const Tensor& tensor) : Array(TensorView(tensor)) {}

  double& operator[](std::int64_t index) { return values[static_cast<std::size_t>(index)]; }
  double operator[](std::int64_t index) const { return values[static_cast<std::size_t>(index)]; }
  /// For inner loops: sanitizers check each call, but only the accesses of a pointer.
  double* from(std::int64_t index) { return values.data() + index; }
  const double* from(std::int64_t index) const { return values.data() + index; }

  Shape shape;
  std::vector<double> values;
};

}  // namespace heed::reference
