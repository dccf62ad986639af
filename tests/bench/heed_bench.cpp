// One case of the bench on the native build, with Google Benchmark.
//
//   heed_bench KIND NAME=VALUE... [--benchmark_...]
//
// KIND and sizes are named as in page/cases.mjs. Further names: threads=N; data=FILE has the case's
// inputs, float32, one after the other. With answer=FILE the outputs are written there in the same
// way, and nothing is timed. native.mjs runs this program.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <heed/heed.hpp>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using heed::Context;
using heed::Shape;
using heed::Tensor;
using heed::TensorView;

class Arguments {
 public:
  Arguments(int count, char** values) {
    for (int i = 2; i < count; ++i) {
      const std::string argument = values[i];
      const auto equals = argument.find('=');
      if (equals == std::string::npos)
        throw std::runtime_error(argument + ": expected NAME=VALUE, or --benchmark_...");
      values_[argument.substr(0, equals)] = argument.substr(equals + 1);
    }
  }
  bool has(const std::string& name) const { return values_.contains(name); }
  std::string text(const std::string& name) const {
    if (!has(name)) throw std::runtime_error(name + ": expected a value, got none");
    return values_.at(name);
  }
  std::int64_t number(const std::string& name) const { return std::stoll(text(name)); }
  std::int64_t number(const std::string& name, std::int64_t otherwise) const {
    return has(name) ? number(name) : otherwise;
  }

 private:
  std::map<std::string, std::string> values_;
};

/// Reads tensors from a file, one after the other.
class Inputs {
 public:
  explicit Inputs(const std::string& path) : file_(path, std::ios::binary) {}
  Tensor next(const Shape& shape) {
    Tensor tensor(shape);
    const auto bytes = static_cast<std::streamsize>(tensor.data().size_bytes());
    if (!file_.read(reinterpret_cast<char*>(tensor.data().data()), bytes))
      throw std::runtime_error("data: expected " + heed::to_string(shape) + " and found less");
    return tensor;
  }

 private:
  std::ifstream file_;
};

/// Computes the outputs of a case; it owns the inputs.
using Case = std::function<std::vector<Tensor>()>;

template <class... Tensors>
std::vector<Tensor> all(Tensors&&... tensors) {
  std::vector<Tensor> result;
  (result.push_back(std::forward<Tensors>(tensors)), ...);
  return result;
}

Shape heads(const Arguments& arguments) {
  return {1, arguments.number("H"), arguments.number("L"), arguments.number("D")};
}

heed::AttentionOptions attention_options(const Arguments& arguments) {
  heed::AttentionOptions options;
  options.is_causal = arguments.number("isCausal", 0) != 0;
  options.window_left = arguments.number("windowLeft", -1);
  options.window_right = arguments.number("windowRight", -1);
  return options;
}

Case attention(Context& context, const Arguments& arguments, Inputs& inputs) {
  const Shape shape = heads(arguments);
  const heed::AttentionOptions options = attention_options(arguments);
  const auto q = std::make_shared<Tensor>(inputs.next(shape));
  const auto k = std::make_shared<Tensor>(inputs.next(shape));
  const auto v = std::make_shared<Tensor>(inputs.next(shape));
  return [=, &context] { return all(heed::attention(context, *q, *k, *v, options).output); };
}

Case attention_backward(Context& context, const Arguments& arguments, Inputs& inputs) {
  const Shape shape = heads(arguments);
  heed::AttentionOptions options = attention_options(arguments);
  options.need_statistics = true;
  const auto q = std::make_shared<Tensor>(inputs.next(shape));
  const auto k = std::make_shared<Tensor>(inputs.next(shape));
  const auto v = std::make_shared<Tensor>(inputs.next(shape));
  const auto d_output = std::make_shared<Tensor>(inputs.next(shape));
  const auto forward =
      std::make_shared<heed::AttentionResult>(heed::attention(context, *q, *k, *v, options));
  return [=, &context] {
    heed::AttentionGradients gradients = heed::attention_backward(
        context, *d_output, *q, *k, *v, forward->output, *forward->statistics, options);
    return all(std::move(gradients.q), std::move(gradients.k), std::move(gradients.v));
  };
}

/// Rows [from, to) of every head of x [1, G, S, D].
Tensor rows(const Tensor& x, std::int64_t from, std::int64_t to) {
  const auto heads = x.shape()[1], keys = x.shape()[2], size = x.shape()[3];
  Tensor part({1, heads, to - from, size});
  for (std::int64_t head = 0; head < heads; ++head) {
    const float* begin = x.data().data() + (head * keys + from) * size;
    std::copy(begin, begin + (to - from) * size, part.data().data() + head * (to - from) * size);
  }
  return part;
}

heed::KvCache::Format format(const std::string& name) {
  if (name == "float32") return heed::KvCache::Format::kFloat32;
  if (name == "float16") return heed::KvCache::Format::kFloat16;
  if (name == "int8") return heed::KvCache::Format::kInt8;
  throw std::runtime_error("cache: expected float32, float16 or int8, got " + name);
}

Case decode(Context& context, const Arguments& arguments, Inputs& inputs) {
  const auto kv_heads = arguments.number("G"), size = arguments.number("D");
  const auto cached = arguments.number("cached");
  const auto q = std::make_shared<Tensor>(inputs.next({1, arguments.number("H"), 1, size}));
  const Tensor keys = inputs.next({1, kv_heads, cached + 1, size});
  const Tensor values = inputs.next({1, kv_heads, cached + 1, size});
  const auto cache = std::make_shared<heed::KvCache>(
      context, heed::KvCache::Options{.heads = kv_heads,
                                      .head_size = size,
                                      .capacity = cached + 1,
                                      .format = format(arguments.text("cache"))});
  cache->append(rows(keys, 0, cached), rows(values, 0, cached));
  const auto k = std::make_shared<Tensor>(rows(keys, cached, cached + 1));
  const auto v = std::make_shared<Tensor>(rows(values, cached, cached + 1));
  heed::AttentionOptions options;
  options.cache = cache.get();
  return [=, &context] {
    Tensor output = heed::attention(context, *q, *k, *v, options).output;
    cache->rewind(0, 1);  // so that the next call has the same past
    return all(std::move(output));
  };
}

Case linear(Context& context, const Arguments& arguments, Inputs& inputs) {
  const auto in = arguments.number("inputs"), out = arguments.number("outputs");
  const auto x = std::make_shared<Tensor>(inputs.next({arguments.number("L"), in}));
  const auto weight = std::make_shared<Tensor>(inputs.next({out, in}));
  const auto bias = std::make_shared<Tensor>(inputs.next({out}));
  const auto activation =
      arguments.has("activation") ? heed::Activation::kGelu : heed::Activation::kNone;
  if (!arguments.has("weights"))
    return [=, &context] { return all(heed::linear(context, *x, *weight, *bias, activation)); };
  using Format = heed::PackedWeights::Format;
  const std::string weights = arguments.text("weights");
  const Format format = weights == "int8"   ? Format::kInt8
                        : weights == "int4" ? Format::kInt4
                                            : Format::kFloat32;
  const auto packed = std::make_shared<heed::PackedWeights>(context, *weight, format);
  return [=, &context] { return all(heed::linear(context, *x, *packed, *bias, activation)); };
}

Case multi_head(Context& context, const Arguments& arguments, Inputs& inputs) {
  const auto size = arguments.number("E");
  const auto x = std::make_shared<Tensor>(inputs.next({1, arguments.number("L"), size}));
  const auto in_weight = std::make_shared<Tensor>(inputs.next({3 * size, size}));
  const auto in_bias = std::make_shared<Tensor>(inputs.next({3 * size}));
  const auto out_weight = std::make_shared<Tensor>(inputs.next({size, size}));
  const auto out_bias = std::make_shared<Tensor>(inputs.next({size}));
  heed::MultiHeadAttentionOptions options;
  options.heads = arguments.number("H");
  return [=, &context] {
    heed::MultiHeadAttentionParameters parameters;
    parameters.in_proj_weight = *in_weight;
    parameters.in_proj_bias = *in_bias;
    parameters.out_proj_weight = *out_weight;
    parameters.out_proj_bias = *out_bias;
    return all(heed::multi_head_attention(context, *x, *x, *x, parameters, options).output);
  };
}

const std::map<std::string, Case (*)(Context&, const Arguments&, Inputs&)> kKinds = {
    {"attention", attention},
    {"attentionBackward", attention_backward},
    {"decode", decode},
    {"linear", linear},
    {"multiHead", multi_head}};

void run(const std::string& kind, const Arguments& arguments) {
  if (!kKinds.contains(kind)) throw std::runtime_error(kind + ": expected a kind of case");
  Context context({.threads = static_cast<int>(arguments.number("threads"))});
  Inputs inputs(arguments.text("data"));
  const Case compute = kKinds.at(kind)(context, arguments, inputs);
  if (arguments.has("answer")) {
    std::ofstream file(arguments.text("answer"), std::ios::binary);
    for (const Tensor& output : compute())
      file.write(reinterpret_cast<const char*>(output.data().data()),
                 static_cast<std::streamsize>(output.data().size_bytes()));
    return;
  }
  const std::string name = kind + "/" + std::string(context.isa());
  benchmark::RegisterBenchmark(name.c_str(),
                               [&](benchmark::State& state) {
                                 for (auto _ : state) {
                                   const std::vector<Tensor> outputs = compute();
                                   benchmark::DoNotOptimize(outputs.data());
                                   benchmark::ClobberMemory();
                                 }
                               })
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
  benchmark::RunSpecifiedBenchmarks();
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);  // removes its own flags
  try {
    if (argc < 2) throw std::runtime_error("expected: heed_bench KIND NAME=VALUE...");
    run(argv[1], Arguments(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "heed_bench: %s\n", error.what());
    return 1;
  }
}
