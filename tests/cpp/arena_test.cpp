#include "runtime/arena.hpp"

#include <algorithm>

#include "runtime/memory.hpp"
#include "support.hpp"
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#define HEED_HAS_ASAN
#endif
#endif

namespace heed::test {
namespace {

TEST(Arena, KeepsTheMemoryOfAScopeWhileAnotherOpensAndCloses) {
  Arena arena;
  for (int repeat = 0; repeat < 3; ++repeat) {
    Arena::Scope outer(arena);
    std::int32_t* const kept = outer.take<std::int32_t>(1000);
    std::fill_n(kept, 1000, 7);
    for (const std::int64_t size : {10, 1000, 1000000}) {
      Arena::Scope inner(arena);
      std::fill_n(inner.take<std::int32_t>(size), size, 8);
      std::fill_n(inner.take<std::int32_t>(size), size, 9);
    }
    std::int32_t* const more = outer.take<std::int32_t>(1000);
    std::fill_n(more, 1000, 10);
    EXPECT_EQ(std::count(kept, kept + 1000, 7), 1000);
  }
}

TEST(Arena, ReusesTheMemoryOfAClosedScope) {
  Arena arena;
  Arena::Scope outer(arena);
  outer.take<float>(100);
  float* first = nullptr;
  {
    Arena::Scope inner(arena);
    first = inner.take<float>(100);
  }
  Arena::Scope inner(arena);
  EXPECT_EQ(inner.take<float>(100), first);
}

TEST(Arena, MergesItsBlocksWhenTheOutermostScopeCloses) {
  Arena arena;
  const auto take = [&] {
    Arena::Scope outer(arena);
    std::byte* const first = outer.take<std::byte>(100000);
    Arena::Scope inner(arena);
    return inner.take<std::byte>(200000) - first;
  };
  take();
  EXPECT_EQ(take(), (100000 + 63) / 64 * 64);
}

#ifdef HEED_HAS_ASAN
TEST(Memory, EndsForTheAddressSanitizerAfterTheRequestedBytes) {
  for (int repeat = 0; repeat < 8; ++repeat) {
    std::byte* const memory = allocate(192);
    EXPECT_FALSE(__asan_address_is_poisoned(memory + 191));
    EXPECT_TRUE(__asan_address_is_poisoned(memory + 192));
    release(memory);
  }
}
#endif

}  // namespace
}  // namespace heed::test
