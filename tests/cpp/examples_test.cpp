// The examples of the C++ reference that no other file of tests has.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "examples_support.hpp"

namespace heed::test {
namespace {

// heed.hpp

TEST_F(Example, attention) {
  const Tensor x({1, 1, 3, 1}, {1, 2, 3});
  AttentionOptions options;
  options.is_causal = true;
  options.need_weights = true;
  const AttentionResult result = attention(context, x, x, x, options);
  EXPECT_EQ(to_string(result.output.shape()), "[1, 1, 3, 1]");
  EXPECT_EQ(result.output.data()[0], 1.0f);  // the first query sees only the first key
  EXPECT_NEAR(result.weights->data()[3], 1 / (1 + std::exp(2.0f)), 1e-6);
}

TEST_F(Example, attention_backward) {
  const Tensor x({1, 1, 2, 1}, {1, 2});
  AttentionOptions options;
  options.need_statistics = true;
  const AttentionResult y = attention(context, x, x, x, options);
  const Tensor d_output({1, 1, 2, 1}, {1, 1});
  const AttentionGradients d =
      attention_backward(context, d_output, x, x, x, y.output, *y.statistics, options);
  EXPECT_NEAR(d.v.data()[0] + d.v.data()[1], 2, 1e-6);  // the weights of a query add up to 1
}

TEST_F(Example, BlockMask) {
  const auto is_near = [](std::int64_t, std::int64_t, std::int64_t q, std::int64_t k) {
    return q - k >= 0 && q - k < 2;
  };
  const BlockMask mask = BlockMask::from(1, 1, 3, 3, is_near);
  AttentionOptions options;
  options.block_mask = &mask;
  options.need_weights = true;
  const Tensor x({1, 1, 3, 1}, {0, 0, 0});
  const AttentionResult result = attention(context, x, x, x, options);
  EXPECT_EQ(numbers(*result.weights), (Numbers{1, 0, 0, 0.5f, 0.5f, 0, 0, 0.5f, 0.5f}));
}

TEST_F(Example, merge_attention) {
  const Tensor q({1, 1, 1, 1}, {1}), k({1, 1, 2, 1}, {1, 2}), v({1, 1, 2, 1}, {3, 5});
  AttentionOptions options;
  options.need_lse = true;
  const auto part = [&](std::int64_t key) {
    return attention(context, q, k.alias({1, 1, 1, 1}, key), v.alias({1, 1, 1, 1}, key), options);
  };
  const AttentionResult a = part(0), b = part(1), whole = attention(context, q, k, v, options);
  const PartialAttention merged = merge_attention(context, a.output, *a.lse, b.output, *b.lse);
  EXPECT_NEAR(merged.output.data()[0], whole.output.data()[0], 1e-5);
  EXPECT_NEAR(merged.lse.data()[0], whole.lse->data()[0], 1e-5);
}

TEST_F(Example, linear_attention) {
  const Tensor x({1, 1, 3, 1}, {1, 2, 3}), decay({1, 1, 3}, {-1, -1, -1});
  LinearAttentionOptions options;
  options.rule = LinearRule::kGated;
  options.decay = decay;
  const LinearAttentionResult result = linear_attention(context, x, x, x, options);
  const float e = std::exp(-1.0f);
  EXPECT_NEAR(result.present_state.data()[0], e * (e * 1 + 4) + 9, 1e-5);
}

TEST_F(Example, multi_head_attention) {
  const Tensor x = random_normal(context, {1, 5, 8}, 0, 1, 1);
  const Tensor in = random_normal(context, {24, 8}, 0, 0.3, 2);
  const Tensor out = random_normal(context, {8, 8}, 0, 0.3, 3);
  MultiHeadAttentionParameters parameters;
  parameters.in_proj_weight = in;
  parameters.out_proj_weight = out;
  MultiHeadAttentionOptions options;
  options.heads = 2;
  options.need_weights = true;
  const MultiHeadAttentionResult result =
      multi_head_attention(context, x, x, x, parameters, options);
  EXPECT_EQ(result.output.shape(), Shape({1, 5, 8}));
  EXPECT_EQ(result.weights->shape(), Shape({1, 2, 5, 5}));
}

TEST_F(Example, check_multi_head_attention) {
  const Tensor x({1, 5, 8}), in({24, 8}), out({8, 8});
  MultiHeadAttentionParameters parameters;
  parameters.in_proj_weight = in;
  parameters.out_proj_weight = out;
  MultiHeadAttentionOptions options;
  options.heads = 3;  // does not divide 8
  EXPECT_THROW(check_multi_head_attention(x, x, x, parameters, options), OptionError);
}

// arrays.hpp

TEST_F(Example, adaptive_max_pool) {
  const Tensor x({2, 4}, {1, 5, 2, 3, 4, 0, 9, 1});
  EXPECT_EQ(numbers(adaptive_max_pool(context, x, 1, 2)), (Numbers{5, 9}));
}

TEST_F(Example, cast) {
  const Tensor half = cast(context, Tensor({2}, {0.5f, 0.1f}), DType::kFloat16);
  EXPECT_EQ(half.data<Float16>()[0].bits, 0x3800);
  EXPECT_EQ(cast(context, half, DType::kFloat32).data()[0], 0.5f);
}

TEST_F(Example, random_uniform) {
  const Tensor a = random_uniform(context, {1000}, 0, 1, 7);
  EXPECT_EQ(numbers(a), numbers(random_uniform(context, {1000}, 0, 1, 7)));
  EXPECT_NEAR(random_normal(context, {100'000}, 5, 1, 7).data()[0], 5, 6);
}

// context.hpp and error.hpp

TEST_F(Example, Context) {
  Context two({.threads = 2});
  EXPECT_EQ(two.threads(), 2);
  EXPECT_FALSE(Context::available_isas().empty());
}

TEST_F(Example, CancelledError) {
  const Tensor x({1}, {1});
  context.call() = Context::kCancelled;  // any thread may write it
  EXPECT_THROW(scale(context, x, 2), CancelledError);
  context.call() = 0;
  EXPECT_EQ(scale(context, x, 2).data()[0], 2.0f);
}

TEST_F(Example, Error) {
  const Tensor q({2, 8}), ids({1}, DType::kInt32);
  try {
    attention(context, q, q, q);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kShape);
    EXPECT_STREQ(error.what(), "q: expected rank 3 or 4, got [2, 8]");
  }
  EXPECT_THROW(scale(context, ids, 2), DTypeError);
  EXPECT_THROW(dropout(context, q, -1, 0), OptionError);
  EXPECT_THROW(Tensor({std::int64_t{1} << 40, 1 << 20}), MemoryError);
}

TEST_F(Example, ShapeError) {
  const Shape given{2, 8};
  const ShapeError error("q", MessagePart("rank ", 3), given);  // for functions of your own
  EXPECT_STREQ(error.what(), "q: expected rank 3, got [2, 8]");
}

// kv_cache.hpp, packed_weights.hpp, sampling.hpp, optim.hpp

TEST_F(Example, KvCache) {
  KvCache cache(context, {.heads = 1, .head_size = 2, .capacity = 16});
  const Tensor token({1, 1, 1, 2}, {1, 2});
  AttentionOptions options;
  options.cache = &cache;
  options.is_causal = true;
  for (int step = 0; step < 3; ++step) attention(context, token, token, token, options);
  EXPECT_EQ(cache.length(0), 3);
  cache.rewind(0, 1);
  EXPECT_EQ(cache.length(0), 2);
}

TEST_F(Example, PackedWeights) {
  const Tensor x({1, 2}, {1, 2}), weight({1, 2}, {3, 4});
  const PackedWeights packed(context, weight);
  EXPECT_EQ(numbers(linear(context, x, packed)), (Numbers{11}));
}

TEST_F(Example, top_k) {
  const TopKResult top = top_k(context, Tensor({4}, {1, 7, 3, 7}), 2);
  EXPECT_EQ(numbers(top.values), (Numbers{7, 7}));
  EXPECT_EQ(top.indices.data<std::int32_t>()[0], 1);
}

TEST_F(Example, sample) {
  const Tensor logits({1, 3}, {0, 9, 1});
  SampleOptions options;
  options.temperature = 0;  // the largest
  EXPECT_EQ(sample(context, logits, options).data<std::int32_t>()[0], 1);
}

TEST_F(Example, sgd_step) {
  Tensor parameter({2}, {1, 2});
  const Tensor gradient({2}, {10, -10});
  SgdOptions options;
  options.learning_rate = 0.1;
  sgd_step(context, parameter, gradient, nullptr, true, options);
  EXPECT_EQ(numbers(parameter), (Numbers{0, 3}));
}

TEST_F(Example, adam_step) {
  Tensor parameter({1}, {1}), average({1}, {0}), average_of_squares({1}, {0});
  const Tensor gradient({1}, {5});
  AdamOptions options;
  options.learning_rate = 0.1;
  adam_step(context, parameter, gradient, average, average_of_squares, 1, options);
  EXPECT_NEAR(parameter.data()[0], 0.9, 1e-6);  // the first step has the learning rate's size
}

TEST_F(Example, clip_gradients) {
  Tensor a({1}, {3}), b({1}, {4});
  const std::vector<Tensor*> gradients{&a, &b};
  EXPECT_DOUBLE_EQ(clip_gradients(context, gradients, 1), 5);
  EXPECT_NEAR(a.data()[0], 0.6, 1e-6);
}

// layers.hpp

TEST_F(Example, activate) {
  const Tensor x({2}, {-1, 2}), ones({2}, {1, 1});
  EXPECT_EQ(numbers(activate(context, x, Activation::kRelu)), (Numbers{0, 2}));
  EXPECT_EQ(numbers(activate_backward(context, ones, x, Activation::kRelu)), (Numbers{0, 1}));
}

TEST_F(Example, swiglu) {
  const Tensor gate({1}, {0}), up({1}, {3}), one({1}, {1});
  EXPECT_EQ(numbers(swiglu(context, gate, up)), (Numbers{0}));
  const SwigluGradients d = swiglu_backward(context, one, gate, up);
  EXPECT_EQ(numbers(d.gate), (Numbers{1.5f}));  // 3 silu'(0)
  EXPECT_EQ(numbers(d.up), (Numbers{0}));
}

TEST_F(Example, layer_norm) {
  const Tensor x({1, 2}, {1, 3}), weight({2}, {2, 2}), d_output({1, 2}, {1, 0});
  LayerNormOptions options;
  options.weight = weight;
  const Tensor y = layer_norm(context, x, options);
  EXPECT_NEAR(y.data()[1], 2, 1e-4);
  const NormGradients d = layer_norm_backward(context, d_output, x, options);
  EXPECT_NEAR(d.weight->data()[0], -1, 1e-4);
}

TEST_F(Example, rms_norm) {
  const Tensor x({1, 2}, {3, 4}), d_output({1, 2}, {3, 4});
  EXPECT_NEAR(rms_norm(context, x).data()[0], 3 / std::sqrt(12.5f), 1e-5);
  // Along x itself the norm does not change.
  EXPECT_NEAR(rms_norm_backward(context, d_output, x).x.data()[0], 0, 1e-5);
}

TEST_F(Example, dropout) {
  for (const float number : numbers(dropout(context, Tensor({3}, {1, 1, 1}), 0.5, 1)))
    EXPECT_TRUE(number == 0 || number == 2);
}

TEST_F(Example, cross_entropy) {
  const Tensor logits({1, 2}, {0, 0}), d_loss({}, {1});
  Tensor target({1}, DType::kInt32);
  target.data<std::int32_t>()[0] = 1;
  EXPECT_NEAR(cross_entropy(context, logits, target).data()[0], std::log(2.0f), 1e-6);
  CrossEntropyOptions options;
  options.reduction = Reduction::kSum;
  const Tensor d = cross_entropy_backward(context, d_loss, logits, target, options);
  EXPECT_EQ(numbers(d), (Numbers{0.5f, -0.5f}));
}

TEST_F(Example, rope) {
  const Tensor x({1, 1, 1, 2}, {1, 0});
  RopeOptions options;
  options.offset = 1;  // the position of the row
  const Tensor y = rope(context, x, options);
  EXPECT_NEAR(y.data()[0], std::cos(1.0f), 1e-6);
  EXPECT_NEAR(rope_backward(context, y, options).data()[0], 1, 1e-6);
}

TEST_F(Example, gru) {
  const Tensor x({1, 2, 1}, {1, 2}), weight_ih({3, 1}, {0, 0, 1}), weight_hh({3, 1}, {0, 0, 0});
  const GruParameters parameters{weight_ih, weight_hh, {}, {}};
  GruOptions options;
  options.need_gates = true;
  const GruResult result = gru(context, x, parameters, options);
  EXPECT_NEAR(result.output.data()[0], std::tanh(1.0f) / 2, 1e-6);  // z is 1/2
  const Tensor d_state({1, 1}, {1});
  const GruGradients d =
      gru_backward(context, {}, d_state, x, parameters, result.output, *result.gates, options);
  EXPECT_NEAR(d.state.data()[0], 0.25, 1e-6);
}

// attention_pooling.hpp

TEST_F(Example, additive_attention) {
  const Tensor q({1, 1, 1}, {0}), k({1, 2, 1}, {0, 0}), v({1, 2, 1}, {1, 3}), weight({1}, {1});
  const AdditiveAttentionResult y = additive_attention(context, q, k, v, weight);
  EXPECT_EQ(numbers(y.output), (Numbers{2}));
  const Tensor d_output({1, 1, 1}, {1});
  const AdditiveAttentionGradients d =
      additive_attention_backward(context, d_output, {}, q, k, v, weight, y.weights);
  EXPECT_EQ(numbers(d.v), (Numbers{0.5f, 0.5f}));
}

TEST_F(Example, kernel_regression) {
  const Tensor query({1}, {0}), x({2}, {-1, 1}), y({2, 1}, {2, 4}), bandwidth({1}, {1});
  const KernelRegressionResult result = kernel_regression(context, query, x, y, bandwidth);
  EXPECT_EQ(numbers(result.output), (Numbers{3}));
  const Tensor d_output({1, 1}, {1});
  const KernelRegressionGradients d =
      kernel_regression_backward(context, d_output, query, x, y, bandwidth, result.weights);
  EXPECT_EQ(numbers(d.y_train), (Numbers{0.5f, 0.5f}));
}

TEST_F(Example, local_mean) {
  EXPECT_EQ(numbers(local_mean(context, Tensor({1, 3}, {1, 2, 6}), 1)), (Numbers{1.5f, 3, 4}));
}

TEST_F(Example, non_local_means) {
  const Tensor image({1, 3}, {1, 1, 1});
  NonLocalMeansOptions options;
  options.patch_radius = 0;
  options.search_radius = 1;
  options.border = Border::kZero;
  EXPECT_EQ(numbers(non_local_means(context, image, options).output), (Numbers{1, 1, 1}));
  const Tensor weights = non_local_means_weights(context, image, 0, 0, options);
  EXPECT_EQ(numbers(weights), (Numbers{0.5f, 0.5f, 0}));
}

// tensor.hpp

TEST_F(Example, Tensor) {
  Tensor x({2, 2}, {1, 2, 3, 4});
  x.data()[0] = 5;
  const Tensor last = x.alias({2}, 2);  // the same memory
  EXPECT_EQ(numbers(last), (Numbers{3, 4}));
  EXPECT_TRUE(last.is_shared());
  EXPECT_EQ(numbers(std::move(x).reshaped({4})), (Numbers{5, 2, 3, 4}));
}

TEST_F(Example, TensorView) {
  const std::vector<float> own{1, 2, 3};
  const TensorView view(own.data(), {3});
  EXPECT_EQ(numbers(scale(context, view, 2)), (Numbers{2, 4, 6}));
}

TEST_F(Example, Shape) {
  const Shape shape{2, 12, 512, 64};
  EXPECT_EQ(shape[-1], 64);
  EXPECT_EQ(shape.elements(), 2 * 12 * 512 * 64);
  EXPECT_EQ(to_string(shape), "[2, 12, 512, 64]");
}

TEST_F(Example, kDTypeOf) {
  static_assert(kDTypeOf<std::int32_t> == DType::kInt32);
  static_assert(is_floating(DType::kBFloat16));
  EXPECT_EQ(to_string(DType::kFloat16), "float16");
  EXPECT_EQ(size_of(DType::kFloat16), 2u);
  EXPECT_THROW(require_dtype(DType::kFloat32, DType::kBool), DTypeError);
  EXPECT_THROW(refuse_dtype(DType::kFloat32, DType::kBool), DTypeError);
}

}  // namespace
}  // namespace heed::test
