#include <algorithm>

#include "heed/arrays.hpp"
#include "ops/product/product.hpp"
#include "ops/validate.hpp"

namespace heed {

Tensor matmul(Context& context, const TensorView& a, const TensorView& b,
              const MatmulOptions& options) {
  ops::require_dtype("a", a, DType::kFloat32);
  ops::require_dtype("b", b, DType::kFloat32);
  const Shape& left = a.shape();
  const Shape& right = b.shape();
  if (left.rank() < 2) ops::refuse<ShapeError>("a", "rank 2 or more", left);
  const std::int64_t rows = left[options.transpose_a ? -1 : -2];
  const std::int64_t depth = left[options.transpose_a ? -2 : -1];
  const bool one_right = right.rank() == 2;
  const auto axes_before = [](const Shape& shape) {
    return shape.sizes().first(static_cast<std::size_t>(shape.rank()) - 2);
  };
  if (!one_right &&
      (right.rank() != left.rank() || !std::ranges::equal(axes_before(right), axes_before(left))))
    ops::refuse<ShapeError>(
        "b", "rank 2, or the axes of a " + to_string(left) + " before the last two", right);
  if (right[options.transpose_b ? -1 : -2] != depth)
    ops::refuse<ShapeError>(
        "b", "an axis of " + std::to_string(depth) + " to go with that of a " + to_string(left),
        right);
  const std::int64_t columns = right[options.transpose_b ? -2 : -1];

  std::array<std::int64_t, Shape::kMaxRank> sizes{};
  std::ranges::copy(left.sizes(), sizes.begin());
  const auto rank = static_cast<std::size_t>(left.rank());
  sizes[rank - 2] = rows;
  sizes[rank - 1] = columns;
  Tensor y(Shape(std::span<const std::int64_t>(sizes.data(), rank)));
  if (y.shape().elements() == 0) return y;
  std::int64_t count = 1;
  for (const std::int64_t size : axes_before(left)) count *= size;

  ops::Product product{
      .rows = rows,
      .columns = columns,
      .depth = depth,
      .count = count,
      .a = a.data<float>().data(),
      .transpose_a = options.transpose_a,
      .b = b.data<float>().data(),
      .transpose_b = options.transpose_b,
      .one_right = one_right,
      .c = y.data().data(),
  };
  // With a common right factor, all rows form the left factor of one product.
  if (one_right && !options.transpose_a) {
    product.rows = rows * count;
    product.count = 1;
  }
  ops::multiply(context.runtime(), product);
  return y;
}

}  // namespace heed
