#include <algorithm>
#include <utility>

#include "heed/layers.hpp"
#include "ops/parallel_for.hpp"
#include "ops/validate.hpp"
#include "runtime/runtime.hpp"

namespace heed {
namespace {

/// The number of gradients that are added in float before they are added to a sum in double.
constexpr std::int64_t kTerms = 128;

void require_ids(const TensorView& ids, std::int64_t rows) {
  ops::require_dtype("ids", ids, DType::kInt32);
  if (ids.shape().rank() == Shape::kMaxRank)
    ops::refuse<ShapeError>("ids", "at most 7 axes", ids.shape());
  for (const std::int32_t id : ids.data<std::int32_t>())
    if (id < 0 || id >= rows)
      ops::refuse<OptionError>("ids", {"numbers from 0 to below ", rows}, id);
}

/// The shape of ids with one axis more.
Shape with_axis(const Shape& shape, std::int64_t size) {
  std::array<std::int64_t, Shape::kMaxRank> sizes{};
  std::ranges::copy(shape.sizes(), sizes.begin());
  const auto rank = static_cast<std::size_t>(shape.rank());
  sizes[rank] = size;
  return Shape(std::span<const std::int64_t>(sizes.data(), rank + 1));
}

/// The sum of the given rows of x, in their order.
void sum_of(const float* x, const std::int64_t* rows, std::int64_t count, std::int64_t size,
            float* sum, double* total) {
  if (count > kTerms) std::fill_n(total, size, 0.0);
  for (std::int64_t first = 0; first == 0 || first < count; first += kTerms) {
    std::fill_n(sum, size, 0.0f);
    for (std::int64_t n = first; n < std::min(first + kTerms, count); ++n) {
      const float* const row = x + rows[n] * size;
      for (std::int64_t c = 0; c < size; ++c) sum[c] += row[c];
    }
    if (count > kTerms)
      for (std::int64_t c = 0; c < size; ++c) total[c] += sum[c];
  }
  if (count > kTerms)
    for (std::int64_t c = 0; c < size; ++c) sum[c] = static_cast<float>(total[c]);
}

}  // namespace

Tensor embedding(Context& context, const TensorView& ids, const TensorView& weight) {
  ops::require_floats_or_halves("weight", weight, 2);
  const std::int64_t size = weight.shape()[1];
  require_ids(ids, weight.shape()[0]);
  Tensor output(with_axis(ids.shape(), size));
  float* const out = output.data().data();
  const std::uint16_t* const halves = ops::halves_of(weight);
  const float* const floats = halves ? nullptr : weight.data<float>().data();
  const auto widen = context.runtime().kernels().arrays.widen;
  const std::int32_t* const rows = ids.data<std::int32_t>().data();
  ops::parallel_for(context.runtime(), ids.shape().elements(), ops::piece_rows(size),
                    static_cast<double>(size), [&](std::int64_t first, std::int64_t count) {
                      for (std::int64_t n = first; n < first + count; ++n) {
                        if (halves)
                          widen(halves + rows[n] * size, size, out + n * size);
                        else
                          std::copy_n(floats + rows[n] * size, size, out + n * size);
                      }
                    });
  return output;
}

Tensor embedding_backward(Context& context, const TensorView& d_output, const TensorView& ids,
                          std::int64_t rows, std::optional<std::int64_t> padding_index) {
  if (rows < 0) ops::refuse<OptionError>("rows", "a number that is not negative", rows);
  if (padding_index && (*padding_index < 0 || *padding_index >= rows))
    ops::refuse<OptionError>("padding_index", {"a number from 0 to below ", rows}, *padding_index);
  require_ids(ids, rows);
  ops::require_dtype("d_output", d_output, DType::kFloat32);
  if (d_output.shape().rank() != ids.shape().rank() + 1)
    ops::refuse<ShapeError>("d_output", {"rank ", ids.shape().rank() + 1}, d_output.shape());
  const std::int64_t size = d_output.shape()[-1];
  ops::require_shape("d_output", d_output, with_axis(ids.shape(), size));
  Tensor d_weight(Shape{rows, size});
  if (d_weight.shape().elements() == 0) return d_weight;

  // The indices at which each id occurs, by a counting sort.
  Context::Runtime& runtime = context.runtime();
  Arena::Scope scratch(runtime.arena());
  const std::int64_t count = ids.shape().elements();
  const std::int32_t* const id = ids.data<std::int32_t>().data();
  auto* const ends = scratch.take<std::int64_t>(rows);
  auto* const indices = scratch.take<std::int64_t>(count);
  auto* const totals = scratch.take<double>(size * runtime.pool().threads());
  std::fill_n(ends, rows, 0);
  for (std::int64_t n = 0; n < count; ++n) ++ends[id[n]];
  std::int64_t begin = 0;
  for (std::int64_t row = 0; row < rows; ++row) begin += std::exchange(ends[row], begin);
  for (std::int64_t n = 0; n < count; ++n) indices[ends[id[n]]++] = n;

  const float* const d_y = d_output.data<float>().data();
  float* const to = d_weight.data().data();
  const std::int64_t step = ops::piece_rows(size);
  const double operations = static_cast<double>(count + rows) * static_cast<double>(size);
  runtime.pool().run(ops::divide_up(rows, step), operations, [&](std::int64_t piece, int thread) {
    for (std::int64_t row = piece * step; row < std::min(rows, (piece + 1) * step); ++row) {
      const std::int64_t first = row == 0 ? 0 : ends[row - 1];
      sum_of(d_y, indices + first, row == padding_index ? 0 : ends[row] - first, size,
             to + row * size, totals + thread * size);
    }
  });
  return d_weight;
}

}  // namespace heed
