#pragma once

#include <algorithm>
#include <cstdint>

#include "ops/validate.hpp"
#include "runtime/runtime.hpp"

namespace heed::ops {

/// Calls part(first, count) for ranges of `step` items, on several threads if there is enough work.
/// `operations` is the number of operations of one item. Ranges must be independent of each other.
template <class Part>
void parallel_for(Context::Runtime& runtime, std::int64_t items, std::int64_t step,
                  double operations, const Part& part) {
  runtime.pool().run(
      divide_up(items, step), static_cast<double>(items) * operations,
      [&](std::int64_t piece, int) { part(piece * step, std::min(step, items - piece * step)); });
}

/// The numbers in a piece of work: enough to outweigh the cost of distributing it, and few enough
/// for the first-level cache.
inline constexpr std::int64_t kPieceNumbers = 4096;

/// The number of rows with about that many numbers.
inline std::int64_t piece_rows(std::int64_t columns) {
  return std::max<std::int64_t>(1, kPieceNumbers / std::max<std::int64_t>(1, columns));
}

}  // namespace heed::ops
