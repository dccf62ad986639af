#include <string>

#include "heed/arrays.hpp"
#include "ops/parallel_for.hpp"
#include "ops/validate.hpp"

namespace heed {

Tensor adaptive_max_pool(Context& context, const TensorView& x, std::int64_t rows,
                         std::int64_t columns) {
  ops::require_dtype("x", x, DType::kFloat32);
  const Shape& shape = x.shape();
  const int rank = shape.rank();
  if (rank < 2 || shape[rank - 2] == 0 || shape[rank - 1] == 0)
    ops::refuse<ShapeError>("x", "one row and one column or more", shape);
  if (rows < 1) ops::refuse<OptionError>("rows", "1 or more", rows);
  if (columns < 1) ops::refuse<OptionError>("columns", "1 or more", columns);
  const std::int64_t H = shape[rank - 2], W = shape[rank - 1];
  Tensor y(ops::with_last(ops::with_size(shape, rank - 2, rows), columns));
  const float* const from = x.data<float>().data();
  float* const to = y.data().data();
  const double width = static_cast<double>(std::max(W, columns));
  ops::parallel_for(context.runtime(), y.shape().elements() / columns, 1,
                    4.0 * static_cast<double>(H / rows + 1) * width,
                    [&](std::int64_t first, std::int64_t) {
                      const std::int64_t row = first % rows;
                      const std::int64_t top = row * H / rows;
                      context.runtime().kernels().image.max_pool({
                          .x = from + first / rows * H * W + top * W,
                          .height = ops::divide_up((row + 1) * H, rows) - top,
                          .width = W,
                          .columns = columns,
                          .y = to + first * columns,
                      });
                    });
  return y;
}

}  // namespace heed
