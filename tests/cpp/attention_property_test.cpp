// Attention against the reference on random shapes and random combinations of its options.

#include <cstdint>
#include <optional>
#include <sstream>
#include <string>

#include "attention_support.hpp"

namespace heed::test {
namespace {

struct Case {
  std::int64_t B, G, H, L, S, D, Dv;
  bool joined;
  Tensor q, k, v;
  std::optional<Tensor> mask;
  std::optional<Tensor> kv_lengths;
  AttentionOptions options;

  std::string description() const {
    std::ostringstream text;
    text << "B " << B << " H " << H << " G " << G << " L " << L << " S " << S << " D " << D
         << " Dv " << Dv << (joined ? " joined" : "") << (options.is_causal ? " causal" : "");
    if (options.scale) text << " scale " << *options.scale;
    if (mask) text << " mask " << to_string(mask->dtype()) << " " << to_string(mask->shape());
    if (kv_lengths) {
      text << " lengths";
      for (const std::int32_t length : kv_lengths->data<std::int32_t>()) text << " " << length;
    }
    return text.str();
  }
};

Tensor random_mask(Random& random, const Case& c) {
  const Shape shape = random_pairs_shape(random, {c.B, c.H, c.L, c.S});
  Tensor mask = random.chance(50) ? random.bools(shape, 70) : random.biases(shape, 30);
  if (shape.rank() == 0 || random.chance(60)) return mask;
  // Hide the first keys of each row, a few or almost all.
  const std::int64_t rows = shape[-1] == 0 ? 0 : shape.elements() / shape[-1];
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto begin = static_cast<std::size_t>(row * shape[-1]);
    const auto count = static_cast<std::size_t>(random.integer(0, shape[-1]));
    for (std::size_t i = begin; i < begin + count; ++i) {
      if (mask.dtype() == DType::kBool) {
        mask.data<bool>()[i] = false;
      } else {
        mask.data()[i] = -kInfinity;
      }
    }
  }
  return mask;
}

Case random_case(Random& random) {
  Case c;
  c.B = random.integer(1, 3);
  c.G = random.integer(1, 3);
  c.H = c.G * random.integer(1, 3);
  c.L = random_size(random, 0, 200);
  c.S = random_size(random, 0, 300);
  c.D = random_size(random, 1, 80);
  c.Dv = random.chance(50) ? c.D : random_size(random, 1, 80);
  // A large case has one head, to save time.
  if (c.B * c.H * c.L * c.S * (c.D + c.Dv) > 4'000'000) c.B = c.G = c.H = 1;

  c.joined = random.chance(40);
  if (c.joined) {
    c.q = random.reals({c.B, c.L, c.H * c.D});
    c.k = random.reals({c.B, c.S, c.G * c.D});
    c.v = random.reals({c.B, c.S, c.G * c.Dv});
    c.options.heads = c.H;
    if (c.G != c.H || random.chance(50)) c.options.kv_heads = c.G;
  } else {
    c.q = random.reals({c.B, c.H, c.L, c.D});
    c.k = random.reals({c.B, c.G, c.S, c.D});
    c.v = random.reals({c.B, c.G, c.S, c.Dv});
  }

  c.options.is_causal = random.chance(40);
  if (random.chance(30)) c.options.scale = random.real(-1.0f, 1.0f);
  if (random.chance(60)) c.mask = random_mask(random, c);
  if (random.chance(30)) {
    c.kv_lengths = Tensor(Shape{c.B}, DType::kInt32);
    for (std::int32_t& length : c.kv_lengths->data<std::int32_t>()) {
      length = static_cast<std::int32_t>(random.integer(0, c.S));
    }
  }
  return c;
}

/// The memory after the length of a sequence is unwritten.
void poison_beyond_lengths(Case& c) {
  const auto poison = [&](Tensor& tensor, std::int64_t width) {
    const std::int64_t outer = c.joined ? 1 : c.G;
    const std::int64_t row_size = c.joined ? c.G * width : width;
    for (std::int64_t b = 0; b < c.B; ++b) {
      const std::int64_t length = c.kv_lengths->data<std::int32_t>()[static_cast<std::size_t>(b)];
      for (std::int64_t g = 0; g < outer; ++g) {
        const std::int64_t begin = ((b * outer + g) * c.S + length) * row_size;
        const std::int64_t end = ((b * outer + g) * c.S + c.S) * row_size;
        for (std::int64_t i = begin; i < end; ++i)
          tensor.data()[static_cast<std::size_t>(i)] = kNaN;
      }
    }
  };
  poison(c.k, c.D);
  poison(c.v, c.Dv);
}

class AttentionProperty : public testing::TestWithParam<std::uint32_t> {};

TEST_P(AttentionProperty, MatchesTheReference) {
  Random random(GetParam());
  Context context = context_with_threads(kThreadCounts[GetParam() % 4]);
  for (int number = 0; number < 25 && !HasFailure(); ++number) {
    Case c = random_case(random);
    SCOPED_TRACE(testing::Message() << "case " << number << ": " << c.description());
    if (c.mask) c.options.mask = *c.mask;
    if (c.kv_lengths) {
      c.options.kv_lengths = *c.kv_lengths;
      if (random.chance(50)) poison_beyond_lengths(c);
    }
    // With the scale 1 instead of 1/sqrt(80), scores reach about 30, with rounding errors of 2e-6,
    // which are the relative errors of the weights.
    expect_reference(context, c.q, c.k, c.v, c.options, {2e-5, 2e-5});
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, AttentionProperty, testing::Range(0u, 12u));

}  // namespace
}  // namespace heed::test
