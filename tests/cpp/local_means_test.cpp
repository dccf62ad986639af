// Means over neighbourhoods of an image against their references.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "errors_support.hpp"
#include "reference/local_means.hpp"
#include "support.hpp"

namespace heed::test {
namespace {

TEST(LocalMean, MatchesTheReference) {
  Random random(1);
  Context context;
  for (const Shape& shape :
       {Shape{1, 1}, Shape{1, 9}, Shape{7, 1}, Shape{12, 17}, Shape{0, 4}, Shape{4, 0}}) {
    for (const std::int64_t radius : {std::int64_t{0}, std::int64_t{1}, std::int64_t{4},
                                      std::numeric_limits<std::int64_t>::max()}) {
      const Tensor image = random.reals(shape);
      EXPECT_TRUE(close(local_mean(context, image, radius), reference::local_mean(image, radius),
                        {1e-7, 1e-6}))
          << to_string(shape) << " radius " << radius;
    }
  }
}

TEST(LocalMean, PropagatesNaNWithinItsRadius) {
  Context context;
  Tensor image = filled({9, 9}, 1.0f);
  image.data()[4 * 9 + 4] = kNaN;
  const Tensor mean = local_mean(context, image, 1);
  for (int y = 0; y < 9; ++y)
    for (int x = 0; x < 9; ++x) {
      const float got = mean.data()[static_cast<std::size_t>(y * 9 + x)];
      EXPECT_EQ(std::isnan(got), std::abs(y - 4) <= 1 && std::abs(x - 4) <= 1);
    }
}

TEST(NonLocalMeans, MatchesTheReference) {
  Random random(2);
  Context context;
  for (const Shape& shape : {Shape{1, 1}, Shape{1, 9}, Shape{7, 1}, Shape{2, 2}, Shape{12, 17},
                             Shape{37, 16}, Shape{0, 4}, Shape{4, 0}}) {
    for (const std::int64_t patch_radius : {0, 1, 3, 20}) {
      if (patch_radius == 20 && shape[0] * shape[1] > 20) continue;
      for (const std::int64_t search_radius : {0, 1, 6, 50}) {
        if (search_radius == 50 && shape[0] > 20) continue;
        for (const Border border : {Border::kReflect, Border::kZero}) {
          SCOPED_TRACE(testing::Message()
                       << to_string(shape) << " patch " << patch_radius << " search "
                       << search_radius << " border " << static_cast<int>(border));
          const Tensor image = random.reals(shape, 0.0f, 1.0f);
          NonLocalMeansOptions options;
          options.patch_radius = patch_radius;
          options.search_radius = search_radius;
          options.h = 0.4f;
          options.sigma = search_radius == 6 ? 0.2f : 0.0f;
          options.border = border;
          const auto got = non_local_means(context, image, options);
          const auto want = reference::non_local_means(image, options);
          EXPECT_TRUE(close(got.output, want.output, {1e-6, 2e-6}));
          EXPECT_TRUE(close(got.weight_sum, want.weight_sum, {1e-6, 4e-6}));
        }
      }
    }
  }
}

TEST(NonLocalMeans, KeepsSmallDistancesBesideLargeOnes) {
  // Bytes with an edge of 200 and noise of 1: a running sum in float would have an error of 1e-2.
  Random random(3);
  Context context;
  Tensor image(Shape{20, 24});
  for (std::size_t i = 0; i < image.data().size(); ++i)
    image.data()[i] = (i % 24 < 12 ? 20.0f : 220.0f) + random.real();
  NonLocalMeansOptions options;
  options.h = 0.5f;
  options.patch_radius = 2;
  const auto got = non_local_means(context, image, options);
  const auto want = reference::non_local_means(image, options);
  EXPECT_TRUE(close(got.output, want.output, {0.0, 2e-6}));
  EXPECT_TRUE(close(got.weight_sum, want.weight_sum, {0.0, 1e-5}));
}

TEST(NonLocalMeans, KeepsPixelsWithoutSimilarPatches) {
  Random random(4);
  Context context;
  const Tensor image = random.reals({10, 10});
  NonLocalMeansOptions options;
  options.h = 1e-30f;
  const auto got = non_local_means(context, image, options);
  EXPECT_TRUE(same_bits(got.output, image));
  EXPECT_TRUE(same_bits(got.weight_sum, filled({10, 10}, 1.0f)));
}

TEST(NonLocalMeans, AveragesTheWindowForLargeNoise) {
  Random random(5);
  Context context;
  const Tensor image = random.reals({10, 10});
  NonLocalMeansOptions options;
  options.sigma = 10.0f;
  options.search_radius = 2;
  EXPECT_TRUE(close(non_local_means(context, image, options).output,
                    reference::local_mean(image, 2), {1e-6, 1e-6}));
}

TEST(NonLocalMeans, ReturnsTheSameBitsForAnyNumberOfThreads) {
  Random random(6);
  const Tensor image = random.reals({70, 61});
  expect_same_bits_for_any_threads([&](Context& context) {
    auto [output, weight_sum] = non_local_means(context, image);
    return list_of(std::move(output), std::move(weight_sum), local_mean(context, image, 5));
  });
}

TEST(NonLocalMeansWeights, AreThoseOfTheMean) {
  Random random(7);
  Context context;
  const Tensor image = random.reals({9, 12}, 0.0f, 1.0f);
  NonLocalMeansOptions options;
  options.search_radius = 4;
  options.patch_radius = 2;
  options.h = 0.5f;
  options.sigma = 0.1f;
  for (const auto& [y, x] : {std::pair{0, 0}, std::pair{4, 5}, std::pair{8, 11}}) {
    reference::Array want = reference::non_local_weights(image, y, x, options);
    double sum = 0.0;
    for (const double weight : want.values) sum += weight;
    for (double& weight : want.values) weight /= sum;
    EXPECT_TRUE(close(non_local_means_weights(context, image, y, x, options), want, {0.0, 1e-6}));
  }
}

TEST_F(Refusals, LocalMeansRefuseInvalidArguments) {
  const Tensor image = random.reals({6, 7}), flat = random.reals({6});
  const Tensor numbers(Shape{6, 7}, DType::kInt32);
  expect_error(kShape, "image", "[6]", [&] { local_mean(context, flat, 1); });
  expect_error(kDType, "image", "int32", [&] { local_mean(context, numbers, 1); });
  expect_error(kOption, "radius", "-1", [&] { local_mean(context, image, -1); });
  expect_error(kShape, "image", "[6]", [&] { non_local_means(context, flat); });
  const auto with = [&](const char* argument, const std::string& got,
                        const NonLocalMeansOptions& options) {
    expect_error(kOption, argument, got, [&] { non_local_means(context, image, options); });
    expect_error(kOption, argument, got,
                 [&] { non_local_means_weights(context, image, 0, 0, options); });
  };
  with("patch_radius", "-1", {.patch_radius = -1});
  with("patch_radius", "1048577", {.patch_radius = 1048577});
  with("search_radius", "-1", {.search_radius = -1});
  for (const float h : {0.0f, -1.0f, kNaN, kInfinity}) with("h", MessagePart(h).text(), {.h = h});
  for (const float sigma : {-1.0f, kNaN})
    with("sigma", MessagePart(sigma).text(), {.sigma = sigma});
  expect_error(kOption, "row", "6", [&] { non_local_means_weights(context, image, 6, 0); });
  expect_error(kOption, "column", "-1", [&] { non_local_means_weights(context, image, 0, -1); });
  try {
    non_local_means(context, image, {.patch_radius = 1 << 20});
    ADD_FAILURE() << "had room";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kMemory);
  }
}

}  // namespace
}  // namespace heed::test
