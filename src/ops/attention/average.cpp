#include <algorithm>

#include "heed/heed.hpp"
#include "ops/validate.hpp"
#include "runtime/arena.hpp"
#include "runtime/runtime.hpp"

namespace heed {

namespace {

/// Which positions count, or null for all.
const bool* read_mask(const TensorView& x, const AverageOptions& options) {
  if (!options.key_mask) return nullptr;
  ops::require_dtype("key_mask", *options.key_mask, DType::kBool);
  ops::require_shape("key_mask", *options.key_mask, {x.shape()[0], x.shape()[1]});
  return options.key_mask->data<bool>().data();
}

}  // namespace

Tensor average(Context& context, const TensorView& x, const AverageOptions& options) {
  ops::require_floats("x", x, 3);
  const std::int64_t B = x.shape()[0];
  const std::int64_t L = x.shape()[1];
  const std::int64_t E = x.shape()[2];
  const bool* const counts = read_mask(x, options);
  Tensor output(x.shape());
  if (x.shape().elements() == 0) return output;
  Arena::Scope scratch(context.runtime().arena());
  double* const sum = scratch.take<double>(E);

  const float* row = x.data<float>().data();
  float* out = output.data().data();
  for (std::int64_t b = 0; b < B; ++b, row += L * E, out += L * E) {
    std::fill_n(sum, E, 0.0);
    std::int64_t seen = 0;
    for (std::int64_t i = 0; i < L; ++i) {
      if (!counts || counts[b * L + i]) {
        ++seen;
        for (std::int64_t e = 0; e < E; ++e) sum[e] += static_cast<double>(row[i * E + e]);
      }
      if (!options.is_causal && i + 1 < L) continue;
      for (std::int64_t e = 0; e < E; ++e)
        out[i * E + e] = seen > 0 ? static_cast<float>(sum[e] / static_cast<double>(seen)) : 0.0f;
    }
    // Without causality all positions have the mean that the last one has now.
    if (!options.is_causal)
      for (std::int64_t i = 0; i + 1 < L; ++i) std::copy_n(out + (L - 1) * E, E, out + i * E);
  }
  return output;
}

Tensor average_backward(Context& context, const TensorView& d_output,
                        const AverageOptions& options) {
  ops::require_floats("d_output", d_output, 3);
  const std::int64_t B = d_output.shape()[0];
  const std::int64_t L = d_output.shape()[1];
  const std::int64_t E = d_output.shape()[2];
  const bool* const counts = read_mask(d_output, options);
  Tensor d_x(d_output.shape());
  if (d_output.shape().elements() == 0) return d_x;
  Arena::Scope scratch(context.runtime().arena());
  double* const sum = scratch.take<double>(E);

  const float* from = d_output.data<float>().data();
  float* to = d_x.data().data();
  for (std::int64_t b = 0; b < B; ++b, from += L * E, to += L * E) {
    std::int64_t seen = 0;  // by position i
    for (std::int64_t i = 0; i < L; ++i) seen += !counts || counts[b * L + i] ? 1 : 0;
    std::fill_n(sum, E, 0.0);
    const auto add_row = [&](std::int64_t i) {
      for (std::int64_t e = 0; seen > 0 && e < E; ++e)
        sum[e] += static_cast<double>(from[i * E + e]) / static_cast<double>(seen);
    };
    // From the last to the first: with causality a position reaches those from itself on.
    if (!options.is_causal)
      for (std::int64_t i = L - 1; i >= 0; --i) add_row(i);
    for (std::int64_t i = L - 1; i >= 0; --i) {
      const bool is_seen = !counts || counts[b * L + i];
      if (options.is_causal) add_row(i);
      for (std::int64_t e = 0; e < E; ++e)
        to[i * E + e] = is_seen ? static_cast<float>(sum[e]) : 0.0f;
      if (options.is_causal && is_seen) --seen;
    }
  }
  return d_x;
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
