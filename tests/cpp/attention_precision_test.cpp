// Attention whose scores are products of bytes, against the double-precision reference.

#include "attention_support.hpp"

namespace heed::test {
namespace {

AttentionOptions int8_scores(AttentionOptions options = {}) {
  options.precision = Precision::kInt8Scores;
  return options;
}

Inputs normal_inputs(std::uint32_t seed, std::int64_t H, std::int64_t G, std::int64_t L,
                     std::int64_t S, std::int64_t D) {
  Random random(seed);
  Inputs inputs;
  inputs.q = normal_numbers(random, {1, H, L, D});
  inputs.k = normal_numbers(random, {1, G, S, D});
  inputs.v = normal_numbers(random, {1, G, S, D});
  return inputs;
}

double cosine(const Inputs& inputs, const AttentionOptions& options = {}) {
  Context context;
  const auto want = reference::attention(inputs.q, inputs.k, inputs.v, options);
  return difference(attention(context, inputs.q, inputs.k, inputs.v, int8_scores(options)).output,
                    want.output)
      .cosine;
}

TEST(Int8Scores, AreCloseOnNormalInputs) {
  EXPECT_GT(cosine(normal_inputs(1, 4, 4, 256, 1024, 64)), 0.9995);
  EXPECT_GT(cosine(normal_inputs(2, 2, 2, 256, 512, 128)), 0.9995);
  EXPECT_GT(cosine(normal_inputs(3, 4, 2, 333, 333, 80), causal()), 0.9995);
}

TEST(Int8Scores, AreCloseForKeysWithALargeMean) {
  Inputs inputs = normal_inputs(4, 4, 4, 256, 1024, 64);
  for (std::size_t i = 0; i < inputs.k.data().size(); ++i)
    inputs.k.data()[i] += i % 64 == 5 ? 60.0f : i % 64 == 40 ? -35.0f : 0.0f;
  EXPECT_GT(cosine(inputs), 0.9995);
}

TEST(Int8Scores, AreCloseForOutlierChannelsAndTokens) {
  Inputs inputs = normal_inputs(5, 4, 4, 256, 1024, 64);
  for (std::size_t i = 0; i < inputs.k.data().size(); ++i) {
    if (i % 64 == 5 || i % 64 == 40) inputs.k.data()[i] = 20.0f + 6.0f * inputs.k.data()[i];
    if (i / 64 % 50 == 7) inputs.k.data()[i] *= 4.0f;
  }
  for (std::size_t i = 0; i < inputs.q.data().size(); ++i)
    if (i % 64 == 17 || i % 64 == 40) inputs.q.data()[i] *= 5.0f;
  EXPECT_GT(cosine(inputs), 0.999);
}

TEST(Int8Scores, AreCloseInEveryVariant) {
  // The error of a score of these inputs is below 0.02. So the relative error of a weight is below
  // 2 %. An output is a mean of numbers below 1, so its error is below 2 %, too.
  const Tolerance tolerance{0.03, 0.02};
  Random random(6);
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE(round);
    const std::int64_t G = random.integer(1, 2), H = G * random.integer(1, 2);
    const std::int64_t L = random.integer(1, 130), S = random.integer(1, 300);
    const Inputs inputs =
        random_inputs(random, 2, H, G, L, S, random.integer(1, 70), random.integer(1, 40));
    AttentionOptions options = int8_scores();
    options.is_causal = random.chance(40);
    if (random.chance(30)) options.window_left = random.integer(0, 40);
    if (random.chance(30)) options.softcap = 5.0f;
    const auto length = [&] { return static_cast<std::int32_t>(random.integer(0, S)); };
    const Tensor lengths = integers({2}, {length(), length()});
    if (random.chance(30)) options.kv_lengths = lengths;
    const Tensor mask = random.bools({L, S}, 70);
    if (random.chance(30)) options.mask = mask;
    const Tensor slopes = random.reals({H}, 0.0f, 0.5f);
    if (random.chance(30)) options.alibi_slopes = slopes;
    const Tensor sinks = random.reals({H});
    if (random.chance(30)) options.sinks = sinks;
    for (const int threads : {1, 3}) {
      Context context({.threads = threads});
      expect_reference(context, inputs.q, inputs.k, inputs.v, options, tolerance);
    }
  }
}

TEST(Int8Scores, DoNotReadHiddenKeys) {
  Inputs inputs = normal_inputs(7, 2, 2, 40, 300, 32);
  const Tensor mask = [] {
    Tensor all(Shape{1, 300}, DType::kBool);
    for (std::size_t j = 0; j < 300; ++j) all.data<bool>()[j] = j % 3 != 0;
    return all;
  }();
  AttentionOptions options = int8_scores();
  options.mask = mask;
  Context context;
  const Tensor want = attention(context, inputs.q, inputs.k, inputs.v, options).output;
  for (const float hidden : {kNaN, 1e4f, 1e20f, 3e38f}) {
    for (std::size_t i = 0; i < inputs.k.data().size(); ++i)
      if (i / 32 % 300 % 3 == 0) inputs.k.data()[i] = inputs.v.data()[i] = hidden;
    const Tensor got = attention(context, inputs.q, inputs.k, inputs.v, options).output;
    for (std::size_t i = 0; i < got.data().size(); ++i)
      ASSERT_NEAR(got.data()[i], want.data()[i], 0.05f) << i << ", hidden " << hidden;
  }
}

TEST(Int8Scores, PropagateVisibleNaN) {
  Inputs inputs = normal_inputs(8, 1, 1, 4, 9, 8);
  inputs.k.data()[3 * 8] = kNaN;
  Context context;
  const Tensor output =
      attention(context, inputs.q, inputs.k, inputs.v, int8_scores(causal())).output;
  EXPECT_FALSE(std::isnan(output.data()[2 * 8]));
  EXPECT_TRUE(std::isnan(output.data()[3 * 8]));
}

TEST(Int8Scores, DoNotDependOnDotProductsOfBytes) {
  const Inputs inputs = normal_inputs(35, 4, 2, 75, 301, 72);
  expect_same_bits_on_extended_isas([&](Context& context) {
    return attention(context, inputs.q, inputs.k, inputs.v, int8_scores(causal())).output;
  });
}

TEST(Int8Scores, DoNotDependOnThreads) {
  const Inputs inputs = normal_inputs(9, 4, 2, 130, 300, 64);
  Context alone;
  const AttentionOptions options = with_everything(int8_scores());
  const AttentionResult want = attention(alone, inputs.q, inputs.k, inputs.v, options);
  for (const int threads : kThreadCounts) {
    Context context({.threads = threads});
    expect_same_bits(attention(context, inputs.q, inputs.k, inputs.v, options), want);
  }
}

TEST(Int8Scores, AreRefusedWhereProductsCouldOverflow) {
  Context context;
  const Tensor most = filled({1, 1, 1, 1 << 18}, 1.0f), more = filled({1, 1, 1, (1 << 18) + 1}, 1);
  const Tensor v = filled({1, 1, 1, 1}, 3.0f);
  EXPECT_EQ(attention(context, most, most, v, int8_scores()).output.data()[0], 3.0f);
  EXPECT_THROW(attention(context, more, more, v, int8_scores()), ShapeError);
}

TEST(Int8Scores, AreRefusedWithACache) {
  Context context;
  KvCache::Options sizes;
  sizes.batch = sizes.heads = 1;
  sizes.capacity = 4;
  sizes.head_size = sizes.value_size = 8;
  KvCache cache(context, sizes);
  AttentionOptions options = int8_scores();
  options.cache = &cache;
  const Inputs inputs = normal_inputs(10, 1, 1, 1, 1, 8);
  try {
    attention(context, inputs.q, inputs.k, inputs.v, options);
    FAIL() << "accepted";
  } catch (const OptionError& error) {
    EXPECT_STREQ(error.what(), "precision: expected float32 with a cache, got int8-scores");
  }
  EXPECT_EQ(cache.length(0), 0);
}

}  // namespace
}  // namespace heed::test
