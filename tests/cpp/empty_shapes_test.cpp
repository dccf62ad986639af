// Arrays without elements may have an axis of any size, and no operation may loop over it. A loop
// of 2^40 iterations would not end within a test run, so the tests do not measure time.

#include <cstdint>
#include <optional>
#include <vector>

#include "errors_support.hpp"
#include "heed/attention_pooling.hpp"
#include "heed/optim.hpp"
#include "heed/sampling.hpp"
#include "support.hpp"

namespace heed::test {
namespace {

constexpr std::int64_t kHuge = std::int64_t{1} << 40;

/// An array without elements.
TensorView empty(std::initializer_list<std::int64_t> sizes) {
  static constexpr float kNothing[1] = {};
  const TensorView view(kNothing, Shape(sizes));
  EXPECT_EQ(view.shape().elements(), 0);
  return view;
}

class EmptyShapes : public testing::Test {
 protected:
  static void expect_zeros(const Tensor& x) {
    for (const float number : x.data()) EXPECT_EQ(number, 0.0f);
  }

  Context context = context_with_threads(2);
};

TEST_F(EmptyShapes, AreHandledByAttention) {
  for (const auto& [B, H, G, L, S, D, Dv] : {std::array<std::int64_t, 7>{kHuge, 2, 2, 0, 0, 4, 4},
                                             {kHuge, 0, 0, 3, 3, 4, 4},
                                             {kHuge, 2, 1, 3, 5, 0, 0},
                                             {1, kHuge, kHuge, 0, 0, 4, 4},
                                             {1, kHuge, 1, 3, 0, 0, 0},
                                             {0, kHuge, 1, kHuge, kHuge, 4, 4},
                                             {1, 0, 0, kHuge, 7, 4, 4},
                                             {1, 2, 2, 0, kHuge, 0, 0},
                                             {1, 2, 2, 0, 0, kHuge, 2}}) {
    SCOPED_TRACE(testing::Message()
                 << B << " " << H << " " << G << " " << L << " " << S << " " << D << " " << Dv);
    const TensorView q = empty({B, H, L, D}), k = empty({B, G, S, D}), v = empty({B, G, S, Dv});
    const float number = 1.0f;
    for (const bool is_causal : {false, true}) {
      AttentionOptions options;
      options.is_causal = is_causal;
      options.scale = 1.0f;
      const TensorView bias(&number, Shape{1, 1});
      options.bias = bias;
      const AttentionResult result = attention(context, q, k, v, options);
      EXPECT_EQ(result.output.shape(), (Shape{B, H, L, Dv}));
      if (B * H * L != 0) continue;  // the statistics would not be empty
      options.need_statistics = true;
      const AttentionResult all = attention(context, q, k, v, options);
      AttentionGradientOptions needed;
      needed.need_bias = true;
      const AttentionGradients gradients = attention_backward(
          context, all.output, q, k, v, all.output, *all.statistics, options, needed);
      expect_zeros(*gradients.bias);
    }
  }
  // With joined heads, with a past, and operations that use attention.
  AttentionOptions options;
  options.heads = kHuge;
  attention(context, empty({1, 1, 0}), empty({1, 1, 0}), empty({1, 1, 0}), options);
  options = {};
  const TensorView past = empty({kHuge, 2, 0, 4});
  options.past_key = options.past_value = past;
  attention(context, past, past, past, options);
  self_similarity(context, empty({kHuge, 0, 4}));
  merge_attention(context, empty({kHuge, 2, 0, 4}), empty({kHuge, 2, 0}), empty({kHuge, 2, 0, 4}),
                  empty({kHuge, 2, 0}));
  BlockMask::from(kHuge, 3, 0, 5, [](auto...) { return true; });
  BlockMask::from(3, kHuge, 5, 0, [](auto...) { return true; });
  LinearAttentionOptions linear;
  linear.scale = 1.0f;
  linear_attention(context, empty({kHuge, 1, 0, 0}), empty({kHuge, 1, 0, 0}),
                   empty({kHuge, 1, 0, 3}), linear);
  linear_attention(context, empty({1, kHuge, 5, 0}), empty({1, kHuge, 5, 0}),
                   empty({1, kHuge, 5, 0}), linear);
}

TEST_F(EmptyShapes, AreHandledByMultiHeadAttention) {
  const Tensor in_weight = filled({12, 4}, 1.0f), out_weight = filled({4, 4}, 1.0f);
  MultiHeadAttentionParameters parameters;
  parameters.in_proj_weight = in_weight;
  parameters.out_proj_weight = out_weight;
  MultiHeadAttentionOptions options;
  options.heads = 2;
  const TensorView x = empty({kHuge, 0, 4});
  for (const bool averages : {false, true}) {
    options.need_weights = true;
    options.average_weights = averages;
    multi_head_attention(context, x, x, x, parameters, options);
  }
  const Tensor key_mask(Shape{kHuge, 0}, DType::kBool), mask = filled({1, 1}, 0.0f);
  options.key_mask = key_mask;
  options.mask = mask;
  multi_head_attention(context, x, x, x, parameters, options);
}

TEST_F(EmptyShapes, AreHandledByAttentionPooling) {
  for (const bool is_causal : {false, true}) {
    AverageOptions options;
    options.is_causal = is_causal;
    for (const TensorView& x :
         {empty({kHuge, 0, 4}), empty({kHuge, 3, 0}), empty({3, kHuge, 0}), empty({3, 0, kHuge})}) {
      average(context, x, options);
      average_backward(context, x, options);
    }
  }
  for (const auto& [B, L, S, A, Dv] : {std::array<std::int64_t, 5>{kHuge, 0, 3, 0, 0},
                                       {kHuge, 3, 0, 0, 0},
                                       {1, kHuge, 0, 0, 0},
                                       {1, 0, kHuge, 0, 0},
                                       {0, 1, 1, 0, kHuge}}) {
    const TensorView q = empty({B, L, A}), k = empty({B, S, A}), v = empty({B, S, Dv}),
                     weight = empty({A});
    const AdditiveAttentionResult result = additive_attention(context, q, k, v, weight);
    additive_attention_backward(context, result.output, {}, q, k, v, weight, result.weights);
  }
  const Tensor bandwidth = filled({1}, 1.0f);
  const TensorView points = empty({kHuge, 0}), none = empty({0, 0});
  const KernelRegressionResult result = kernel_regression(context, points, none, none, bandwidth);
  expect_zeros(kernel_regression_backward(context, result.output, points, none, none, bandwidth,
                                          result.weights)
                   .bandwidth);
  for (const TensorView& image : {empty({kHuge, 0}), empty({0, kHuge})}) {
    local_mean(context, image, 3);
    non_local_means(context, image);
  }
}

TEST_F(EmptyShapes, AreHandledByLayers) {
  const TensorView rows = empty({kHuge, 0}), columns = empty({0, kHuge}), nothing = empty({0});
  for (const TensorView& x : {rows, columns, empty({kHuge, 0, 3}), empty({2, 0, kHuge})}) {
    SCOPED_TRACE(to_string(x.shape()));
    activate(context, x, Activation::kGelu);
    activate_backward(context, x, x, Activation::kGelu);
    swiglu(context, x, x);
    swiglu_backward(context, x, x, x);
    softmax(context, x);
    softmax_backward(context, x, x);
    dropout(context, x, 0.5, 1);
    layer_norm(context, x);
    layer_norm_backward(context, x, x);
    rms_norm(context, x);
    rms_norm_backward(context, x, x);
    cast(context, x, DType::kFloat16);
    is_finite(context, x);
  }
  linear(context, rows, empty({0, 0}), nothing);
  linear_backward(context, rows, rows, empty({0, 0}), {});
  // The sizes before the last axis have no product in 64 bits.
  const TensorView many = empty({kHuge, kHuge, 0});
  linear(context, many, empty({0, 0}), nothing);
  linear_backward(context, many, many, empty({0, 0}), {});
  const TensorView no_rows = empty({kHuge, kHuge, 0, 3});
  const std::vector<float> square(9, 1.0f);
  const LinearGradients gradients =
      linear_backward(context, no_rows, no_rows, TensorView(square.data(), Shape{3, 3}),
                      {.need_weight = true, .need_bias = true});
  expect_zeros(*gradients.weight);
  expect_zeros(*gradients.bias);
  matmul(context, empty({kHuge, kHuge, 3, 0}), empty({kHuge, kHuge, 0, 0}));
  matmul(context, no_rows, TensorView(square.data(), Shape{3, 3}));
  linear(context, rows, PackedWeights(context, empty({0, 0})));
  const PackedWeights packed(context, rows);
  linear(context, empty({0, 0}), packed);
  const Tensor targets(Shape{0}, DType::kInt32);
  CrossEntropyOptions none;
  none.reduction = Reduction::kNone;
  cross_entropy(context, columns, targets, none);
  cross_entropy_backward(context, nothing, columns, targets, none);
  const Tensor ids(Shape{kHuge, 0}, DType::kInt32);
  embedding(context, ids, filled({3, 4}, 1.0f));
  embedding_backward(context, empty({kHuge, 0, 4}), ids, 3);
  embedding(context, targets, rows);
  embedding_backward(context, empty({0, 0}), targets, kHuge);

  const GruParameters parameters{empty({0, 0}), empty({0, 0}), {}, {}};
  GruOptions options;
  options.need_gates = true;
  for (const TensorView& x : {empty({kHuge, 3, 0}), empty({3, kHuge, 0}), empty({kHuge, 0, 0})}) {
    const GruResult result = gru(context, x, parameters, options);
    gru_backward(context, {}, {}, x, parameters, result.output, *result.gates, options);
  }
}

TEST_F(EmptyShapes, AreHandledByPositions) {
  sinusoidal_encoding(context, kHuge, 0, {});
  sinusoidal_encoding(context, 0, kHuge, {});
  const Tensor table = filled({3, 2}, 1.0f);
  for (const TensorView& x : {empty({kHuge, 2, 0, 4}), empty({kHuge, 2, 3, 0}),
                              empty({1, 0, kHuge, 4}), empty({1, kHuge, 3, 0})}) {
    rope(context, x, {});
    rope_backward(context, x, {});
    if (x.shape()[3] == 0) continue;
    RopeOptions options;
    options.cos = options.sin = table;
    rope(context, x, options);
  }
}

TEST_F(EmptyShapes, AreHandledByArrays) {
  const TensorView rows = empty({kHuge, 0}), columns = empty({0, kHuge});
  for (const TensorView& x : {rows, columns, empty({kHuge, 0, 3}), empty({2, 0, kHuge})}) {
    SCOPED_TRACE(to_string(x.shape()));
    add(context, x, x);
    multiply(context, x, filled({1}, 2.0f));
    scale(context, x, 2.0);
    std::vector<std::int64_t> order;
    for (int axis = x.shape().rank(); axis-- > 0;) order.push_back(axis);
    transpose(context, x, order);
    slice(context, x, 0, 0, x.shape()[0]);
    slice(context, x, -1, 0, x.shape()[-1] / 2);
    const std::vector<TensorView> parts = {x, x};
    if (x.shape()[0] == 0) concat(context, parts, 0);
    if (x.shape()[-1] == 0) concat(context, parts, -1);
    sum_to(context, x, x.shape());
    cumsum(context, x, 0);
    cumsum(context, x, -1, true);
    random_uniform(context, x.shape(), 0.0, 1.0, 1);
    random_normal(context, x.shape(), 0.0, 1.0, 1);
  }
  sum_to(context, rows, {1, 0});
  sum_to(context, columns, {0, 1});
  sum_to(context, columns, {1, 1});
  sum_to(context, rows, {1, 1});
  broadcast_to(context, empty({1, 0}), {kHuge, 0});
  matmul(context, rows, empty({0, 0}));
  matmul(context, empty({kHuge, 0, 3}), empty({kHuge, 3, 0}));
  matmul(context, empty({kHuge, 3, 0}), empty({kHuge, 0, 0}));
  adaptive_max_pool(context, empty({kHuge, 0, 3, 3}), 2, 2);
  top_k(context, empty({0, 1 << 30}), 3);
  sample(context, empty({0, 1 << 30}), {});
}

}  // namespace
}  // namespace heed::test
