#pragma once

// How a small array repeats in a large one: numpy's rule, axes aligned right.

#include <array>
#include <string>
#include <string_view>

#include "heed/tensor.hpp"

namespace heed::ops {

/// Throws ShapeError unless `small` broadcasts to `full`.
inline void require_broadcast(std::string_view argument, const Shape& small, const Shape& full) {
  for (int axis = -1; axis >= -small.rank(); --axis)
    if (-axis > full.rank() || (small[axis] != 1 && small[axis] != full[axis]))
      throw ShapeError(argument, "a shape that broadcasts to " + to_string(full), to_string(small));
}

/// The axes of the large array, outermost first, neighbours that lie alike in the small one taken
/// together and those of size 1 left out.
struct Broadcast {
  struct Axis {
    std::int64_t size;
    std::int64_t stride;  // in the small array; 0 where it repeats
  };
  std::array<Axis, Shape::kMaxRank> axes;
  int rank = 0;

  Broadcast(const Shape& small, const Shape& full) {
    std::array<Axis, Shape::kMaxRank> inner_first;
    std::int64_t stride = 1;
    for (int axis = -1; axis >= -full.rank(); --axis) {
      const bool repeats = -axis > small.rank() || small[axis] == 1;
      const Axis next{full[axis], repeats ? 0 : stride};
      if (!repeats) stride *= small[axis];
      if (next.size == 1) continue;
      Axis* const last = rank > 0 ? &inner_first[static_cast<std::size_t>(rank) - 1] : nullptr;
      if (last && (last->stride == 0) == repeats)
        last->size *= next.size;
      else
        inner_first[static_cast<std::size_t>(rank++)] = next;
    }
    for (int i = 0; i < rank; ++i)
      axes[static_cast<std::size_t>(i)] = inner_first[static_cast<std::size_t>(rank - 1 - i)];
  }
};

}  // namespace heed::ops
