#pragma once

// Refuses every allocation of an operation once. The operation must throw or give the right result.
// Nothing may leak or stay half-written, and the next call gives the same bits as if no allocation
// had been refused.

#include <atomic>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>

#include "support.hpp"

namespace heed::test {

/// Counts the allocations of the program, and refuses some.
struct Allocations {
  static constexpr std::int64_t kNever = std::int64_t{1} << 60;

  std::atomic<std::int64_t> alive = 0;
  std::atomic<std::int64_t> until_refusal = kNever;
  std::atomic<std::int64_t> refused = 0;
  std::atomic<bool> refuses_all_later = false;

  void* take(std::size_t bytes) noexcept {
    const std::int64_t left = until_refusal--;
    if (left == 0 || (left < 0 && refuses_all_later)) {
      ++refused;
      return nullptr;
    }
    void* const memory = std::malloc(bytes == 0 ? 1 : bytes);
    if (memory) ++alive;
    return memory;
  }
  void give_back(void* memory) noexcept {
    if (memory) --alive;
    std::free(memory);
  }
};

extern Allocations allocations;

using Tensors = std::vector<Tensor>;

/// Makes the arguments and objects that an operation uses, and returns the operation.
using Prepare = std::function<std::function<Tensors()>(Context&)>;

enum class Refused { kOne, kAllFromThere };

/// Refuses the n-th allocation from now on. Returns whether the operation threw.
template <class Operation>
bool throws_at(std::int64_t n, Refused refusals, const Operation& operation) {
  allocations.refused = 0;
  allocations.refuses_all_later = refusals == Refused::kAllFromThere;
  allocations.until_refusal = n;
  bool throws = true;
  try {
    operation();
    throws = false;
  } catch (const MemoryError&) {
  } catch (const std::bad_alloc&) {
  }
  allocations.until_refusal = Allocations::kNever;
  return throws;
}

/// Calls the operation with its n-th allocation refused, for each n until none is.
inline void expect_survival(int threads, Refused refusals, const Prepare& prepare) {
  const std::int64_t alive_before = allocations.alive;
  {
    Context alone = context_with_threads(threads);
    const Tensors want = prepare(alone)();
    std::int64_t thrown = 0;
    for (std::int64_t n = 0;; ++n) {
      Context context = context_with_threads(threads);
      const auto operation = prepare(context);
      Tensors got;
      if (throws_at(n, refusals, [&] { got = operation(); })) {
        ++thrown;
        got = operation();
      }
      ASSERT_EQ(got.size(), want.size());
      for (std::size_t i = 0; i < want.size(); ++i)
        ASSERT_TRUE(same_bits(got[i], want[i])) << "allocation " << n << ", result " << i;
      if (allocations.refused == 0) break;
    }
    EXPECT_GT(thrown, 0) << "it allocates nothing";
  }
  EXPECT_EQ(allocations.alive, alive_before) << "leaked";
}

struct Operation {
  const char* name;
  Prepare prepare;
};

inline void PrintTo(const Operation& operation, std::ostream* stream) { *stream << operation.name; }

/// An operation that changes nothing: `call(context, random)` makes its arguments and returns its
/// results.
template <class Arguments, class Call>
Operation pure(const char* name, const Arguments& arguments, const Call& call) {
  return {name, [=](Context& context) {
            Random random(1);
            return [=, &context, given = std::make_shared<Tensors>(arguments(random))] {
              return call(context, *given);
            };
          }};
}

/// Makes random arguments of these shapes.
inline std::function<Tensors(Random&)> reals(const std::vector<Shape>& shapes) {
  return [=](Random& random) {
    Tensors list;
    for (const Shape& shape : shapes) list.push_back(random.reals(shape));
    return list;
  };
}

inline void expect_survival(const Prepare& prepare) {
  for (const int threads : {1, 2})
    for (const Refused refusals : {Refused::kOne, Refused::kAllFromThere}) {
      SCOPED_TRACE(testing::Message()
                   << threads << " threads, "
                   << (refusals == Refused::kOne ? "one refused" : "all refused from there"));
      expect_survival(threads, refusals, prepare);
    }
}

}  // namespace heed::test
