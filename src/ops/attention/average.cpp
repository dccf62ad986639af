#include "heed/heed.hpp"
#include "ops/validate.hpp"
#include "runtime/runtime.hpp"

namespace heed {
namespace {

/// Calls the kernel for each batch entry.
Tensor each_entry(Context& context, const char* argument, const TensorView& x,
                  const AverageOptions& options,
                  void (*kernel)(const kernels::AverageRows& rows) noexcept) {
  ops::require_floats(argument, x, 3);
  const std::int64_t B = x.shape()[0], L = x.shape()[1], E = x.shape()[2];
  if (options.key_mask) ops::require_array("key_mask", *options.key_mask, DType::kBool, {B, L});
  const bool* const visible = options.key_mask ? options.key_mask->data<bool>().data() : nullptr;
  Tensor y(x.shape());
  if (x.shape().elements() == 0) return y;
  Arena::Scope scratch(context.runtime().arena());
  double* const sum = scratch.take<double>(E);
  for (std::int64_t b = 0; b < B; ++b)
    kernel({
        .from = x.data<float>().data() + b * L * E,
        .visible = visible ? visible + b * L : nullptr,
        .rows = L,
        .size = E,
        .is_causal = options.is_causal,
        .sum = sum,
        .to = y.data().data() + b * L * E,
    });
  return y;
}

}  // namespace

Tensor average(Context& context, const TensorView& x, const AverageOptions& options) {
  return each_entry(context, "x", x, options, context.runtime().kernels().attention.average);
}

Tensor average_backward(Context& context, const TensorView& d_output,
                        const AverageOptions& options) {
  return each_entry(context, "d_output", d_output, options,
                    context.runtime().kernels().attention.average_backward);
}

SelfSimilarityResult self_similarity(Context& context, const TensorView& x) {
  ops::require_floats("x", x, 3);
  AttentionOptions options;
  options.heads = 1;
  options.scale = 1.0f;
  options.need_weights = true;
  AttentionResult result = attention(context, x, x, x, options);
  // [B, 1, L, L] and [B, L, L] are the same array.
  return {std::move(result.output),
          std::move(*result.weights).reshaped(Shape{x.shape()[0], x.shape()[1], x.shape()[1]})};
}

}  // namespace heed
