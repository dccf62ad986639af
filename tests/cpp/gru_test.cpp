// Gated recurrent units against their reference, backward too.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "errors_support.hpp"
#include "gradient_support.hpp"
#include "reference/gru.hpp"
#include "support.hpp"

namespace heed::test {
namespace {

using reference::Array;

/// All arguments of a layer, including the optional ones.
struct Layer {
  Layer(Random& random, std::int64_t B, std::int64_t L, std::int64_t I, std::int64_t Hd)
      : x(random.reals({B, L, I})),
        first(random.reals({B, Hd})),
        weight_ih(random.reals({3 * Hd, I})),
        weight_hh(random.reals({3 * Hd, Hd}, -0.5f, 0.5f)),
        bias_ih(random.reals({3 * Hd})),
        bias_hh(random.reals({3 * Hd})),
        lengths(Shape{B}, DType::kInt32),
        d_output(random.reals({B, L, Hd})),
        d_state(random.reals({B, Hd})) {
    for (std::int32_t& length : lengths.data<std::int32_t>())
      length = static_cast<std::int32_t>(random.integer(0, L));
  }

  /// Bits of `missing`: the biases, the state, the lengths.
  GruParameters parameters(int missing) const {
    GruParameters p{weight_ih, weight_hh, {}, {}};
    if (missing & 1) return p;
    p.bias_ih = bias_ih;
    p.bias_hh = bias_hh;
    return p;
  }
  GruOptions options(int missing) const {
    GruOptions o;
    o.need_gates = true;
    if (!(missing & 2)) o.state = first;
    if (!(missing & 4)) o.lengths = lengths;
    return o;
  }
  reference::GruParameters wanted_parameters(int missing) const {
    const Array none(bias_ih.shape());
    return {weight_ih, weight_hh, missing & 1 ? none : Array(bias_ih),
            missing & 1 ? none : Array(bias_hh)};
  }
  Array wanted_state(int missing) const { return missing & 2 ? Array(first.shape()) : first; }

  GruResult forward(Context& context, int missing) const {
    return gru(context, x, parameters(missing), options(missing));
  }
  GruGradients backward(Context& context, const GruResult& result, int missing) const {
    return gru_backward(context, d_output, d_state, x, parameters(missing), result.output,
                        *result.gates, options(missing));
  }

  Tensor x, first, weight_ih, weight_hh, bias_ih, bias_hh, lengths, d_output, d_state;
};

TEST(Gru, AgreesWithFiniteDifferencesInTheReference) {
  Random random(1);
  Layer layer(random, 2, 3, 2, 3);
  layer.lengths = integers({2}, {3, 2});
  for (const int missing : {0, 4}) {
    const GruOptions options = layer.options(missing);
    // The gradients of both results, in one array.
    const auto forward = [&](const Array& x, const Array& state,
                             const reference::GruParameters& p) {
      const auto result = reference::gru(x, state, p, options);
      Array both(Shape{2 * 3 * 3 + 2 * 3});
      for (std::int64_t i = 0; i < 18; ++i) both[i] = result.output[i];
      for (std::int64_t i = 0; i < 6; ++i) both[18 + i] = result.state[i];
      return both;
    };
    Array d(Shape{24});
    for (std::int64_t i = 0; i < 18; ++i) d[i] = Array(layer.d_output)[i];
    for (std::int64_t i = 0; i < 6; ++i) d[18 + i] = Array(layer.d_state)[i];
    const reference::GruParameters p = layer.wanted_parameters(0);
    const Array x = layer.x, state = layer.first;
    const auto got = reference::gru_backward(layer.d_output, layer.d_state, x, state, p,
                                             reference::gru(x, state, p, options), options);
    EXPECT_TRUE(is_gradient(got.x, x, d, [&](const Array& at) { return forward(at, state, p); }));
    EXPECT_TRUE(
        is_gradient(got.state, state, d, [&](const Array& at) { return forward(x, at, p); }));
    const auto in_parameter = [&](const Array& gradient, Array reference::GruParameters::* which) {
      EXPECT_TRUE(is_gradient(gradient, p.*which, d, [&](const Array& at) {
        reference::GruParameters changed = p;
        changed.*which = at;
        return forward(x, state, changed);
      }));
    };
    in_parameter(got.parameters.weight_ih, &reference::GruParameters::weight_ih);
    in_parameter(got.parameters.weight_hh, &reference::GruParameters::weight_hh);
    in_parameter(got.parameters.bias_ih, &reference::GruParameters::bias_ih);
    in_parameter(got.parameters.bias_hh, &reference::GruParameters::bias_hh);
  }
}

TEST(Gru, MatchesTheReferenceForAllSizes) {
  Random random(2);
  Context context;
  for (const std::int64_t B : {0, 1, 3, 21}) {
    for (const std::int64_t L : {0, 1, 6}) {
      for (const std::int64_t I : {0, 1, 5}) {
        for (const std::int64_t Hd : {0, 1, 7, 16, 37}) {
          const Layer layer(random, B, L, I, Hd);
          for (int missing = 0; missing < 8; ++missing) {
            SCOPED_TRACE(testing::Message() << "B " << B << " L " << L << " I " << I << " Hd " << Hd
                                            << " missing " << missing);
            const auto p = layer.wanted_parameters(missing);
            const Array state = layer.wanted_state(missing);
            const auto want = reference::gru(layer.x, state, p, layer.options(missing));
            const GruResult got = layer.forward(context, missing);
            EXPECT_TRUE(close(got.output, want.output));
            EXPECT_TRUE(close(got.state, want.state));
            EXPECT_TRUE(close(got.gates, want.gates));
            const auto want_d = reference::gru_backward(layer.d_output, layer.d_state, layer.x,
                                                        state, p, want, layer.options(missing));
            const GruGradients got_d = layer.backward(context, got, missing);
            const Tolerance tolerance{4e-5, 2e-5};
            EXPECT_TRUE(close(got_d.x, want_d.x, tolerance));
            EXPECT_TRUE(close(got_d.state, want_d.state, tolerance));
            EXPECT_TRUE(close(got_d.weight_ih, want_d.parameters.weight_ih, tolerance));
            EXPECT_TRUE(close(got_d.weight_hh, want_d.parameters.weight_hh, tolerance));
            EXPECT_EQ(got_d.bias_ih.has_value(), !(missing & 1));
            EXPECT_EQ(got_d.bias_hh.has_value(), !(missing & 1));
            if (missing & 1) continue;
            EXPECT_TRUE(close(got_d.bias_ih, want_d.parameters.bias_ih, tolerance));
            EXPECT_TRUE(close(got_d.bias_hh, want_d.parameters.bias_hh, tolerance));
          }
        }
      }
    }
  }
}

TEST(Gru, AcceptsEitherGradientAlone) {
  Random random(3);
  Context context;
  const Layer layer(random, 2, 4, 3, 5);
  const GruResult result = layer.forward(context, 0);
  const Tensor no_output = filled({2, 4, 5}, 0.0f), no_state = filled({2, 5}, 0.0f);
  const auto backward = [&](const std::optional<TensorView>& d_output,
                            const std::optional<TensorView>& d_state) {
    return gru_backward(context, d_output, d_state, layer.x, layer.parameters(0), result.output,
                        *result.gates, layer.options(0))
        .x;
  };
  EXPECT_TRUE(same_bits(backward(layer.d_output, {}), backward(layer.d_output, no_state)));
  EXPECT_TRUE(same_bits(backward({}, layer.d_state), backward(no_output, layer.d_state)));
  EXPECT_TRUE(same_bits(backward({}, {}), backward(no_output, no_state)));
  EXPECT_FALSE(gru(context, layer.x, layer.parameters(0)).gates.has_value());
}

TEST(Gru, DoesNotReadBeyondTheLengths) {
  Random random(4);
  Context context;
  Layer layer(random, 2, 4, 3, 5);
  layer.lengths = integers({2}, {2, 0});
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t t = b == 0 ? 2 : 0; t < 4; ++t) {
      for (std::size_t i = 0; i < 3; ++i) layer.x.data()[(b * 4 + t) * 3 + i] = kNaN;
      for (std::size_t i = 0; i < 5; ++i) layer.d_output.data()[(b * 4 + t) * 5 + i] = kNaN;
    }
  const GruResult result = layer.forward(context, 0);
  const GruGradients d = layer.backward(context, result, 0);
  for (const Tensor* tensor : {&result.output, &result.state, &*result.gates, &d.x, &d.state,
                               &d.weight_ih, &d.weight_hh, &*d.bias_ih, &*d.bias_hh})
    for (const float number : tensor->data()) EXPECT_TRUE(std::isfinite(number));
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(result.output.data()[2 * 5 + i], 0.0f);
    EXPECT_EQ(result.state.data()[i], result.output.data()[5 + i]) << "its last state stays";
    EXPECT_EQ(result.state.data()[5 + i], layer.first.data()[5 + i]);
    EXPECT_EQ(d.state.data()[5 + i], layer.d_state.data()[5 + i]);
  }
}

TEST(Gru, ContinuesFromAState) {
  // Six steps are two and four.
  Random random(5);
  Context context;
  const Layer layer(random, 1, 6, 3, 20);
  const GruParameters p = layer.parameters(0);
  const auto from = [&](const Tensor& state, std::int64_t first, std::int64_t steps) {
    GruOptions options;
    options.state = state;
    const TensorView x(layer.x.data().data() + 3 * first, {1, steps, 3});
    return gru(context, x, p, options).state;
  };
  EXPECT_TRUE(same_bits(from(from(layer.first, 0, 2), 2, 4), from(layer.first, 0, 6)));
}

TEST(Gru, HandlesSaturatedGates) {
  Random random(6);
  Context context;
  Layer layer(random, 2, 3, 4, 9);
  for (float& number : layer.x.data()) number *= 1e20f;
  const auto want = reference::gru(layer.x, layer.wanted_state(4), layer.wanted_parameters(4));
  EXPECT_TRUE(close(layer.forward(context, 4).output, want.output));
}

TEST(Gru, ReturnsTheSameBitsForAnyNumberOfThreads) {
  Random random(7);
  const Layer layer(random, 50, 7, 20, 40);
  expect_same_bits_for_any_threads([&](Context& context) {
    GruResult result = layer.forward(context, 0);
    GruGradients d = layer.backward(context, result, 0);
    return list_of(std::move(result.output), std::move(result.state),
                   std::move(result.gates.value()), std::move(d.x), std::move(d.state),
                   std::move(d.weight_ih), std::move(d.weight_hh), std::move(d.bias_ih.value()),
                   std::move(d.bias_hh.value()));
  });
}

TEST_F(Refusals, GruRefusesInvalidArguments) {
  const Layer layer(random, 2, 4, 3, 5);
  const Tensor numbers(Shape{2, 4, 3}, DType::kInt32), other = random.reals({2, 6});
  const auto refuses = [&](ErrorCode code, const char* argument, const char* got, auto change) {
    GruParameters p = layer.parameters(0);
    GruOptions o = layer.options(0);
    TensorView x = layer.x;
    change(x, p, o);
    expect_error(code, argument, got, [&] { gru(context, x, p, o); });
    expect_error(code, argument, got, [&] {
      gru_backward(context, {}, {}, x, p, layer.d_output, random.reals({2, 4, 20}), o);
    });
  };
  refuses(kDType, "x", "int32", [&](auto& x, auto&, auto&) { x = numbers; });
  refuses(kShape, "x", "[2, 6]", [&](auto& x, auto&, auto&) { x = other; });
  refuses(kShape, "weight_ih", "[2, 6]", [&](auto&, auto& p, auto&) { p.weight_ih = other; });
  refuses(kShape, "weight_hh", "[2, 6]", [&](auto&, auto& p, auto&) { p.weight_hh = other; });
  refuses(kShape, "bias_ih", "[2, 6]", [&](auto&, auto& p, auto&) { p.bias_ih = other; });
  refuses(kShape, "bias_hh", "[2, 6]", [&](auto&, auto& p, auto&) { p.bias_hh = other; });
  refuses(kShape, "state", "[2, 6]", [&](auto&, auto&, auto& o) { o.state = other; });
  refuses(kDType, "lengths", "float32", [&](auto&, auto&, auto& o) { o.lengths = other; });
  const Tensor three = integers({3}, {1, 2, 3}), beyond = integers({2}, {1, 5}),
               below = integers({2}, {1, -1});
  refuses(kShape, "lengths", "[3]", [&](auto&, auto&, auto& o) { o.lengths = three; });
  refuses(kOption, "lengths", "5", [&](auto&, auto&, auto& o) { o.lengths = beyond; });
  refuses(kOption, "lengths", "-1", [&](auto&, auto&, auto& o) { o.lengths = below; });

  const Tensor gates = random.reals({2, 4, 20});
  const auto backward = [&](const char* argument, const std::optional<TensorView>& d_output,
                            const std::optional<TensorView>& d_state, const TensorView& output,
                            const TensorView& given) {
    expect_error(kShape, argument, "[2, 6]", [&] {
      gru_backward(context, d_output, d_state, layer.x, layer.parameters(0), output, given,
                   layer.options(0));
    });
  };
  backward("d_output", other, {}, layer.d_output, gates);
  backward("d_state", {}, other, layer.d_output, gates);
  backward("output", {}, {}, other, gates);
  backward("gates", {}, {}, layer.d_output, other);
}

}  // namespace
}  // namespace heed::test
