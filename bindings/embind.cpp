// The border between C++ and JavaScript, and the only file that knows Emscripten. All operations
// are called in one way: JavaScript writes the arguments as numbers into memory that both sides see
// (bindings/js/border.ts), the operation's own signature says how to read them, and the results
// come back in the same memory. A call is one step into the module, whatever it takes and gives,
// where Embind's own objects would be one for every option and result. C++ exceptions pass as they
// are: border.ts turns them into HeedError.

#include <emscripten/bind.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "heed/heed.hpp"

namespace {

using namespace heed;

/// JavaScript knows objects by their addresses; 0 is none.
using Handle = std::uintptr_t;

/// The members of a struct of options or results, in the order in which they cross the border.
template <class T>
inline constexpr std::nullptr_t kMembers = nullptr;

template <>
inline constexpr auto kMembers<AttentionOptions> = std::tuple(
    &AttentionOptions::heads, &AttentionOptions::kv_heads, &AttentionOptions::scale,
    &AttentionOptions::is_causal, &AttentionOptions::causal_alignment,
    &AttentionOptions::causal_offset, &AttentionOptions::window_left,
    &AttentionOptions::window_right, &AttentionOptions::mask, &AttentionOptions::kv_lengths,
    &AttentionOptions::block_mask, &AttentionOptions::precision, &AttentionOptions::softcap,
    &AttentionOptions::bias, &AttentionOptions::alibi_slopes, &AttentionOptions::sinks,
    &AttentionOptions::dropout, &AttentionOptions::dropout_seed, &AttentionOptions::past_key,
    &AttentionOptions::past_value, &AttentionOptions::cache, &AttentionOptions::cu_seqlens_q,
    &AttentionOptions::cu_seqlens_k, &AttentionOptions::need_weights, &AttentionOptions::need_lse,
    &AttentionOptions::capture_scores, &AttentionOptions::capture_capped,
    &AttentionOptions::capture_masked, &AttentionOptions::capture_entropy);

template <>
inline constexpr auto kMembers<AttentionResult> = std::tuple(
    &AttentionResult::output, &AttentionResult::weights, &AttentionResult::lse,
    &AttentionResult::scores, &AttentionResult::capped, &AttentionResult::masked,
    &AttentionResult::entropy, &AttentionResult::present_key, &AttentionResult::present_value);

template <>
inline constexpr auto kMembers<PartialAttention> =
    std::tuple(&PartialAttention::output, &PartialAttention::lse);

template <>
inline constexpr auto kMembers<KvCache::Options> =
    std::tuple(&KvCache::Options::batch, &KvCache::Options::heads, &KvCache::Options::head_size,
               &KvCache::Options::value_size, &KvCache::Options::capacity,
               &KvCache::Options::format, &KvCache::Options::is_rolling);

template <>
inline constexpr auto kMembers<LinearAttentionOptions> =
    std::tuple(&LinearAttentionOptions::rule, &LinearAttentionOptions::heads,
               &LinearAttentionOptions::kv_heads, &LinearAttentionOptions::scale,
               &LinearAttentionOptions::decay, &LinearAttentionOptions::beta,
               &LinearAttentionOptions::past_state);

template <>
inline constexpr auto kMembers<LinearAttentionResult> =
    std::tuple(&LinearAttentionResult::output, &LinearAttentionResult::present_state);

template <>
inline constexpr auto kMembers<MultiHeadAttentionParameters> = std::tuple(
    &MultiHeadAttentionParameters::in_proj_weight, &MultiHeadAttentionParameters::q_proj_weight,
    &MultiHeadAttentionParameters::k_proj_weight, &MultiHeadAttentionParameters::v_proj_weight,
    &MultiHeadAttentionParameters::in_proj_bias, &MultiHeadAttentionParameters::out_proj_weight,
    &MultiHeadAttentionParameters::out_proj_bias);

template <>
inline constexpr auto kMembers<MultiHeadAttentionOptions> = std::tuple(
    &MultiHeadAttentionOptions::heads, &MultiHeadAttentionOptions::is_causal,
    &MultiHeadAttentionOptions::mask, &MultiHeadAttentionOptions::key_mask,
    &MultiHeadAttentionOptions::need_weights, &MultiHeadAttentionOptions::average_weights);

template <>
inline constexpr auto kMembers<MultiHeadAttentionResult> =
    std::tuple(&MultiHeadAttentionResult::output, &MultiHeadAttentionResult::weights);

template <>
inline constexpr auto kMembers<AverageOptions> =
    std::tuple(&AverageOptions::is_causal, &AverageOptions::key_mask);

template <>
inline constexpr auto kMembers<SelfSimilarityResult> =
    std::tuple(&SelfSimilarityResult::output, &SelfSimilarityResult::weights);

template <>
inline constexpr auto kMembers<SinusoidalOptions> =
    std::tuple(&SinusoidalOptions::base, &SinusoidalOptions::offset);

template <>
inline constexpr auto kMembers<RopeOptions> = std::tuple(
    &RopeOptions::style, &RopeOptions::heads, &RopeOptions::rotary_size, &RopeOptions::base,
    &RopeOptions::offset, &RopeOptions::position_ids, &RopeOptions::cos, &RopeOptions::sin);

/// Reads arguments one after the other: numbers are doubles, which hold every address and every
/// whole number up to 2^53.
class Reader {
 public:
  explicit Reader(std::span<const double> numbers)
      : next_(numbers.data()), end_(next_ + numbers.size()) {}

  template <class T>
  T read() {
    if constexpr (std::is_reference_v<T>) {
      return *reinterpret_cast<std::remove_reference_t<T>*>(handle());
    } else if constexpr (std::is_pointer_v<T>) {
      return reinterpret_cast<T>(handle());
    } else if constexpr (std::is_enum_v<T>) {
      return static_cast<T>(read<int>());
    } else if constexpr (std::is_arithmetic_v<T>) {
      return static_cast<T>(number());
    } else if constexpr (std::is_same_v<T, std::optional<float>>) {
      const double given = number();
      return std::isnan(given) ? T() : T(static_cast<float>(given));
    } else if constexpr (std::is_same_v<T, TensorView>) {
      return read<const Tensor&>();
    } else if constexpr (std::is_same_v<T, std::optional<TensorView>>) {
      const auto* const given = read<const Tensor*>();
      return given ? T(*given) : T();
    } else if constexpr (std::is_same_v<T, Shape>) {
      std::vector<std::int64_t> sizes(read<std::size_t>());
      // Of more axes than there is room for, only the number matters: it is refused.
      for (std::int64_t& size : sizes)
        if (!is_at_end()) size = read<std::int64_t>();
      return Shape(sizes);
    } else {
      T options;
      if (is_at_end()) return options;  // options left off are those by default
      std::apply([&](auto... members) { (read_into(options.*members), ...); }, kMembers<T>);
      return options;
    }
  }

  bool is_at_end() const { return next_ == end_; }

 private:
  double number() {
    if (is_at_end()) throw std::logic_error("border: expected more arguments");
    return *next_++;
  }
  Handle handle() { return static_cast<Handle>(number()); }

  template <class Member>
  void read_into(Member& member) {
    member = read<Member>();
  }

  const double* next_;
  const double* end_;
};

/// Writes results: of a tensor its address, the address of its elements, type, rank and sizes; 0
/// for one that was not asked for. What it wrote belongs to JavaScript once `finish` is called.
class Writer {
 public:
  explicit Writer(std::span<double> numbers) : numbers_(numbers) {}

  void write(double number) { numbers_[next_++] = number; }
  template <class T>
  void write(T* object) {
    write(static_cast<double>(reinterpret_cast<Handle>(object)));
  }
  void write(Tensor& result) {
    const auto& tensor = tensors_[count_++] = std::make_unique<Tensor>(std::move(result));
    write(tensor.get());
    write(TensorView(*tensor).bytes().data());
    write(static_cast<double>(tensor->dtype()));
    write(static_cast<double>(tensor->shape().rank()));
    for (const std::int64_t size : tensor->shape().sizes()) write(static_cast<double>(size));
  }
  void write(std::optional<Tensor>& result) { result ? write(*result) : write(0.0); }
  template <class Result>
  void write(Result& result) {
    std::apply([&](auto... members) { (write(result.*members), ...); }, kMembers<Result>);
  }

  void finish() {
    for (auto& tensor : tensors_) static_cast<void>(tensor.release());
  }

 private:
  static constexpr std::size_t kMostTensors = 9;  // of AttentionResult

  std::span<double> numbers_;
  std::size_t next_ = 0;
  std::array<std::unique_ptr<Tensor>, kMostTensors> tensors_;
  std::size_t count_ = 0;
};

/// An engine's context, and the numbers of the call that it runs.
struct Engine {
  explicit Engine(int threads) : context({.threads = threads}) {}

  Context context;
  std::array<double, 128> numbers;
};

/// A parameter's argument: a value, or an object that the function may change.
template <class T>
using Argument = std::conditional_t<std::is_lvalue_reference_v<T> &&
                                        !std::is_const_v<std::remove_reference_t<T>>,
                                    T, std::remove_cvref_t<T>>;

/// Calls a function. Made with braces, because only what stands in braces is evaluated from left to
/// right, as arguments must be read.
struct Call {
  template <class Function, class... Arguments>
  explicit Call(const Function& function, Arguments&&... arguments) {
    function(arguments...);
  }
};

template <class Result, class... Parameters>
void run(Engine& engine, std::size_t count, Result (*function)(Context&, Parameters...)) {
  Reader reader(
      std::span<const double>(engine.numbers).first(std::min(count, engine.numbers.size())));
  const auto finish = [&](auto&... arguments) {
    if (!reader.is_at_end()) throw std::logic_error("border: expected fewer arguments");
    if constexpr (std::is_void_v<Result>) {
      function(engine.context, arguments...);
    } else {
      Result result = function(engine.context, arguments...);
      Writer writer(engine.numbers);
      writer.write(result);
      writer.finish();
    }
  };
  Call{finish, reader.read<Argument<Parameters>>()...};
}

/// Lets JavaScript call a function, by the types of its parameters and of its result.
template <auto Function>
void operation(const char* name) {
  emscripten::function(
      name, +[](Handle engine, std::size_t count) {
        run(*reinterpret_cast<Engine*>(engine), count, +Function);
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
      .value("f32", KvCache::Format::kFloat32)
      .value("f16", KvCache::Format::kFloat16)
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
      .value("silu", Activation::kSilu);
  emscripten::enum_<PackedWeights::Format>("PackedWeightsFormat")
      .value("float32", PackedWeights::Format::kFloat32)
      .value("int8", PackedWeights::Format::kInt8);
  emscripten::enum_<RopeStyle>("RopeStyle")
      .value("half", RopeStyle::kHalf)
      .value("interleaved", RopeStyle::kInterleaved);

  emscripten::function(
      "newEngine", +[](int threads) { return reinterpret_cast<Handle>(new Engine(threads)); });
  emscripten::function(
      "numbersOf", +[](Handle engine) {
        return reinterpret_cast<Handle>(reinterpret_cast<Engine*>(engine)->numbers.data());
      });
  // Memory for bad times: see border.ts.
  emscripten::function(
      "newReserve",
      +[](std::size_t bytes) { return reinterpret_cast<Handle>(::operator new(bytes)); });
  emscripten::function(
      "deleteReserve",
      +[](Handle reserve) { ::operator delete(reinterpret_cast<void*>(reserve)); });

  operation<[](Context&, DType dtype, const Shape& shape) { return Tensor(shape, dtype); }>(
      "newTensor");
  emscripten::function("deleteTensor", &destroy<Tensor>);

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

  operation<[](Context&, std::int64_t queries, std::int64_t keys, Tensor& kinds, Tensor& bits) {
    return new BlockMask(queries, keys, std::move(kinds), std::move(bits));
  }>("newBlockMask");
  emscripten::function("deleteBlockMask", &destroy<BlockMask>);

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
}
