// Turns a fuzzer's bytes into calls: attention with random options compared with the reference,
// histories of a cache compared with a model of it, and operations with arguments that do not fit.
// The first two must give the right numbers. In the third, each call must return or throw a
// heed::Error, read and write only its own memory (the sanitizers check this), and change no
// argument. After all of them the context must compute the same bits as before.

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "attention_cases_support.hpp"
#include "cache_support.hpp"
#include "heed/packed_weights.hpp"
#include "reference/linear.hpp"

namespace heed::test {
namespace {

void require(const testing::AssertionResult& result, const std::string& what) {
  if (result) return;
  std::fprintf(stderr, "%s: %s\n", what.c_str(), result.message());
  std::abort();
}

/// Attention against the reference, by one thread and by two, with some of its results.
void attend(Random& random, std::span<Context> contexts) {
  Case c = random_case(random);
  // The reference computes slowly.
  if (c.B * c.H * c.L * c.S * (c.D + c.Dv) > 500'000) return;
  if (random.chance(30)) poison_keys(random, c, random.chance(30));
  AttentionOptions options = c.all_options();
  const reference::AttentionResult want = reference::attention(c.q, c.k, c.v, options);
  for (bool* requested :
       {&options.need_weights, &options.need_lse, &options.need_statistics, &options.capture_scores,
        &options.capture_capped, &options.capture_masked, &options.capture_entropy})
    *requested = random.chance(40);
  const AttentionResult got = attention(contexts[0], c.q, c.k, c.v, options);
  const AttentionResult by_two = attention(contexts[1], c.q, c.k, c.v, options);
  const auto compare = [&](const std::optional<Tensor>& result, const reference::Array& expected,
                           const char* name) {
    if (result) require(close(*result, expected, {3e-5, 3e-5}), c.description() + ", " + name);
  };
  require(close(got.output, want.output, {3e-5, 3e-5}), c.description());
  for_each_optional(got, want, compare);
  require(same_bits(by_two.output, got.output), c.description() + ", two threads");
  for_each_optional(
      by_two, got,
      [&](const std::optional<Tensor>& two, const std::optional<Tensor>& one, const char* name) {
        if (two || one) require(same_bits(two, one), c.description() + ", two threads, " + name);
      });
}

template <class Call>
bool is_refused(const Call& call) {
  try {
    call();
    return false;
  } catch (const Error&) {
    return true;
  }
}

/// Tokens are appended, attended to, rewound, shared and reordered. A call is refused if and only
/// if it names a sequence or more tokens than there are, or exceeds the capacity.
void fill_a_cache(Random& random, Context& context) {
  KvCache::Options options;
  const std::int64_t B = options.batch = random.integer(1, 3);
  const std::int64_t G = options.heads = random.integer(1, 2);
  const std::int64_t D = options.head_size = random.integer(1, 20);
  const std::int64_t Dv = options.value_size = random.integer(1, 20);
  options.capacity = random.integer(1, 400);
  options.format = kFormats[static_cast<std::size_t>(random.integer(0, 2))];
  options.is_rolling = random.chance(40);
  KvCache cache(context, options);
  CacheModel model(options, true);
  for (int step = 0; step < 8; ++step) {
    const std::int64_t b = random.integer(-1, B), other = random.integer(0, B);
    const std::int64_t L = random.chance(70) ? random.integer(0, 9) : random.integer(0, 450);
    const bool is_sequence = 0 <= b && b < B;
    bool is_valid = true, refused = false;
    const auto change = [&](const auto& of_cache, const auto& of_model) {
      refused = is_refused(of_cache);
      if (!refused && is_valid) of_model();
    };
    switch (const std::int64_t kind = random.integer(0, 4)) {
      case 0:
        is_valid = is_sequence && L <= model.length(b) - model.first(b);
        change([&] { cache.rewind(b, L); }, [&] { model.rewind(b, L); });
        break;
      case 1:
        is_valid = is_sequence && other < B && L <= model.length(b) && model.first(b) == 0;
        change([&] { cache.share(b, other, L); }, [&] { model.share(b, other, L); });
        break;
      case 2: {
        std::vector<std::int64_t> order;
        for (std::int64_t n = 0; n < B; ++n) {
          order.push_back(random.integer(0, random.chance(95) ? B - 1 : B));
          is_valid = is_valid && order.back() < B;
        }
        const Tensor places = TwinCache::tensor(order);
        change([&] { cache.reorder(places); }, [&] { model.reorder(order); });
        break;
      }
      default: {
        std::vector<std::int64_t> counts;
        for (std::int64_t n = 0; n < B; ++n) {
          const std::int64_t count = random.chance(80) ? L : random.integer(-1, L + 1);
          is_valid = is_valid && 0 <= count && count <= L &&
                     (options.is_rolling || model.length(n) + count <= options.capacity);
          counts.push_back(count);
        }
        const Tensor k = random.reals({B, G, L, D}), v = random.reals({B, G, L, Dv});
        const Tensor taken = TwinCache::tensor(counts);
        const auto follow = [&] { model.append(k, v, counts); };
        if (kind == 3) {
          change([&] { cache.append(k, v, taken); }, follow);
          break;
        }
        const Tensor q = random.reals({B, 2 * G, L, D});
        AttentionOptions seeing;
        seeing.is_causal = random.chance(60);
        seeing.kv_lengths = taken;
        seeing.cache = &cache;
        const CacheModel::Before before = model.now();
        Tensor output;
        change([&] { output = attention(context, q, k, v, seeing).output; }, follow);
        seeing.kv_lengths.reset();
        const double tolerance = options.format == KvCache::Format::kInt8 ? 1e-2 : 3e-5;
        if (!refused && is_valid)
          require(close(output, model.attend(q, seeing, before).output, {tolerance, tolerance}),
                  "attention over a cache");
      }
    }
    if (refused == is_valid)
      require(testing::AssertionFailure() << (refused ? "refused" : "accepted"), "cache");
    for (std::int64_t n = 0; n < B; ++n)
      if (cache.length(n) != model.length(n) || cache.first(n) != model.first(n))
        require(testing::AssertionFailure() << "another length than the model's", "cache");
  }
}

/// A tensor of a rank up to 4 and any type. Its numbers are ordinary, or any bits.
Tensor stranger(Random& random, Context& context) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t rank = random.integer(0, 4); rank > 0; --rank)
    sizes.push_back(random.chance(10) ? 0 : random.integer(1, 6));
  const Shape shape{std::span<const std::int64_t>(sizes)};
  switch (random.integer(0, 7)) {
    case 0: {
      Tensor numbers(shape, DType::kInt32);
      for (std::int32_t& number : numbers.data<std::int32_t>())
        number = static_cast<std::int32_t>(
            random.chance(70) ? random.integer(-2, 8)
                              : std::bit_cast<std::int32_t>(random.real(-1e9f, 1e9f)));
      return numbers;
    }
    case 1:
      return random.bools(shape, 60);
    case 2:
      return cast(context, random.reals(shape), DType::kFloat16);
    case 3:
      return cast(context, random.reals(shape), DType::kBFloat16);
    default: {
      Tensor numbers = random.reals(shape);
      if (random.chance(20))
        for (float& number : numbers.data())
          if (random.chance(30))
            number =
                std::bit_cast<float>(static_cast<std::uint32_t>(random.integer(0, 65535)) << 16);
      return numbers;
    }
  }
}

float any_number(Random& random) {
  if (random.chance(60)) return random.real(0.0f, 2.0f);
  return std::bit_cast<float>(static_cast<std::uint32_t>(random.integer(0, 65535)) << 16);
}

/// An operation with arguments that were not made for it.
void call_with_strangers(Random& random, Context& context) {
  const std::int64_t operation = random.integer(0, 27);
  std::vector<Tensor> x;
  for (int n = 0; n < 12; ++n) {
    // Often two arguments have the same shape.
    if (n > 0 && random.chance(50) && x.back().dtype() == DType::kFloat32)
      x.push_back(random.reals(x.back().shape()));
    else
      x.push_back(stranger(random, context));
  }
  std::vector<std::vector<std::byte>> before;
  for (const TensorView tensor : x)
    before.emplace_back(tensor.bytes().begin(), tensor.bytes().end());
  const auto maybe = [&](std::size_t n) {
    return random.chance(30) ? std::optional<TensorView>(x[n]) : std::nullopt;
  };
  const auto number = [&] {
    return random.chance(80) ? random.integer(-2, 6) : random.integer(-70000, 70000);
  };
  is_refused([&] {
    switch (operation) {
      case 0:
      case 1:
      case 2: {
        AttentionOptions options;
        options.heads = random.chance(50) ? 0 : number();
        options.kv_heads = random.chance(70) ? 0 : number();
        if (random.chance(30)) options.scale = any_number(random);
        options.is_causal = random.chance(50);
        options.causal_alignment = static_cast<CausalAlignment>(random.integer(0, 2));
        options.causal_offset = maybe(3);
        if (random.chance(30)) options.window_left = number();
        if (random.chance(30)) options.window_right = number();
        options.mask = maybe(4);
        options.bias = maybe(5);
        options.kv_lengths = maybe(6);
        options.alibi_slopes = maybe(7);
        options.sinks = maybe(8);
        options.past_key = maybe(9);
        options.past_value = maybe(10);
        options.cu_seqlens_q = maybe(11);
        options.cu_seqlens_k = maybe(random.chance(50) ? 11 : 6);
        if (random.chance(20)) options.softcap = any_number(random);
        if (random.chance(20)) options.dropout = any_number(random);
        if (random.chance(20)) options.precision = Precision::kInt8Scores;
        options.need_weights = random.chance(50);
        options.need_statistics = random.chance(50);
        options.capture_masked = random.chance(50);
        attention(context, x[0], x[1], x[2], options);
        return;
      }
      case 3:
        attention_backward(context, x[0], x[1], x[2], x[3], x[4], x[5]);
        return;
      case 4:
        merge_attention(context, x[0], x[1], x[2], x[3]);
        return;
      case 5: {
        LinearAttentionOptions options;
        options.rule = static_cast<LinearRule>(random.integer(0, 3));
        options.decay = maybe(3);
        options.beta = maybe(4);
        options.past_state = maybe(5);
        linear_attention(context, x[0], x[1], x[2], options);
        return;
      }
      case 6:
        linear(context, x[0], x[1], maybe(2), static_cast<Activation>(random.integer(0, 6)));
        return;
      case 7: {
        const PackedWeights packed(context, x[1],
                                   static_cast<PackedWeights::Format>(random.integer(0, 2)));
        linear(context, x[0], packed, maybe(2));
        return;
      }
      case 8:
        linear_backward(context, x[0], x[1], x[2]);
        return;
      case 9: {
        LayerNormOptions options;
        options.axes = static_cast<int>(number());
        options.weight = maybe(1);
        options.bias = maybe(2);
        options.eps = any_number(random);
        layer_norm(context, x[0], options);
        return;
      }
      case 10:
        softmax(context, x[0]);
        softmax_backward(context, x[0], x[1]);
        return;
      case 11:
        cross_entropy(context, x[0], x[1]);
        return;
      case 12:
        embedding(context, x[0], x[1]);
        return;
      case 13: {
        RopeOptions options;
        options.heads = random.chance(50) ? 0 : number();
        options.rotary_size = random.chance(50) ? 0 : number();
        options.offset = number();
        options.position_ids = maybe(1);
        options.cos = maybe(2);
        options.sin = maybe(3);
        rope(context, x[0], options);
        return;
      }
      case 14:
        add(context, x[0], x[1]);
        return;
      case 15:
        matmul(context, x[0], x[1], {random.chance(50), random.chance(50)});
        return;
      case 16:
        slice(context, x[0], number(), number(), number());
        return;
      case 17: {
        const std::int64_t order[] = {number(), number(), number()};
        transpose(context, x[0],
                  std::span(order).first(static_cast<std::size_t>(random.integer(0, 3))));
        return;
      }
      case 18:
        additive_attention(context, x[0], x[1], x[2], x[3], maybe(4));
        return;
      case 19: {
        const GruParameters parameters{x[1], x[2], maybe(3), maybe(4)};
        GruOptions options;
        options.state = maybe(5);
        options.lengths = maybe(6);
        gru(context, x[0], parameters, options);
        return;
      }
      case 20: {
        RmsNormOptions options;
        options.axes = static_cast<int>(number());
        options.weight = maybe(1);
        options.eps = any_number(random);
        rms_norm(context, x[0], options);
        rms_norm_backward(context, x[2], x[0], options);
        return;
      }
      case 21: {
        const TensorView parts[] = {x[0], x[1], x[2]};
        concat(context, parts, number());
        return;
      }
      case 22:
        cast(context, x[0], static_cast<DType>(random.integer(0, 4)));
        return;
      case 23:
        cumsum(context, x[0], number(), random.chance(50));
        return;
      case 24:
        top_k(context, x[0], number());
        return;
      case 25:
        embedding_backward(context, x[0], x[1], number());
        return;
      case 26: {
        MultiHeadAttentionParameters parameters;
        parameters.in_proj_weight = maybe(1);
        parameters.q_proj_weight = maybe(2);
        parameters.k_proj_weight = maybe(3);
        parameters.v_proj_weight = maybe(4);
        parameters.in_proj_bias = maybe(5);
        parameters.out_proj_weight = maybe(6);
        MultiHeadAttentionOptions options;
        options.heads = number();
        options.mask = maybe(7);
        options.key_mask = maybe(8);
        multi_head_attention(context, x[0], x[random.chance(50) ? 0 : 9], x[0], parameters,
                             options);
        return;
      }
      default: {
        SampleOptions options;
        options.temperature = any_number(random);
        options.top_k = number();
        options.top_p = any_number(random);
        sample(context, x[0], options);
      }
    }
  });
  for (std::size_t n = 0; n < x.size(); ++n)
    if (!std::ranges::equal(before[n], TensorView(x[n]).bytes()))
      require(testing::AssertionFailure() << "changed an argument",
              "operation " + std::to_string(operation));
}

void run(std::span<const std::uint8_t> bytes) {
  static std::vector<Context> contexts = [] {
    std::vector<Context> list;
    for (const int threads : {1, 2}) list.push_back(context_with_threads(threads));
    return list;
  }();
  static const Tensor fixed = Random(1).reals({1, 2, 5, 8});
  static const Tensor want = attention(contexts[0], fixed, fixed, fixed).output;
  Random random(bytes);
  switch (random.integer(0, 3)) {
    case 0:
      attend(random, contexts);
      break;
    case 1:
      fill_a_cache(random, contexts[0]);
      break;
    default:
      for (int call = 0; call < 4; ++call) call_with_strangers(random, contexts[0]);
  }
  require(same_bits(attention(contexts[0], fixed, fixed, fixed).output, want), "the next call");
}

}  // namespace
}  // namespace heed::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  heed::test::run({data, size});
  return 0;
}
