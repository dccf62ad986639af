#include <algorithm>

#include "heed/heed.hpp"
#include "ops/validate.hpp"
#include "runtime/runtime.hpp"

namespace heed {

Tensor linear(Context& context, const TensorView& x, const TensorView& weight,
              const std::optional<TensorView>& bias) {
  ops::require_dtype("x", x, DType::kFloat32);
  ops::require_floats("weight", weight, 2);
  if (x.shape().rank() < 1) throw ShapeError("x", "rank 1 or more", to_string(x.shape()));
  const std::int64_t out = weight.shape()[0];
  const std::int64_t in = weight.shape()[1];
  if (x.shape()[-1] != in)
    throw ShapeError("x",
                     "a last axis of " + std::to_string(in) + ", as weight " +
                         to_string(weight.shape()) + " has",
                     to_string(x.shape()));
  if (bias) ops::require_floats("bias", *bias, Shape{out});
  Tensor y(ops::with_last(x.shape(), out));
  const std::int64_t rows = y.shape().elements() / std::max<std::int64_t>(out, 1);

  Context::Runtime& runtime = context.runtime();
  const kernels::KernelTable& kernels = runtime.kernels();
  Arena::Scope scratch(runtime.arena());
  const std::int64_t panels = ops::divide_up(out, kernels.panel);
  float* const packed = scratch.take<float>(panels * kernels.panel * in);

  const bool alone =
      2.0 * static_cast<double>(rows) * static_cast<double>(out) * static_cast<double>(in) <
      ops::kWorthSharing;
  const float* const w_data = weight.data<float>().data();
  runtime.pool().run(panels, alone, [&](std::int64_t piece, int) {
    const std::int64_t first = piece * kernels.panel;
    kernels.pack_rows(w_data + first * in, static_cast<std::ptrdiff_t>(in),
                      std::min<std::int64_t>(kernels.panel, out - first),
                      static_cast<std::ptrdiff_t>(in), packed + first * in);
  });

  // 256 columns are a multiple of every panel; 48 rows of every register block.
  constexpr std::int64_t kRowTile = 48;
  constexpr std::int64_t kColumnTile = 256;
  const float* const x_data = x.data<float>().data();
  const float* const bias_data = bias ? bias->data<float>().data() : nullptr;
  float* const y_data = y.data().data();
  const std::int64_t column_tiles = ops::divide_up(out, kColumnTile);
  runtime.pool().run(ops::divide_up(rows, kRowTile) * column_tiles, alone,
                     [&](std::int64_t piece, int) {
                       const std::int64_t row = piece / column_tiles * kRowTile;
                       const std::int64_t column = piece % column_tiles * kColumnTile;
                       kernels.linear({
                           .x = x_data + row * in,
                           .rows = std::min(kRowTile, rows - row),
                           .in = in,
                           .panels = packed + column * in,
                           .columns = std::min(kColumnTile, out - column),
                           .bias = bias_data ? bias_data + column : nullptr,
                           .y = y_data + row * out + column,
                           .y_stride = static_cast<std::ptrdiff_t>(out),
                       });
                     });
  return y;
}

}  // namespace heed
