#pragma once

#include <algorithm>
#include <cstdint>

#include "ops/validate.hpp"
#include "runtime/runtime.hpp"

namespace heed::ops {

/// Calls part(first, count) for stretches of `step` of so many items, shared out over the threads
/// if they are worth it with so many operations each. What a stretch computes must not depend on
/// other ones.
template <class Part>
void share(Context::Runtime& runtime, std::int64_t items, std::int64_t step, double operations,
           const Part& part) {
  const bool alone = static_cast<double>(items) * operations < kWorthSharing;
  runtime.pool().run(divide_up(items, step), alone, [&](std::int64_t piece, int) {
    part(piece * step, std::min(step, items - piece * step));
  });
}

/// Numbers of a piece of work that costs much more than to take it, and stays in the first-level
/// cache.
inline constexpr std::int64_t kPieceNumbers = 4096;

/// So many rows have about as many numbers.
inline std::int64_t piece_rows(std::int64_t columns) {
  return std::max<std::int64_t>(1, kPieceNumbers / std::max<std::int64_t>(1, columns));
}

}  // namespace heed::ops
