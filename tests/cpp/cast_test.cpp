// Casting between float32, float16 and bfloat16, against the formats' definitions.

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "support.hpp"

namespace heed::test {
namespace {

/// One of the two formats: a sign, exponent bits with a bias, and mantissa bits.
template <class Half, int kExponentBits, int kMantissaBits>
struct Format {
  using Type = Half;
  static constexpr std::uint16_t kInfinityBits = ((1 << kExponentBits) - 1) << kMantissaBits;

  static double value(std::uint16_t bits) {
    const int bias = (1 << (kExponentBits - 1)) - 1;
    const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
    const int exponent = (bits & 0x7fff) >> kMantissaBits;
    const int mantissa = bits & ((1 << kMantissaBits) - 1);
    if (exponent == (1 << kExponentBits) - 1) {
      return mantissa == 0 ? sign * double{kInfinity} : double{kNaN};
    }
    // Subnormals have the exponent of the smallest normal numbers, without their leading 1.
    const int leading = exponent == 0 ? 0 : 1 << kMantissaBits;
    return sign * std::ldexp(leading + mantissa, std::max(exponent, 1) - bias - kMantissaBits);
  }
};
using Binary16 = Format<Float16, 5, 10>;
using BFloat = Format<BFloat16, 8, 7>;

template <class T>
class CastOf : public testing::Test {};
using Formats = testing::Types<Binary16, BFloat>;
TYPED_TEST_SUITE(CastOf, Formats);

template <class Half>
Tensor halves(const std::vector<std::uint16_t>& bits) {
  Tensor tensor(Shape{static_cast<std::int64_t>(bits.size())}, kDTypeOf<Half>);
  for (std::size_t i = 0; i < bits.size(); ++i) tensor.data<Half>()[i].bits = bits[i];
  return tensor;
}

template <class Half>
std::vector<std::uint16_t> rounded(const std::vector<float>& values) {
  Context context;
  const TensorView view(values.data(), Shape{static_cast<std::int64_t>(values.size())});
  const Tensor result = cast(context, view, kDTypeOf<Half>);
  std::vector<std::uint16_t> bits;
  for (const Half half : result.data<Half>()) bits.push_back(half.bits);
  return bits;
}

TYPED_TEST(CastOf, AllHalvesAreTheirValuesAndComeBack) {
  using Half = typename TypeParam::Type;
  std::vector<std::uint16_t> all;
  for (int bits = 0; bits < 65536; ++bits) all.push_back(static_cast<std::uint16_t>(bits));
  Context context;
  const Tensor floats = cast(context, halves<Half>(all), DType::kFloat32);
  const Tensor back = cast(context, floats, kDTypeOf<Half>);
  for (const std::uint16_t bits : all) {
    const double want = TypeParam::value(bits);
    const float got = floats.data()[bits];
    const std::uint16_t again = back.data<Half>()[bits].bits;
    if (std::isnan(want)) {
      ASSERT_TRUE(std::isnan(got)) << bits;
      ASSERT_TRUE(std::isnan(TypeParam::value(again))) << bits;
    } else {
      ASSERT_EQ(got, want) << bits;
      ASSERT_EQ(std::signbit(got), (bits & 0x8000) != 0) << bits;
      ASSERT_EQ(again, bits);
    }
  }
}

TYPED_TEST(CastOf, RoundsToTheNearestAndTiesToEven) {
  // Tests, for every two adjacent numbers, their midpoint, which a float represents exactly, and
  // the floats next to it. Infinity follows the largest number, at the distance of the step before
  // it.
  using Half = typename TypeParam::Type;
  for (const std::uint16_t sign : {0, 0x8000}) {
    std::vector<float> middles, below, above;
    for (std::uint16_t bits = 0; bits < TypeParam::kInfinityBits; ++bits) {
      const double low = TypeParam::value(bits);
      const double step = bits == 0 ? TypeParam::value(1)
                          : bits + 1 == TypeParam::kInfinityBits
                              ? low - TypeParam::value(static_cast<std::uint16_t>(bits - 1))
                              : TypeParam::value(static_cast<std::uint16_t>(bits + 1)) - low;
      const auto middle = static_cast<float>(low + step / 2);
      ASSERT_EQ(double{middle}, low + step / 2);
      const float factor = sign == 0 ? 1.0f : -1.0f;
      middles.push_back(factor * middle);
      below.push_back(factor * std::nextafter(middle, 0.0f));
      above.push_back(factor * std::nextafter(middle, kInfinity));
    }
    const auto at_middle = rounded<Half>(middles), at_below = rounded<Half>(below),
               at_above = rounded<Half>(above);
    for (std::uint16_t bits = 0; bits < TypeParam::kInfinityBits; ++bits) {
      const auto low = static_cast<std::uint16_t>(bits | sign);
      const auto high = static_cast<std::uint16_t>((bits + 1) | sign);
      ASSERT_EQ(at_middle[bits], bits % 2 == 0 ? low : high) << "at " << middles[bits];
      ASSERT_EQ(at_below[bits], low) << "below " << middles[bits];
      ASSERT_EQ(at_above[bits], high) << "above " << middles[bits];
    }
  }
}

TYPED_TEST(CastOf, KeepsSignsInfinitiesAndNaN) {
  using Half = typename TypeParam::Type;
  const float tiny = std::numeric_limits<float>::denorm_min();
  const float huge = std::numeric_limits<float>::max();
  // A NaN whose mantissa has only bits that are dropped must not become infinity.
  const float low_nan = std::bit_cast<float>(0x7f800001u);
  const auto bits = rounded<Half>(
      {0.0f, -0.0f, tiny, -tiny, kInfinity, -kInfinity, huge, -huge, kNaN, -kNaN, low_nan});
  const std::uint16_t infinity = TypeParam::kInfinityBits;
  const auto negative = [](std::uint16_t number) {
    return static_cast<std::uint16_t>(number | 0x8000);
  };
  EXPECT_EQ(bits[0], 0);
  EXPECT_EQ(bits[1], 0x8000);
  EXPECT_EQ(bits[2], 0);
  EXPECT_EQ(bits[3], 0x8000);
  EXPECT_EQ(bits[4], infinity);
  EXPECT_EQ(bits[5], negative(infinity));
  EXPECT_EQ(bits[6], infinity);
  EXPECT_EQ(bits[7], negative(infinity));
  for (std::size_t i = 8; i < 11; ++i) EXPECT_TRUE(std::isnan(TypeParam::value(bits[i]))) << i;
}

TEST(Cast, ConvertsWellKnownNumbers) {
  EXPECT_EQ(rounded<Float16>(
                {1.0f, -2.0f, 65504.0f, 65519.9f, 65520.0f, 0x1p-14f, 0x1p-24f, 0x1p-25f, 0.1f}),
            (std::vector<std::uint16_t>{0x3c00, 0xc000, 0x7bff, 0x7bff, 0x7c00, 0x0400, 0x0001,
                                        0x0000, 0x2e66}));
  EXPECT_EQ(rounded<BFloat16>({1.0f, -2.0f, 3.14159265f, 0x1p-133f, 0x1p-134f}),
            (std::vector<std::uint16_t>{0x3f80, 0xc000, 0x4049, 0x0001, 0x0000}));
}

TEST(Cast, ConvertsEveryFloatingTypeToEveryOther) {
  Random random(1);
  Context context;
  const Tensor x = random.reals({3, 1, 4}, -100, 100);
  const DType types[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16};
  for (const DType from : types) {
    const Tensor source = cast(context, x, from);
    EXPECT_EQ(source.dtype(), from);
    const Tensor wide = cast(context, source, DType::kFloat32);
    EXPECT_EQ(wide.shape(), x.shape());
    for (const DType to : types) {
      // Through float32, which can represent all numbers of both types.
      const Tensor direct = cast(context, source, to);
      EXPECT_EQ(direct.dtype(), to);
      EXPECT_EQ(direct.shape(), x.shape());
      EXPECT_TRUE(same_bits(cast(context, direct, DType::kFloat32),
                            cast(context, cast(context, wide, to), DType::kFloat32)));
    }
  }
  EXPECT_TRUE(same_bits(cast(context, x, DType::kFloat32), x));
  EXPECT_EQ(cast(context, Tensor(Shape{0, 3}), DType::kFloat16).shape(), (Shape{0, 3}));
}

TEST(Cast, RefusesOtherTypes) {
  Context context;
  const Tensor numbers = integers({2}, {1, 2}), floats = filled({2}, 1.0f);
  const auto expect_error = [](const std::string& want, const std::function<void()>& call) {
    try {
      call();
      ADD_FAILURE() << "was accepted";
    } catch (const DTypeError& error) {
      EXPECT_EQ(error.what(), want);
    }
  };
  expect_error("x: expected float32, float16 or bfloat16, got int32",
               [&] { cast(context, numbers, DType::kFloat32); });
  expect_error("dtype: expected float32, float16 or bfloat16, got bool",
               [&] { cast(context, floats, DType::kBool); });
}

}  // namespace
}  // namespace heed::test
