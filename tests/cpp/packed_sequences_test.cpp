// Packed sequences: each is a separate attention.

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "attention_support.hpp"

namespace heed::test {
namespace {

/// The starts of sequences of these lengths, and the total.
Tensor starts(const std::vector<std::int64_t>& lengths) {
  Tensor result(Shape{static_cast<std::int64_t>(lengths.size()) + 1}, DType::kInt32);
  std::int64_t total = 0;
  result.data<std::int32_t>()[0] = 0;
  for (std::size_t n = 0; n < lengths.size(); ++n) {
    total += lengths[n];
    result.data<std::int32_t>()[n + 1] = static_cast<std::int32_t>(total);
  }
  return result;
}

/// Inputs and options for sequences of these numbers of queries and keys.
struct Packed {
  Packed(Random& random, std::vector<std::int64_t> query_counts,
         std::vector<std::int64_t> key_counts, std::int64_t heads, std::int64_t kv_heads,
         std::int64_t D, std::int64_t Dv)
      : queries(std::move(query_counts)),
        keys(std::move(key_counts)),
        starts_q(starts(queries)),
        starts_k(starts(keys)),
        q(random.reals({starts_q.data<std::int32_t>().back(), heads, D})),
        k(random.reals({starts_k.data<std::int32_t>().back(), kv_heads, D})),
        v(random.reals({starts_k.data<std::int32_t>().back(), kv_heads, Dv})) {}

  AttentionOptions with(AttentionOptions options) const {
    options.cu_seqlens_q = starts_q;
    options.cu_seqlens_k = starts_k;
    return options;
  }
  void expect_reference(Context& context, const AttentionOptions& options = {},
                        const Tolerance& tolerance = {}) const {
    test::expect_reference(context, q, k, v, with(options), tolerance);
  }

  std::vector<std::int64_t> queries, keys;
  Tensor starts_q, starts_k, q, k, v;
};

TEST(PackedSequences, ReturnOutputsAndLseByToken) {
  Random random(1);
  const Packed packed(random, {3, 4}, {5, 2}, 4, 2, 8, 6);
  Context context;
  const AttentionResult result =
      attention(context, packed.q, packed.k, packed.v, with_everything(packed.with({})));
  EXPECT_EQ(result.output.shape(), (Shape{7, 4, 6}));
  ASSERT_TRUE(result.lse && result.entropy);
  EXPECT_EQ(result.lse->shape(), (Shape{4, 7}));
  EXPECT_EQ(result.entropy->shape(), (Shape{4, 7}));
}

TEST(PackedSequences, EqualSeparateCalls) {
  // Against the library itself with each sequence cut out, [1, H, L, D].
  Random random(2);
  const std::int64_t H = 4, G = 2, D = 8, Dv = 5;
  const Packed packed(random, {17, 1, 60, 130}, {40, 1, 60, 7}, H, G, D, Dv);
  Context context;
  for (const bool is_causal : {false, true}) {
    AttentionOptions options;
    options.is_causal = is_causal;
    options.need_lse = true;
    const AttentionResult got =
        attention(context, packed.q, packed.k, packed.v, packed.with(options));
    if (is_causal) options.causal_alignment = CausalAlignment::kBottomRight;
    std::int64_t first_q = 0, first_k = 0;
    for (std::size_t n = 0; n < packed.queries.size(); ++n) {
      const std::int64_t L = packed.queries[n], S = packed.keys[n];
      const auto cut = [](const Tensor& x, std::int64_t first, std::int64_t count) {
        const std::int64_t heads = x.shape()[1], size = x.shape()[2];
        Tensor y(Shape{1, heads, count, size});
        for (std::int64_t h = 0; h < heads; ++h)
          for (std::int64_t i = 0; i < count; ++i)
            for (std::int64_t d = 0; d < size; ++d)
              y.data()[static_cast<std::size_t>((h * count + i) * size + d)] =
                  x.data()[static_cast<std::size_t>(((first + i) * heads + h) * size + d)];
        return y;
      };
      const AttentionResult want =
          attention(context, cut(packed.q, first_q, L), cut(packed.k, first_k, S),
                    cut(packed.v, first_k, S), options);
      EXPECT_TRUE(same_bits(cut(got.output, first_q, L), want.output)) << "sequence " << n;
      for (std::int64_t h = 0; h < H; ++h) {
        for (std::int64_t i = 0; i < L; ++i) {
          EXPECT_EQ(got.lse->data()[static_cast<std::size_t>(h * 208 + first_q + i)],
                    want.lse->data()[static_cast<std::size_t>(h * L + i)])
              << "sequence " << n << " head " << h << " query " << i;
        }
      }
      first_q += L;
      first_k += S;
    }
  }
}

TEST(PackedSequences, AlignTheLastQueryWithTheLastKeyByDefault) {
  Random random(3);
  const Packed packed(random, {2, 3}, {4, 1}, 1, 1, 4, 4);
  Context context;
  AttentionOptions options = packed.with(causal());
  options.need_lse = true;
  const auto lse = [&] { return attention(context, packed.q, packed.k, packed.v, options).lse; };
  // Two queries at keys 2 and 3; three at -2, -1 and 0.
  const std::optional<Tensor> by_default = lse();
  EXPECT_TRUE(std::isinf(by_default->data()[2]) && std::isinf(by_default->data()[3]));
  EXPECT_TRUE(std::isfinite(by_default->data()[4]));
  options.causal_alignment = CausalAlignment::kBottomRight;
  EXPECT_TRUE(same_bits(lse(), by_default));

  packed.expect_reference(context, causal());
  for (const CausalAlignment alignment :
       {CausalAlignment::kTopLeft, CausalAlignment::kBottomRight}) {
    AttentionOptions aligned = causal();
    aligned.causal_alignment = alignment;
    packed.expect_reference(context, aligned);
  }
  const Tensor one = integers({1}, {-1}), each = integers({2}, {1, 5});
  for (const Tensor* offset : {&one, &each}) {
    AttentionOptions aligned = causal();
    aligned.causal_offset = *offset;
    packed.expect_reference(context, aligned);
  }
}

TEST(PackedSequences, MayHaveNoQueriesOrNoKeys) {
  Random random(4);
  Context context;
  using Counts = std::vector<std::int64_t>;
  const std::pair<Counts, Counts> cases[] = {{{0, 5, 0, 0, 60, 0}, {3, 0, 0, 200, 70, 0}},
                                             {{0, 0}, {0, 0}},
                                             {{4}, {0}},
                                             {{0}, {4}},
                                             {{}, {}}};
  for (const auto& [queries, keys] : cases) {
    SCOPED_TRACE(testing::Message() << queries.size() << " sequences");
    const Packed packed(random, queries, keys, 2, 1, 8, 8);
    packed.expect_reference(context);
    packed.expect_reference(context, causal());
  }
}

TEST(PackedSequences, DoNotReadOtherSequences) {
  // A sequence of only NaN and infinities between two others.
  Random random(5);
  Packed packed(random, {20, 30, 20}, {25, 130, 25}, 2, 2, 8, 8);
  const Packed other = [&] {
    Random again(5);
    return Packed(again, {20, 30, 20}, {25, 130, 25}, 2, 2, 8, 8);
  }();
  Context context;
  for (const float poison : {kNaN, kInfinity}) {
    for (Tensor* tensor : {&packed.k, &packed.v}) {
      std::fill_n(tensor->data().begin() + 25 * 2 * 8, 130 * 2 * 8, poison);
    }
    for (const bool is_causal : {false, true}) {
      AttentionOptions options;
      options.is_causal = is_causal;
      const Tensor got =
          attention(context, packed.q, packed.k, packed.v, packed.with(options)).output;
      const Tensor want = attention(context, other.q, other.k, other.v, other.with(options)).output;
      for (std::size_t i = 0; i < got.data().size(); ++i) {
        if (i >= 20 * 16 && i < 50 * 16) continue;
        ASSERT_EQ(got.data()[i], want.data()[i]) << "element " << i;
      }
    }
  }
}

TEST(PackedSequences, MatchTheReferenceWithOtherOptions) {
  Context context = context_with_threads(3);
  for (std::uint32_t seed = 0; seed < 60 && !HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    std::vector<std::int64_t> queries, keys;
    const std::int64_t count = random.integer(1, 6);
    for (std::int64_t n = 0; n < count; ++n) {
      queries.push_back(random.chance(60) ? random.integer(0, 20) : random.integer(0, 130));
      keys.push_back(random.chance(30) ? queries.back() : random.integer(0, 180));
    }
    const std::int64_t G = random.integer(1, 2), H = G * random.integer(1, 3);
    const std::int64_t D = random.integer(1, 24), Dv = random.integer(1, 24);
    const Packed packed(random, queries, keys, H, G, D, Dv);
    AttentionOptions options;
    const Tensor slopes = random.reals({H}, 0.0f, 0.1f), sinks = random.biases({H}, 20);
    Tensor offset(Shape{random.chance(50) ? 1 : count}, DType::kInt32);
    for (std::int32_t& number : offset.data<std::int32_t>()) {
      number = static_cast<std::int32_t>(random.integer(-20, 150));
    }
    options.is_causal = random.chance(50);
    options.causal_alignment = static_cast<CausalAlignment>(random.integer(0, 2));
    if (random.chance(30)) options.causal_offset = offset;
    if (random.chance(40)) options.window_left = random.integer(0, 40);
    if (random.chance(40)) options.window_right = random.integer(0, 40);
    if (random.chance(30)) options.softcap = 3.0f;
    if (random.chance(30)) options.scale = 0.3f;
    if (random.chance(30)) options.alibi_slopes = slopes;
    if (random.chance(30)) options.sinks = sinks;
    packed.expect_reference(context, options, {2e-5, 2e-5});
  }
}

TEST(PackedSequences, ReturnTheSameBitsForAnyNumberOfThreads) {
  Random random(6);
  const Packed packed(random, {100, 3, 1, 77, 250}, {100, 300, 9, 77, 250}, 6, 2, 32, 32);
  const AttentionOptions options = with_everything(packed.with(causal()));
  expect_same_bits_for_any_threads([&](Context& context) {
    return list_of_results(attention(context, packed.q, packed.k, packed.v, options));
  });
}

}  // namespace
}  // namespace heed::test
