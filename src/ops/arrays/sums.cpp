#include "ops/arrays/sums.hpp"

#include <algorithm>
#include <utility>

#include "heed/arrays.hpp"
#include "ops/arrays/axes.hpp"
#include "ops/arrays/broadcast.hpp"
#include "ops/parallel_for.hpp"

namespace heed {

void ops::sum_rows(Context::Runtime& runtime, const float* x, std::int64_t outer, std::int64_t rows,
                   std::int64_t columns, float* sums) {
  if (columns == 0) return;
  using namespace kernels;
  const std::int64_t together = std::max<std::int64_t>(1, kMinSumColumns / columns);
  const std::int64_t max_rows = kSumTerms * together;
  const std::int64_t chunks = std::max<std::int64_t>(1, divide_up(rows, max_rows));
  const std::int64_t tiles = divide_up(columns, kSumColumns);
  Arena::Scope arena(runtime.arena());
  double* const parts = arena.take<double>(outer * chunks * columns);
  const std::int64_t units = outer * chunks * tiles;
  const std::int64_t unit_numbers = std::min(rows, max_rows) * std::min(columns, kSumColumns);
  const std::int64_t step = 1 + 16 * 1024 / (1 + unit_numbers);
  const double operations =
      2.0 * static_cast<double>(outer) * static_cast<double>(rows) * static_cast<double>(columns);
  runtime.pool().run(divide_up(units, step), operations, [&](std::int64_t piece, int) {
    for (std::int64_t unit = piece * step; unit < std::min(units, (piece + 1) * step); ++unit) {
      const std::int64_t column = unit % tiles * kSumColumns;
      const std::int64_t first = unit / tiles % chunks * max_rows;
      runtime.kernels().arrays.sum_block(
          x + (unit / (tiles * chunks) * rows + first) * columns + column,
          std::min(max_rows, rows - first), columns, std::min(kSumColumns, columns - column),
          together, parts + unit / tiles * columns + column);
    }
  });
  for (std::int64_t n = 0; n < outer; ++n)
    runtime.kernels().arrays.sum_parts(parts + n * chunks * columns, chunks, columns,
                                       sums + n * columns);
}

Tensor sum_to(Context& context, const TensorView& x, const Shape& shape) {
  ops::require_dtype("x", x, DType::kFloat32);
  ops::require_broadcast("shape", shape, x.shape());
  Tensor y(shape);
  const kernels::BroadcastAxes axes = ops::broadcast_axes(shape, x.shape());
  const float* from = x.data<float>().data();
  Tensor before;  // holds `from` after the first step
  std::int64_t outer = x.shape().elements();
  std::int64_t columns = 1;
  int repeated = 0;
  for (int i = 0; i < axes.rank; ++i) repeated += axes.axes[i].stride == 0 ? 1 : 0;
  if (repeated == 0) {
    std::copy_n(from, x.shape().elements(), y.data().data());
    return y;
  }
  for (int i = axes.rank - 1; i >= 0; --i) {
    const kernels::BroadcastAxes::Axis axis = axes.axes[i];
    outer = 1;
    for (int j = 0; j < i; ++j) outer *= axes.axes[j].size;
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

Tensor cumsum(Context& context, const TensorView& x, std::int64_t axis, bool reverse) {
  ops::require_dtype("x", x, DType::kFloat32);
  const Shape& shape = x.shape();
  const int at = ops::checked_axis(axis, shape.rank());
  Tensor y(shape);
  if (shape.elements() == 0) return y;
  using kernels::kSumColumns;
  const std::int64_t rows = shape[at], columns = ops::elements_after(shape, at);
  const std::int64_t tiles = ops::divide_up(columns, kSumColumns);
  const std::int64_t first_row = reverse ? (rows - 1) * columns : 0;
  const float* const from = x.data<float>().data() + first_row;
  float* const to = y.data().data() + first_row;
  const std::int64_t numbers = rows * std::min(columns, kSumColumns);
  ops::parallel_for(context.runtime(), ops::elements_before(shape, at) * tiles,
                    ops::piece_rows(numbers), 3.0 * static_cast<double>(numbers),
                    [&](std::int64_t begin, std::int64_t count) {
                      for (std::int64_t unit = begin; unit < begin + count; ++unit) {
                        const std::int64_t column = unit % tiles * kSumColumns;
                        const std::int64_t first = unit / tiles * rows * columns + column;
                        context.runtime().kernels().arrays.running_sums(
                            from + first, rows, reverse ? -columns : columns,
                            std::min(kSumColumns, columns - column), to + first);
                      }
                    });
  return y;
}

}  // namespace heed
