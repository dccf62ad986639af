// Attention with masks: which keys a query sees, and that hidden keys have no effect on it.

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "attention_support.hpp"

namespace heed::test {
namespace {

void expect_hidden_row(const AttentionResult& result, std::size_t row, std::size_t S,
                       std::size_t Dv) {
  ASSERT_TRUE(result.weights && result.lse && result.masked);
  for (std::size_t d = 0; d < Dv; ++d) EXPECT_EQ(result.output.data()[row * Dv + d], 0.0f);
  for (std::size_t j = 0; j < S; ++j) {
    EXPECT_EQ(result.weights->data()[row * S + j], 0.0f);
    EXPECT_EQ(result.masked->data()[row * S + j], -kInfinity);
  }
  EXPECT_EQ(result.lse->data()[row], -kInfinity);
}

/// Expects the results of the reference with one mask, and with the other.
void expect_reference_with_each(Context& context, const Inputs& inputs, const Tensor& visible,
                                const Tensor& bias) {
  for (const Tensor* mask : {&visible, &bias}) {
    AttentionOptions options;
    options.mask = *mask;
    expect_reference(context, inputs, options);
  }
}

TEST(AttentionMask, BroadcastsFromEveryShape) {
  // Each rank from 0 to 4 and each choice of axes of size 1.
  Random random(1);
  const std::int64_t full[4] = {2, 3, 10, 21};
  const Inputs inputs = random_inputs(random, full[0], full[1], full[1], full[2], full[3], 8, 6);
  Context context;
  for (int rank = 0; rank <= 4; ++rank) {
    for (int ones = 0; ones < 1 << rank; ++ones) {
      std::vector<std::int64_t> sizes;
      for (int axis = 0; axis < rank; ++axis) {
        sizes.push_back((ones >> axis & 1) != 0 ? 1 : full[4 - rank + axis]);
      }
      const Shape shape{std::span<const std::int64_t>(sizes)};
      SCOPED_TRACE("mask " + to_string(shape));
      expect_reference_with_each(context, inputs, random.bools(shape, 60),
                                 random.biases(shape, 30));
    }
  }
}

TEST(AttentionMask, HidesKeysBeyondAShortLastAxis) {
  Random random(2);
  const Inputs inputs = random_inputs(random, 2, 2, 2, 9, 40, 8, 8);
  Context context;
  for (const std::int64_t reach : {0, 2, 15, 16, 39}) {
    for (const Shape& shape : {Shape{reach}, Shape{9, reach}, Shape{2, 1, 1, reach}}) {
      SCOPED_TRACE("mask " + to_string(shape));
      expect_reference_with_each(context, inputs, random.bools(shape, 80),
                                 random.biases(shape, 20));
    }
  }
}

TEST(AttentionMask, BroadcastsALastAxisOfSizeOne) {
  Random random(3);
  const Inputs inputs = random_inputs(random, 1, 1, 1, 3, 12, 4, 4);
  Context context;
  AttentionOptions options = with_everything({});
  const Tensor mask = bools({3, 1}, {true, false, true});
  options.mask = mask;
  const AttentionResult result = attention(context, inputs.q, inputs.k, inputs.v, options);
  const reference::AttentionResult plain =
      reference::attention(inputs.q, inputs.k, inputs.v, AttentionOptions{});
  for (const std::size_t row : {0u, 2u}) {
    EXPECT_NEAR(result.lse->data()[row], plain.lse.values[row], 1e-5) << "row " << row;
  }
  expect_hidden_row(result, 1, 12, 4);
}

TEST(AttentionMask, CausalEqualsALowerTriangularMask) {
  Random random(5);
  const Inputs inputs = random_inputs(random, 1, 2, 2, 45, 60, 16, 8);
  Tensor triangle(Shape{45, 60}, DType::kBool);
  for (std::size_t i = 0; i < 45; ++i) {
    for (std::size_t j = 0; j < 60; ++j) triangle.data<bool>()[i * 60 + j] = j <= i;
  }
  AttentionOptions causal, masked;
  causal.is_causal = true;
  masked.mask = triangle;
  Context context;
  const AttentionResult got = attention(context, inputs.q, inputs.k, inputs.v, causal);
  const AttentionResult want = attention(context, inputs.q, inputs.k, inputs.v, masked);
  EXPECT_TRUE(close(got.output, want.output));
}

TEST(AttentionMask, CausalAlignsTheLastQueryWithTheLengthOfTheKeys) {
  // The offset is kv_lengths[b] - L: 25 (a cache), 8, 0, and then negative, -3, -7, -8. With these,
  // the first 3, 7, 8 queries see nothing.
  Random random(7);
  const Inputs inputs = random_inputs(random, 6, 2, 2, 8, 33, 8, 8);
  const Tensor lengths = integers({6}, {33, 16, 8, 5, 1, 0});
  AttentionOptions options;
  options.kv_lengths = lengths;
  options.is_causal = true;
  Context context;
  expect_reference(context, inputs, options);

  const AttentionResult result =
      attention(context, inputs.q, inputs.k, inputs.v, with_everything(options));
  const std::size_t hidden[6] = {0, 0, 0, 3, 7, 8};
  for (std::size_t b = 0; b < 6; ++b) {
    for (std::size_t i = 0; i < 8; ++i) {
      const std::size_t row = (b * 2 + 1) * 8 + i;
      SCOPED_TRACE(testing::Message() << "batch " << b << " query " << i);
      if (i < hidden[b]) {
        expect_hidden_row(result, row, 33, 8);
      } else {
        EXPECT_TRUE(std::isfinite(result.lse->data()[row]));
      }
    }
  }
}

TEST(AttentionMask, HidesLongRangesOfKeys) {
  // A row may see its first key only after hundreds of hidden keys. They are hidden from this row
  // alone or from all rows: a prefix, a prefix of odd rows, a window that slides, and a gap in the
  // middle.
  using Visible = bool (*)(std::size_t i, std::size_t j);
  constexpr Visible kPatterns[] = {
      [](std::size_t, std::size_t j) { return j >= 300; },
      [](std::size_t i, std::size_t j) { return i % 2 == 0 || j >= 300; },
      [](std::size_t i, std::size_t j) { return j >= 5 * i && j < 5 * i + 20; },
      [](std::size_t i, std::size_t j) { return j < i || j > 390; },
  };
  Random random(16);
  const std::size_t L = 70, S = 400;
  const Inputs inputs = random_inputs(random, 1, 2, 1, 70, 400, 8, 8);
  Context context;
  for (const Visible& is_visible : kPatterns) {
    SCOPED_TRACE(testing::Message() << "pattern " << &is_visible - kPatterns);
    Tensor visible(Shape{70, 400}, DType::kBool);
    Tensor bias = random.reals({70, 400});
    for (std::size_t i = 0; i < L; ++i) {
      for (std::size_t j = 0; j < S; ++j) {
        visible.data<bool>()[i * S + j] = is_visible(i, j);
        if (!is_visible(i, j)) bias.data()[i * S + j] = -kInfinity;
      }
    }
    for (const Tensor* mask : {&visible, &bias}) {
      AttentionOptions options;
      options.mask = *mask;
      expect_reference(context, inputs, options);
      options.is_causal = true;
      expect_reference(context, inputs, options);
    }
  }
}

TEST(AttentionMask, ReturnsZerosForARowWithoutVisibleKeys) {
  Random random(9);
  const Inputs inputs = random_inputs(random, 1, 1, 1, 50, 40, 8, 12);
  Tensor visible = random.bools({50, 40}, 60);
  Tensor bias = random.biases({50, 40}, 40);
  for (const std::size_t row : {0u, 7u, 8u, 49u}) {
    for (std::size_t j = 0; j < 40; ++j) {
      visible.data<bool>()[row * 40 + j] = false;
      bias.data()[row * 40 + j] = -kInfinity;
    }
  }
  Context context;
  for (const Tensor* mask : {&visible, &bias}) {
    AttentionOptions options;
    options.mask = *mask;
    expect_reference(context, inputs, options);
    const AttentionResult result =
        attention(context, inputs.q, inputs.k, inputs.v, with_everything(options));
    for (const std::size_t row : {0u, 7u, 8u, 49u}) expect_hidden_row(result, row, 40, 12);
  }
}

TEST(AttentionMask, ReturnsZerosIfNoRowHasVisibleKeys) {
  Random random(10);
  const Inputs inputs = random_inputs(random, 2, 2, 1, 20, 30, 8, 8);
  const Tensor no = bools({}, {false});
  const Tensor minus_infinity = filled({1, 1}, -kInfinity);
  const Tensor lengths = integers({2}, {0, 0});
  AttentionOptions by_bool, by_bias, by_length;
  by_bool.mask = no;
  by_bias.mask = minus_infinity;
  by_length.kv_lengths = lengths;
  Context context;
  for (const AttentionOptions& options : {by_bool, by_bias, by_length}) {
    const AttentionResult result =
        attention(context, inputs.q, inputs.k, inputs.v, with_everything(options));
    for (std::size_t row = 0; row < 2 * 2 * 20; ++row) expect_hidden_row(result, row, 30, 8);
  }
}

TEST(AttentionMask, CapturesTheRawScoresOfHiddenKeys) {
  Random random(11);
  const Inputs inputs = random_inputs(random, 2, 2, 1, 40, 150, 8, 8);
  const Tensor lengths = integers({2}, {10, 0});
  AttentionOptions options = with_everything({});
  options.kv_lengths = lengths;
  options.is_causal = true;
  Context context;
  const AttentionResult result = attention(context, inputs.q, inputs.k, inputs.v, options);
  const reference::AttentionResult plain =
      reference::attention(inputs.q, inputs.k, inputs.v, AttentionOptions{});
  EXPECT_TRUE(close(result.scores, plain.scores));
}

TEST(AttentionMask, AddsVeryNegativeBiasesWithoutHiding) {
  // Only -inf hides. Next to ordinary keys, a bias of -1e9 gives a weight of 0. If a whole row has
  // the lowest float as its bias, adding a score does not change it, so all weights are equal.
  Random random(12);
  const Inputs inputs = random_inputs(random, 1, 1, 1, 4, 20, 8, 8);
  Tensor bias(Shape{4, 20});
  for (std::size_t j = 0; j < 20; ++j) {
    bias.data()[j] = std::numeric_limits<float>::lowest();
    bias.data()[20 + j] = j < 13 ? -1e9f : 0.0f;
    bias.data()[40 + j] = j == 19 ? 0.0f : -kInfinity;
    bias.data()[60 + j] = j == 0 ? std::numeric_limits<float>::lowest() : -kInfinity;
  }
  AttentionOptions options;
  options.mask = bias;
  Context context;
  expect_reference(context, inputs, options);

  options.need_weights = true;
  const AttentionResult result = attention(context, inputs.q, inputs.k, inputs.v, options);
  EXPECT_NEAR(result.weights->data()[0], 1.0 / 20.0, 1e-7);
  EXPECT_EQ(result.weights->data()[20], 0.0f);
  EXPECT_EQ(result.weights->data()[40 + 19], 1.0f);
  EXPECT_EQ(result.weights->data()[60], 1.0f);
}

TEST(AttentionMask, IgnoresInfinityInKeysThatOtherRowsSee) {
  // attention_combinations_test.cpp does this with NaN.
  Random random(14);
  const std::size_t L = 60, S = 150, D = 16, Dv = 24;
  Inputs inputs = random_inputs(random, 1, 1, 1, 60, 150, 16, 24);
  Tensor visible = random.bools({60, 150}, 70);
  for (std::size_t j = 0; j < S; j += 7) {
    for (std::size_t i = 0; i < L; ++i) {
      if (i % 2 == 1) visible.data<bool>()[i * S + j] = false;
    }
  }
  AttentionOptions options;
  options.mask = visible;
  const reference::AttentionResult want =
      reference::attention(inputs.q, inputs.k, inputs.v, options);
  for (const float poison : {kInfinity, -kInfinity}) {
    for (std::size_t j = 0; j < S; j += 7) {
      for (std::size_t d = 0; d < D; ++d) inputs.k.data()[j * D + d] = poison;
      for (std::size_t d = 0; d < Dv; ++d) inputs.v.data()[j * Dv + d] = poison;
    }
    Context context;
    const AttentionResult got = attention(context, inputs.q, inputs.k, inputs.v, options);
    for (std::size_t i = 1; i < L; i += 2) {
      for (std::size_t d = 0; d < Dv; ++d) {
        ASSERT_NEAR(got.output.data()[i * Dv + d], want.output.values[i * Dv + d], 1e-5)
            << "row " << i;
      }
    }
  }
}

}  // namespace
}  // namespace heed::test
