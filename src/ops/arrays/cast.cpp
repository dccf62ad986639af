#include <algorithm>

#include "heed/heed.hpp"
#include "ops/arrays/half.hpp"
#include "ops/validate.hpp"

namespace heed {
namespace {

void require_float(std::string_view argument, DType dtype) {
  if (!is_floating(dtype))
    throw DTypeError(argument, "float32, float16 or bfloat16", to_string(dtype));
}

float read(float value) noexcept { return value; }
float read(Float16 value) noexcept { return ops::from_float16(value.bits); }
float read(BFloat16 value) noexcept { return ops::from_bfloat16(value.bits); }

void write(float value, float& to) noexcept { to = value; }
void write(float value, Float16& to) noexcept { to.bits = ops::to_float16(value); }
void write(float value, BFloat16& to) noexcept { to.bits = ops::to_bfloat16(value); }

/// Calls `run` with the elements, whichever floating type they have.
template <class Array, class Run>
void with_floats(Array& array, Run run) {
  switch (array.dtype()) {
    case DType::kFloat16:
      return run(array.template data<Float16>());
    case DType::kBFloat16:
      return run(array.template data<BFloat16>());
    default:
      return run(array.template data<float>());
  }
}

}  // namespace

Tensor cast(Context&, const TensorView& x, DType dtype) {
  require_float("x", x.dtype());
  require_float("dtype", dtype);
  Tensor y(x.shape(), dtype);
  with_floats(x, [&](auto from) {
    with_floats(y, [&](auto to) {
      for (std::size_t i = 0; i < from.size(); ++i) write(read(from[i]), to[i]);
    });
  });
  return y;
}

}  // namespace heed
