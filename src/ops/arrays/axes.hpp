#pragma once

// An axis of an array, and the sizes of the other axes.

#include <cstdint>
#include <string>

#include "heed/tensor.hpp"
#include "ops/validate.hpp"

namespace heed::ops {

/// The axis, counted from the front. Throws OptionError.
inline int checked_axis(std::int64_t axis, int rank) {
  if (axis < -rank || axis >= rank)
    ops::refuse<OptionError>(
        "axis", "a number from " + std::to_string(-rank) + " to below " + std::to_string(rank),
        axis);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

/// The number of elements over the axes before an axis, or after it. No size of the counted axes
/// may be 0.
inline std::int64_t elements_before(const Shape& shape, int axis) {
  std::int64_t elements = 1;
  for (int i = 0; i < axis; ++i) elements *= shape[i];
  return elements;
}
inline std::int64_t elements_after(const Shape& shape, int axis) {
  std::int64_t elements = 1;
  for (int i = axis + 1; i < shape.rank(); ++i) elements *= shape[i];
  return elements;
}

}  // namespace heed::ops
