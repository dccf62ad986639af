#include <algorithm>

#include "heed/heed.hpp"
#include "ops/validate.hpp"
#include "runtime/runtime.hpp"

namespace heed {

Tensor softmax(Context& context, const TensorView& x) {
  ops::require_dtype("x", x, DType::kFloat32);
  if (x.shape().rank() < 1) throw ShapeError("x", "rank 1 or more", to_string(x.shape()));
  Tensor y(x.shape());
  const std::int64_t columns = x.shape()[-1];
  if (columns == 0) return y;
  Context::Runtime& runtime = context.runtime();
  const float* const x_data = x.data<float>().data();
  float* const y_data = y.data().data();
  const std::int64_t rows = x.shape().elements() / columns;
  // An exponential and its part of the sums are some twenty operations.
  constexpr double kOperations = 20.0;
  const bool alone = kOperations * static_cast<double>(x.shape().elements()) < ops::kWorthSharing;
  // So many rows at a time that taking them costs nothing beside.
  const std::int64_t tile = std::max<std::int64_t>(1, 4096 / columns);
  runtime.pool().run(ops::divide_up(rows, tile), alone, [&](std::int64_t piece, int) {
    const std::int64_t row = piece * tile;
    runtime.kernels().softmax(x_data + row * columns, std::min(tile, rows - row), columns,
                              y_data + row * columns);
  });
  return y;
}

}  // namespace heed
