#include "ops/attention/mask.hpp"

#include <algorithm>

#include "ops/validate.hpp"

namespace heed::ops {

template <class T>
PairArray<T>::PairArray(const char* argument, const TensorView& array, const Shape& full) {
  const Shape& shape = array.shape();
  const std::int64_t S = full[-1];
  const auto refuse = [&] {
    ops::refuse<ShapeError>(argument, {"a shape that broadcasts to ", full}, shape);
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
  data_ = reinterpret_cast<const T*>(array.bytes().data());
}

template class PairArray<std::uint8_t>;
template class PairArray<float>;

BroadcastMask::BroadcastMask(const std::optional<TensorView>& mask,
                             const std::optional<TensorView>& bias, const Shape& full) {
  if (mask) {
    if (mask->dtype() == DType::kBool)
      allowed_ = PairArray<std::uint8_t>("mask", *mask, full);
    else if (mask->dtype() == DType::kFloat32)
      bias_ = PairArray<float>("mask", *mask, full);
    else
      ops::refuse<DTypeError>("mask", "bool or float32", mask->dtype());
  }
  if (bias) {
    require_dtype("bias", *bias, DType::kFloat32);
    if (!bias_.empty())
      ops::refuse<OptionError>(
          "bias", "a boolean mask beside it, because a float mask is a bias too", "a float32 mask");
    bias_ = PairArray<float>("bias", *bias, full);
  }
}

std::int64_t BroadcastMask::reach(std::int64_t S) const noexcept {
  return std::min({S, allowed_.reach(), bias_.reach()});
}

}  // namespace heed::ops
