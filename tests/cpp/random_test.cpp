// Random numbers, and tokens drawn with them. Seeds are fixed, so the results are deterministic.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "errors_support.hpp"
#include "support.hpp"

namespace heed::test {
namespace {

struct Moments {
  double mean, variance, least, greatest;
  double neighbours;  // correlation of each number with the one after it
};
Moments moments(const Tensor& x) {
  const auto numbers = x.data();
  const auto count = static_cast<double>(numbers.size());
  Moments m{};
  for (const float number : numbers) m.mean += number / count;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double d = numbers[i] - m.mean;
    m.variance += d * d / count;
    if (i > 0) m.neighbours += d * (numbers[i - 1] - m.mean) / count;
  }
  m.neighbours /= m.variance;
  m.least = *std::ranges::min_element(numbers);
  m.greatest = *std::ranges::max_element(numbers);
  return m;
}

TEST(RandomUniform, FillsTheRangeEvenly) {
  Context context;
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
    const Tensor x = random_uniform(context, {100, 1000}, -1.0, 3.0, seed);
    // The mean of 10^5 numbers has a standard error of 1.15 / 316 = 0.004.
    const Moments m = moments(x);
    EXPECT_NEAR(m.mean, 1.0, 0.012);
    EXPECT_NEAR(m.variance, 16.0 / 12.0, 0.015);
    EXPECT_NEAR(m.neighbours, 0.0, 0.01);
    EXPECT_GE(m.least, -1.0);
    EXPECT_LT(m.least, -0.999);
    EXPECT_LT(m.greatest, 3.0);
    EXPECT_GT(m.greatest, 2.999);
    std::vector<int> bins(50);
    for (const float number : x.data()) ++bins[static_cast<std::size_t>((number + 1.0f) * 12.5f)];
    double chi_squared = 0.0;
    for (const int bin : bins) chi_squared += (bin - 2000.0) * (bin - 2000.0) / 2000.0;
    EXPECT_LT(chi_squared, 85.4);  // p = 0.001 with 49 degrees of freedom
  }
}

TEST(RandomUniform, StaysInItsRangeAfterRounding) {
  Context context;
  const float low = 1.0f, high = std::nextafter(std::nextafter(1.0f, 2.0f), 2.0f);
  const Tensor narrow = random_uniform(context, {1000}, low, high, 5);
  for (const float number : narrow.data()) {
    EXPECT_GE(number, low);
    EXPECT_LT(number, high);
  }
  const Tensor between = random_uniform(context, {1000}, 0.1, 0.3, 6);
  for (const float number : between.data()) {
    EXPECT_GE(number, 0.1);
    EXPECT_LT(number, 0.3);
  }
  EXPECT_TRUE(same_bits(random_uniform(context, {10}, 2.0, 2.0, 7), filled({10}, 2.0f)));
}

TEST(RandomNormal, HasTheMomentsOfTheNormalDistribution) {
  Context context;
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{7}}) {
    const Tensor x = random_normal(context, {99, 1001}, 2.0, 0.5, seed);
    const Moments m = moments(x);
    EXPECT_NEAR(m.mean, 2.0, 0.005);
    EXPECT_NEAR(m.variance, 0.25, 0.004);
    EXPECT_NEAR(m.neighbours, 0.0, 0.01);
    int within[3] = {};
    for (const float number : x.data())
      for (int n = 0; n < 3; ++n) within[n] += std::abs(number - 2.0f) < 0.5f * float(n + 1);
    const double share[3] = {0.682689, 0.954500, 0.997300};
    for (int n = 0; n < 3; ++n) EXPECT_NEAR(within[n] / 99099.0, share[n], 0.005) << n;
  }
  EXPECT_TRUE(same_bits(random_normal(context, {10}, 2.0, 0.0, 7), filled({10}, 2.0f)));
}

TEST(Random, DependsOnTheSeedAndTheIndexAndNotOnThreads) {
  expect_same_bits_for_any_threads([&](Context& context) {
    return list_of(random_uniform(context, {50001}, -1.0, 1.0, 3),
                   random_normal(context, {300003}, 0.0, 1.0, 3));
  });
  Context context;
  const Tensor normal = random_normal(context, {300003}, 0.0, 1.0, 3);
  const Tensor few = random_normal(context, {5}, 0.0, 1.0, 3);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(few.data()[i], normal.data()[i]);
}

TEST(Random, IsIndependentForDifferentSeeds) {
  Context context;
  std::vector<float> all;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Tensor x = random_uniform(context, {1000}, 0.0, 1.0, seed);
    all.insert(all.end(), x.data().begin(), x.data().end());
    const Tensor next = random_uniform(context, {1000}, 0.0, 1.0, seed + 1);
    double product = 0.0;
    for (std::size_t i = 0; i < 1000; ++i)
      product += (x.data()[i] - 0.5) * (next.data()[i] - 0.5) * 12.0 / 1000.0;
    EXPECT_NEAR(product, 0.0, 0.13) << seed;  // four deviations
  }
  std::ranges::sort(all);
  const auto repeats = all.end() - std::unique(all.begin(), all.end());
  EXPECT_LT(repeats, 700);  // among 5 10^9 pairs of 2^24 or more numbers, about 300 are equal
}

TEST(Random, HandlesSizesOfZeroAndRefusesInvalidRanges) {
  Context context;
  EXPECT_EQ(random_uniform(context, {3, 0}, 0.0, 1.0, 1).shape(), (Shape{3, 0}));
  EXPECT_EQ(random_normal(context, {0}, 0.0, 1.0, 1).shape(), (Shape{0}));
  EXPECT_EQ(random_normal(context, {}, 0.0, 1.0, 1).shape(), (Shape{}));
  expect_refusal(kOption, "low", "NaN",
                 [&] { random_uniform(context, {2}, std::nan(""), 1.0, 1); });
  expect_refusal(kOption, "high", "Infinity",
                 [&] { random_uniform(context, {2}, 0.0, kInfinity, 1); });
  expect_refusal(kOption, "high", "-1", [&] { random_uniform(context, {2}, 0.0, -1.0, 1); });
  expect_refusal(kOption, "mean", "Infinity",
                 [&] { random_normal(context, {2}, kInfinity, 1.0, 1); });
  expect_refusal(kOption, "deviation", "-1", [&] { random_normal(context, {2}, 0.0, -1.0, 1); });
}

/// The indices of the k largest numbers of a row, by sorting the whole row.
std::vector<std::int32_t> sorted_places(std::span<const float> row) {
  std::vector<std::int32_t> places(row.size());
  std::iota(places.begin(), places.end(), 0);
  const auto is_larger = [&](std::int32_t a, std::int32_t b) {
    const float x = row[static_cast<std::size_t>(a)], y = row[static_cast<std::size_t>(b)];
    return std::isnan(y) ? !std::isnan(x) : x > y;
  };
  std::ranges::sort(places, [&](std::int32_t a, std::int32_t b) {
    return is_larger(a, b) || (!is_larger(b, a) && a < b);
  });
  return places;
}

TEST(TopK, ReturnsTheLargestInOrder) {
  Random random(1);
  Context context;
  for (const std::int64_t size : {1, 2, 7, 64, 1000}) {
    for (const std::int64_t k : {1, 2, 5, 64, 1000}) {
      if (k > size) continue;
      Tensor x = random.reals({3, 2, size});
      for (float& number : x.data()) {
        if (random.chance(30)) number = std::round(4.0f * number) / 4.0f;  // equal ones
        if (random.chance(5)) number = kNaN;
        if (random.chance(5)) number = random.chance(50) ? kInfinity : -kInfinity;
      }
      const TopKResult got = top_k(context, x, k);
      ASSERT_EQ(got.values.shape(), (Shape{3, 2, k}));
      ASSERT_EQ(got.indices.shape(), (Shape{3, 2, k}));
      for (std::size_t row = 0; row < 6; ++row) {
        const auto numbers = std::span<const float>(x.data()).subspan(
            row * static_cast<std::size_t>(size), static_cast<std::size_t>(size));
        const auto want = sorted_places(numbers);
        for (std::size_t i = 0; i < static_cast<std::size_t>(k); ++i) {
          const std::size_t at = row * static_cast<std::size_t>(k) + i;
          EXPECT_EQ(got.indices.data<std::int32_t>()[at], want[i]) << "row " << row << " " << i;
          const float value = numbers[static_cast<std::size_t>(want[i])];
          EXPECT_TRUE(got.values.data()[at] == value ||
                      (std::isnan(value) && std::isnan(got.values.data()[at])));
        }
      }
    }
  }
}

TEST(TopK, RefusesInvalidArguments) {
  Context context;
  const Tensor x(Shape{2, 3}, {1, 2, 3, 4, 5, 6});
  expect_refusal(kOption, "k", "0", [&] { top_k(context, x, 0); });
  expect_refusal(kOption, "k", "4", [&] { top_k(context, x, 4); });
  EXPECT_EQ(top_k(context, Tensor(Shape{0, 3}), 2).values.shape(), (Shape{0, 2}));
}

/// The frequency of each token in draws from equal rows.
std::vector<double> shares(const Tensor& row, const SampleOptions& options) {
  constexpr std::int64_t kRows = 20000;
  const std::int64_t size = row.shape()[-1];
  Tensor logits(Shape{kRows, size});
  for (std::int64_t i = 0; i < kRows; ++i)
    std::ranges::copy(row.data(), logits.data().begin() + i * size);
  Context context;
  std::vector<double> result(static_cast<std::size_t>(size));
  const Tensor tokens = sample(context, logits, options);
  EXPECT_EQ(tokens.shape(), (Shape{kRows}));
  for (const std::int32_t token : tokens.data<std::int32_t>())
    result.at(static_cast<std::size_t>(token)) += 1.0 / kRows;
  return result;
}

void expect_shares(const Tensor& row, const SampleOptions& options,
                   const std::vector<double>& want) {
  const std::vector<double> got = shares(row, options);
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (want[i] == 0.0)
      EXPECT_EQ(got[i], 0.0) << "token " << i;
    else
      EXPECT_NEAR(got[i], want[i], 0.015) << "token " << i;  // four deviations at most
  }
}

/// Logits whose probabilities are 0.1, 0.4, 0, 0.2, 0.3.
const Tensor& tenths() {
  static const Tensor kRow(
      Shape{5}, {std::log(1.0f), std::log(4.0f), -kInfinity, std::log(2.0f), std::log(3.0f)});
  return kRow;
}

TEST(Sample, DrawsWithTheRightProbabilities) {
  expect_shares(tenths(), {.seed = 1}, {0.1, 0.4, 0.0, 0.2, 0.3});
  // Divided by 1/2, logits give squares.
  expect_shares(tenths(), {.temperature = 0.5f, .seed = 2},
                {1 / 30.0, 16 / 30.0, 0.0, 4 / 30.0, 9 / 30.0});
}

TEST(Sample, DrawsFromTheLikeliestOnly) {
  expect_shares(tenths(), {.top_k = 2, .seed = 3}, {0.0, 4 / 7.0, 0.0, 0.0, 3 / 7.0});
  expect_shares(tenths(), {.top_k = 99, .seed = 4}, {0.1, 0.4, 0.0, 0.2, 0.3});
  // 0.4 + 0.3 is less than 0.75.
  expect_shares(tenths(), {.top_p = 0.75f, .seed = 5}, {0.0, 4 / 9.0, 0.0, 2 / 9.0, 3 / 9.0});
  expect_shares(tenths(), {.top_p = 0.65f, .seed = 6}, {0.0, 4 / 7.0, 0.0, 0.0, 3 / 7.0});
  expect_shares(tenths(), {.top_p = 1e-6f, .seed = 7}, {0.0, 1.0, 0.0, 0.0, 0.0});
  // The three likeliest tokens have 0.9 together, the first two of them 7 / 9 of that.
  expect_shares(tenths(), {.top_k = 3, .top_p = 0.75f, .seed = 8},
                {0.0, 4 / 7.0, 0.0, 0.0, 3 / 7.0});
  // Of equal tokens, the first ones are kept.
  expect_shares(filled({4}, 1.0f), {.top_k = 2, .seed = 9}, {0.5, 0.5, 0.0, 0.0});
}

TEST(Sample, TakesTheLargestAtTemperatureZero) {
  expect_shares(tenths(), {.temperature = 0.0f, .seed = 1}, {0.0, 1.0, 0.0, 0.0, 0.0});
  expect_shares(filled({4}, 1.0f), {.temperature = 0.0f}, {1.0, 0.0, 0.0, 0.0});
}

TEST(Sample, HandlesExtremeLogits) {
  expect_shares(Tensor(Shape{4}, {3e38f, -3e38f, kInfinity, kInfinity}), {.seed = 1},
                {0.0, 0.0, 0.5, 0.5});
  expect_shares(Tensor(Shape{2}, {3e38f, 3e38f}), {.temperature = 1e-30f, .seed = 2}, {0.5, 0.5});
  expect_shares(Tensor(Shape{1}, {-3e38f}), {.seed = 3}, {1.0});
}

TEST(Sample, DrawsTheSameTokenForARowAndASeedOnAnyThread) {
  Random random(2);
  const Tensor logits = random.reals({4, 300, 40}, -3.0f, 3.0f);
  const Tensor one_row = random.reals({1, 40});
  Context first, second = context_with_threads(3);
  const Tensor want = sample(first, logits, {.seed = 1});
  EXPECT_EQ(want.shape(), (Shape{4, 300}));
  const Tensor again = sample(second, logits, {.seed = 1}),
               other = sample(first, logits, {.seed = 2});
  EXPECT_TRUE(std::ranges::equal(want.data<std::int32_t>(), again.data<std::int32_t>()));
  EXPECT_FALSE(std::ranges::equal(want.data<std::int32_t>(), other.data<std::int32_t>()));
  EXPECT_EQ(sample(first, Tensor(Shape{0, 4})).shape(), (Shape{0}));
  EXPECT_EQ(sample(first, Tensor(Shape{4}, {0, 9, 0, 0}), {.temperature = 0.0f}).shape(), Shape{});
}

TEST_F(Refusals, SamplingRefusesInvalidArguments) {
  Tensor logits = random.reals({2, 3});
  keep({&logits});
  const auto with = [&](const char* argument, const char* got, const SampleOptions& options) {
    expect_error(kOption, argument, got, [&] { sample(context, logits, options); });
  };
  with("temperature", "-1", {.temperature = -1.0f});
  with("temperature", "NaN", {.temperature = kNaN});
  with("temperature", "Infinity", {.temperature = kInfinity});
  with("top_k", "-1", {.top_k = -1});
  with("top_p", "0", {.top_p = 0.0f});
  with("top_p", "1.5", {.top_p = 1.5f});
  with("top_p", "NaN", {.top_p = kNaN});
}

}  // namespace
}  // namespace heed::test
