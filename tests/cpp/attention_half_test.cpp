// Attention of float16 and bfloat16 inputs: computed in float32, with results of the inputs' type.

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attention_support.hpp"

namespace heed::test {
namespace {

constexpr DType kHalves[] = {DType::kFloat16, DType::kBFloat16};

/// Half a unit in the last place, relative to the number.
double rounding(DType dtype) { return dtype == DType::kFloat16 ? 0x1p-11 : 0x1p-8; }

std::vector<std::uint16_t> bits_of(const Tensor& tensor) {
  std::vector<std::uint16_t> bits;
  if (tensor.dtype() == DType::kFloat16) {
    for (const Float16 half : tensor.data<Float16>()) bits.push_back(half.bits);
  } else {
    for (const BFloat16 half : tensor.data<BFloat16>()) bits.push_back(half.bits);
  }
  return bits;
}

TEST(AttentionOfHalves, ComputesInFloat32AndRoundsTheOutput) {
  Random random(1);
  Context context;
  const Inputs inputs = random_inputs(random, 2, 4, 2, 30, 150, 16, 9);
  const Tensor mask = random.biases({30, 150}, 20), sinks = random.reals({4});
  for (const DType dtype : kHalves) {
    SCOPED_TRACE(std::string(to_string(dtype)));
    const auto half = [&](const Tensor& x) { return cast(context, x, dtype); };
    const auto wide = [&](const Tensor& x) { return cast(context, x, DType::kFloat32); };
    const Tensor q = half(inputs.q), k = half(inputs.k), v = half(inputs.v);
    AttentionOptions options = with_everything({});
    options.mask = mask;
    options.sinks = sinks;
    options.is_causal = true;
    options.causal_alignment = CausalAlignment::kBottomRight;
    const AttentionResult got = attention(context, q, k, v, options);
    EXPECT_EQ(got.output.dtype(), dtype);
    const AttentionResult same = attention(context, wide(q), wide(k), wide(v), options);
    EXPECT_EQ(bits_of(got.output), bits_of(half(same.output)));
    for (const auto* tensor : {&got.weights, &got.lse, &got.scores, &got.entropy}) {
      ASSERT_TRUE(tensor->has_value());
      EXPECT_EQ((*tensor)->dtype(), DType::kFloat32);
    }

    const reference::AttentionResult want =
        reference::attention(wide(q), wide(k), wide(v), options);
    EXPECT_TRUE(close(wide(got.output), want.output, {1e-5, rounding(dtype) + 1e-5}));
    EXPECT_TRUE(close(got.weights, want.weights));
    EXPECT_TRUE(close(got.lse, want.lse));
  }
}

TEST(AttentionOfHalves, ReturnsPresentKeysAndValuesUnchanged) {
  Random random(2);
  Context context;
  for (const DType dtype : kHalves) {
    SCOPED_TRACE(std::string(to_string(dtype)));
    const auto half = [&](const Shape& shape) { return cast(context, random.reals(shape), dtype); };
    const Tensor q = half({1, 2, 2, 4}), k = half({1, 1, 2, 4}), v = half({1, 1, 2, 3}),
                 past_key = half({1, 1, 3, 4}), past_value = half({1, 1, 3, 3});
    AttentionOptions options;
    options.past_key = past_key;
    options.past_value = past_value;
    const AttentionResult got = attention(context, q, k, v, options);
    ASSERT_TRUE(got.present_key && got.present_value);
    EXPECT_EQ(got.present_key->dtype(), dtype);
    EXPECT_EQ(got.present_value->dtype(), dtype);
    const auto join = [](std::vector<std::uint16_t> a, const std::vector<std::uint16_t>& b) {
      a.insert(a.end(), b.begin(), b.end());
      return a;
    };
    EXPECT_EQ(bits_of(*got.present_key), join(bits_of(past_key), bits_of(k)));
    EXPECT_EQ(bits_of(*got.present_value), join(bits_of(past_value), bits_of(v)));
  }
}

TEST(AttentionOfHalves, AppendsToACache) {
  Random random(3);
  Context context;
  for (const DType dtype : kHalves) {
    SCOPED_TRACE(std::string(to_string(dtype)));
    const auto half = [&](const Shape& shape) { return cast(context, random.reals(shape), dtype); };
    const Tensor q = half({1, 2, 5, 4}), k = half({1, 1, 5, 4}), v = half({1, 1, 5, 4});
    KvCache::Options options;
    options.heads = 1;
    options.head_size = 4;
    options.capacity = 5;
    KvCache cache(context, options);
    AttentionOptions with_cache;
    with_cache.cache = &cache;
    EXPECT_EQ(bits_of(attention(context, q, k, v, with_cache).output),
              bits_of(attention(context, q, k, v).output));
    EXPECT_EQ(cache.length(0), 5);
  }
}

TEST(AttentionOfHalves, SupportsPackedSequencesAndJoinedHeads) {
  Random random(4);
  Context context;
  const Tensor x = cast(context, random.reals({7, 2, 4}), DType::kFloat16);
  const Tensor y = cast(context, random.reals({1, 7, 8}), DType::kFloat16);
  const auto wide = [&](const Tensor& tensor) { return cast(context, tensor, DType::kFloat32); };
  const Tensor starts = integers({3}, {0, 3, 7});
  AttentionOptions packed, joined;
  packed.cu_seqlens_q = starts;
  packed.cu_seqlens_k = starts;
  joined.heads = 2;
  const Tolerance tolerance{1e-5, 0x1p-11 + 1e-5};
  const Tensor got = attention(context, x, x, x, packed).output;
  EXPECT_EQ(got.dtype(), DType::kFloat16);
  EXPECT_TRUE(
      close(wide(got), reference::attention(wide(x), wide(x), wide(x), packed).output, tolerance));
  EXPECT_TRUE(close(wide(attention(context, y, y, y, joined).output),
                    reference::attention(wide(y), wide(y), wide(y), joined).output, tolerance));
}

TEST(AttentionOfHalves, KeepsScoresBeyondTheRangeOfFloat16) {
  // Scores of 200 * 200 * 16 = 640 000: the largest float16 is 65 504.
  Context context;
  const Tensor x = cast(context, filled({1, 1, 3, 16}, 200.0f), DType::kFloat16);
  AttentionOptions options = with_everything({});
  options.scale = 1.0f;
  const AttentionResult got = attention(context, x, x, x, options);
  EXPECT_EQ(got.scores->data()[0], 640000.0f);
  EXPECT_NEAR(got.weights->data()[0], 1.0 / 3.0, 1e-6);
  EXPECT_EQ(got.output.data<Float16>()[0].bits, x.data<Float16>()[0].bits);
}

TEST(AttentionOfHalves, RefusesMixedTypes) {
  Random random(5);
  Context context;
  const Tensor wide = random.reals({1, 1, 2, 4});
  const Tensor half = cast(context, wide, DType::kFloat16);
  const Tensor other = cast(context, wide, DType::kBFloat16);
  const Tensor want = attention(context, half, half, half).output;
  const auto expect_error = [&](const std::string& message, const TensorView& q,
                                const TensorView& k, const TensorView& v,
                                const AttentionOptions& options) {
    try {
      attention(context, q, k, v, options);
      ADD_FAILURE() << "was accepted: " << message;
    } catch (const DTypeError& error) {
      EXPECT_EQ(error.what(), message);
    }
    EXPECT_EQ(bits_of(attention(context, half, half, half).output), bits_of(want));
  };
  expect_error("k: expected float16, got float32", half, wide, half, {});
  expect_error("v: expected float16, got bfloat16", half, half, other, {});
  expect_error("k: expected float32, got float16", wide, half, wide, {});
  expect_error("v: expected float32, got bfloat16", wide, wide, other, {});
  AttentionOptions options;
  options.past_key = wide;
  options.past_value = wide;
  expect_error("past_key: expected bfloat16, got float32", other, other, other, options);
  options.past_key = other;
  expect_error("past_value: expected bfloat16, got float32", other, other, other, options);
  expect_error("past_key: expected float32, got bfloat16", wide, wide, wide, options);
  // Masks and biases are float32, like everything else.
  options = {};
  const Tensor bias = cast(context, filled({2}, 0.0f), DType::kFloat16);
  options.bias = bias;
  expect_error("bias: expected float32, got float16", half, half, half, options);
  options.bias.reset();
  options.mask = bias;
  expect_error("mask: expected bool or float32, got float16", half, half, half, options);
}

}  // namespace
}  // namespace heed::test
