#include "heed/heed.hpp"
#include "ops/validate.hpp"

namespace heed {

Tensor add(Context&, const TensorView& a, const TensorView& b) {
  ops::require_dtype("a", a, DType::kFloat32);
  ops::require_dtype("b", b, DType::kFloat32);
  const Shape& shape = a.shape();
  const int rank = shape.rank();
  std::array<std::int64_t, Shape::kMaxRank> strides{};
  std::int64_t stride = 1;
  for (int axis = -1; axis >= -b.shape().rank(); --axis) {
    const std::int64_t size = b.shape()[axis];
    if (-axis > rank || (size != 1 && size != shape[axis]))
      throw ShapeError("b", "a shape that broadcasts to " + to_string(shape), to_string(b.shape()));
    if (size != 1) strides[static_cast<std::size_t>(rank + axis)] = stride;
    stride *= size;
  }

  Tensor sum(shape);
  const auto a_data = a.data<float>();
  const auto b_data = b.data<float>();
  const auto out = sum.data();
  std::array<std::int64_t, Shape::kMaxRank> index{};
  std::int64_t at = 0;  // where b stands for the present index
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = a_data[i] + b_data[static_cast<std::size_t>(at)];
    for (int axis = rank - 1; axis >= 0; --axis) {
      const auto k = static_cast<std::size_t>(axis);
      at += strides[k];
      if (++index[k] < shape[axis]) break;
      at -= strides[k] * index[k];
      index[k] = 0;
    }
  }
  return sum;
}

}  // namespace heed
