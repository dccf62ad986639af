#pragma once

// The operations that TypeScript calls, by name. They are the one declaration of the border:
// embind.cpp exports them, and describe.cpp prints their arguments and results.

#include "border.hpp"

namespace heed::border {

template <auto Function>
struct Operation {
  const char* name;
};

template <auto Function>
constexpr Operation<Function> operation(const char* name) {
  return {name};
}

/// Calls a function with operations that have the functions' own names.
template <auto... Functions, class Visit>
void each(const Visit& visit) {
  (visit(operation<Functions>(kCamelCase<Functions>.data())), ...);
}

/// Calls a function with each operation of caches, block masks and packed weights.
template <class Visit>
void for_each_object_operation(const Visit& visit) {
  visit(operation<[](Context& context, const KvCache::Options& options) {
    return new KvCache(context, options);
  }>("newKvCache"));
  visit(operation<[](Context&, KvCache& cache, std::int64_t b) {
    return static_cast<double>(cache.length(b));
  }>("kvCacheLength"));
  visit(operation<[](Context&, KvCache& cache, std::int64_t b) {
    return static_cast<double>(cache.first(b));
  }>("kvCacheFirst"));
  visit(operation<[](Context&, KvCache& cache) { return static_cast<double>(cache.bytes()); }>(
      "kvCacheBytes"));
  visit(operation<[](Context&, KvCache& cache, const TensorView& k, const TensorView& v,
                     const std::optional<TensorView>& counts) { cache.append(k, v, counts); }>(
      "kvCacheAppend"));
  visit(operation<[](Context&, KvCache& cache, std::int64_t b, std::int64_t tokens) {
    cache.rewind(b, tokens);
  }>("kvCacheRewind"));
  visit(operation<[](Context&, KvCache& cache, std::int64_t from, std::int64_t to,
                     std::int64_t tokens) { cache.share(from, to, tokens); }>("kvCacheShare"));
  visit(operation<[](Context&, KvCache& cache, const TensorView& order) { cache.reorder(order); }>(
      "kvCacheReorder"));

  visit(
      operation<[](Context&, std::int64_t queries, std::int64_t keys, Tensor& kinds, Tensor& bits) {
        // The mask owns their memory from here on.
        held_tensors.bytes -= kinds.owned_bytes() + bits.owned_bytes();
        Tensor own_kinds = std::move(kinds);
        Tensor own_bits = std::move(bits);
        return new BlockMask(queries, keys, std::move(own_kinds), std::move(own_bits));
      }>("newBlockMask"));
  visit(operation<[](Context&, BlockMask& mask) { return static_cast<double>(mask.bytes()); }>(
      "blockMaskBytes"));

  visit(operation<[](Context& context, const TensorView& weight, PackedWeights::Format format) {
    return new PackedWeights(context, weight, format);
  }>("newPackedWeights"));
  visit(operation<[](Context&, PackedWeights& weights) {
    return static_cast<double>(weights.bytes());
  }>("packedWeightsBytes"));
}

/// Calls a function with each operation.
template <class Visit>
void for_each_operation(const Visit& visit) {
  visit(operation<[](Context&, DType dtype, const Shape& shape) { return Tensor(shape, dtype); }>(
      "newTensor"));
  for_each_object_operation(visit);
  // Functions of the headers, whose names in TypeScript are the same in camel case.
  each<&attention, &merge_attention, &linear_attention, &multi_head_attention, &average,
       &self_similarity, &softmax, &logsumexp, &embedding, &sinusoidal_encoding, &rope, &cast, &add,
       &attention_backward, &softmax_backward, &linear_backward, &activate, &activate_backward,
       &swiglu, &swiglu_backward, &layer_norm, &layer_norm_backward, &rms_norm, &rms_norm_backward,
       &dropout, &cross_entropy, &cross_entropy_backward, &embedding_backward, &rope_backward, &gru,
       &gru_backward, &subtract, &multiply, &divide, &scale, &sum_to, &cumsum, &broadcast_to,
       &matmul, &transpose, &slice, &concat, &adaptive_max_pool, &random_uniform, &random_normal,
       &is_finite, &average_backward, &additive_attention, &additive_attention_backward,
       &kernel_regression, &kernel_regression_backward, &local_mean, &non_local_means,
       &non_local_means_weights, &sgd_step, &adam_step, &clip_gradients, &top_k, &sample>(visit);
  visit(operation<[](Context&, const TensorView& query, const TensorView& key,
                     const TensorView& value, const MultiHeadAttentionParameters& parameters,
                     const MultiHeadAttentionOptions& options) {
    check_multi_head_attention(query, key, value, parameters, options);
  }>("checkMultiHeadAttention"));
  visit(operation<[](Context& context, const TensorView& x, const TensorView& weight,
                     const std::optional<TensorView>& bias, Activation activation) {
    return linear(context, x, weight, bias, activation);
  }>("linear"));
  visit(operation<[](Context& context, const TensorView& x, PackedWeights& weight,
                     const std::optional<TensorView>& bias, Activation activation) {
    return linear(context, x, weight, bias, activation);
  }>("linearPacked"));
  visit(operation<[](Context&, Tensor& x, const Shape& shape, std::int64_t first) {
    return x.alias(shape, first);
  }>("alias"));
  visit(operation<[](Context&, Tensor& x) { return x.is_shared(); }>("isShared"));
}

}  // namespace heed::border
