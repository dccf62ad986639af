// Bad input that only C++ can pass, and some bad input for each operation. The tests check the type
// of the error, and that its message has the argument, the expected and the given value. They check
// that arguments are unchanged, and that the context remains usable. tests/js/refusals tests all
// other bad input.

#include <cmath>
#include <cstdint>
#include <limits>
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

TEST_F(Errors, AttentionRefusesNegativeHeadCounts) {
  AttentionOptions options;
  options.heads = -4;
  const auto call = [&] { attention(context, joined_q, joined_k, joined_v, options); };
  expect_error(kOption, "heads", "-4", call);
  options.heads = 4;
  options.kv_heads = -2;
  expect_error(kOption, "kv_heads", "-2", call);
}

TEST_F(Errors, AttentionRefusesAScaleThatIsNotFinite) {
  for (const float scale : {kInfinity, kNaN})
    expect_error(kOption, "scale", MessagePart(scale).text(), &Options::scale, scale);
}

TEST_F(Errors, MultiHeadAttentionRefusesHeadsThatDoNotDivide) {
  for (const std::int64_t count : {0, -2, 3, 16}) {
    heads.heads = count;
    expect_heads_error(kOption, "heads", std::to_string(count), parameters, heads);
  }
}

TEST_F(Errors, MultiHeadAttentionRefusesParametersThatDoNotFit) {
  const Tensor numbers(Shape{24, 8}, DType::kInt32);
  parameters.in_proj_weight = numbers;
  expect_heads_error(kDType, "in_proj_weight", "int32", parameters, heads);
  parameters.in_proj_weight.reset();
  parameters.q_proj_weight = row;
  expect_heads_error(kShape, "q_proj_weight", "[8]", parameters, heads);
}

TEST_F(Errors, AverageRefusesInvalidArguments) {
  AverageOptions options;
  options.key_mask = x;
  expect_error(kDType, "key_mask", "float32", [&] { average(context, x, options); });
}

TEST_F(Errors, SelfSimilarityRefusesInvalidArguments) {
  const Tensor bits(Shape{2, 3, 8}, DType::kBool);
  expect_error(kShape, "x", "[8, 8]", [&] { self_similarity(context, square); });
  expect_error(kDType, "x", "bool", [&] { self_similarity(context, bits); });
}

TEST_F(Errors, LinearRefusesInvalidArguments) {
  const Tensor halves = cast(context, square, DType::kFloat16),
               wider = cast(context, square, DType::kBFloat16);
  expect_error(kDType, "weight", "bfloat16", [&] { linear(context, x, wider); });
  expect_error(kDType, "x", "float16", [&] { linear(context, halves, square); });
  expect_error(kDType, "bias", "float16", [&] { linear(context, x, square, halves); });
  expect_error(kDType, "weight", "float16", [&] { PackedWeights(context, halves); });
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
  for (const std::int32_t id : {-1, 8}) {
    const Tensor ids = integers({2, 2}, {0, 7, id, 1});
    expect_error(kOption, "ids", std::to_string(id), [&] { embedding(context, ids, square); });
  }
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
