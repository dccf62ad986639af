#include <algorithm>

#include "heed/heed.hpp"
#include "ops/validate.hpp"
#include "runtime/runtime.hpp"

namespace heed {
namespace {

kernels::FloatFormat checked_format(const char* argument, DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return kernels::FloatFormat::kFloat32;
    case DType::kFloat16:
      return kernels::FloatFormat::kFloat16;
    case DType::kBFloat16:
      return kernels::FloatFormat::kBFloat16;
    default:
      ops::refuse<DTypeError>(argument, "float32, float16 or bfloat16", dtype);
  }
}

}  // namespace

Tensor cast(Context& context, const TensorView& x, DType dtype) {
  const kernels::FloatFormat from = checked_format("x", x.dtype());
  const kernels::FloatFormat to = checked_format("dtype", dtype);
  Tensor y(x.shape(), dtype);
  if (from == to) {
    std::ranges::copy(x.bytes(), ops::mutable_bytes(y));
    return y;
  }
  context.runtime().kernels().arrays.cast(x.bytes().data(), from, x.shape().elements(),
                                          ops::mutable_bytes(y), to);
  return y;
}

}  // namespace heed
