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
  // An exponential and its part of the sums are some twenty operations.
  const bool alone = 20.0 * static_cast<double>(x.shape().elements()) < ops::kWorthSharing;
  runtime.pool().run(x.shape().elements() / columns, alone, [&](std::int64_t row, int) {
    runtime.kernels().softmax(x_data + row * columns, 1, columns, y_data + row * columns);
  });
  return y;
}

}  // namespace heed
