// Operations and contexts survive every refused allocation.

#include "heed/packed_weights.hpp"
#include "out_of_memory_support.hpp"

namespace heed::test {

constinit Allocations allocations;

}  // namespace heed::test

// The other forms of new and delete call these, except forms with an alignment, which Heed does not
// use.
void* operator new(std::size_t bytes) {
  if (void* const memory = heed::test::allocations.take(bytes)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return heed::test::allocations.take(bytes);
}
void operator delete(void* memory) noexcept { heed::test::allocations.give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept {
  heed::test::allocations.give_back(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  heed::test::allocations.give_back(memory);
}

namespace heed::test {
namespace {

std::vector<Operation> layer_operations() {
  std::vector<Operation> list;
  const auto layer = reals({{3, 40, 32}, {48, 32}, {48}, {3, 40, 48}, {32}, {32}});
  const auto add_layer = [&](const char* name, const auto& call) {
    list.push_back(pure(name, layer, call));
  };
  add_layer("linear", [](Context& context, const Tensors& x) {
    return list_of(linear(context, x[0], x[1], x[2], Activation::kGelu));
  });
  for (const auto format : {PackedWeights::Format::kFloat32, PackedWeights::Format::kInt8,
                            PackedWeights::Format::kInt4})
    add_layer("linear with packed weights", [=](Context& context, const Tensors& x) {
      const PackedWeights packed(context, x[1], format);
      return list_of(linear(context, x[0], packed, x[2]));
    });
  add_layer("linear_backward", [](Context& context, const Tensors& x) {
    LinearGradients result = linear_backward(context, x[3], x[0], x[1]);
    return list_of(std::move(result.x), std::move(result.weight), std::move(result.bias));
  });
  add_layer("activate", [](Context& context, const Tensors& x) {
    return list_of(activate(context, x[0], Activation::kGelu),
                   activate_backward(context, x[0], x[0], Activation::kSilu),
                   swiglu(context, x[0], x[0]),
                   std::move(swiglu_backward(context, x[0], x[0], x[0]).up));
  });
  add_layer("norms", [](Context& context, const Tensors& x) {
    const LayerNormOptions options{.weight = x[4], .bias = x[5]};
    NormGradients result = layer_norm_backward(context, x[0], x[0], options);
    NormGradients of_rms = rms_norm_backward(context, x[0], x[0], {.weight = x[4]});
    return list_of(layer_norm(context, x[0], options), rms_norm(context, x[0], {.weight = x[4]}),
                   std::move(result.x), std::move(result.weight), std::move(result.bias),
                   std::move(of_rms.x), std::move(of_rms.weight));
  });
  add_layer("softmax and dropout", [](Context& context, const Tensors& x) {
    return list_of(softmax(context, x[0]), softmax_backward(context, x[0], x[0]),
                   dropout(context, x[0], 0.2, 1));
  });
  add_layer("cross_entropy", [](Context& context, const Tensors& x) {
    const Tensor targets = integers({2}, {0, 31}), logits = slice(context, x[1], 0, 0, 2);
    CrossEntropyOptions options;
    options.label_smoothing = 0.1f;
    return list_of(cross_entropy(context, logits, targets, options),
                   cross_entropy_backward(context, filled({}, 1.0f), logits, targets, options));
  });
  add_layer("embeddings and positions", [](Context& context, const Tensors& x) {
    const Tensor ids = integers({3}, {0, 47, 0}), found = embedding(context, ids, x[1]);
    RopeOptions options;
    options.heads = 2;
    return list_of(embedding_backward(context, found, ids, 48),
                   sinusoidal_encoding(context, 20, 32), rope(context, x[0], options),
                   rope_backward(context, x[0], options));
  });
  return list;
}

std::vector<Operation> array_operations() {
  std::vector<Operation> list;
  const auto arrays = reals({{3, 40, 32}, {32}, {3, 32, 20}});
  const auto add_array = [&](const char* name, const auto& call) {
    list.push_back(pure(name, arrays, call));
  };
  add_array("arithmetic", [](Context& context, const Tensors& x) {
    return list_of(add(context, x[0], x[1]), subtract(context, x[0], x[1]),
                   multiply(context, x[0], x[1]), divide(context, x[0], x[1]),
                   scale(context, x[0], 3.0), sum_to(context, x[0], Shape{40, 1}),
                   sum_to(context, x[0], Shape{}), cumsum(context, x[0], 1),
                   broadcast_to(context, x[1], Shape{5, 32}));
  });
  add_array("matmul", [](Context& context, const Tensors& x) {
    return list_of(matmul(context, x[0], x[2]), matmul(context, x[0], x[0], {.transpose_b = true}));
  });
  add_array("rearranging", [](Context& context, const Tensors& x) {
    const std::int64_t order[] = {2, 0, 1};
    const TensorView parts[] = {x[0], x[0]};
    return list_of(transpose(context, x[0], order), slice(context, x[0], 1, 3, 20),
                   concat(context, parts, 1),
                   cast(context, cast(context, x[0], DType::kFloat16), DType::kFloat32));
  });
  add_array("numbers and tokens", [](Context& context, const Tensors& x) {
    const Tensor tokens = sample(context, x[0], {.top_k = 20, .top_p = 0.9f});
    Tensor numbers(tokens.shape());
    std::ranges::copy(tokens.data<std::int32_t>(), numbers.data().begin());
    return list_of(random_normal(context, {70}, 0.0, 1.0, 1),
                   random_uniform(context, {70}, 0.0, 1.0, 1), top_k(context, x[0], 5).values,
                   std::move(numbers));
  });
  add_array("averages and similarity", [](Context& context, const Tensors& x) {
    AverageOptions options;
    options.is_causal = true;
    return list_of(average(context, x[0], options), average_backward(context, x[0]),
                   self_similarity(context, x[0]).output);
  });
  return list;
}

std::vector<Operation> other_operations() {
  std::vector<Operation> list;
  list.push_back(pure("gru", reals({{2, 7, 12}, {30, 12}, {30, 10}, {30}, {30}, {2, 7, 10}}),
                      [](Context& context, const Tensors& x) {
                        const GruParameters parameters{x[1], x[2], x[3], x[4]};
                        GruOptions options;
                        options.need_gates = true;
                        GruResult forward = gru(context, x[0], parameters, options);
                        GruGradients result = gru_backward(context, x[5], {}, x[0], parameters,
                                                           forward.output, *forward.gates, options);
                        return list_of(std::move(forward.state), std::move(result.x),
                                       std::move(result.weight_hh), std::move(result.bias_hh));
                      }));
  list.push_back(pure(
      "additive_attention", reals({{2, 9, 12}, {2, 20, 12}, {2, 20, 8}, {12}, {2, 9, 8}}),
      [](Context& context, const Tensors& x) {
        AdditiveAttentionResult forward = additive_attention(context, x[0], x[1], x[2], x[3]);
        AdditiveAttentionGradients result =
            additive_attention_backward(context, x[4], {}, x[0], x[1], x[2], x[3], forward.weights);
        return list_of(std::move(forward.output), std::move(result.q), std::move(result.k),
                       std::move(result.weight));
      }));
  list.push_back(pure(
      "kernel_regression",
      [](Random& random) {
        return list_of(random.reals({30}), random.reals({50}), random.reals({50, 2}),
                       filled({1}, 0.5f), random.reals({30, 2}));
      },
      [](Context& context, const Tensors& x) {
        KernelRegressionResult forward = kernel_regression(context, x[0], x[1], x[2], x[3]);
        KernelRegressionGradients result =
            kernel_regression_backward(context, x[4], x[0], x[1], x[2], x[3], forward.weights);
        return list_of(std::move(forward.output), std::move(result.x_train),
                       std::move(result.bandwidth));
      }));
  list.push_back(pure("images", reals({{20, 24}}), [](Context& context, const Tensors& x) {
    return list_of(local_mean(context, x[0], 2), non_local_means(context, x[0]).output,
                   non_local_means_weights(context, x[0], 3, 4),
                   adaptive_max_pool(context, x[0], 5, 5));
  }));
  list.push_back({"steps of optimisers", [](Context& context) {
                    Random random(4);
                    auto x = std::make_shared<Tensors>(
                        list_of(random.reals({300}), random.reals({300}), filled({300}, 0.0f),
                                filled({300}, 0.0f)));
                    auto is_done = std::make_shared<bool>(false);
                    return [=, &context] {
                      if (!*is_done) {
                        Tensor copy = scale(context, (*x)[1], 1.0);
                        Tensor* const gradients[] = {&copy};
                        clip_gradients(context, gradients, 1.0);
                        adam_step(context, (*x)[0], copy, (*x)[2], (*x)[3], 1, {});
                        sgd_step(context, (*x)[0], copy, nullptr, true, {});
                      }
                      *is_done = true;
                      return list_of(scale(context, (*x)[0], 1.0), scale(context, (*x)[3], 1.0));
                    };
                  }});
  return list;
}

class OutOfMemory : public testing::TestWithParam<Operation> {};

TEST_P(OutOfMemory, LeaksNothingAndIsRightTheNextTime) { expect_survival(GetParam().prepare); }

INSTANTIATE_TEST_SUITE_P(Layers, OutOfMemory, testing::ValuesIn(layer_operations()));
INSTANTIATE_TEST_SUITE_P(Arrays, OutOfMemory, testing::ValuesIn(array_operations()));
INSTANTIATE_TEST_SUITE_P(Others, OutOfMemory, testing::ValuesIn(other_operations()));

TEST(OutOfMemoryOfContexts, LeaksNothing) {
  for (const Refused refusals : {Refused::kOne, Refused::kAllFromThere})
    for (const int threads : {1, 3}) {
      const std::int64_t alive_before = allocations.alive;
      std::int64_t n = 0;
      while (throws_at(n, refusals, [&] { context_with_threads(threads); })) ++n;
      EXPECT_EQ(allocations.refused, 0);
      EXPECT_GT(n, 0);
      EXPECT_EQ(allocations.alive, alive_before);
    }
}

}  // namespace
}  // namespace heed::test
