// Attention against the reference on random shapes and random combinations of every option, with
// every number of threads, and with NaN in hidden keys and values.

#include <cstdint>
#include <optional>

#include "attention_cases_support.hpp"

namespace heed::test {
namespace {

class AttentionCombinations : public testing::TestWithParam<std::uint32_t> {};

TEST_P(AttentionCombinations, MatchTheReferenceWithEveryNumberOfThreads) {
  Random random(GetParam() + 1000);
  Contexts contexts;
  for (int number = 0; number < 26 && !HasFailure(); ++number) {
    Case c = random_case(random);
    const bool is_poisoned = random.chance(50);
    if (is_poisoned) poison_keys(random, c, random.chance(30));
    SCOPED_TRACE(testing::Message() << "case " << number << ": " << c.description()
                                    << (is_poisoned ? " poisoned" : ""));
    // With the scale 1 instead of 1/sqrt(80), scores reach about 30, with rounding errors of 2e-6,
    // which are the relative errors of the weights. A softcap of 50 adds 50 times the error of
    // tanh, 2e-7, and ALiBi a few 1e-6.
    const Tolerance tolerance{3e-5, 3e-5};
    const reference::AttentionResult want = reference::attention(c.q, c.k, c.v, c.all_options());
    // Requesting other results must not change the output, though it may take another path.
    AttentionOptions some = c.all_options();
    some.need_weights = random.chance(50);
    some.need_lse = random.chance(50);
    some.capture_scores = random.chance(30);
    some.capture_capped = random.chance(30);
    some.capture_masked = random.chance(30);
    some.capture_entropy = random.chance(30);
    std::optional<AttentionResult> first, first_of_some;
    for (Context& context : contexts.all()) {
      SCOPED_TRACE(testing::Message() << context.threads() << " threads");
      AttentionResult got = attention(context, c.q, c.k, c.v, with_everything(c.all_options()));
      AttentionResult got_some = attention(context, c.q, c.k, c.v, some);
      if (!first) {
        expect_results(got, want, tolerance);
        EXPECT_TRUE(same_bits(got_some.output, got.output)) << "output beside other results";
        expect_results(got_some, want, tolerance);
        first = std::move(got);
        first_of_some = std::move(got_some);
      } else {
        expect_same_bits(got, *first);
        expect_same_bits(got_some, *first_of_some);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, AttentionCombinations, testing::Range(0u, 20u));

}  // namespace
}  // namespace heed::test
