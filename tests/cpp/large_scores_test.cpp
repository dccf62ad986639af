// With large scores the result still depends on their differences, which must keep all digits.
// Scores here are integers around 50, 500 and 5000, exact in float32, and each bound is the same
// for all three.

#include <cmath>
#include <cstdint>
#include <optional>

#include "attention_gradient_support.hpp"
#include "cache_support.hpp"
#include "heed/attention_pooling.hpp"
#include "reference/additive_attention.hpp"
#include "reference/cross_entropy.hpp"
#include "reference/merge_attention.hpp"
#include "reference/softmax.hpp"

namespace heed::test {
namespace {

constexpr float kMagnitudes[] = {50.0f, 500.0f, 5000.0f};
/// The tolerance of sums of up to a hundred terms of order 1.
constexpr Tolerance kTight{3e-6, 1e-6};

Tensor whole_numbers(Random& random, const Shape& shape, std::int64_t most) {
  Tensor tensor(shape);
  for (float& x : tensor.data()) x = static_cast<float>(random.integer(-most, most));
  return tensor;
}

/// Queries and keys whose products are whole numbers between -9 and 9.
Inputs whole_inputs(Random& random, std::int64_t B, std::int64_t H, std::int64_t G, std::int64_t L,
                    std::int64_t S) {
  return {whole_numbers(random, {B, H, L, 9}, 1), whole_numbers(random, {B, G, S, 9}, 1),
          random.reals({B, G, S, 11})};
}

AttentionOptions unscaled(AttentionOptions options = {}) {
  options.scale = 1.0f;
  return options;
}

/// The gradients of all arguments, and all results of the forward pass except lse, which is as
/// large as the scores.
void expect_digits(Random& random, const Inputs& inputs, const AttentionOptions& options,
                   const std::optional<Shape>& pairs = {}) {
  Context context;
  const reference::AttentionResult want =
      reference::attention(inputs.q, inputs.k, inputs.v, options);
  if (options.dropout == 0.0) {
    const AttentionResult got =
        attention(context, inputs.q, inputs.k, inputs.v, with_everything(options));
    EXPECT_TRUE(close(got.output, want.output, kTight)) << "output";
    EXPECT_TRUE(close(got.entropy, want.entropy, kTight)) << "entropy";
    EXPECT_TRUE(close(got.weights, want.weights, kTight)) << "weights";
    EXPECT_TRUE(close(got.masked, want.masked, {0.0, 0.0})) << "masked";
  }
  const Tensor d_output = random.reals(want.output.shape), d_lse = random.reals(want.lse.shape);
  const reference::AttentionGradients gradients =
      want_gradients(context, d_output, inputs.q, inputs.k, inputs.v, options, d_lse,
                     pairs.value_or(Shape{1, 1, 1, 1}));
  expect_gradients(differentiate(context, d_output, inputs.q, inputs.k, inputs.v, options, d_lse),
                   gradients, kTight);
}

TEST(LargeScores, KeepTheGradientsOfAttention) {
  Random random(1);
  for (const float magnitude : kMagnitudes) {
    SCOPED_TRACE(magnitude);
    const Inputs inputs = whole_inputs(random, 2, 4, 2, 50, 140);
    // The bias adds the same large number to all scores.
    const Tensor bias = filled({1, 1}, magnitude);
    AttentionOptions options = unscaled();
    options.bias = bias;
    expect_digits(random, inputs, options);
    options.is_causal = true;
    options.window_left = 30;
    expect_digits(random, inputs, options);
    options.bias.reset();
    Tensor mask = filled({2, 1, 50, 140}, magnitude);
    for (std::size_t i = 0; i < mask.data().size(); i += 3) mask.data()[i] = -INFINITY;
    options.mask = mask;
    expect_digits(random, inputs, options);
  }
}

TEST(LargeScores, KeepTheGradientsOfScoresThatAreProducts) {
  Random random(2);
  for (const float root : {7.0f, 22.0f, 70.0f}) {
    SCOPED_TRACE(root * root);
    Inputs inputs = whole_inputs(random, 1, 2, 1, 20, 30);
    for (Tensor* const x : {&inputs.q, &inputs.k})
      for (std::size_t i = 8; i < x->data().size(); i += 9) x->data()[i] = root;
    Context context;
    const Tensor d_output = random.reals({1, 2, 20, 11});
    const AttentionGradients got =
        differentiate(context, d_output, inputs.q, inputs.k, inputs.v, unscaled());
    reference::AttentionGradients want =
        reference::attention_backward(d_output, inputs.q, inputs.k, inputs.v, unscaled());
    // The large coordinate scales the rounding error of the other factor.
    for (reference::Array* const x : {&want.q, &want.k})
      for (std::size_t i = 8; i < x->values.size(); i += 9) {
        const Tensor& own = x == &want.q ? got.q : got.k;
        EXPECT_NEAR(own.data()[i], x->values[i], 3e-6 * root);
        x->values[i] = own.data()[i];
      }
    EXPECT_TRUE(close(got.q, want.q, kTight));
    EXPECT_TRUE(close(got.k, want.k, kTight));
    EXPECT_TRUE(close(got.v, want.v, kTight));
  }
}

TEST(LargeScores, KeepTheGradientsOfSlopesSinksAndDropout) {
  Random random(3);
  for (const float magnitude : kMagnitudes) {
    SCOPED_TRACE(magnitude);
    const Inputs inputs = whole_inputs(random, 1, 2, 2, 40, 60);
    const Tensor bias = filled({1}, magnitude), sinks(Shape{2}, {magnitude + 5, magnitude - 1});
    AttentionOptions options = unscaled();
    options.bias = bias;
    options.sinks = sinks;
    expect_digits(random, inputs, options);
    options.dropout = 0.25;
    options.dropout_seed = 9;
    expect_digits(random, inputs, options, Shape{1, 2, 40, 60});
    // A slope that is a power of two subtracts exact numbers.
    const Tensor slopes(Shape{2}, {0.25f, 0.5f});
    options = unscaled();
    options.bias = bias;
    options.alibi_slopes = slopes;
    expect_digits(random, inputs, options);
    // All keys are far away.
    const auto distance = static_cast<std::int32_t>(magnitude);
    const Tensor far = integers({1}, {distance}), ones(Shape{2}, {1.0f, 1.0f});
    options = unscaled();
    options.alibi_slopes = ones;
    options.causal_offset = far;
    Context context;
    const Tensor d_output = random.reals({1, 2, 40, 11});
    const AttentionGradients got =
        differentiate(context, d_output, inputs.q, inputs.k, inputs.v, options);
    const reference::AttentionGradients want =
        reference::attention_backward(d_output, inputs.q, inputs.k, inputs.v, options);
    EXPECT_TRUE(close(got.q, want.q, kTight));
    EXPECT_TRUE(close(got.k, want.k, kTight));
    EXPECT_TRUE(close(got.v, want.v, kTight));
  }
}

TEST(LargeScores, KeepTheGradientsOfPackedSequences) {
  Random random(4);
  for (const float root : {7.0f, 22.0f, 70.0f}) {
    SCOPED_TRACE(root * root);
    const Tensor bounds = integers({3}, {0, 13, 31});
    AttentionOptions options = unscaled(causal());
    options.cu_seqlens_q = bounds;
    options.cu_seqlens_k = bounds;
    Inputs inputs;
    inputs.q = whole_numbers(random, {31, 2, 9}, 1);
    inputs.k = whole_numbers(random, {31, 1, 9}, 1);
    inputs.v = random.reals({31, 1, 11});
    const Tensor sinks(Shape{2, 1}, {root * root, root * root + 3});
    options.sinks = sinks;
    for (std::size_t i = 8; i < inputs.q.data().size(); i += 9) inputs.q.data()[i] = root * root;
    for (std::size_t i = 8; i < inputs.k.data().size(); i += 9) inputs.k.data()[i] = 1.0f;
    Context context;
    const Tensor d_output = random.reals({31, 2, 11});
    const AttentionGradients got =
        differentiate(context, d_output, inputs.q, inputs.k, inputs.v, options);
    const reference::AttentionGradients want =
        reference::attention_backward(d_output, inputs.q, inputs.k, inputs.v, options);
    EXPECT_TRUE(close(got.q, want.q, kTight));
    EXPECT_TRUE(close(got.v, want.v, kTight));
    EXPECT_TRUE(close(*got.sinks, want.sinks, kTight));
  }
}

TEST(LargeScores, KeepTheGradientsIfOneKeyHasAllTheWeight) {
  // Each token attends to itself with weight 1, so the scores have almost no gradient.
  Random random(5);
  Context context;
  for (const std::int64_t most : {3, 9, 28}) {
    const Tensor x = whole_numbers(random, {2, 1, 20, 24}, most);
    const Tensor d_output = random.reals({2, 1, 20, 24});
    const AttentionGradients got = differentiate(context, d_output, x, x, x, unscaled());
    const reference::AttentionGradients want =
        reference::attention_backward(d_output, x, x, x, unscaled());
    EXPECT_TRUE(close(got.q, want.q, {1e-8, 1e-6})) << "up to " << most;
    EXPECT_TRUE(close(got.k, want.k, {1e-8, 1e-6})) << "up to " << most;
    EXPECT_TRUE(close(got.v, want.v, {1e-8, 1e-6})) << "up to " << most;
  }
}

TEST(LargeScores, KeepTheResultsOfADecodeStep) {
  Random random(6);
  for (const float root : {7.0f, 22.0f, 70.0f}) {
    for (const std::int64_t queries : {1, 40}) {  // decode.hpp, and flash_attention.hpp
      SCOPED_TRACE(testing::Message() << root * root << ", " << queries << " queries");
      Context context;
      KvCache cache(context, {.heads = 1, .head_size = 9, .value_size = 11, .capacity = 800});
      Inputs inputs = whole_inputs(random, 1, 2, 1, queries, 700);
      for (Tensor* const x : {&inputs.q, &inputs.k})
        for (std::size_t i = 8; i < x->data().size(); i += 9) x->data()[i] = root;
      cache.append(inputs.k, inputs.v);
      const Tensor none(Shape{1, 1, 0, 9}), no_values(Shape{1, 1, 0, 11});
      const Tensor sinks(Shape{2}, {root * root, root * root + 4.0f});
      AttentionOptions options = unscaled();
      options.sinks = sinks;
      const reference::Array want =
          reference::attention(inputs.q, inputs.k, inputs.v, options).output;
      options.cache = &cache;
      EXPECT_TRUE(
          close(attention(context, inputs.q, none, no_values, options).output, want, kTight));
    }
  }
}

TEST(LargeScores, KeepMergedOutputs) {
  Random random(7);
  Context context;
  for (const float magnitude : kMagnitudes) {
    const Tensor a = random.reals({1, 2, 9, 5}), b = random.reals({1, 2, 9, 5});
    Tensor lse_a = whole_numbers(random, {1, 2, 9}, 6), lse_b = whole_numbers(random, {1, 2, 9}, 6);
    for (Tensor* const lse : {&lse_a, &lse_b})
      for (float& x : lse->data()) x += magnitude;
    EXPECT_TRUE(close(merge_attention(context, a, lse_a, b, lse_b).output,
                      reference::merge_attention({a, lse_a}, {b, lse_b}).output, {3e-7, 3e-7}))
        << magnitude;
  }
}

TEST(LargeScores, KeepAdditiveAttention) {
  // tanh is exactly 1 or -1 and the weights are whole numbers.
  Random random(8);
  Context context;
  for (const float magnitude : kMagnitudes) {
    SCOPED_TRACE(magnitude);
    Tensor q = filled({2, 5, 8}, 0.0f), k = whole_numbers(random, {2, 30, 8}, 1);
    for (float& x : k.data()) x = x < 0.5f ? -40.0f : 40.0f;
    for (std::size_t i = 7; i < k.data().size(); i += 8) k.data()[i] = 40.0f;
    Tensor weight = whole_numbers(random, {8}, 2);
    weight.data()[7] = magnitude;
    const Tensor v = random.reals({2, 30, 6}), d_output = random.reals({2, 5, 6});
    const AdditiveAttentionResult got = additive_attention(context, q, k, v, weight);
    const reference::WeightedResult want = reference::additive_attention(q, k, v, weight, {});
    EXPECT_TRUE(close(got.output, want.output, kTight));
    EXPECT_TRUE(close(got.weights, want.weights, kTight));
    const AdditiveAttentionGradients back =
        additive_attention_backward(context, d_output, {}, q, k, v, weight, got.weights);
    const reference::AdditiveAttentionGradients want_back =
        reference::additive_attention_backward(d_output, {}, q, k, v, weight, want.weights);
    EXPECT_TRUE(close(back.v, want_back.v, kTight));
    EXPECT_TRUE(close(back.weight, want_back.weight, kTight));
  }
}

TEST(LargeScores, KeepSoftmaxAndCrossEntropy) {
  Random random(9);
  Context context;
  for (const float magnitude : kMagnitudes) {
    SCOPED_TRACE(magnitude);
    Tensor x = whole_numbers(random, {12, 50}, 6);
    for (float& number : x.data()) number += magnitude;
    const Tensor y = softmax(context, x), d_y = random.reals({12, 50});
    EXPECT_TRUE(close(y, reference::softmax(x), kTight));
    EXPECT_TRUE(close(softmax_backward(context, d_y, y),
                      reference::softmax_backward(d_y, reference::softmax(x)), kTight));
    Tensor targets(Shape{12}, DType::kInt32);
    for (std::int32_t& target : targets.data<std::int32_t>())
      target = static_cast<std::int32_t>(random.integer(0, 49));
    CrossEntropyOptions options;
    options.label_smoothing = 0.1;
    const Tensor d_loss = filled({}, 1.0f);
    EXPECT_TRUE(close(cross_entropy(context, x, targets, options),
                      reference::cross_entropy(x, targets, options), kTight));
    EXPECT_TRUE(close(cross_entropy_backward(context, d_loss, x, targets, options),
                      reference::cross_entropy_backward(d_loss, x, targets, options), kTight));
  }
}

}  // namespace
}  // namespace heed::test
