#include <algorithm>
#include <atomic>
#include <bit>
#include <functional>

#include "heed/arrays.hpp"
#include "ops/arrays/broadcast.hpp"
#include "ops/share.hpp"

namespace heed {
namespace {

/// Numbers of a piece of work, which pass through the first-level cache.
constexpr std::int64_t kPiece = 16 * 1024;

/// y = f(a, b) for a stretch in which b is dense, or one number.
using Stretch = void (*)(const float* a, const float* b, bool repeats, std::int64_t count,
                         float* y) noexcept;

template <class Function>
void stretch(const float* a, const float* b, bool repeats, std::int64_t count,
             float* __restrict y) noexcept {
  const Function function{};
  if (repeats) {
    const float right = *b;
    for (std::int64_t i = 0; i < count; ++i) y[i] = function(a[i], right);
  } else {
    for (std::int64_t i = 0; i < count; ++i) y[i] = function(a[i], b[i]);
  }
}

struct Second {
  float operator()(float, float b) const noexcept { return b; }
};

/// y = f(a, b), a and y dense of one shape to which b's broadcasts.
void walk(Context& context, const float* a, const float* b, const Shape& b_shape,
          const Shape& shape, Stretch function, float* y) {
  if (shape.elements() == 0) return;
  ops::Broadcast broadcast(b_shape, shape);
  const int outer_rank = std::max(broadcast.rank - 1, 0);
  const ops::Broadcast::Axis inner = broadcast.rank > 0
                                         ? broadcast.axes[static_cast<std::size_t>(outer_rank)]
                                         : ops::Broadcast::Axis{1, 0};
  const std::int64_t outer = shape.elements() / inner.size;
  const std::int64_t step = std::min(inner.size, kPiece);
  const std::int64_t steps = ops::divide_up(inner.size, step);
  const std::int64_t rows = std::max<std::int64_t>(1, kPiece / step);
  const bool alone = static_cast<double>(shape.elements()) * 4.0 < ops::kWorthSharing;
  context.runtime().pool().run(
      ops::divide_up(outer, rows) * steps, alone, [&](std::int64_t piece, int) {
        const std::int64_t begin = piece / steps * rows;
        const std::int64_t first = piece % steps * step;
        const std::int64_t count = std::min(step, inner.size - first);
        // Where row `begin` stands in b, and its index.
        std::array<std::int64_t, Shape::kMaxRank> index{};
        std::int64_t at = 0;
        std::int64_t rest = begin;
        for (int axis = outer_rank - 1; axis >= 0; --axis) {
          const auto k = static_cast<std::size_t>(axis);
          index[k] = rest % broadcast.axes[k].size;
          rest /= broadcast.axes[k].size;
          at += index[k] * broadcast.axes[k].stride;
        }
        for (std::int64_t row = begin; row < std::min(begin + rows, outer); ++row) {
          const std::int64_t place = row * inner.size + first;
          function(a + place, b + at + first * inner.stride, inner.stride == 0, count, y + place);
          for (int axis = outer_rank - 1; axis >= 0; --axis) {
            const auto k = static_cast<std::size_t>(axis);
            at += broadcast.axes[k].stride;
            if (++index[k] < broadcast.axes[k].size) break;
            at -= broadcast.axes[k].stride * index[k];
            index[k] = 0;
          }
        }
      });
}

Tensor combine(Context& context, const TensorView& a, const TensorView& b, Stretch function) {
  ops::require_dtype("a", a, DType::kFloat32);
  ops::require_dtype("b", b, DType::kFloat32);
  ops::require_broadcast("b", b.shape(), a.shape());
  Tensor y(a.shape());
  walk(context, a.data<float>().data(), b.data<float>().data(), b.shape(), a.shape(), function,
       y.data().data());
  return y;
}

}  // namespace

Tensor add(Context& context, const TensorView& a, const TensorView& b) {
  return combine(context, a, b, stretch<std::plus<float>>);
}

Tensor subtract(Context& context, const TensorView& a, const TensorView& b) {
  return combine(context, a, b, stretch<std::minus<float>>);
}

Tensor multiply(Context& context, const TensorView& a, const TensorView& b) {
  return combine(context, a, b, stretch<std::multiplies<float>>);
}

Tensor divide(Context& context, const TensorView& a, const TensorView& b) {
  return combine(context, a, b, stretch<std::divides<float>>);
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
  walk(context, out, x.data<float>().data(), x.shape(), shape, stretch<Second>, out);
  return y;
}

bool is_finite(Context& context, const TensorView& x) {
  ops::require_dtype("x", x, DType::kFloat32);
  const float* const numbers = x.data<float>().data();
  std::atomic<bool> finite = true;
  ops::share(context.runtime(), x.shape().elements(), kPiece, 1.0,
             [&](std::int64_t first, std::int64_t count) {
               if (!finite.load(std::memory_order_relaxed)) return;
               // The exponents of infinities and NaN have all bits.
               constexpr std::uint32_t kExponent = 0x7f800000;
               std::uint32_t found = 0;
               for (std::int64_t i = first; i < first + count; ++i)
                 found |= (std::bit_cast<std::uint32_t>(numbers[i]) & kExponent) == kExponent;
               if (found != 0) finite.store(false, std::memory_order_relaxed);
             });
  return finite;
}

}  // namespace heed
