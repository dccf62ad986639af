// Linear attention: its four rules, its layouts, and continuing from a state.

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "errors_support.hpp"
#include "reference/linear_attention.hpp"
#include "support.hpp"

namespace heed::test {
namespace {

constexpr LinearRule kRules[] = {LinearRule::kLinear, LinearRule::kGated, LinearRule::kDelta,
                                 LinearRule::kGatedDelta};

bool is_gated(LinearRule rule) {
  return rule == LinearRule::kGated || rule == LinearRule::kGatedDelta;
}
bool is_delta(LinearRule rule) {
  return rule == LinearRule::kDelta || rule == LinearRule::kGatedDelta;
}

struct Sizes {
  std::int64_t B, H, G, L, D, Dv;
};

/// Inputs for one call. Keys have lengths below 1, and decays are below 1, so that states stay of
/// order 1 under every rule.
struct Call {
  Call(Random& random, LinearRule rule, const Sizes& s, bool is_joined, bool decays_by_row = true)
      : rule_(rule) {
    const float length = 1.0f / std::sqrt(static_cast<float>(s.D));
    if (is_joined) {
      q = random.reals({s.B, s.L, s.H * s.D});
      k = random.reals({s.B, s.L, s.G * s.D}, -length, length);
      v = random.reals({s.B, s.L, s.G * s.Dv});
      decay = random.reals({s.B, s.L, decays_by_row ? s.G * s.D : s.G}, -0.5f, 0.0f);
      beta = random.reals({s.B, s.L, s.G}, 0.0f, 1.0f);
    } else {
      q = random.reals({s.B, s.H, s.L, s.D});
      k = random.reals({s.B, s.G, s.L, s.D}, -length, length);
      v = random.reals({s.B, s.G, s.L, s.Dv});
      decay = decays_by_row ? random.reals({s.B, s.G, s.L, s.D}, -0.5f, 0.0f)
                            : random.reals({s.B, s.G, s.L}, -0.5f, 0.0f);
      beta = random.reals({s.B, s.G, s.L}, 0.0f, 1.0f);
    }
    state = random.reals({s.B, s.G, s.D, s.Dv});
    heads = is_joined ? s.H : 0;
    kv_heads = is_joined ? s.G : 0;
  }

  LinearAttentionOptions options() const {
    LinearAttentionOptions result;
    result.rule = rule_;
    result.heads = heads;
    result.kv_heads = kv_heads;
    if (is_gated(rule_)) result.decay = decay;
    if (is_delta(rule_)) result.beta = beta;
    return result;
  }

  Tensor q, k, v, decay, beta, state;
  std::int64_t heads, kv_heads;

 private:
  LinearRule rule_;
};

void expect_reference(Context& context, const Call& call, const LinearAttentionOptions& options) {
  const LinearAttentionResult got = linear_attention(context, call.q, call.k, call.v, options);
  const reference::LinearAttentionResult want =
      reference::linear_attention(call.q, call.k, call.v, options);
  EXPECT_TRUE(close(got.output, want.output));
  EXPECT_TRUE(close(got.present_state, want.present_state));
}

TEST(LinearAttention, SumsKeysTimesValues) {
  // One row of state: S = 2*5, then + 3*7; outputs are q S.
  Context context;
  const Tensor q(Shape{1, 1, 2, 1}, {1, 10}), k(Shape{1, 1, 2, 1}, {2, 3}),
      v(Shape{1, 1, 2, 1}, {5, 7});
  const auto run = [&](const LinearAttentionOptions& options) {
    return linear_attention(context, q, k, v, options);
  };
  LinearAttentionOptions options;
  const LinearAttentionResult plain = run(options);
  EXPECT_EQ(plain.output.data()[0], 10.0f);
  EXPECT_EQ(plain.output.data()[1], 310.0f);
  EXPECT_EQ(plain.present_state.data()[0], 31.0f);

  // The second token halves the state first: 10/2 + 21.
  const Tensor decay(Shape{1, 1, 2}, {-3.0f, std::log(0.5f)});
  options.rule = LinearRule::kGated;
  options.decay = decay;
  EXPECT_NEAR(run(options).present_state.data()[0], 26.0f, 1e-5);

  // beta 1/2: S = 2 * (5 - 0) / 2 = 5, then 5 + 3 * (7 - 15) / 2 = -7.
  const Tensor beta(Shape{1, 1, 2}, {0.5f, 0.5f});
  options.rule = LinearRule::kDelta;
  options.decay.reset();
  options.beta = beta;
  EXPECT_NEAR(run(options).present_state.data()[0], -7.0f, 1e-5);

  // Both: 5, then 2.5 + 3 * (7 - 7.5) / 2 = 1.75.
  options.rule = LinearRule::kGatedDelta;
  options.decay = decay;
  EXPECT_NEAR(run(options).present_state.data()[0], 1.75f, 1e-5);
}

TEST(LinearAttention, MatchesTheReferenceUnderEveryRule) {
  Random random(1);
  Context context;
  for (const LinearRule rule : kRules) {
    for (const Sizes& sizes : {Sizes{2, 2, 2, 20, 8, 8}, Sizes{1, 6, 2, 33, 5, 12},
                               Sizes{2, 4, 1, 7, 16, 3}, Sizes{1, 1, 1, 100, 32, 64}}) {
      for (const bool is_joined : {false, true}) {
        for (const bool by_row : {false, true}) {
          SCOPED_TRACE(testing::Message()
                       << "rule " << static_cast<int>(rule) << " H " << sizes.H << " G " << sizes.G
                       << (is_joined ? " joined" : "") << (by_row ? " decay by row" : ""));
          const Call call(random, rule, sizes, is_joined, by_row);
          LinearAttentionOptions options = call.options();
          expect_reference(context, call, options);
          options.scale = 0.7f;
          options.past_state = call.state;
          expect_reference(context, call, options);
        }
      }
    }
  }
}

TEST(LinearAttention, BroadcastsDecayAndBetaAlongAxesOfSizeOne) {
  Random random(7);
  Context context;
  const Sizes s{2, 4, 2, 9, 3, 5};
  const auto expect_as_reference = [&](const Call& call, const Shape& decay_shape,
                                       const Shape& beta_shape) {
    SCOPED_TRACE("decay " + to_string(decay_shape) + ", beta " + to_string(beta_shape));
    const Tensor decay = random.reals(decay_shape, -0.5f, 0.0f);
    const Tensor beta = random.reals(beta_shape, 0.0f, 1.0f);
    LinearAttentionOptions options = call.options();
    if (options.decay) options.decay = decay;
    if (options.beta) options.beta = beta;
    expect_reference(context, call, options);
  };
  for (const LinearRule rule : {LinearRule::kGated, LinearRule::kDelta, LinearRule::kGatedDelta}) {
    SCOPED_TRACE(testing::Message() << "rule " << static_cast<int>(rule));
    const Call joined(random, rule, s, true), separate(random, rule, s, false);
    for (int bits = 0; bits < 8; ++bits) {
      const auto size = [&](int bit, std::int64_t full) { return (bits >> bit) & 1 ? full : 1; };
      const std::int64_t B = size(0, s.B), L = size(1, s.L), G = size(2, s.G);
      expect_as_reference(joined, {B, L, G}, {B, L, G});
      expect_as_reference(joined, {B, L, s.G * s.D}, {B, L, G});
      expect_as_reference(separate, {B, G, L}, {B, G, L});
      expect_as_reference(separate, {B, G, L, 1}, {B, G, L, 1});
      expect_as_reference(separate, {B, G, L, s.D}, {B, G, L, 1});
    }
  }
}

TEST(LinearAttention, TreatsOneRateAsTheSameRateForEachHead) {
  Random random(8);
  Context context;
  const Sizes s{2, 4, 4, 4, 8, 8};
  const Call call(random, LinearRule::kGatedDelta, s, true, false);
  const Tensor decay = random.reals({s.B, s.L, 1}, -0.5f, 0.0f);
  const Tensor beta = random.reals({s.B, s.L, 1}, 0.0f, 1.0f);
  const auto for_each_head = [&](const Tensor& x) {
    Tensor y(Shape{s.B, s.L, s.G});
    for (std::size_t i = 0; i < y.data().size(); ++i)
      y.data()[i] = x.data()[i / static_cast<std::size_t>(s.G)];
    return y;
  };
  const Tensor decays = for_each_head(decay), betas = for_each_head(beta);
  LinearAttentionOptions one = call.options(), each = call.options();
  one.decay = decay;
  one.beta = beta;
  each.decay = decays;
  each.beta = betas;
  const LinearAttentionResult got = linear_attention(context, call.q, call.k, call.v, one);
  const LinearAttentionResult want = linear_attention(context, call.q, call.k, call.v, each);
  EXPECT_TRUE(same_bits(got.output, want.output));
  EXPECT_TRUE(same_bits(got.present_state, want.present_state));
}

TEST(LinearAttention, CarriesItsStateAcrossChunks) {
  Random random(2);
  Context context;
  const std::int64_t B = 2, H = 4, G = 2, L = 40, D = 8, Dv = 6;
  for (const LinearRule rule : kRules) {
    SCOPED_TRACE(testing::Message() << "rule " << static_cast<int>(rule));
    const Call call(random, rule, {B, H, G, L, D, Dv}, true);
    const LinearAttentionResult whole =
        linear_attention(context, call.q, call.k, call.v, call.options());
    std::optional<Tensor> state;
    std::int64_t begin = 0;
    for (const std::int64_t count : {1, 13, 0, 25, 1}) {
      const auto rows = [&](const Tensor& x) {
        const std::int64_t width = x.shape()[2];
        Tensor y(Shape{B, count, width});
        for (std::int64_t b = 0; b < B; ++b) {
          std::copy_n(x.data().begin() + (b * L + begin) * width, count * width,
                      y.data().begin() + b * count * width);
        }
        return y;
      };
      const Tensor decay = rows(call.decay), beta = rows(call.beta);
      LinearAttentionOptions options = call.options();
      if (options.decay) options.decay = decay;
      if (options.beta) options.beta = beta;
      options.past_state = state;
      LinearAttentionResult part =
          linear_attention(context, rows(call.q), rows(call.k), rows(call.v), options);
      EXPECT_TRUE(same_bits(part.output, rows(whole.output))) << "tokens from " << begin;
      state = std::move(part.present_state);
      begin += count;
    }
    EXPECT_TRUE(same_bits(*state, whole.present_state));
  }
}

TEST(LinearAttention, DoesNotChangeThePastState) {
  Random random(3);
  Context context;
  const Call call(random, LinearRule::kLinear, {1, 2, 2, 3, 4, 4}, false);
  LinearAttentionOptions options = call.options();
  options.past_state = call.state;
  const std::vector<float> before(call.state.data().begin(), call.state.data().end());
  linear_attention(context, call.q, call.k, call.v, options);
  EXPECT_TRUE(std::equal(before.begin(), before.end(), call.state.data().begin()));
}

TEST(LinearAttention, HandlesTheSizesZeroAndOneEverywhere) {
  Random random(4);
  Context context;
  for (const LinearRule rule : kRules) {
    for (int bits = 0; bits < 16; ++bits) {
      const auto size = [&](int bit) { return static_cast<std::int64_t>((bits >> bit) & 1); };
      const Sizes sizes{size(0), 2, 1, size(1), size(2), size(3)};
      for (const bool is_joined : {false, true}) {
        for (const bool by_row : {false, true}) {
          SCOPED_TRACE(testing::Message()
                       << "rule " << static_cast<int>(rule) << " B " << sizes.B << " L " << sizes.L
                       << " D " << sizes.D << " Dv " << sizes.Dv << (is_joined ? " joined" : "")
                       << (by_row ? " decay by row" : ""));
          const Call call(random, rule, sizes, is_joined, by_row);
          LinearAttentionOptions options = call.options();
          options.scale = 1.0f;
          options.past_state = call.state;
          expect_reference(context, call, options);
        }
      }
    }
  }
}

TEST(LinearAttention, ReturnsTheSameBitsForAnyNumberOfThreads) {
  Random random(5);
  for (const LinearRule rule : kRules) {
    const Call call(random, rule, {3, 6, 3, 60, 32, 40}, false);
    expect_same_bits_for_any_threads([&](Context& context) {
      LinearAttentionResult result =
          linear_attention(context, call.q, call.k, call.v, call.options());
      return list_of(std::move(result.output), std::move(result.present_state));
    });
  }
}

TEST(LinearAttention, ForgetsEverythingWithAnInfiniteDecay) {
  // exp(-inf) = 0: a token sees itself alone.
  Random random(6);
  Context context;
  const Call call(random, LinearRule::kGated, {1, 1, 1, 5, 4, 4}, false);
  const Tensor forget = filled({1, 1, 5}, -INFINITY);
  LinearAttentionOptions options = call.options();
  options.decay = forget;
  options.past_state = call.state;
  expect_reference(context, call, options);
}

TEST(LinearAttention, RefusesInvalidArguments) {
  Context context;
  const Tensor x(Shape{2, 4, 3, 8}), numbers(Shape{2, 4, 3}, DType::kInt32);
  LinearAttentionOptions options;
  const auto call = [&] { linear_attention(context, x, x, x, options); };
  options.scale = kNaN;
  expect_refusal(kOption, "scale", "NaN", call);
  options.scale.reset();
  options.rule = LinearRule::kDelta;
  options.beta = numbers;
  expect_refusal(kDType, "beta", "int32", call);
}

}  // namespace
}  // namespace heed::test
