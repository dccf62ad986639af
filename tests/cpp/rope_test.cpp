// Rotary position embedding.

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "errors_support.hpp"
#include "gradient_support.hpp"
#include "reference/rope.hpp"
#include "support.hpp"

namespace heed::test {
namespace {

constexpr RopeStyle kStyles[] = {RopeStyle::kHalf, RopeStyle::kInterleaved};

TEST(Rope, RotatesPairsByTheirPosition) {
  // Base 4 and four entries: pair 0 rotates by p, pair 1 by p / 2.
  Context context;
  const Tensor x(Shape{1, 1, 3, 4}, {9, 9, 9, 9, 1, 0, 0, 0, 0, 1, 0, 0});
  RopeOptions options;
  options.base = 4.0;
  options.style = RopeStyle::kInterleaved;
  const Tensor interleaved = rope(context, x, options);
  const auto c = [](double angle) { return static_cast<float>(std::cos(angle)); };
  const auto s = [](double angle) { return static_cast<float>(std::sin(angle)); };
  const std::vector<float> want = {9, 9, 9, 9, c(1), s(1), 0, 0, -s(2), c(2), 0, 0};
  for (std::size_t i = 0; i < 12; ++i) EXPECT_NEAR(interleaved.data()[i], want[i], 1e-6) << i;

  options.style = RopeStyle::kHalf;
  const Tensor half = rope(context, x, options);
  const std::vector<float> want_half = {9, 9, 9, 9, c(1), 0, s(1), 0, 0, c(1), 0, s(1)};
  for (std::size_t i = 0; i < 12; ++i) EXPECT_NEAR(half.data()[i], want_half[i], 1e-6) << i;
}

TEST(Rope, MatchesTheReferenceInBothStylesAndLayouts) {
  Random random(1);
  Context context;
  const std::int64_t B = 2, H = 3, L = 17, D = 20;
  const Tensor split = random.reals({B, H, L, D}), joined = random.reals({B, L, H * D});
  Tensor positions(Shape{B, L}, DType::kInt32);
  for (std::int32_t& p : positions.data<std::int32_t>()) {
    p = static_cast<std::int32_t>(random.integer(-10, 5000));
  }
  for (const RopeStyle style : kStyles) {
    for (const std::int64_t rotary_size : {0, 2, 8, 20}) {
      for (const std::int64_t offset : {0, 7, -3, 100000}) {
        SCOPED_TRACE(testing::Message() << "style " << static_cast<int>(style) << " rotary size "
                                        << rotary_size << " offset " << offset);
        RopeOptions options;
        options.style = style;
        options.rotary_size = rotary_size;
        options.offset = offset;
        options.base = offset == 7 ? 500.0 : 10000.0;
        EXPECT_TRUE(close(rope(context, split, options), reference::rope(split, options)));
        options.position_ids = positions;
        EXPECT_TRUE(close(rope(context, split, options), reference::rope(split, options)));
        options.heads = H;
        EXPECT_TRUE(close(rope(context, split, options), reference::rope(split, options)));
        EXPECT_TRUE(close(rope(context, joined, options), reference::rope(joined, options)));
        options.position_ids.reset();
        EXPECT_TRUE(close(rope(context, joined, options), reference::rope(joined, options)));
      }
    }
  }
}

TEST(Rope, BroadcastsPositionsAndTablesOverTheBatch) {
  Random random(12);
  Context context;
  const std::int64_t B = 3, H = 2, L = 4, D = 12;
  const Tensor x = random.reals({B, H, L, D}), positions = integers({1, L}, {9, 0, 3, 100});
  RopeOptions options;
  options.position_ids = positions;
  EXPECT_TRUE(close(rope(context, x, options), reference::rope(x, options)));
  const Tensor table_cos = random.reals({101, D / 2}), table_sin = random.reals({101, D / 2});
  options.cos = table_cos;
  options.sin = table_sin;
  EXPECT_TRUE(close(rope(context, x, options), reference::rope(x, options)));
  const Tensor cos = random.reals({1, L, D / 2}), sin = random.reals({1, L, D / 2});
  options = RopeOptions{};
  options.cos = cos;
  options.sin = sin;
  EXPECT_TRUE(close(rope(context, x, options), reference::rope(x, options)));
  EXPECT_TRUE(close(rope_backward(context, x, options), reference::rope_backward(x, options)));
}

TEST(Rope, AcceptsTablesInsteadOfTheBase) {
  Random random(2);
  Context context;
  const std::int64_t B = 2, H = 2, L = 6, D = 12;
  const Tensor x = random.reals({B, H, L, D});
  const Tensor positions = integers({B, L}, {9, 0, 3, 3, 1, 2, 8, 7, 6, 5, 4, 0});
  for (const RopeStyle style : kStyles) {
    for (const std::int64_t rotary_size : {0, 4}) {
      SCOPED_TRACE(testing::Message()
                   << "style " << static_cast<int>(style) << " rotary size " << rotary_size);
      const std::int64_t pairs = (rotary_size == 0 ? D : rotary_size) / 2;
      const Tensor cos = random.reals({10, pairs}), sin = random.reals({10, pairs});
      RopeOptions options;
      options.style = style;
      options.rotary_size = rotary_size;
      options.cos = cos;
      options.sin = sin;
      EXPECT_TRUE(close(rope(context, x, options), reference::rope(x, options)));
      options.offset = 4;  // up to the last row of the table
      EXPECT_TRUE(close(rope(context, x, options), reference::rope(x, options)));
      options.position_ids = positions;
      EXPECT_TRUE(close(rope(context, x, options), reference::rope(x, options)));
      const Tensor row_cos = random.reals({B, L, pairs}), row_sin = random.reals({B, L, pairs});
      options = RopeOptions{};
      options.style = style;
      options.rotary_size = rotary_size;
      options.cos = row_cos;
      options.sin = row_sin;
      EXPECT_TRUE(close(rope(context, x, options), reference::rope(x, options)));
    }
  }
}

TEST(Rope, ReturnsTheSameForTablesOfTheSameAngles) {
  Random random(3);
  Context context;
  const Tensor x = random.reals({1, 2, 5, 8});
  Tensor cos(Shape{5, 4}), sin(Shape{5, 4});
  for (std::size_t p = 0; p < 5; ++p) {
    for (std::size_t c = 0; c < 4; ++c) {
      const double angle = static_cast<double>(p) * std::pow(10000.0, -static_cast<double>(c) / 4);
      cos.data()[p * 4 + c] = static_cast<float>(std::cos(angle));
      sin.data()[p * 4 + c] = static_cast<float>(std::sin(angle));
    }
  }
  RopeOptions tables;
  tables.cos = cos;
  tables.sin = sin;
  EXPECT_TRUE(close(rope(context, x, tables), reference::rope(x)));
}

TEST(Rope, MakesScoresDependOnDistanceAlone) {
  // q at p and k at p - 3 have the same product for every p.
  Random random(4);
  Context context;
  const Tensor q = random.reals({1, 1, 1, 16}), k = random.reals({1, 1, 1, 16});
  for (const RopeStyle style : kStyles) {
    const auto product = [&](std::int64_t p) {
      RopeOptions options;
      options.style = style;
      options.offset = p;
      const Tensor a = rope(context, q, options);
      options.offset = p - 3;
      const Tensor b = rope(context, k, options);
      double sum = 0;
      for (std::size_t d = 0; d < 16; ++d) sum += double{a.data()[d]} * double{b.data()[d]};
      return sum;
    };
    for (const std::int64_t p : {4, 50, 1000}) EXPECT_NEAR(product(p), product(3), 2e-6) << p;
    EXPECT_GT(std::abs(product(3) -
                       [&] {
                         double sum = 0;
                         for (std::size_t d = 0; d < 16; ++d) {
                           sum += double{q.data()[d]} * double{k.data()[d]};
                         }
                         return sum;
                       }()),
              1e-3)
        << "and it is not that of vectors that were never turned";
  }
}

TEST(Rope, KeepsEntriesBeyondTheRotarySizeAndAtPositionZero) {
  Random random(5);
  Context context;
  const Tensor x = random.reals({1, 2, 3, 10});
  for (const RopeStyle style : kStyles) {
    RopeOptions options;
    options.style = style;
    options.rotary_size = 6;
    const Tensor y = rope(context, x, options);
    for (std::size_t row = 0; row < 6; ++row) {
      for (std::size_t d = 0; d < 10; ++d) {
        if (d >= 6 || row % 3 == 0) {
          EXPECT_EQ(y.data()[row * 10 + d], x.data()[row * 10 + d]);
        } else {
          EXPECT_NE(y.data()[row * 10 + d], x.data()[row * 10 + d]);
        }
      }
    }
  }
}

TEST(RopeBackward, MatchesTheReferenceAndItsFiniteDifferences) {
  Random random(6);
  Context context;
  const Tensor positions = integers({2, 3}, {5, 0, 2, 3, 3, 1}), cos = random.reals({6, 3}),
               sin = random.reals({6, 3});
  for (const RopeStyle style : kStyles) {
    for (const Shape& shape : {Shape{2, 2, 3, 8}, Shape{2, 3, 16}}) {
      for (int combination = 0; combination < 4; ++combination) {
        SCOPED_TRACE(testing::Message() << "style " << static_cast<int>(style) << " "
                                        << to_string(shape) << " combination " << combination);
        RopeOptions options;
        options.style = style;
        options.heads = 2;
        options.rotary_size = 6;
        options.offset = 2;
        if (combination & 1) options.position_ids = positions;
        if (combination & 2) {
          options.cos = cos;
          options.sin = sin;
        }
        const Tensor x = random.reals(shape), d_y = random.reals(shape);
        const reference::Array want = reference::rope_backward(d_y, options);
        EXPECT_TRUE(is_gradient(want, x, d_y, [&](const reference::Array& at) {
          return reference::rope(at, options);
        }));
        EXPECT_TRUE(close(rope_backward(context, d_y, options), want));
      }
    }
  }
  expect_refusal(kShape, "d_output", "[3]",
                 [&] { rope_backward(context, Tensor(Shape{3}, {1, 2, 3})); });
}

TEST(Rope, HandlesSizesOfZero) {
  Context context;
  for (const Shape& shape :
       {Shape{0, 2, 3, 4}, Shape{1, 0, 3, 4}, Shape{1, 2, 0, 4}, Shape{1, 2, 3, 0}}) {
    EXPECT_EQ(rope(context, Tensor(shape)).shape(), shape);
  }
}

TEST(Rope, RefusesInvalidArguments) {
  Context context;
  const Tensor x(Shape{2, 4, 3, 8}), joined(Shape{2, 3, 32}), odd(Shape{1, 1, 2, 7}),
      table(Shape{5, 4}), by_row(Shape{2, 3, 4}), bits(Shape{5, 4}, DType::kBool);
  RopeOptions options;
  const auto refuses = [&](ErrorCode code, const char* argument, const std::string& got,
                           const TensorView& input) {
    expect_refusal(code, argument, got, [&] { rope(context, input, options); });
  };
  for (const std::int64_t heads : {0, 5, -4}) {
    options.heads = heads;
    refuses(kOption, "heads", std::to_string(heads), joined);
  }
  options = {};
  refuses(kOption, "rotary_size", "7", odd);
  for (const std::int64_t size : {-2, 3, 10}) {
    options.rotary_size = size;
    refuses(kOption, "rotary_size", std::to_string(size), x);
  }
  options = {};
  for (const double base : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    options.base = base;
    refuses(kOption, "base", MessagePart(base).text(), x);
  }
  options = {};
  options.cos = bits;
  options.sin = table;
  refuses(kDType, "cos", "bool", x);
  options.cos = table;
  for (const Tensor* sin : {&bits, &by_row}) {
    options.sin = *sin;
    refuses(sin == &bits ? kDType : kShape, "sin", sin == &bits ? "bool" : "[2, 3, 4]", x);
  }
  options.sin = table;
  options.offset = -1;
  refuses(kOption, "offset", "-1", x);
}

}  // namespace
}  // namespace heed::test
