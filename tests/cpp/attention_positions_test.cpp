// The positions of queries and the keys that they see: offsets, alignments, windows, a past.

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "attention_support.hpp"

namespace heed::test {
namespace {

constexpr std::int64_t kFarthest = std::numeric_limits<std::int64_t>::max();

using Picture = std::vector<std::string>;

/// Which of S keys each of L queries sees, row by row over the batch: "x" or ".".
Picture seen(std::int64_t B, std::int64_t L, std::int64_t S, AttentionOptions options) {
  Context context;
  // The scores are 0, so visible keys have equal weights and hidden ones weight 0.
  const Tensor q = filled({B, 1, L, 1}, 0.0f), k = filled({B, 1, S, 1}, 0.0f);
  options.need_weights = true;
  const AttentionResult result = attention(context, q, k, k, options);
  const std::int64_t keys = result.weights->shape()[3];
  Picture picture;
  for (std::int64_t row = 0; row < B * L; ++row) {
    std::string line;
    for (std::int64_t j = 0; j < keys; ++j) {
      const float weight = result.weights->data()[static_cast<std::size_t>(row * keys + j)];
      line += weight > 0.0f ? 'x' : '.';
    }
    picture.push_back(line);
  }
  return picture;
}

AttentionOptions window(std::int64_t left, std::int64_t right) {
  AttentionOptions options;
  options.window_left = left;
  options.window_right = right;
  return options;
}

TEST(AttentionPositions, BeginAtTheFirstKeyByDefault) {
  EXPECT_EQ(seen(1, 3, 5, causal()), (Picture{"x....", "xx...", "xxx.."}));
  EXPECT_EQ(seen(1, 4, 2, causal()), (Picture{"x.", "xx", "xx", "xx"}));
}

TEST(AttentionPositions, FollowTheAlignment) {
  AttentionOptions options = causal();
  options.causal_alignment = CausalAlignment::kBottomRight;
  EXPECT_EQ(seen(1, 3, 5, options), (Picture{"xxx..", "xxxx.", "xxxxx"}));
  EXPECT_EQ(seen(1, 4, 2, options), (Picture{"..", "..", "x.", "xx"}));
  options.causal_alignment = CausalAlignment::kTopLeft;
  EXPECT_EQ(seen(1, 3, 5, options), (Picture{"x....", "xx...", "xxx.."}));
}

TEST(AttentionPositions, FollowTheAlignmentWithLengths) {
  const Tensor lengths = integers({2}, {4, 2});
  AttentionOptions options = causal();
  options.kv_lengths = lengths;
  const Picture at_the_end = {"xx...", "xxx..", "xxxx.", ".....", "x....", "xx..."};
  EXPECT_EQ(seen(2, 3, 5, options), at_the_end);
  options.causal_alignment = CausalAlignment::kBottomRight;
  EXPECT_EQ(seen(2, 3, 5, options), at_the_end);
  options.causal_alignment = CausalAlignment::kTopLeft;
  EXPECT_EQ(seen(2, 3, 5, options),
            (Picture{"x....", "xx...", "xxx..", "x....", "xx...", "xx..."}));
}

TEST(AttentionPositions, FollowAnOffsetForAllOrForEach) {
  const Tensor one = integers({1}, {2}), each = integers({2}, {-1, 4}),
               far = integers({2}, {std::numeric_limits<std::int32_t>::min(),
                                    std::numeric_limits<std::int32_t>::max()});
  AttentionOptions options = causal();
  // An offset overrides every alignment.
  options.causal_alignment = CausalAlignment::kBottomRight;
  options.causal_offset = one;
  EXPECT_EQ(seen(2, 2, 4, options), (Picture{"xxx.", "xxxx", "xxx.", "xxxx"}));
  options.causal_offset = each;
  EXPECT_EQ(seen(2, 2, 4, options), (Picture{"....", "x...", "xxxx", "xxxx"}));
  options.causal_offset = far;
  EXPECT_EQ(seen(2, 2, 4, options), (Picture{"....", "....", "xxxx", "xxxx"}));
}

TEST(AttentionPositions, HaveNoEffectWithoutCausalityOrAWindow) {
  const Tensor offset = integers({1}, {-3});
  AttentionOptions options;
  options.causal_offset = offset;
  EXPECT_EQ(seen(1, 2, 4, options), (Picture{"xxxx", "xxxx"}));
}

TEST(AttentionPositions, LimitAWindowOnBothSides) {
  EXPECT_EQ(seen(1, 5, 5, window(1, 2)), (Picture{"xxx..", "xxxx.", ".xxxx", "..xxx", "...xx"}));
  EXPECT_EQ(seen(1, 3, 3, window(0, 0)), (Picture{"x..", ".x.", "..x"}));
  EXPECT_EQ(seen(1, 3, 3, window(-1, 0)), (Picture{"x..", "xx.", "xxx"}));
  EXPECT_EQ(seen(1, 3, 3, window(0, -1)), (Picture{"xxx", ".xx", "..x"}));
  EXPECT_EQ(seen(1, 3, 3, window(-1, -1)), (Picture{"xxx", "xxx", "xxx"}));
  // The last queries have positions after the last key.
  EXPECT_EQ(seen(1, 4, 2, window(1, 0)), (Picture{"x.", "xx", ".x", ".."}));
}

TEST(AttentionPositions, MoveTheWindowWithTheOffset) {
  const Tensor offset = integers({1}, {2});
  AttentionOptions options = window(1, 1);
  options.causal_offset = offset;
  EXPECT_EQ(seen(1, 3, 5, options), (Picture{".xxx.", "..xxx", "...xx"}));
  options.is_causal = true;
  EXPECT_EQ(seen(1, 3, 5, options), (Picture{".xx..", "..xx.", "...xx"}));
  const Tensor lengths = integers({1}, {4});
  options.kv_lengths = lengths;
  EXPECT_EQ(seen(1, 3, 5, options), (Picture{".xx..", "..xx.", "...x."}));
}

TEST(AttentionPositions, SupportWindowsOfAnySize) {
  // Sizes near the limit of 64 bits leave a side open, like -1, for any position.
  const Tensor far = integers({1}, {std::numeric_limits<std::int32_t>::min()}),
               near = integers({1}, {1});
  for (const Tensor* offset : {&far, &near}) {
    AttentionOptions options = window(kFarthest, kFarthest);
    options.causal_offset = *offset;
    EXPECT_EQ(seen(1, 2, 3, options), (Picture{"xxx", "xxx"}));
    options = window(kFarthest - 1, -1);
    options.causal_offset = *offset;
    EXPECT_EQ(seen(1, 2, 3, options), (Picture{"xxx", "xxx"}));
  }
  AttentionOptions options = window(-1, kFarthest - 2);
  options.is_causal = true;
  EXPECT_EQ(seen(1, 2, 3, options), (Picture{"x..", "xx."}));
}

TEST(AttentionPositions, MatchTheReferenceWithWindowsAcrossTiles) {
  Random random(1);
  Context context;
  for (const auto& [L, S] : {std::pair{150, 400}, {400, 150}, {1, 300}}) {
    const Inputs inputs = random_inputs(random, 1, 2, 1, L, S, 8, 8);
    for (const auto& [left, right] :
         {std::pair{0, 0}, {10, 3}, {127, 0}, {128, 1}, {-1, 20}, {20, -1}, {300, 300}}) {
      for (const bool is_causal : {false, true}) {
        SCOPED_TRACE(testing::Message() << "L " << L << " S " << S << " window " << left << " "
                                        << right << (is_causal ? " causal" : ""));
        AttentionOptions options = window(left, right);
        options.is_causal = is_causal;
        options.causal_alignment =
            is_causal ? CausalAlignment::kBottomRight : CausalAlignment::kDefault;
        expect_reference(context, inputs, options);
      }
    }
  }
}

TEST(AttentionPositions, CopyTheValueAtThePositionWithAWindowOfZero) {
  Random random(2);
  Context context;
  const Inputs inputs = random_inputs(random, 1, 2, 2, 200, 200, 8, 8);
  const Tensor output = attention(context, inputs.q, inputs.k, inputs.v, window(0, 0)).output;
  EXPECT_TRUE(same_bits(output, inputs.v));
}

TEST(AttentionPast, PrecedesTheKeysAndShiftsThePositionsOfQueries) {
  const Tensor past = filled({1, 1, 2, 1}, 0.0f);
  AttentionOptions options = causal();
  options.past_key = past;
  options.past_value = past;
  EXPECT_EQ(seen(1, 2, 3, options), (Picture{"xxx..", "xxxx."}));
  options.causal_alignment = CausalAlignment::kTopLeft;
  EXPECT_EQ(seen(1, 2, 3, options), (Picture{"x....", "xx..."}));
  options.causal_alignment = CausalAlignment::kBottomRight;
  EXPECT_EQ(seen(1, 2, 3, options), (Picture{"xxxx.", "xxxxx"}));
}

TEST(AttentionPast, DeterminesTheOffsetBesideLengths) {
  // The length of the past is the offset, even if that is 0.
  const Tensor past = filled({1, 1, 2, 1}, 0.0f), nothing(Shape{1, 1, 0, 1});
  const Tensor lengths = integers({1}, {3});
  AttentionOptions options = causal();
  options.past_key = past;
  options.past_value = past;
  options.kv_lengths = lengths;
  EXPECT_EQ(seen(1, 2, 3, options), (Picture{"xxx..", "xxx.."}));
  options.past_key = nothing;
  options.past_value = nothing;
  EXPECT_EQ(seen(1, 2, 3, options), (Picture{"x..", "xx."}));
}

TEST(AttentionPast, EqualsASingleArrayOfKeys) {
  Random random(3);
  Context context;
  for (const std::int64_t P : {0, 1, 40, 128, 200}) {
    for (const std::int64_t K : {0, 1, 60}) {
      SCOPED_TRACE(testing::Message() << "past " << P << " new " << K);
      const Inputs inputs = random_inputs(random, 2, 4, 2, 30, K, 8, 5);
      const Tensor past_key = random.reals({2, 2, P, 8}), past_value = random.reals({2, 2, P, 5});
      AttentionOptions options = causal();
      options.past_key = past_key;
      options.past_value = past_value;
      expect_reference(context, inputs, options);
      const AttentionResult got = attention(context, inputs.q, inputs.k, inputs.v, options);
      ASSERT_TRUE(got.present_key && got.present_value);
      const Tensor offset = integers({1}, {static_cast<std::int32_t>(P)});
      AttentionOptions whole = causal();
      whole.causal_offset = offset;
      EXPECT_TRUE(same_bits(
          got.output,
          attention(context, inputs.q, *got.present_key, *got.present_value, whole).output));
    }
  }
}

TEST(AttentionPast, DecodesTokenByTokenThroughPresent) {
  Random random(4);
  Context context;
  const std::int64_t L = 40;
  const Inputs inputs = random_inputs(random, 1, 2, 1, L, L, 8, 8);
  const reference::Array want = reference::attention(inputs.q, inputs.k, inputs.v, causal()).output;
  Tensor past_key(Shape{1, 1, 0, 8}), past_value(Shape{1, 1, 0, 8});
  for (std::int64_t i = 0; i < L; ++i) {
    Tensor q(Shape{1, 2, 1, 8}), k(Shape{1, 1, 1, 8}), v(Shape{1, 1, 1, 8});
    for (std::int64_t h = 0; h < 2; ++h) {
      std::copy_n(inputs.q.data().begin() + (h * L + i) * 8, 8, q.data().begin() + h * 8);
    }
    std::copy_n(inputs.k.data().begin() + i * 8, 8, k.data().begin());
    std::copy_n(inputs.v.data().begin() + i * 8, 8, v.data().begin());
    AttentionOptions options = causal();
    options.past_key = past_key;
    options.past_value = past_value;
    AttentionResult step = attention(context, q, k, v, options);
    for (std::size_t h = 0; h < 2; ++h) {
      for (std::size_t d = 0; d < 8; ++d) {
        const auto at = (static_cast<std::int64_t>(h) * L + i) * 8 + static_cast<std::int64_t>(d);
        ASSERT_NEAR(step.output.data()[h * 8 + d], want[at], 1e-5) << "token " << i;
      }
    }
    past_key = std::move(*step.present_key);
    past_value = std::move(*step.present_value);
  }
}

TEST(AttentionPast, SupportsInputsOfRankThree) {
  Random random(5);
  Context context;
  const Tensor q = random.reals({2, 4, 24}), k = random.reals({2, 3, 12}),
               v = random.reals({2, 3, 10});
  const Tensor past_key = random.reals({2, 2, 6, 6}), past_value = random.reals({2, 2, 6, 5});
  AttentionOptions options = causal();
  options.heads = 4;
  options.kv_heads = 2;
  options.past_key = past_key;
  options.past_value = past_value;
  expect_reference(context, q, k, v, options);
}

}  // namespace
}  // namespace heed::test
