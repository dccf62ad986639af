// The formats of a cache: their errors, and tails that were never written or were rewound.

#include <cmath>
#include <cstdint>
#include <vector>

#include "cache_support.hpp"

namespace heed::test {
namespace {

TEST(KvCacheFormats, StoreRepresentableNumbersExactly) {
  // Numbers n/8 with |n| <= 127, and 127/8 in every row: float16 represents all of them, and so
  // does int8 with the scale 1/8.
  Random random(1);
  Context context;
  for (const KvCache::Format format : kFormats) {
    SCOPED_TRACE(testing::Message() << "format " << static_cast<int>(format));
    Inputs inputs = random_inputs(random, 2, 4, 2, 200, 200, 8, 8);
    for (Tensor* tensor : {&inputs.k, &inputs.v}) {
      auto values = tensor->data();
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = i % 8 == 3 ? 127.0f / 8.0f : static_cast<float>(random.integer(-127, 127)) / 8;
      }
    }
    KvCache cache(context, cache_options(2, 2, 8, 0, 200, format));
    AttentionOptions options = causal();
    options.scale = 0.02f;
    const reference::AttentionResult want =
        reference::attention(inputs.q, inputs.k, inputs.v, options);
    options.cache = &cache;
    const AttentionResult got = attention(context, inputs.q, inputs.k, inputs.v, options);
    EXPECT_TRUE(close(got.output, want.output, {2e-5, 2e-5}));
  }
}

TEST(KvCacheFormats, StayWithinTheirErrorBounds) {
  // In float16, a number of magnitude 1 has an error of at most 2^-12, half a unit of its last
  // place. In int8 the error is 1/254, half a step of a row whose largest number is 1. Weights
  // differ as far as scores do: 0.25 * 16 times that, twice.
  Random random(2);
  Context context;
  const Inputs inputs = random_inputs(random, 1, 2, 2, 100, 100, 16, 16);
  const double errors[] = {1e-6, 0x1p-12, 1.0 / 254.0};
  for (std::size_t n = 0; n < 3; ++n) {
    SCOPED_TRACE(testing::Message() << "format " << n);
    KvCache cache(context, cache_options(1, 2, 16, 0, 100, kFormats[n]));
    AttentionOptions options;
    const reference::AttentionResult want =
        reference::attention(inputs.q, inputs.k, inputs.v, options);
    options.cache = &cache;
    const AttentionResult got =
        attention(context, inputs.q, inputs.k, inputs.v, with_everything(options));
    EXPECT_TRUE(close(got.scores, want.scores, {4 * errors[n] + 1e-6, 0}));
    EXPECT_TRUE(close(got.output, want.output, {errors[n] * (1 + 8), 0}));
    if (n == 0) continue;
    double largest = 0;
    for (std::size_t i = 0; i < got.scores->data().size(); ++i) {
      largest = std::max(largest, std::abs(got.scores->data()[i] - want.scores.values[i]));
    }
    EXPECT_GT(largest, errors[n] / 100) << "a format that loses nothing is not this one";
  }
}

TEST(KvCacheFormats, StoreRowsOfZerosAndOfTinyAndLargeNumbers) {
  Random random(3);
  Context context;
  for (const KvCache::Format format : kFormats) {
    for (const float magnitude : {0.0f, 1e-6f, 1e3f, 6e4f}) {
      SCOPED_TRACE(testing::Message()
                   << "format " << static_cast<int>(format) << " magnitude " << magnitude);
      KvCache cache(context, cache_options(1, 1, 4, 0, 10, format));
      const Tensor q = filled({1, 1, 1, 4}, 0.0f), k = filled({1, 1, 3, 4}, magnitude);
      const Tensor v = filled({1, 1, 3, 4}, -magnitude);
      AttentionOptions options;
      options.cache = &cache;
      const AttentionResult got = attention(context, q, k, v, options);
      // float16 has steps of 6e-8 near 0.
      for (const float x : got.output.data()) EXPECT_NEAR(x, -magnitude, magnitude / 254 + 6e-8f);
    }
  }
}

TEST(KvCacheFormats, ReturnTheSameAfterSharingAndRewinding) {
  // Two sequences of calls that lead to the same tokens.
  Random random(4);
  Context context;
  for (const KvCache::Format format : kFormats) {
    SCOPED_TRACE(testing::Message() << "format " << static_cast<int>(format));
    KvCache::Options options = cache_options(2, 1, 8, 0, 500, format);
    KvCache one(context, options), other(context, options);
    const Tensor k = random.reals({2, 1, 300, 8}), v = random.reals({2, 1, 300, 8});
    one.append(k, v);
    one.rewind(0, 13);
    one.share(0, 1, 150);
    other.append(k, v);
    other.rewind(0, 13);
    other.share(0, 1, 287);
    other.rewind(1, 137);
    const Tensor q = random.reals({2, 1, 2, 8}), k2 = random.reals({2, 1, 2, 8});
    AttentionOptions call = with_everything(causal());
    call.cache = &one;
    const AttentionResult a = attention(context, q, k2, k2, call);
    call.cache = &other;
    expect_same_bits(attention(context, q, k2, k2, call), a);
  }
}

TEST(KvCacheTails, HaveNoEffectAfterARewindOrIfNeverWritten) {
  Random random(5);
  for (const KvCache::Format format : kFormats) {
    for (const float poison : {kNaN, kInfinity, -kInfinity}) {
      SCOPED_TRACE(testing::Message() << "format " << static_cast<int>(format) << " " << poison);
      Context context;
      KvCache clean(context, cache_options(2, 2, 8, 0, 400, format));
      KvCache dirty(context, cache_options(2, 2, 8, 0, 400, format));
      const Tensor k = random.reals({2, 2, 140, 8}), v = random.reals({2, 2, 140, 8});
      for (KvCache* cache : {&clean, &dirty}) cache->append(k, v);
      const Tensor bad = filled({2, 2, 130, 8}, poison);
      dirty.append(bad, bad);
      dirty.rewind(0, 130);
      dirty.rewind(1, 130);
      for (const std::int64_t L : {1, 5, 120}) {
        const Tensor q = random.reals({2, 4, L, 8}), k2 = random.reals({2, 2, L, 8});
        AttentionOptions options = with_everything({});
        options.cache = &clean;
        AttentionResult want = attention(context, q, k2, k2, options);
        options.cache = &dirty;
        AttentionResult got = attention(context, q, k2, k2, options);
        // A page that once held such values is read by another path, which rounds differently.
        EXPECT_TRUE(close(got.output, want.output, {1e-6, 0}));
        got.output = Tensor();
        want.output = Tensor();
        expect_same_bits(got, want);
      }
    }
  }
}

TEST(KvCacheTails, AffectOnlyTheRowsThatSeeThem) {
  // A token of NaN that the window shows to some queries only.
  Random random(6);
  Context context;
  for (const bool is_rolling : {false, true}) {
    KvCache::Options options = cache_options(1, 1, 8, 0, 300);
    options.is_rolling = is_rolling;
    if (is_rolling) options.capacity = 20;
    TwinCache twin(context, options);
    twin.append(random, 150);
    const Tensor bad = filled({1, 1, 1, 8}, kNaN);
    twin.cache.append(bad, bad);
    twin.model.append(bad, bad, {1});
    AttentionOptions window = causal();
    window.window_left = 5;
    twin.expect_step(context, random, 2, 12, window);
    // The token of NaN is outside the window, and is then dropped.
    twin.append(random, 30);
    twin.expect_step(context, random, 2, 3, window);
    if (is_rolling) twin.expect_step(context, random, 2, 3, causal());
  }
}

TEST(KvCacheTails, AffectOnlyTheRowsThatSeeThemInACopiedPage) {
  Random random(8);
  Context context;
  TwinCache twin(context, cache_options(2, 1, 8, 0, 300));
  const Tensor bad = filled({2, 1, 1, 8}, kNaN);
  twin.cache.append(bad, bad);
  twin.model.append(bad, bad, {1, 1});
  twin.append(random, 20);
  twin.share(0, 1, 15);
  AttentionOptions window = causal();
  window.window_left = 5;
  twin.expect_step(context, random, 2, 3, window);
}

}  // namespace
}  // namespace heed::test
