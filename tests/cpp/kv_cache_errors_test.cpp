// Calls that a cache refuses and that do not change it. tests/js/refusals/kv_cache.ts has more.

#include <cstdint>
#include <string>
#include <string_view>

#include "cache_support.hpp"
#include "errors_support.hpp"

namespace heed::test {
namespace {

/// A cache [batch 2, heads 2, head size 8, value size 6, capacity 10] with 7 and 3 tokens.
class KvCacheErrors : public testing::Test {
 protected:
  KvCacheErrors()
      : random(7),
        cache(context, options()),
        k(random.reals({2, 2, 7, 8})),
        v(random.reals({2, 2, 7, 6})),
        q(random.reals({2, 4, 2, 8})),
        k2(random.reals({2, 2, 2, 8})),
        v2(random.reals({2, 2, 2, 6})) {
    cache.append(k, v, integers({2}, {7, 3}));
    want = look();
  }

  static KvCache::Options options() {
    KvCache::Options options;
    options.batch = 2;
    options.heads = 2;
    options.head_size = 8;
    options.value_size = 6;
    options.capacity = 10;
    return options;
  }

  /// Attention over the cache without new tokens, to detect changes.
  Tensor look() {
    const Tensor none_k = random.reals({2, 2, 0, 8}), none_v = random.reals({2, 2, 0, 6});
    AttentionOptions call;
    call.cache = &cache;
    return attention(context, q, none_k, none_v, call).output;
  }

  template <class Call>
  void expect_error(ErrorCode code, std::string_view argument, std::string_view got,
                    const Call& call) {
    SCOPED_TRACE(argument);
    const std::size_t bytes = cache.bytes();
    expect_refusal(code, argument, got, call);
    EXPECT_EQ(cache.length(0), 7);
    EXPECT_EQ(cache.length(1), 3);
    EXPECT_EQ(cache.bytes(), bytes);
    EXPECT_TRUE(same_bits(look(), want)) << "after the error";
  }

  Context context;
  Random random;
  KvCache cache;
  Tensor k, v, q, k2, v2, want;
};

TEST_F(KvCacheErrors, ConstructorRefusesSizesOutsideTheirRange) {
  const auto with = [&](std::int64_t KvCache::Options::* member, const char* name,
                        std::int64_t size) {
    KvCache::Options bad = options();
    bad.*member = size;
    expect_error(kOption, name, std::to_string(size), [&] { KvCache(context, bad); });
  };
  with(&KvCache::Options::batch, "batch", 0);
  with(&KvCache::Options::heads, "heads", 0);
  with(&KvCache::Options::head_size, "head_size", -3);
  with(&KvCache::Options::value_size, "value_size", -1);
  with(&KvCache::Options::capacity, "capacity", 0);
  constexpr std::int64_t kHugeSize = std::int64_t{1} << 60;
  with(&KvCache::Options::batch, "batch", kHugeSize);
  with(&KvCache::Options::heads, "heads", kHugeSize);
  with(&KvCache::Options::head_size, "head_size", kHugeSize);
  with(&KvCache::Options::value_size, "value_size", kHugeSize);
  with(&KvCache::Options::capacity, "capacity", kHugeSize);
}

TEST_F(KvCacheErrors, AppendRefusesOtherTypes) {
  const Tensor halves = cast(context, k2, DType::kFloat16);
  expect_error(kDType, "k", "float16", [&] { cache.append(halves, v2); });
}

TEST_F(KvCacheErrors, AttentionWithInvalidOptionsDoesNotChangeTheCache) {
  AttentionOptions call;
  call.cache = &cache;
  call.window_left = -2;
  expect_error(kOption, "window_left", "-2", [&] { attention(context, q, k2, v2, call); });
  call.window_left = -1;
  call.past_key = k;
  call.past_value = v;
  expect_error(kOption, "cache", "one", [&] { attention(context, q, k2, v2, call); });
}

TEST_F(KvCacheErrors, RewindAndShareRefuseMoreTokensThanExist) {
  expect_error(kOption, "tokens", "8", [&] { cache.rewind(0, 8); });
  expect_error(kOption, "tokens", "-1", [&] { cache.rewind(0, -1); });
  expect_error(kOption, "sequence", "2", [&] { cache.rewind(2, 1); });
  expect_error(kOption, "sequence", "-1", [&] { cache.length(-1); });
  expect_error(kOption, "sequence", "2", [&] { cache.first(2); });
  expect_error(kOption, "tokens", "4", [&] { cache.share(1, 0, 4); });
  expect_error(kOption, "tokens", "-1", [&] { cache.share(1, 0, -1); });
  expect_error(kOption, "sequence", "5", [&] { cache.share(5, 0, 1); });
  expect_error(kOption, "sequence", "5", [&] { cache.share(0, 5, 1); });
}

TEST_F(KvCacheErrors, ReorderRefusesInvalidOrders) {
  const auto reorder = [&](const Tensor& order) { return [&] { cache.reorder(order); }; };
  expect_error(kDType, "order", "float32", reorder(filled({2}, 1)));
  expect_error(kOption, "order", "-1", reorder(integers({2}, {-1, 0})));
}

TEST_F(KvCacheErrors, AppendThrowsWhenMemoryRunsOut) {
  // A token of 2^50 bytes, which is refused before the token is read.
  KvCache::Options huge;
  huge.heads = std::int64_t{1} << 20;
  huge.head_size = std::int64_t{1} << 20;
  huge.value_size = 1;
  huge.capacity = 1;
  KvCache other(context, huge);
  const float number = 0.0f;
  const TensorView token(&number, Shape{1, huge.heads, 1, huge.head_size});
  const TensorView value(&number, Shape{1, huge.heads, 1, 1});
  EXPECT_THROW(other.append(token, value), MemoryError);
  EXPECT_EQ(other.length(0), 0);
  EXPECT_EQ(other.bytes(), 0u);
  EXPECT_TRUE(same_bits(look(), want)) << "after the error";
}

TEST_F(KvCacheErrors, AttentionReadsOrRefusesACacheOfAnotherInstructionSet) {
  const Tensor none_k = random.reals({2, 2, 0, 8}), none_v = random.reals({2, 2, 0, 6});
  AttentionOptions call;
  call.cache = &cache;
  const reference::Array expected(want);
  for (const std::string_view isa : Context::available_isas()) {
    SCOPED_TRACE(std::string(isa));
    Context::Options with_isa;
    with_isa.isa = isa;
    Context other(with_isa);
    try {
      EXPECT_TRUE(close(attention(other, q, none_k, none_v, call).output, expected));
    } catch (const OptionError& error) {
      EXPECT_EQ(std::string(error.what()).rfind("cache: expected ", 0), 0u) << error.what();
    }
  }
}

}  // namespace
}  // namespace heed::test
