// Values at the ends of ranges, and objects that are used with another context or owner.

#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "errors_support.hpp"

namespace heed::test {
namespace {

TEST(PackedWeights, AreRefusedByAContextOfAnotherInstructionSet) {
  Context own;
  const PackedWeights weights(own, filled({2, 3}, 1.0f));
  for (const std::string_view isa : Context::available_isas()) {
    if (isa == own.isa()) continue;
    Context other({.isa = isa});
    expect_refusal(ErrorCode::kOption, "weight", "weights packed for " + std::string(own.isa()),
                   [&] { linear(other, filled({1, 3}, 1.0f), weights); });
  }
}

TEST(PackedWeights, KeepTheirShapeAndFormatWhenTheyMove) {
  Context context;
  PackedWeights weights(context, filled({2, 3}, 1.0f), PackedWeights::Format::kInt8);
  weights = PackedWeights(context, filled({4, 3}, 2.0f));
  const PackedWeights moved = std::move(weights);
  EXPECT_EQ(moved.shape(), (Shape{4, 3}));
  EXPECT_EQ(moved.format(), PackedWeights::Format::kFloat32);
  EXPECT_EQ(linear(context, filled({1, 3}, 1.0f), moved).data()[3], 6.0f);
}

TEST(Context, IsReplacedByAnother) {
  Context context;
  context = Context({.threads = 2});
  EXPECT_EQ(context.threads(), 2);
}

TEST(Tensor, OwnsItsBytesWhileNoOtherSharesThem) {
  Tensor tensor(Shape{5});
  EXPECT_EQ(tensor.owned_bytes(), 64u);
  {
    const Tensor alias = tensor.alias(Shape{2}, 3);
    EXPECT_TRUE(tensor.is_shared());
    EXPECT_EQ(tensor.owned_bytes() + alias.owned_bytes(), 0u);
  }
  EXPECT_EQ(tensor.owned_bytes(), 64u);
  EXPECT_EQ(Tensor().owned_bytes(), 0u);
  EXPECT_FALSE(Tensor().is_shared());
}

TEST_F(Refusals, OfNumbersThatAreNotFinite) {
  const Tensor image = filled({4, 4}, 1.0f);
  NonLocalMeansOptions means;
  means.h = kInfinity;
  expect_error(ErrorCode::kOption, "h", "Infinity",
               [&] { non_local_means(context, image, means); });
  means.h = 1.0f;
  means.sigma = kInfinity;
  expect_error(ErrorCode::kOption, "sigma", "Infinity",
               [&] { non_local_means(context, image, means); });
  LayerNormOptions norm;
  norm.eps = kInfinity;
  expect_error(ErrorCode::kOption, "eps", "Infinity", [&] { layer_norm(context, image, norm); });
}

TEST_F(Refusals, OfHeadsBeyondTheLargestSize) {
  const Tensor joined = filled({1, 2, 4}, 1.0f);
  AttentionOptions options;
  options.heads = Shape::kMaxSize + 1;
  const std::string got = std::to_string(Shape::kMaxSize + 1);
  const auto attend = [&] { attention(context, joined, joined, joined, options); };
  expect_error(ErrorCode::kOption, "heads", got, attend);
  options.heads = 2;
  options.kv_heads = Shape::kMaxSize + 1;
  expect_error(ErrorCode::kOption, "kv_heads", got, attend);
}

TEST_F(Refusals, OfArraysWithTooFewAxes) {
  const Tensor scalar(Shape{});
  expect_error(ErrorCode::kShape, "x", "[]", [&] { top_k(context, scalar, 1); });
  expect_error(ErrorCode::kShape, "x", "[3]",
               [&] { adaptive_max_pool(context, filled({3}, 1.0f), 1, 1); });
}

TEST_F(Refusals, OfATableWithANegativeNumberOfRows) {
  const Tensor ids(Shape{0}, DType::kInt32);
  expect_error(ErrorCode::kOption, "rows", "-1",
               [&] { embedding_backward(context, Tensor(Shape{0, 2}), ids, -1, {}); });
}

TEST(AttentionBackward, GivesASinkOfMinusInfinityNoGradient) {
  Context context;
  const Tensor x = filled({1, 1, 2, 2}, 1.0f);
  const Tensor sinks(Shape{1}, {-kInfinity});
  AttentionOptions options;
  options.sinks = sinks;
  options.need_statistics = true;
  const AttentionResult result = attention(context, x, x, x, options);
  AttentionGradientOptions wanted;
  wanted.need_sinks = true;
  const AttentionGradients gradients =
      attention_backward(context, x, x, x, x, result.output, *result.statistics, options, wanted);
  EXPECT_EQ(gradients.sinks->data()[0], 0.0f);
}

/// Heads and values of size 0: nothing to multiply, but a softmax over keys that are all equal.
TEST(Attention, GivesEqualWeightsToHeadsWithoutEntries) {
  Context context;
  const Tensor nothing(Shape{1, 1, 2, 0});
  AttentionOptions options;
  options.scale = 1.0f;
  options.capture_entropy = true;
  const AttentionResult only = attention(context, nothing, nothing, nothing, options);
  EXPECT_NEAR(only.entropy->data()[1], std::log(2.0f), 1e-6f);
  options.capture_masked = options.capture_capped = options.capture_scores = true;
  const AttentionResult all = attention(context, nothing, nothing, nothing, options);
  for (const Tensor* stage : {&*all.scores, &*all.capped, &*all.masked})
    for (const float score : stage->data()) EXPECT_EQ(score, 0.0f);
}

}  // namespace
}  // namespace heed::test
