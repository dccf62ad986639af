// Dropout: the seed alone decides which weights are dropped.

#include <cmath>
#include <cstdint>
#include <vector>

#include "attention_support.hpp"

namespace heed::test {
namespace {

AttentionOptions dropping(double share, std::uint64_t seed = 1) {
  AttentionOptions options = with_everything({});
  options.dropout = share;
  options.dropout_seed = seed;
  return options;
}

/// Inputs whose scores are 0, so that all weights are equal and only dropped ones are 0.
Inputs equal_inputs(std::int64_t B, std::int64_t H, std::int64_t L, std::int64_t S) {
  return {filled({B, H, L, 1}, 0.0f), filled({B, H, S, 1}, 0.0f), filled({B, H, S, 1}, 1.0f)};
}

std::vector<bool> kept(const AttentionResult& result) {
  std::vector<bool> where;
  for (const float weight : result.weights->data()) where.push_back(weight != 0.0f);
  return where;
}

AttentionResult run(const Inputs& inputs, const AttentionOptions& options) {
  Context context;
  return attention(context, inputs.q, inputs.k, inputs.v, options);
}

TEST(AttentionDropout, SetsWeightsToZeroAndScalesTheOthers) {
  Random random(1);
  const std::int64_t L = 70, S = 200, Dv = 12;
  const Inputs inputs = random_inputs(random, 2, 4, 2, L, S, 8, Dv);
  AttentionOptions options = with_everything({});
  const Tensor mask = random.biases({L, S}, 20);
  options.mask = mask;
  const AttentionResult plain = run(inputs, options);
  options.dropout = 0.3;
  const AttentionResult got = run(inputs, options);
  std::size_t dropped = 0;
  for (std::size_t i = 0; i < plain.weights->data().size(); ++i) {
    const float weight = got.weights->data()[i];
    dropped += weight == 0.0f;
    if (weight == 0.0f) continue;
    const double want = plain.weights->data()[i] / 0.7;
    ASSERT_NEAR(weight, want, 1e-6 * want + 1e-9) << "element " << i;
  }
  EXPECT_GT(dropped, plain.weights->data().size() / 4);

  // The output is the product of the weights with the values; the other results are the same as
  // without dropout.
  for (std::int64_t bh = 0; bh < 8; ++bh) {
    for (std::int64_t i = 0; i < L; ++i) {
      for (std::int64_t c = 0; c < Dv; ++c) {
        double want = 0.0;
        for (std::int64_t j = 0; j < S; ++j) {
          want += double{got.weights->data()[static_cast<std::size_t>((bh * L + i) * S + j)]} *
                  double{inputs.v.data()[static_cast<std::size_t>((bh / 2 * S + j) * Dv + c)]};
        }
        ASSERT_NEAR(got.output.data()[static_cast<std::size_t>((bh * L + i) * Dv + c)], want, 1e-5)
            << "head " << bh << " query " << i;
      }
    }
  }
  EXPECT_TRUE(same_bits(got.lse, plain.lse));
  EXPECT_TRUE(same_bits(got.entropy, plain.entropy));
  EXPECT_TRUE(same_bits(got.scores, plain.scores));
  EXPECT_TRUE(same_bits(got.masked, plain.masked));
}

TEST(AttentionDropout, DropsTheRequestedFractionInAllRowsAndColumns) {
  // The fractions of all weights, of each row and of each column are within five standard
  // deviations.
  const std::int64_t rows = 2 * 3 * 100, S = 300;
  const Inputs inputs = equal_inputs(2, 3, 100, S);
  for (const double share : {0.01, 0.1, 0.5, 0.9}) {
    SCOPED_TRACE(testing::Message() << "share " << share);
    const std::vector<bool> where = kept(run(inputs, dropping(share)));
    const auto expect_share = [&](double dropped, double count, const char* of, std::int64_t n) {
      const double deviation = std::sqrt(count * share * (1 - share));
      EXPECT_NEAR(dropped, share * count, 5 * deviation + 1) << of << " " << n;
    };
    std::vector<double> by_column(static_cast<std::size_t>(S));
    double all = 0, twice = 0;
    for (std::int64_t row = 0; row < rows; ++row) {
      double in_row = 0;
      for (std::int64_t j = 0; j < S; ++j) {
        const bool is_dropped = !where[static_cast<std::size_t>(row * S + j)];
        in_row += is_dropped;
        by_column[static_cast<std::size_t>(j)] += is_dropped;
        twice += is_dropped && j > 0 && !where[static_cast<std::size_t>(row * S + j - 1)];
      }
      expect_share(in_row, static_cast<double>(S), "row", row);
      all += in_row;
    }
    for (std::int64_t j = 0; j < S; ++j) {
      expect_share(by_column[static_cast<std::size_t>(j)], static_cast<double>(rows), "key", j);
    }
    expect_share(all, static_cast<double>(rows * S), "all", rows * S);
    // Neighbours are independent.
    const double pairs = static_cast<double>(rows * (S - 1)), both = share * share;
    EXPECT_NEAR(twice, pairs * both, 8 * std::sqrt(pairs * both * (1 - both)) + 1);
  }
}

TEST(AttentionDropout, DependsOnTheSeed) {
  const Inputs inputs = equal_inputs(1, 2, 60, 200);
  const std::vector<bool> one = kept(run(inputs, dropping(0.5, 1)));
  EXPECT_EQ(kept(run(inputs, dropping(0.5, 1))), one);
  for (const std::uint64_t seed :
       {std::uint64_t{0}, std::uint64_t{2}, std::uint64_t{1} << 32, ~std::uint64_t{0}}) {
    const std::vector<bool> other = kept(run(inputs, dropping(0.5, seed)));
    std::size_t same = 0;
    for (std::size_t i = 0; i < one.size(); ++i) same += one[i] == other[i];
    // Half of 24 000 agree by chance, with a standard deviation of 77.
    EXPECT_NEAR(static_cast<double>(same), 12000.0, 5 * 77.5) << "seed " << seed;
  }
}

TEST(AttentionDropout, ChangesNothingAtProbabilityZero) {
  Random random(2);
  const Inputs inputs = random_inputs(random, 1, 2, 2, 50, 140, 8, 8);
  expect_same_bits(run(inputs, dropping(0.0, 5)), run(inputs, with_everything({})));
}

TEST(AttentionDropout, DoesNotDependOnThreadsOrOtherResults) {
  Random random(3);
  const Inputs inputs = random_inputs(random, 2, 4, 2, 130, 300, 16, 16);
  const AttentionResult want = run(inputs, dropping(0.4));
  for (const int threads : {1, 2, 3, 5, 8}) {
    SCOPED_TRACE(testing::Message() << threads << " threads");
    Context context = context_with_threads(threads);
    expect_same_bits(attention(context, inputs.q, inputs.k, inputs.v, dropping(0.4)), want);
    AttentionOptions lean;
    lean.dropout = 0.4;
    lean.dropout_seed = 1;
    EXPECT_TRUE(
        same_bits(attention(context, inputs.q, inputs.k, inputs.v, lean).output, want.output));
  }
}

TEST(AttentionDropout, DoesNotDependOnTheInstructionSet) {
  const Inputs inputs = equal_inputs(1, 2, 60, 200);
  const std::vector<bool> want = kept(run(inputs, dropping(0.4)));
  for (const std::string_view isa : Context::available_isas()) {
    Context::Options options;
    options.isa = isa;
    Context context(options);
    EXPECT_EQ(kept(attention(context, inputs.q, inputs.k, inputs.v, dropping(0.4))), want) << isa;
  }
}

TEST(AttentionDropout, DoesNotDependOnTheLayout) {
  // With one head both layouts have the same numbers; with more, heads have the same order.
  const std::int64_t B = 2, H = 3, L = 20, S = 30;
  const AttentionResult split = run(equal_inputs(B, H, L, S), dropping(0.5));
  AttentionOptions options = dropping(0.5);
  options.heads = H;
  const AttentionResult joined =
      run({filled({B, L, H}, 0.0f), filled({B, S, H}, 0.0f), filled({B, S, H}, 1.0f)}, options);
  EXPECT_TRUE(same_bits(joined.weights, split.weights));
}

TEST(AttentionDropout, DropsTheSamePairsForAnyShape) {
  // (seed, b, h, i, j) alone decide; the numbers of queries, keys, heads and sequences do not
  // matter.
  const AttentionResult large = run(equal_inputs(3, 4, 100, 300), dropping(0.5));
  const auto is_kept = [](const AttentionResult& result, std::int64_t b, std::int64_t h,
                          std::int64_t i, std::int64_t j) {
    const Shape& shape = result.weights->shape();
    const std::int64_t at = ((b * shape[1] + h) * shape[2] + i) * shape[3] + j;
    return result.weights->data()[static_cast<std::size_t>(at)] != 0.0f;
  };
  for (const Shape& shape :
       {Shape{3, 4, 100, 77}, Shape{3, 4, 7, 300}, Shape{3, 2, 100, 300}, Shape{2, 4, 100, 300}}) {
    SCOPED_TRACE(to_string(shape));
    const AttentionResult small =
        run(equal_inputs(shape[0], shape[1], shape[2], shape[3]), dropping(0.5));
    std::int64_t different = 0;
    for (std::int64_t b = 0; b < shape[0]; ++b)
      for (std::int64_t h = 0; h < shape[1]; ++h)
        for (std::int64_t i = 0; i < shape[2]; ++i)
          for (std::int64_t j = 0; j < shape[3]; ++j)
            different += is_kept(small, b, h, i, j) != is_kept(large, b, h, i, j);
    EXPECT_EQ(different, 0);
  }
}

TEST(AttentionDropout, DropsTheSamePairsUnderAMask) {
  const Inputs inputs = equal_inputs(1, 2, 100, 300);
  const std::vector<bool> all = kept(run(inputs, dropping(0.5)));
  AttentionOptions options = dropping(0.5);
  options.is_causal = true;
  options.causal_alignment = CausalAlignment::kBottomRight;
  options.window_left = 150;
  const AttentionResult masked = run(inputs, options);
  const std::vector<bool> some = kept(masked);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool is_hidden = std::isinf(masked.masked->data()[i]);
    ASSERT_EQ(some[i], all[i] && !is_hidden) << "element " << i;
  }
}

TEST(AttentionDropout, DoesNotChangeTheMeanOverManySeeds) {
  // The mean of many outputs approaches the output without dropout.
  Random random(4);
  const Tensor q = random.reals({6, 2, 4}), k = random.reals({80, 2, 4}),
               v = random.reals({80, 2, 4});
  const Tensor starts_q = integers({3}, {0, 4, 6}), starts_k = integers({3}, {0, 50, 80});
  Context context;
  AttentionOptions options;
  options.cu_seqlens_q = starts_q;
  options.cu_seqlens_k = starts_k;
  const Tensor want = attention(context, q, k, v, options).output;
  std::vector<double> mean(want.data().size());
  options.dropout = 0.2;
  for (options.dropout_seed = 0; options.dropout_seed < 1000; ++options.dropout_seed) {
    const Tensor got = attention(context, q, k, v, options).output;
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += double{got.data()[i]} / 1000;
  }
  // Each of 30 weights of about 1/30 has the factor 0 or 1.25. The standard deviation is
  // 0.5 * 0.6 / sqrt(30) = 0.05 in a run, and 0.0017 in the mean of 1000 runs.
  for (std::size_t i = 0; i < mean.size(); ++i) EXPECT_NEAR(mean[i], want.data()[i], 0.01) << i;
}

}  // namespace
}  // namespace heed::test
