// Linear layers, softmax, embeddings, positions and averages against their references.

#include <cmath>
#include <cstdint>
#include <optional>

#include "examples_support.hpp"
#include "reference/embedding.hpp"
#include "reference/linear.hpp"
#include "reference/positional_encoding.hpp"
#include "reference/softmax.hpp"
#include "support.hpp"

namespace heed::test {
namespace {

TEST(Linear, MatchesTheReferenceForAllSizes) {
  Random random(1);
  Context context;
  for (const std::int64_t rows : {0, 1, 5, 48, 53}) {
    for (const std::int64_t in : {0, 1, 3, 16, 257, 1000}) {
      for (const std::int64_t out : {0, 1, 4, 15, 16, 33, 37, 261}) {
        SCOPED_TRACE(testing::Message() << "rows " << rows << " in " << in << " out " << out);
        const Tensor x = random.reals({rows, in});
        const Tensor weight = random.reals({out, in});
        const Tensor bias = random.reals({out});
        // A sum of n products of order 1/3 has the order sqrt(n) / 3. Each of n steps adds a
        // rounding error of 6e-8 of that, of either sign: about 2e-8 n in all.
        const Tolerance tolerance{1e-6 + 5e-8 * static_cast<double>(in), 1e-6};
        EXPECT_TRUE(close(linear(context, x, weight), reference::linear(x, weight), tolerance));
        EXPECT_TRUE(close(linear(context, x, weight, bias),
                          reference::linear(x, weight, reference::Array(bias)), tolerance));
      }
    }
  }
}

TEST(Linear, MapsTheLastAxisOfAnyRank) {
  Random random(2);
  const Tensor weight = random.reals({7, 5}), bias = random.reals({7});
  Context context;
  for (const Shape& shape : {Shape{5}, Shape{3, 5}, Shape{2, 3, 5}, Shape{2, 1, 2, 3, 5}}) {
    const Tensor x = random.reals(shape);
    const Tensor y = linear(context, x, weight, bias);
    EXPECT_EQ(y.shape().rank(), shape.rank());
    EXPECT_EQ(y.shape()[-1], 7);
    EXPECT_TRUE(close(y, reference::linear(x, weight, reference::Array(bias))));
  }
}

TEST(Linear, ReturnsTheSameBitsForAnyNumberOfThreads) {
  Random random(3);
  const Tensor x = random.reals({3, 70, 300}), weight = random.reals({600, 300});
  const Tensor bias = random.reals({600});
  expect_same_bits_for_any_threads(
      [&](Context& context) { return list_of(linear(context, x, weight, bias)); });
}

TEST(Softmax, MatchesTheReferenceForAllSizes) {
  Random random(4);
  Context context;
  for (std::int64_t columns = 0; columns < 70; ++columns) {
    const Tensor x = random.reals({3, columns}, -20.0f, 20.0f);
    EXPECT_TRUE(close(softmax(context, x), reference::softmax(x))) << columns << " columns";
  }
  for (const Shape& shape : {Shape{9}, Shape{2, 3, 4, 5}, Shape{0, 4}, Shape{2, 3000}}) {
    const Tensor x = random.reals(shape, -5.0f, 5.0f);
    EXPECT_TRUE(close(softmax(context, x), reference::softmax(x))) << to_string(shape);
  }
}

TEST(Softmax, HasASmallRelativeErrorInEachWeight) {
  // The maximum is 0, so differences from it are exact, and the other numbers add little to the sum
  // of 1. The remaining errors are the exponential, 2e-7, and three roundings of 6e-8.
  Random random(5);
  Tensor x = random.reals({50, 40}, -80.0f, -2.0f);
  for (std::size_t row = 0; row < 50; ++row) x.data()[row * 40 + row % 40] = 0.0f;
  Context context;
  EXPECT_TRUE(close(softmax(context, x), reference::softmax(x), {0.0, 5e-7}));
}

TEST(Softmax, ReturnsZeroInsteadOfASubnormalNumber) {
  Tensor x(Shape{1, 400});
  for (std::size_t i = 0; i < 400; ++i) x.data()[i] = -0.3f * static_cast<float>(i);
  x.data()[0] = 3.0f;  // the others add 1 to its 20
  Context context;
  const Tensor y = softmax(context, x);
  for (std::size_t i = 0; i < 400; ++i) {
    EXPECT_TRUE(y.data()[i] == 0.0f || std::isnormal(y.data()[i])) << i << ": " << y.data()[i];
  }
  EXPECT_GT(y.data()[270], 0.0f);
  EXPECT_EQ(y.data()[399], 0.0f);
}

TEST(Softmax, ReturnsZerosForRowsOfMinusInfinity) {
  Context context;
  for (const std::int64_t columns : {1, 4, 5, 16, 17, 40}) {
    Tensor x = filled({3, columns}, -kInfinity);
    x.data()[static_cast<std::size_t>(columns)] = 3.0f;
    const Tensor y = softmax(context, x);
    for (std::size_t i = 0; i < y.data().size(); ++i) {
      const float want = i == static_cast<std::size_t>(columns) ? 1.0f : 0.0f;
      EXPECT_EQ(y.data()[i], want) << columns << " columns, element " << i;
    }
  }
}

TEST(Softmax, StaysFiniteForLargeNumbers) {
  const Tensor x(Shape{3, 5}, {1e4f, 1e4f, -1e4f, 0, 9.9e3f, 3e38f, -3e38f, 0, 1, 3e38f,  //
                               -3e38f, -3e38f, -3e38f, -3e38f, -kInfinity});
  Context context;
  EXPECT_TRUE(close(softmax(context, x), reference::softmax(x)));
}

TEST(Softmax, PropagatesNaNWithinItsRow) {
  Random random(6);
  Context context;
  for (const std::int64_t columns : {3, 8, 21, 40}) {
    for (std::int64_t bad = 0; bad < columns; ++bad) {
      const auto at = static_cast<std::size_t>(columns + bad);
      Tensor x = random.reals({3, columns});
      x.data()[at] = kNaN;
      EXPECT_TRUE(close(softmax(context, x), reference::softmax(x)))
          << columns << " columns, NaN at " << bad;
      Tensor hidden = filled({3, columns}, -kInfinity);
      hidden.data()[at] = kNaN;
      EXPECT_TRUE(std::isnan(softmax(context, hidden).data()[at]))
          << columns << " columns, NaN at " << bad << " among -inf";
    }
  }
}

TEST(Softmax, ReturnsTheSameBitsForAnyNumberOfThreads) {
  const Tensor x = Random(7).reals({500, 301}, -5.0f, 5.0f);
  expect_same_bits_for_any_threads([&](Context& context) { return list_of(softmax(context, x)); });
}

TEST(Logsumexp, MatchesTheReferenceForAllSizes) {
  Random random(9);
  Context context;
  for (const float limit : {3.0f, 80.0f, 1e38f})
    for (std::int64_t columns = 0; columns < 70; ++columns) {
      const Tensor x = random.reals({3, columns}, -limit, limit);
      EXPECT_TRUE(close(logsumexp(context, x), reference::logsumexp(x))) << columns << " columns";
    }
  for (const Shape& shape : {Shape{9}, Shape{2, 3, 4, 5}, Shape{0, 4}, Shape{2, 3000}}) {
    const Tensor x = random.reals(shape, -5.0f, 5.0f);
    EXPECT_TRUE(close(logsumexp(context, x), reference::logsumexp(x))) << to_string(shape);
  }
}

TEST(Logsumexp, ReturnsInfinityAndNaNWithinTheirRows) {
  Context context;
  for (const std::int64_t columns : {2, 8, 21, 40})
    for (std::int64_t at = 0; at < columns; ++at)
      for (const float other : {-kInfinity, 0.0f, kInfinity})
        for (const float number : {-kInfinity, kInfinity, kNaN}) {
          Tensor x = filled({3, columns}, 0.0f);
          for (std::int64_t i = columns; i < 2 * columns; ++i)
            x.data()[static_cast<std::size_t>(i)] = i == columns + at ? number : other;
          const Tensor y = logsumexp(context, x);
          const auto log_of = [](std::int64_t count) {
            return std::log(static_cast<float>(count));
          };
          EXPECT_FLOAT_EQ(y.data()[0], log_of(columns));
          EXPECT_FLOAT_EQ(y.data()[2], log_of(columns));
          if (std::isnan(number)) {
            EXPECT_TRUE(std::isnan(y.data()[1]));
          } else {
            const float rest = other == 0.0f ? log_of(columns - 1) : other;
            EXPECT_FLOAT_EQ(y.data()[1], std::max(number, rest));
          }
        }
}

TEST(Logsumexp, ReturnsTheSameBitsForAnyNumberOfThreads) {
  const Tensor x = Random(10).reals({500, 301}, -5.0f, 5.0f);
  expect_same_bits_for_any_threads(
      [&](Context& context) { return list_of(logsumexp(context, x)); });
}

TEST(Logsumexp, HandlesArraysWithoutElements) {
  constexpr float kNothing[1] = {};
  Context context;
  const Shape huge{0, std::int64_t{1} << 40};
  EXPECT_EQ(logsumexp(context, TensorView(kNothing, huge)).shape(), Shape{0});
  EXPECT_EQ(logsumexp(context, Tensor(Shape{0})).data()[0], -kInfinity);
}

TEST(Embedding, ReturnsRowsOfTheTable) {
  Random random(8);
  const Tensor weight = random.reals({6, 5});
  const Tensor ids = integers({2, 4}, {0, 5, 3, 3, 1, 0, 2, 4});
  Context context;
  const Tensor y = embedding(context, ids, weight);
  EXPECT_EQ(y.shape(), (Shape{2, 4, 5}));
  EXPECT_TRUE(close(y, reference::embedding(ids, weight), {0.0, 0.0}));
}

TEST(Embedding, HandlesScalarsAndEmptyArrays) {
  Random random(9);
  const Tensor weight = random.reals({6, 5});
  Context context;
  const Tensor one = embedding(context, integers({}, {4}), weight);
  EXPECT_EQ(one.shape(), (Shape{5}));
  EXPECT_EQ(one.data()[2], weight.data()[4 * 5 + 2]);
  EXPECT_EQ(embedding(context, integers({0}, {}), weight).shape(), (Shape{0, 5}));
  EXPECT_EQ(embedding(context, integers({0}, {}), random.reals({0, 5})).shape(), (Shape{0, 5}));
}

TEST(SinusoidalEncoding, MatchesTheReference) {
  Context context;
  for (const std::int64_t length : {0, 1, 100}) {
    for (const std::int64_t size : {0, 1, 2, 7, 64}) {
      for (const std::int64_t offset : {0, 40, 100000}) {
        for (const double base : {10000.0, 2.5}) {
          SinusoidalOptions options;
          options.offset = offset;
          options.base = base;
          // Angles in double precision: only the result is rounded, to half of 6e-8.
          EXPECT_TRUE(close(sinusoidal_encoding(context, length, size, options),
                            reference::sinusoidal_encoding(length, size, options), {1e-7, 0.0}))
              << "length " << length << " size " << size << " offset " << offset;
        }
      }
    }
  }
}

TEST(SinusoidalEncoding, BeginsWithSinesOfZeroAndCosinesOfZero) {
  Context context;
  const Tensor y = sinusoidal_encoding(context, 2, 4);
  for (std::size_t c = 0; c < 4; ++c) EXPECT_EQ(y.data()[c], c % 2 == 0 ? 0.0f : 1.0f);
  EXPECT_NEAR(y.data()[4], 0.841470985, 1e-7);   // sin 1
  EXPECT_NEAR(y.data()[5], 0.540302306, 1e-7);   // cos 1
  EXPECT_NEAR(y.data()[6], 0.0099998333, 1e-7);  // sin 0.01
  EXPECT_NEAR(y.data()[7], 0.9999500004, 1e-7);  // cos 0.01
}

// The examples of the C++ reference: see examples_support.hpp.

TEST_F(Example, linear) {
  const Tensor x({1, 2}, {1, 2}), weight({2, 2}, {1, 0, 0, -1}), bias({2}, {1, 1});
  EXPECT_EQ(numbers(linear(context, x, weight, bias, Activation::kRelu)), (Numbers{2, 0}));
}

TEST_F(Example, linear_backward) {
  const Tensor x({1, 2}, {1, 2}), weight({1, 2}, {3, 4}), d_output({1, 1}, {1});
  LinearGradientOptions options;
  options.need_bias = false;
  const LinearGradients d = linear_backward(context, d_output, x, weight, options);
  EXPECT_EQ(numbers(*d.x), (Numbers{3, 4}));
  EXPECT_EQ(numbers(*d.weight), (Numbers{1, 2}));
  EXPECT_FALSE(d.bias);
}

TEST_F(Example, softmax) {
  const Tensor x({2}, {0, 0}), d_output({2}, {1, 0});
  const Tensor y = softmax(context, x);
  EXPECT_EQ(numbers(y), (Numbers{0.5f, 0.5f}));
  EXPECT_EQ(numbers(softmax_backward(context, d_output, y)), (Numbers{0.25f, -0.25f}));
}

TEST_F(Example, logsumexp) {
  const Tensor x({2, 2}, {0, 0, 1000, 0});
  EXPECT_NEAR(logsumexp(context, x).data()[0], std::log(2.0f), 1e-6);
  EXPECT_EQ(logsumexp(context, x).data()[1], 1000.0f);
}

TEST_F(Example, embedding) {
  const Tensor table({2, 2}, {1, 2, 3, 4}), d_output({1, 2}, {5, 6});
  Tensor ids({1}, DType::kInt32);
  ids.data<std::int32_t>()[0] = 1;
  EXPECT_EQ(numbers(embedding(context, ids, table)), (Numbers{3, 4}));
  EXPECT_EQ(numbers(embedding_backward(context, d_output, ids, 2)), (Numbers{0, 0, 5, 6}));
}

TEST_F(Example, sinusoidal_encoding) {
  const Tensor y = sinusoidal_encoding(context, 2, 2);
  EXPECT_EQ(y.data()[1], 1.0f);  // cos 0
  EXPECT_NEAR(y.data()[2], std::sin(1.0f), 1e-6);
}

}  // namespace
}  // namespace heed::test
