// Attention without masks: shapes, layouts, options, results, numerical range, threads.

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "attention_support.hpp"

namespace heed::test {
namespace {

TEST(Attention, ReproducesTheWorkedExample) {
  // Embeddings 0.1 .. 2.0, four numbers per token: Q is the first two, K these two swapped, V the
  // last two. The results for the second token, "quick", are known to three decimals.
  Tensor q(Shape{1, 1, 5, 2}), k(Shape{1, 1, 5, 2}), v(Shape{1, 1, 5, 2});
  for (std::size_t token = 0; token < 5; ++token) {
    const float first = 0.4f * static_cast<float>(token) + 0.1f;
    q.data()[2 * token] = first;
    q.data()[2 * token + 1] = first + 0.1f;
    k.data()[2 * token] = first + 0.1f;
    k.data()[2 * token + 1] = first;
    v.data()[2 * token] = first + 0.2f;
    v.data()[2 * token + 1] = first + 0.3f;
  }
  Context context;
  AttentionOptions options;
  options.need_weights = true;
  const AttentionResult result = attention(context, q, k, v, options);

  const std::array<double, 5> weights = {0.098, 0.133, 0.182, 0.248, 0.339};
  ASSERT_TRUE(result.weights);
  for (std::size_t j = 0; j < 5; ++j) {
    EXPECT_NEAR(result.weights->data()[5 + j], weights[j], 0.0005) << "key " << j;
  }
  EXPECT_NEAR(result.output.data()[2], 1.339, 0.0005);
  EXPECT_NEAR(result.output.data()[3], 1.439, 0.0005);
}

TEST(Attention, ReturnsResultsOfTheDocumentedShapes) {
  Random random(1);
  const Inputs inputs = random_inputs(random, 2, 6, 3, 5, 7, 8, 4);
  Context context;
  const AttentionResult result =
      attention(context, inputs.q, inputs.k, inputs.v, with_everything({}));
  EXPECT_EQ(result.output.shape(), (Shape{2, 6, 5, 4}));
  ASSERT_TRUE(result.weights && result.lse && result.scores && result.masked);
  EXPECT_EQ(result.weights->shape(), (Shape{2, 6, 5, 7}));
  EXPECT_EQ(result.lse->shape(), (Shape{2, 6, 5}));
  EXPECT_EQ(result.scores->shape(), (Shape{2, 6, 5, 7}));
  EXPECT_EQ(result.masked->shape(), (Shape{2, 6, 5, 7}));
}

TEST(Attention, ReturnsOnlyTheRequestedResults) {
  Random random(2);
  const Inputs inputs = random_inputs(random, 1, 2, 2, 50, 140, 8, 8);
  Context context;
  AttentionOptions options;
  options.is_causal = true;
  options.softcap = 0.5f;
  const reference::AttentionResult want =
      reference::attention(inputs.q, inputs.k, inputs.v, options);
  for (int asked = 0; asked < 64; ++asked) {
    SCOPED_TRACE(testing::Message() << "combination " << asked);
    options.need_weights = (asked & 1) != 0;
    options.need_lse = (asked & 2) != 0;
    options.capture_scores = (asked & 4) != 0;
    options.capture_capped = (asked & 8) != 0;
    options.capture_masked = (asked & 16) != 0;
    options.capture_entropy = (asked & 32) != 0;
    const AttentionResult result = attention(context, inputs.q, inputs.k, inputs.v, options);
    EXPECT_EQ(result.weights.has_value(), options.need_weights);
    EXPECT_EQ(result.lse.has_value(), options.need_lse);
    EXPECT_EQ(result.scores.has_value(), options.capture_scores);
    EXPECT_EQ(result.capped.has_value(), options.capture_capped);
    EXPECT_EQ(result.masked.has_value(), options.capture_masked);
    EXPECT_EQ(result.entropy.has_value(), options.capture_entropy);
    expect_results(result, want, {});
  }
}

TEST(Attention, ReturnsTheSameBitsForInputsOfRankThree) {
  Random random(7);
  const std::int64_t B = 2, H = 6, G = 3, L = 13, S = 22, D = 7, Dv = 9;
  const Tensor q = random.reals({B, L, H * D});
  const Tensor k = random.reals({B, S, G * D});
  const Tensor v = random.reals({B, S, G * Dv});
  Context context;
  AttentionOptions options;
  options.heads = H;
  options.kv_heads = G;
  expect_reference(context, q, k, v, options);

  const auto by_head = [](const Tensor& x, std::int64_t heads) {
    const reference::Array split = reference::split_heads(x, heads);
    Tensor result(split.shape);
    std::transform(split.values.begin(), split.values.end(), result.data().begin(),
                   [](double value) { return static_cast<float>(value); });
    return result;
  };
  options.need_weights = true;
  const AttentionResult joined = attention(context, q, k, v, options);
  const AttentionResult split =
      attention(context, by_head(q, H), by_head(k, G), by_head(v, G), options);
  EXPECT_EQ(joined.output.shape(), (Shape{B, L, H * Dv}));
  EXPECT_TRUE(close(joined.output, reference::join_heads(split.output)));
  EXPECT_TRUE(close(joined.weights, *split.weights));
}

TEST(Attention, ReturnsWeightsThatSumToOne) {
  Random random(10);
  const Inputs inputs = random_inputs(random, 2, 2, 1, 40, 150, 32, 8);
  Context context;
  AttentionOptions options;
  options.need_weights = true;
  options.is_causal = true;
  const AttentionResult result = attention(context, inputs.q, inputs.k, inputs.v, options);
  ASSERT_TRUE(result.weights);
  const auto weights = result.weights->data();
  for (std::size_t row = 0; row < 2 * 2 * 40; ++row) {
    double sum = 0.0;
    for (std::size_t j = 0; j < 150; ++j) {
      const float weight = weights[row * 150 + j];
      ASSERT_GE(weight, 0.0f) << "row " << row << " key " << j;
      if (j > row % 40) {
        ASSERT_EQ(weight, 0.0f) << "row " << row << " key " << j;
      }
      sum += weight;
    }
    // 150 weights, each rounded to half of 6e-8 of itself, over a sum rounded a few times.
    ASSERT_NEAR(sum, 1.0, 2e-6) << "row " << row;
  }
}

TEST(Attention, HandlesTheSizesZeroAndOneEverywhere) {
  Random random(11);
  Context context;
  for (int bits = 0; bits < 64; ++bits) {
    const auto size = [&](int bit) { return static_cast<std::int64_t>((bits >> bit) & 1); };
    const std::int64_t B = size(0), H = size(1), L = size(2), S = size(3), D = size(4),
                       Dv = size(5);
    if (H == 0) continue;
    SCOPED_TRACE(testing::Message()
                 << "B " << B << " L " << L << " S " << S << " D " << D << " Dv " << Dv);
    for (const bool is_causal : {false, true}) {
      AttentionOptions options;
      options.is_causal = is_causal;
      expect_reference(context, random_inputs(random, B, 2 * H, H, L, S, D, Dv), options);
    }
  }
}

TEST(Attention, HandlesSizesAroundTheWidthsOfVectorsAndBlocks) {
  Random random(12);
  Context context;
  for (const std::int64_t L : {1, 5, 6, 7, 47, 48, 49}) {
    for (const std::int64_t S : {1, 3, 4, 7, 8, 9, 15, 16, 17, 127, 128, 129}) {
      const std::int64_t D = (L * S) % 19 + 1, Dv = (L + S) % 37 + 1;
      SCOPED_TRACE(testing::Message() << "L " << L << " S " << S << " D " << D << " Dv " << Dv);
      expect_reference(context, random_inputs(random, 1, 1, 1, L, S, D, Dv));
    }
  }
}

TEST(Attention, MatchesTheReferenceOnALongSequence) {
  Random random(13);
  const Inputs inputs = random_inputs(random, 1, 2, 2, 300, 700, 64, 64);
  Context context;
  expect_reference(context, inputs);
  AttentionOptions options;
  options.is_causal = true;
  expect_reference(context, inputs, options);
}

TEST(Attention, MatchesTheReferenceForOneQueryOverManyKeys) {
  Random random(14);
  Context context;
  expect_reference(context, random_inputs(random, 1, 8, 2, 1, 4099, 64, 64));
}

TEST(Attention, StaysExactForScoresOfTenThousand) {
  // Integer factors: every score is an integer below 2^24 and so exact in float32. The only errors
  // are the rounding of the softmax and of values of order 1.
  Random random(15);
  Inputs inputs = random_inputs(random, 1, 2, 2, 20, 60, 4, 8);
  for (float& x : inputs.q.data()) x = static_cast<float>(random.integer(-50, 50));
  for (float& x : inputs.k.data()) x = static_cast<float>(random.integer(-50, 50));
  Context context;
  AttentionOptions options;
  options.scale = 1.0f;
  expect_reference(context, inputs, options);
}

TEST(Attention, ReturnsEqualWeightsForEqualLargeScores) {
  Random random(16);
  Inputs inputs = random_inputs(random, 1, 1, 1, 9, 50, 2, 3);
  Context context;
  AttentionOptions options;
  options.scale = 1.0f;
  for (const float sign : {1.0f, -1.0f}) {
    inputs.q = filled({1, 1, 9, 2}, sign * 1e4f);
    inputs.k = filled({1, 1, 50, 2}, 1e4f);
    expect_reference(context, inputs, options);
  }
}

TEST(Attention, ReturnsTheSameBitsForAnyNumberOfThreads) {
  Random random(17);
  struct Size {
    std::int64_t B, H, G, L, S;
  };
  for (const auto& [B, H, G, L, S] :
       {Size{1, 8, 2, 1, 8192}, Size{2, 6, 2, 130, 130}, Size{1, 1, 1, 500, 300},
        Size{3, 4, 4, 5, 1000}, Size{1, 12, 12, 1, 64}}) {
    const Inputs inputs = random_inputs(random, B, H, G, L, S, 40, 24);
    const Tensor mask = random.biases({B, 1, L, S}, 20);
    AttentionOptions options = with_everything({});
    options.mask = mask;
    options.is_causal = L > 1;
    Context alone = context_with_threads(1);
    const AttentionResult want = attention(alone, inputs.q, inputs.k, inputs.v, options);
    AttentionOptions lean;
    lean.is_causal = options.is_causal;
    const AttentionResult want_lean = attention(alone, inputs.q, inputs.k, inputs.v, lean);
    for (const int threads : kThreadCounts) {
      SCOPED_TRACE(testing::Message() << threads << " threads, L " << L << " S " << S);
      Context context = context_with_threads(threads);
      const AttentionResult got = attention(context, inputs.q, inputs.k, inputs.v, options);
      EXPECT_TRUE(same_bits(got.output, want.output));
      EXPECT_TRUE(same_bits(got.weights, want.weights));
      EXPECT_TRUE(same_bits(got.lse, want.lse));
      EXPECT_TRUE(same_bits(got.scores, want.scores));
      EXPECT_TRUE(same_bits(got.masked, want.masked));
      const AttentionResult got_lean = attention(context, inputs.q, inputs.k, inputs.v, lean);
      EXPECT_TRUE(same_bits(got_lean.output, want_lean.output));
    }
  }
}

TEST(Attention, DoesNotDependOnEarlierCalls) {
  Random random(18);
  const Inputs inputs = random_inputs(random, 1, 2, 1, 37, 61, 12, 20);
  Inputs large = random_inputs(random, 2, 4, 4, 200, 300, 64, 64);
  std::fill(large.v.data().begin(), large.v.data().end(), kNaN);
  for (const int threads : kThreadCounts) {
    Context context = context_with_threads(threads);
    const AttentionResult before = attention(context, inputs.q, inputs.k, inputs.v);
    const AttentionResult between = attention(context, large.q, large.k, large.v);
    EXPECT_EQ(between.output.shape(), (Shape{2, 4, 200, 64}));
    const AttentionResult after = attention(context, inputs.q, inputs.k, inputs.v);
    EXPECT_TRUE(same_bits(after.output, before.output)) << threads << " threads";
  }
}

TEST(Attention, ReadsNothingOutsideItsInputsAtAnyAlignment) {
  // Arrays at odd addresses, with NaN on both sides.
  Random random(19);
  const std::int64_t H = 3, L = 11, S = 23, D = 13, Dv = 5;
  const Inputs inputs = random_inputs(random, 1, H, H, L, S, D, Dv);
  Context context;
  for (std::size_t before = 1; before < 4; ++before) {
    const auto surround = [&](const Tensor& tensor) {
      std::vector<float> memory(before + tensor.data().size() + 64, kNaN);
      std::copy(tensor.data().begin(), tensor.data().end(),
                memory.begin() + static_cast<std::ptrdiff_t>(before));
      return memory;
    };
    const std::vector<float> q = surround(inputs.q), k = surround(inputs.k), v = surround(inputs.v);
    expect_reference(context, TensorView(q.data() + before, inputs.q.shape()),
                     TensorView(k.data() + before, inputs.k.shape()),
                     TensorView(v.data() + before, inputs.v.shape()), {});
  }
}

}  // namespace
}  // namespace heed::test
