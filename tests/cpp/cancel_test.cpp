// Cancelled calls throw and leave their arguments unchanged, and the context stays usable:
// include/heed/context.hpp.

#include <atomic>
#include <chrono>
#include <thread>

#include "attention_support.hpp"

namespace heed::test {
namespace {

constexpr int kThreadsTried[] = {1, 3};

AttentionResult attend(Context& context, const Inputs& inputs, KvCache* cache = nullptr) {
  AttentionOptions options;
  options.cache = cache;
  return attention(context, inputs.q, inputs.k, inputs.v, options);
}

TEST(Cancelling, EndsOperationsUntilAnotherCallBegins) {
  Random random(1);
  const Inputs inputs = random_inputs(random, 1, 2, 2, 300, 300, 16, 16);
  for (const int threads : kThreadsTried) {
    Context context = context_with_threads(threads);
    const Tensor want = attend(context, inputs).output;
    context.call() = 7;
    attend(context, inputs);
    context.call() = Context::kCancelled;
    EXPECT_THROW(attend(context, inputs), CancelledError);
    EXPECT_THROW(add(context, inputs.q, inputs.q), CancelledError);
    context.call() = 0;
    EXPECT_TRUE(std::ranges::equal(attend(context, inputs).output.data(), want.data()));
  }
}

TEST(Cancelling, HasACodeAndAMessage) {
  Context context;
  context.call() = Context::kCancelled;
  try {
    attend(context,
           Inputs{Tensor(Shape{1, 1, 1, 4}), Tensor(Shape{1, 1, 1, 4}), Tensor(Shape{1, 1, 1, 4})});
    FAIL() << "not cancelled";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCancelled);
    EXPECT_EQ(std::string(error.what()), "call: expected to finish, got cancelled");
  }
}

TEST(Cancelling, ReachesAnOperationThatRuns) {
  Random random(2);
  // Seconds of work.
  const Inputs inputs = random_inputs(random, 1, 16, 16, 8192, 8192, 64, 64);
  for (const int threads : kThreadsTried) {
    Context context = context_with_threads(threads);
    context.call() = 1;
    std::thread canceller([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      context.call() = Context::kCancelled;
    });
    EXPECT_THROW(attend(context, inputs), CancelledError);
    canceller.join();
  }
}

TEST(Cancelling, LeavesACacheAsItWas) {
  Random random(3);
  const Inputs past = random_inputs(random, 1, 2, 2, 200, 200, 16, 16);
  // The second one is a decode step, which another kernel computes.
  for (const std::int64_t tokens : {150, 1}) {
    const Inputs next = random_inputs(random, 1, 2, 2, tokens, tokens, 16, 16);
    for (const bool is_rolling : {false, true}) {
      Context context;
      const KvCache::Options options{.heads = 2,
                                     .head_size = 16,
                                     .capacity = is_rolling ? 220 : 400,
                                     .is_rolling = is_rolling};
      KvCache cache(context, options), untouched(context, options);
      attend(context, past, &cache);
      attend(context, past, &untouched);
      const std::int64_t first = cache.first(0);
      context.call() = Context::kCancelled;
      EXPECT_THROW(attend(context, next, &cache), CancelledError);
      context.call() = 0;
      EXPECT_EQ(cache.length(0), 200);
      EXPECT_EQ(cache.first(0), first);
      const Tensor got = attend(context, next, &cache).output;
      EXPECT_TRUE(std::ranges::equal(got.data(), attend(context, next, &untouched).output.data()));
    }
  }
}

TEST(Cancelling, DoesNotInterruptWhatChangesItsArguments) {
  Random random(4);
  const Shape shape{100, 100};
  const auto step = [&](Context& context) {
    Random same(5);
    Tensor parameter = same.reals(shape), gradient = same.reals(shape);
    Tensor average = filled(shape, 0.0f), squares = filled(shape, 0.0f);
    adam_step(context, parameter, gradient, average, squares, 1, {});
    sgd_step(context, parameter, gradient, nullptr, true, {});
    return parameter;
  };
  Context context;
  const Tensor want = step(context);
  context.call() = Context::kCancelled;
  EXPECT_TRUE(std::ranges::equal(step(context).data(), want.data()));
}

TEST(Cancelling, LeavesGradientsThatAreNotScaledYetAsTheyWere) {
  Random random(6);
  Context context;
  Tensor gradient = random.reals(Shape{100, 100});
  const std::vector<float> before(gradient.data().begin(), gradient.data().end());
  Tensor* const gradients[] = {&gradient};
  context.call() = Context::kCancelled;
  EXPECT_THROW(clip_gradients(context, gradients, 0.1), CancelledError);
  EXPECT_TRUE(std::ranges::equal(gradient.data(), before));
}

}  // namespace
}  // namespace heed::test
