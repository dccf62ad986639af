// Bad input to the variants of attention, as in errors_test.cpp.

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

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

TEST_F(VariantErrors, AttentionRefusesOffsetsOfAnotherType) {
  expect_error(kDType, "causal_offset", "float32", &Options::causal_offset, random.reals({2}));
}

TEST_F(VariantErrors, AttentionRefusesHalfAPast) {
  const Tensor key = random.reals({2, 2, 6, 8}), value = random.reals({2, 2, 6, 6}),
               numbers(Shape{2, 2, 6, 8}, DType::kInt32);
  expect_error(kOption, "past_value", "nothing", &Options::past_key, key);
  expect_error(kOption, "past_key", "nothing", &Options::past_value, value);
  AttentionOptions options;
  options.past_value = value;
  expect_error(kDType, "past_key", "int32", &Options::past_key, numbers, options);
}

TEST_F(VariantErrors, AttentionRefusesInvalidCuSeqlens) {
  const auto with = [&](ErrorCode code, std::optional<TensorView> AttentionOptions::* option,
                        const char* argument, const std::optional<TensorView>& starts,
                        const char* got) {
    AttentionOptions options = packed;
    options.*option = starts;
    expect_packed_error(code, argument, got, options);
  };
  const auto q_starts = &Options::cu_seqlens_q, k_starts = &Options::cu_seqlens_k;
  with(kOption, q_starts, "cu_seqlens_q", integers({3}, {0, -1, 7}), "-1 after 0");
  with(kShape, q_starts, "cu_seqlens_q", integers({1, 3}, {0, 3, 7}), "[1, 3]");
  with(kOption, q_starts, "cu_seqlens_q", std::nullopt, "nothing");
  with(kShape, k_starts, "cu_seqlens_k", integers({4}, {0, 5, 5, 9}), "4");
  with(kDType, k_starts, "cu_seqlens_k", random.bools({3}, 50), "bool");
  with(kOption, k_starts, "cu_seqlens_k", std::nullopt, "nothing");
}

}  // namespace
}  // namespace heed::test
