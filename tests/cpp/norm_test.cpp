// Layer norm and RMS norm, forward and backward.

#include "reference/norm.hpp"

#include <cmath>
#include <cstdint>

#include "errors_support.hpp"
#include "gradient_support.hpp"

namespace heed::test {
namespace {

constexpr float kEps = 1e-5f;

/// Both norms with one signature: x, its last axis or axes, and optional parameters.
struct NormCase {
  Tensor x, weight, bias, d_y;
  bool is_centred;
  bool has_weight = true;
  bool has_bias = true;
  int axes = 1;

  NormCase(Random& random, const Shape& shape, bool centred, int last_axes = 1)
      : x(random.reals(shape)),
        weight(random.reals(Shape(shape.sizes().last(static_cast<std::size_t>(last_axes))))),
        bias(random.reals(weight.shape())),
        d_y(random.reals(shape)),
        is_centred(centred),
        has_bias(centred),
        axes(last_axes) {}

  LayerNormOptions layer() const {
    LayerNormOptions options{.axes = axes, .weight = {}, .bias = {}, .eps = kEps};
    if (has_weight) options.weight = weight;
    if (has_bias) options.bias = bias;
    return options;
  }
  RmsNormOptions rms() const {
    RmsNormOptions options{.axes = axes, .weight = {}, .eps = kEps};
    if (has_weight) options.weight = weight;
    return options;
  }
  Tensor forward(Context& context) const {
    return is_centred ? layer_norm(context, x, layer()) : rms_norm(context, x, rms());
  }
  NormGradients backward(Context& context) const {
    return is_centred ? layer_norm_backward(context, d_y, x, layer())
                      : rms_norm_backward(context, d_y, x, rms());
  }
  reference::Norm wanted() const {
    reference::Norm norm{weight.shape().elements(), is_centred, double{kEps}};
    if (has_weight) norm.weight = reference::Array(weight);
    if (has_bias) norm.bias = reference::Array(bias);
    return norm;
  }

  void expect_match(const Tolerance& tolerance = {}) const {
    Context context;
    EXPECT_TRUE(close(forward(context), reference::norm(x, wanted()), tolerance));
    const NormGradients got = backward(context);
    reference::NormGradients want = reference::norm_backward(d_y, x, wanted());
    want.weight.shape = want.bias.shape = weight.shape();
    EXPECT_TRUE(close(got.x, want.x, tolerance));
    EXPECT_EQ(got.weight.has_value(), has_weight);
    EXPECT_EQ(got.bias.has_value(), has_bias);
    if (got.weight) {
      EXPECT_TRUE(close(got.weight, want.weight, tolerance));
    }
    if (got.bias) {
      EXPECT_TRUE(close(got.bias, want.bias, tolerance));
    }
  }
};

TEST(Norm, AgreesWithFiniteDifferencesInTheReference) {
  Random random(1);
  using reference::Array;
  for (const bool is_centred : {true, false}) {
    const NormCase c(random, {3, 5}, is_centred);
    const reference::NormGradients d = reference::norm_backward(c.d_y, c.x, c.wanted());
    EXPECT_TRUE(is_gradient(d.x, c.x, c.d_y,
                            [&](const Array& a) { return reference::norm(a, c.wanted()); }));
    EXPECT_TRUE(is_gradient(d.weight, c.weight, c.d_y, [&](const Array& a) {
      reference::Norm norm = c.wanted();
      norm.weight = a;
      return reference::norm(c.x, norm);
    }));
    if (!is_centred) continue;
    EXPECT_TRUE(is_gradient(d.bias, c.bias, c.d_y, [&](const Array& a) {
      reference::Norm norm = c.wanted();
      norm.bias = a;
      return reference::norm(c.x, norm);
    }));
  }
}

TEST(Norm, MatchesTheReferenceForAllSizes) {
  Random random(2);
  for (const bool is_centred : {true, false}) {
    for (const std::int64_t rows : {0, 1, 3, 64, 65, 150}) {
      for (const std::int64_t size : {0, 1, 2, 3, 8, 16, 33, 100, 130}) {
        SCOPED_TRACE(testing::Message()
                     << "rows " << rows << " size " << size << " centred " << is_centred);
        NormCase c(random, {rows, size}, is_centred);
        // For rows of two numbers with a small difference, gradients grow like 1 / sqrt(eps).
        c.expect_match(size > 0 && size < 8 ? Tolerance{1e-3, 1e-3} : Tolerance{});
        c.has_weight = c.has_bias = false;
        c.expect_match(size > 0 && size < 8 ? Tolerance{1e-3, 1e-3} : Tolerance{});
      }
    }
    NormCase(random, {2, 5000}, is_centred).expect_match();
  }
}

TEST(Norm, NormalisesSeveralAxesTogether) {
  Random random(3);
  for (const bool is_centred : {true, false})
    for (const int axes : {1, 2, 3})
      NormCase(random, {4, 3, 5, 9}, is_centred, axes).expect_match();
}

TEST(LayerNorm, StaysAccurateFarFromZero) {
  Random random(4);
  NormCase c(random, {20, 300}, true);
  for (float& number : c.x.data()) number += 1000.0f;
  c.expect_match({3e-6, 1e-5});
  for (float& number : c.x.data()) number += 1e6f;
  c.expect_match({1e-5, 1e-5});
}

TEST(Norm, ReturnsTheBiasForEqualNumbers) {
  Random random(5);
  Context context;
  NormCase c(random, {4, 37}, true);
  for (float& number : c.x.data()) number = 0.1f;
  const Tensor y = c.forward(context);
  // The rounding error of the mean is about 1e-8, and 1 / sqrt(eps) is 300.
  for (std::size_t i = 0; i < y.data().size(); ++i)
    EXPECT_NEAR(y.data()[i], c.bias.data()[i % 37], 1e-5);
  const Tensor zeros = filled({4, 37}, 0.0f);
  EXPECT_TRUE(same_bits(rms_norm(context, zeros), zeros));
}

TEST(Norm, PropagatesNonFiniteNumbersWithinTheirRow) {
  Random random(6);
  Context context;
  for (const bool is_centred : {true, false}) {
    for (const std::size_t bad : {0u, 20u}) {
      NormCase c(random, {3, 21}, is_centred);
      c.x.data()[21 + bad] = kNaN;
      const Tensor y = c.forward(context);
      const Tensor d_x = c.backward(context).x;
      for (std::size_t i = 0; i < y.data().size(); ++i) {
        EXPECT_EQ(std::isnan(y.data()[i]), i / 21 == 1) << "element " << i;
        EXPECT_EQ(std::isnan(d_x.data()[i]), i / 21 == 1) << "element " << i;
      }
    }
  }
}

TEST(Norm, ReturnsTheSameBitsForAnyNumberOfThreads) {
  Random random(7);
  for (const bool is_centred : {true, false}) {
    const NormCase c(random, {1500, 130}, is_centred);
    expect_same_bits_for_any_threads([&](Context& context) {
      NormGradients d = c.backward(context);
      EXPECT_EQ(d.bias.has_value(), is_centred);
      return list_of(c.forward(context), std::move(d.x), std::move(d.weight), std::move(d.bias));
    });
  }
}

TEST_F(Refusals, NormsRefuseInvalidArguments) {
  const Tensor x = random.reals({2, 3, 8}), eight = random.reals({8}), nine = random.reals({9});
  const Tensor numbers = integers({2}, {0, 1}), scalar = random.reals({});
  keep({&x, &eight, &nine});
  const auto layer = [&](const LayerNormOptions& options) {
    return [&, options] { layer_norm(context, x, options); };
  };
  expect_error(kOption, "axes", "1", [&] { layer_norm(context, scalar); });
  expect_error(kOption, "axes", "0", layer({0, {}, {}, kEps}));
  expect_error(kOption, "axes", "4", layer({4, {}, {}, kEps}));
  expect_error(kOption, "eps", "-1", layer({1, {}, {}, -1.0f}));
  expect_error(kOption, "eps", "NaN", layer({1, {}, {}, std::abs(kNaN)}));
  expect_error(kShape, "weight", "[9]", [&] { rms_norm(context, x, {1, nine, kEps}); });
  expect_error(kShape, "d_output", "[8]", [&] { layer_norm_backward(context, eight, x); });
  expect_error(kDType, "d_output", "int32", [&] { rms_norm_backward(context, numbers, x); });
}

}  // namespace
}  // namespace heed::test
