// Linear layers and tables whose weights are stored as float16.

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>

#include "reference/linear.hpp"
#include "support.hpp"

namespace heed::test {
namespace {

Tensor halves_of(Context& context, const Tensor& x) { return cast(context, x, DType::kFloat16); }

/// The numbers that the bits of halves represent; cast_test.cpp tests this conversion.
Tensor numbers_of(Context& context, const Tensor& halves) {
  return cast(context, halves, DType::kFloat32);
}

TEST(LinearOfHalves, MatchesTheReferenceForAllSizes) {
  Random random(41);
  Context context;
  for (const std::int64_t rows : {0, 1, 3, 6, 7, 31}) {
    for (const std::int64_t in : {0, 1, 7, 8, 9, 31, 33, 64, 200, 1601}) {
      for (const std::int64_t out : {0, 1, 8, 33, 71}) {
        SCOPED_TRACE(testing::Message() << "rows " << rows << " in " << in << " out " << out);
        const Tensor x = random.reals({rows, in}), bias = random.reals({out});
        const Tensor weight = halves_of(context, random.reals({out, in}));
        const Tensor numbers = numbers_of(context, weight);
        const Tolerance tolerance{2e-6 + 5e-8 * static_cast<double>(in), 1e-6};
        EXPECT_TRUE(close(linear(context, x, weight), reference::linear(x, numbers), tolerance));
        EXPECT_TRUE(close(linear(context, x, weight, bias, Activation::kGelu),
                          reference::linear(x, numbers, reference::Array(bias), Activation::kGelu),
                          tolerance));
      }
    }
  }
}

TEST(LinearOfHalves, ReturnsWhatTheSameNumbersInFloat32Give) {
  Random random(42);
  Context context;
  const Tensor weight = halves_of(context, random.reals({150, 77})), bias = random.reals({150});
  const Tensor numbers = numbers_of(context, weight);
  for (std::int64_t rows = 1; rows <= 20; ++rows) {
    const Tensor x = random.reals({rows, 77});
    const Tensor got = linear(context, x, weight, bias, Activation::kSilu);
    const Tensor want = linear(context, x, numbers, bias, Activation::kSilu);
    // With 4 to 6 rows, fewer rows are multiplied at a time, and each has more sums.
    if (rows < 4 || rows > 6)
      EXPECT_TRUE(same_bits(got, want)) << rows << " rows";
    else
      EXPECT_TRUE(close(got, reference::Array(want), {1e-6, 1e-6})) << rows << " rows";
  }
  for (const Shape& shape :
       {Shape{77}, Shape{2, 4, 77}, Shape{2, 1, 5, 77}, Shape{3, 0, 77}, Shape{700, 4, 77}}) {
    const Tensor x = random.reals(shape);
    const Tensor got = linear(context, x, weight);
    EXPECT_EQ(got.dtype(), DType::kFloat32);
    EXPECT_TRUE(same_bits(got, linear(context, x, numbers)));
  }
}

TEST(LinearOfHalves, ReadsEveryHalfAtEveryPlace) {
  // Row n has half n at one index and zeros elsewhere, so its product with ones is that number.
  constexpr std::int64_t kPatterns = 1 << 16, kIn = 33;
  Context context;
  Tensor weight(Shape{kPatterns, kIn}, DType::kFloat16);
  for (std::int64_t n = 0; n < kPatterns; ++n)
    for (std::int64_t i = 0; i < kIn; ++i)
      weight.data<Float16>()[static_cast<std::size_t>(n * kIn + i)].bits =
          static_cast<std::uint16_t>(i == n % kIn ? n : 0);
  Tensor all(Shape{kPatterns}, DType::kFloat16);
  for (std::int64_t n = 0; n < kPatterns; ++n)
    all.data<Float16>()[static_cast<std::size_t>(n)].bits = static_cast<std::uint16_t>(n);
  const Tensor want = numbers_of(context, all);
  for (const std::int64_t rows : {1, 8}) {
    const Tensor y = linear(context, filled({rows, kIn}, 1.0f), weight);
    for (std::int64_t i = 0; i < rows * kPatterns; ++i) {
      const float number = want.data()[static_cast<std::size_t>(i % kPatterns)];
      const float got = y.data()[static_cast<std::size_t>(i)];
      if (std::isnan(number))
        ASSERT_TRUE(std::isnan(got)) << i << " of " << rows << " rows";
      else
        ASSERT_EQ(got, number) << i << " of " << rows << " rows";
    }
  }
}

TEST(LinearOfHalves, MultipliesInputsOfAnyMagnitude) {
  // Without an instruction for it, halves are read as numbers that are too small by 2^112, and x is
  // multiplied by 2^112. Numbers from 2^16 on would leave the range of floats.
  Random random(45);
  Context context;
  const Tensor weight = halves_of(context, random.reals({20, 77}));
  const Tensor numbers = numbers_of(context, weight);
  for (const float magnitude : {1e-38f, 1.0f, 65504.0f, 65536.0f, 1e20f, 1e37f}) {
    SCOPED_TRACE(magnitude);
    // Another row with a larger factor must not change a row.
    Tensor x = random.reals({3, 77});
    for (std::size_t i = 0; i < 77; ++i) x.data()[i] *= magnitude;
    x.data()[3] = magnitude;
    x.data()[77 + 5] = 2e38f;
    EXPECT_TRUE(same_bits(linear(context, x, weight), linear(context, x, numbers)));
  }
  for (const float special : {HUGE_VALF, -HUGE_VALF, std::nanf("")}) {
    SCOPED_TRACE(special);
    Tensor x = random.reals({2, 77});
    x.data()[8] = special;
    x.data()[9] = 3e38f;
    const Tensor got = linear(context, x, weight), want = linear(context, x, numbers);
    for (std::size_t i = 0; i < want.data().size(); ++i) {
      if (std::isnan(want.data()[i]))
        EXPECT_TRUE(std::isnan(got.data()[i])) << i;
      else
        EXPECT_EQ(got.data()[i], want.data()[i]) << i;
    }
  }
}

TEST(LinearOfHalves, ReturnsTheSameBitsForAnyNumberOfThreads) {
  Random random(43);
  Context alone;
  const Tensor weight = halves_of(alone, random.reals({3000, 400}));
  const Tensor row = random.reals({1, 400}), rows = random.reals({70, 400});
  expect_same_bits_for_any_threads([&](Context& context) {
    return list_of(linear(context, row, weight), linear(context, rows, weight));
  });
}

TEST(EmbeddingOfHalves, ReturnsTheNumbersOfItsRows) {
  Random random(44);
  Context context;
  for (const std::int64_t size : {0, 1, 17, 64, 901}) {
    const Tensor table = halves_of(context, random.reals({50, size}));
    Tensor ids(Shape{3, 40}, DType::kInt32);
    for (std::int32_t& id : ids.data<std::int32_t>())
      id = static_cast<std::int32_t>(random.integer(0, 49));
    const Tensor got = embedding(context, ids, table);
    EXPECT_EQ(got.dtype(), DType::kFloat32);
    EXPECT_TRUE(same_bits(got, embedding(context, ids, numbers_of(context, table))));
  }
}

}  // namespace
}  // namespace heed::test
