// Block masks: the same attention as with a mask of every pair, for all kinds of blocks.

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "attention_support.hpp"
#include "errors_support.hpp"

namespace heed::test {
namespace {

using MaySee = std::function<bool(std::int64_t, std::int64_t, std::int64_t, std::int64_t)>;

/// The same as a boolean mask [batch, heads, queries, keys].
Tensor dense(std::int64_t batch, std::int64_t heads, std::int64_t queries, std::int64_t keys,
             const MaySee& may_see) {
  Tensor mask(Shape{batch, heads, queries, keys}, DType::kBool);
  auto to = mask.data<bool>().begin();
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t h = 0; h < heads; ++h)
      for (std::int64_t q = 0; q < queries; ++q)
        for (std::int64_t k = 0; k < keys; ++k) *to++ = may_see(b, h, q, k);
  return mask;
}

std::vector<std::int32_t> kinds_of(const BlockMask& mask) {
  const auto kinds = mask.kinds().data<std::int32_t>();
  return {kinds.begin(), kinds.end()};
}

TEST(BlockMask, StoresBitsOfPartialBlocksOnly) {
  // 100 queries are three blocks of 48, 48, 4; 300 keys three of 128, 128, 44.
  const BlockMask mask = BlockMask::from(1, 1, 100, 300, [](auto, auto, auto q, auto k) {
    if (q < 48) return k < 128;
    if (q < 96) return k >= 130;
    return true;
  });
  EXPECT_EQ(mask.queries(), 100);
  EXPECT_EQ(mask.keys(), 300);
  EXPECT_EQ(mask.kinds().shape(), (Shape{1, 1, 3, 3}));
  constexpr std::int32_t E = BlockMask::kEmpty, F = BlockMask::kFull;
  EXPECT_EQ(kinds_of(mask), (std::vector<std::int32_t>{F, E, E, E, 0, F, F, F, F}));
  ASSERT_EQ(mask.bits().shape(), (Shape{1, 48, 128}));
  for (std::size_t j = 0; j < 128; ++j) {
    EXPECT_EQ(mask.bits().data<bool>()[5 * 128 + j], j >= 2) << "key " << j;
  }
}

TEST(BlockMask, CallsTheFunctionOncePerPair) {
  std::vector<int> asked(2 * 3 * 50 * 130);
  BlockMask::from(2, 3, 50, 130, [&](auto b, auto h, auto q, auto k) {
    EXPECT_TRUE(b >= 0 && b < 2 && h >= 0 && h < 3 && q >= 0 && q < 50 && k >= 0 && k < 130);
    ++asked[static_cast<std::size_t>(((b * 3 + h) * 50 + q) * 130 + k)];
    return true;
  });
  for (const int times : asked) ASSERT_EQ(times, 1);
}

TEST(BlockMask, EqualsABooleanMask) {
  Random random(1);
  const std::int64_t B = 2, H = 4, L = 150, S = 300;
  const Inputs inputs = random_inputs(random, B, H, 2, L, S, 8, 6);
  struct Named {
    const char* name;
    MaySee may_see;
  };
  const Named masks[] = {
      {"causal", [](auto, auto, auto q, auto k) { return k <= q; }},
      {"window", [](auto, auto, auto q, auto k) { return k <= q && k > q - 20; }},
      {"documents", [](auto, auto, auto q, auto k) { return q / 60 == k / 60; }},
      {"prefix", [](auto, auto, auto q, auto k) { return k < 40 || k <= q; }},
      {"dilated", [](auto, auto, auto q, auto k) { return (q - k) % 3 == 0; }},
      {"by batch and head", [](auto b, auto h, auto q, auto k) { return (q + k + b) % 5 > h; }},
      {"nothing", [](auto...) { return false; }},
      {"everything", [](auto...) { return true; }},
      {"no row of a kind", [](auto, auto, auto q, auto k) { return q % 2 == 0 && k > 2 * q; }},
  };
  Context context;
  for (const auto& [name, may_see] : masks) {
    SCOPED_TRACE(name);
    const BlockMask blocks = BlockMask::from(B, H, L, S, may_see);
    const Tensor pairs = dense(B, H, L, S, may_see);
    AttentionOptions by_block, by_pair;
    by_block.block_mask = &blocks;
    by_pair.mask = pairs;
    expect_reference(context, inputs, by_block);
    expect_same_bits(attention(context, inputs.q, inputs.k, inputs.v, with_everything(by_block)),
                     attention(context, inputs.q, inputs.k, inputs.v, with_everything(by_pair)));
  }
}

TEST(BlockMask, BroadcastsOverBatchAndHeads) {
  Random random(2);
  const std::int64_t B = 3, H = 4, L = 60, S = 140;
  const Inputs inputs = random_inputs(random, B, H, 2, L, S, 8, 8);
  const MaySee may_see = [](auto b, auto h, auto q, auto k) { return (q * 7 + k) % 6 != b + h; };
  Context context;
  for (const std::int64_t batch : {std::int64_t{1}, B}) {
    for (const std::int64_t heads : {std::int64_t{1}, H}) {
      SCOPED_TRACE(testing::Message() << "batch " << batch << " heads " << heads);
      const BlockMask blocks = BlockMask::from(batch, heads, L, S, may_see);
      const Tensor pairs = dense(batch, heads, L, S, may_see);
      AttentionOptions by_block, by_pair;
      by_block.block_mask = &blocks;
      by_pair.mask = pairs;
      expect_reference(context, inputs, by_block);
      EXPECT_TRUE(same_bits(attention(context, inputs.q, inputs.k, inputs.v, by_block).output,
                            attention(context, inputs.q, inputs.k, inputs.v, by_pair).output));
    }
  }
}

TEST(BlockMask, HandlesSizesThatAreNotMultiplesOfABlock) {
  Random random(3);
  Context context;
  const MaySee may_see = [](auto, auto, auto q, auto k) { return (q + k) % 3 != 0; };
  for (const std::int64_t L : {0, 1, 47, 48, 49, 97}) {
    for (const std::int64_t S : {0, 1, 127, 128, 129, 257}) {
      SCOPED_TRACE(testing::Message() << "L " << L << " S " << S);
      const BlockMask blocks = BlockMask::from(1, 1, L, S, may_see);
      AttentionOptions options;
      options.block_mask = &blocks;
      expect_reference(context, random_inputs(random, 1, 2, 1, L, S, 4, 4), options);
    }
  }
}

TEST(BlockMask, IntersectsWithEveryOtherMask) {
  Random random(4);
  const std::int64_t B = 2, H = 2, L = 100, S = 280;
  const Inputs inputs = random_inputs(random, B, H, 1, L, S, 8, 8);
  const BlockMask blocks = BlockMask::from(B, 1, L, S, [](auto b, auto, auto q, auto k) {
    return (q + b < 50 || k >= 128) && (k / 5 + q) % 4 != 0;
  });
  const Tensor lengths = integers({2}, {280, 133}), pairs = random.bools({H, L, S}, 70),
               bias = random.biases({1, S}, 20);
  Context context;
  for (int chosen = 0; chosen < 16; ++chosen) {
    SCOPED_TRACE(testing::Message() << "combination " << chosen);
    AttentionOptions options;
    options.block_mask = &blocks;
    options.is_causal = (chosen & 1) != 0;
    if ((chosen & 1) != 0) options.causal_alignment = CausalAlignment::kBottomRight;
    if ((chosen & 2) != 0) options.kv_lengths = lengths;
    if ((chosen & 4) != 0) options.mask = pairs;
    if ((chosen & 8) != 0) options.window_left = 70;
    if ((chosen & 8) != 0) options.bias = bias;
    expect_reference(context, inputs, options);
  }
}

TEST(BlockMask, DoesNotReadHiddenKeys) {
  // NaN in every key that the mask hides from all queries, in empty and in partial blocks, and in
  // one key that only the last query sees.
  Random random(5);
  const std::int64_t L = 100, S = 400;
  Inputs inputs = random_inputs(random, 1, 1, 1, L, S, 8, 8);
  const auto is_poisoned = [](std::int64_t k) { return k == 7 || (k > 100 && k < 300); };
  const BlockMask blocks = BlockMask::from(1, 1, L, S, [&](auto, auto, auto q, auto k) {
    return !is_poisoned(k) || (q == 99 && k == 7);
  });
  for (std::int64_t k = 0; k < S; ++k) {
    if (!is_poisoned(k)) continue;
    std::fill_n(inputs.k.data().begin() + k * 8, 8, kNaN);
    std::fill_n(inputs.v.data().begin() + k * 8, 8, kNaN);
  }
  AttentionOptions options;
  options.block_mask = &blocks;
  for (const int threads : kThreadCounts) {
    Context context = context_with_threads(threads);
    expect_reference(context, inputs, options);
    const Tensor output = attention(context, inputs.q, inputs.k, inputs.v, options).output;
    for (std::size_t i = 0; i < 99 * 8; ++i) ASSERT_TRUE(std::isfinite(output.data()[i]));
    EXPECT_TRUE(std::isnan(output.data()[99 * 8]));
  }
}

TEST(BlockMask, AcceptsGivenKindsAndBits) {
  // kFull overrides bits; two blocks may share one block of bits.
  Random random(6);
  const Inputs inputs = random_inputs(random, 1, 2, 2, 96, 256, 4, 4);
  const BlockMask blocks(96, 256, integers({1, 2, 2, 2}, {-2, 1, 1, -1, 0, 0, -1, -1}),
                         random.bools({2, 48, 128}, 50));
  AttentionOptions options;
  options.block_mask = &blocks;
  Context context;
  expect_reference(context, inputs, options);
}

TEST(BlockMask, RefusesInvalidKindsAndBits) {
  const auto make = [](std::int64_t queries, std::int64_t keys, Tensor kinds, Tensor bits) {
    BlockMask(queries, keys, std::move(kinds), std::move(bits));
  };
  const auto kinds = [](std::int32_t kind) { return integers({1, 1, 1, 2}, {kind, -1}); };
  const auto bits = [](std::int64_t count) {
    Tensor tensor(Shape{count, 48, 128}, DType::kBool);
    std::fill(tensor.data<bool>().begin(), tensor.data<bool>().end(), true);
    return tensor;
  };
  EXPECT_NO_THROW(make(48, 129, kinds(0), bits(1)));
  expect_refusal(ErrorCode::kOption, "queries", "-1", [&] { make(-1, 9, kinds(0), bits(1)); });
  expect_refusal(ErrorCode::kOption, "keys", "-9", [&] { make(9, -9, kinds(0), bits(1)); });
  expect_refusal(ErrorCode::kShape, "kinds", "[1, 1, 1, 2]",
                 [&] { make(49, 129, kinds(0), bits(1)); });
  expect_refusal(ErrorCode::kShape, "kinds", "[1, 1, 1, 2]",
                 [&] { make(48, 128, kinds(0), bits(1)); });
  expect_refusal(ErrorCode::kShape, "kinds", "[2]",
                 [&] { make(48, 129, integers({2}, {0, 0}), bits(1)); });
  expect_refusal(ErrorCode::kDType, "kinds", "float32",
                 [&] { make(48, 129, filled({1, 1, 1, 2}, 0.0f), bits(1)); });
  expect_refusal(ErrorCode::kDType, "bits", "float32",
                 [&] { make(48, 129, kinds(0), filled({1, 48, 128}, 1.0f)); });
  expect_refusal(ErrorCode::kShape, "bits", "[128]",
                 [&] { make(48, 129, kinds(0), Tensor(Shape{128}, DType::kBool)); });
  expect_refusal(ErrorCode::kShape, "bits", "[1, 48, 64]",
                 [&] { make(48, 129, kinds(0), Tensor(Shape{1, 48, 64}, DType::kBool)); });
  expect_refusal(ErrorCode::kOption, "kinds", "1", [&] { make(48, 129, kinds(1), bits(1)); });
  expect_refusal(ErrorCode::kOption, "kinds", "-3", [&] { make(48, 129, kinds(-3), bits(1)); });
}

TEST(BlockMask, PropagatesAnExceptionOfTheFunction) {
  struct Stop {};
  const auto stop = [](auto, auto, auto q, auto) -> bool {
    if (q == 60) throw Stop();
    return true;
  };
  EXPECT_THROW(BlockMask::from(1, 1, 100, 100, stop), Stop);
}

}  // namespace
}  // namespace heed::test
