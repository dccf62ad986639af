// The border between C++ and JavaScript, and the only file that knows Emscripten. All operations
// are called in one way: JavaScript writes the arguments as numbers into memory that both sides see
// (bindings/js/core/border.ts), the operation's signature says how to read them, and the results or
// the reason of a failure are written to the same memory. Each call enters the module once; with
// Embind's own objects there would be a call for every option and result.

#include <emscripten/bind.h>
#include <malloc.h>

#include "border.hpp"

// Stores version and variant in the binary, so that bindings/js/load/binaries.ts can refuse another
// one: exports have names of one letter, so any binary would link with any glue.
__asm__(".section .custom_section.heed,\"\",@\n.ascii \"" HEED_VERSION " " HEED_WASM_VARIANT
        "\"\n.section .text,\"\",@");

namespace {

using namespace heed;
using heed::border::Engine;
using heed::border::Handle;

/// Exports a function to JavaScript, by the types of its parameters and of its result.
template <auto Function>
void operation(const char* name) {
  emscripten::function(
      name, +[](Handle engine, std::size_t count) {
        return border::guarded(
            *reinterpret_cast<Engine*>(engine), count,
            +[](Engine& engine, std::size_t count) { border::run(engine, count, +Function); });
      });
}

template <class T>
void destroy(Handle object) {
  delete reinterpret_cast<T*>(object);
}

}  // namespace

EMSCRIPTEN_BINDINGS(heed) {
  emscripten::constant("version", std::string(HEED_VERSION));

  emscripten::enum_<DType>("DType")
      .value("float32", DType::kFloat32)
      .value("int32", DType::kInt32)
      .value("bool", DType::kBool)
      .value("float16", DType::kFloat16)
      .value("bfloat16", DType::kBFloat16);
  emscripten::enum_<KvCache::Format>("KvCacheFormat")
      .value("float32", KvCache::Format::kFloat32)
      .value("float16", KvCache::Format::kFloat16)
      .value("int8", KvCache::Format::kInt8);
  emscripten::enum_<Precision>("Precision")
      .value("float32", Precision::kFloat32)
      .value("int8Scores", Precision::kInt8Scores);

  emscripten::enum_<CausalAlignment>("CausalAlignment")
      .value("default", CausalAlignment::kDefault)
      .value("topLeft", CausalAlignment::kTopLeft)
      .value("bottomRight", CausalAlignment::kBottomRight);
  emscripten::enum_<LinearRule>("LinearRule")
      .value("linear", LinearRule::kLinear)
      .value("gated", LinearRule::kGated)
      .value("delta", LinearRule::kDelta)
      .value("gatedDelta", LinearRule::kGatedDelta);
  emscripten::enum_<Activation>("Activation")
      .value("none", Activation::kNone)
      .value("relu", Activation::kRelu)
      .value("gelu", Activation::kGelu)
      .value("geluTanh", Activation::kGeluTanh)
      .value("silu", Activation::kSilu)
      .value("tanh", Activation::kTanh)
      .value("sigmoid", Activation::kSigmoid);
  emscripten::enum_<Reduction>("Reduction")
      .value("mean", Reduction::kMean)
      .value("sum", Reduction::kSum)
      .value("none", Reduction::kNone);
  emscripten::enum_<Border>("Border")
      .value("reflect", Border::kReflect)
      .value("zero", Border::kZero);
  emscripten::enum_<PackedWeights::Format>("PackedWeightsFormat")
      .value("float32", PackedWeights::Format::kFloat32)
      .value("int8", PackedWeights::Format::kInt8);
  emscripten::enum_<RopeStyle>("RopeStyle")
      .value("half", RopeStyle::kHalf)
      .value("interleaved", RopeStyle::kInterleaved);

  // Null if there is no memory. The engine computes after it has been started.
  emscripten::function(
      "newEngine", +[] { return reinterpret_cast<Handle>(new (std::nothrow) Engine); });
  emscripten::function(
      "startEngine", +[](Handle engine, int threads) {
        auto& started = *reinterpret_cast<Engine*>(engine);
        started.numbers[0] = threads;
        return border::guarded(
            started, 1, +[](Engine& engine, std::size_t) {
              engine.context.emplace(
                  Context::Options{.threads = static_cast<int>(engine.numbers[0])});
            });
      });
  emscripten::function(
      "runningThreads",
      +[](Handle engine) { return reinterpret_cast<Engine*>(engine)->context->running_threads(); });
  emscripten::function(
      "numbersOf", +[](Handle engine) {
        return reinterpret_cast<Handle>(reinterpret_cast<Engine*>(engine)->numbers.data());
      });
  emscripten::constant("numberCount", static_cast<int>(Engine::kNumbers));
  emscripten::function(
      "messageOf", +[](Handle engine) {
        return reinterpret_cast<Handle>(reinterpret_cast<Engine*>(engine)->message.data());
      });

  operation<[](Context&, DType dtype, const Shape& shape) { return Tensor(shape, dtype); }>(
      "newTensor");
  emscripten::function(
      "deleteTensor", +[](Handle object) {
        auto* const tensor = reinterpret_cast<Tensor*>(object);
        --border::held_tensors.count;
        border::held_tensors.bytes -= tensor->owned_bytes();
        delete tensor;
      });
  emscripten::function(
      "tensorCount", +[] { return static_cast<double>(border::held_tensors.count); });
  emscripten::function(
      "tensorBytes", +[] { return static_cast<double>(border::held_tensors.bytes); });
  // The allocator returns a size of 32 bits as an int.
  emscripten::function(
      "bytesInUse",
      +[] { return static_cast<double>(static_cast<unsigned>(mallinfo().uordblks)); });

  operation<[](Context& context, const KvCache::Options& options) {
    return new KvCache(context, options);
  }>("newKvCache");
  emscripten::function("deleteKvCache", &destroy<KvCache>);
  operation<[](Context&, KvCache& cache, std::int64_t b) {
    return static_cast<double>(cache.length(b));
  }>("kvCacheLength");
  operation<[](Context&, KvCache& cache, std::int64_t b) {
    return static_cast<double>(cache.first(b));
  }>("kvCacheFirst");
  operation<[](Context&, KvCache& cache) { return static_cast<double>(cache.bytes()); }>(
      "kvCacheBytes");
  operation<[](Context&, KvCache& cache, const TensorView& k, const TensorView& v,
               const std::optional<TensorView>& counts) { cache.append(k, v, counts); }>(
      "kvCacheAppend");
  operation<[](Context&, KvCache& cache, std::int64_t b, std::int64_t tokens) {
    cache.rewind(b, tokens);
  }>("kvCacheRewind");
  operation<[](Context&, KvCache& cache, std::int64_t from, std::int64_t to, std::int64_t tokens) {
    cache.share(from, to, tokens);
  }>("kvCacheShare");
  operation<[](Context&, KvCache& cache, const TensorView& order) { cache.reorder(order); }>(
      "kvCacheReorder");

  operation<[](Context&, std::int64_t queries, std::int64_t keys, Tensor& kinds, Tensor& bits) {
    // The mask owns their memory from here on.
    border::held_tensors.bytes -= kinds.owned_bytes() + bits.owned_bytes();
    Tensor own_kinds = std::move(kinds);
    Tensor own_bits = std::move(bits);
    return new BlockMask(queries, keys, std::move(own_kinds), std::move(own_bits));
  }>("newBlockMask");
  emscripten::function("deleteBlockMask", &destroy<BlockMask>);
  operation<[](Context&, BlockMask& mask) { return static_cast<double>(mask.bytes()); }>(
      "blockMaskBytes");

  operation<[](Context& context, const TensorView& weight, PackedWeights::Format format) {
    return new PackedWeights(context, weight, format);
  }>("newPackedWeights");
  emscripten::function("deletePackedWeights", &destroy<PackedWeights>);
  operation<[](Context&, PackedWeights& weights) { return static_cast<double>(weights.bytes()); }>(
      "packedWeightsBytes");

  operation<&attention>("attention");
  operation<&merge_attention>("mergeAttention");
  operation<&linear_attention>("linearAttention");
  operation<&multi_head_attention>("multiHeadAttention");
  operation<&average>("average");
  operation<&self_similarity>("selfSimilarity");
  operation<[](Context& context, const TensorView& x, const TensorView& weight,
               const std::optional<TensorView>& bias, Activation activation) {
    return linear(context, x, weight, bias, activation);
  }>("linear");
  operation<[](Context& context, const TensorView& x, PackedWeights& weight,
               const std::optional<TensorView>& bias, Activation activation) {
    return linear(context, x, weight, bias, activation);
  }>("linearPacked");
  operation<&softmax>("softmax");
  operation<&embedding>("embedding");
  operation<&sinusoidal_encoding>("sinusoidalEncoding");
  operation<&rope>("rope");
  operation<&cast>("cast");
  operation<&add>("add");
  operation<&attention_backward>("attentionBackward");
  operation<&softmax_backward>("softmaxBackward");
  operation<&linear_backward>("linearBackward");
  operation<&activate>("activate");
  operation<&activate_backward>("activateBackward");
  operation<&swiglu>("swiglu");
  operation<&swiglu_backward>("swigluBackward");
  operation<&layer_norm>("layerNorm");
  operation<&layer_norm_backward>("layerNormBackward");
  operation<&rms_norm>("rmsNorm");
  operation<&rms_norm_backward>("rmsNormBackward");
  operation<&dropout>("dropout");
  operation<&cross_entropy>("crossEntropy");
  operation<&cross_entropy_backward>("crossEntropyBackward");
  operation<&embedding_backward>("embeddingBackward");
  operation<&rope_backward>("ropeBackward");
  operation<&gru>("gru");
  operation<&gru_backward>("gruBackward");
  operation<&subtract>("subtract");
  operation<&multiply>("multiply");
  operation<&divide>("divide");
  operation<&scale>("scale");
  operation<&sum_to>("sumTo");
  operation<&cumsum>("cumsum");
  operation<&broadcast_to>("broadcastTo");
  operation<&matmul>("matmul");
  operation<&transpose>("transpose");
  operation<&slice>("slice");
  operation<&concat>("concat");
  operation<&adaptive_max_pool>("adaptiveMaxPool");
  operation<&random_uniform>("randomUniform");
  operation<&random_normal>("randomNormal");
  operation<&is_finite>("isFinite");
  operation<&average_backward>("averageBackward");
  operation<&additive_attention>("additiveAttention");
  operation<&additive_attention_backward>("additiveAttentionBackward");
  operation<&kernel_regression>("kernelRegression");
  operation<&kernel_regression_backward>("kernelRegressionBackward");
  operation<&local_mean>("localMean");
  operation<&non_local_means>("nonLocalMeans");
  operation<&non_local_means_weights>("nonLocalMeansWeights");
  operation<&sgd_step>("sgdStep");
  operation<&adam_step>("adamStep");
  operation<&clip_gradients>("clipGradients");
  operation<&top_k>("topK");
  operation<&sample>("sample");
  operation<[](Context&, Tensor& x, const Shape& shape, std::int64_t first) {
    return x.alias(shape, first);
  }>("alias");
  operation<[](Context&, Tensor& x) { return x.is_shared(); }>("isShared");
}
