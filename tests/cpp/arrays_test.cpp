// Arithmetic, products and rearrangement of arrays against their references.

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "errors_support.hpp"
#include "examples_support.hpp"
#include "reference/arithmetic.hpp"
#include "support.hpp"

namespace heed::test {
namespace {

TEST(Arithmetic, BroadcastsTheSecondArgumentToTheFirst) {
  Random random(12);
  Context context;
  for (const Shape& full : {Shape{2, 3, 4}, Shape{3, 70, 41}, Shape{2, 2, 9000}}) {
    const Tensor a = random.reals(full);
    const std::int64_t x = full[0], y = full[1], z = full[2];
    for (const Shape& shape : {full, Shape{y, z}, Shape{z}, Shape{1}, Shape{}, Shape{y, 1},
                               Shape{x, 1, 1}, Shape{x, 1, z}, Shape{1, y, 1}, Shape{1, 1, z}}) {
      SCOPED_TRACE(testing::Message() << to_string(shape) << " to " << to_string(full));
      const Tensor b = random.reals(shape, 0.5f, 2.0f);
      const Tolerance tolerance{0.0, 1e-7};  // one rounding
      EXPECT_TRUE(close(add(context, a, b), reference::add(a, b), tolerance));
      EXPECT_TRUE(
          close(subtract(context, a, b), reference::combine(a, b, std::minus<>()), tolerance));
      EXPECT_TRUE(
          close(multiply(context, a, b), reference::combine(a, b, std::multiplies<>()), tolerance));
      EXPECT_TRUE(
          close(divide(context, a, b), reference::combine(a, b, std::divides<>()), tolerance));
      EXPECT_TRUE(close(broadcast_to(context, b, full), reference::broadcast_to(b, full), {0, 0}));
    }
  }
}

TEST(Arithmetic, SupportsEightAxes) {
  Random random(13);
  Context context;
  const Tensor a = random.reals({2, 3, 2, 1, 2, 3, 2, 5});
  for (const Shape& shape : {Shape{3, 1, 1, 2, 1, 2, 1}, Shape{2, 1, 2, 1, 1, 3, 1, 5}}) {
    const Tensor b = random.reals(shape);
    EXPECT_TRUE(close(add(context, a, b), reference::add(a, b), {0.0, 1e-7}));
    EXPECT_TRUE(close(sum_to(context, a, shape), reference::sum_to(a, shape)));
  }
}

TEST(Arithmetic, HandlesScalarsAndEmptyArrays) {
  Context context;
  EXPECT_TRUE(
      same_bits(add(context, Tensor(Shape{}, {1}), Tensor(Shape{}, {2})), Tensor(Shape{}, {3})));
  EXPECT_TRUE(
      same_bits(add(context, Tensor(Shape{2, 0}), Tensor(Shape{1, 0})), Tensor(Shape{2, 0})));
  EXPECT_TRUE(
      same_bits(add(context, Tensor(Shape{2, 0}), Tensor(Shape{1}, {7})), Tensor(Shape{2, 0})));
  EXPECT_TRUE(
      same_bits(broadcast_to(context, Tensor(Shape{1}, {7}), Shape{2, 0}), Tensor(Shape{2, 0})));
  EXPECT_TRUE(same_bits(sum_to(context, Tensor(Shape{2, 0}), Shape{}), Tensor(Shape{}, {0})));
  EXPECT_TRUE(
      same_bits(sum_to(context, Tensor(Shape{0, 2}), Shape{1, 2}), Tensor(Shape{1, 2}, {0, 0})));
}

TEST(Arithmetic, DividesByZeroAsInIeee754) {
  Context context;
  const Tensor y = divide(context, Tensor(Shape{3}, {1, -1, 0}), Tensor(Shape{}, {0}));
  EXPECT_EQ(y.data()[0], kInfinity);
  EXPECT_EQ(y.data()[1], -kInfinity);
  EXPECT_TRUE(std::isnan(y.data()[2]));
}

TEST(Scale, MultipliesEachNumber) {
  Random random(14);
  Context context;
  const Tensor x = random.reals({3, 70});
  const Tensor y = scale(context, x, -0.25);
  for (std::size_t i = 0; i < x.data().size(); ++i) EXPECT_EQ(y.data()[i], -0.25f * x.data()[i]);
}

TEST(SumTo, MatchesTheReference) {
  Random random(15);
  Context context;
  for (const Shape& full : {Shape{2, 3, 4}, Shape{3, 300, 17}, Shape{40, 2, 600}}) {
    const Tensor x = random.reals(full);
    const std::int64_t a = full[0], b = full[1], c = full[2];
    for (const Shape& shape : {full, Shape{b, c}, Shape{c}, Shape{1}, Shape{}, Shape{b, 1},
                               Shape{a, 1, 1}, Shape{a, 1, c}, Shape{1, b, 1}, Shape{a, b, 1}}) {
      EXPECT_TRUE(close(sum_to(context, x, shape), reference::sum_to(x, shape), {1e-5, 1e-6}))
          << to_string(full) << " to " << to_string(shape);
    }
  }
}

TEST(SumTo, StaysAccurateForManyTerms) {
  Random random(16);
  Context context;
  // Added one after another in float, these would lose a thousandth.
  const Tensor x = random.reals({1000003}, 0.0f, 2.0f);
  const reference::Array want = reference::sum_to(x, Shape{});
  EXPECT_TRUE(close(sum_to(context, x, Shape{}), want, {0.0, 1.5e-7}));
  EXPECT_TRUE(
      close(sum_to(context, random.reals({1}), Shape{1}), reference::Array(Shape{1}), {1.0, 0.0}));
  const Tensor rows = random.reals({200001, 5}, 0.0f, 2.0f);
  EXPECT_TRUE(
      close(sum_to(context, rows, Shape{5}), reference::sum_to(rows, Shape{5}), {0.0, 1.5e-7}));
}

TEST(Cumsum, MatchesTheReference) {
  Random random(23);
  Context context;
  for (const Shape& shape : {Shape{2, 3, 4}, Shape{3, 70, 17}, Shape{2, 5, 600}, Shape{300},
                             Shape{1, 1, 1, 7, 1, 2, 1, 3}, Shape{0, 3}, Shape{3, 0}}) {
    const Tensor x = random.reals(shape);
    for (int axis = 0; axis < shape.rank(); ++axis) {
      for (const bool reverse : {false, true}) {
        SCOPED_TRACE(testing::Message() << to_string(shape) << ", axis " << axis << reverse);
        const reference::Array want = reference::cumsum(x, axis, reverse);
        EXPECT_TRUE(close(cumsum(context, x, axis, reverse), want, {1e-7, 1e-7}));
        EXPECT_TRUE(close(cumsum(context, x, axis - shape.rank(), reverse), want, {1e-7, 1e-7}));
      }
    }
  }
}

TEST(Cumsum, StaysAccurateForManyTerms) {
  // Added one after another in float, the sums would stay at 2^24.
  Context context;
  const std::int64_t terms = (1 << 24) + 3;
  const Tensor y = cumsum(context, filled({terms}, 1.0f), 0);
  EXPECT_EQ(y.data().back(), static_cast<float>(terms + 1));  // an odd number rounds to even
}

TEST(Cumsum, PropagatesNaNAndInfinityToLaterSums) {
  Context context;
  const Tensor x(Shape{4}, {1.0f, kInfinity, 2.0f, -kInfinity});
  const Tensor y = cumsum(context, x, 0);
  EXPECT_EQ(y.data()[0], 1.0f);
  EXPECT_EQ(y.data()[1], kInfinity);
  EXPECT_EQ(y.data()[2], kInfinity);
  EXPECT_TRUE(std::isnan(y.data()[3]));
}

TEST(IsFinite, FindsNaNAndInfinity) {
  Context context;
  for (const std::int64_t size : {0, 1, 7, 40001}) {
    Tensor x = filled({size}, -3e38f);
    EXPECT_TRUE(is_finite(context, x));
    if (size == 0) continue;
    for (const float bad : {kInfinity, -kInfinity, kNaN}) {
      for (const std::int64_t at : {std::int64_t{0}, size / 2, size - 1}) {
        float& number = x.data()[static_cast<std::size_t>(at)];
        number = bad;
        EXPECT_FALSE(is_finite(context, x)) << bad << " at " << at << " of " << size;
        number = 0.0f;
      }
    }
  }
}

TEST(Matmul, MatchesTheReferenceForAllSizes) {
  Random random(17);
  Context context;
  for (const std::int64_t M : {0, 1, 5, 33, 100}) {
    for (const std::int64_t K : {0, 1, 9, 130}) {
      for (const std::int64_t N : {0, 1, 16, 75}) {
        for (const int transposes : {0, 1, 2, 3}) {
          const MatmulOptions options{(transposes & 1) != 0, (transposes & 2) != 0};
          const Shape b_shape = options.transpose_b ? Shape{N, K} : Shape{K, N};
          for (const std::int64_t batch : {1, 3}) {
            const Tensor a =
                random.reals(options.transpose_a ? Shape{batch, K, M} : Shape{batch, M, K});
            const Tensor b = random.reals(Shape{batch, b_shape[0], b_shape[1]});
            const Tensor one = random.reals(b_shape);
            SCOPED_TRACE(testing::Message() << "M " << M << " K " << K << " N " << N << " batch "
                                            << batch << " transposes " << transposes);
            EXPECT_TRUE(close(matmul(context, a, b, options),
                              reference::matmul(a, b, options.transpose_a, options.transpose_b)));
            EXPECT_TRUE(close(matmul(context, a, one, options),
                              reference::matmul(a, one, options.transpose_a, options.transpose_b)));
          }
        }
      }
    }
  }
}

TEST(Matmul, MatchesTheReferenceForLongSumsAndManySmallProducts) {
  Random random(18);
  Context context;
  const Tensor a = random.reals({5000, 20}), b = random.reals({5000, 40});
  EXPECT_TRUE(close(matmul(context, a, b, {.transpose_a = true}),
                    reference::matmul(a, b, true, false), {1e-4, 1e-5}));
  const Tensor c = random.reals({5, 200, 3, 4}), d = random.reals({5, 200, 4, 2});
  EXPECT_TRUE(close(matmul(context, c, d), reference::matmul(c, d, false, false)));
}

TEST(Transpose, MatchesTheReferenceForAllOrders) {
  Random random(19);
  Context context;
  for (const Shape& shape :
       {Shape{3, 4, 5, 6}, Shape{1, 40, 1, 33}, Shape{2, 0, 3, 1}, Shape{2, 20, 3, 64}}) {
    const Tensor x = random.reals(shape);
    std::vector<std::int64_t> order = {0, 1, 2, 3};
    do {
      EXPECT_TRUE(close(transpose(context, x, order), reference::transpose(x, order), {0, 0}))
          << to_string(shape) << " to " << order[0] << order[1] << order[2] << order[3];
    } while (std::ranges::next_permutation(order).found);
  }
  const Tensor large = random.reals({700, 900}), eight = random.reals({2, 1, 3, 2, 2, 1, 2, 3});
  EXPECT_TRUE(close(transpose(context, large, std::vector<std::int64_t>{1, 0}),
                    reference::transpose(large, {1, 0}), {0, 0}));
  const std::vector<std::int64_t> order = {7, 2, 0, 1, 5, 6, 4, 3};
  EXPECT_TRUE(close(transpose(context, eight, order), reference::transpose(eight, order), {0, 0}));
  EXPECT_TRUE(same_bits(transpose(context, Tensor(Shape{}, {7}), {}), Tensor(Shape{}, {7})));
}

/// The numbers converted to `dtype`, rearranged, and converted back.
template <class Rearrange>
void expect_same_for_all_types(const Tensor& x, const Rearrange& rearrange) {
  Context context;
  const Tensor want = rearrange(context, x);
  const Tensor halves = rearrange(context, cast(context, x, DType::kFloat16));
  EXPECT_EQ(halves.dtype(), DType::kFloat16);
  EXPECT_TRUE(same_bits(cast(context, halves, DType::kFloat32), want));
  Tensor flags(x.shape(), DType::kBool);
  for (std::size_t i = 0; i < x.data().size(); ++i) flags.data<bool>()[i] = x.data()[i] > 4.0f;
  const Tensor moved = rearrange(context, flags);
  for (std::size_t i = 0; i < want.data().size(); ++i)
    EXPECT_EQ(moved.data<bool>()[i], want.data()[i] > 4.0f) << "element " << i;
}

TEST(Rearranging, SupportsEveryType) {
  Tensor x(Shape{3, 20, 7});
  for (std::size_t i = 0; i < x.data().size(); ++i) x.data()[i] = static_cast<float>(i % 11);
  const std::vector<std::int64_t> orders[] = {{2, 1, 0}, {1, 0, 2}};
  for (const auto& order : orders)
    expect_same_for_all_types(
        x, [&](Context& context, const TensorView& a) { return transpose(context, a, order); });
  expect_same_for_all_types(
      x, [&](Context& context, const TensorView& a) { return slice(context, a, 1, 3, 11); });
  expect_same_for_all_types(x, [&](Context& context, const TensorView& a) {
    return concat(context, std::vector<TensorView>{a, a}, -1);
  });
}

TEST(Slice, MatchesTheReference) {
  Random random(20);
  Context context;
  for (const Shape& shape : {Shape{4, 5, 6}, Shape{4, 0, 6}, Shape{9}}) {
    const Tensor x = random.reals(shape);
    for (int axis = 0; axis < shape.rank(); ++axis) {
      for (std::int64_t start = 0; start <= shape[axis]; ++start) {
        for (std::int64_t length = 0; start + length <= shape[axis]; ++length) {
          const reference::Array want = reference::slice(x, axis, start, length);
          EXPECT_TRUE(close(slice(context, x, axis, start, length), want, {0, 0}));
          EXPECT_TRUE(close(slice(context, x, axis - shape.rank(), start, length), want, {0, 0}));
        }
      }
    }
  }
}

TEST(Concat, IsTheInverseOfSlice) {
  Random random(21);
  Context context;
  for (const Shape& shape : {Shape{4, 5, 6}, Shape{4, 0, 6}, Shape{9}, Shape{3, 3, 90000}}) {
    const Tensor x = random.reals(shape);
    for (int axis = 0; axis < shape.rank(); ++axis) {
      const std::int64_t a = shape[axis] / 3, b = shape[axis] - a;
      const Tensor first = slice(context, x, axis, 0, a), second = slice(context, x, axis, a, b);
      const Tensor nothing = slice(context, x, axis, a, 0);
      const TensorView parts[] = {first, nothing, second};
      EXPECT_TRUE(same_bits(concat(context, parts, axis), x));
      EXPECT_TRUE(same_bits(concat(context, parts, axis - shape.rank()), x));
    }
  }
}

TEST(Arrays, ReturnTheSameBitsForAnyNumberOfThreads) {
  Random random(22);
  const Tensor x = random.reals({6, 500, 301}), b = random.reals({500, 1}, 1.0f, 2.0f);
  const Tensor small = random.reals({90, 40, 30}), other = random.reals({90, 30, 50});
  const Tensor tall = random.reals({9000, 60}), wide = random.reals({9000, 70});
  const std::vector<std::int64_t> turned = {2, 0, 1}, moved = {1, 0, 2};
  expect_same_bits_for_any_threads([&](Context& context) {
    std::vector<Tensor> results;
    results.push_back(add(context, x, b));
    results.push_back(divide(context, x, b));
    results.push_back(scale(context, x, 1.7));
    for (const Shape& shape : {Shape{}, Shape{301}, Shape{6, 1, 1}, Shape{500, 1}})
      results.push_back(sum_to(context, x, shape));
    for (const std::int64_t axis : {0, 1, 2})
      results.push_back(cumsum(context, x, axis, axis == 1));
    results.push_back(broadcast_to(context, b, x.shape()));
    results.push_back(matmul(context, small, other));
    results.push_back(matmul(context, tall, wide, {.transpose_a = true}));
    results.push_back(transpose(context, x, turned));
    results.push_back(transpose(context, x, moved));
    results.push_back(slice(context, x, 1, 100, 300));
    EXPECT_TRUE(is_finite(context, x));
    return results;
  });
}

TEST_F(Refusals, ArithmeticRefusesInvalidArguments) {
  const Tensor x = random.reals({2, 3, 8}), y = random.reals({2, 5, 8});
  const Tensor numbers = integers({2}, {0, 1});
  keep({&x, &y});
  for (const auto operation : {add, subtract, multiply, divide})
    expect_error(kShape, "b", "[2, 5, 8]", [&] { operation(context, x, y); });
  expect_error(kDType, "x", "int32", [&] { scale(context, numbers, 2.0); });
  expect_error(kDType, "x", "int32", [&] { is_finite(context, numbers); });
  expect_error(kDType, "x", "int32", [&] { sum_to(context, numbers, Shape{}); });
  expect_error(kShape, "shape", "[2, 5, 8]", [&] { sum_to(context, x, Shape{2, 5, 8}); });
  expect_error(kShape, "shape", "[1, 2, 3, 8]", [&] { sum_to(context, x, Shape{1, 2, 3, 8}); });
  expect_error(kDType, "x", "int32", [&] { cumsum(context, numbers, 0); });
  expect_error(kOption, "axis", "3", [&] { cumsum(context, x, 3); });
  expect_error(kOption, "axis", "-4", [&] { cumsum(context, x, -4); });
  expect_error(kDType, "x", "int32", [&] { broadcast_to(context, numbers, Shape{2}); });
  expect_error(kShape, "x", "[2, 3, 8]", [&] { broadcast_to(context, x, Shape{2, 1, 8}); });
}

TEST_F(Refusals, MatmulRefusesInvalidArguments) {
  const Tensor a = random.reals({2, 3, 8}), b = random.reals({2, 8, 5}), row = random.reals({8});
  keep({&a, &b, &row});
  expect_error(kShape, "a", "[8]", [&] { matmul(context, row, b); });
  expect_error(kShape, "b", "[2, 8, 5]", [&] { matmul(context, a, b, {.transpose_b = true}); });
  expect_error(kShape, "b", "[2, 8, 5]", [&] { matmul(context, a, b, {.transpose_a = true}); });
}

TEST_F(Refusals, RearrangingRefusesInvalidArguments) {
  const Tensor x = random.reals({2, 3, 8}), y = random.reals({2, 4, 8}), flat = random.reals({2});
  const Tensor numbers = integers({2}, {0, 1});
  keep({&x, &y, &flat});
  const auto turned = [&](const std::vector<std::int64_t>& order) {
    return [&, order] { transpose(context, x, order); };
  };
  expect_error(kOption, "order", "[0, 1]", turned({0, 1}));
  expect_error(kOption, "order", "[0, 1, 1]", turned({0, 1, 1}));
  expect_error(kOption, "order", "[0, 1, 3]", turned({0, 1, 3}));
  expect_error(kOption, "order", "[0, -1, 1]", turned({0, -1, 1}));
  expect_error(kOption, "axis", "3", [&] { slice(context, x, 3, 0, 1); });
  expect_error(kOption, "axis", "-4", [&] { slice(context, x, -4, 0, 1); });
  expect_error(kOption, "start", "-1", [&] { slice(context, x, 1, -1, 1); });
  expect_error(kOption, "start", "4", [&] { slice(context, x, 1, 4, 0); });
  expect_error(kOption, "length", "-1", [&] { slice(context, x, 1, 1, -1); });
  expect_error(kOption, "length", "3", [&] { slice(context, x, 1, 1, 3); });
  const auto joined = [&](const std::vector<TensorView>& parts, std::int64_t axis) {
    return [&, parts, axis] { concat(context, parts, axis); };
  };
  expect_error(kOption, "parts", "none", joined({}, 0));
  expect_error(kOption, "axis", "3", joined({x}, 3));
  expect_error(kShape, "parts[1]", "[2, 4, 8]", joined({x, y}, 0));
  expect_error(kShape, "parts[1]", "[2]", joined({x, flat}, 0));
  expect_error(kDType, "parts[1]", "int32", joined({flat, numbers}, 0));
}

// The examples of the C++ reference: see examples_support.hpp.

TEST_F(Example, add) {
  const Tensor x({2, 2}, {1, 2, 3, 4}), row({2}, {1, 2});
  EXPECT_EQ(numbers(add(context, x, row)), (Numbers{2, 4, 4, 6}));
  EXPECT_EQ(numbers(subtract(context, x, row)), (Numbers{0, 0, 2, 2}));
  EXPECT_EQ(numbers(multiply(context, x, row)), (Numbers{1, 4, 3, 8}));
  EXPECT_EQ(numbers(divide(context, x, row)), (Numbers{1, 1, 3, 2}));
}

TEST_F(Example, scale) {
  EXPECT_EQ(numbers(scale(context, Tensor({2}, {1, 2}), 0.5)), (Numbers{0.5f, 1}));
}

TEST_F(Example, broadcast_to) {
  const Tensor row({2}, {1, 2});
  EXPECT_EQ(numbers(broadcast_to(context, row, {2, 2})), (Numbers{1, 2, 1, 2}));
}

TEST_F(Example, sum_to) {
  const Tensor x({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(numbers(sum_to(context, x, {2})), (Numbers{4, 6}));
  EXPECT_EQ(numbers(sum_to(context, x, {})), (Numbers{10}));
}

TEST_F(Example, cumsum) {
  const Tensor x({3}, {1, 2, 3});
  EXPECT_EQ(numbers(cumsum(context, x, -1)), (Numbers{1, 3, 6}));
  EXPECT_EQ(numbers(cumsum(context, x, -1, true)), (Numbers{6, 5, 3}));
}

TEST_F(Example, matmul) {
  const Tensor a({1, 2}, {1, 2}), b({1, 2}, {3, 4});
  MatmulOptions options;
  options.transpose_b = true;
  EXPECT_EQ(numbers(matmul(context, a, b, options)), (Numbers{11}));
}

TEST_F(Example, transpose) {
  const Tensor x({2, 3}, {1, 2, 3, 4, 5, 6});
  const std::vector<std::int64_t> order{1, 0};
  EXPECT_EQ(numbers(transpose(context, x, order)), (Numbers{1, 4, 2, 5, 3, 6}));
}

TEST_F(Example, slice) {
  const Tensor x({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(numbers(slice(context, x, -1, 1, 2)), (Numbers{2, 3, 5, 6}));
}

TEST_F(Example, concat) {
  const Tensor a({1, 2}, {1, 2}), b({1, 1}, {3});
  const std::vector<TensorView> parts{a, b};
  EXPECT_EQ(numbers(concat(context, parts, 1)), (Numbers{1, 2, 3}));
}

TEST_F(Example, is_finite) {
  EXPECT_TRUE(is_finite(context, Tensor({2}, {1, 2})));
  EXPECT_FALSE(is_finite(context, Tensor({1}, {std::numeric_limits<float>::infinity()})));
}

}  // namespace
}  // namespace heed::test
