// Adaptive max pooling against its reference.

#include <algorithm>
#include <array>
#include <cmath>

#include "errors_support.hpp"
#include "heed/arrays.hpp"
#include "reference/max_pool.hpp"
#include "support.hpp"

namespace heed::test {
namespace {

TEST(AdaptiveMaxPool, MatchesTheReference) {
  Random random(1);
  Context context;
  for (const Shape& shape : {Shape{1, 1}, Shape{1, 9}, Shape{7, 1}, Shape{12, 17}, Shape{3, 16, 40},
                             Shape{2, 3, 5, 4}, Shape{0, 4, 4}}) {
    for (const std::int64_t rows : {1, 2, 5, 16}) {
      for (const std::int64_t columns : {1, 3, 8, 17}) {
        const Tensor x = random.reals(shape, -2.0f, -1.0f);
        EXPECT_TRUE(close(adaptive_max_pool(context, x, rows, columns),
                          reference::adaptive_max_pool(x, rows, columns), {0.0, 0.0}))
            << to_string(shape) << " to " << rows << " x " << columns;
      }
    }
  }
}

TEST(AdaptiveMaxPool, UsesTheCellsOfTorch) {
  // torch.nn.AdaptiveMaxPool2d((2, 3)) of 0 .. 34 in five rows of seven: parts share row 2 and
  // columns 2 and 4.
  Context context;
  Tensor x = filled({5, 7}, 0.0f);
  for (std::size_t i = 0; i < 35; ++i) x.data()[i] = static_cast<float>(i);
  const Tensor y = adaptive_max_pool(context, x, 2, 3);
  EXPECT_EQ(y.shape(), (Shape{2, 3}));
  EXPECT_TRUE(std::ranges::equal(y.data(), std::array{16.0f, 18.0f, 20.0f, 30.0f, 32.0f, 34.0f}));
}

TEST(AdaptiveMaxPool, PropagatesNaNWithinItsCells) {
  Context context;
  for (const std::int64_t at : {0, 1, 4, 5}) {
    Tensor x = filled({4, 4}, 1.0f);
    x.data()[static_cast<std::size_t>(at)] = kNaN;
    const Tensor y = adaptive_max_pool(context, x, 2, 2);
    EXPECT_TRUE(std::isnan(y.data()[0])) << at;
    for (const std::size_t other : {1u, 2u, 3u}) EXPECT_EQ(y.data()[other], 1.0f) << at;
  }
  // A cell of nothing but -inf gives -inf.
  Tensor scores = filled({2, 4}, -kInfinity);
  scores.data()[7] = -3.0f;
  EXPECT_TRUE(std::ranges::equal(adaptive_max_pool(context, scores, 1, 2).data(),
                                 std::array{-kInfinity, -3.0f}));
}

TEST(AdaptiveMaxPool, DoesNotDependOnThreads) {
  Random random(2);
  const Tensor x = random.reals({8, 300, 300});
  expect_same_bits_for_any_threads(
      [&](Context& context) { return list_of(adaptive_max_pool(context, x, 64, 40)); });
}

TEST_F(Refusals, AdaptiveMaxPoolRefusesInvalidArguments) {
  const Tensor x = random.reals({2, 3, 8}), row = random.reals({8}), none = random.reals({2, 0, 8});
  const Tensor numbers = integers({2, 1}, {0, 1});
  keep({&x, &row});
  expect_error(kDType, "x", "int32", [&] { adaptive_max_pool(context, numbers, 1, 1); });
  expect_error(kShape, "x", "[8]", [&] { adaptive_max_pool(context, row, 1, 1); });
  expect_error(kShape, "x", "[2, 0, 8]", [&] { adaptive_max_pool(context, none, 1, 1); });
  expect_error(kOption, "rows", "0", [&] { adaptive_max_pool(context, x, 0, 2); });
  expect_error(kOption, "columns", "-1", [&] { adaptive_max_pool(context, x, 2, -1); });
}

}  // namespace
}  // namespace heed::test
