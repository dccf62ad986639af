#include "ops/mask.hpp"

namespace heed::ops {

BroadcastMask::BroadcastMask(const TensorView& mask, std::int64_t B, std::int64_t H, std::int64_t L,
                             std::int64_t S) {
  const Shape& shape = mask.shape();
  const Shape full{B, H, L, S};
  const auto refuse = [&] {
    throw ShapeError("mask", "a shape that broadcasts to " + to_string(full), to_string(shape));
  };
  if (shape.rank() > 4) refuse();
  std::ptrdiff_t stride = 1;
  for (int axis = -1; axis >= -shape.rank(); --axis) {
    const std::int64_t size = shape[axis];
    const bool is_short_last = axis == -1 && size < S;
    if (size != 1 && size != full[axis] && !is_short_last) refuse();
    if (size != 1) {
      strides_[4 + axis] = stride;
      if (is_short_last) reach_ = size;
    }
    stride *= static_cast<std::ptrdiff_t>(size);
  }
  if (mask.dtype() == DType::kBool)
    allowed_ = mask.data<bool>().data();
  else if (mask.dtype() == DType::kFloat32)
    bias_ = mask.data<float>().data();
  else
    throw DTypeError("mask", "bool or float32", to_string(mask.dtype()));
}

kernels::MaskSlice BroadcastMask::slice(std::int64_t b, std::int64_t h) const noexcept {
  const std::ptrdiff_t start =
      static_cast<std::ptrdiff_t>(b) * strides_[0] + static_cast<std::ptrdiff_t>(h) * strides_[1];
  kernels::MaskSlice slice;
  if (allowed_) slice.allowed = reinterpret_cast<const std::uint8_t*>(allowed_ + start);
  if (bias_) slice.bias = bias_ + start;
  slice.row_stride = strides_[2];
  slice.column_stride = strides_[3];
  return slice;
}

}  // namespace heed::ops
