// Linear layers: activations, packed weights, int8 weights.

#include <cmath>
#include <cstdint>
#include <optional>

#include "gradient_support.hpp"
#include "reference/linear.hpp"
#include "support.hpp"

namespace heed::test {
namespace {

constexpr auto kInt8 = PackedWeights::Format::kInt8;
constexpr auto kInt4 = PackedWeights::Format::kInt4;
constexpr Activation kActivations[] = {Activation::kNone,     Activation::kRelu, Activation::kGelu,
                                       Activation::kGeluTanh, Activation::kSilu, Activation::kTanh,
                                       Activation::kSigmoid};

/// Applies an activation through a linear layer with the weight 1.
Tensor activated(Context& context, const Tensor& x, Activation activation) {
  return linear(context, x, Tensor(Shape{1, 1}, {1.0f}), {}, activation);
}

/// Integers that quantisation does not change. A row of x spans 126 steps if it goes from 0 to 126
/// times some step. A row of weights with a 64 has a scale of 1.
Tensor whole_numbers(Random& random, const Shape& shape, std::int64_t low, std::int64_t high) {
  Tensor tensor(shape);
  const std::int64_t in = shape[-1];
  for (std::int64_t i = 0; i < shape.elements(); ++i) {
    const std::int64_t at = i % in;
    const std::int64_t value = at == 0 ? low : at == 1 ? high : random.integer(low, high);
    tensor.data()[static_cast<std::size_t>(i)] = static_cast<float>(value);
  }
  return tensor;
}

TEST(Activation, MatchesTheReference) {
  Context context;
  Tensor x(Shape{80001, 1});
  for (std::size_t i = 0; i < x.data().size(); ++i)
    x.data()[i] = (static_cast<float>(i) - 40000.0f) / 2000.0f;
  for (const Activation activation : kActivations) {
    SCOPED_TRACE(testing::Message() << "activation " << static_cast<int>(activation));
    const Tensor y = activated(context, x, activation);
    for (std::size_t i = 0; i < x.data().size(); ++i) {
      const double want = reference::activate(x.data()[i], activation);
      const double limit = activation == Activation::kGelu
                               ? 2.4e-7 * std::max(1.0f, std::abs(x.data()[i]))
                           : activation == Activation::kGeluTanh ? 2e-7 + 1e-6 * std::abs(want)
                           : activation == Activation::kTanh     ? 4e-7 * std::abs(want)
                                                                 : 1e-30 + 5e-7 * std::abs(want);
      ASSERT_LE(std::abs(y.data()[i] - want), limit) << "of " << x.data()[i];
    }
  }
}

TEST(Activation, HasTheRightLimits) {
  Context context;
  const Tensor x(Shape{7, 1}, {0.0f, 100.0f, -100.0f, 3e38f, -3e38f, kInfinity, kNaN});
  for (const Activation activation : kActivations) {
    if (activation == Activation::kNone) continue;
    SCOPED_TRACE(testing::Message() << "activation " << static_cast<int>(activation));
    const Tensor y = activated(context, x, activation);
    const bool is_bounded = activation == Activation::kTanh || activation == Activation::kSigmoid;
    const float lowest = activation == Activation::kTanh ? -1.0f : 0.0f;
    EXPECT_EQ(y.data()[0], activation == Activation::kSigmoid ? 0.5f : 0.0f);
    EXPECT_EQ(y.data()[1], is_bounded ? 1.0f : 100.0f);
    EXPECT_EQ(y.data()[2], lowest);
    EXPECT_EQ(y.data()[3], is_bounded ? 1.0f : 3e38f);
    EXPECT_EQ(y.data()[4], lowest);
    EXPECT_EQ(y.data()[5], is_bounded ? 1.0f : kInfinity);
    EXPECT_TRUE(std::isnan(y.data()[6]));
  }
}

TEST(Activate, EqualsTheActivationOfALinearLayer) {
  Random random(34);
  Context context;
  for (const std::int64_t size : {0, 1, 7, 16, 33, 5000}) {
    const Tensor x = random.reals({size, 1}, -6.0f, 6.0f);
    for (const Activation activation : kActivations)
      EXPECT_TRUE(same_bits(activate(context, x, activation), activated(context, x, activation)));
  }
}

TEST(ActivateBackward, AgreesWithFiniteDifferencesInTheReference) {
  Random random(35);
  const Tensor x = random.reals({60}, -6.0f, 6.0f), d_y = random.reals({60});
  for (const Activation activation : kActivations) {
    const reference::Array d_x = reference::activate_backward(d_y, x, activation);
    EXPECT_TRUE(is_gradient(
        d_x, x, d_y, [&](const reference::Array& a) { return reference::activate(a, activation); }))
        << "activation " << static_cast<int>(activation);
  }
}

TEST(ActivateBackward, MatchesTheReference) {
  Context context;
  Tensor x(Shape{80001});
  for (std::size_t i = 0; i < x.data().size(); ++i)
    x.data()[i] = (static_cast<float>(i) - 40000.0f) / 2000.0f;
  const Tensor ones = filled(x.shape(), 1.0f);
  Random random(36);
  for (const Activation activation : kActivations) {
    SCOPED_TRACE(testing::Message() << "activation " << static_cast<int>(activation));
    EXPECT_TRUE(close(activate_backward(context, ones, x, activation),
                      reference::activate_backward(ones, x, activation), {2e-6, 0.0}));
    for (const std::int64_t size : {0, 1, 9, 33}) {
      const Tensor few = random.reals({size}, -4.0f, 4.0f), d_y = random.reals({size});
      EXPECT_TRUE(close(activate_backward(context, d_y, few, activation),
                        reference::activate_backward(d_y, few, activation), {1e-6, 0.0}));
    }
  }
}

TEST(ActivateBackward, HasTheRightLimits) {
  Context context;
  const Tensor x(Shape{5}, {100.0f, -100.0f, 3e38f, -3e38f, kNaN}), ones = filled({5}, 1.0f);
  for (const Activation activation : kActivations) {
    if (activation == Activation::kNone) continue;
    SCOPED_TRACE(testing::Message() << "activation " << static_cast<int>(activation));
    const Tensor d_x = activate_backward(context, ones, x, activation);
    const bool is_bounded = activation == Activation::kTanh || activation == Activation::kSigmoid;
    for (const std::size_t i : {0u, 2u}) EXPECT_EQ(d_x.data()[i], is_bounded ? 0.0f : 1.0f);
    for (const std::size_t i : {1u, 3u}) EXPECT_EQ(d_x.data()[i], 0.0f);
    if (activation != Activation::kRelu) {
      EXPECT_TRUE(std::isnan(d_x.data()[4]));
    }
  }
}

TEST(Swiglu, MatchesTheReference) {
  Random random(37);
  Context context;
  for (const Shape& shape : {Shape{}, Shape{0, 3}, Shape{3, 7}, Shape{2, 5, 1000}}) {
    const Tensor gate = random.reals(shape, -6.0f, 6.0f), up = random.reals(shape);
    const Tensor d_y = random.reals(shape);
    EXPECT_TRUE(close(swiglu(context, gate, up), reference::swiglu(gate, up), {2e-6, 1e-6}));
    const SwigluGradients got = swiglu_backward(context, d_y, gate, up);
    const reference::SwigluGradients want = reference::swiglu_backward(d_y, gate, up);
    EXPECT_TRUE(close(got.gate, want.gate, {2e-6, 1e-6}));
    EXPECT_TRUE(close(got.up, want.up, {2e-6, 1e-6}));
  }
}

TEST(Swiglu, AgreesWithFiniteDifferencesInTheReference) {
  Random random(38);
  const Tensor gate = random.reals({20}, -4.0f, 4.0f), up = random.reals({20});
  const Tensor d_y = random.reals({20});
  const reference::SwigluGradients d = reference::swiglu_backward(d_y, gate, up);
  using reference::Array;
  EXPECT_TRUE(
      is_gradient(d.gate, gate, d_y, [&](const Array& a) { return reference::swiglu(a, up); }));
  EXPECT_TRUE(
      is_gradient(d.up, up, d_y, [&](const Array& a) { return reference::swiglu(gate, a); }));
}

TEST(Activate, ReturnsTheSameBitsForAnyNumberOfThreads) {
  Random random(39);
  const Tensor x = random.reals({300001}, -6.0f, 6.0f), d_y = random.reals({300001});
  expect_same_bits_for_any_threads([&](Context& context) {
    return list_of(activate(context, x, Activation::kGelu),
                   activate_backward(context, d_y, x, Activation::kGelu), swiglu(context, x, d_y),
                   swiglu_backward(context, d_y, x, d_y).gate);
  });
}

TEST(Linear, MatchesTheReferenceWithActivationsForAllSizes) {
  Random random(21);
  Context context;
  for (const std::int64_t rows : {1, 6, 7, 31}) {
    for (const std::int64_t in : {0, 5, 64, 1600}) {
      for (const std::int64_t out : {1, 8, 33, 71}) {
        const Tensor x = random.reals({rows, in}), weight = random.reals({out, in});
        const Tensor bias = random.reals({out});
        const Tolerance tolerance{2e-6 + 5e-8 * static_cast<double>(in), 1e-6};
        for (const Activation activation : kActivations) {
          SCOPED_TRACE(testing::Message() << "rows " << rows << " in " << in << " out " << out
                                          << " activation " << static_cast<int>(activation));
          EXPECT_TRUE(close(linear(context, x, weight, bias, activation),
                            reference::linear(x, weight, reference::Array(bias), activation),
                            tolerance));
        }
      }
    }
  }
}

TEST(Linear, SupportsMoreRowsThanArePackedAtATime) {
  Random random(22);
  Context context;
  for (const std::int64_t rows : {513, 2047, 2049, 5003}) {
    const Tensor x = random.reals({rows, 20}), weight = random.reals({70, 20});
    EXPECT_TRUE(close(linear(context, x, weight), reference::linear(x, weight))) << rows;
  }
}

TEST(Linear, ReturnsTheSameWithPackedWeights) {
  Random random(23);
  Context context;
  for (const std::int64_t rows : {0, 1, 7, 100}) {
    for (const std::int64_t in : {0, 1, 9, 64, 900}) {
      for (const std::int64_t out : {0, 1, 16, 45, 100}) {
        SCOPED_TRACE(testing::Message() << "rows " << rows << " in " << in << " out " << out);
        const Tensor x = random.reals({rows, in}), weight = random.reals({out, in});
        const Tensor bias = random.reals({out});
        const PackedWeights packed(context, weight);
        EXPECT_EQ(packed.shape(), weight.shape());
        const Tolerance tolerance{1e-6 + 5e-8 * static_cast<double>(in), 1e-6};
        const Tensor got = linear(context, x, packed, bias, Activation::kSilu);
        EXPECT_TRUE(close(got,
                          reference::linear(x, weight, reference::Array(bias), Activation::kSilu),
                          tolerance));
        if (rows > 6) {
          EXPECT_TRUE(same_bits(got, linear(context, x, weight, bias, Activation::kSilu)));
        }
      }
    }
  }
}

TEST(Linear, MultipliesIntegersExactlyWithInt8Weights) {
  Random random(24);
  Context context;
  for (const std::int64_t rows : {1, 5, 6, 13, 50}) {
    for (const std::int64_t in : {2, 3, 7, 8, 9, 64, 1000}) {
      for (const std::int64_t out : {1, 7, 8, 33, 70}) {
        SCOPED_TRACE(testing::Message() << "rows " << rows << " in " << in << " out " << out);
        const std::int64_t low = -random.integer(0, 126);
        const Tensor x = whole_numbers(random, {rows, in}, low, low + 126);
        const Tensor weight = whole_numbers(random, {out, in}, -64, 60);
        const Tensor bias = whole_numbers(random, {out}, -9, 9);
        const PackedWeights packed(context, weight, kInt8);
        EXPECT_TRUE(close(linear(context, x, packed, bias),
                          reference::linear(x, weight, reference::Array(bias)), {0.0, 1e-6}));
      }
    }
  }
}

TEST(Linear, IsExactWithInt8WeightsAtTheirExtremes) {
  Context context;
  for (const float weight_value : {-64.0f, 64.0f}) {
    Tensor x = filled({7, 4000}, 126.0f), weight = filled({40, 4000}, weight_value);
    const PackedWeights packed(context, weight, kInt8);
    EXPECT_TRUE(close(linear(context, x, packed), reference::linear(x, weight), {0.0, 1e-6}));
  }
}

/// Numbers that int4 and the rounding of x to bytes represent exactly: in each group of 32, one has
/// the largest magnitude, `extreme`.
Tensor exact_groups(Random& random, const Shape& shape, float low, float high, float extreme) {
  Tensor x =
      whole_numbers(random, shape, static_cast<std::int64_t>(low), static_cast<std::int64_t>(high));
  for (std::int64_t row = 0, in = shape[-1]; row < shape[0]; ++row)
    for (std::int64_t first = 0; first < in; first += 32)
      x.data()[static_cast<std::size_t>(
          row * in + random.integer(first, std::min(first + 32, in) - 1))] = extreme;
  return x;
}

TEST(Linear, MultipliesIntegersExactlyWithInt4Weights) {
  Random random(36);
  Context context;
  for (const std::int64_t rows : {1, 2, 5, 6, 13, 50}) {
    for (const std::int64_t in : {1, 3, 8, 31, 32, 33, 64, 1000}) {
      for (const std::int64_t out : {1, 7, 8, 33, 70}) {
        SCOPED_TRACE(testing::Message() << "rows " << rows << " in " << in << " out " << out);
        const Tensor x = exact_groups(random, {rows, in}, -127.0f, 127.0f, 127.0f);
        const Tensor weight = exact_groups(random, {out, in}, -7.0f, 7.0f, -8.0f);
        const Tensor bias = whole_numbers(random, {out}, -9, 9);
        const PackedWeights packed(context, weight, kInt4);
        EXPECT_TRUE(close(linear(context, x, packed, bias),
                          reference::linear(x, weight, reference::Array(bias)), {0.0, 1e-6}));
      }
    }
  }
}

TEST(Linear, IsExactWithInt4WeightsAtTheirExtremes) {
  Context context;
  for (const float x_value : {-127.0f, 127.0f})
    for (const float weight_value : {-8.0f, 8.0f}) {
      const Tensor x = filled({7, 4000}, x_value), weight = filled({40, 4000}, weight_value);
      const PackedWeights packed(context, weight, kInt4);
      EXPECT_TRUE(close(linear(context, x, packed), reference::linear(x, weight), {0.0, 1e-6}));
    }
}

/// Groups of 32 numbers s (n - 8) with a float16 s and at least one n = 0, as llama.cpp writes.
TEST(Linear, KeepsWeightsOfTheFormatQ4_0) {
  Random random(39);
  Context context;
  Tensor weight = exact_groups(random, {40, 96}, -8.0f, 7.0f, -8.0f);
  for (std::size_t i = 0; i < weight.data().size(); i += 32) {
    const auto scale = static_cast<float>(random.integer(1025, 2047)) * 0x1p-16f;
    for (std::size_t j = i; j < i + 32; ++j) weight.data()[j] *= scale;
  }
  const Tensor x = exact_groups(random, {9, 96}, -127.0f, 127.0f, 127.0f);
  const PackedWeights packed(context, weight, kInt4);
  EXPECT_TRUE(close(linear(context, x, packed), reference::linear(x, weight), {1e-4, 1e-6}));
}

/// Rounded to the 11 significant bits of float16.
double to_half(double x) {
  int exponent = 0;
  const double mantissa = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(mantissa, 11)), exponent - 11);
}

/// Rounds each group of 32 numbers of a row as the format says. The step of a weight is the number
/// with the largest magnitude divided by -8, in float16. The step of x is the magnitude over 127.
reference::Array rounded_groups(const Tensor& x, bool is_weight) {
  reference::Array rounded(x);
  const std::int64_t in = x.shape()[-1];
  for (std::int64_t row = 0; row < x.shape()[0]; ++row)
    for (std::int64_t first = 0; first < in; first += 32) {
      const std::int64_t from = row * in + first, to = row * in + std::min(first + 32, in);
      double most = 0.0;
      for (std::int64_t i = from; i < to; ++i)
        if (std::abs(rounded[i]) > std::abs(most)) most = rounded[i];
      const double step = is_weight ? to_half(most / -8.0) : std::abs(most) / 127.0;
      for (std::int64_t i = from; i < to; ++i)
        rounded[i] = step == 0.0
                         ? 0.0
                         : step * std::clamp(std::nearbyint(rounded[i] / step),
                                             is_weight ? -8.0 : -127.0, is_weight ? 7.0 : 127.0);
    }
  return rounded;
}

TEST(Linear, RoundsGroupsOf32WithInt4Weights) {
  Random random(37);
  Context context;
  for (const std::int64_t rows : {1, 3, 20}) {
    const Tensor weight = normal_numbers(random, {70, 203}),
                 x = normal_numbers(random, {rows, 203});
    const Tensor bias = random.reals({70});
    const PackedWeights packed(context, weight, kInt4);
    const Difference error =
        difference(linear(context, x, packed, bias, Activation::kSilu),
                   reference::linear(rounded_groups(x, false), rounded_groups(weight, true),
                                     reference::Array(bias), Activation::kSilu));
    EXPECT_LT(error.relative, 1e-6) << rows;
  }
}

TEST(Linear, HasABoundedErrorWithInt4Weights) {
  Random random(38);
  Context context;
  const Tensor weight = normal_numbers(random, {160, 768});
  Tensor x = normal_numbers(random, {64, 768});
  const PackedWeights packed(context, weight, kInt4);
  EXPECT_EQ(packed.bytes(), 160 * 768 / 2 + 160 * 768 / 32 * 2);
  const Difference plain = difference(linear(context, x, packed), reference::linear(x, weight));
  EXPECT_LT(plain.relative, 0.09);
  EXPECT_GT(plain.cosine, 0.996);
  // Large numbers cost accuracy only in their own groups.
  for (std::size_t i = 0; i < x.data().size(); ++i)
    if (i % 128 == 5) x.data()[i] *= 20.0f;
  const Difference heavy = difference(linear(context, x, packed), reference::linear(x, weight));
  EXPECT_LT(heavy.relative, 0.11);
}

TEST(PackedWeights, RefusesNumbersThatInt4CannotScale) {
  Context context;
  for (const float value : {kNaN, kInfinity, 524160.0f}) {
    Tensor weight(Shape{3, 40});
    weight.data()[50] = value;
    EXPECT_THROW(PackedWeights(context, weight, kInt4), OptionError) << value;
  }
  EXPECT_NO_THROW(PackedWeights(context, filled({3, 40}, -524000.0f), kInt4));
}

TEST(Linear, DoesNotDependOnDotProductsOfBytes) {
  Random random(35);
  const Tensor weight = normal_numbers(random, {70, 203}), x = normal_numbers(random, {51, 203});
  for (const auto format : {kInt8, kInt4})
    expect_same_bits_on_extended_isas([&](Context& context) {
      const PackedWeights packed(context, weight, format);
      return linear(context, x, packed, std::nullopt, Activation::kGelu);
    });
}

TEST(Linear, HasABoundedErrorWithInt8Weights) {
  Random random(25);
  Context context;
  const Tensor weight = normal_numbers(random, {160, 768}), x = normal_numbers(random, {64, 768});
  const PackedWeights packed(context, weight, kInt8);
  EXPECT_LT(packed.bytes(), 160 * 768 + 4096);
  const Difference plain = difference(linear(context, x, packed), reference::linear(x, weight));
  EXPECT_LT(plain.relative, 0.022);
  EXPECT_GT(plain.cosine, 0.9997);

  // Numbers of one sign, as after an activation, use all the steps.
  Tensor positive = normal_numbers(random, {64, 768});
  for (float& value : positive.data()) value = std::max(value, 0.0f);
  const Difference one_sign =
      difference(linear(context, positive, packed), reference::linear(positive, weight));
  EXPECT_LT(one_sign.relative, 0.02);
  EXPECT_GT(one_sign.cosine, 0.9998);

  // In every row a few numbers twenty times as large, as hidden states of language models have.
  Tensor outliers = normal_numbers(random, {64, 768});
  for (std::size_t i = 0; i < outliers.data().size(); ++i)
    if (i % 128 == 5) outliers.data()[i] *= 20.0f;
  const Difference heavy =
      difference(linear(context, outliers, packed), reference::linear(outliers, weight));
  EXPECT_LT(heavy.relative, 0.07);
  EXPECT_GT(heavy.cosine, 0.9975);
}

TEST(Linear, PropagatesNonFiniteNumbersWithinTheirRow) {
  Random random(26);
  Context context;
  for (const std::int64_t rows : {3, 20}) {
    Tensor x = random.reals({rows, 40}), weight = random.reals({30, 40});
    x.data()[40 + 7] = kNaN;
    weight.data()[5 * 40 + 39] = kNaN;
    const PackedWeights floats(context, weight), bytes(context, weight, kInt8);
    for (const Activation activation : kActivations) {
      const Tensor results[] = {linear(context, x, weight, {}, activation),
                                linear(context, x, floats, {}, activation),
                                linear(context, x, bytes, {}, activation)};
      for (const Tensor& y : results)
        for (std::int64_t i = 0; i < rows * 30; ++i)
          EXPECT_EQ(std::isnan(y.data()[static_cast<std::size_t>(i)]), i / 30 == 1 || i % 30 == 5)
              << "element " << i;
    }
  }
  Tensor x = random.reals({8, 40});
  x.data()[3] = kInfinity;
  for (const auto format : {kInt8, kInt4}) {
    const PackedWeights packed(context, random.reals({9, 40}), format);
    const Tensor y = linear(context, x, packed);
    EXPECT_TRUE(std::isnan(y.data()[0]));
    EXPECT_FALSE(std::isnan(y.data()[9]));
  }
}

TEST(Linear, ReturnsTheBiasForZerosWithWeightsOfFewBits) {
  Random random(27);
  Context context;
  const Tensor bias = random.reals({9});
  for (const auto format : {kInt8, kInt4}) {
    const PackedWeights zeros(context, filled({9, 16}, 0.0f), format);
    const PackedWeights some(context, random.reals({9, 16}), format);
    const Tensor from_weights = linear(context, random.reals({1, 16}), zeros, bias);
    const Tensor from_x = linear(context, filled({1, 16}, 0.0f), some, bias);
    for (std::size_t i = 0; i < 9; ++i) {
      EXPECT_EQ(from_weights.data()[i], bias.data()[i]);
      EXPECT_EQ(from_x.data()[i], bias.data()[i]);
    }
  }
}

TEST(Linear, ReturnsTheSameBitsForAnyNumberOfThreadsWithPackedWeights) {
  Random random(28);
  const Tensor x = random.reals({3, 370, 100}), weight = random.reals({150, 100});
  const Tensor bias = random.reals({150});
  for (const PackedWeights::Format format : {PackedWeights::Format::kFloat32, kInt8, kInt4})
    expect_same_bits_for_any_threads([&](Context& context) {
      const PackedWeights packed(context, weight, format);
      return list_of(linear(context, x, packed, bias, Activation::kGelu));
    });
}

TEST(LinearBackward, AgreesWithFiniteDifferencesInTheReference) {
  Random random(30);
  const Tensor x = random.reals({3, 2, 5}), weight = random.reals({4, 5});
  const Tensor bias = random.reals({4}), d_y = random.reals({3, 2, 4});
  const reference::LinearGradients d = reference::linear_backward(d_y, x, weight);
  using reference::Array;
  EXPECT_TRUE(
      is_gradient(d.x, x, d_y, [&](const Array& a) { return reference::linear(a, weight, bias); }));
  EXPECT_TRUE(is_gradient(d.weight, weight, d_y,
                          [&](const Array& a) { return reference::linear(x, a, bias); }));
  EXPECT_TRUE(is_gradient(d.bias, bias, d_y,
                          [&](const Array& a) { return reference::linear(x, weight, a); }));
}

TEST(LinearBackward, MatchesTheReferenceForAllSizes) {
  Random random(31);
  Context context;
  for (const std::int64_t rows : {0, 1, 6, 33, 200, 4500}) {
    for (const std::int64_t in : {0, 1, 16, 45}) {
      for (const std::int64_t out : {0, 1, 9, 70}) {
        SCOPED_TRACE(testing::Message() << "rows " << rows << " in " << in << " out " << out);
        const Tensor x = random.reals({rows, in}), weight = random.reals({out, in});
        const Tensor d_y = random.reals({rows, out});
        const reference::LinearGradients want = reference::linear_backward(d_y, x, weight);
        const LinearGradients got = linear_backward(context, d_y, x, weight);
        const double size = static_cast<double>(rows);
        EXPECT_TRUE(close(got.x, want.x));
        EXPECT_TRUE(close(got.weight, want.weight, {1e-5 + 1e-8 * size, 1e-5}));
        EXPECT_TRUE(close(got.bias, want.bias, {1e-5 + 1e-8 * size, 1e-5}));
      }
    }
  }
}

TEST(LinearBackward, SupportsAnyRankAndReturnsOnlyRequestedGradients) {
  Random random(32);
  Context context;
  const Tensor weight = random.reals({7, 5});
  for (const Shape& shape : {Shape{5}, Shape{2, 3, 5}, Shape{2, 1, 2, 3, 5}}) {
    const Tensor x = random.reals(shape);
    const Tensor d_y = linear(context, x, weight);
    const reference::LinearGradients want = reference::linear_backward(d_y, x, weight);
    for (int needs = 0; needs < 8; ++needs) {
      const LinearGradientOptions options{(needs & 1) != 0, (needs & 2) != 0, (needs & 4) != 0};
      const LinearGradients got = linear_backward(context, d_y, x, weight, options);
      EXPECT_EQ(got.x.has_value(), options.need_x);
      EXPECT_EQ(got.weight.has_value(), options.need_weight);
      EXPECT_EQ(got.bias.has_value(), options.need_bias);
      if (got.x) {
        EXPECT_TRUE(close(got.x, want.x));
      }
      if (got.weight) {
        EXPECT_TRUE(close(got.weight, want.weight));
      }
      if (got.bias) {
        EXPECT_TRUE(close(got.bias, want.bias));
      }
    }
  }
}

TEST(LinearBackward, ReturnsTheSameBitsForAnyNumberOfThreads) {
  Random random(33);
  const Tensor x = random.reals({5000, 100}), weight = random.reals({150, 100});
  const Tensor d_y = random.reals({5000, 150});
  expect_same_bits_for_any_threads([&](Context& context) {
    LinearGradients got = linear_backward(context, d_y, x, weight);
    return list_of(std::move(got.x.value()), std::move(got.weight.value()),
                   std::move(got.bias.value()));
  });
}

TEST(PackedWeights, RefusesRowsWhoseInt8ProductsCouldOverflow) {
  Context context;
  const PackedWeights most(context, filled({1, 1 << 18}, -64.0f), kInt8);
  const Tensor y = linear(context, filled({1, 1 << 18}, 126.0f), most);
  EXPECT_FLOAT_EQ(y.data()[0], -64.0f * 126.0f * 0x1p18f);
  EXPECT_THROW(PackedWeights(context, Tensor(Shape{1, (1 << 18) + 1}), kInt8), ShapeError);
}

TEST(PackedWeights, KeepsItsOwnCopy) {
  Random random(29);
  Context context;
  const Tensor x = random.reals({4, 6});
  std::optional<Tensor> weight = random.reals({5, 6});
  const reference::Array want = reference::linear(x, *weight);
  PackedWeights first(context, *weight);
  weight.reset();
  const PackedWeights moved = std::move(first);
  EXPECT_TRUE(close(linear(context, x, moved), want));
}

}  // namespace
}  // namespace heed::test
