#include "ops/arrays/sums.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "heed/arrays.hpp"
#include "ops/arrays/broadcast.hpp"
#include "ops/validate.hpp"

namespace heed {
namespace {

/// So many numbers are added in float before a sum in double takes them: the error of a sum of a
/// hundred is a few roundings.
constexpr std::int64_t kTerms = 128;
/// Columns at a time, and the fewest numbers side by side: where columns are fewer, several rows.
constexpr std::int64_t kWidth = 256;
constexpr std::int64_t kLeastWidth = 16;

/// sums[c] += x[r][c]
void add_rows(const float* x, std::int64_t rows, std::int64_t stride, std::int64_t width,
              float* __restrict sums) noexcept {
  std::int64_t r = 0;
  for (; r + 4 <= rows; r += 4, x += 4 * stride)
    for (std::int64_t c = 0; c < width; ++c)
      sums[c] += (x[c] + x[stride + c]) + (x[2 * stride + c] + x[3 * stride + c]);
  for (; r < rows; ++r, x += stride)
    for (std::int64_t c = 0; c < width; ++c) sums[c] += x[c];
}

}  // namespace

void ops::sum_rows(Context::Runtime& runtime, const float* x, std::int64_t outer, std::int64_t rows,
                   std::int64_t columns, float* sums) {
  if (columns == 0) return;
  const std::int64_t together = std::max<std::int64_t>(1, kLeastWidth / columns);
  const std::int64_t most_rows = kTerms * together;
  const std::int64_t chunks = std::max<std::int64_t>(1, divide_up(rows, most_rows));
  const std::int64_t tiles = divide_up(columns, kWidth);
  Arena::Scope arena(runtime.arena());
  double* const parts = arena.take<double>(outer * chunks * columns);
  const std::int64_t units = outer * chunks * tiles;
  const std::int64_t unit_numbers = std::min(rows, most_rows) * std::min(columns, kWidth);
  const std::int64_t step = 1 + 16 * 1024 / (1 + unit_numbers);
  const bool alone =
      static_cast<double>(outer) * static_cast<double>(rows) * static_cast<double>(columns) * 2.0 <
      kWorthSharing;
  runtime.pool().run(divide_up(units, step), alone, [&](std::int64_t piece, int) {
    for (std::int64_t unit = piece * step; unit < std::min(units, (piece + 1) * step); ++unit) {
      const std::int64_t chunk = unit / tiles % chunks;
      const std::int64_t column = unit % tiles * kWidth;
      const std::int64_t width = std::min(kWidth, columns - column);
      const std::int64_t first = chunk * most_rows;
      const std::int64_t count = std::min(most_rows, rows - first);
      const float* const from = x + (unit / (tiles * chunks) * rows + first) * columns + column;
      float side[kWidth] = {};
      const std::int64_t whole = count / together;
      add_rows(from, whole, together * columns, together * width, side);
      double* const part = parts + unit / tiles * columns + column;
      for (std::int64_t c = 0; c < width; ++c) {
        double sum = 0.0;
        for (std::int64_t i = 0; i < together; ++i) sum += side[i * columns + c];
        for (std::int64_t r = whole * together; r < count; ++r) sum += from[r * columns + c];
        part[c] = sum;
      }
    }
  });
  for (std::int64_t n = 0; n < outer; ++n) {
    double* const total = parts + n * chunks * columns;
    for (std::int64_t chunk = 1; chunk < chunks; ++chunk)
      for (std::int64_t c = 0; c < columns; ++c) total[c] += total[chunk * columns + c];
    std::copy_n(total, columns, sums + n * columns);
  }
}

void ops::add_block(const float* x, std::int64_t rows, std::int64_t columns, float* to,
                    std::int64_t stride) noexcept {
  for (; rows > 0; --rows, x += columns, to += stride)
    for (std::int64_t c = 0; c < columns; ++c) to[c] += x[c];
}

Tensor sum_to(Context& context, const TensorView& x, const Shape& shape) {
  ops::require_dtype("x", x, DType::kFloat32);
  ops::require_broadcast("shape", shape, x.shape());
  Tensor y(shape);
  const ops::Broadcast broadcast(shape, x.shape());
  const float* from = x.data<float>().data();
  Tensor before;  // holds `from` after the first step
  std::int64_t outer = x.shape().elements();
  std::int64_t columns = 1;
  int repeated = 0;
  for (int i = 0; i < broadcast.rank; ++i)
    repeated += broadcast.axes[static_cast<std::size_t>(i)].stride == 0 ? 1 : 0;
  if (repeated == 0) {
    std::copy_n(from, x.shape().elements(), y.data().data());
    return y;
  }
  for (int i = broadcast.rank - 1; i >= 0; --i) {
    const ops::Broadcast::Axis axis = broadcast.axes[static_cast<std::size_t>(i)];
    outer = 1;
    for (int j = 0; j < i; ++j) outer *= broadcast.axes[static_cast<std::size_t>(j)].size;
    if (axis.stride != 0) {
      columns *= axis.size;
      continue;
    }
    Tensor sums;
    if (--repeated > 0) sums = Tensor(Shape{outer * columns});
    ops::sum_rows(context.runtime(), from, outer, axis.size, columns,
                  repeated > 0 ? sums.data().data() : y.data().data());
    before = std::move(sums);
    from = before.data().data();
  }
  return y;
}

}  // namespace heed
