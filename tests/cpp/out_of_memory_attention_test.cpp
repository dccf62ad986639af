// Attention and its caches survive every refused allocation.

#include "attention_gradient_support.hpp"
#include "cache_support.hpp"
#include "out_of_memory_support.hpp"

namespace heed::test {
namespace {

const auto real_heads = reals({{2, 4, 70, 16}, {2, 2, 150, 16}, {2, 2, 150, 24}});

/// A cache with some tokens, and nine queries and more tokens for it.
/// `change(context, cache, tokens)` changes the cache once. Its results and the attention of the
/// queries afterwards are compared.
template <class Change>
Operation cached(const char* name, KvCache::Format format, const Change& change) {
  return {name, [=](Context& context) {
            Random random(2);
            auto cache =
                std::make_shared<KvCache>(context, cache_options(2, 2, 16, 24, 400, format));
            cache->append(random.reals({2, 2, 60, 16}), random.reals({2, 2, 60, 24}));
            auto given = std::make_shared<Tensors>(list_of(random.reals({2, 4, 9, 16}),
                                                           random.reals({2, 2, 160, 16}),
                                                           random.reals({2, 2, 160, 24})));
            auto returned = std::make_shared<std::optional<Tensor>>();
            return [=, &context] {
              if (!*returned) *returned = change(context, *cache, *given);
              AttentionOptions options;
              options.cache = cache.get();
              const Tensor keys(Shape{2, 2, 0, 16}), values(Shape{2, 2, 0, 24});
              return list_of(scale(context, **returned, 1.0),
                             attention(context, given->front(), keys, values, options).output);
            };
          }};
}

std::vector<Operation> attention_operations() {
  std::vector<Operation> list;
  const auto add_attention = [&](const char* name, const auto& change) {
    list.push_back(pure(name, real_heads, [=](Context& context, const Tensors& x) {
      AttentionOptions options;
      change(options);
      return list_of_results(attention(context, x[0], x[1], x[2], options));
    }));
  };
  add_attention("attention", [](AttentionOptions&) {});
  add_attention("attention with every result",
                [](AttentionOptions& options) { options = with_everything(causal()); });
  add_attention("attention with dropout", [](AttentionOptions& options) {
    options.dropout = 0.3;
    options.need_statistics = true;
  });
  add_attention("attention with int8 scores",
                [](AttentionOptions& options) { options.precision = Precision::kInt8Scores; });
  list.push_back(
      pure("attention with a block mask", real_heads, [](Context& context, const Tensors& x) {
        const BlockMask mask = BlockMask::from(
            1, 1, 70, 150,
            [](auto, auto, std::int64_t i, std::int64_t j) { return j % 7 <= i % 5; });
        AttentionOptions options;
        options.block_mask = &mask;
        return list_of_results(attention(context, x[0], x[1], x[2], options));
      }));
  list.push_back(pure("attention with few queries",
                      reals({{1, 4, 1, 16}, {1, 2, 900, 16}, {1, 2, 900, 24}}),
                      [](Context& context, const Tensors& x) {
                        return list_of_results(attention(context, x[0], x[1], x[2]));
                      }));
  return list;
}

std::vector<Operation> other_input_operations() {
  return {
      pure(
          "attention with masks and a past",
          [](Random& random) {
            Tensors x = real_heads(random);
            x.push_back(random.biases({70, 190}, 20));
            x.push_back(random.bools({2, 1, 1, 190}, 80));
            x.push_back(random.reals({2, 2, 40, 16}));
            x.push_back(random.reals({2, 2, 40, 24}));
            return x;
          },
          [](Context& context, const Tensors& x) {
            AttentionOptions options = causal();
            options.bias = x[3];
            options.mask = x[4];
            options.past_key = x[5];
            options.past_value = x[6];
            AttentionResult result = attention(context, x[0], x[1], x[2], options);
            return list_of(std::move(result.output), std::move(result.present_key));
          }),
      pure(
          "attention over packed sequences",
          [](Random& random) {
            return list_of(random.reals({50, 4, 16}), random.reals({50, 2, 16}),
                           random.reals({50, 2, 24}), integers({3}, {0, 13, 50}));
          },
          [](Context& context, const Tensors& x) {
            AttentionOptions options = causal();
            options.cu_seqlens_q = options.cu_seqlens_k = x[3];
            return list_of_results(attention(context, x[0], x[1], x[2], options));
          }),
      pure("attention of 16-bit floats", real_heads,
           [](Context& context, const Tensors& x) {
             const Tensor q = cast(context, x[0], DType::kFloat16);
             const Tensor k = cast(context, x[1], DType::kFloat16);
             const Tensor v = cast(context, x[2], DType::kFloat16);
             return list_of(
                 cast(context, attention(context, q, k, v, causal()).output, DType::kFloat32));
           }),
  };
}

std::vector<Operation> related_operations() {
  return {
      pure(
          "attention_backward",
          [](Random& random) {
            Tensors x = real_heads(random);
            x.push_back(random.reals({2, 4, 70, 24}));
            x.push_back(random.reals({1, 150}));
            x.push_back(random.reals({4}, 0.0f, 0.1f));
            x.push_back(random.reals({4}));
            return x;
          },
          [](Context& context, const Tensors& x) {
            AttentionOptions options = causal();
            options.bias = x[4];
            options.alibi_slopes = x[5];
            options.sinks = x[6];
            options.need_statistics = true;
            const AttentionResult forward = attention(context, x[0], x[1], x[2], options);
            AttentionGradients result =
                attention_backward(context, x[3], x[0], x[1], x[2], forward.output,
                                   *forward.statistics, options, every_gradient(options));
            return list_of(std::move(result.q), std::move(result.k), std::move(result.v),
                           std::move(result.bias), std::move(result.alibi_slopes),
                           std::move(result.sinks));
          }),
      pure("merge_attention", reals({{2, 4, 70, 16}, {2, 4, 70}, {2, 4, 70, 16}, {2, 4, 70}}),
           [](Context& context, const Tensors& x) {
             PartialAttention result = merge_attention(context, x[0], x[1], x[2], x[3]);
             return list_of(std::move(result.output), std::move(result.lse));
           }),
      pure(
          "linear_attention",
          [](Random& random) {
            return list_of(random.reals({1, 2, 70, 16}), random.reals({1, 2, 70, 16}),
                           random.reals({1, 2, 70, 8}), random.reals({1, 2, 70}, 0.0f, 1.0f));
          },
          [](Context& context, const Tensors& x) {
            LinearAttentionOptions options;
            options.rule = LinearRule::kDelta;
            options.beta = x[3];
            LinearAttentionResult result = linear_attention(context, x[0], x[1], x[2], options);
            return list_of(std::move(result.output), std::move(result.present_state));
          }),
      pure("multi_head_attention", reals({{2, 40, 32}, {96, 32}, {96}, {32, 32}, {32}}),
           [](Context& context, const Tensors& x) {
             MultiHeadAttentionParameters parameters;
             parameters.in_proj_weight = x[1];
             parameters.in_proj_bias = x[2];
             parameters.out_proj_weight = x[3];
             parameters.out_proj_bias = x[4];
             MultiHeadAttentionOptions options;
             options.heads = 4;
             options.need_weights = true;
             MultiHeadAttentionResult result =
                 multi_head_attention(context, x[0], x[0], x[0], parameters, options);
             return list_of(std::move(result.output), std::move(result.weights));
           }),
  };
}

std::vector<Operation> cache_operations() {
  std::vector<Operation> list;
  for (const KvCache::Format format : kFormats) {
    list.push_back(
        cached("append to a cache", format, [](Context&, KvCache& cache, const Tensors& x) {
          cache.append(x[1], x[2]);
          return Tensor();
        }));
    list.push_back(cached("attention that appends to a cache", format,
                          [](Context& context, KvCache& cache, const Tensors& x) {
                            AttentionOptions options = causal();
                            options.cache = &cache;
                            return attention(context, x[0], x[1], x[2], options).output;
                          }));
  }
  list.push_back(cached("share tokens and append to them", KvCache::Format::kFloat32,
                        [](Context&, KvCache& cache, const Tensors& x) {
                          if (cache.length(1) == 60) cache.share(0, 1, 50);
                          cache.append(x[1], x[2]);
                          return Tensor();
                        }));
  list.push_back(cached("reorder a cache", KvCache::Format::kFloat32,
                        [](Context&, KvCache& cache, const Tensors&) {
                          cache.reorder(integers({2}, {1, 0}));
                          return Tensor();
                        }));
  return list;
}

class AttentionOutOfMemory : public testing::TestWithParam<Operation> {};

TEST_P(AttentionOutOfMemory, LeaksNothingAndIsRightTheNextTime) {
  expect_survival(GetParam().prepare);
}

INSTANTIATE_TEST_SUITE_P(Attention, AttentionOutOfMemory,
                         testing::ValuesIn(attention_operations()));
INSTANTIATE_TEST_SUITE_P(OtherInputs, AttentionOutOfMemory,
                         testing::ValuesIn(other_input_operations()));
INSTANTIATE_TEST_SUITE_P(Related, AttentionOutOfMemory, testing::ValuesIn(related_operations()));
INSTANTIATE_TEST_SUITE_P(Caches, AttentionOutOfMemory, testing::ValuesIn(cache_operations()));

}  // namespace
}  // namespace heed::test
