// Averages, similarity, kernel regression and additive attention against their references, backward
// too.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "errors_support.hpp"
#include "examples_support.hpp"
#include "gradient_support.hpp"
#include "reference/additive_attention.hpp"
#include "reference/average.hpp"
#include "reference/kernel_regression.hpp"
#include "support.hpp"

namespace heed::test {
namespace {

using reference::Array;

TEST(AverageBackward, AgreesWithFiniteDifferencesInTheReference) {
  Random random(1);
  const Tensor key_mask = random.bools({2, 5}, 60);
  for (int combination = 0; combination < 4; ++combination) {
    AverageOptions options;
    options.is_causal = (combination & 1) != 0;
    if (combination & 2) options.key_mask = key_mask;
    const Array x = random.reals({2, 5, 3}), d_y = random.reals({2, 5, 3});
    EXPECT_TRUE(is_gradient(reference::average_backward(d_y, options), x, d_y,
                            [&](const Array& at) { return reference::average(at, options); }))
        << combination;
  }
}

TEST(Average, MatchesTheReferenceForwardAndBackward) {
  Random random(2);
  Context context;
  for (const Shape& shape : {Shape{1, 1, 1}, Shape{2, 10, 7}, Shape{3, 33, 20}, Shape{2, 0, 5},
                             Shape{0, 4, 5}, Shape{2, 4, 0}}) {
    const Tensor x = random.reals(shape), key_mask = random.bools({shape[0], shape[1]}, 60);
    for (int combination = 0; combination < 4; ++combination) {
      SCOPED_TRACE(testing::Message() << to_string(shape) << " combination " << combination);
      AverageOptions options;
      options.is_causal = (combination & 1) != 0;
      if (combination & 2) options.key_mask = key_mask;
      EXPECT_TRUE(close(average(context, x, options), reference::average(x, options)));
      EXPECT_TRUE(
          close(average_backward(context, x, options), reference::average_backward(x, options)));
    }
  }
}

TEST(Average, ReturnsZerosForPositionsThatSeeNothing) {
  Tensor x(Shape{2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const Tensor key_mask = bools({2, 3}, {false, true, true, false, false, false});
  AverageOptions options;
  options.key_mask = key_mask;
  options.is_causal = true;
  Context context;
  EXPECT_TRUE(same_bits(average(context, x, options),
                        Tensor(Shape{2, 3, 2}, {0, 0, 3, 4, 4, 5, 0, 0, 0, 0, 0, 0})));
}

TEST(Average, IgnoresHiddenPositions) {
  Tensor x(Shape{1, 3, 1}, {kNaN, 2, kInfinity});
  const Tensor key_mask = bools({1, 3}, {false, true, false});
  AverageOptions options;
  options.key_mask = key_mask;
  Context context;
  EXPECT_TRUE(same_bits(average(context, x, options), filled({1, 3, 1}, 2.0f)));
}

TEST(SelfSimilarity, MatchesTheReference) {
  Random random(11);
  Context context;
  for (const Shape& shape : {Shape{1, 1, 1}, Shape{2, 10, 7}, Shape{3, 33, 20}, Shape{1, 150, 24},
                             Shape{2, 0, 5}, Shape{0, 4, 5}, Shape{2, 4, 0}}) {
    const Tensor x = random.reals(shape);
    const reference::WeightedResult want = reference::self_similarity(x);
    const SelfSimilarityResult got = self_similarity(context, x);
    EXPECT_TRUE(close(got.output, want.output)) << to_string(shape);
    EXPECT_TRUE(close(got.weights, want.weights)) << to_string(shape);
  }
}

TEST(AverageBackward, ReturnsZerosForPositionsThatNoneSees) {
  // Position 0 sees nothing, so the gradient of its output has no effect.
  const Tensor d_y(Shape{1, 3, 1}, {kNaN, 2, 4}), key_mask = bools({1, 3}, {false, true, true});
  AverageOptions options;
  options.is_causal = true;
  options.key_mask = key_mask;
  Context context;
  EXPECT_TRUE(
      same_bits(average_backward(context, d_y, options), Tensor(Shape{1, 3, 1}, {0, 4, 2})));
}

/// Arguments of additive attention.
struct Additive {
  Additive(Random& random, std::int64_t B, std::int64_t L, std::int64_t S, std::int64_t A,
           std::int64_t Dv)
      : q(random.reals({B, L, A}, -2.0f, 2.0f)),
        k(random.reals({B, S, A}, -2.0f, 2.0f)),
        v(random.reals({B, S, Dv})),
        weight(random.reals({A})),
        d_output(random.reals({B, L, Dv})),
        d_weights(random.reals({B, L, S})),
        key_mask(random.bools({B, S}, 70)) {}

  AdditiveAttentionResult forward(Context& context, bool is_masked) const {
    return additive_attention(context, q, k, v, weight, mask(is_masked));
  }
  AdditiveAttentionGradients backward(Context& context, const Tensor& weights,
                                      bool has_d_weights) const {
    std::optional<TensorView> d;
    if (has_d_weights) d = d_weights;
    return additive_attention_backward(context, d_output, d, q, k, v, weight, weights);
  }
  std::optional<TensorView> mask(bool is_masked) const {
    if (is_masked) return key_mask;
    return std::nullopt;
  }

  Tensor q, k, v, weight, d_output, d_weights, key_mask;
};

TEST(AdditiveAttention, AgreesWithFiniteDifferencesInTheReference) {
  Random random(3);
  const Additive a(random, 2, 3, 4, 5, 2);
  for (const bool is_masked : {false, true}) {
    const auto forward = [&](const Array& q, const Array& k, const Array& v, const Array& weight) {
      return reference::additive_attention(q, k, v, weight, a.mask(is_masked));
    };
    const auto [output, weights] = forward(a.q, a.k, a.v, a.weight);
    // Through the output, then through the weights alone.
    for (const bool by_output : {true, false}) {
      SCOPED_TRACE(testing::Message() << "masked " << is_masked << " by output " << by_output);
      const Array none(a.d_output.shape()), d = by_output ? a.d_output : a.d_weights;
      const auto got = reference::additive_attention_backward(
          by_output ? d : none, by_output ? std::nullopt : std::optional(d), a.q, a.k, a.v,
          a.weight, weights);
      const auto pick = [&](reference::WeightedResult r) {
        return by_output ? r.output : r.weights;
      };
      EXPECT_TRUE(is_gradient(
          got.q, a.q, d, [&](const Array& x) { return pick(forward(x, a.k, a.v, a.weight)); }));
      EXPECT_TRUE(is_gradient(
          got.k, a.k, d, [&](const Array& x) { return pick(forward(a.q, x, a.v, a.weight)); }));
      EXPECT_TRUE(is_gradient(
          got.v, a.v, d, [&](const Array& x) { return pick(forward(a.q, a.k, x, a.weight)); }));
      EXPECT_TRUE(is_gradient(got.weight, a.weight, d,
                              [&](const Array& x) { return pick(forward(a.q, a.k, a.v, x)); }));
    }
  }
}

TEST(AdditiveAttention, MatchesTheReferenceForAllSizes) {
  Random random(4);
  Context context;
  for (const std::int64_t B : {0, 1, 3}) {
    for (const std::int64_t L : {0, 1, 5, 67}) {
      for (const std::int64_t S : {0, 1, 7, 33}) {
        for (const std::int64_t A : {0, 1, 16, 37, 64}) {
          for (const bool is_masked : {false, true}) {
            const std::int64_t Dv = A == 16 ? 0 : A == 37 ? 21 : 8;
            SCOPED_TRACE(testing::Message() << "B " << B << " L " << L << " S " << S << " A " << A
                                            << " Dv " << Dv << " masked " << is_masked);
            const Additive a(random, B, L, S, A, Dv);
            const auto want =
                reference::additive_attention(a.q, a.k, a.v, a.weight, a.mask(is_masked));
            const auto got = a.forward(context, is_masked);
            EXPECT_TRUE(close(got.output, want.output));
            EXPECT_TRUE(close(got.weights, want.weights));
            const auto want_d = reference::additive_attention_backward(
                a.d_output, Array(a.d_weights), a.q, a.k, a.v, a.weight, want.weights);
            const auto got_d = a.backward(context, got.weights, true);
            EXPECT_TRUE(close(got_d.q, want_d.q));
            EXPECT_TRUE(close(got_d.k, want_d.k));
            EXPECT_TRUE(close(got_d.v, want_d.v));
            EXPECT_TRUE(close(got_d.weight, want_d.weight, {2e-5, 1e-5}));
          }
        }
      }
    }
  }
}

TEST(AdditiveAttention, DoesNotReadHiddenKeys) {
  Random random(5);
  Additive a(random, 2, 3, 4, 5, 6);
  a.key_mask = bools({2, 4}, {false, true, true, false, false, false, false, false});
  for (std::size_t j = 0; j < 8; ++j) {
    if (a.key_mask.data<bool>()[j]) continue;
    for (std::size_t c = 0; c < 5; ++c) a.k.data()[j * 5 + c] = kNaN;
    for (std::size_t c = 0; c < 6; ++c) a.v.data()[j * 6 + c] = kNaN;
  }
  Context context;
  const auto result = a.forward(context, true);
  const auto d = a.backward(context, result.weights, true);
  for (const Tensor* tensor : {&result.output, &result.weights, &d.q, &d.k, &d.v, &d.weight})
    for (const float number : tensor->data()) EXPECT_TRUE(std::isfinite(number));
  // The second entry sees nothing.
  for (std::size_t i = 18; i < 36; ++i) EXPECT_EQ(result.output.data()[i], 0.0f);
  for (std::size_t i = 12; i < 24; ++i) EXPECT_EQ(result.weights.data()[i], 0.0f);
  for (std::size_t i = 15; i < 30; ++i) EXPECT_EQ(d.q.data()[i], 0.0f);
}

TEST(AdditiveAttention, HandlesSaturatedTanh) {
  Random random(6);
  Context context;
  Additive a(random, 1, 3, 9, 20, 4);
  for (float& number : a.q.data()) number *= 1e30f;
  const auto want = reference::additive_attention(a.q, a.k, a.v, a.weight);
  EXPECT_TRUE(close(a.forward(context, false).output, want.output));
}

TEST(AdditiveAttention, ReturnsTheSameBitsForAnyNumberOfThreads) {
  Random random(7);
  const Shape sizes[] = {{1, 150, 33}, {9, 150, 33}, {70, 1, 32}};
  for (const Shape& size : sizes) {
    SCOPED_TRACE(to_string(size));
    const Additive a(random, size[0], size[1], 40, size[2], 20);
    expect_same_bits_for_any_threads([&](Context& context) {
      AdditiveAttentionResult result = a.forward(context, true);
      AdditiveAttentionGradients d = a.backward(context, result.weights, true);
      return list_of(std::move(result.output), std::move(result.weights), std::move(d.q),
                     std::move(d.k), std::move(d.v), std::move(d.weight));
    });
  }
}

/// Arguments of kernel regression; without the axis of features if F is 0.
struct Regression {
  Regression(Random& random, std::int64_t Q, std::int64_t N, std::int64_t F, std::int64_t M,
             float width)
      : x_query(random.reals(F == 0 ? Shape{Q} : Shape{Q, F}, 0.0f, 5.0f)),
        x_train(random.reals(F == 0 ? Shape{N} : Shape{N, F}, 0.0f, 5.0f)),
        y_train(random.reals({N, M})),
        bandwidth(Shape{1}, {width}),
        d_output(random.reals({Q, M})) {}

  KernelRegressionGradients backward(Context& context, const Tensor& weights) const {
    return kernel_regression_backward(context, d_output, x_query, x_train, y_train, bandwidth,
                                      weights);
  }

  Tensor x_query, x_train, y_train, bandwidth, d_output;
};

TEST(KernelRegression, AgreesWithFiniteDifferencesInTheReference) {
  Random random(8);
  const Regression r(random, 4, 5, 2, 3, 0.8f);
  const auto forward = [](const Array& x_query, const Array& x_train, const Array& y_train,
                          const Array& bandwidth) {
    return reference::kernel_regression(x_query, x_train, y_train, bandwidth);
  };
  const Array d = r.d_output;
  const auto got = reference::kernel_regression_backward(
      d, r.x_query, r.x_train, r.y_train, r.bandwidth,
      forward(r.x_query, r.x_train, r.y_train, r.bandwidth).weights);
  EXPECT_TRUE(is_gradient(got.x_query, r.x_query, d, [&](const Array& x) {
    return forward(x, r.x_train, r.y_train, r.bandwidth).output;
  }));
  EXPECT_TRUE(is_gradient(got.x_train, r.x_train, d, [&](const Array& x) {
    return forward(r.x_query, x, r.y_train, r.bandwidth).output;
  }));
  EXPECT_TRUE(is_gradient(got.y_train, r.y_train, d, [&](const Array& x) {
    return forward(r.x_query, r.x_train, x, r.bandwidth).output;
  }));
  EXPECT_TRUE(is_gradient(got.bandwidth, r.bandwidth, d, [&](const Array& x) {
    return forward(r.x_query, r.x_train, r.y_train, x).output;
  }));
}

TEST(KernelRegression, MatchesTheReferenceForAllSizes) {
  Random random(9);
  Context context;
  for (const std::int64_t Q : {0, 1, 20}) {
    for (const std::int64_t N : {0, 1, 13, 50}) {
      for (const std::int64_t F : {0, 1, 3}) {
        for (const std::int64_t M : {0, 1, 4}) {
          SCOPED_TRACE(testing::Message() << "Q " << Q << " N " << N << " F " << F << " M " << M);
          const Regression r(random, Q, N, F, M, 0.5f);
          const auto want =
              reference::kernel_regression(r.x_query, r.x_train, r.y_train, r.bandwidth);
          const auto got = kernel_regression(context, r.x_query, r.x_train, r.y_train, r.bandwidth);
          EXPECT_TRUE(close(got.output, want.output, {1e-7, 1e-6}));
          EXPECT_TRUE(close(got.weights, want.weights, {1e-7, 1e-6}));
          const auto want_d = reference::kernel_regression_backward(
              r.d_output, r.x_query, r.x_train, r.y_train, r.bandwidth, want.weights);
          const auto got_d = r.backward(context, got.weights);
          EXPECT_TRUE(close(got_d.x_query, want_d.x_query));
          EXPECT_TRUE(close(got_d.x_train, want_d.x_train));
          EXPECT_TRUE(close(got_d.y_train, want_d.y_train));
          EXPECT_TRUE(close(got_d.bandwidth, want_d.bandwidth, {1e-4, 1e-5}));
        }
      }
    }
  }
}

TEST(KernelRegression, ReturnsTheNearestPointIfEveryKernelUnderflows) {
  Context context;
  const Tensor x_train(Shape{3}, {0, 1, 5}), y_train(Shape{3, 1}, {10, 20, 30});
  const auto got = kernel_regression(context, Tensor(Shape{2}, {0.6f, 1000}), x_train, y_train,
                                     Tensor(Shape{1}, {1e-30f}));
  EXPECT_TRUE(same_bits(got.output, Tensor(Shape{2, 1}, {20, 30})));
}

TEST(KernelRegression, ReturnsTheSameBitsForAnyNumberOfThreads) {
  Random random(10);
  const Regression r(random, 300, 400, 2, 3, 0.3f);
  expect_same_bits_for_any_threads([&](Context& context) {
    auto got = kernel_regression(context, r.x_query, r.x_train, r.y_train, r.bandwidth);
    auto gradients = r.backward(context, got.weights);
    return list_of(std::move(got.output), std::move(got.weights), std::move(gradients.x_train));
  });
}

TEST_F(Refusals, AverageBackwardRefusesInvalidArguments) {
  const Tensor x = random.reals({2, 3, 4}), narrow = random.bools({2, 4}, 50);
  expect_error(kShape, "d_output", "[2, 4, 3, 8]", [&] { average_backward(context, q); });
  expect_error(kShape, "key_mask", "[2, 4]",
               [&] { average_backward(context, x, {.key_mask = narrow}); });
  expect_error(kDType, "key_mask", "float32",
               [&] { average_backward(context, x, {.key_mask = x}); });
}

TEST_F(Refusals, AdditiveAttentionRefusesInvalidArguments) {
  const Additive a(random, 2, 3, 4, 5, 6);
  const Tensor weights = random.reals({2, 3, 4});
  expect_error(kDType, "key_mask", "float32",
               [&] { additive_attention(context, a.q, a.k, a.v, a.weight, a.q); });
  const auto backward = [&](const char* argument, const char* got, const TensorView& d_output,
                            const std::optional<TensorView>& d_weights, const TensorView& given) {
    expect_error(kShape, argument, got, [&] {
      additive_attention_backward(context, d_output, d_weights, a.q, a.k, a.v, a.weight, given);
    });
  };
  backward("d_output", "[2, 3, 5]", a.q, {}, weights);
  backward("d_weights", "[2, 3, 5]", a.d_output, a.q, weights);
  backward("weights", "[2, 3, 5]", a.d_output, {}, a.q);
}

TEST_F(Refusals, KernelRegressionRefusesInvalidArguments) {
  const Tensor x_query = random.reals({3, 2}), x_train = random.reals({4, 2}),
               y_train = random.reals({4, 5}), bandwidth(Shape{1}, {1});
  for (const float width : {0.0f, -1.0f, kNaN, kInfinity}) {
    const Tensor bad(Shape{1}, {width});
    expect_error(kOption, "bandwidth", MessagePart(width).text(),
                 [&] { kernel_regression(context, x_query, x_train, y_train, bad); });
  }
  const Tensor weights = random.reals({3, 4}), d_output = random.reals({3, 5});
  const auto backward = [&](const char* argument, const char* got, const TensorView& d,
                            const TensorView& w) {
    expect_error(kShape, argument, got, [&] {
      kernel_regression_backward(context, d, x_query, x_train, y_train, bandwidth, w);
    });
  };
  backward("d_output", "[3, 4]", weights, weights);
  backward("weights", "[3, 5]", d_output, d_output);
}

TEST_F(Example, average) {
  const Tensor x({1, 2, 1}, {1, 3}), d_output({1, 2, 1}, {1, 1});
  AverageOptions options;
  options.is_causal = true;
  EXPECT_EQ(numbers(average(context, x, options)), (Numbers{1, 2}));
  EXPECT_EQ(numbers(average_backward(context, d_output, options)), (Numbers{1.5f, 0.5f}));
}

TEST_F(Example, self_similarity) {
  const SelfSimilarityResult result = self_similarity(context, Tensor({1, 2, 1}, {0, 1}));
  EXPECT_EQ(result.weights.data()[0], 0.5f);
}

}  // namespace
}  // namespace heed::test
