// Merging: attention over parts of the keys, merged, is attention over all of them.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "attention_support.hpp"
#include "errors_support.hpp"
#include "reference/merge_attention.hpp"

namespace heed::test {
namespace {

/// Attention over the keys [begin, end) only.
PartialAttention part(Context& context, const Inputs& inputs, std::int64_t begin, std::int64_t end,
                      AttentionOptions options = {}) {
  const std::int64_t S = inputs.k.shape()[2];
  Tensor mask(Shape{S}, DType::kBool);
  for (std::int64_t j = 0; j < S; ++j) {
    mask.data<bool>()[static_cast<std::size_t>(j)] = begin <= j && j < end;
  }
  options.mask = mask;
  options.need_lse = true;
  AttentionResult result = attention(context, inputs.q, inputs.k, inputs.v, options);
  return {std::move(result.output), std::move(*result.lse)};
}

PartialAttention merged(Context& context, const PartialAttention& a, const PartialAttention& b) {
  return merge_attention(context, a.output, a.lse, b.output, b.lse);
}

TEST(MergeAttention, WeighsTwoPartsByTheirDenominators) {
  // Denominators 1 and 3: weights 1/4 and 3/4.
  Context context;
  const Tensor a(Shape{1, 1, 1, 2}, {8, 0}), b(Shape{1, 1, 1, 2}, {4, -4});
  const Tensor lse_a(Shape{1, 1, 1}, {0}), lse_b(Shape{1, 1, 1}, {std::log(3.0f)});
  const PartialAttention both = merge_attention(context, a, lse_a, b, lse_b);
  EXPECT_NEAR(both.output.data()[0], 5.0f, 1e-6);
  EXPECT_NEAR(both.output.data()[1], -3.0f, 1e-6);
  EXPECT_NEAR(both.lse.data()[0], std::log(4.0), 1e-6);
}

TEST(MergeAttention, MatchesTheReference) {
  Random random(1);
  Context context;
  for (const std::int64_t Dv : {0, 1, 7, 64}) {
    const Tensor a = random.reals({2, 3, 9, Dv}), b = random.reals({2, 3, 9, Dv});
    Tensor lse_a = random.reals({2, 3, 9}, -20, 20), lse_b = random.reals({2, 3, 9}, -20, 20);
    lse_a.data()[4] = lse_b.data()[7] = lse_a.data()[9] = lse_b.data()[9] = -kInfinity;
    const PartialAttention got = merge_attention(context, a, lse_a, b, lse_b);
    const reference::PartialAttention want = reference::merge_attention({a, lse_a}, {b, lse_b});
    EXPECT_TRUE(close(got.output, want.output));
    EXPECT_TRUE(close(got.lse, want.lse));
  }
}

TEST(MergeAttention, MergesPartsInAnyOrder) {
  Random random(2);
  Context context;
  const Inputs inputs = random_inputs(random, 2, 4, 2, 30, 200, 16, 12);
  const Tensor slopes = random.reals({4}, 0, 0.1f);
  AttentionOptions options;
  options.is_causal = true;
  options.causal_alignment = CausalAlignment::kBottomRight;
  options.alibi_slopes = slopes;
  const reference::AttentionResult want =
      reference::attention(inputs.q, inputs.k, inputs.v, options);

  // The last rows of a causal mask see every piece; the first rows do not see the last one. One
  // piece is empty.
  const std::int64_t bounds[] = {0, 50, 51, 51, 128, 190, 200};
  std::vector<int> order = {0, 1, 2, 3, 4, 5};
  for (int turn = 0; turn < 20; ++turn) {
    SCOPED_TRACE(testing::Message() << "order " << turn);
    const auto piece = [&](int n) {
      return part(context, inputs, bounds[n], bounds[n + 1], options);
    };
    PartialAttention all = piece(order[0]);
    for (std::size_t n = 1; n < order.size(); ++n) all = merged(context, all, piece(order[n]));
    EXPECT_TRUE(close(all.output, want.output));
    EXPECT_TRUE(close(all.lse, want.lse));
    for (std::size_t n = order.size() - 1; n > 0; --n) {
      std::swap(order[n], order[static_cast<std::size_t>(random.integer(0, static_cast<int>(n)))]);
    }
  }
  // As a tree instead of a chain.
  const PartialAttention left = merged(context, part(context, inputs, 0, 50, options),
                                       part(context, inputs, 50, 90, options));
  const PartialAttention right = merged(context, part(context, inputs, 90, 180, options),
                                        part(context, inputs, 180, 200, options));
  EXPECT_TRUE(close(merged(context, left, right).output, want.output));
}

TEST(MergeAttention, ReturnsAPartUnchangedIfTheOtherIsEmpty) {
  // Even if the output of the empty part is NaN, which attention never returns.
  Random random(3);
  Context context;
  const PartialAttention full = part(context, random_inputs(random, 1, 2, 2, 5, 9, 4, 3), 0, 9);
  const Tensor no_lse = filled({1, 2, 5}, -kInfinity);
  for (const float content : {0.0f, kNaN}) {
    const Tensor nothing = filled({1, 2, 5, 3}, content);
    for (const PartialAttention& got :
         {merge_attention(context, full.output, full.lse, nothing, no_lse),
          merge_attention(context, nothing, no_lse, full.output, full.lse)}) {
      EXPECT_TRUE(same_bits(got.output, full.output));
      EXPECT_TRUE(same_bits(got.lse, full.lse));
    }
    const PartialAttention none = merge_attention(context, nothing, no_lse, nothing, no_lse);
    EXPECT_TRUE(same_bits(none.output, filled({1, 2, 5, 3}, 0.0f)));
    EXPECT_TRUE(same_bits(none.lse, no_lse));
  }
}

TEST(MergeAttention, StaysFiniteForDenominatorsFarApart) {
  Context context;
  const Tensor a = filled({1, 1, 2, 1}, 3.0f), b = filled({1, 1, 2, 1}, 5.0f);
  const Tensor lse_a(Shape{1, 1, 2}, {1e4f, -1e4f}), lse_b(Shape{1, 1, 2}, {-1e4f, -1e4f});
  const PartialAttention got = merge_attention(context, a, lse_a, b, lse_b);
  EXPECT_EQ(got.output.data()[0], 3.0f);
  EXPECT_EQ(got.lse.data()[0], 1e4f);
  EXPECT_NEAR(got.output.data()[1], 4.0f, 1e-6);
  EXPECT_NEAR(got.lse.data()[1], -1e4 + std::log(2.0), 1e-3);
}

TEST(MergeAttention, DoesNotReadAPartWhoseWeightIsZero) {
  Context context;
  const Tensor bad(Shape{1, 1, 1, 2}, {kNaN, kInfinity}), good(Shape{1, 1, 1, 2}, {1.0f, 2.0f});
  const Tensor hidden = filled({1, 1, 1}, -1e9f), lse = filled({1, 1, 1}, 0.0f);
  for (const PartialAttention& got : {merge_attention(context, bad, hidden, good, lse),
                                      merge_attention(context, good, lse, bad, hidden)}) {
    EXPECT_TRUE(same_bits(got.output, good));
    EXPECT_TRUE(same_bits(got.lse, lse));
  }
}

TEST(MergeAttention, PropagatesNaNWithinItsRow) {
  Context context;
  const Tensor a(Shape{1, 1, 2, 1}, {kNaN, 1}), b = filled({1, 1, 2, 1}, 2.0f);
  const Tensor lse = filled({1, 1, 2}, 0.0f);
  const PartialAttention got = merge_attention(context, a, lse, b, lse);
  EXPECT_TRUE(std::isnan(got.output.data()[0]));
  EXPECT_EQ(got.output.data()[1], 1.5f);
}

TEST(MergeAttention, HandlesSizesOfZero) {
  Context context;
  for (const Shape& shape : {Shape{0, 2, 3, 4}, Shape{1, 0, 3, 4}, Shape{1, 2, 0, 4}}) {
    const Tensor output(shape), lse(Shape{shape[0], shape[1], shape[2]});
    const PartialAttention got = merge_attention(context, output, lse, output, lse);
    EXPECT_EQ(got.output.shape(), shape);
    EXPECT_EQ(got.lse.shape(), lse.shape());
  }
}

TEST(MergeAttention, RefusesInvalidArguments) {
  Context context;
  const Tensor output(Shape{2, 4, 3, 6}), lse(Shape{2, 4, 3}), longer(Shape{2, 4, 4});
  expect_refusal(kShape, "lse_b", "[2, 4, 4]",
                 [&] { merge_attention(context, output, lse, output, longer); });
}

}  // namespace
}  // namespace heed::test
