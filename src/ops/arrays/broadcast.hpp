#pragma once

// Broadcasting of a small array to a large one: numpy's rule, axes aligned right.

#include <algorithm>
#include <string>

#include "heed/tensor.hpp"
#include "kernels/table.hpp"
#include "ops/validate.hpp"

namespace heed::ops {

/// Throws ShapeError unless `small` broadcasts to `full`.
inline void require_broadcast(const char* argument, const Shape& small, const Shape& full) {
  for (int axis = -1; axis >= -small.rank(); --axis)
    if (-axis > full.rank() || (small[axis] != 1 && small[axis] != full[axis]))
      ops::refuse<ShapeError>(argument, {"a shape that broadcasts to ", full}, small);
}

/// The axes of the large array, except axes of size 1. Adjacent axes are merged if the small array
/// repeats along all of them, or along none.
inline kernels::BroadcastAxes broadcast_axes(const Shape& small, const Shape& full) {
  static_assert(kernels::kMaxAxes == Shape::kMaxRank);
  kernels::BroadcastAxes result;
  std::int64_t stride = 1;
  for (int axis = -1; axis >= -full.rank(); --axis) {
    const bool repeats = -axis > small.rank() || small[axis] == 1;
    const kernels::BroadcastAxes::Axis next{full[axis], repeats ? 0 : stride};
    if (!repeats) stride *= small[axis];
    if (next.size == 1) continue;
    auto* const last = result.rank > 0 ? &result.axes[result.rank - 1] : nullptr;
    if (last && (last->stride == 0) == repeats)
      last->size *= next.size;
    else
      result.axes[result.rank++] = next;
  }
  std::reverse(result.axes, result.axes + result.rank);
  return result;
}

}  // namespace heed::ops
