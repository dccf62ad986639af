#include "heed/heed.hpp"
#include "ops/validate.hpp"
#include "runtime/runtime.hpp"

namespace heed {

PartialAttention merge_attention(Context& context, const TensorView& output_a,
                                 const TensorView& lse_a, const TensorView& output_b,
                                 const TensorView& lse_b) {
  ops::require_floats("output_a", output_a, 4);
  const Shape& shape = output_a.shape();
  ops::require_floats("lse_a", lse_a, Shape{shape[0], shape[1], shape[2]});
  ops::require_floats("output_b", output_b, shape);
  ops::require_floats("lse_b", lse_b, lse_a.shape());

  PartialAttention merged{Tensor(shape), Tensor(lse_a.shape())};
  context.runtime().kernels().attention.merge_outputs({
      .output_a = output_a.data<float>().data(),
      .lse_a = lse_a.data<float>().data(),
      .output_b = output_b.data<float>().data(),
      .lse_b = lse_b.data<float>().data(),
      .rows = lse_a.shape().elements(),
      .value_size = shape[3],
      .output = merged.output.data().data(),
      .lse = merged.lse.data().data(),
  });
  return merged;
}

}  // namespace heed
