// Every kind of bad input to the variants of attention: the type of the error, its message,
// unchanged arguments, and a context that remains usable.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attention_support.hpp"
#include "errors_support.hpp"

namespace heed::test {
namespace {

/// The valid arguments and packed ones: 7 queries, 9 keys.
class VariantErrors : public Refusals {
 protected:
  VariantErrors()
      : packed_q(random.reals({7, 4, 8})),
        packed_k(random.reals({9, 2, 8})),
        packed_v(random.reals({9, 2, 6})),
        starts_q(integers({3}, {0, 3, 7})),
        starts_k(integers({3}, {0, 5, 9})) {
    keep({&packed_q, &packed_k, &packed_v});
    packed.cu_seqlens_q = starts_q;
    packed.cu_seqlens_k = starts_k;
  }

  void expect_packed_error(ErrorCode code, std::string_view argument, std::string_view got,
                           const AttentionOptions& options) {
    expect_error(code, argument, got,
                 [&] { attention(context, packed_q, packed_k, packed_v, options); });
  }

  Tensor packed_q, packed_k, packed_v, starts_q, starts_k;
  AttentionOptions packed;
};

TEST_F(VariantErrors, AttentionRefusesWindowsBelowMinusOne) {
  for (const std::int64_t side : {std::int64_t{-2}, std::numeric_limits<std::int64_t>::min()}) {
    expect_error(kOption, "window_left", std::to_string(side), &Options::window_left, side);
    expect_error(kOption, "window_right", std::to_string(side), &Options::window_right, side);
  }
}

TEST_F(VariantErrors, AttentionRefusesNumbersOutsideTheirRange) {
  for (const float cap : {-1.0f, kInfinity, kNaN})
    expect_error(kOption, "softcap", MessagePart(cap).text(), &Options::softcap, cap);
  for (const double share : {-0.1, 1.0, 2.0, std::nan("")})
    expect_error(kOption, "dropout", MessagePart(share).text(), &Options::dropout, share);
}

TEST_F(VariantErrors, AttentionRefusesSlopesAndSinksOfAnotherShape) {
  for (const Shape& shape : {Shape{2}, Shape{5}, Shape{1}, Shape{}, Shape{4, 1}, Shape{0}}) {
    const Tensor numbers = random.reals(shape);
    expect_error(kShape, "sinks", to_string(shape), &Options::sinks, numbers);
    expect_error(kShape, "alibi_slopes", to_string(shape), &Options::alibi_slopes, numbers);
    AttentionOptions options = packed;
    options.sinks = numbers;
    expect_packed_error(kShape, "sinks", to_string(shape), options);
  }
  const Tensor integer = integers({4}, {1, 2, 3, 4});
  expect_error(kDType, "sinks", "int32", &Options::sinks, integer);
  expect_error(kDType, "alibi_slopes", "int32", &Options::alibi_slopes, integer);
}

TEST_F(VariantErrors, AttentionRefusesOffsetsOfAnotherShapeOrType) {
  const Tensor three = integers({3}, {1, 2, 3});
  const auto with = [&](ErrorCode code, std::string_view got, const Tensor& offset) {
    expect_error(code, "causal_offset", got, &Options::causal_offset, offset, causal());
  };
  with(kShape, "[3]", three);
  with(kShape, "[]", integers({}, {1}));
  with(kShape, "[2, 1]", integers({2, 1}, {1, 2}));
  with(kDType, "float32", random.reals({2}));
  packed.causal_offset = three;
  expect_packed_error(kShape, "causal_offset", "[3]", packed);
}

TEST_F(VariantErrors, AttentionRefusesBiasesThatDoNotBroadcast) {
  for (const Shape& shape : {Shape{6}, Shape{2, 5}, Shape{3, 6}, Shape{3, 3, 5}, Shape{3, 4, 3, 5},
                             Shape{1, 2, 4, 3, 5}})
    expect_error(kShape, "bias", to_string(shape), &Options::bias, random.reals(shape));
  expect_error(kDType, "bias", "bool", &Options::bias, random.bools({3, 5}, 50));
}

TEST_F(VariantErrors, AttentionRefusesABiasBesideAFloatMask) {
  const Tensor bias = random.reals({3, 5}), bits = random.bools({3, 5}, 50);
  AttentionOptions options;
  options.bias = bias;
  options.mask = bias;
  expect_error(kOption, "bias", "a float32 mask", options);
  options.mask = bits;
  EXPECT_NO_THROW(attention(context, q, k, v, options));
}

TEST_F(VariantErrors, AttentionRefusesAPastOfAnotherShape) {
  const Tensor key = random.reals({2, 2, 6, 8}), value = random.reals({2, 2, 6, 6});
  AttentionOptions options;
  options.past_key = key;
  expect_error(kOption, "past_value", "nothing", options);
  const auto with_value = [&](std::string_view got, const Tensor& past) {
    expect_error(kShape, "past_value", got, &Options::past_value, past, options);
  };
  with_value("[2, 2, 7, 6]", random.reals({2, 2, 7, 6}));
  with_value("[2, 2, 6, 8]", key);
  options.past_value = value;
  EXPECT_NO_THROW(attention(context, q, k, v, options));
  const auto with_key = [&](ErrorCode code, std::string_view got, const Tensor& past) {
    expect_error(code, "past_key", got, &Options::past_key, past, options);
  };
  with_key(kShape, "[1, 2, 6, 8]", random.reals({1, 2, 6, 8}));
  with_key(kShape, "[2, 4, 6, 8]", random.reals({2, 4, 6, 8}));
  with_key(kShape, "[2, 6, 16]", random.reals({2, 6, 16}));
  with_key(kDType, "int32", Tensor(Shape{2, 2, 6, 8}, DType::kInt32));
  options.past_key.reset();
  expect_error(kOption, "past_key", "nothing", options);
}

TEST_F(VariantErrors, AttentionRefusesLengthsBeyondThePastAndTheNewKeys) {
  const Tensor key = random.reals({2, 2, 6, 8}), value = random.reals({2, 2, 6, 6}),
               all = integers({2}, {11, 0}), beyond = integers({2}, {3, 12});
  AttentionOptions options;
  options.past_key = key;
  options.past_value = value;
  options.kv_lengths = all;
  EXPECT_NO_THROW(attention(context, q, k, v, options));
  options.kv_lengths = beyond;
  expect_error(kOption, "kv_lengths", "12", options);
}

TEST_F(VariantErrors, AttentionRefusesBlockMasksOfAnotherSize) {
  const auto all = [](auto...) { return true; };
  const auto with = [&](const BlockMask& mask, const char* got) {
    expect_error(kShape, "block_mask", got, &Options::block_mask, &mask);
  };
  with(BlockMask::from(1, 1, 4, 5, all), "4 and 5");
  with(BlockMask::from(1, 1, 3, 4, all), "3 and 4");
  with(BlockMask::from(3, 1, 3, 5, all), "[3, 1, 1, 1]");
  with(BlockMask::from(1, 2, 3, 5, all), "[1, 2, 1, 1]");
  const BlockMask good = BlockMask::from(2, 4, 3, 5, all);
  AttentionOptions options;
  options.block_mask = &good;
  EXPECT_TRUE(same_bits(attention(context, q, k, v, options).output, want));
}

TEST_F(VariantErrors, AttentionRefusesInvalidCuSeqlens) {
  const auto with_q = [&](ErrorCode code, const Tensor& starts, const char* got) {
    AttentionOptions options = packed;
    options.cu_seqlens_q = starts;
    expect_packed_error(code, "cu_seqlens_q", got, options);
  };
  const auto with_k = [&](ErrorCode code, const Tensor& starts, const char* got) {
    AttentionOptions options = packed;
    options.cu_seqlens_k = starts;
    expect_packed_error(code, "cu_seqlens_k", got, options);
  };
  with_q(kOption, integers({3}, {0, 8, 7}), "7 after 8");
  with_q(kOption, integers({3}, {0, -1, 7}), "-1 after 0");
  with_q(kOption, integers({3}, {0, 3, 6}), "6");
  with_q(kOption, integers({3}, {0, 3, 8}), "8");
  with_q(kOption, integers({3}, {1, 3, 7}), "1");
  with_q(kOption, integers({0}, {}), "none");
  with_q(kShape, integers({1, 3}, {0, 3, 7}), "[1, 3]");
  with_q(kDType, random.reals({3}), "float32");
  with_k(kOption, integers({3}, {0, 6, 5}), "5 after 6");
  with_k(kOption, integers({3}, {0, 5, 7}), "7");
  with_k(kShape, integers({4}, {0, 5, 5, 9}), "4");
  with_k(kDType, random.bools({3}, 50), "bool");
  AttentionOptions options = packed;
  options.cu_seqlens_k.reset();
  expect_packed_error(kOption, "cu_seqlens_k", "nothing", options);
  options = packed;
  options.cu_seqlens_q.reset();
  expect_packed_error(kOption, "cu_seqlens_q", "nothing", options);
}

TEST_F(VariantErrors, AttentionRefusesPackedInputsOfOtherShapes) {
  const auto run = [&](const Tensor& a, const Tensor& b, const Tensor& c) {
    return [&] { attention(context, a, b, c, packed); };
  };
  const Tensor deep = random.reals({7, 4, 1, 8}), three_heads = random.reals({9, 3, 8}),
               wide = random.reals({9, 2, 7}), shorter = random.reals({8, 2, 6}),
               numbers = Tensor(Shape{9, 2, 8}, DType::kInt32);
  expect_error(kShape, "q", "[7, 4, 1, 8]", run(deep, packed_k, packed_v));
  expect_error(kShape, "k", "3", run(packed_q, three_heads, packed_v));
  expect_error(kShape, "k", "[9, 2, 7]", run(packed_q, wide, packed_v));
  expect_error(kShape, "v", "[8, 2, 6]", run(packed_q, packed_k, shorter));
  expect_error(kDType, "k", "int32", run(packed_q, numbers, packed_v));
  packed.heads = 2;
  expect_packed_error(kOption, "heads", "2", packed);
  packed.heads = 4;
  packed.kv_heads = 4;
  expect_packed_error(kOption, "kv_heads", "4", packed);
}

TEST_F(VariantErrors, AttentionRefusesOptionsThatPackedSequencesExclude) {
  const Tensor bits = random.bools({}, 50), number = random.reals({}), lengths = integers({1}, {9}),
               past = random.reals({1, 2, 3, 8}), past_value = random.reals({1, 2, 3, 6});
  const BlockMask blocks = BlockMask::from(1, 1, 7, 9, [](auto...) { return true; });
  KvCache cache(context, {.heads = 2, .head_size = 8, .value_size = 6, .capacity = 20});
  const auto with = [&](const char* argument, auto change) {
    AttentionOptions options = packed;
    change(options);
    expect_packed_error(kOption, argument, "one", options);
  };
  with("mask", [&](auto& o) { o.mask = bits; });
  with("bias", [&](auto& o) { o.bias = number; });
  with("need_weights", [&](auto& o) { o.need_weights = true; });
  with("capture", [&](auto& o) { o.capture_scores = true; });
  with("capture", [&](auto& o) { o.capture_capped = true; });
  with("capture", [&](auto& o) { o.capture_masked = true; });
  with("kv_lengths", [&](auto& o) { o.kv_lengths = lengths; });
  with("past", [&](auto& o) { o.past_key = past; });
  with("past", [&](auto& o) { o.past_value = past_value; });
  with("past", [&](auto& o) { o.cache = &cache; });
  with("block_mask", [&](auto& o) { o.block_mask = &blocks; });
  EXPECT_EQ(cache.length(0), 0);
  EXPECT_NO_THROW(attention(context, packed_q, packed_k, packed_v, packed));
}

}  // namespace
}  // namespace heed::test
