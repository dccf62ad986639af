// Contexts and their thread pools: threads, also threads that stop, the choice of an instruction
// set, independence. include/heed/context.hpp, src/runtime/thread_pool.hpp.

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "attention_support.hpp"
#include "runtime/thread_pool.hpp"

namespace heed::test {
namespace {

/// Sets HEED_ISA until the end of the scope.
class IsaVariable {
 public:
  explicit IsaVariable(const char* value) {
    if (const char* old = std::getenv("HEED_ISA")) old_ = old;
    set(value);
  }
  ~IsaVariable() { set(old_ ? old_->c_str() : nullptr); }
  IsaVariable(const IsaVariable&) = delete;
  IsaVariable& operator=(const IsaVariable&) = delete;

 private:
  static void set(const char* value) {
    if (value == nullptr) {
      unsetenv("HEED_ISA");
    } else {
      setenv("HEED_ISA", value, 1);
    }
  }

  std::optional<std::string> old_;
};

Context context_with_isa(std::string_view isa) {
  Context::Options options;
  options.isa = isa;
  return Context(options);
}

/// 2^-24 if a multiplication and an addition are rounded together, 0 if each is rounded.
float fused_rounding(Context& context) {
  const float a = 1.0f + 0x1p-12f;
  const Tensor x(Shape{1, 2}, {1.0f, a});
  const Tensor weight(Shape{1, 2}, {-(1.0f + 0x1p-11f), a});
  // With packed weights the register block computes the product, which adds terms one by one.
  return linear(context, x, PackedWeights(context, weight)).data()[0];
}

TEST(Context, HasOneThreadByDefault) { EXPECT_EQ(Context().threads(), 1); }

TEST(Context, HasTheRequestedThreads) {
  for (const int threads : kThreadCounts) {
    EXPECT_EQ(context_with_threads(threads).threads(), threads);
  }
}

TEST(Context, HasOneThreadPerCoreForZero) {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  EXPECT_EQ(context_with_threads(0).threads(), std::max(cores, 1));
}

TEST(Context, RefusesNegativeThreads) {
  try {
    const Context context = context_with_threads(-2);
    FAIL() << "accepted " << context.threads();
  } catch (const OptionError& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.find("threads: expected "), 0u) << message;
    EXPECT_NE(message.find(", got -2"), std::string::npos) << message;
  }
}

TEST(Context, ListsEachInstructionSetOnce) {
  const auto isas = Context::available_isas();
  ASSERT_FALSE(isas.empty());
  EXPECT_EQ(std::set<std::string_view>(isas.begin(), isas.end()).size(), isas.size());
}

TEST(Context, ChoosesTheBestInstructionSetByDefault) {
  const IsaVariable unset(nullptr);
  EXPECT_EQ(Context().isa(), Context::available_isas().front());
}

TEST(Context, RunsTheRequestedInstructionSet) {
  Random random(1);
  const Inputs inputs = random_inputs(random, 1, 4, 2, 37, 61, 24, 20);
  for (const std::string_view isa : Context::available_isas()) {
    SCOPED_TRACE(isa);
    Context context = context_with_isa(isa);
    EXPECT_EQ(context.isa(), isa);
    expect_reference(context, inputs);
    // The rounding shows that the kernels of this instruction set ran.
    const bool fuses = isa != "sse4.2";
    EXPECT_EQ(fused_rounding(context), fuses ? 0x1p-24f : 0.0f);
  }
}

TEST(Context, ReadsTheInstructionSetFromTheEnvironment) {
  for (const std::string_view isa : Context::available_isas()) {
    const IsaVariable variable(std::string(isa).c_str());
    EXPECT_EQ(Context().isa(), isa);
    EXPECT_EQ(context_with_threads(2).isa(), isa);
  }
}

TEST(Context, PrefersTheOptionToTheEnvironment) {
  const auto isas = Context::available_isas();
  const IsaVariable variable(std::string(isas.front()).c_str());
  EXPECT_EQ(context_with_isa(isas.back()).isa(), isas.back());
}

TEST(Context, RefusesAnUnknownInstructionSet) {
  const auto expect_refusal = [](const auto& make) {
    try {
      const Context context = make();
      FAIL() << "took " << context.isa();
    } catch (const OptionError& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find("expected "), std::string::npos) << message;
      EXPECT_NE(message.find("mmx"), std::string::npos) << message;
      for (const std::string_view isa : Context::available_isas()) {
        EXPECT_NE(message.find(isa), std::string::npos) << message;
      }
    }
  };
  expect_refusal([] { return context_with_isa("mmx"); });
  const IsaVariable variable("mmx");
  expect_refusal([] { return Context(); });
}

TEST(Context, IgnoresAnEmptyEnvironmentVariable) {
  const IsaVariable variable("");
  EXPECT_EQ(Context().isa(), Context::available_isas().front());
}

TEST(Context, WorksAfterAMove) {
  Random random(2);
  const Inputs inputs = random_inputs(random, 1, 2, 2, 37, 61, 24, 20);
  Context first = context_with_threads(3);
  const AttentionResult want = attention(first, inputs.q, inputs.k, inputs.v);
  Context second = std::move(first);
  EXPECT_EQ(second.threads(), 3);
  EXPECT_TRUE(same_bits(attention(second, inputs.q, inputs.k, inputs.v).output, want.output));
  Context third;
  third = std::move(second);
  EXPECT_EQ(third.threads(), 3);
  EXPECT_TRUE(same_bits(attention(third, inputs.q, inputs.k, inputs.v).output, want.output));
}

TEST(Context, RunsConcurrentlyWithOthers) {
  Random random(3);
  const Inputs inputs = random_inputs(random, 2, 4, 2, 50, 130, 24, 20);
  Context alone;
  const AttentionResult want = attention(alone, inputs.q, inputs.k, inputs.v);
  std::vector<Tensor> results(4);
  std::vector<std::thread> threads;
  for (std::size_t n = 0; n < results.size(); ++n) {
    threads.emplace_back([&, n] {
      Context context = context_with_threads(1 + static_cast<int>(n) % 3);
      for (int repeat = 0; repeat < 5; ++repeat) {
        results[n] = attention(context, inputs.q, inputs.k, inputs.v).output;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Tensor& result : results) EXPECT_TRUE(same_bits(result, want.output));
}

TEST(Context, CanBeDestroyedWithoutAnyWork) {
  for (int repeat = 0; repeat < 50; ++repeat) {
    for (const int threads : kThreadCounts)
      EXPECT_EQ(context_with_threads(threads).threads(), threads);
  }
}

/// The message of StoppedError when two pieces or more are shared among threads.
template <class Task>
std::string why_stopped(ThreadPool& pool, const Task& task) {
  try {
    pool.run(8, 1e9, task);
  } catch (const StoppedError& error) {
    return error.what();
  }
  return "nothing";
}

TEST(ThreadPool, SharesSmallTasksOnceManyHaveFollowedEachOther) {
  ThreadPool pool(2);
  std::atomic<bool> is_shared = false;
  const auto task = [&](std::int64_t, int thread) {
    if (thread == 1) is_shared = true;
  };
  // The worker spins after its start. Once it sleeps, a single small task does not wake it.
  int tries = 0;
  do {
    is_shared = false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    pool.run(8, 3e5, task);
  } while (is_shared && ++tries < 1000);
  EXPECT_FALSE(is_shared);
  for (int call = 0; call < 1'000'000 && !is_shared; ++call) pool.run(8, 3e5, task);
  EXPECT_TRUE(is_shared);
  is_shared = false;
  for (int call = 0; call < 1000; ++call) pool.run(8, 1e5, task);
  EXPECT_FALSE(is_shared);
}

TEST(ThreadPool, ThrowsWhenAThreadStopsInTheMiddleOfItsPiece) {
  for (const int threads : {2, 3, 8}) {
    ThreadPool pool(threads);
    std::atomic<bool> has_stopped = false;
    // The caller's first piece lasts until another thread has taken one.
    const auto task = [&](std::int64_t, int thread) {
      if (thread == 0) {
        while (!has_stopped) std::this_thread::yield();
      } else if (!has_stopped.exchange(true)) {
        pool.stopped(thread, "a trap");
        pthread_exit(nullptr);
      }
    };
    EXPECT_EQ(why_stopped(pool, task), "a trap");
    EXPECT_EQ(why_stopped(pool, task), "a trap");
    int pieces = 0;
    pool.run(8, 1.0, [&](std::int64_t, int) { ++pieces; });
    EXPECT_EQ(pieces, 8);
  }
}

TEST(ThreadPool, ThrowsAfterAThreadHasStoppedThatWaited) {
  ThreadPool pool(3);
  const auto task = [](std::int64_t, int) {};
  EXPECT_EQ(why_stopped(pool, task), "nothing");
  pool.stopped(1, "no clock");
  pool.stopped(2, "another one");
  EXPECT_EQ(why_stopped(pool, task), "no clock");
}

}  // namespace
}  // namespace heed::test
