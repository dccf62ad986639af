// Decode steps - few queries over a cache of any format - against the reference over the stored
// numbers.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cache_support.hpp"

namespace heed::test {
namespace {

/// The tolerance of a step relative to attention over the stored numbers, for numbers up to 1 and
/// queries up to `largest_query`. Int8 computes with queries of 16 bits. So the error of a score is
/// at most scale * D * largest_query / 65534, and the relative error of a weight is twice that. The
/// weights have 16 bits, too, each with an error up to 1/65534 of the largest of 128.
Tolerance tolerance_of(KvCache::Format format, std::int64_t D, double scale = 0,
                       double largest_query = 1) {
  if (format != KvCache::Format::kInt8) return {3e-5, 3e-5};
  if (scale == 0) scale = 1 / std::sqrt(static_cast<double>(D));
  const double score = scale * static_cast<double>(D) * largest_query / 65534;
  return {3e-5 + 2 * score + 128.0 / 65534, 3e-5};
}

/// The options of a call, and the tensors that they view.
struct Step {
  AttentionOptions options;
  std::optional<Tensor> mask, bias, slopes, sinks, offset;
  std::optional<BlockMask> block_mask;

  AttentionOptions all() const {
    AttentionOptions result = options;
    result.mask = mask;
    result.bias = bias;
    result.block_mask = block_mask ? &*block_mask : nullptr;
    result.alibi_slopes = slopes;
    result.sinks = sinks;
    result.causal_offset = offset;
    return result;
  }
};

/// A call with L queries over a batch whose longest sequence has S tokens.
Step random_call(Random& random, std::int64_t B, std::int64_t H, std::int64_t L, std::int64_t S) {
  Step call;
  call.options.need_lse = random.chance(50);
  if (random.chance(30)) call.options = with_everything(call.options);
  call.options.is_causal = random.chance(60);
  call.options.causal_alignment = static_cast<CausalAlignment>(random.integer(0, 2));
  if (random.chance(30)) call.options.window_left = random.integer(0, 600);
  if (random.chance(20)) call.options.window_right = random.integer(0, 60);
  if (random.chance(30)) call.options.softcap = 5.0f;
  if (random.chance(20)) call.mask = random.bools({B, 1, L, S}, 80);
  if (random.chance(20)) call.bias = random.biases({H, 1, S}, 10);
  if (random.chance(15)) {
    call.block_mask = BlockMask::from(
        1, H, L, S, [](auto, auto h, auto q, auto k) { return (q + k / 3 + h) % 4 != 0; });
  }
  if (random.chance(30)) call.slopes = random.reals({H}, -0.01f, 0.1f);
  if (random.chance(30)) call.sinks = random.biases({H}, 20);
  if (random.chance(15)) {
    call.offset = integers({1}, {static_cast<std::int32_t>(random.integer(-5, 900))});
  }
  return call;
}

/// Sometimes rewinds one sequence, or shares its tokens with another one.
void change_at_random(Random& random, KvCache& cache, CacheModel* model) {
  const std::int64_t last = cache.options().batch - 1;
  const std::int64_t b = random.integer(0, last), other = random.integer(0, last);
  if (random.chance(30)) {
    const std::int64_t tokens = random.integer(0, cache.length(b) - cache.first(b));
    cache.rewind(b, tokens);
    if (model) model->rewind(b, tokens);
  }
  if (random.chance(30) && cache.first(b) == 0) {
    const std::int64_t tokens = random.integer(0, cache.length(b));
    cache.share(b, other, tokens);
    if (model) model->share(b, other, tokens);
  }
}

/// A random history of one cache, the same for every number of threads; all outputs and lse.
std::vector<AttentionResult> random_history(Context& context, std::uint32_t seed, bool checks) {
  Random random(seed);
  const std::int64_t B = random.integer(1, 3), G = random.integer(1, 3);
  const std::int64_t H = G * random.integer(1, 9);
  const std::int64_t D = random.chance(50) ? 16 * random.integer(1, 8) : random.integer(1, 40);
  const std::int64_t Dv = random.chance(50) ? D : random.integer(1, 70);
  KvCache::Options options =
      cache_options(B, G, D, Dv, 4000, kFormats[static_cast<std::size_t>(random.integer(0, 2))]);
  options.is_rolling = random.chance(30);
  if (options.is_rolling) options.capacity = random.integer(1, 900);
  KvCache cache(context, options);
  CacheModel model(cache.options(), true);
  const auto random_counts = [&](std::int64_t L, int percent_full) {
    std::vector<std::int64_t> counts;
    for (std::int64_t b = 0; b < B; ++b)
      counts.push_back(random.chance(percent_full) ? L : random.integer(0, L));
    return counts;
  };
  const auto append = [&](std::int64_t L, bool poisoned) {
    const std::vector<std::int64_t> counts = random_counts(L, 70);
    Tensor k = random.reals({B, G, L, D}), v = random.reals({B, G, L, Dv});
    if (poisoned)
      for (Tensor* tensor : {&k, &v}) std::ranges::fill(tensor->data(), kNaN);
    cache.append(k, v, TwinCache::tensor(counts));
    if (checks) model.append(k, v, counts);
  };
  std::vector<AttentionResult> results;
  append(random.chance(50) ? random.integer(0, 1500) : random.integer(0, 100), false);
  for (int step = 0; step < 5; ++step) {
    if (random.chance(15)) append(1, true);
    if (random.chance(40)) append(random.integer(0, 300), false);
    change_at_random(random, cache, checks ? &model : nullptr);
    std::int64_t longest = 1;
    for (std::int64_t b = 0; b < B; ++b) longest = std::max(longest, cache.length(b));
    // The reference is slow, so only calls of small heads over short sequences have many queries.
    const std::int64_t most =
        std::clamp<std::int64_t>(1'000'000 / (B * H * longest * (D + Dv)), 6, 90);
    const std::int64_t L = random.chance(50) ? 1 : random.integer(0, random.chance(70) ? 6 : most);
    const CacheModel::Before before = model.now();
    const std::vector<std::int64_t> counts = random_counts(L, 80);
    const Tensor q = random.reals({B, H, L, D});
    const Tensor k = random.reals({B, G, L, D}), v = random.reals({B, G, L, Dv});
    std::int64_t S = 0;
    for (std::int64_t b = 0; b < B; ++b)
      S = std::max(S, cache.length(b) + counts[static_cast<std::size_t>(b)]);
    const Step call = random_call(random, B, H, L, S);
    const Tensor taken = TwinCache::tensor(counts);
    AttentionOptions cached = call.all();
    cached.kv_lengths = taken;
    cached.cache = &cache;
    results.push_back(attention(context, q, k, v, cached));
    if (!checks) continue;
    model.append(k, v, counts);
    SCOPED_TRACE(testing::Message()
                 << "step " << step << " B " << B << " H " << H << " G " << G << " L " << L << " D "
                 << D << " Dv " << Dv << " length " << cache.length(0) << " format "
                 << static_cast<int>(options.format) << (options.is_rolling ? " rolling" : "")
                 << (call.options.is_causal ? " causal" : "") << " window "
                 << call.options.window_left << " " << call.options.window_right);
    expect_results(results.back(), model.attend(q, call.all(), before),
                   tolerance_of(options.format, D));
  }
  return results;
}

class DecodeCombinations : public testing::TestWithParam<std::uint32_t> {};

TEST_P(DecodeCombinations, MatchTheReferenceWithEveryNumberOfThreads) {
  Context one = context_with_threads(1), two = context_with_threads(2),
          three = context_with_threads(3), five = context_with_threads(5);
  for (std::uint32_t number = 0; number < 20 && !HasFailure(); ++number) {
    const std::uint32_t seed = GetParam() * 1000 + number;
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const std::vector<AttentionResult> want = random_history(one, seed, true);
    for (Context* context : {&two, &three, &five}) {
      SCOPED_TRACE(testing::Message() << context->threads() << " threads");
      const std::vector<AttentionResult> got = random_history(*context, seed, false);
      for (std::size_t n = 0; n < want.size(); ++n) expect_same_bits(got[n], want[n]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, DecodeCombinations, testing::Range(0u, 12u));

TEST(Decode, ReturnsTheSameOutputWithAnyOtherResults) {
  Random random(1);
  Context context;
  for (const KvCache::Format format : kFormats) {
    const Tensor q = random.reals({2, 6, 2, 24}), k = random.reals({2, 2, 700, 24}),
                 v = random.reals({2, 2, 700, 10});
    std::optional<AttentionResult> lean;
    for (const bool everything : {false, true}) {
      KvCache cache(context, cache_options(2, 2, 24, 10, 4000, format));
      cache.append(k, v);
      AttentionOptions options;
      options.need_lse = true;
      options.is_causal = true;
      options.cache = &cache;
      if (everything) options = with_everything(options);
      AttentionResult got = attention(context, q, k, v, options);
      if (lean) {
        EXPECT_TRUE(same_bits(got.output, lean->output));
        EXPECT_TRUE(same_bits(got.lse, lean->lse));
      } else {
        lean = std::move(got);
      }
    }
  }
}

/// One step over a cache that contains k and v.
AttentionResult step(Context& context, KvCache& cache, const Tensor& q, AttentionOptions options) {
  const KvCache::Options& o = cache.options();
  const Tensor none = Tensor(Shape{o.batch, o.heads, 0, o.head_size});
  const Tensor no_value = Tensor(Shape{o.batch, o.heads, 0, o.value_size});
  options.need_lse = true;
  options.cache = &cache;
  return attention(context, q, none, no_value, options);
}

TEST(Decode, AddsLittleToTheErrorOfInt8) {
  // Compares with attention over the stored numbers, and over the original ones.
  Random random(2);
  Context context;
  const std::int64_t D = 128, S = 2000;
  KvCache cache(context, cache_options(1, 1, D, D, 4000, KvCache::Format::kInt8));
  CacheModel stored(cache.options(), true), given(cache.options());
  const Tensor k = random.reals({1, 1, S, D}), v = random.reals({1, 1, S, D});
  cache.append(k, v);
  for (CacheModel* model : {&stored, &given}) model->append(k, v, {S});
  for (const float magnitude : {1.0f, 10.0f}) {
    const Tensor q = random.reals({1, 4, 1, D}, -magnitude, magnitude);
    const AttentionResult got = step(context, cache, q, {});
    const auto distance = [&](const reference::Array& a, const auto& b) {
      double sum = 0;
      for (std::size_t i = 0; i < a.values.size(); ++i) {
        sum += std::pow(a.values[i] - static_cast<double>(b[i]), 2);
      }
      return std::sqrt(sum);
    };
    const reference::Array want = stored.attend(q, {}, {{S}, {0}}).output;
    const double added = distance(want, got.output.data());
    const double own = distance(given.attend(q, {}, {{S}, {0}}).output, want.values);
    EXPECT_LT(added, own / 20) << "queries up to " << magnitude;
    EXPECT_GT(own, 0);
  }
}

TEST(Decode, SupportsQueriesOfAnyMagnitude) {
  Random random(3);
  Context context;
  for (const KvCache::Format format : kFormats) {
    for (const float magnitude : {0.0f, 1e-38f, 1e-30f, 1e-3f, 100.0f, 1e5f, 1e30f}) {
      SCOPED_TRACE(testing::Message()
                   << "format " << static_cast<int>(format) << " magnitude " << magnitude);
      KvCache cache(context, cache_options(1, 1, 33, 5, 4000, format));
      CacheModel model(cache.options(), true);
      const Tensor k = random.reals({1, 1, 140, 33}), v = random.reals({1, 1, 140, 5});
      cache.append(k, v);
      model.append(k, v, {140});
      const Tensor q = random.reals({1, 3, 1, 33}, -magnitude, magnitude);
      AttentionOptions options;
      // The scale keeps scores within a few units.
      options.scale = magnitude > 1 ? 0.2f / magnitude : 0.2f;
      expect_results(step(context, cache, q, options), model.attend(q, options, {{140}, {0}}),
                     tolerance_of(format, 33, *options.scale, magnitude));
    }
  }
}

TEST(Decode, SupportsKeysAndValuesOfAnyMagnitude) {
  Random random(4);
  Context context;
  for (const KvCache::Format format : kFormats) {
    for (const float magnitude : {1e-7f, 1e-5f, 1e-3f, 1e3f, 6e4f}) {
      SCOPED_TRACE(testing::Message()
                   << "format " << static_cast<int>(format) << " magnitude " << magnitude);
      KvCache cache(context, cache_options(1, 1, 16, 20, 4000, format));
      CacheModel model(cache.options(), true);
      const Tensor k = random.reals({1, 1, 600, 16}, -magnitude, magnitude);
      const Tensor v = random.reals({1, 1, 600, 20}, -magnitude, magnitude);
      cache.append(k, v);
      model.append(k, v, {600});
      const Tensor q = random.reals({1, 2, 2, 16});
      AttentionOptions options;
      options.scale = 0.25f / magnitude;
      Tolerance tolerance = tolerance_of(format, 16);
      tolerance.absolute *= magnitude;
      EXPECT_TRUE(close(step(context, cache, q, options).output,
                        model.attend(q, options, {{600}, {0}}).output, tolerance));
    }
  }
}

TEST(Decode, PropagatesNonFiniteNumbersOnlyToTheRowsThatSeeThem) {
  Random random(5);
  Context context;
  for (const KvCache::Format format : kFormats) {
    for (const float bad : {kNaN, kInfinity, -kInfinity, 1e5f}) {
      // 1e5 is too large for float16.
      if (bad == 1e5f && format != KvCache::Format::kFloat16) continue;
      for (const std::int64_t place : {3, 130, 600}) {
        SCOPED_TRACE(testing::Message()
                     << "format " << static_cast<int>(format) << " " << bad << " at " << place);
        KvCache cache(context, cache_options(1, 1, 8, 9, 4000, format));
        CacheModel model(cache.options(), true);
        Tensor k = random.reals({1, 1, 700, 8}), v = random.reals({1, 1, 700, 9});
        // One number, which makes its whole row NaN in int8.
        v.data()[static_cast<std::size_t>(place) * 9 + 4] = bad;
        k.data()[static_cast<std::size_t>(place + 1) * 8 + 2] = kNaN;
        cache.append(k, v);
        model.append(k, v, {700});
        AttentionOptions options;
        options.window_left = 2;
        options.window_right = 1;
        Tensor q = random.reals({1, 2, 8, 8});
        const Tensor offset = integers({1}, {static_cast<std::int32_t>(place - 4)});
        options.causal_offset = offset;
        const AttentionResult got = step(context, cache, q, options);
        expect_results(got, model.attend(q, options, {{700}, {0}}), tolerance_of(format, 8));
        // A query that is not finite affects only its own row.
        q.data()[0] = kNaN;
        const AttentionResult other = step(context, cache, q, options);
        for (std::size_t n = 0; n < got.output.data().size(); ++n) {
          const float x = other.output.data()[n];
          if (n < 9) {
            EXPECT_TRUE(std::isnan(x));
          } else if (!std::isnan(got.output.data()[n])) {
            EXPECT_EQ(x, got.output.data()[n]);
          }
        }
      }
    }
  }
}

// The maximum of NaN scores may be -inf, which also is the maximum without keys.
TEST(Decode, PropagatesNaNFromAChunkOfNaNScores) {
  Random random(6);
  Context context;
  const float number = 0.0f;
  const Tensor sinks({1}, {number});
  for (const std::int64_t length : {5, 513, 700}) {
    for (const bool has_sink : {false, true}) {
      for (const bool in_query : {false, true}) {
        SCOPED_TRACE(testing::Message()
                     << length << " keys, sink " << has_sink << ", in the query " << in_query);
        KvCache cache(context, cache_options(1, 1, 8, 9, 4000, KvCache::Format::kFloat32));
        Tensor q = random.reals({1, 1, 1, 8}), k = random.reals({1, 1, length, 8});
        const Tensor v = random.reals({1, 1, length, 9});
        if (in_query)
          q.data()[3] = kNaN;
        else
          k.data()[static_cast<std::size_t>(length - 1) * 8 + 2] = kNaN;
        cache.append(k, v);
        AttentionOptions options;
        options.need_lse = true;
        if (has_sink) options.sinks = sinks;
        const AttentionResult got = step(context, cache, q, options);
        EXPECT_TRUE(std::isnan(got.lse->data()[0]));
        for (const float x : got.output.data()) EXPECT_TRUE(std::isnan(x));
      }
    }
  }
}

}  // namespace
}  // namespace heed::test
