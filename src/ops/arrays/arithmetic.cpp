#include <algorithm>
#include <atomic>

#include "heed/arrays.hpp"
#include "ops/arrays/broadcast.hpp"
#include "ops/parallel_for.hpp"

namespace heed {
namespace {

/// Numbers in a piece of work.
constexpr std::int64_t kPiece = 16 * 1024;

using kernels::Arithmetic;

/// y = f(a, b). a and y are dense and have one shape, to which b broadcasts.
void combine(Context& context, Arithmetic function, const float* a, const float* b,
             const Shape& b_shape, const Shape& shape, float* y) {
  if (shape.elements() == 0) return;
  kernels::BroadcastAxes axes = ops::broadcast_axes(b_shape, shape);
  const kernels::BroadcastAxes::Axis inner =
      axes.rank > 0 ? axes.axes[--axes.rank] : kernels::BroadcastAxes::Axis{1, 0};
  const kernels::Combination combination{function, a, b, y, axes, inner};
  const std::int64_t outer = shape.elements() / inner.size;
  const std::int64_t step = std::min(inner.size, kPiece);
  const std::int64_t steps = ops::divide_up(inner.size, step);
  const std::int64_t rows = std::max<std::int64_t>(1, kPiece / step);
  const double operations = 4.0 * static_cast<double>(shape.elements());
  Context::Runtime& runtime = context.runtime();
  runtime.pool().run(ops::divide_up(outer, rows) * steps, operations, [&](std::int64_t piece, int) {
    const std::int64_t begin = piece / steps * rows;
    const std::int64_t first = piece % steps * step;
    runtime.kernels().arrays.combine(combination, begin, std::min(begin + rows, outer), first,
                                     std::min(step, inner.size - first));
  });
}

Tensor combine(Context& context, Arithmetic function, const TensorView& a, const TensorView& b) {
  ops::require_dtype("a", a, DType::kFloat32);
  ops::require_dtype("b", b, DType::kFloat32);
  ops::require_broadcast("b", b.shape(), a.shape());
  Tensor y(a.shape());
  combine(context, function, a.data<float>().data(), b.data<float>().data(), b.shape(), a.shape(),
          y.data().data());
  return y;
}

}  // namespace

Tensor add(Context& context, const TensorView& a, const TensorView& b) {
  return combine(context, Arithmetic::kAdd, a, b);
}

Tensor subtract(Context& context, const TensorView& a, const TensorView& b) {
  return combine(context, Arithmetic::kSubtract, a, b);
}

Tensor multiply(Context& context, const TensorView& a, const TensorView& b) {
  return combine(context, Arithmetic::kMultiply, a, b);
}

Tensor divide(Context& context, const TensorView& a, const TensorView& b) {
  return combine(context, Arithmetic::kDivide, a, b);
}

Tensor scale(Context& context, const TensorView& x, double factor) {
  ops::require_dtype("x", x, DType::kFloat32);
  const auto number = static_cast<float>(factor);
  return multiply(context, x, TensorView(&number, Shape{}));
}

Tensor broadcast_to(Context& context, const TensorView& x, const Shape& shape) {
  ops::require_dtype("x", x, DType::kFloat32);
  ops::require_broadcast("x", x.shape(), shape);
  Tensor y(shape);
  float* const out = y.data().data();
  combine(context, Arithmetic::kSecond, out, x.data<float>().data(), x.shape(), shape, out);
  return y;
}

bool is_finite(Context& context, const TensorView& x) {
  ops::require_dtype("x", x, DType::kFloat32);
  const float* const numbers = x.data<float>().data();
  std::atomic<bool> finite = true;
  ops::parallel_for(context.runtime(), x.shape().elements(), kPiece, 1.0,
                    [&](std::int64_t first, std::int64_t count) {
                      if (!finite.load(std::memory_order_relaxed)) return;
                      if (!context.runtime().kernels().product.all_finite(
                              numbers + first, static_cast<std::ptrdiff_t>(count), 1,
                              static_cast<std::ptrdiff_t>(count)))
                        finite.store(false, std::memory_order_relaxed);
                    });
  return finite;
}

}  // namespace heed
