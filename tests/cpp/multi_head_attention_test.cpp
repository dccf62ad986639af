// Multi-head attention against the reference: parameters, masks, weights.

#include "reference/multi_head_attention.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "support.hpp"

namespace heed::test {
namespace {

/// Inputs of rank 3 and every parameter that the sizes allow.
struct Model {
  Model(std::uint32_t seed, std::int64_t B, std::int64_t L, std::int64_t S, std::int64_t E,
        std::int64_t key_size, std::int64_t value_size)
      : random(seed) {
    query = random.reals({B, L, E});
    key = random.reals({B, S, key_size});
    value = random.reals({B, S, value_size});
    // Initialised as torch does: uniform with variance 2 / (in + out), which keeps the size of
    // numbers.
    const float bound = std::sqrt(3.0f / static_cast<float>(E));
    in_proj_weight = random.reals({3 * E, E}, -bound, bound);
    q_proj_weight = random.reals({E, E}, -bound, bound);
    k_proj_weight = random.reals({E, key_size}, -bound, bound);
    v_proj_weight = random.reals({E, value_size}, -bound, bound);
    in_proj_bias = random.reals({3 * E}, -0.5f, 0.5f);
    out_proj_weight = random.reals({E, E}, -bound, bound);
    out_proj_bias = random.reals({E}, -0.5f, 0.5f);
  }

  MultiHeadAttentionParameters packed() const {
    MultiHeadAttentionParameters parameters;
    parameters.in_proj_weight = in_proj_weight;
    parameters.in_proj_bias = in_proj_bias;
    parameters.out_proj_weight = out_proj_weight;
    parameters.out_proj_bias = out_proj_bias;
    return parameters;
  }

  MultiHeadAttentionParameters separate() const {
    MultiHeadAttentionParameters parameters = packed();
    parameters.in_proj_weight.reset();
    parameters.q_proj_weight = q_proj_weight;
    parameters.k_proj_weight = k_proj_weight;
    parameters.v_proj_weight = v_proj_weight;
    return parameters;
  }

  Random random;
  Tensor query, key, value;
  Tensor in_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight, in_proj_bias;
  Tensor out_proj_weight, out_proj_bias;
};

MultiHeadAttentionOptions with_heads(std::int64_t heads) {
  MultiHeadAttentionOptions options;
  options.heads = heads;
  return options;
}

/// Checks the output alone, with weights per head, and with their mean. The tolerance is for three
/// sums of up to E terms of order 1, one after another.
void expect_reference(Context& context, const TensorView& query, const TensorView& key,
                      const TensorView& value, const MultiHeadAttentionParameters& parameters,
                      MultiHeadAttentionOptions options) {
  const Tolerance tolerance{2e-5, 2e-5};
  const reference::MultiHeadAttentionResult want =
      reference::multi_head_attention(query, key, value, parameters, options);

  MultiHeadAttentionResult got =
      multi_head_attention(context, query, key, value, parameters, options);
  EXPECT_TRUE(close(got.output, want.output, tolerance)) << "output alone";
  EXPECT_FALSE(got.weights);

  options.need_weights = true;
  got = multi_head_attention(context, query, key, value, parameters, options);
  EXPECT_TRUE(close(got.output, want.output, tolerance)) << "output beside weights";
  EXPECT_TRUE(close(got.weights, want.weights, tolerance)) << "weights";

  options.average_weights = true;
  got = multi_head_attention(context, query, key, value, parameters, options);
  EXPECT_TRUE(close(got.output, want.output, tolerance)) << "output beside average weights";
  EXPECT_TRUE(close(got.weights, want.average_weights, tolerance)) << "average weights";
}

TEST(MultiHeadAttention, MatchesTheReferenceForSelfAttention) {
  const Model model(1, 2, 13, 13, 24, 24, 24);
  Context context;
  for (const std::int64_t heads : {1, 3, 24}) {
    expect_reference(context, model.query, model.query, model.query, model.packed(),
                     with_heads(heads));
  }
}

TEST(MultiHeadAttention, SupportsSeparateWeightsForKeysAndValuesOfOtherSizesAndMissingBiases) {
  const Model model(5, 2, 9, 17, 24, 10, 37);
  const Model same(6, 2, 9, 9, 24, 24, 24);
  Context context;
  for (const bool has_in_bias : {false, true}) {
    for (const bool has_out_bias : {false, true}) {
      SCOPED_TRACE(testing::Message() << "in " << has_in_bias << " out " << has_out_bias);
      MultiHeadAttentionParameters separate = model.separate(), packed = same.packed();
      if (!has_in_bias) {
        separate.in_proj_bias.reset();
        packed.in_proj_bias.reset();
      }
      if (!has_out_bias) {
        separate.out_proj_bias.reset();
        packed.out_proj_bias.reset();
      }
      expect_reference(context, model.query, model.key, model.value, separate, with_heads(2));
      expect_reference(context, same.query, same.query, same.query, packed, with_heads(2));
    }
  }
}

TEST(MultiHeadAttention, CombinesEveryMask) {
  Model model(7, 3, 12, 20, 16, 16, 16);
  const Tensor key_mask = model.random.bools({3, 20}, 70);
  Context context;
  for (const Shape& shape : {Shape{}, Shape{20}, Shape{1}, Shape{7}, Shape{12, 20}, Shape{12, 1},
                             Shape{12, 5}, Shape{4, 12, 20}, Shape{4, 1, 20}, Shape{3, 1, 12, 20},
                             Shape{3, 4, 12, 20}, Shape{1, 4, 1, 1}, Shape{3, 1, 1, 9}}) {
    SCOPED_TRACE("mask " + to_string(shape));
    const Tensor visible = model.random.bools(shape, 70);
    const Tensor bias = model.random.biases(shape, 30);
    for (const Tensor* mask : {&visible, &bias}) {
      for (int combination = 0; combination < 4; ++combination) {
        MultiHeadAttentionOptions options = with_heads(4);
        options.mask = *mask;
        options.is_causal = (combination & 1) != 0;
        if ((combination & 2) != 0) options.key_mask = key_mask;
        expect_reference(context, model.query, model.key, model.value, model.packed(), options);
      }
    }
  }
}

TEST(MultiHeadAttention, HidesKeysByTheKeyMaskAlone) {
  Model model(8, 3, 12, 20, 16, 16, 16);
  const Tensor key_mask = model.random.bools({3, 20}, 60);
  Context context;
  for (const bool is_causal : {false, true}) {
    MultiHeadAttentionOptions options = with_heads(4);
    options.key_mask = key_mask;
    options.is_causal = is_causal;
    expect_reference(context, model.query, model.key, model.value, model.packed(), options);
  }
}

TEST(MultiHeadAttention, ReturnsTheOutputBiasForQueriesThatSeeNothing) {
  const Model model(9, 2, 5, 6, 8, 8, 8);
  const Tensor key_mask = bools({2, 6}, {true, true, true, true, true, true,  //
                                         false, false, false, false, false, false});
  MultiHeadAttentionOptions options = with_heads(2);
  options.key_mask = key_mask;
  options.need_weights = true;
  Context context;
  const MultiHeadAttentionResult result =
      multi_head_attention(context, model.query, model.key, model.value, model.packed(), options);
  ASSERT_TRUE(result.weights);
  for (std::size_t i = 5 * 8; i < 2 * 5 * 8; ++i) {
    EXPECT_EQ(result.output.data()[i], model.out_proj_bias.data()[i % 8]);
  }
  for (std::size_t i = 2 * 5 * 6; i < 2 * 2 * 5 * 6; ++i) {
    EXPECT_EQ(result.weights->data()[i], 0.0f);
  }
}

TEST(MultiHeadAttention, HandlesEmptyAndSingleSequences) {
  Context context;
  for (const auto& [B, L, S] :
       {std::array<std::int64_t, 3>{0, 3, 3}, {2, 0, 3}, {2, 3, 0}, {1, 1, 1}}) {
    SCOPED_TRACE(testing::Message() << "B " << B << " L " << L << " S " << S);
    const Model model(10, B, L, S, 6, 5, 7);
    expect_reference(context, model.query, model.key, model.value, model.separate(), with_heads(2));
  }
}

TEST(MultiHeadAttention, ReturnsTheSameBitsForAnyNumberOfThreads) {
  const Model model(11, 2, 150, 170, 96, 96, 96);
  MultiHeadAttentionOptions options = with_heads(6);
  options.need_weights = true;
  options.average_weights = true;
  options.is_causal = true;
  expect_same_bits_for_any_threads([&](Context& context) {
    MultiHeadAttentionResult got =
        multi_head_attention(context, model.query, model.key, model.value, model.packed(), options);
    return list_of(std::move(got.output), std::move(got.weights));
  });
}

}  // namespace
}  // namespace heed::test
