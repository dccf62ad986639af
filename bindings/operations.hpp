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

/// Calls a function with each operation.
template <class Visit>
void for_each_operation(const Visit& visit) {
  visit(operation<[](Context&, DType dtype, const Shape& shape) { return Tensor(shape, dtype); }>(
      "newTensor"));

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

  visit(operation<&attention>("attention"));
  visit(operation<&merge_attention>("mergeAttention"));
  visit(operation<&linear_attention>("linearAttention"));
  visit(operation<&multi_head_attention>("multiHeadAttention"));
  visit(operation<[](Context&, const TensorView& query, const TensorView& key,
                     const TensorView& value, const MultiHeadAttentionParameters& parameters,
                     const MultiHeadAttentionOptions& options) {
    check_multi_head_attention(query, key, value, parameters, options);
  }>("checkMultiHeadAttention"));
  visit(operation<&average>("average"));
  visit(operation<&self_similarity>("selfSimilarity"));
  visit(operation<[](Context& context, const TensorView& x, const TensorView& weight,
                     const std::optional<TensorView>& bias, Activation activation) {
    return linear(context, x, weight, bias, activation);
  }>("linear"));
  visit(operation<[](Context& context, const TensorView& x, PackedWeights& weight,
                     const std::optional<TensorView>& bias, Activation activation) {
    return linear(context, x, weight, bias, activation);
  }>("linearPacked"));
  visit(operation<&softmax>("softmax"));
  visit(operation<&embedding>("embedding"));
  visit(operation<&sinusoidal_encoding>("sinusoidalEncoding"));
  visit(operation<&rope>("rope"));
  visit(operation<&cast>("cast"));
  visit(operation<&add>("add"));
  visit(operation<&attention_backward>("attentionBackward"));
  visit(operation<&softmax_backward>("softmaxBackward"));
  visit(operation<&linear_backward>("linearBackward"));
  visit(operation<&activate>("activate"));
  visit(operation<&activate_backward>("activateBackward"));
  visit(operation<&swiglu>("swiglu"));
  visit(operation<&swiglu_backward>("swigluBackward"));
  visit(operation<&layer_norm>("layerNorm"));
  visit(operation<&layer_norm_backward>("layerNormBackward"));
  visit(operation<&rms_norm>("rmsNorm"));
  visit(operation<&rms_norm_backward>("rmsNormBackward"));
  visit(operation<&dropout>("dropout"));
  visit(operation<&cross_entropy>("crossEntropy"));
  visit(operation<&cross_entropy_backward>("crossEntropyBackward"));
  visit(operation<&embedding_backward>("embeddingBackward"));
  visit(operation<&rope_backward>("ropeBackward"));
  visit(operation<&gru>("gru"));
  visit(operation<&gru_backward>("gruBackward"));
  visit(operation<&subtract>("subtract"));
  visit(operation<&multiply>("multiply"));
  visit(operation<&divide>("divide"));
  visit(operation<&scale>("scale"));
  visit(operation<&sum_to>("sumTo"));
  visit(operation<&cumsum>("cumsum"));
  visit(operation<&broadcast_to>("broadcastTo"));
  visit(operation<&matmul>("matmul"));
  visit(operation<&transpose>("transpose"));
  visit(operation<&slice>("slice"));
  visit(operation<&concat>("concat"));
  visit(operation<&adaptive_max_pool>("adaptiveMaxPool"));
  visit(operation<&random_uniform>("randomUniform"));
  visit(operation<&random_normal>("randomNormal"));
  visit(operation<&is_finite>("isFinite"));
  visit(operation<&average_backward>("averageBackward"));
  visit(operation<&additive_attention>("additiveAttention"));
  visit(operation<&additive_attention_backward>("additiveAttentionBackward"));
  visit(operation<&kernel_regression>("kernelRegression"));
  visit(operation<&kernel_regression_backward>("kernelRegressionBackward"));
  visit(operation<&local_mean>("localMean"));
  visit(operation<&non_local_means>("nonLocalMeans"));
  visit(operation<&non_local_means_weights>("nonLocalMeansWeights"));
  visit(operation<&sgd_step>("sgdStep"));
  visit(operation<&adam_step>("adamStep"));
  visit(operation<&clip_gradients>("clipGradients"));
  visit(operation<&top_k>("topK"));
  visit(operation<&sample>("sample"));
  visit(operation<[](Context&, Tensor& x, const Shape& shape, std::int64_t first) {
    return x.alias(shape, first);
  }>("alias"));
  visit(operation<[](Context&, Tensor& x) { return x.is_shared(); }>("isShared"));
}

}  // namespace heed::border
