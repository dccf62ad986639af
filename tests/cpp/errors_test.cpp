// Every kind of bad input: the type of the error, a message with the argument, the expected and the
// given value, unchanged arguments, and a context that remains usable.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attention_support.hpp"
#include "errors_support.hpp"

namespace heed::test {
namespace {

/// Valid arguments for every operation. Embedding size 8.
class Errors : public Refusals {
 protected:
  Errors()
      : joined_q(random.reals({2, 3, 32})),
        joined_k(random.reals({2, 5, 16})),
        joined_v(random.reals({2, 5, 12})),
        x(random.reals({2, 3, 8})),
        y(random.reals({2, 5, 8})),
        in_proj_weight(random.reals({24, 8})),
        square(random.reals({8, 8})),
        row(random.reals({8})) {
    keep({&joined_q, &joined_k, &joined_v, &x, &y, &in_proj_weight, &square, &row});
    parameters.in_proj_weight = in_proj_weight;
    parameters.out_proj_weight = square;
    parameters.out_proj_bias = row;
    heads.heads = 2;
    joined.heads = 4;
    joined.kv_heads = 2;
  }

  void expect_heads_error(ErrorCode code, std::string_view argument, std::string_view got,
                          const MultiHeadAttentionParameters& given,
                          const MultiHeadAttentionOptions& options) {
    expect_error(code, argument, got,
                 [&] { multi_head_attention(context, x, y, y, given, options); });
    if (argument == "mask") return;  // check_multi_head_attention leaves its check to attention
    expect_error(code, argument, got, [&] { check_multi_head_attention(x, y, y, given, options); });
  }

  Tensor joined_q, joined_k, joined_v, x, y, in_proj_weight, square, row;
  MultiHeadAttentionParameters parameters;
  MultiHeadAttentionOptions heads;
  AttentionOptions joined;
};

TEST(MessagePart, WritesIntegersInFullAndOthersWithSevenDigits) {
  EXPECT_EQ(MessagePart("x").text(), "x");
  EXPECT_EQ(MessagePart("at most ", 3).text(), "at most 3");
  EXPECT_EQ(MessagePart(std::size_t{7}).text(), "7");
  EXPECT_EQ(MessagePart("as ", Shape{2, 3}).text(), "as [2, 3]");
  EXPECT_EQ(MessagePart(DType::kBFloat16).text(), "bfloat16");
  for (const auto& [number, text] :
       std::vector<std::pair<double, std::string>>{{0.0, "0"},
                                                   {-0.0, "0"},
                                                   {-1.0, "-1"},
                                                   {0x1p40, "1099511627776"},
                                                   {0x1p53, "9.007199e+15"},
                                                   {0.1f, "0.1"},
                                                   {1.0f / 3, "0.3333333"},
                                                   {NAN, "NaN"},
                                                   {INFINITY, "Infinity"},
                                                   {-INFINITY, "-Infinity"},
                                                   {9999999.5, "1e+07"},
                                                   {0.99999999, "1"},
                                                   {1e-5, "1e-05"},
                                                   {0.0001, "0.0001"},
                                                   {-2.5e-7, "-2.5e-07"},
                                                   {5e-324, "4.940656e-324"},
                                                   {1.7976931348623157e308, "1.797693e+308"}})
    EXPECT_EQ(MessagePart(number).text(), text);
}

TEST_F(Errors, AttentionRefusesOtherRanks) {
  const Tensor flat(Shape{2, 8}), deep(Shape{1, 2, 4, 3, 8});
  expect_error(kShape, "q", "[2, 8]", [&] { attention(context, flat, k, v); });
  expect_error(kShape, "q", "[1, 2, 4, 3, 8]", [&] { attention(context, deep, k, v); });
  expect_error(kShape, "k", "[2, 8]", [&] { attention(context, q, flat, v); });
  expect_error(kShape, "k", "[2, 5, 16]", [&] { attention(context, q, joined_k, v); });
  expect_error(kShape, "v", "[2, 5, 12]", [&] { attention(context, q, k, joined_v); });
  expect_error(kShape, "v", "[2, 2, 5, 6]",
               [&] { attention(context, joined_q, joined_k, v, joined); });
}

TEST_F(Errors, AttentionRefusesOtherTypes) {
  const Tensor bits(Shape{2, 4, 3, 8}, DType::kBool), numbers(Shape{2, 2, 5, 8}, DType::kInt32);
  expect_error(kDType, "q", "bool", [&] { attention(context, bits, k, v); });
  expect_error(kDType, "k", "int32", [&] { attention(context, q, numbers, v); });
  expect_error(kDType, "v", "int32", [&] { attention(context, q, k, numbers); });
}

TEST_F(Errors, AttentionRefusesSizesThatDoNotFit) {
  const auto with_k = [&](const Shape& shape, const std::string& got) {
    const Tensor other = random.reals(shape);
    expect_error(kShape, "k", got, [&] { attention(context, q, other, v); });
  };
  const auto with_v = [&](const Shape& shape, const std::string& got) {
    const Tensor other = random.reals(shape);
    expect_error(kShape, "v", got, [&] { attention(context, q, k, other); });
  };
  with_k({3, 2, 5, 8}, "[3, 2, 5, 8]");
  with_k({2, 2, 5, 7}, "[2, 2, 5, 7]");
  with_k({2, 3, 5, 8}, "3");
  with_k({2, 8, 5, 8}, "8");
  with_k({2, 0, 5, 8}, "0");
  with_v({1, 2, 5, 6}, "[1, 2, 5, 6]");
  with_v({2, 4, 5, 6}, "[2, 4, 5, 6]");
  with_v({2, 2, 4, 6}, "[2, 2, 4, 6]");
}

TEST_F(Errors, AttentionRefusesHeadCountsThatDoNotFit) {
  const auto with_counts = [&](ErrorCode code, std::string_view argument, std::string_view got,
                               std::int64_t count, std::int64_t kv_count) {
    AttentionOptions options;
    options.heads = count;
    options.kv_heads = kv_count;
    expect_error(code, argument, got,
                 [&] { attention(context, joined_q, joined_k, joined_v, options); });
  };
  with_counts(kOption, "heads", "0", 0, 0);
  with_counts(kOption, "heads", "-4", -4, 2);
  with_counts(kOption, "kv_heads", "-2", 4, -2);
  with_counts(kShape, "q", "[2, 3, 32]", 5, 2);
  with_counts(kShape, "v", "[2, 5, 12]", 8, 8);
  with_counts(kShape, "k", "3", 4, 3);
  with_counts(kShape, "k", "[2, 5, 16]", 4, 4);
  with_counts(kShape, "k", "[2, 5, 16]", 2, 2);

  AttentionOptions options;
  options.heads = 3;
  expect_error(kOption, "heads", "3", options);
  options.heads = 4;
  options.kv_heads = 4;
  expect_error(kOption, "kv_heads", "4", options);
}

TEST_F(Errors, AttentionRefusesAScaleThatIsNotFinite) {
  for (const float scale : {kInfinity, kNaN})
    expect_error(kOption, "scale", MessagePart(scale).text(), &Options::scale, scale);
}

TEST_F(Errors, AttentionRefusesMasksThatDoNotBroadcast) {
  for (const Shape& shape : {Shape{6}, Shape{2, 5}, Shape{3, 6}, Shape{3, 3, 5}, Shape{2, 3, 5},
                             Shape{3, 4, 3, 5}, Shape{1, 0, 3, 5}, Shape{1, 2, 4, 3, 5}}) {
    expect_error(kShape, "mask", to_string(shape), &Options::mask, random.bools(shape, 50));
    expect_error(kShape, "mask", to_string(shape), &Options::mask, random.reals(shape));
  }
}

TEST_F(Errors, AttentionRefusesMasksOfIntegers) {
  expect_error(kDType, "mask", "int32", &Options::mask, Tensor(Shape{3, 5}, DType::kInt32));
}

TEST_F(Errors, AttentionRefusesBadLengths) {
  const auto with = [&](ErrorCode code, std::string_view got, const Tensor& lengths) {
    expect_error(code, "kv_lengths", got, &Options::kv_lengths, lengths);
  };
  with(kDType, "float32", random.reals({2}));
  with(kShape, "[3]", integers({3}, {1, 2, 3}));
  with(kShape, "[]", integers({}, {3}));
  with(kOption, "-1", integers({2}, {5, -1}));
  with(kOption, "6", integers({2}, {5, 6}));
}

TEST_F(Errors, MultiHeadAttentionRefusesInputsThatDoNotFit) {
  const auto call = [&](const TensorView& query, const TensorView& key, const TensorView& value) {
    return [&, query, key, value] {
      multi_head_attention(context, query, key, value, parameters, heads);
    };
  };
  const Tensor flat(Shape{2, 8}), other_batch(Shape{3, 5, 8}), other_length(Shape{2, 4, 8}),
      other_size(Shape{2, 5, 7}), numbers(Shape{2, 5, 8}, DType::kInt32);
  expect_error(kShape, "query", "[2, 8]", call(flat, y, y));
  expect_error(kShape, "key", "[2, 8]", call(x, flat, y));
  expect_error(kShape, "value", "[2, 8]", call(x, y, flat));
  expect_error(kDType, "query", "int32", call(numbers, y, y));
  expect_error(kDType, "key", "int32", call(x, numbers, y));
  expect_error(kDType, "value", "int32", call(x, y, numbers));
  expect_error(kShape, "key", "[3, 5, 8]", call(x, other_batch, other_batch));
  expect_error(kShape, "value", "[3, 5, 8]", call(x, y, other_batch));
  expect_error(kShape, "value", "[2, 4, 8]", call(x, y, other_length));
  expect_error(kShape, "key", "[2, 5, 7]", call(x, other_size, y));
  expect_error(kShape, "value", "[2, 5, 7]", call(x, y, other_size));
}

TEST_F(Errors, MultiHeadAttentionRefusesHeadsThatDoNotDivide) {
  for (const std::int64_t count : {0, -2, 3, 16}) {
    heads.heads = count;
    expect_heads_error(kOption, "heads", std::to_string(count), parameters, heads);
  }
}

TEST_F(Errors, MultiHeadAttentionRefusesMissingAndSuperfluousParameters) {
  MultiHeadAttentionParameters given = parameters;
  given.k_proj_weight = square;
  expect_heads_error(kOption, "k_proj_weight", "a tensor", given, heads);
  given = parameters;
  given.in_proj_weight.reset();
  expect_heads_error(kOption, "q_proj_weight", "nothing", given, heads);
  given.q_proj_weight = given.k_proj_weight = square;
  expect_heads_error(kOption, "v_proj_weight", "nothing", given, heads);
  given = parameters;
  given.out_proj_weight.reset();
  expect_heads_error(kOption, "out_proj_weight", "nothing", given, heads);
}

TEST_F(Errors, MultiHeadAttentionRefusesParametersThatDoNotFit) {
  const Tensor tall(Shape{25, 8}), wide(Shape{8, 9}), longer(Shape{9}),
      numbers(Shape{8, 8}, DType::kInt32);
  const auto with = [&](std::optional<TensorView> MultiHeadAttentionParameters::* member,
                        const Tensor& tensor, bool separate = false) {
    MultiHeadAttentionParameters given = parameters;
    if (separate) {
      given.in_proj_weight.reset();
      given.q_proj_weight = given.k_proj_weight = given.v_proj_weight = square;
    }
    given.*member = tensor;
    return given;
  };
  using P = MultiHeadAttentionParameters;
  expect_heads_error(kShape, "in_proj_weight", "[25, 8]", with(&P::in_proj_weight, tall), heads);
  expect_heads_error(kDType, "in_proj_weight", "int32", with(&P::in_proj_weight, numbers), heads);
  expect_heads_error(kShape, "in_proj_bias", "[9]", with(&P::in_proj_bias, longer), heads);
  expect_heads_error(kShape, "out_proj_weight", "[8, 9]", with(&P::out_proj_weight, wide), heads);
  expect_heads_error(kShape, "out_proj_bias", "[9]", with(&P::out_proj_bias, longer), heads);
  expect_heads_error(kShape, "q_proj_weight", "[8, 9]", with(&P::q_proj_weight, wide, true), heads);
  expect_heads_error(kShape, "k_proj_weight", "[8, 9]", with(&P::k_proj_weight, wide, true), heads);
  expect_heads_error(kDType, "v_proj_weight", "int32", with(&P::v_proj_weight, numbers, true),
                     heads);
}

TEST_F(Errors, MultiHeadAttentionRefusesMasksThatDoNotFit) {
  const Tensor transposed = random.bools({5, 2}, 50), floats = random.reals({2, 5}),
               good = random.bools({2, 5}, 50), too_long = random.reals({3, 6}),
               numbers(Shape{3, 5}, DType::kInt32);
  MultiHeadAttentionOptions options = heads;
  options.key_mask = transposed;
  expect_heads_error(kShape, "key_mask", "[5, 2]", parameters, options);
  options.key_mask = floats;
  expect_heads_error(kDType, "key_mask", "float32", parameters, options);
  for (const bool has_key_mask : {false, true}) {
    options = heads;
    if (has_key_mask) options.key_mask = good;
    options.mask = too_long;
    expect_heads_error(kShape, "mask", "[3, 6]", parameters, options);
    options.mask = numbers;
    expect_heads_error(kDType, "mask", "int32", parameters, options);
  }
}

TEST_F(Errors, AverageRefusesInvalidArguments) {
  const Tensor bits(Shape{2, 3, 8}, DType::kBool), other = random.bools({3, 2}, 50);
  AverageOptions options;
  expect_error(kShape, "x", "[8, 8]", [&] { average(context, square, options); });
  expect_error(kDType, "x", "bool", [&] { average(context, bits, options); });
  options.key_mask = other;
  expect_error(kShape, "key_mask", "[3, 2]", [&] { average(context, x, options); });
  options.key_mask = x;
  expect_error(kDType, "key_mask", "float32", [&] { average(context, x, options); });
}

TEST_F(Errors, SelfSimilarityRefusesInvalidArguments) {
  const Tensor bits(Shape{2, 3, 8}, DType::kBool);
  expect_error(kShape, "x", "[8, 8]", [&] { self_similarity(context, square); });
  expect_error(kDType, "x", "bool", [&] { self_similarity(context, bits); });
}

TEST_F(Errors, LinearRefusesInvalidArguments) {
  const Tensor scalar(Shape{}, {1}), wide(Shape{8, 9}), nine(Shape{9}),
      numbers(Shape{8, 8}, DType::kInt32);
  expect_error(kShape, "x", "[]", [&] { linear(context, scalar, square); });
  expect_error(kShape, "x", "[2, 3, 8]", [&] { linear(context, x, wide); });
  expect_error(kShape, "weight", "[8]", [&] { linear(context, x, row); });
  expect_error(kShape, "bias", "[9]", [&] { linear(context, x, square, nine); });
  expect_error(kDType, "x", "int32", [&] { linear(context, numbers, square); });
  expect_error(kDType, "weight", "int32", [&] { linear(context, x, numbers); });
  const Tensor halves = cast(context, square, DType::kFloat16),
               wider = cast(context, square, DType::kBFloat16);
  expect_error(kDType, "weight", "bfloat16", [&] { linear(context, x, wider); });
  expect_error(kDType, "x", "float16", [&] { linear(context, halves, square); });
  expect_error(kDType, "bias", "float16", [&] { linear(context, x, square, halves); });
  expect_error(kDType, "weight", "float16", [&] { PackedWeights(context, halves); });
  expect_error(kDType, "bias", "int32", [&] { linear(context, x, square, numbers); });
}

TEST_F(Errors, LinearBackwardRefusesInvalidArguments) {
  const Tensor scalar(Shape{}, {1}), wide(Shape{9, 8}), numbers(Shape{8, 8}, DType::kInt32);
  expect_error(kShape, "x", "[]", [&] { linear_backward(context, scalar, scalar, square); });
  expect_error(kShape, "x", "[8, 9]",
               [&] { linear_backward(context, x, Tensor(Shape{8, 9}), square); });
  expect_error(kShape, "d_output", "[2, 5, 8]", [&] { linear_backward(context, y, x, square); });
  expect_error(kShape, "d_output", "[2, 3, 8]", [&] { linear_backward(context, x, x, wide); });
  expect_error(kShape, "weight", "[8]", [&] { linear_backward(context, x, x, row); });
  expect_error(kDType, "x", "int32", [&] { linear_backward(context, x, numbers, square); });
  expect_error(kDType, "weight", "int32", [&] { linear_backward(context, x, x, numbers); });
  const Tensor halves = cast(context, square, DType::kFloat16);
  expect_error(kDType, "weight", "float16", [&] { linear_backward(context, x, x, halves); });
  expect_error(kDType, "d_output", "int32",
               [&] { linear_backward(context, numbers, square, square); });
}

TEST_F(Errors, SoftmaxRefusesScalarsAndOtherTypes) {
  const Tensor scalar(Shape{}, {1}), numbers(Shape{3}, DType::kInt32);
  expect_error(kShape, "x", "[]", [&] { softmax(context, scalar); });
  expect_error(kDType, "x", "int32", [&] { softmax(context, numbers); });
}

TEST_F(Errors, EmbeddingRefusesIdsOutsideTheTable) {
  const Tensor below = integers({2}, {0, -1}), above = integers({2, 2}, {0, 7, 8, 1}),
               numbers(Shape{8, 8}, DType::kInt32);
  expect_error(kOption, "ids", "-1", [&] { embedding(context, below, square); });
  expect_error(kOption, "ids", "8", [&] { embedding(context, above, square); });
  expect_error(kDType, "ids", "float32", [&] { embedding(context, row, square); });
  expect_error(kShape, "weight", "[8]", [&] { embedding(context, integers({1}, {0}), row); });
  expect_error(kDType, "weight", "int32", [&] { embedding(context, integers({1}, {0}), numbers); });
  expect_error(kShape, "ids", "[1, 1, 1, 1, 1, 1, 1, 1]",
               [&] { embedding(context, integers({1, 1, 1, 1, 1, 1, 1, 1}, {0}), square); });
}

TEST_F(Errors, SinusoidalEncodingRefusesNumbersOutOfRange) {
  SinusoidalOptions options;
  expect_error(kOption, "length", "-1", [&] { sinusoidal_encoding(context, -1, 4); });
  expect_error(kOption, "size", "-4", [&] { sinusoidal_encoding(context, 1, -4); });
  options.offset = -3;
  expect_error(kOption, "offset", "-3", [&] { sinusoidal_encoding(context, 1, 4, options); });
  options.offset = 0;
  for (const double base : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    options.base = base;
    expect_error(kOption, "base", MessagePart(base).text(),
                 [&] { sinusoidal_encoding(context, 1, 4, options); });
  }
}

}  // namespace
}  // namespace heed::test
