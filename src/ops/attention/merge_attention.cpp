#include <cmath>
#include <limits>

#include "heed/heed.hpp"
#include "ops/validate.hpp"

namespace heed {

PartialAttention merge_attention(Context&, const TensorView& output_a, const TensorView& lse_a,
                                 const TensorView& output_b, const TensorView& lse_b) {
  ops::require_floats("output_a", output_a, 4);
  const Shape& shape = output_a.shape();
  ops::require_floats("lse_a", lse_a, Shape{shape[0], shape[1], shape[2]});
  ops::require_floats("output_b", output_b, shape);
  ops::require_floats("lse_b", lse_b, lse_a.shape());

  PartialAttention merged{Tensor(shape), Tensor(lse_a.shape())};
  constexpr float kNone = -std::numeric_limits<float>::infinity();
  const auto a = lse_a.data<float>();
  const auto b = lse_b.data<float>();
  const auto lse = merged.lse.data();
  const float* from_a = output_a.data<float>().data();
  const float* from_b = output_b.data<float>().data();
  float* to = merged.output.data().data();
  for (std::size_t row = 0; row < lse.size(); ++row) {
    const float m = std::fmax(a[row], b[row]);
    // Both empty: -inf - -inf would be NaN.
    const float weight_a = a[row] == kNone ? 0.0f : std::exp(a[row] - m);
    const float weight_b = b[row] == kNone ? 0.0f : std::exp(b[row] - m);
    const float sum = weight_a + weight_b;
    const bool is_empty = a[row] == kNone && b[row] == kNone;
    lse[row] = is_empty ? kNone : m + std::log(sum);
    for (std::int64_t c = 0; c < shape[3]; ++c, ++from_a, ++from_b, ++to) {
      // A part without keys is zeros; its weight, 0, must not meet anything else.
      const float part_a = weight_a == 0.0f ? 0.0f : weight_a * *from_a;
      const float part_b = weight_b == 0.0f ? 0.0f : weight_b * *from_b;
      *to = is_empty ? 0.0f : (part_a + part_b) / sum;
    }
  }
  return merged;
}

}  // namespace heed
