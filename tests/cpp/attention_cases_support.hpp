#pragma once

// Random shapes with random combinations of every option of attention, and NaN in keys and values
// that must not be read.

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "attention_support.hpp"

namespace heed::test {

struct Case {
  // K keys of the call after P keys of the past: S in all.
  std::int64_t B, G, H, L, K, P, S, D, Dv;
  bool is_joined;
  Tensor q, k, v;
  std::optional<Tensor> past_key, past_value, mask, bias, lengths, offset, slopes, sinks;
  std::optional<BlockMask> block_mask;
  AttentionOptions options;

  /// The options with views of the arrays that this case owns.
  AttentionOptions all_options() const {
    AttentionOptions all = options;
    all.past_key = past_key;
    all.past_value = past_value;
    all.mask = mask;
    all.bias = bias;
    all.kv_lengths = lengths;
    all.causal_offset = offset;
    all.alibi_slopes = slopes;
    all.sinks = sinks;
    all.block_mask = block_mask ? &*block_mask : nullptr;
    return all;
  }

  std::string description() const {
    std::ostringstream text;
    text << "B " << B << " H " << H << " G " << G << " L " << L << " P " << P << " K " << K << " D "
         << D << " Dv " << Dv << (is_joined ? " joined" : "") << (past_key ? " past" : "");
    if (options.scale) text << " scale " << *options.scale;
    if (options.is_causal) text << " causal";
    text << " alignment " << static_cast<int>(options.causal_alignment);
    text << " window " << options.window_left << " " << options.window_right;
    if (options.softcap > 0) text << " softcap " << options.softcap;
    if (mask) text << " mask " << to_string(mask->dtype()) << " " << to_string(mask->shape());
    if (bias) text << " bias " << to_string(bias->shape());
    if (block_mask) text << " block mask " << to_string(block_mask->kinds().shape());
    if (slopes) text << " slopes";
    if (sinks) text << " sinks";
    const auto list = [&](const char* name, const std::optional<Tensor>& numbers) {
      if (!numbers) return;
      text << " " << name;
      for (const std::int32_t number : numbers->data<std::int32_t>()) text << " " << number;
    };
    list("lengths", lengths);
    list("offset", offset);
    return text.str();
  }
};

inline Tensor random_integers(Random& random, std::int64_t count, std::int64_t low,
                              std::int64_t high) {
  Tensor numbers(Shape{count}, DType::kInt32);
  for (std::int32_t& number : numbers.data<std::int32_t>()) {
    number = static_cast<std::int32_t>(random.integer(low, high));
  }
  return numbers;
}

/// Hides the first keys of each row of a mask, a few or almost all.
inline void hide_prefixes(Random& random, Tensor& mask) {
  if (mask.shape().rank() == 0) return;
  const std::int64_t size = mask.shape()[-1];
  for (std::int64_t row = 0; row < mask.shape().elements(); row += size) {
    const std::int64_t end = row + random.integer(0, size);
    for (std::int64_t i = row; i < end; ++i) {
      if (mask.dtype() == DType::kBool) {
        mask.data<bool>()[static_cast<std::size_t>(i)] = false;
      } else {
        mask.data()[static_cast<std::size_t>(i)] = -kInfinity;
      }
    }
  }
}

inline BlockMask random_block_mask(Random& random, const Case& c) {
  constexpr std::int64_t kBlocks = 3;
  const Shape shape{random.chance(50) ? 1 : c.B, random.chance(50) ? 1 : c.H,
                    (c.L + BlockMask::kQueries - 1) / BlockMask::kQueries,
                    (c.S + BlockMask::kKeys - 1) / BlockMask::kKeys};
  Tensor kinds(shape, DType::kInt32);
  for (std::int32_t& kind : kinds.data<std::int32_t>()) {
    kind = static_cast<std::int32_t>(random.integer(BlockMask::kFull, kBlocks - 1));
  }
  return BlockMask(c.L, c.S, std::move(kinds),
                   random.bools({kBlocks, BlockMask::kQueries, BlockMask::kKeys}, 60));
}

inline void make_inputs(Random& random, Case& c) {
  c.is_joined = random.chance(40);
  if (c.is_joined) {
    c.q = random.reals({c.B, c.L, c.H * c.D});
    c.k = random.reals({c.B, c.K, c.G * c.D});
    c.v = random.reals({c.B, c.K, c.G * c.Dv});
    c.options.heads = c.H;
    if (c.G != c.H || random.chance(50)) c.options.kv_heads = c.G;
  } else {
    c.q = random.reals({c.B, c.H, c.L, c.D});
    c.k = random.reals({c.B, c.G, c.K, c.D});
    c.v = random.reals({c.B, c.G, c.K, c.Dv});
  }
  if (!random.chance(30)) return;
  c.P = random.chance(10) ? 0 : random.integer(1, 100);
  c.S = c.P + c.K;
  c.past_key = random.reals({c.B, c.G, c.P, c.D});
  c.past_value = random.reals({c.B, c.G, c.P, c.Dv});
}

inline Case random_case(Random& random) {
  Case c;
  c.B = random.integer(1, 3);
  c.G = random.integer(1, 3);
  c.H = c.G * (random.chance(90) ? random.integer(1, 3) : 6);
  c.L = random_size(random, 0, 200);
  c.K = random_size(random, 0, 200);
  c.P = 0;
  c.S = c.K;
  c.D = random_size(random, 1, 80);
  c.Dv = random.chance(50) ? c.D : random_size(random, 1, 80);
  // A large case has one head, to save time.
  if (c.B * c.H * c.L * c.S * (c.D + c.Dv) > 3'000'000) c.B = c.G = c.H = 1;
  make_inputs(random, c);

  if (random.chance(30)) c.options.scale = random.chance(90) ? random.real(-1.0f, 1.0f) : 0.0f;
  c.options.is_causal = random.chance(40);
  c.options.causal_alignment = static_cast<CausalAlignment>(random.integer(0, 2));
  if (random.chance(30)) {
    c.offset = random_integers(random, random.chance(50) ? 1 : c.B, -c.L - 5, c.S + 5);
  }
  const auto side = [&] {
    return random.chance(50) ? random.integer(0, 9) : random.integer(0, c.S);
  };
  if (random.chance(35)) c.options.window_left = side();
  if (random.chance(35)) c.options.window_right = side();
  if (random.chance(30)) c.lengths = random_integers(random, c.B, 0, c.S);
  if (random.chance(30)) c.options.softcap = random.real(0.5f, 50.0f);
  if (random.chance(30)) {
    c.mask = random.bools(random_pairs_shape(random, {c.B, c.H, c.L, c.S}), 75);
  } else if (random.chance(30)) {
    c.mask = random.biases(random_pairs_shape(random, {c.B, c.H, c.L, c.S}), 20);
  }
  if (c.mask && random.chance(50)) hide_prefixes(random, *c.mask);
  if ((!c.mask || c.mask->dtype() == DType::kBool) && random.chance(40)) {
    c.bias = random.biases(random_pairs_shape(random, {c.B, c.H, c.L, c.S}), 10);
  }
  // Slopes that subtract up to about 100: the rounding error of such a score is 4e-6.
  if (random.chance(30)) c.slopes = random.reals({c.H}, -0.05f, 0.25f);
  if (random.chance(30)) c.sinks = random.biases({c.H}, 20);
  if (random.chance(25)) c.block_mask = random_block_mask(random, c);
  return c;
}

/// Sets the key and the value j of (b, g) to NaN.
inline void poison(Case& c, std::int64_t b, std::int64_t g, std::int64_t j) {
  const auto write = [&](Tensor& past_or_new, std::int64_t start, std::int64_t size) {
    for (std::int64_t d = 0; d < size; ++d) {
      past_or_new.data()[static_cast<std::size_t>(start + d)] = kNaN;
    }
  };
  if (j < c.P) {
    const std::int64_t row = (b * c.G + g) * c.P + j;
    write(*c.past_key, row * c.D, c.D);
    write(*c.past_value, row * c.Dv, c.Dv);
    return;
  }
  const std::int64_t fresh = j - c.P;
  const std::int64_t row = c.is_joined ? (b * c.K + fresh) * c.G + g : (b * c.G + g) * c.K + fresh;
  write(c.k, row * c.D, c.D);
  write(c.v, row * c.Dv, c.Dv);
}

/// NaN at every key that no query sees. With `some_seen`, also at some of the other keys: rows that
/// see such a key are NaN, as in the reference, and the other rows do not change.
inline void poison_keys(Random& random, Case& c, bool some_seen) {
  const reference::Array masked = reference::attention(c.q, c.k, c.v, c.all_options()).masked;
  const std::int64_t group = c.H / c.G;
  for (std::int64_t b = 0; b < c.B; ++b) {
    for (std::int64_t g = 0; g < c.G; ++g) {
      for (std::int64_t j = 0; j < c.S; ++j) {
        bool is_seen = false;
        for (std::int64_t row = (b * c.H + g * group) * c.L;
             row < (b * c.H + (g + 1) * group) * c.L; ++row) {
          is_seen = is_seen || masked[row * c.S + j] != reference::kMinusInfinity;
        }
        if (!is_seen || (some_seen && random.chance(5))) poison(c, b, g, j);
      }
    }
  }
}

/// Contexts with different numbers of threads, up to more than the machine has cores, and more than
/// some cases have pieces of work.
class Contexts {
 public:
  Contexts() {
    for (const int threads : {1, 2, 3, 5, 8}) contexts_.push_back(context_with_threads(threads));
  }
  std::span<Context> all() { return contexts_; }

 private:
  std::vector<Context> contexts_;
};

}  // namespace heed::test
