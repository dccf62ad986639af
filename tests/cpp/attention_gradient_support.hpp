#pragma once

// Compares gradients of attention from the library and from the reference.

#include <cmath>
#include <cstdint>
#include <optional>

#include "attention_cases_support.hpp"
#include "reference/attention_backward.hpp"

namespace heed::test {

inline AttentionGradientOptions every_gradient(const AttentionOptions& options) {
  AttentionGradientOptions needed;
  needed.need_mask = options.mask && options.mask->dtype() == DType::kFloat32;
  needed.need_bias = options.bias.has_value();
  needed.need_alibi_slopes = options.alibi_slopes.has_value();
  needed.need_sinks = options.sinks.has_value();
  return needed;
}

/// Forward for output and statistics, and then backward.
inline AttentionGradients differentiate(Context& context, const TensorView& d_output,
                                        const TensorView& q, const TensorView& k,
                                        const TensorView& v, AttentionOptions options,
                                        const std::optional<TensorView>& d_lse = {}) {
  options.need_statistics = true;
  const AttentionResult result = attention(context, q, k, v, options);
  AttentionGradientOptions needed = every_gradient(options);
  needed.d_lse = d_lse;
  return attention_backward(context, d_output, q, k, v, result.output, *result.statistics, options,
                            needed);
}

/// Calls compare(got, want, name) for every optional gradient except the gradient of the slopes.
template <class Want, class Compare>
void for_each_optional(const AttentionGradients& got, const Want& want, const Compare& compare) {
  compare(got.mask, want.mask, "mask");
  compare(got.bias, want.bias, "bias");
  compare(got.sinks, want.sinks, "sinks");
  compare(got.past_key, want.past_key, "past key");
  compare(got.past_value, want.past_value, "past value");
}

inline void expect_gradients(const AttentionGradients& got,
                             const reference::AttentionGradients& want,
                             const Tolerance& tolerance) {
  EXPECT_TRUE(close(got.q, want.q, tolerance)) << "q";
  EXPECT_TRUE(close(got.k, want.k, tolerance)) << "k";
  EXPECT_TRUE(close(got.v, want.v, tolerance)) << "v";
  for_each_optional(got, want, expect_close(tolerance));
  // The gradients of a row, whose sum is a rounding error, are multiplied by distances up to 100.
  const Tolerance far = {10.0 * tolerance.absolute, 10.0 * tolerance.relative};
  expect_close(far)(got.alibi_slopes, want.alibi_slopes, "slopes");
}

inline void expect_same_bits(const AttentionGradients& got, const AttentionGradients& want) {
  EXPECT_TRUE(same_bits(got.q, want.q)) << "q";
  EXPECT_TRUE(same_bits(got.k, want.k)) << "k";
  EXPECT_TRUE(same_bits(got.v, want.v)) << "v";
  for_each_optional(got, want, expect_same_optional);
  expect_same_optional(got.alibi_slopes, want.alibi_slopes, "slopes");
}

/// Compares the first context's gradients with the reference's, and the others' with the first's.
template <class Call>
void expect_with_every_number_of_threads(Contexts& contexts,
                                         const reference::AttentionGradients& want,
                                         const Tolerance& tolerance, const Call& call) {
  std::optional<AttentionGradients> first;
  for (Context& context : contexts.all()) {
    SCOPED_TRACE(testing::Message() << context.threads() << " threads");
    AttentionGradients got = call(context);
    if (!first) {
      expect_gradients(got, want, tolerance);
      first = std::move(got);
    } else {
      expect_same_bits(got, *first);
    }
  }
}

/// The factors of dropout, computed from equal weights: [B, H, L, S].
inline reference::Array dropout_factors(Context& context, std::int64_t B, std::int64_t H,
                                        std::int64_t L, std::int64_t S, double share,
                                        std::uint64_t seed) {
  AttentionOptions options;
  options.need_weights = true;
  options.dropout = share;
  options.dropout_seed = seed;
  const Tensor q = filled({B, H, L, 1}, 0.0f), k = filled({B, H, S, 1}, 0.0f);
  reference::Array factors(*attention(context, q, k, k, options).weights);
  for (double& factor : factors.values) factor = factor == 0.0 ? 0.0 : 1.0 / (1.0 - share);
  return factors;
}

inline reference::AttentionGradients want_gradients(Context& context, const TensorView& d_output,
                                                    const TensorView& q, const TensorView& k,
                                                    const TensorView& v,
                                                    const AttentionOptions& options,
                                                    const std::optional<TensorView>& d_lse,
                                                    const Shape& pairs) {
  std::optional<reference::Array> d_lse_array;
  if (d_lse) d_lse_array = reference::Array(*d_lse);
  if (options.dropout == 0.0)
    return reference::attention_backward(d_output, q, k, v, options, d_lse_array);
  const reference::Array factors = dropout_factors(context, pairs[0], pairs[1], pairs[2], pairs[3],
                                                   options.dropout, options.dropout_seed);
  return reference::attention_backward(
      d_output, q, k, v, options, d_lse_array,
      [&](std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
        return factors[((b * pairs[1] + h) * pairs[2] + i) * pairs[3] + j];
      });
}

}  // namespace heed::test
