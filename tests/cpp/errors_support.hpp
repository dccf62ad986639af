#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "attention_support.hpp"

namespace heed::test {

/// Checks that `call` throws an error with this code and the message "ARGUMENT: expected ..., got
/// GOT".
template <class Call>
void expect_refusal(ErrorCode code, std::string_view argument, std::string_view got,
                    const Call& call) {
  SCOPED_TRACE(testing::Message() << argument << ", got " << got);
  try {
    call();
    ADD_FAILURE() << "was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    const std::string message = error.what();
    const std::string begin = std::string(argument) + ": expected ";
    const std::string end = ", got " + std::string(got);
    EXPECT_EQ(message.substr(0, begin.size()), begin) << message;
    EXPECT_GT(message.size(), begin.size() + end.size()) << message;
    EXPECT_EQ(message.substr(message.size() - std::min(end.size(), message.size())), end)
        << message;
  }
}

/// Valid arguments, and a call with a known result: a refused call must change neither.
/// B 2, H 4, G 2, L 3, S 5, D 8, Dv 6.
class Refusals : public testing::Test {
 protected:
  Refusals()
      : random(1),
        q(random.reals({2, 4, 3, 8})),
        k(random.reals({2, 2, 5, 8})),
        v(random.reals({2, 2, 5, 6})),
        want(attention(context, q, k, v).output) {
    keep({&q, &k, &v});
  }

  /// Checks that no refused call changes these.
  void keep(std::initializer_list<const Tensor*> tensors) {
    for (const Tensor* tensor : tensors) {
      kept.push_back(tensor);
      before.emplace_back(tensor->data().begin(), tensor->data().end());
    }
  }

  template <class Call>
  void expect_error(ErrorCode code, std::string_view argument, std::string_view got,
                    const Call& call) {
    expect_refusal(code, argument, got, call);
    for (std::size_t n = 0; n < kept.size(); ++n) {
      EXPECT_TRUE(std::equal(before[n].begin(), before[n].end(), kept[n]->data().begin()))
          << "an argument was changed";
    }
    EXPECT_TRUE(same_bits(attention(context, q, k, v).output, want)) << "after the error";
  }

  /// Options of attention that are refused.
  void expect_error(ErrorCode code, std::string_view argument, std::string_view got,
                    const AttentionOptions& options) {
    expect_error(code, argument, got, [&] { attention(context, q, k, v, options); });
  }

  /// An option of attention that is refused.
  template <class Option, class Value>
  void expect_error(ErrorCode code, std::string_view argument, std::string_view got,
                    Option AttentionOptions::* option, const Value& value,
                    AttentionOptions options = {}) {
    options.*option = value;
    expect_error(code, argument, got, options);
  }

  using Options = AttentionOptions;

  Context context;
  Random random;
  Tensor q, k, v, want;
  std::vector<const Tensor*> kept;
  std::vector<std::vector<float>> before;
};

inline constexpr ErrorCode kShape = ErrorCode::kShape;
inline constexpr ErrorCode kDType = ErrorCode::kDType;
inline constexpr ErrorCode kOption = ErrorCode::kOption;

}  // namespace heed::test
