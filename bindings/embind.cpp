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
  // Types that JavaScript has no arrays for are seen as their bits.
  const auto view_as = [&]<class Bits>(auto elements, Bits) {
    return view(std::span(reinterpret_cast<Bits*>(elements.data()), elements.size()));
  };
  switch (tensor.dtype()) {
    case DType::kFloat32:
      return view(tensor.data<float>());
    case DType::kInt32:
      return view(tensor.data<std::int32_t>());
    case DType::kBool:
      return view_as(tensor.data<bool>(), std::uint8_t{});
    case DType::kFloat16:
      return view_as(tensor.data<Float16>(), std::uint16_t{});
    case DType::kBFloat16:
      return view_as(tensor.data<BFloat16>(), std::uint16_t{});
  }
  return val::undefined();
}

template <auto Member>
struct MemberOf;
template <class Object, class Value, Value Object::* Member>
struct MemberOf<Member> {
  using Class = Object;
};

/// A setter for an optional tensor among an operation's options. The tensor must outlive the call.
template <auto Member>
void set(typename MemberOf<Member>::Class& options, const Tensor& tensor) {
  options.*Member = tensor;
}

/// Sizes cross the border as doubles, which hold every whole number up to 2^53.
template <auto Member>
double get_size(const typename MemberOf<Member>::Class& options) {
  return static_cast<double>(options.*Member);
}
template <auto Member>
void set_size(typename MemberOf<Member>::Class& options, double size) {
  options.*Member = static_cast<std::int64_t>(size);
}

/// Hands a result over to JavaScript, which deletes it.
template <class Result>
Result* give(Result result) {
  return new Result(std::move(result));
}

/// Moves a tensor out of a result; null if it was not asked for.
Tensor* take(Tensor& tensor) { return give(std::move(tensor)); }
Tensor* take(std::optional<Tensor>& tensor) { return tensor ? take(*tensor) : nullptr; }

template <auto Member>
Tensor* take_member(typename MemberOf<Member>::Class& result) {
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
      .value("bool", DType::kBool)
      .value("float16", DType::kFloat16)
      .value("bfloat16", DType::kBFloat16);

  class_<Tensor>("Tensor")
      .constructor(&make_tensor, allow_raw_pointers())
      .property("dtype", &Tensor::dtype)
      .function("shape", &shape_of)
      .function("data", &view_of);

  class_<Context>("Context")
      .constructor(&make_context, allow_raw_pointers())
      .property("threads", &Context::threads)
      .property("isa", +[](const Context& context) { return std::string(context.isa()); });

  emscripten::enum_<KvCache::Format>("KvCacheFormat")
      .value("f32", KvCache::Format::kFloat32)
      .value("f16", KvCache::Format::kFloat16)
      .value("int8", KvCache::Format::kInt8);

  class_<KvCache>("KvCache")
      .constructor(
          +[](Context& context, double batch, double heads, double head_size, double value_size,
              double capacity, KvCache::Format format, bool is_rolling) {
            const auto size = [](double number) { return static_cast<std::int64_t>(number); };
            return new KvCache(context, {.batch = size(batch),
                                         .heads = size(heads),
                                         .head_size = size(head_size),
                                         .value_size = size(value_size),
                                         .capacity = size(capacity),
                                         .format = format,
                                         .is_rolling = is_rolling});
          },
          allow_raw_pointers())
      .function(
          "length", +[](const KvCache& c, int b) { return static_cast<double>(c.length(b)); })
      .function(
          "first", +[](const KvCache& c, int b) { return static_cast<double>(c.first(b)); })
      .function(
          "bytes", +[](const KvCache& c) { return static_cast<double>(c.bytes()); })
      .function(
          "append",
          +[](KvCache& c, const Tensor& k, const Tensor& v, const Tensor* counts) {
            c.append(k, v, view_or_nothing(counts));
          },
          allow_raw_pointers())
      .function(
          "rewind",
          +[](KvCache& c, int b, double tokens) { c.rewind(b, static_cast<std::int64_t>(tokens)); })
      .function(
          "share", +[](KvCache& c, int from, int to, double tokens) {
            c.share(from, to, static_cast<std::int64_t>(tokens));
          });

  class_<BlockMask>("BlockMask")
      .constructor(
          +[](double queries, double keys, Tensor& kinds, Tensor& bits) {
            return new BlockMask(static_cast<std::int64_t>(queries),
                                 static_cast<std::int64_t>(keys), std::move(kinds),
                                 std::move(bits));
          },
          allow_raw_pointers());

  emscripten::enum_<CausalAlignment>("CausalAlignment")
      .value("default", CausalAlignment::kDefault)
      .value("topLeft", CausalAlignment::kTopLeft)
      .value("bottomRight", CausalAlignment::kBottomRight);

  class_<AttentionOptions>("AttentionOptions")
      .constructor()
      .property("heads", &get_size<&AttentionOptions::heads>, &set_size<&AttentionOptions::heads>)
      .property("kvHeads", &get_size<&AttentionOptions::kv_heads>,
                &set_size<&AttentionOptions::kv_heads>)
      .function(
          "setScale", +[](AttentionOptions& o, float scale) { o.scale = scale; })
      .property("isCausal", &AttentionOptions::is_causal)
      .property("causalAlignment", &AttentionOptions::causal_alignment)
      .function("setCausalOffset", &set<&AttentionOptions::causal_offset>)
      .property("windowLeft", &get_size<&AttentionOptions::window_left>,
                &set_size<&AttentionOptions::window_left>)
      .property("windowRight", &get_size<&AttentionOptions::window_right>,
                &set_size<&AttentionOptions::window_right>)
      .function("setMask", &set<&AttentionOptions::mask>)
      .function("setKvLengths", &set<&AttentionOptions::kv_lengths>)
      .property("softcap", &AttentionOptions::softcap)
      .function("setBias", &set<&AttentionOptions::bias>)
      .function("setAlibiSlopes", &set<&AttentionOptions::alibi_slopes>)
      .function("setSinks", &set<&AttentionOptions::sinks>)
      .property("dropout", &AttentionOptions::dropout)
      .function(
          "setDropoutSeed", +[](AttentionOptions& o,
                                double seed) { o.dropout_seed = static_cast<std::uint64_t>(seed); })
      .function("setPastKey", &set<&AttentionOptions::past_key>)
      .function("setPastValue", &set<&AttentionOptions::past_value>)
      .function(
          "setCache", +[](AttentionOptions& o, KvCache& cache) { o.cache = &cache; })
      .function(
          "setBlockMask", +[](AttentionOptions& o, const BlockMask& mask) { o.block_mask = &mask; })
      .function("setCuSeqlensQ", &set<&AttentionOptions::cu_seqlens_q>)
      .function("setCuSeqlensK", &set<&AttentionOptions::cu_seqlens_k>)
      .property("needWeights", &AttentionOptions::need_weights)
      .property("needLse", &AttentionOptions::need_lse)
      .property("captureScores", &AttentionOptions::capture_scores)
      .property("captureCapped", &AttentionOptions::capture_capped)
      .property("captureMasked", &AttentionOptions::capture_masked)
      .property("captureEntropy", &AttentionOptions::capture_entropy);

  class_<AttentionResult>("AttentionResult")
      .function("output", &take_member<&AttentionResult::output>, allow_raw_pointers())
      .function("weights", &take_member<&AttentionResult::weights>, allow_raw_pointers())
      .function("lse", &take_member<&AttentionResult::lse>, allow_raw_pointers())
      .function("scores", &take_member<&AttentionResult::scores>, allow_raw_pointers())
      .function("capped", &take_member<&AttentionResult::capped>, allow_raw_pointers())
      .function("masked", &take_member<&AttentionResult::masked>, allow_raw_pointers())
      .function("entropy", &take_member<&AttentionResult::entropy>, allow_raw_pointers())
      .function("presentKey", &take_member<&AttentionResult::present_key>, allow_raw_pointers())
      .function("presentValue", &take_member<&AttentionResult::present_value>,
                allow_raw_pointers());

  emscripten::function(
      "attention",
      +[](Context& context, const Tensor& q, const Tensor& k, const Tensor& v,
          const AttentionOptions& options) { return give(attention(context, q, k, v, options)); },
      allow_raw_pointers());

  class_<PartialAttention>("PartialAttention")
      .function("output", &take_member<&PartialAttention::output>, allow_raw_pointers())
      .function("lse", &take_member<&PartialAttention::lse>, allow_raw_pointers());

  emscripten::function(
      "mergeAttention",
      +[](Context& context, const Tensor& output_a, const Tensor& lse_a, const Tensor& output_b,
          const Tensor& lse_b) {
        return give(merge_attention(context, output_a, lse_a, output_b, lse_b));
      },
      allow_raw_pointers());

  emscripten::enum_<LinearRule>("LinearRule")
      .value("linear", LinearRule::kLinear)
      .value("gated", LinearRule::kGated)
      .value("delta", LinearRule::kDelta)
      .value("gatedDelta", LinearRule::kGatedDelta);

  class_<LinearAttentionOptions>("LinearAttentionOptions")
      .constructor()
      .property("rule", &LinearAttentionOptions::rule)
      .property("heads", &get_size<&LinearAttentionOptions::heads>,
                &set_size<&LinearAttentionOptions::heads>)
      .property("kvHeads", &get_size<&LinearAttentionOptions::kv_heads>,
                &set_size<&LinearAttentionOptions::kv_heads>)
      .function(
          "setScale", +[](LinearAttentionOptions& o, float scale) { o.scale = scale; })
      .function("setDecay", &set<&LinearAttentionOptions::decay>)
      .function("setBeta", &set<&LinearAttentionOptions::beta>)
      .function("setPastState", &set<&LinearAttentionOptions::past_state>);

  class_<LinearAttentionResult>("LinearAttentionResult")
      .function("output", &take_member<&LinearAttentionResult::output>, allow_raw_pointers())
      .function("presentState", &take_member<&LinearAttentionResult::present_state>,
                allow_raw_pointers());

  emscripten::function(
      "linearAttention",
      +[](Context& context, const Tensor& q, const Tensor& k, const Tensor& v,
          const LinearAttentionOptions& options) {
        return give(linear_attention(context, q, k, v, options));
      },
      allow_raw_pointers());

  emscripten::enum_<RopeStyle>("RopeStyle")
      .value("half", RopeStyle::kHalf)
      .value("interleaved", RopeStyle::kInterleaved);

  class_<RopeOptions>("RopeOptions")
      .constructor()
      .property("style", &RopeOptions::style)
      .property("heads", &get_size<&RopeOptions::heads>, &set_size<&RopeOptions::heads>)
      .property("rotarySize", &get_size<&RopeOptions::rotary_size>,
                &set_size<&RopeOptions::rotary_size>)
      .property("base", &RopeOptions::base)
      .property("offset", &get_size<&RopeOptions::offset>, &set_size<&RopeOptions::offset>)
      .function("setPositionIds", &set<&RopeOptions::position_ids>)
      .function("setCos", &set<&RopeOptions::cos>)
      .function("setSin", &set<&RopeOptions::sin>);

  emscripten::function(
      "rope",
      +[](Context& context, const Tensor& x, const RopeOptions& options) {
        return give(rope(context, x, options));
      },
      allow_raw_pointers());

  using Parameters = MultiHeadAttentionParameters;
  class_<Parameters>("MultiHeadAttentionParameters")
      .constructor()
      .function("setInProjWeight", &set<&Parameters::in_proj_weight>)
      .function("setQProjWeight", &set<&Parameters::q_proj_weight>)
      .function("setKProjWeight", &set<&Parameters::k_proj_weight>)
      .function("setVProjWeight", &set<&Parameters::v_proj_weight>)
      .function("setInProjBias", &set<&Parameters::in_proj_bias>)
      .function("setOutProjWeight", &set<&Parameters::out_proj_weight>)
      .function("setOutProjBias", &set<&Parameters::out_proj_bias>);

  using MultiHeadOptions = MultiHeadAttentionOptions;
  class_<MultiHeadOptions>("MultiHeadAttentionOptions")
      .constructor()
      .property("heads", &get_size<&MultiHeadOptions::heads>, &set_size<&MultiHeadOptions::heads>)
      .property("isCausal", &MultiHeadOptions::is_causal)
      .property("needWeights", &MultiHeadOptions::need_weights)
      .property("averageWeights", &MultiHeadOptions::average_weights)
      .function("setMask", &set<&MultiHeadOptions::mask>)
      .function("setKeyMask", &set<&MultiHeadOptions::key_mask>);

  using MultiHeadResult = MultiHeadAttentionResult;
  class_<MultiHeadResult>("MultiHeadAttentionResult")
      .function("output", &take_member<&MultiHeadResult::output>, allow_raw_pointers())
      .function("weights", &take_member<&MultiHeadResult::weights>, allow_raw_pointers());

  emscripten::function(
      "multiHeadAttention",
      +[](Context& context, const Tensor& query, const Tensor& key, const Tensor& value,
          const Parameters& parameters, const MultiHeadOptions& options) {
        return give(multi_head_attention(context, query, key, value, parameters, options));
      },
      allow_raw_pointers());

  class_<SelfSimilarityResult>("SelfSimilarityResult")
      .function("output", &take_member<&SelfSimilarityResult::output>, allow_raw_pointers())
      .function("weights", &take_member<&SelfSimilarityResult::weights>, allow_raw_pointers());

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
      "cast",
      +[](Context& context, const Tensor& x, DType dtype) { return give(cast(context, x, dtype)); },
      allow_raw_pointers());

  emscripten::function(
      "add",
      +[](Context& context, const Tensor& a, const Tensor& b) { return give(add(context, a, b)); },
      allow_raw_pointers());
}
