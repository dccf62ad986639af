// Calls that a cache refuses and that do not change it.

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

TEST_F(KvCacheErrors, AppendRefusesTokensBeyondTheCapacity) {
  const auto message = [&](const Tensor& more_k, const Tensor& more_v) {
    expect_error(kOption, "cache", "3 of 10", [&] { cache.append(more_k, more_v); });
    const Tensor queries = random.reals({2, 4, more_k.shape()[2], 8});
    AttentionOptions call;
    call.cache = &cache;
    expect_error(kOption, "cache", "3 of 10",
                 [&] { attention(context, queries, more_k, more_v, call); });
  };
  message(random.reals({2, 2, 4, 8}), random.reals({2, 2, 4, 6}));
  message(random.reals({2, 2, 400, 8}), random.reals({2, 2, 400, 6}));

  // The other sequence has room: with counts, the same call succeeds, up to the last token.
  const Tensor counts = integers({2}, {3, 7});
  EXPECT_NO_THROW(cache.append(k, v, counts));
  EXPECT_EQ(cache.length(0), 10);
  EXPECT_EQ(cache.length(1), 10);
  EXPECT_THROW(cache.append(k2, v2), OptionError);
}

TEST_F(KvCacheErrors, AppendRefusesOtherShapesAndTypes) {
  const Tensor deep = random.reals({2, 2, 2, 9}), flat = random.reals({2, 2, 16}),
               other_batch = random.reals({1, 2, 2, 8}), other_length = random.reals({2, 2, 3, 6});
  const Tensor halves = cast(context, k2, DType::kFloat16);
  expect_error(kShape, "k", "[2, 2, 2, 9]", [&] { cache.append(deep, v2); });
  expect_error(kShape, "k", "[2, 2, 16]", [&] { cache.append(flat, v2); });
  expect_error(kShape, "k", "[1, 2, 2, 8]", [&] { cache.append(other_batch, v2); });
  expect_error(kShape, "v", "[2, 2, 3, 6]", [&] { cache.append(k2, other_length); });
  expect_error(kShape, "v", "[2, 2, 2, 8]", [&] { cache.append(k2, k2); });
  expect_error(kDType, "k", "float16", [&] { cache.append(halves, v2); });
  const Tensor three = integers({3}, {1, 1, 1}), beyond = integers({2}, {1, 3}),
               negative = integers({2}, {-1, 1}), floats = random.reals({2});
  expect_error(kShape, "counts", "[3]", [&] { cache.append(k2, v2, three); });
  expect_error(kOption, "counts", "3", [&] { cache.append(k2, v2, beyond); });
  expect_error(kOption, "counts", "-1", [&] { cache.append(k2, v2, negative); });
  expect_error(kDType, "counts", "float32", [&] { cache.append(k2, v2, floats); });
}

TEST_F(KvCacheErrors, AttentionRefusesACacheOfAnotherShape) {
  const auto with = [&](std::int64_t KvCache::Options::* member, std::int64_t size) {
    KvCache::Options other = options();
    other.*member = size;
    KvCache wrong(context, other);
    AttentionOptions call;
    call.cache = &wrong;
    expect_error(kShape, "cache", std::to_string(size),
                 [&] { attention(context, q, k2, v2, call); });
    EXPECT_EQ(wrong.length(0), 0);
    EXPECT_EQ(wrong.bytes(), 0u);
  };
  with(&KvCache::Options::batch, 3);
  with(&KvCache::Options::heads, 4);
  with(&KvCache::Options::head_size, 6);
  with(&KvCache::Options::value_size, 8);
}

TEST_F(KvCacheErrors, AttentionWithInvalidOptionsDoesNotChangeTheCache) {
  const auto with = [&](ErrorCode code, const char* argument, const char* got, auto change) {
    AttentionOptions call;
    call.cache = &cache;
    change(call);
    expect_error(code, argument, got, [&] { attention(context, q, k2, v2, call); });
  };
  const Tensor mask = random.bools({4, 2, 10}, 50), bias = random.reals({2, 3, 2, 9}),
               sinks = random.reals({3}), beyond = integers({2}, {2, 3});
  const BlockMask blocks = BlockMask::from(1, 1, 2, 8, [](auto...) { return true; });
  with(kShape, "mask", "[4, 2, 10]", [&](auto& call) { call.mask = mask; });
  with(kShape, "bias", "[2, 3, 2, 9]", [&](auto& call) { call.bias = bias; });
  with(kShape, "sinks", "[3]", [&](auto& call) { call.sinks = sinks; });
  with(kOption, "kv_lengths", "3", [&](auto& call) { call.kv_lengths = beyond; });
  with(kShape, "block_mask", "2 and 8", [&](auto& call) { call.block_mask = &blocks; });
  with(kOption, "window_left", "-2", [&](auto& call) { call.window_left = -2; });
  with(kOption, "cache", "one", [&](auto& call) {
    call.past_key = k;
    call.past_value = v;
  });
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
  const std::vector<std::int64_t> before = {cache.length(0), cache.length(1)};
  expect_error(kShape, "order", "[3]", reorder(integers({3}, {0, 1, 0})));
  expect_error(kDType, "order", "float32", reorder(filled({2}, 1)));
  expect_error(kOption, "order", "2", reorder(integers({2}, {0, 2})));
  expect_error(kOption, "order", "-1", reorder(integers({2}, {-1, 0})));
  EXPECT_EQ((std::vector{cache.length(0), cache.length(1)}), before);
}

TEST_F(KvCacheErrors, RewindAndShareRefuseDroppedTokens) {
  KvCache::Options rolling = options();
  rolling.is_rolling = true;
  rolling.capacity = 4;
  KvCache other(context, rolling);
  other.append(k, v);
  const std::int64_t length = other.length(0);
  EXPECT_EQ(other.first(0), length - 4) << "the last 4 are kept";
  other.append(k2, v2);
  EXPECT_EQ(other.length(0), 9);
  EXPECT_EQ(other.first(0), 5);
  expect_error(kOption, "tokens", "5", [&] { other.rewind(0, 5); });
  expect_error(kOption, "from", "one that dropped 5", [&] { other.share(0, 1, 2); });
  EXPECT_EQ(other.length(0), 9);
  EXPECT_NO_THROW(other.rewind(0, 4));
  EXPECT_EQ(other.length(0), 5);
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
