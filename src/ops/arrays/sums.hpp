#pragma once

#include <cstdint>

#include "runtime/runtime.hpp"

namespace heed::ops {

/// Sums over the middle axis of x [outer, rows, columns] -> [outer, columns]: blocks of rows in
/// float, the sums of blocks in double. Takes scratch memory from the arena. Throws MemoryError.
void sum_rows(Context::Runtime& runtime, const float* x, std::int64_t outer, std::int64_t rows,
              std::int64_t columns, float* sums);

}  // namespace heed::ops
