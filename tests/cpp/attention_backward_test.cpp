// The gradients of attention. The reference's are compared with finite differences of its forward
// pass, and the library's with the reference's.

#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "attention_gradient_support.hpp"
#include "errors_support.hpp"

namespace heed::test {
namespace {

using reference::Array;
using reference::Kept;

double inner_product(const Array& x, const Array& y) {
  double sum = 0.0;
  for (std::size_t i = 0; i < x.values.size(); ++i)
    if (x.values[i] != 0.0) sum += x.values[i] * y.values[i];
  return sum;
}

/// A dropout factor that is 0 for about a quarter of the pairs, in a pseudo-random pattern.
double drop_some(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
  return (b * 31 + h * 17 + i * 7 + j * j * 5) % 4 == 0 ? 0.0 : 4.0 / 3.0;
}

/// Compares gradients with finite differences: the derivative of the loss along a direction is the
/// inner product of the gradient and the direction.
class Differences {
 public:
  Differences(Random& random, Array q, Array k, Array v, const AttentionOptions& options,
              bool drops)
      : random_(random),
        q_(std::move(q)),
        k_(std::move(k)),
        v_(std::move(v)),
        options_(options),
        drops_(drops) {
    const reference::AttentionResult result = reference::attention(q_, k_, v_, options_);
    d_output_ = Array(random.reals(result.output.shape));
    d_lse_ = Array(random.reals(result.lse.shape));
    want_ = drops
                ? reference::attention_backward(d_output_, q_, k_, v_, options_, d_lse_, drop_some)
                : reference::attention_backward(d_output_, q_, k_, v_, options_, d_lse_);
  }

  void expect_agreement() {
    expect("q", q_, want_.q);
    expect("k", k_, want_.k);
    expect("v", v_, want_.v);
    if (options_.mask && options_.mask->dtype() == DType::kFloat32)
      expect("mask", options_.mask, want_.mask);
    expect("bias", options_.bias, want_.bias);
    expect("slopes", options_.alibi_slopes, want_.alibi_slopes);
    expect("sinks", options_.sinks, want_.sinks);
    expect("past key", options_.past_key, want_.past_key);
    expect("past value", options_.past_value, want_.past_value);
  }

 private:
  static constexpr float kStep = 0x1p-14f;

  double loss() const {
    const reference::AttentionResult result = reference::attention(q_, k_, v_, options_);
    double sum = drops_ ? dropped_loss(result) : inner_product(d_output_, result.output);
    for (std::size_t i = 0; i < d_lse_.values.size(); ++i)
      if (std::isfinite(result.lse.values[i])) sum += result.lse.values[i] * d_lse_.values[i];
    return sum;
  }

  /// For inputs with separate heads.
  double dropped_loss(const reference::AttentionResult& result) const {
    const std::int64_t B = result.weights.shape[0], H = result.weights.shape[1];
    const std::int64_t L = result.weights.shape[2], S = result.weights.shape[3];
    const Array& v = options_.past_value ? result.present_value : v_;
    const std::int64_t G = v.shape[1], Dv = v.shape[3];
    double sum = 0.0;
    for (std::int64_t b = 0; b < B; ++b)
      for (std::int64_t h = 0; h < H; ++h)
        for (std::int64_t i = 0; i < L; ++i)
          for (std::int64_t j = 0; j < S; ++j)
            for (std::int64_t d = 0; d < Dv; ++d)
              sum += drop_some(b, h, i, j) * result.weights[((b * H + h) * L + i) * S + j] *
                     v[((b * G + h / (H / G)) * S + j) * Dv + d] *
                     d_output_[((b * H + h) * L + i) * Dv + d];
    return sum;
  }

  void expect(const char* name, double along, const Array& gradient, double difference) {
    double size = 1.0;
    for (const double g : gradient.values) size += std::abs(g);
    EXPECT_NEAR(difference, along, 1e-6 * size) << name;
  }

  void expect(const char* name, Array& x, const Array& gradient) {
    ASSERT_TRUE(x.shape == gradient.shape) << name;
    const Array before = x;
    const Array direction(random_.reals(x.shape));
    const auto move = [&](double step) {
      for (std::size_t i = 0; i < x.values.size(); ++i)
        x.values[i] = before.values[i] + step * direction.values[i];
      return loss();
    };
    const double step = kStep;
    const double difference = (move(step) - move(-step)) / (2.0 * step);
    x = before;
    expect(name, inner_product(gradient, direction), gradient, difference);
  }

  void expect(const char* name, std::optional<TensorView>& x, const Array& gradient) {
    if (!x) return;
    ASSERT_TRUE(x->shape() == gradient.shape) << name;
    const TensorView before = *x;
    Tensor above(before.shape()), below(before.shape());
    Array direction(before.shape());  // the step after rounding to float32
    for (std::size_t i = 0; i < direction.values.size(); ++i) {
      const float value = before.data<float>()[i], step = kStep * random_.real();
      above.data()[i] = value + step;
      below.data()[i] = value - step;
      direction.values[i] = static_cast<double>(above.data()[i]) - below.data()[i];
      if (!std::isfinite(value)) direction.values[i] = 0.0;
    }
    x = above;
    const double high = loss();
    x = below;
    const double low = loss();
    x = before;
    expect(name, inner_product(gradient, direction) / (2.0 * kStep), gradient,
           (high - low) / (2.0 * kStep));
  }

  Random& random_;
  Array q_, k_, v_;
  AttentionOptions options_;
  bool drops_;
  Array d_output_, d_lse_;
  reference::AttentionGradients want_;
};

/// A small case, because the reference is computed many times.
Case small_case(Random& random) {
  for (;;) {
    Case c = random_case(random);
    if (c.B * c.H * c.L * c.S * (c.D + c.Dv) < 100'000) return c;
  }
}

class AttentionBackwardReference : public testing::TestWithParam<std::uint32_t> {};

TEST_P(AttentionBackwardReference, AgreesWithFiniteDifferences) {
  Random random(GetParam() + 5000);
  for (int number = 0; number < 15 && !HasFailure(); ++number) {
    const Case c = small_case(random);
    const bool drops = !c.is_joined && random.chance(40);
    SCOPED_TRACE(testing::Message()
                 << "case " << number << ": " << c.description() << (drops ? " dropout" : ""));
    Differences(random, c.q, c.k, c.v, c.all_options(), drops).expect_agreement();
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, AttentionBackwardReference, testing::Range(0u, 8u));

/// Rows (b, h, i) of q or of d_output.
float* row_of(const Case& c, Tensor& x, std::int64_t b, std::int64_t h, std::int64_t i,
              std::int64_t size) {
  const std::int64_t row = c.is_joined ? (b * c.L + i) * c.H + h : (b * c.H + h) * c.L + i;
  return x.data().data() + row * size;
}

/// NaN and infinity in queries that see no key and in the gradients of their outputs; with
/// `some_seen` in some other gradients too.
void poison_queries(Random& random, Case& c, Tensor& d_output, bool some_seen) {
  const Array masked = reference::attention(c.q, c.k, c.v, c.all_options()).masked;
  for (std::int64_t row = 0; row < c.B * c.H * c.L; ++row) {
    bool sees = false;
    for (std::int64_t j = 0; j < c.S; ++j)
      sees = sees || masked[row * c.S + j] != reference::kMinusInfinity;
    const std::int64_t b = row / (c.H * c.L), h = row / c.L % c.H, i = row % c.L;
    if (!sees) {
      std::fill_n(row_of(c, c.q, b, h, i, c.D), c.D, random.chance(50) ? kNaN : INFINITY);
    }
    if (!sees || (some_seen && random.chance(3)))
      std::fill_n(row_of(c, d_output, b, h, i, c.Dv), c.Dv, kNaN);
  }
}

class AttentionBackwardCombinations : public testing::TestWithParam<std::uint32_t> {};

TEST_P(AttentionBackwardCombinations, MatchTheReferenceWithEveryNumberOfThreads) {
  Random random(GetParam() + 7000);
  Contexts contexts;
  for (int number = 0; number < 20 && !HasFailure(); ++number) {
    Case c = random_case(random);
    Tensor d_output =
        random.reals(c.is_joined ? Shape{c.B, c.L, c.H * c.Dv} : Shape{c.B, c.H, c.L, c.Dv});
    std::optional<Tensor> d_lse;
    if (random.chance(40)) d_lse = random.reals({c.B, c.H, c.L});
    if (random.chance(25)) {
      c.options.dropout = 0.3;
      c.options.dropout_seed = GetParam();
    }
    const bool is_poisoned = random.chance(50);
    if (is_poisoned) {
      poison_keys(random, c, random.chance(30));
      poison_queries(random, c, d_output, random.chance(30));
    }
    SCOPED_TRACE(testing::Message() << "case " << number << ": " << c.description()
                                    << (c.options.dropout > 0.0 ? " dropout" : "")
                                    << (d_lse ? " d_lse" : "") << (is_poisoned ? " poisoned" : ""));
    const AttentionOptions options = c.all_options();
    const reference::AttentionGradients want = want_gradients(
        contexts.all()[0], d_output, c.q, c.k, c.v, options, d_lse, Shape{c.B, c.H, c.L, c.S});
    expect_with_every_number_of_threads(contexts, want, {1e-4, 1e-4}, [&](Context& context) {
      return differentiate(context, d_output, c.q, c.k, c.v, options, d_lse);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, AttentionBackwardCombinations, testing::Range(0u, 20u));

/// Bounds of `count` sequences of up to `most` rows, some of them empty.
Tensor random_bounds(Random& random, std::int64_t count, std::int64_t most) {
  Tensor bounds(Shape{count + 1}, DType::kInt32);
  std::int32_t end = 0;
  for (std::int32_t& bound : bounds.data<std::int32_t>()) {
    bound = end;
    if (!random.chance(15)) end += static_cast<std::int32_t>(random.integer(1, most));
  }
  return bounds;
}

TEST(AttentionBackward, MatchesTheReferenceForPackedSequences) {
  Random random(3);
  Contexts contexts;
  for (int number = 0; number < 40 && !HasFailure(); ++number) {
    const bool is_many = number % 4 == 0;  // enough to be computed head by head
    const std::int64_t N = is_many ? random.integer(13, 16) : random.integer(1, 5);
    const std::int64_t G = random.integer(1, 2), H = G * random.integer(1, 2);
    const std::int64_t D = random.integer(1, 20), Dv = random.integer(1, 20);
    const Tensor bounds_q = random_bounds(random, N, is_many ? 60 : 120);
    const Tensor bounds_k = random_bounds(random, N, is_many ? 140 : 300);
    const std::int64_t Tq = bounds_q.data<std::int32_t>().back();
    const std::int64_t Tk = bounds_k.data<std::int32_t>().back();
    const Tensor q = random.reals({Tq, H, D}), k = random.reals({Tk, G, D});
    const Tensor v = random.reals({Tk, G, Dv}), d_output = random.reals({Tq, H, Dv});
    const Tensor d_lse = random.reals({H, Tq});
    const Tensor slopes = random.reals({H}, 0.0f, 0.1f), sinks = random.reals({H});
    AttentionOptions options;
    options.cu_seqlens_q = bounds_q;
    options.cu_seqlens_k = bounds_k;
    options.is_causal = random.chance(50);
    if (random.chance(30)) options.window_left = random.integer(0, 50);
    if (random.chance(50)) options.alibi_slopes = slopes;
    if (random.chance(50)) options.sinks = sinks;
    if (random.chance(30)) options.dropout = 0.4;
    SCOPED_TRACE(testing::Message() << "case " << number << ": N " << N << " Tq " << Tq << " Tk "
                                    << Tk << " H " << H << " G " << G);
    const reference::AttentionGradients want =
        want_gradients(contexts.all()[0], d_output, q, k, v, options, d_lse, Shape{1, H, Tq, Tk});
    if (options.dropout == 0.0) Differences(random, q, k, v, options, false).expect_agreement();
    expect_with_every_number_of_threads(contexts, want, {3e-5, 3e-5}, [&](Context& context) {
      return differentiate(context, d_output, q, k, v, options, d_lse);
    });
  }
}

TEST(AttentionBackward, SumsTheGradientOfABiasOverBroadcastAxes) {
  Random random(4);
  Contexts contexts;
  // Three tiles of queries, and three of keys.
  const std::int64_t B = 2, H = 4, L = 100, S = 300;
  const Inputs inputs = random_inputs(random, B, H, 2, L, S, 8, 8);
  const Tensor d_output = random.reals({B, H, L, 8});
  for (const Shape& shape :
       {Shape{B, H, L, S}, Shape{H, L, S}, Shape{B, 1, L, S}, Shape{L, S}, Shape{S}, Shape{L, 1},
        Shape{B, H, L, 1}, Shape{B, H, 1, S}, Shape{1}, Shape{}, Shape{H, 1, 200}}) {
    SCOPED_TRACE(to_string(shape));
    const Tensor bias = random.biases(shape, shape.elements() > 1 ? 10 : 0);
    for (const bool is_mask : {false, true}) {
      AttentionOptions options;
      (is_mask ? options.mask : options.bias) = bias;
      const reference::AttentionGradients want =
          reference::attention_backward(d_output, inputs.q, inputs.k, inputs.v, options);
      expect_with_every_number_of_threads(contexts, want, {2e-5, 2e-5}, [&](Context& context) {
        AttentionGradients got =
            differentiate(context, d_output, inputs.q, inputs.k, inputs.v, options);
        EXPECT_EQ(got.mask.has_value(), is_mask);
        EXPECT_EQ(got.bias.has_value(), !is_mask);
        return got;
      });
    }
  }
}

TEST(AttentionBackward, DistributesTheKeysOfOneHeadAmongThreads) {
  Random random(6);
  Contexts contexts;
  for (const std::int64_t H : {1, 3}) {
    const Inputs inputs = random_inputs(random, 1, H, 1, 100, 1500, 20, 40);
    const Tensor d_output = random.reals({1, H, 100, 40});
    AttentionOptions options = causal();
    options.causal_alignment = CausalAlignment::kBottomRight;
    const reference::AttentionGradients want =
        reference::attention_backward(d_output, inputs.q, inputs.k, inputs.v, options);
    expect_with_every_number_of_threads(contexts, want, {}, [&](Context& context) {
      return differentiate(context, d_output, inputs.q, inputs.k, inputs.v, options);
    });
  }
}

TEST(AttentionBackward, ComputesManySmallHeadsOneByOne) {
  Random random(8);
  Contexts contexts;
  const std::int64_t B = 7, H = 4, G = 2, L = 70, P = 30, S = P + 110;
  const Inputs inputs = random_inputs(random, B, H, G, L, S - P, 20, 12);
  const Tensor past_key = random.reals({B, G, P, 20}), past_value = random.reals({B, G, P, 12});
  const Tensor d_output = random.reals({B, H, L, 12}), d_lse = random.reals({B, H, L});
  const Tensor bias = random.biases({B, H, L, S}, 10), sinks = random.reals({H});
  for (const bool is_causal : {false, true}) {
    AttentionOptions options;
    options.is_causal = is_causal;
    options.past_key = past_key;
    options.past_value = past_value;
    options.bias = bias;
    if (is_causal) options.sinks = sinks;
    const reference::AttentionGradients want = reference::attention_backward(
        d_output, inputs.q, inputs.k, inputs.v, options, Array(d_lse));
    expect_with_every_number_of_threads(contexts, want, {2e-5, 2e-5}, [&](Context& context) {
      return differentiate(context, d_output, inputs.q, inputs.k, inputs.v, options, d_lse);
    });
  }
}

TEST(AttentionBackward, ReturnsOnlyTheRequestedGradients) {
  Context context;
  Random random(5);
  const Inputs inputs = random_inputs(random, 1, 2, 2, 5, 7, 4, 4);
  const Tensor bias = random.reals({5, 7}), sinks = random.reals({2}), slopes = random.reals({2});
  AttentionOptions options;
  options.bias = bias;
  options.sinks = sinks;
  options.alibi_slopes = slopes;
  options.need_statistics = true;
  const AttentionResult result = attention(context, inputs.q, inputs.k, inputs.v, options);
  const AttentionGradients got =
      attention_backward(context, result.output, inputs.q, inputs.k, inputs.v, result.output,
                         *result.statistics, options);
  EXPECT_FALSE(got.mask || got.bias || got.alibi_slopes || got.sinks || got.past_key ||
               got.past_value);
}

TEST(AttentionBackward, HandlesEmptyInputs) {
  Context context;
  for (const auto& [L, S] : {std::pair{0, 5}, std::pair{5, 0}, std::pair{0, 0}}) {
    const Tensor q = filled({1, 2, L, 3}, kNaN), k = filled({1, 2, S, 3}, 1.0f);
    const Tensor sinks = filled({2}, 1.0f);
    AttentionOptions options;
    options.sinks = sinks;
    const AttentionGradients got = differentiate(context, q, q, k, k, options);
    for (const Tensor* gradient : {&got.q, &got.k, &got.v, &*got.sinks})
      for (const float value : gradient->data()) EXPECT_EQ(value, 0.0f);
  }
}

TEST(AttentionBackward, SumsTheGradientsOfSharedSlopesAndSinks) {
  Random random(15);
  Context context;
  const Inputs inputs = random_inputs(random, 2, 4, 2, 20, 30, 8, 8);
  const Tensor d_output = random.reals({2, 4, 20, 8});
  for (const Shape& shape : {Shape{2, 4}, Shape{2, 1}, Shape{1, 4}, Shape{1, 1}, Shape{4}}) {
    SCOPED_TRACE(to_string(shape));
    const Tensor sinks = random.reals(shape), slopes = random.reals(shape, 0.0f, 0.2f);
    AttentionOptions options;
    options.sinks = sinks;
    options.alibi_slopes = slopes;
    const auto want =
        reference::attention_backward(d_output, inputs.q, inputs.k, inputs.v, options);
    expect_gradients(differentiate(context, d_output, inputs.q, inputs.k, inputs.v, options), want,
                     {1e-5, 1e-5});
  }
  const Tensor q = random.reals({30, 4, 8}), k = random.reals({30, 2, 8}),
               bounds = integers({3}, {0, 11, 30}), sinks = random.reals({2, 4}),
               slopes = random.reals({2, 1}, 0.0f, 0.2f), d_packed = random.reals({30, 4, 8});
  AttentionOptions options;
  options.cu_seqlens_q = options.cu_seqlens_k = bounds;
  options.sinks = sinks;
  options.alibi_slopes = slopes;
  const auto want = reference::attention_backward(d_packed, q, k, k, options);
  expect_gradients(differentiate(context, d_packed, q, k, k, options), want, {1e-5, 1e-5});
}

class AttentionBackwardRefusals : public Refusals {
 protected:
  AttentionBackwardRefusals()
      : d_output(random.reals({2, 4, 3, 6})), statistics(random.reals({2, 2, 4, 3})) {
    keep({&d_output, &statistics});
  }

  void expect(ErrorCode code, std::string_view argument, std::string_view got,
              const AttentionOptions& options, const AttentionGradientOptions& needed = {}) {
    expect_error(code, argument, got, [&] {
      attention_backward(context, d_output, q, k, v, want, statistics, options, needed);
    });
  }

  Tensor d_output, statistics;
};

TEST_F(AttentionBackwardRefusals, NameTheArgument) {
  const Tensor wrong = random.reals({2, 4, 3, 5}), wrong_rows = random.reals({2, 4, 4});
  const Tensor wrong_statistics = random.reals({2, 4, 3}), whole = integers({2, 2, 4, 3}, {});
  const auto call = [&](const TensorView& a, const TensorView& b, const TensorView& c) {
    return [&, a, b, c] { attention_backward(context, a, q, k, v, b, c); };
  };
  expect_error(kShape, "d_output", "[2, 4, 3, 5]", call(wrong, want, statistics));
  expect_error(kShape, "output", "[2, 4, 3, 5]", call(d_output, wrong, statistics));
  expect_error(kShape, "statistics", "[2, 4, 3]", call(d_output, want, wrong_statistics));
  expect_error(kDType, "statistics", "int32", call(d_output, want, whole));
  AttentionGradientOptions needed;
  needed.d_lse = wrong_rows;
  expect(kShape, "d_lse", "[2, 4, 4]", {}, needed);
  const Tensor half = cast(context, q, DType::kFloat16);
  expect_error(kDType, "q", "float16",
               [&] { attention_backward(context, d_output, half, k, v, want, statistics); });
  expect_error(kShape, "k", "[2, 2, 5, 7]", [&] {
    attention_backward(context, d_output, q, random.reals({2, 2, 5, 7}), v, want, statistics);
  });
}

TEST_F(AttentionBackwardRefusals, NameTheOption) {
  AttentionOptions options;
  options.precision = Precision::kInt8Scores;
  expect(kOption, "precision", "int8-scores", options);
  KvCache cache(context, {.batch = 2, .heads = 2, .head_size = 8, .value_size = 6, .capacity = 9});
  options = {};
  options.cache = &cache;
  expect(kOption, "cache", "one", options);
  options = {};
  options.softcap = -1.0f;
  expect(kOption, "softcap", "-1", options);
  AttentionGradientOptions needed;
  needed.need_bias = true;
  expect(kOption, "need_bias", "true", {}, needed);
  needed = {};
  needed.need_mask = true;
  expect(kOption, "need_mask", "true", {}, needed);
  const Tensor mask = random.bools({3, 5}, 50);
  options = {};
  options.mask = mask;
  expect(kOption, "need_mask", "true", options, needed);
  needed = {};
  needed.need_alibi_slopes = true;
  expect(kOption, "need_alibi_slopes", "true", {}, needed);
  needed = {};
  needed.need_sinks = true;
  expect(kOption, "need_sinks", "true", {}, needed);
}

}  // namespace
}  // namespace heed::test
