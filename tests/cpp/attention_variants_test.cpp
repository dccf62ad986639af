// The operations on scores between the scale and the softmax - softcap, bias, ALiBi, sinks - and
// the stages that can be kept.

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "attention_support.hpp"

namespace heed::test {
namespace {

/// One head of one query [1] and keys [S, 1]. Their products are the scores.
AttentionResult of_scores(const std::vector<float>& scores, AttentionOptions options) {
  const auto S = static_cast<std::int64_t>(scores.size());
  const TensorView k(scores.data(), Shape{1, 1, S, 1});
  Context context;
  options.scale = 1.0f;
  return attention(context, filled({1, 1, 1, 1}, 1.0f), k, k, with_everything(options));
}

void expect_values(const std::optional<Tensor>& got, const std::vector<double>& want,
                   double tolerance = 1e-6) {
  ASSERT_TRUE(got.has_value());
  ASSERT_EQ(got->data().size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (std::isinf(want[i])) {
      EXPECT_EQ(got->data()[i], want[i]) << "element " << i;
    } else {
      EXPECT_NEAR(got->data()[i], want[i], tolerance) << "element " << i;
    }
  }
}

TEST(AttentionSoftcap, BoundsScores) {
  AttentionOptions options;
  options.softcap = 2.0f;
  const AttentionResult result = of_scores({0, 1, -4, 100}, options);
  expect_values(result.scores, {0, 1, -4, 100}, 1e-5);
  expect_values(result.capped, {0, 2 * std::tanh(0.5), 2 * std::tanh(-2.0), 2});
}

TEST(AttentionSoftcap, MatchesTheReference) {
  Random random(1);
  Context context;
  const Inputs inputs = random_inputs(random, 2, 4, 2, 60, 150, 16, 8);
  for (const float cap : {0.01f, 1.0f, 5.0f, 50.0f, 1e4f, 1e30f}) {
    SCOPED_TRACE(testing::Message() << "softcap " << cap);
    AttentionOptions options;
    options.softcap = cap;
    options.scale = 1.0f;
    // The error of tanh is up to 4e-7, times a cap of 50. With larger caps, scores are small
    // compared with the cap, and the error of tanh is relative to its value.
    expect_reference(context, inputs, options, {2e-5, 1e-5});
  }
}

TEST(AttentionSoftcap, ComesBeforeBiasesAndMasks) {
  const Tensor bias(Shape{4}, {100, 0, -kInfinity, 0});
  AttentionOptions options;
  options.softcap = 1.0f;
  options.bias = bias;
  options.window_right = 2;
  const AttentionResult result = of_scores({50, 50, 50, 50}, options);
  expect_values(result.capped, {1, 1, 1, 1});
  expect_values(result.masked, {101, 1, -kInfinity, -kInfinity}, 1e-5);
}

TEST(AttentionBias, IsAddedAndHidesWithMinusInfinity) {
  const Tensor bias(Shape{3}, {std::log(2.0f), -kInfinity, 0});
  AttentionOptions options;
  options.bias = bias;
  const AttentionResult result = of_scores({0, 9, 0}, options);
  expect_values(result.weights, {2.0 / 3.0, 0, 1.0 / 3.0});
  expect_values(result.lse, {std::log(3.0)});
}

TEST(AttentionBias, EqualsAFloatMask) {
  Random random(3);
  Context context;
  const Inputs inputs = random_inputs(random, 1, 2, 2, 50, 140, 8, 8);
  const Tensor bias = random.biases({50, 140}, 30);
  AttentionOptions as_mask, as_bias;
  as_mask.mask = bias;
  as_bias.bias = bias;
  expect_same_bits(attention(context, inputs.q, inputs.k, inputs.v, with_everything(as_bias)),
                   attention(context, inputs.q, inputs.k, inputs.v, with_everything(as_mask)));
}

TEST(AttentionAlibi, SubtractsTheDistanceTimesTheSlope) {
  // The query has the position of key 2; a slope of log 2 halves the weight with each step away.
  const Tensor slope(Shape{1}, {std::log(2.0f)}), offset = integers({1}, {2});
  AttentionOptions options;
  options.alibi_slopes = slope;
  options.causal_offset = offset;
  const AttentionResult result = of_scores({0, 0, 0, 0}, options);
  const double sum = 0.25 + 0.5 + 1 + 0.5;
  expect_values(result.weights, {0.25 / sum, 0.5 / sum, 1 / sum, 0.5 / sum});
  expect_values(result.scores, {0, 0, 0, 0});
  expect_values(result.capped, {0, 0, 0, 0});
}

TEST(AttentionSinks, AffectOnlyTheDenominator) {
  AttentionOptions options;
  const auto with = [&](float sink) {
    const Tensor sinks(Shape{1}, {sink});
    options.sinks = sinks;
    return of_scores({0, 0, 0}, options);
  };
  AttentionResult result = with(0);
  expect_values(result.weights, {0.25, 0.25, 0.25});
  expect_values(result.lse, {std::log(4.0)});
  expect_values(result.masked, {0, 0, 0});
  expect_values(result.entropy, {0.75 * std::log(4.0)});
  result = with(std::log(3.0f));
  expect_values(result.weights, {1 / 6.0, 1 / 6.0, 1 / 6.0});
  // Extreme sinks: -inf has no effect, and a large one leaves no weight for the keys.
  result = with(-kInfinity);
  expect_values(result.weights, {1 / 3.0, 1 / 3.0, 1 / 3.0});
  expect_values(result.lse, {std::log(3.0)});
  result = with(1e4f);
  expect_values(result.weights, {0, 0, 0}, 0);
  expect_values(result.lse, {1e4}, 0);
}

TEST(AttentionSinks, AreTheLseOfAQueryWithoutVisibleKeys) {
  Random random(5);
  Context context;
  const Inputs inputs = random_inputs(random, 1, 3, 3, 10, 20, 4, 4);
  const Tensor sinks(Shape{3}, {2.5f, -kInfinity, -1e4f}), nothing = bools({}, {false});
  AttentionOptions options;
  options.sinks = sinks;
  options.mask = nothing;
  expect_reference(context, inputs, options);
  const AttentionResult result =
      attention(context, inputs.q, inputs.k, inputs.v, with_everything(options));
  for (std::size_t h = 0; h < 3; ++h) {
    for (std::size_t i = 0; i < 10; ++i) {
      EXPECT_EQ(result.lse->data()[h * 10 + i], sinks.data()[h]);
      EXPECT_EQ(result.entropy->data()[h * 10 + i], 0.0f);
    }
  }
  for (const float x : result.output.data()) EXPECT_EQ(x, 0.0f);
}

TEST(AttentionSinks, MayDifferBetweenBatchEntriesLikeSlopes) {
  Random random(16);
  Context context;
  const Inputs inputs = random_inputs(random, 3, 4, 2, 20, 150, 8, 8);
  for (const Shape& shape : {Shape{3, 4}, Shape{3, 1}, Shape{1, 4}, Shape{1, 1}}) {
    SCOPED_TRACE(to_string(shape));
    const Tensor sinks = random.reals(shape, -2.0f, 2.0f), slopes = random.reals(shape, 0.0f, 0.2f);
    AttentionOptions options = causal();
    options.sinks = sinks;
    expect_reference(context, inputs, options);
    options.alibi_slopes = slopes;
    expect_reference(context, inputs, options);

    // A decode step has its own kernel.
    const Tensor q = random.reals({3, 4, 1, 8}), none(Shape{3, 2, 0, 8});
    KvCache cache(context, {.batch = 3, .heads = 2, .head_size = 8, .capacity = 150});
    cache.append(inputs.k, inputs.v);
    AttentionOptions step;
    step.sinks = sinks;
    step.alibi_slopes = slopes;
    step.causal_alignment = CausalAlignment::kBottomRight;
    const reference::Array want = reference::attention(q, inputs.k, inputs.v, step).output;
    step.cache = &cache;
    EXPECT_TRUE(close(attention(context, q, none, none, step).output, want));
  }

  // Each packed sequence counts as a batch entry.
  const Tensor q = random.reals({30, 4, 8}), k = random.reals({30, 2, 8}),
               v = random.reals({30, 2, 8}), bounds = integers({3}, {0, 11, 30}),
               sinks = random.reals({2, 4}), slopes = random.reals({2, 1}, 0.0f, 0.2f);
  AttentionOptions options = causal();
  options.cu_seqlens_q = options.cu_seqlens_k = bounds;
  options.sinks = sinks;
  options.alibi_slopes = slopes;
  expect_reference(context, q, k, v, options);
}

TEST(AttentionCapture, ReturnsTheEntropyOfWeights) {
  AttentionOptions options;
  const std::vector<float> equal(200, 0.5f);
  expect_values(of_scores(equal, options).entropy, {std::log(200.0)}, 1e-5);
  expect_values(of_scores({3}, options).entropy, {0}, 0);
  // 1/4 and 3/4.
  expect_values(of_scores({0, std::log(3.0f)}, options).entropy,
                {0.25 * std::log(4.0) + 0.75 * std::log(4.0 / 3.0)});
  // Weights of scores far below the maximum are 0 and add nothing.
  expect_values(of_scores({0, 0, -1e4f}, options).entropy, {std::log(2.0)});
  options.window_right = 1;
  expect_values(of_scores({0, 0, 5, 6}, options).entropy, {std::log(2.0)});
}

TEST(AttentionVariants, StayFiniteForScoresOfTenThousand) {
  // Integers, exact in float32, and every option that could create infinities.
  Random random(9);
  Context context;
  Inputs inputs = random_inputs(random, 1, 2, 1, 60, 200, 4, 8);
  for (float& x : inputs.q.data()) x = static_cast<float>(random.integer(-50, 50));
  for (float& x : inputs.k.data()) x = static_cast<float>(random.integer(-50, 50));
  const Tensor sinks(Shape{2}, {10000, -10000}), slopes(Shape{2}, {128, -64});
  Tensor bias = random.biases({200}, 10);
  for (float& x : bias.data()) x = std::round(x) * 10000;
  AttentionOptions plain;
  plain.scale = 1.0f;
  const auto expect_finite = [&](const AttentionOptions& options) {
    expect_reference(context, inputs, options, {2e-5, 2e-5});
    const Tensor output = attention(context, inputs.q, inputs.k, inputs.v, options).output;
    for (const float x : output.data()) ASSERT_TRUE(std::isfinite(x));
  };
  AttentionOptions options = plain;
  options.sinks = sinks;
  expect_finite(options);
  options.alibi_slopes = slopes;
  expect_finite(options);
  options.bias = bias;
  expect_finite(options);
  options.is_causal = true;
  options.window_left = 9;
  expect_finite(options);
  options = plain;
  options.softcap = 30.0f;
  expect_finite(options);
}

TEST(AttentionVariants, IgnoreNaNAndInfinityInHiddenBiases) {
  Random random(10);
  const std::size_t L = 60, S = 200;
  const Inputs inputs = random_inputs(random, 1, 2, 1, 60, 200, 8, 8);
  const Tensor slopes(Shape{2}, {0.1f, 0.2f});
  const Tensor clean = random.reals({60, 200});
  Tensor bias(clean.shape());
  for (std::size_t i = 0; i < L; ++i) {
    for (std::size_t j = 0; j < S; ++j) {
      const bool is_hidden = j > i + 3 || j + 20 < i;
      const std::size_t n = i * S + j;
      bias.data()[n] = !is_hidden ? clean.data()[n] : j % 2 == 0 ? kNaN : kInfinity;
    }
  }
  AttentionOptions options = with_everything({});
  options.window_left = 20;
  options.window_right = 3;
  options.softcap = 4.0f;
  options.alibi_slopes = slopes;
  Context context;
  options.bias = clean;
  const AttentionResult want = attention(context, inputs.q, inputs.k, inputs.v, options);
  options.bias = bias;
  expect_same_bits(attention(context, inputs.q, inputs.k, inputs.v, options), want);
}

}  // namespace
}  // namespace heed::test
