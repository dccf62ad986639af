// Hidden keys and values change no bit of the results. This includes values that are not finite,
// for which the kernels have another path.

#include <cmath>
#include <cstdint>
#include <optional>
#include <tuple>

#include "attention_gradient_support.hpp"
#include "cache_support.hpp"

namespace heed::test {
namespace {

constexpr float kPoisons[] = {kNaN, INFINITY, -INFINITY};

/// A copy of x [.., S, size] with `value` in the rows j for which hides(j) is true.
template <class Hides>
Tensor with_rows(const Tensor& x, float value, const Hides& hides) {
  Tensor y(x.shape());
  const auto size = static_cast<std::size_t>(x.shape()[3]);
  const auto S = static_cast<std::size_t>(x.shape()[2]);
  for (std::size_t i = 0; i < y.data().size(); ++i)
    y.data()[i] = hides(static_cast<std::int64_t>(i / size % S)) ? value : x.data()[i];
  return y;
}

bool third(std::int64_t j) { return j % 3 == 1; }

Tensor mask_of(std::int64_t S) {
  Tensor mask(Shape{1, S}, DType::kBool);
  for (std::int64_t j = 0; j < S; ++j) mask.data<bool>()[static_cast<std::size_t>(j)] = !third(j);
  return mask;
}

TEST(HiddenValues, ChangeNoBitOfTheResults) {
  Random random(1);
  Context context;
  for (const auto& [L, S, D, Dv] : {std::tuple{70, 300, 32, 40}, std::tuple{5, 90, 7, 13},
                                    std::tuple{130, 130, 64, 64}, std::tuple{1, 129, 16, 3}}) {
    SCOPED_TRACE(testing::Message() << "L " << L << " S " << S << " D " << D << " Dv " << Dv);
    const Inputs inputs = random_inputs(random, 2, 4, 2, L, S, D, Dv);
    const Tensor mask = mask_of(S), slopes = random.reals({4}, 0.0f, 0.1f);
    for (const bool is_plain : {true, false}) {
      AttentionOptions options;
      options.mask = mask;
      options.need_statistics = true;
      if (!is_plain) {
        options.softcap = 3.0f;
        options.alibi_slopes = slopes;
        options.dropout = 0.2;
        options.window_left = 100;
      }
      const AttentionOptions all = with_everything(options);
      const AttentionResult want = attention(context, inputs.q, inputs.k, inputs.v, all);
      const Tensor d_output = random.reals({2, 4, L, Dv});
      const auto gradients = [&](const Tensor& k, const Tensor& v) {
        return differentiate(context, d_output, inputs.q, k, v, options);
      };
      const AttentionGradients want_back = gradients(inputs.k, inputs.v);
      for (const float poison : kPoisons) {
        const Tensor k = with_rows(inputs.k, poison, third), v = with_rows(inputs.v, poison, third);
        const AttentionResult got = attention(context, inputs.q, k, v, all);
        EXPECT_TRUE(same_bits(got.output, want.output)) << poison;
        EXPECT_TRUE(same_bits(got.weights, want.weights)) << poison;
        EXPECT_TRUE(same_bits(got.lse, want.lse)) << poison;
        EXPECT_TRUE(same_bits(got.statistics, want.statistics)) << poison;
        EXPECT_TRUE(same_bits(got.masked, want.masked)) << poison;
        EXPECT_TRUE(same_bits(attention(context, inputs.q, inputs.k, v, all).output, want.output));
        const AttentionGradients back = gradients(k, v);
        EXPECT_TRUE(same_bits(back.q, want_back.q)) << poison;
        EXPECT_TRUE(same_bits(back.k, want_back.k)) << poison;
        EXPECT_TRUE(same_bits(back.v, want_back.v)) << poison;
        const AttentionGradients of_values = gradients(inputs.k, v);
        EXPECT_TRUE(same_bits(of_values.q, want_back.q)) << poison;
        EXPECT_TRUE(same_bits(of_values.k, want_back.k)) << poison;
        EXPECT_TRUE(same_bits(of_values.v, want_back.v)) << poison;
      }
    }
  }
}

TEST(HiddenValues, ChangeNoBitOfAttentionOverACache) {
  Random random(2);
  Context context;
  for (const KvCache::Format format :
       {KvCache::Format::kFloat32, KvCache::Format::kFloat16, KvCache::Format::kInt8})
    for (const std::int64_t queries : {1, 3, 40}) {
      SCOPED_TRACE(testing::Message()
                   << "format " << static_cast<int>(format) << ", " << queries << " queries");
      const Tensor q = random.reals({1, 4, queries, 32});
      const Tensor k = random.reals({1, 2, 300, 32}), v = random.reals({1, 2, 300, 24});
      const auto run = [&](std::optional<float> poison) {
        KvCache cache(context, {.batch = 1,
                                .heads = 2,
                                .head_size = 32,
                                .value_size = 24,
                                .capacity = 400,
                                .format = format});
        // The window hides the first tokens, which share a tile with some that are seen.
        const auto old = [](std::int64_t j) { return j < 200; };
        if (poison)
          cache.append(with_rows(k, *poison, old), with_rows(v, *poison, old));
        else
          cache.append(k, v);
        AttentionOptions options = causal();
        options.cache = &cache;
        options.window_left = 60;
        return attention(context, q, Tensor(Shape{1, 2, 0, 32}), Tensor(Shape{1, 2, 0, 24}),
                         options)
            .output;
      };
      const Tensor want = run({});
      for (const float poison : kPoisons) EXPECT_TRUE(same_bits(run(poison), want)) << poison;
    }
}

}  // namespace
}  // namespace heed::test
