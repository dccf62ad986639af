#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "reference/attention.hpp"
#include "support.hpp"

namespace heed::test {

struct Inputs {
  Tensor q;
  Tensor k;
  Tensor v;
};

/// q, k, v for B, H, G, L, S, D, Dv. Entries lie in [-1, 1): with the scale 1/sqrt(D) scores stay
/// within a few units, where the error of a float32 softmax is about 1e-6.
inline Inputs random_inputs(Random& random, std::int64_t B, std::int64_t H, std::int64_t G,
                            std::int64_t L, std::int64_t S, std::int64_t D, std::int64_t Dv) {
  Inputs inputs;
  inputs.q = random.reals({B, H, L, D});
  inputs.k = random.reals({B, G, S, D});
  inputs.v = random.reals({B, G, S, Dv});
  return inputs;
}

/// Small sizes, multiples of 16 and other sizes, equally often.
inline std::int64_t random_size(Random& random, std::int64_t low, std::int64_t high) {
  switch (random.integer(0, 2)) {
    case 0:
      return random.integer(low, 5);
    case 1:
      return 16 * random.integer(1, high / 16);
    default:
      return random.integer(low, high);
  }
}

inline AttentionOptions causal() {
  AttentionOptions options;
  options.is_causal = true;
  return options;
}

/// Requests every result that is possible, for packed sequences fewer.
inline AttentionOptions with_everything(AttentionOptions options) {
  const bool is_packed = options.cu_seqlens_q.has_value();
  options.need_weights = !is_packed;
  options.need_lse = true;
  options.capture_scores = !is_packed;
  options.capture_capped = !is_packed;
  options.capture_masked = !is_packed;
  options.capture_entropy = true;
  return options;
}

/// A shape that broadcasts to [B, H, L, S], sometimes with a shorter last axis.
inline Shape random_pairs_shape(Random& random, const Shape& full) {
  const auto rank = static_cast<int>(random.integer(0, 4));
  std::vector<std::int64_t> sizes;
  for (int axis = 4 - rank; axis < 4; ++axis) {
    sizes.push_back(random.chance(30) ? 1 : full[axis]);
  }
  if (rank > 0 && full[3] > 2 && random.chance(20)) sizes.back() = random.integer(2, full[3]);
  return Shape(std::span<const std::int64_t>(sizes));
}

/// Calls compare(got, want, name) for every optional result.
template <class Want, class Compare>
void for_each_optional(const AttentionResult& got, const Want& want, const Compare& compare) {
  compare(got.weights, want.weights, "weights");
  compare(got.lse, want.lse, "lse");
  compare(got.scores, want.scores, "scores");
  compare(got.capped, want.capped, "capped scores");
  compare(got.masked, want.masked, "masked scores");
  compare(got.entropy, want.entropy, "entropy");
  compare(got.present_key, want.present_key, "present key");
  compare(got.present_value, want.present_value, "present value");
}

/// Compares an optional result, if it exists, with the reference's.
inline auto expect_close(const Tolerance& tolerance) {
  return [tolerance](const std::optional<Tensor>& tensor, const reference::Array& array,
                     const char* name) {
    if (!tensor) return;
    EXPECT_TRUE(close(*tensor, array, tolerance)) << name;
  };
}

/// Compares every result that exists with the reference's.
inline void expect_results(const AttentionResult& got, const reference::AttentionResult& want,
                           const Tolerance& tolerance) {
  EXPECT_TRUE(close(got.output, want.output, tolerance)) << "output";
  for_each_optional(got, want, expect_close(tolerance));
}

/// Every result, and the output again by the path that stores no weights.
inline void expect_reference(Context& context, const TensorView& q, const TensorView& k,
                             const TensorView& v, const AttentionOptions& options,
                             const Tolerance& tolerance = {}) {
  const reference::AttentionResult want = reference::attention(q, k, v, options);
  const bool is_packed = options.cu_seqlens_q.has_value();
  const bool has_past = options.past_key.has_value();
  {
    SCOPED_TRACE("with every result");
    const AttentionResult all = attention(context, q, k, v, with_everything(options));
    EXPECT_EQ(is_packed, !all.weights || !all.scores || !all.capped || !all.masked);
    EXPECT_TRUE(all.lse && all.entropy);
    EXPECT_EQ(has_past, all.present_key && all.present_value);
    expect_results(all, want, tolerance);
  }
  SCOPED_TRACE("with output and lse alone");
  AttentionOptions lean = options;
  lean.need_lse = true;
  expect_results(attention(context, q, k, v, lean), want, tolerance);
}

inline void expect_reference(Context& context, const Inputs& inputs,
                             const AttentionOptions& options = {},
                             const Tolerance& tolerance = {}) {
  expect_reference(context, inputs.q, inputs.k, inputs.v, options, tolerance);
}

/// Every result that exists, in a list.
inline std::vector<Tensor> list_of_results(AttentionResult&& result) {
  return list_of(std::move(result.output), std::move(result.weights), std::move(result.lse),
                 std::move(result.statistics), std::move(result.scores), std::move(result.capped),
                 std::move(result.masked), std::move(result.entropy), std::move(result.present_key),
                 std::move(result.present_value));
}

/// The same bits in an optional result.
inline void expect_same_optional(const std::optional<Tensor>& got,
                                 const std::optional<Tensor>& want, const char* name) {
  if (!got && !want) return;
  EXPECT_TRUE(same_bits(got, want)) << name;
}

/// The same bits in every result that either has.
inline void expect_same_bits(const AttentionResult& got, const AttentionResult& want) {
  EXPECT_TRUE(same_bits(got.output, want.output)) << "output";
  for_each_optional(got, want, expect_same_optional);
}

}  // namespace heed::test
