#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "attention_support.hpp"

namespace heed::test {

inline constexpr KvCache::Format kFormats[] = {KvCache::Format::kFloat32, KvCache::Format::kFloat16,
                                               KvCache::Format::kInt8};

/// A value_size of 0 is that of the keys.
inline KvCache::Options cache_options(std::int64_t batch, std::int64_t heads,
                                      std::int64_t head_size, std::int64_t value_size,
                                      std::int64_t capacity,
                                      KvCache::Format format = KvCache::Format::kFloat32) {
  KvCache::Options options;
  options.batch = batch;
  options.heads = heads;
  options.head_size = head_size;
  options.value_size = value_size;
  options.capacity = capacity;
  options.format = format;
  return options;
}

/// Rounds a row as a cache of this format does.
inline void round_row(KvCache::Format format, std::span<float> row) {
  if (format == KvCache::Format::kFloat16) {
    for (float& x : row) {
      if (!std::isfinite(x) || x == 0.0f) continue;
      const double step = std::ldexp(1.0, std::max(std::ilogb(x), -14) - 10);
      x = static_cast<float>(std::nearbyint(x / step) * step);
      if (std::abs(x) > 65504.0f) x = std::copysign(INFINITY, x);
    }
  } else if (format == KvCache::Format::kInt8) {
    float largest = 0.0f;
    bool is_finite = true;
    for (const float x : row) {
      largest = std::max(largest, std::abs(x));
      is_finite = is_finite && std::isfinite(x);
    }
    const float scale = largest / 127.0f;
    const float inverse = 1.0f / scale;
    // One number that is not finite makes the whole row NaN.
    for (float& x : row) {
      x = is_finite ? (largest > 0.0f ? std::nearbyint(x * inverse) * scale : 0.0f) : NAN;
    }
  }
}

/// A simple model of a cache: it stores every token of every sequence as float32, rounded to the
/// format of the cache if `rounds`.
class CacheModel {
 public:
  explicit CacheModel(const KvCache::Options& options, bool rounds = false)
      : options_(options), rounds_(rounds), sequences_(static_cast<std::size_t>(options.batch)) {
    if (options_.value_size == 0) options_.value_size = options_.head_size;
  }

  std::int64_t length(std::int64_t b) const {
    return static_cast<std::int64_t>(at(b).tokens.size());
  }
  std::int64_t first(std::int64_t b) const { return at(b).first; }

  void append(const Tensor& k, const Tensor& v, const std::vector<std::int64_t>& counts) {
    const std::int64_t L = k.shape()[2];
    for (std::int64_t b = 0; b < options_.batch; ++b) {
      Sequence& sequence = at(b);
      const std::int64_t count = counts[static_cast<std::size_t>(b)];
      for (std::int64_t i = 0; i < count; ++i) {
        Token token;
        for (std::int64_t g = 0; g < options_.heads; ++g) {
          const std::int64_t row = (b * options_.heads + g) * L + i;
          append_row(k, row, token.key);
          append_row(v, row, token.value);
        }
        sequence.tokens.push_back(std::move(token));
      }
      if (options_.is_rolling && count > 0)
        sequence.first = std::max(sequence.first, length(b) - options_.capacity);
    }
  }

  void rewind(std::int64_t b, std::int64_t tokens) {
    at(b).tokens.resize(static_cast<std::size_t>(length(b) - tokens));
  }

  void share(std::int64_t from, std::int64_t to, std::int64_t tokens) {
    at(to) = at(from);
    at(to).tokens.resize(static_cast<std::size_t>(tokens));
  }

  void reorder(const std::vector<std::int64_t>& order) {
    const auto before = sequences_;
    for (std::size_t b = 0; b < order.size(); ++b)
      sequences_[b] = before[static_cast<std::size_t>(order[b])];
  }

  /// The state of each sequence before a call: its first query has the length as its position.
  struct Before {
    std::vector<std::int64_t> lengths, firsts;
  };
  Before now() const {
    Before result;
    for (std::int64_t b = 0; b < options_.batch; ++b) {
      result.lengths.push_back(length(b));
      result.firsts.push_back(first(b));
    }
    return result;
  }

  /// Attention of q over the tokens before the call and the tokens that it appended.
  reference::AttentionResult attend(const Tensor& q, const AttentionOptions& options,
                                    const Before& before) const {
    std::int64_t S = 0;
    for (std::int64_t b = 0; b < options_.batch; ++b) S = std::max(S, length(b));
    // Tokens that the cache has dropped are NaN, so that reading them would change the result.
    Tensor k = filled({options_.batch, options_.heads, S, options_.head_size}, kNaN);
    Tensor v = filled({options_.batch, options_.heads, S, options_.value_size}, kNaN);
    Tensor lengths(Shape{options_.batch}, DType::kInt32);
    Tensor offsets(Shape{options_.batch}, DType::kInt32);
    reference::RollingKeys rolling;
    for (std::int64_t b = 0; b < options_.batch; ++b) {
      const auto n = static_cast<std::size_t>(b);
      lengths.data<std::int32_t>()[n] = static_cast<std::int32_t>(length(b));
      offsets.data<std::int32_t>()[n] = static_cast<std::int32_t>(before.lengths[n]);
      // Query i has position before + i, and sees the last `capacity` keys up to its own.
      const std::int64_t first_seen =
          options_.is_rolling ? before.lengths[n] - options_.capacity + 1 : 0;
      rolling.first.push_back(options_.is_rolling ? first_seen : -1'000'000);
      rolling.oldest.push_back(std::max(before.firsts[n], first_seen));
      for (std::int64_t j = rolling.oldest[n]; j < length(b); ++j) {
        const Token& token = at(b).tokens[static_cast<std::size_t>(j)];
        for (std::int64_t g = 0; g < options_.heads; ++g) {
          const std::int64_t row = (b * options_.heads + g) * S + j;
          paste_row(token.key, g, k, row);
          paste_row(token.value, g, v, row);
        }
      }
    }
    AttentionOptions plain = options;
    plain.cache = nullptr;
    plain.kv_lengths = lengths;
    const bool is_default = options.causal_alignment == CausalAlignment::kDefault;
    if (is_default && !options.causal_offset) plain.causal_offset = offsets;
    reference::AttentionResult result = reference::attention(q, k, v, plain, rolling);
    // A key that is not in the cache has no score.
    for (reference::Array* scores : {&result.scores, &result.capped}) {
      const std::int64_t rows = scores->shape[1] * scores->shape[2];
      for (std::int64_t b = 0; b < options_.batch; ++b)
        for (std::int64_t row = b * rows; row < (b + 1) * rows; ++row)
          for (std::int64_t j = 0; j < S; ++j)
            if (j < rolling.oldest[static_cast<std::size_t>(b)] || j >= length(b))
              (*scores)[row * S + j] = reference::kMinusInfinity;
    }
    return result;
  }

 private:
  struct Token {
    std::vector<float> key, value;  // of all heads
  };
  struct Sequence {
    std::vector<Token> tokens;
    std::int64_t first = 0;
  };

  Sequence& at(std::int64_t b) { return sequences_[static_cast<std::size_t>(b)]; }
  const Sequence& at(std::int64_t b) const { return sequences_[static_cast<std::size_t>(b)]; }

  void append_row(const Tensor& from, std::int64_t row, std::vector<float>& to) const {
    const auto size = static_cast<std::ptrdiff_t>(from.shape()[3]);
    const auto begin = from.data().begin() + static_cast<std::ptrdiff_t>(row) * size;
    to.insert(to.end(), begin, begin + size);
    if (rounds_) round_row(options_.format, std::span(to).last(static_cast<std::size_t>(size)));
  }

  static void paste_row(const std::vector<float>& from, std::int64_t g, Tensor& to,
                        std::int64_t row) {
    const auto size = static_cast<std::ptrdiff_t>(to.shape()[3]);
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(g) * size, size,
                to.data().begin() + static_cast<std::ptrdiff_t>(row) * size);
  }

  KvCache::Options options_;
  bool rounds_;
  std::vector<Sequence> sequences_;
};

/// A cache and its model, which receive the same calls.
class TwinCache {
 public:
  TwinCache(Context& context, const KvCache::Options& options)
      : cache(context, options), model(options), options_(cache.options()) {}

  /// Appends L random tokens; each sequence takes its count of them.
  void append(Random& random, std::int64_t L, const std::vector<std::int64_t>& counts) {
    const Tensor k = random.reals({options_.batch, options_.heads, L, options_.head_size});
    const Tensor v = random.reals({options_.batch, options_.heads, L, options_.value_size});
    cache.append(k, v, tensor(counts));
    model.append(k, v, counts);
  }
  void append(Random& random, std::int64_t L) { append(random, L, all(L)); }

  void rewind(std::int64_t b, std::int64_t tokens) {
    cache.rewind(b, tokens);
    model.rewind(b, tokens);
  }

  void share(std::int64_t from, std::int64_t to, std::int64_t tokens) {
    cache.share(from, to, tokens);
    model.share(from, to, tokens);
  }

  void reorder(const std::vector<std::int64_t>& order) {
    cache.reorder(tensor(order));
    model.reorder(order);
  }

  /// A step: attention of `queries` new queries for each head, H in all, to L new tokens and to all
  /// tokens in the cache.
  void expect_step(Context& context, Random& random, std::int64_t H, std::int64_t queries,
                   std::int64_t L, const std::vector<std::int64_t>& counts,
                   AttentionOptions options = {}, const Tolerance& tolerance = {}) {
    const Tensor q = random.reals({options_.batch, H, queries, options_.head_size});
    const Tensor k = random.reals({options_.batch, options_.heads, L, options_.head_size});
    const Tensor v = random.reals({options_.batch, options_.heads, L, options_.value_size});
    const CacheModel::Before before = model.now();
    model.append(k, v, counts);
    const Tensor taken = tensor(counts);
    options.kv_lengths = taken;
    options.cache = &cache;
    const AttentionResult got = heed::attention(context, q, k, v, with_everything(options));
    expect_results(got, model.attend(q, options, before), tolerance);
    expect_lengths();
  }
  void expect_step(Context& context, Random& random, std::int64_t H, std::int64_t L,
                   const AttentionOptions& options = {}, const Tolerance& tolerance = {}) {
    expect_step(context, random, H, L, L, all(L), options, tolerance);
  }

  void expect_lengths() const {
    for (std::int64_t b = 0; b < options_.batch; ++b) {
      EXPECT_EQ(cache.length(b), model.length(b)) << "sequence " << b;
      EXPECT_EQ(cache.first(b), model.first(b)) << "sequence " << b;
    }
  }

  /// The same number of tokens for every sequence.
  std::vector<std::int64_t> all(std::int64_t L) const {
    return std::vector<std::int64_t>(static_cast<std::size_t>(options_.batch), L);
  }

  static Tensor tensor(const std::vector<std::int64_t>& numbers) {
    Tensor result(Shape{static_cast<std::int64_t>(numbers.size())}, DType::kInt32);
    std::transform(numbers.begin(), numbers.end(), result.data<std::int32_t>().begin(),
                   [](std::int64_t number) { return static_cast<std::int32_t>(number); });
    return result;
  }

  KvCache cache;
  CacheModel model;

 private:
  KvCache::Options options_;
};

}  // namespace heed::test
