#include "heed/layers.hpp"
#include "ops/parallel_for.hpp"
#include "ops/validate.hpp"

namespace heed {

Tensor dropout(Context& context, const TensorView& x, double rate, std::uint64_t seed) {
  ops::require_dtype("x", x, DType::kFloat32);
  if (!(rate >= 0.0 && rate < 1.0))
    ops::refuse<OptionError>("rate", "a number from 0 to below 1", rate);
  Tensor y(x.shape());
  const float* const from = x.data<float>().data();
  float* const to = y.data().data();
  const auto dropout = kernels::Dropout::of(rate, seed);
  Context::Runtime& runtime = context.runtime();
  // Each range is a row of the hash.
  ops::parallel_for(runtime, x.shape().elements(), ops::kPieceNumbers, 10.0,
                    [&](std::int64_t first, std::int64_t count) {
                      std::copy_n(from + first, count, to + first);
                      runtime.kernels().layers.drop(
                          dropout, static_cast<std::uint64_t>(first / ops::kPieceNumbers), 0, 0,
                          static_cast<int>(count), to + first);
                    });
  return y;
}

}  // namespace heed
