// The border between C++ and JavaScript, and the only file that knows Emscripten. Names are those
// of include/heed in camelCase; bindings/js/module.ts has their types. C++ exceptions pass as they
// are: bindings/js/error.ts turns them into HeedError.

#include <emscripten/bind.h>

#include "heed/heed.hpp"

namespace {

using namespace heed;
using emscripten::allow_raw_pointers;
using emscripten::class_;
using emscripten::val;

Tensor* make_tensor(DType dtype, const val& shape) {
  // Sizes come as doubles, which hold every whole number up to 2^53.
  const std::vector<double> numbers = emscripten::convertJSArrayToNumberVector<double>(shape);
  const std::vector<std::int64_t> sizes(numbers.begin(), numbers.end());
  return new Tensor(Shape(sizes), dtype);
}

val shape_of(const Tensor& tensor) {
  const auto sizes = tensor.shape().sizes();
  return val::array(std::vector<double>(sizes.begin(), sizes.end()));
}

/// A typed array on the module's memory: valid until the memory grows or the tensor goes.
val view_of(Tensor& tensor) {
  const auto view = [](auto elements) {
    return val(emscripten::typed_memory_view(elements.size(), elements.data()));
  };
  switch (tensor.dtype()) {
    case DType::kFloat32:
      return view(tensor.data<float>());
    case DType::kInt32:
      return view(tensor.data<std::int32_t>());
    case DType::kBool: {
      const auto elements = tensor.data<bool>();
      return view(std::span(reinterpret_cast<std::uint8_t*>(elements.data()), elements.size()));
    }
  }
  return val::undefined();
}

/// A setter for an optional tensor among an operation's options. The tensor must outlive the call.
template <class Options, std::optional<TensorView> Options::* Member>
void set(Options& options, const Tensor& tensor) {
  options.*Member = tensor;
}

/// Hands a result over to JavaScript, which deletes it.
template <class Result>
Result* give(Result result) {
  return new Result(std::move(result));
}

/// Moves a tensor out of a result; null if it was not asked for.
Tensor* take(Tensor& tensor) { return give(std::move(tensor)); }
Tensor* take(std::optional<Tensor>& tensor) { return tensor ? take(*tensor) : nullptr; }

template <class Result, auto Member>
Tensor* take_member(Result& result) {
  return take(result.*Member);
}

std::optional<TensorView> view_or_nothing(const Tensor* tensor) {
  if (tensor == nullptr) return std::nullopt;
  return TensorView(*tensor);
}

Context* make_context(int threads) { return new Context(Context::Options{.threads = threads}); }

}  // namespace

EMSCRIPTEN_BINDINGS(heed) {
  emscripten::constant("version", std::string(HEED_VERSION));

  emscripten::enum_<DType>("DType")
      .value("float32", DType::kFloat32)
      .value("int32", DType::kInt32)
      .value("bool", DType::kBool);

  class_<Tensor>("Tensor")
      .constructor(&make_tensor, allow_raw_pointers())
      .property("dtype", &Tensor::dtype)
      .function("shape", &shape_of)
      .function("data", &view_of);

  class_<Context>("Context")
      .constructor(&make_context, allow_raw_pointers())
      .property("threads", &Context::threads)
      .property("isa", +[](const Context& context) { return std::string(context.isa()); });

  class_<AttentionOptions>("AttentionOptions")
      .constructor()
      .property(
          "heads", +[](const AttentionOptions& o) { return static_cast<double>(o.heads); },
          +[](AttentionOptions& o, double heads) { o.heads = static_cast<std::int64_t>(heads); })
      .property(
          "kvHeads", +[](const AttentionOptions& o) { return static_cast<double>(o.kv_heads); },
          +[](AttentionOptions& o, double heads) { o.kv_heads = static_cast<std::int64_t>(heads); })
      .function(
          "setScale", +[](AttentionOptions& o, float scale) { o.scale = scale; })
      .property("isCausal", &AttentionOptions::is_causal)
      .property("needWeights", &AttentionOptions::need_weights)
      .property("needLse", &AttentionOptions::need_lse)
      .property("captureScores", &AttentionOptions::capture_scores)
      .property("captureMasked", &AttentionOptions::capture_masked)
      .function("setMask", &set<AttentionOptions, &AttentionOptions::mask>)
      .function("setKvLengths", &set<AttentionOptions, &AttentionOptions::kv_lengths>);

  class_<AttentionResult>("AttentionResult")
      .function("output", &take_member<AttentionResult, &AttentionResult::output>,
                allow_raw_pointers())
      .function("weights", &take_member<AttentionResult, &AttentionResult::weights>,
                allow_raw_pointers())
      .function("lse", &take_member<AttentionResult, &AttentionResult::lse>, allow_raw_pointers())
      .function("scores", &take_member<AttentionResult, &AttentionResult::scores>,
                allow_raw_pointers())
      .function("masked", &take_member<AttentionResult, &AttentionResult::masked>,
                allow_raw_pointers());

  emscripten::function(
      "attention",
      +[](Context& context, const Tensor& q, const Tensor& k, const Tensor& v,
          const AttentionOptions& options) { return give(attention(context, q, k, v, options)); },
      allow_raw_pointers());

  using Parameters = MultiHeadAttentionParameters;
  class_<Parameters>("MultiHeadAttentionParameters")
      .constructor()
      .function("setInProjWeight", &set<Parameters, &Parameters::in_proj_weight>)
      .function("setQProjWeight", &set<Parameters, &Parameters::q_proj_weight>)
      .function("setKProjWeight", &set<Parameters, &Parameters::k_proj_weight>)
      .function("setVProjWeight", &set<Parameters, &Parameters::v_proj_weight>)
      .function("setInProjBias", &set<Parameters, &Parameters::in_proj_bias>)
      .function("setOutProjWeight", &set<Parameters, &Parameters::out_proj_weight>)
      .function("setOutProjBias", &set<Parameters, &Parameters::out_proj_bias>);

  using MultiHeadOptions = MultiHeadAttentionOptions;
  class_<MultiHeadOptions>("MultiHeadAttentionOptions")
      .constructor()
      .property(
          "heads", +[](const MultiHeadOptions& o) { return static_cast<double>(o.heads); },
          +[](MultiHeadOptions& o, double heads) { o.heads = static_cast<std::int64_t>(heads); })
      .property("isCausal", &MultiHeadOptions::is_causal)
      .property("needWeights", &MultiHeadOptions::need_weights)
      .property("averageWeights", &MultiHeadOptions::average_weights)
      .function("setMask", &set<MultiHeadOptions, &MultiHeadOptions::mask>)
      .function("setKeyMask", &set<MultiHeadOptions, &MultiHeadOptions::key_mask>);

  using MultiHeadResult = MultiHeadAttentionResult;
  class_<MultiHeadResult>("MultiHeadAttentionResult")
      .function("output", &take_member<MultiHeadResult, &MultiHeadResult::output>,
                allow_raw_pointers())
      .function("weights", &take_member<MultiHeadResult, &MultiHeadResult::weights>,
                allow_raw_pointers());

  emscripten::function(
      "multiHeadAttention",
      +[](Context& context, const Tensor& query, const Tensor& key, const Tensor& value,
          const Parameters& parameters, const MultiHeadOptions& options) {
        return give(multi_head_attention(context, query, key, value, parameters, options));
      },
      allow_raw_pointers());

  class_<SelfSimilarityResult>("SelfSimilarityResult")
      .function("output", &take_member<SelfSimilarityResult, &SelfSimilarityResult::output>,
                allow_raw_pointers())
      .function("weights", &take_member<SelfSimilarityResult, &SelfSimilarityResult::weights>,
                allow_raw_pointers());

  emscripten::function(
      "selfSimilarity",
      +[](Context& context, const Tensor& x) { return give(self_similarity(context, x)); },
      allow_raw_pointers());

  emscripten::function(
      "average",
      +[](Context& context, const Tensor& x, bool is_causal, const Tensor* key_mask) {
        return give(
            average(context, x, {.is_causal = is_causal, .key_mask = view_or_nothing(key_mask)}));
      },
      allow_raw_pointers());

  emscripten::function(
      "linear",
      +[](Context& context, const Tensor& x, const Tensor& weight, const Tensor* bias) {
        return give(linear(context, x, weight, view_or_nothing(bias)));
      },
      allow_raw_pointers());

  emscripten::function(
      "softmax", +[](Context& context, const Tensor& x) { return give(softmax(context, x)); },
      allow_raw_pointers());

  emscripten::function(
      "embedding",
      +[](Context& context, const Tensor& ids, const Tensor& weight) {
        return give(embedding(context, ids, weight));
      },
      allow_raw_pointers());

  emscripten::function(
      "sinusoidalEncoding",
      +[](Context& context, double length, double size, double base, double offset) {
        return give(sinusoidal_encoding(
            context, static_cast<std::int64_t>(length), static_cast<std::int64_t>(size),
            {.base = base, .offset = static_cast<std::int64_t>(offset)}));
      },
      allow_raw_pointers());

  emscripten::function(
      "add",
      +[](Context& context, const Tensor& a, const Tensor& b) { return give(add(context, a, b)); },
      allow_raw_pointers());
}
