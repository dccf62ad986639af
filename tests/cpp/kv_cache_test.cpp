// The key/value cache: attention over it equals attention over the appended tokens.

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "cache_support.hpp"

namespace heed::test {
namespace {

/// Rows [begin, end) of x [B, heads, N, D].
Tensor rows(const Tensor& x, std::int64_t begin, std::int64_t end) {
  const Shape& shape = x.shape();
  Tensor y(Shape{shape[0], shape[1], end - begin, shape[3]});
  auto to = y.data().begin();
  for (std::int64_t bh = 0; bh < shape[0] * shape[1]; ++bh) {
    const auto from = x.data().begin() + (bh * shape[2] + begin) * shape[3];
    to = std::copy_n(from, (end - begin) * shape[3], to);
  }
  return y;
}

/// Attention in steps of these numbers of tokens, concatenated.
Tensor attention_in_steps(Context& context, KvCache& cache, const Inputs& inputs,
                          const std::vector<std::int64_t>& steps, AttentionOptions options) {
  const Shape& q = inputs.q.shape();
  Tensor output(Shape{q[0], q[1], q[2], inputs.v.shape()[3]});
  options.cache = &cache;
  std::int64_t begin = 0;
  for (const std::int64_t step : steps) {
    const std::int64_t end = begin + step;
    const Tensor part = attention(context, rows(inputs.q, begin, end), rows(inputs.k, begin, end),
                                  rows(inputs.v, begin, end), options)
                            .output;
    auto from = part.data().begin();
    for (std::int64_t bh = 0; bh < q[0] * q[1]; ++bh, from += step * part.shape()[3]) {
      std::copy_n(from, step * part.shape()[3],
                  output.data().begin() + (bh * q[2] + begin) * part.shape()[3]);
    }
    begin = end;
  }
  return output;
}

TEST(KvCache, DecodesTokenByTokenAsOneCausalAttention) {
  Random random(1);
  Context context;
  const Inputs inputs = random_inputs(random, 2, 4, 2, 150, 150, 12, 7);
  const reference::Array want = reference::attention(inputs.q, inputs.k, inputs.v, causal()).output;
  for (const bool is_causal : {true, false}) {
    // With one query at a time there are no later keys, with or without causality.
    KvCache cache(context, cache_options(2, 2, 12, 7, 150));
    AttentionOptions options;
    options.is_causal = is_causal;
    const std::vector<std::int64_t> ones(150, 1);
    EXPECT_TRUE(close(attention_in_steps(context, cache, inputs, ones, options), want));
    EXPECT_EQ(cache.length(1), 150);
  }
}

TEST(KvCache, ComputesChunksOfAnySizeAsOneCausalAttention) {
  Random random(2);
  Context context;
  const Inputs inputs = random_inputs(random, 1, 2, 1, 400, 400, 16, 16);
  const reference::Array want = reference::attention(inputs.q, inputs.k, inputs.v, causal()).output;
  using Steps = std::vector<std::int64_t>;
  for (const Steps& steps : {Steps{400}, Steps{127, 1, 1, 127, 144}, Steps{128, 128, 128, 16},
                             Steps{129, 0, 270, 1}, Steps{3, 250, 3, 144}}) {
    KvCache cache(context, cache_options(1, 1, 16, 16, 400));
    EXPECT_TRUE(close(attention_in_steps(context, cache, inputs, steps, causal()), want))
        << steps.size() << " chunks, first " << steps[0];
  }
}

TEST(KvCache, SupportsInputsOfRankThree) {
  Random random(3);
  Context context;
  const Tensor q = random.reals({2, 5, 24}), k = random.reals({2, 5, 12}),
               v = random.reals({2, 5, 8});
  AttentionOptions options = with_everything(causal());
  options.heads = 4;
  options.kv_heads = 2;
  const reference::AttentionResult want = reference::attention(q, k, v, options);
  KvCache cache(context, cache_options(2, 2, 6, 4, 9));
  options.cache = &cache;
  expect_results(attention(context, q, k, v, options), want, {});
}

TEST(KvCache, AppendsAsAttentionDoes) {
  Random random(4);
  Context context;
  TwinCache twin(context, cache_options(2, 2, 8, 5, 300));
  twin.append(random, 130);
  twin.append(random, 0);
  twin.append(random, 7);
  twin.expect_step(context, random, 4, 3, causal());
  // Queries may also read the cache without appending to it.
  twin.expect_step(context, random, 4, 6, 0, {0, 0});
  twin.expect_step(context, random, 4, 0, 2, {2, 2});
  EXPECT_EQ(twin.cache.length(0), 142);
}

TEST(KvCache, AppendsTheGivenCountOfTokensToEachSequence) {
  Random random(5);
  Context context;
  TwinCache twin(context, cache_options(3, 1, 8, 6, 200));
  twin.append(random, 9, {9, 0, 4});
  twin.expect_step(context, random, 2, 5, 5, {5, 2, 0}, causal());
  twin.expect_step(context, random, 2, 130, 130, {120, 130, 1}, causal());
  twin.expect_step(context, random, 2, 1, 1, {1, 1, 1});
  EXPECT_EQ(twin.cache.length(0), 135);
  EXPECT_EQ(twin.cache.length(1), 133);
  EXPECT_EQ(twin.cache.length(2), 6);
}

TEST(KvCache, ContinuesAfterARewind) {
  Random random(6);
  Context context;
  TwinCache twin(context, cache_options(2, 2, 8, 8, 300));
  twin.append(random, 260);
  for (const std::int64_t tokens : {0, 1, 3, 128, 100}) {
    SCOPED_TRACE(testing::Message() << "rewound by " << tokens);
    twin.rewind(1, tokens);
    twin.expect_step(context, random, 2, 2, causal());
  }
  twin.rewind(0, twin.cache.length(0));
  EXPECT_EQ(twin.cache.length(0), 0);
  twin.expect_step(context, random, 2, 3, causal());
}

TEST(KvCache, SharesAPrefixUntilSequencesDiverge) {
  Random random(7);
  Context context;
  for (const std::int64_t shared : {1, 100, 128, 129, 200}) {
    SCOPED_TRACE(testing::Message() << shared << " tokens shared");
    TwinCache twin(context, cache_options(3, 2, 8, 4, 300));
    twin.append(random, 200, {200, 5, 0});
    twin.share(0, 1, shared);
    twin.share(0, 2, shared);
    twin.expect_lengths();
    // All sequences append after the prefix: first one after another, then all in one call.
    twin.expect_step(context, random, 2, 2, 2, {0, 2, 0}, causal());
    twin.expect_step(context, random, 2, 3, 3, {3, 0, 1}, causal());
    twin.rewind(0, 60);
    twin.expect_step(context, random, 2, 90, causal());
    twin.rewind(2, 20);
    twin.expect_step(context, random, 2, 2, causal());
  }
}

TEST(KvCache, ReplacesASequenceByShareAndRewindsItIfSharedWithItself) {
  Random random(8);
  Context context;
  TwinCache twin(context, cache_options(2, 1, 4, 4, 300));
  twin.append(random, 150, {150, 90});
  twin.share(1, 0, 70);
  twin.share(1, 1, 80);
  twin.expect_lengths();
  twin.expect_step(context, random, 1, 2, causal());
  twin.share(0, 1, 0);
  EXPECT_EQ(twin.cache.length(1), 0);
  twin.expect_step(context, random, 1, 2, causal());
}

TEST(KvCache, ReordersAndDuplicatesSequencesThatThenDiverge) {
  Random random(14);
  Context context;
  for (const bool is_rolling : {false, true}) {
    KvCache::Options options = cache_options(3, 2, 8, 4, is_rolling ? 140 : 400);
    options.is_rolling = is_rolling;
    TwinCache twin(context, options);
    twin.append(random, 200, {135, 5, 0});
    if (is_rolling) twin.append(random, 20, {20, 0, 0});
    for (const std::vector<std::int64_t>& order :
         {std::vector<std::int64_t>{1, 0, 2}, {1, 2, 0}, {2, 2, 0}, {1, 1, 1}, {0, 1, 2}}) {
      const std::size_t before = twin.cache.bytes();
      twin.reorder(order);
      EXPECT_LE(twin.cache.bytes(), before) << "nothing is copied";
      twin.expect_lengths();
      twin.expect_step(context, random, 2, 2, 2, {2, 1, 0}, causal());
    }
  }
}

TEST(KvCache, GrowsByPagesAndCountsSharedPagesOnce) {
  Random random(9);
  Context context;
  TwinCache twin(context, cache_options(2, 2, 16, 8, 100000));
  EXPECT_EQ(twin.cache.bytes(), 0u);
  twin.append(random, 1, {1, 0});
  const std::size_t page = twin.cache.bytes();
  EXPECT_GE(page, 2 * 128 * (16 + 8) * sizeof(float));
  EXPECT_LE(page, 2 * 128 * (16 + 32) * sizeof(float)) << "values padded to a panel at most";
  twin.append(random, 127, {127, 0});
  EXPECT_EQ(twin.cache.bytes(), page);
  twin.append(random, 1, {1, 0});
  EXPECT_EQ(twin.cache.bytes(), 2 * page);
  twin.share(0, 1, 129);
  EXPECT_EQ(twin.cache.bytes(), 2 * page);
  twin.append(random, 1, {0, 1});
  EXPECT_EQ(twin.cache.bytes(), 3 * page) << "a copy of the page written to, not of the full one";
  twin.append(random, 1, {1, 1});
  EXPECT_EQ(twin.cache.bytes(), 3 * page) << "nothing is shared there any more";
  twin.rewind(0, twin.cache.length(0));
  EXPECT_EQ(twin.cache.bytes(), 2 * page);
  twin.rewind(1, twin.cache.length(1));
  EXPECT_EQ(twin.cache.bytes(), 0u);
}

TEST(KvCache, NeedsLessMemoryWithSmallerFormats) {
  Random random(10);
  Context context;
  std::vector<std::size_t> bytes;
  for (const auto format :
       {KvCache::Format::kFloat32, KvCache::Format::kFloat16, KvCache::Format::kInt8}) {
    KvCache::Options options = cache_options(1, 1, 64, 64, 128);
    options.format = format;
    TwinCache twin(context, options);
    twin.append(random, 1);
    bytes.push_back(twin.cache.bytes());
  }
  EXPECT_EQ(bytes[0], 128u * 128 * 4);
  EXPECT_EQ(bytes[1], 128u * 128 * 2);
  EXPECT_EQ(bytes[2], 128u * 128 + 2 * 128 * 4) << "and one scale for each key and value";
}

TEST(KvCache, EqualsAWindowIfItRolls) {
  Random random(11);
  Context context;
  for (const std::int64_t capacity : {1, 10, 128, 200}) {
    for (const std::int64_t step : {1, 3, 150}) {
      SCOPED_TRACE(testing::Message() << "capacity " << capacity << " step " << step);
      KvCache::Options options = cache_options(2, 1, 8, 8, capacity);
      options.is_rolling = true;
      TwinCache twin(context, options);
      twin.append(random, 250, {250, 120});
      for (int n = 0; n < 4; ++n) twin.expect_step(context, random, 2, step, causal());
      EXPECT_EQ(twin.cache.length(0), 250 + 4 * step);
      EXPECT_EQ(twin.cache.first(0), 250 + 4 * step - capacity);
    }
  }

  // For any number of tokens at a time: the token itself and the `capacity` - 1 before it.
  const Inputs inputs = random_inputs(random, 1, 2, 1, 300, 300, 8, 8);
  using Steps = std::vector<std::int64_t>;
  for (const std::int64_t capacity : {1, 5, 40, 128, 129}) {
    AttentionOptions window = causal();
    window.window_left = capacity - 1;
    const reference::Array want = reference::attention(inputs.q, inputs.k, inputs.v, window).output;
    for (const Steps& steps : {Steps(300, 1), Steps{300}, Steps{7, 1, 0, 150, 1, 1, 140},
                               Steps(100, 3), Steps{128, 128, 44}}) {
      SCOPED_TRACE(testing::Message() << "capacity " << capacity << ", steps of " << steps[0]);
      KvCache::Options options = cache_options(1, 1, 8, 8, capacity);
      options.is_rolling = true;
      KvCache cache(context, options);
      EXPECT_TRUE(close(attention_in_steps(context, cache, inputs, steps, causal()), want));
      EXPECT_EQ(cache.first(0), 300 - capacity);
    }
  }
}

TEST(KvCache, NeverShowsMoreKeysThanItsCapacityIfItRolls) {
  // All weights are equal, and none is zero.
  Context context;
  KvCache::Options options = cache_options(1, 1, 1, 1, 5);
  options.is_rolling = true;
  KvCache cache(context, options);
  const Tensor zero = filled({1, 1, 1, 1}, 0.0f), one = filled({1, 1, 1, 1}, 1.0f);
  AttentionOptions step;
  step.need_weights = true;
  step.cache = &cache;
  for (std::int64_t n = 0; n < 12; ++n) {
    const AttentionResult result = attention(context, zero, zero, one, step);
    const auto weights = result.weights->data();
    const std::int64_t seen =
        std::count_if(weights.begin(), weights.end(), [](float weight) { return weight != 0.0f; });
    EXPECT_EQ(seen, std::min<std::int64_t>(n + 1, 5)) << "token " << n;
    EXPECT_EQ(cache.length(0) - cache.first(0), seen) << "token " << n;
    EXPECT_NEAR(result.output.data()[0], 1.0f, 1e-6);
  }
}

TEST(KvCache, KeepsNoMorePagesThanNeededIfItRolls) {
  Random random(12);
  Context context;
  KvCache::Options options = cache_options(1, 1, 4, 4, 100);
  options.is_rolling = true;
  TwinCache twin(context, options);
  twin.append(random, 1);
  const std::size_t page = twin.cache.bytes();
  for (int n = 0; n < 1000; ++n) twin.append(random, 1);
  EXPECT_LE(twin.cache.bytes(), 2 * page);
  EXPECT_EQ(twin.cache.first(0), 901);
}

TEST(KvCache, RewindsTheTokensThatItHoldsIfItRolls) {
  Random random(13);
  Context context;
  KvCache::Options options = cache_options(1, 1, 4, 4, 60);
  options.is_rolling = true;
  TwinCache twin(context, options);
  for (int n = 0; n < 20; ++n) twin.append(random, 16);
  EXPECT_EQ(twin.cache.first(0), 260);
  twin.rewind(0, 50);
  twin.expect_step(context, random, 1, 2, causal());
  twin.rewind(0, twin.cache.length(0) - twin.cache.first(0));
  EXPECT_EQ(twin.cache.length(0), 260);
  twin.expect_step(context, random, 1, 70, causal());
  twin.expect_step(context, random, 1, 1, causal());
}

TEST(KvCache, ReturnsTheSameBitsForAnyNumberOfThreads) {
  for (const auto format : kFormats) {
    SCOPED_TRACE(testing::Message() << "format " << static_cast<int>(format));
    expect_same_bits_for_any_threads([&](Context& context) {
      Random random(16);
      KvCache cache(context, cache_options(2, 2, 32, 24, 2000, format));
      cache.append(random.reals({2, 2, 1100, 32}), random.reals({2, 2, 1100, 24}),
                   integers({2}, {1100, 300}));
      const Tensor q = random.reals({2, 8, 10, 32}), k = random.reals({2, 2, 10, 32}),
                   v = random.reals({2, 2, 10, 24});
      AttentionOptions call = with_everything(causal());
      call.cache = &cache;
      return list_of_results(attention(context, q, k, v, call));
    });
  }
}

TEST(KvCache, CanBeMoved) {
  Random random(17);
  Context context;
  TwinCache twin(context, cache_options(1, 1, 4, 4, 20));
  twin.append(random, 5);
  KvCache other = std::move(twin.cache);
  EXPECT_EQ(other.length(0), 5);
  twin.cache = std::move(other);
  twin.expect_step(context, random, 1, 2, causal());
}

}  // namespace
}  // namespace heed::test
