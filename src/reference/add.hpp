#pragma once

// Sum: y = a + b, where b broadcasts to the shape of a like numpy, aligned right.
// Vaswani et al., "Attention Is All You Need", sections 3.1 (residuals) and 3.5 (positions), 2017.
//
//   a [...]    b [...]    -> y in the shape of a

#include <cstdint>

#include "reference/array.hpp"

namespace heed::reference {

/// Where the element `index` of an array of shape `full` lies in an array of shape `small` that
/// broadcasts to it like numpy: axes are aligned right, missing and size 1 axes repeat.
inline std::int64_t broadcast_index(std::int64_t index, const Shape& full, const Shape& small) {
  std::int64_t position = 0;
  std::int64_t stride = 1;
  for (int axis = 1; axis <= small.rank(); ++axis) {
    const std::int64_t coordinate = index % full[-axis];
    index /= full[-axis];
    if (small[-axis] != 1) position += coordinate * stride;
    stride *= small[-axis];
  }
  return position;
}

inline Array add(const Array& a, const Array& b) {
  Array y(a.shape);
  for (std::int64_t i = 0; i < a.shape.elements(); ++i)
    y[i] = a[i] + b[broadcast_index(i, a.shape, b.shape)];
  return y;
}

}  // namespace heed::reference
