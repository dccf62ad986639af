// Steps of optimisers against their references.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "errors_support.hpp"
#include "reference/optim.hpp"
#include "support.hpp"

namespace heed::test {
namespace {

// A few steps of a few roundings each, on numbers of order 1.
constexpr Tolerance kSteps{1e-6, 1e-6};

Tensor copy_of(const Tensor& tensor) {
  Tensor copy(tensor.shape());
  std::ranges::copy(tensor.data(), copy.data().begin());
  return copy;
}

TEST(SgdStep, MatchesTheReferenceOverSeveralSteps) {
  Context context;
  for (int combination = 0; combination < 16; ++combination) {
    SgdOptions options;
    options.learning_rate = 0.05;
    if (combination & 1) options.momentum = 0.9;
    if (combination & 2) options.weight_decay = 0.1;
    if (combination & 4) options.dampening = 0.3;
    options.nesterov = (combination & 8) != 0;
    if (options.nesterov && (combination & 5) != 1) continue;
    for (const Shape& shape : {Shape{}, Shape{1}, Shape{3, 7}, Shape{0, 4}, Shape{5, 5, 5}}) {
      SCOPED_TRACE(testing::Message() << "combination " << combination << " " << to_string(shape));
      Random random(1);
      Tensor parameter = random.reals(shape), buffer = filled(shape, kNaN);
      reference::Array want(parameter), want_buffer(shape);
      for (int step = 0; step < 4; ++step) {
        const Tensor gradient = random.reals(shape);
        sgd_step(context, parameter, gradient, &buffer, step == 0, options);
        reference::sgd_step(want, gradient, want_buffer, step == 0, options);
        EXPECT_TRUE(close(parameter, want, kSteps));
        if (options.momentum > 0) {
          EXPECT_TRUE(close(buffer, want_buffer, kSteps));
        }
      }
    }
  }
}

TEST(SgdStep, NeedsNoBufferWithoutMomentum) {
  Context context;
  Tensor parameter(Shape{2}, {1, 2});
  sgd_step(context, parameter, Tensor(Shape{2}, {4, -8}), nullptr, true, {.learning_rate = 0.5});
  EXPECT_TRUE(same_bits(parameter, Tensor(Shape{2}, {-1, 6})));
}

TEST(AdamStep, MatchesTheReferenceOverSeveralSteps) {
  Context context;
  for (int combination = 0; combination < 8; ++combination) {
    AdamOptions options;
    options.learning_rate = 0.02;
    options.is_decoupled = (combination & 1) != 0;
    if (combination & 2) options.weight_decay = 0.1;
    if (combination & 4) {
      options.beta1 = 0.0;
      options.beta2 = 0.5;
      options.eps = 1e-2;
    }
    for (const Shape& shape : {Shape{}, Shape{1}, Shape{3, 7}, Shape{0, 4}, Shape{5, 5, 5}}) {
      SCOPED_TRACE(testing::Message() << "combination " << combination << " " << to_string(shape));
      Random random(2);
      Tensor parameter = random.reals(shape);
      Tensor average = filled(shape, 0.0f), squares = filled(shape, 0.0f);
      reference::Array want(parameter), want_average(average), want_squares(squares);
      for (std::int64_t step = 1; step <= 6; ++step) {
        const Tensor gradient = random.reals(shape);
        adam_step(context, parameter, gradient, average, squares, step, options);
        reference::adam_step(want, gradient, want_average, want_squares, step, options);
        EXPECT_TRUE(close(parameter, want, kSteps));
        EXPECT_TRUE(close(average, want_average, kSteps));
        EXPECT_TRUE(close(squares, want_squares, {1e-9, 1e-6}));
      }
    }
  }
}

TEST(AdamStep, TakesAFirstStepOfTheLearningRateForAnyGradient) {
  Context context;
  Tensor parameter = filled({3}, 1.0f), average = filled({3}, 0.0f), squares = filled({3}, 0.0f);
  adam_step(context, parameter, Tensor(Shape{3}, {1e-3f, -40, 0}), average, squares, 1, {});
  EXPECT_NEAR(parameter.data()[0], 1.0 - 1e-3, 1e-6);
  EXPECT_NEAR(parameter.data()[1], 1.0 + 1e-3, 1e-6);
  EXPECT_EQ(parameter.data()[2], 1.0f);
}

TEST(ClipGradients, MatchesTheReference) {
  Context context;
  for (const double max_norm : {0.0, 0.5, 4.0, 1e6, std::numeric_limits<double>::infinity()}) {
    Random random(3);
    Tensor a = random.reals({13, 7}), b = random.reals({}), c = random.reals({0, 3});
    std::vector<reference::Array> want{a, b, c};
    Tensor* const gradients[] = {&a, &b, &c};
    const double want_norm = reference::clip_gradients(want, max_norm);
    EXPECT_NEAR(clip_gradients(context, gradients, max_norm), want_norm, 1e-12);
    EXPECT_TRUE(close(a, want[0], {1e-9, 1e-6})) << max_norm;
    EXPECT_TRUE(close(b, want[1], {1e-9, 1e-6})) << max_norm;
  }
}

TEST(ClipGradients, KeepsGradientsIfTheNormIsNotFinite) {
  Context context;
  for (const float bad : {kNaN, kInfinity}) {
    Tensor a(Shape{2}, {300, bad}), b(Shape{2}, {500, 700});
    const Tensor before_a = copy_of(a), before_b = copy_of(b);
    Tensor* const gradients[] = {&a, &b};
    EXPECT_FALSE(std::isfinite(clip_gradients(context, gradients, 1.0)));
    EXPECT_TRUE(same_bits(a, before_a));
    EXPECT_TRUE(same_bits(b, before_b));
  }
  EXPECT_EQ(clip_gradients(context, {}, 1.0), 0.0);
}

TEST(ClipGradients, DoesNotOverflow) {
  Context context;
  Tensor a(Shape{2}, {3e30f, -4e30f});
  Tensor* const gradients[] = {&a};
  EXPECT_NEAR(clip_gradients(context, gradients, 1.0) / 5e30, 1.0, 1e-6);
  EXPECT_TRUE(close(a, reference::Array(Tensor(Shape{2}, {0.6f, -0.8f})), {0.0, 1e-6}));
}

TEST(Optim, ReturnsTheSameBitsForAnyNumberOfThreads) {
  Random random(4);
  const Shape shape{401, 1001};
  const Tensor start = random.reals(shape), gradient = random.reals(shape);
  expect_same_bits_for_any_threads([&](Context& context) {
    Tensor by_adam = copy_of(start), average = filled(shape, 0.0f), squares = filled(shape, 0.0f);
    adam_step(context, by_adam, gradient, average, squares, 3, {});
    Tensor by_sgd = copy_of(start), buffer = copy_of(start);
    sgd_step(context, by_sgd, gradient, &buffer, false, {.momentum = 0.9});
    Tensor clipped = copy_of(gradient);
    Tensor* const gradients[] = {&clipped};
    const double norm = clip_gradients(context, gradients, 1.0);
    // A number of 64 bits as two of 32.
    Tensor norm_bits(Shape{2});
    std::memcpy(norm_bits.data().data(), &norm, sizeof norm);
    return list_of(std::move(by_adam), std::move(average), std::move(squares), std::move(by_sgd),
                   std::move(buffer), std::move(clipped), std::move(norm_bits));
  });
}

class OptimRefusals : public Refusals {
 protected:
  OptimRefusals()
      : parameter(random.reals({3, 4})),
        gradient(random.reals({3, 4})),
        first(random.reals({3, 4})),
        second(random.reals({3, 4})) {
    keep({&parameter, &gradient, &first, &second});
  }
  void sgd(ErrorCode code, std::string_view argument, std::string_view got,
           const SgdOptions& options) {
    expect_error(code, argument, got,
                 [&] { sgd_step(context, parameter, gradient, &first, true, options); });
  }
  void adam(std::string_view argument, std::string_view got, const AdamOptions& options) {
    expect_error(kOption, argument, got,
                 [&] { adam_step(context, parameter, gradient, first, second, 1, options); });
  }

  Tensor parameter, gradient, first, second;
  Tensor other = Tensor(Shape{4, 3}), numbers = Tensor(Shape{3, 4}, DType::kInt32);
};

TEST_F(OptimRefusals, SgdRefusesInvalidArguments) {
  expect_error(kDType, "parameter", "int32",
               [&] { sgd_step(context, numbers, gradient, nullptr, true, {}); });
  expect_error(kShape, "gradient", "[4, 3]",
               [&] { sgd_step(context, parameter, other, nullptr, true, {}); });
  expect_error(kShape, "buffer", "[4, 3]",
               [&] { sgd_step(context, parameter, gradient, &other, true, {.momentum = 0.5}); });
  expect_error(kOption, "buffer", "nothing",
               [&] { sgd_step(context, parameter, gradient, nullptr, true, {.momentum = 0.5}); });
  sgd(kOption, "learning_rate", "-0.5", {.learning_rate = -0.5});
  sgd(kOption, "learning_rate", "NaN", {.learning_rate = std::nan("")});
  sgd(kOption, "momentum", "-1", {.momentum = -1.0});
  sgd(kOption, "weight_decay", "-1", {.weight_decay = -1.0});
  sgd(kOption, "dampening", "Infinity", {.dampening = INFINITY});
  sgd(kOption, "nesterov", "momentum 0", {.nesterov = true});
  sgd(kOption, "nesterov", "dampening 0.25",
      {.momentum = 0.5, .dampening = 0.25, .nesterov = true});
}

TEST_F(OptimRefusals, AdamRefusesInvalidArguments) {
  expect_error(kDType, "gradient", "int32",
               [&] { adam_step(context, parameter, numbers, first, second, 1, {}); });
  expect_error(kShape, "average", "[4, 3]",
               [&] { adam_step(context, parameter, gradient, other, second, 1, {}); });
  expect_error(kShape, "average_of_squares", "[4, 3]",
               [&] { adam_step(context, parameter, gradient, first, other, 1, {}); });
  expect_error(kOption, "step", "0",
               [&] { adam_step(context, parameter, gradient, first, second, 0, {}); });
  adam("learning_rate", "Infinity", {.learning_rate = INFINITY});
  adam("beta1", "1", {.beta1 = 1.0});
  adam("beta2", "-0.1", {.beta2 = -0.1});
  adam("eps", "-1", {.eps = -1.0});
  adam("weight_decay", "NaN", {.weight_decay = std::nan("")});
}

TEST_F(OptimRefusals, ClippingRefusesInvalidArguments) {
  Tensor* const gradients[] = {&gradient, &numbers};
  expect_error(kDType, "gradients", "int32", [&] { clip_gradients(context, gradients, 1.0); });
  Tensor* const good[] = {&gradient};
  expect_error(kOption, "max_norm", "-1", [&] { clip_gradients(context, good, -1.0); });
  expect_error(kOption, "max_norm", "NaN", [&] { clip_gradients(context, good, std::nan("")); });
}

}  // namespace
}  // namespace heed::test
