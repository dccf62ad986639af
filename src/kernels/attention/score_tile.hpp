#pragma once

// The scores of a tile of queries against a tile of keys, up to the softmax. In this order:
//     s = scale q k^T;  s = c tanh(s / c);  s += bias;  s -= slope |p - j|;  hidden keys: -inf.
// Softcap: Gemma 2 (2024). ALiBi: Press et al., "Train Short, Test Long" (2022).
//
// Lengths, causality and the window give each query a range of keys; masks hide keys within this
// range. A block of rows is computed only over the union of its rows' ranges.
//
// With int8 scores, the mean of the keys is subtracted before queries and keys are rounded to
// bytes. It is a large part of each key, and a term that all scores of a row share does not change
// the softmax (Zhang et al., "SageAttention", 2024). Each query and each key has its own scale.
//
// Hidden scores are replaced, not added to, so that NaN in a hidden key has no effect.

#include <algorithm>
#include <limits>

#include "kernels/attention/online_softmax.hpp"
#include "kernels/attention/tiles.hpp"
#include "kernels/product/byte_kernel.hpp"
#include "kernels/product/micro_kernel.hpp"
#include "kernels/product/pack.hpp"
#include "kernels/product/quantise.hpp"
#include "simd/activation.hpp"

namespace heed::kernels {

/// s = cap tanh(s / cap) for the scores in [begin, end), a whole number of panels.
template <class Isa>
inline void cap_scores(float* s, int begin, int end, float cap) noexcept {
  using V = simd::Vector<Isa>;
  constexpr int kLanes = static_cast<int>(V::size);
  const V caps(cap);
  const V inverse(1.0f / cap);
  const simd::Tanh<Isa> tanh;
  for (int j = begin; j < end; j += kLanes) {
    V x[1] = {V::load_aligned(s + j) * inverse};
    tanh(x);
    (caps * x[0]).store_aligned(s + j);
  }
}

/// s -= slope |distance - j|, where the query is at position `distance` relative to key 0.
template <class Isa>
inline void add_alibi(float* s, int begin, int end, float slope, std::int64_t distance) noexcept {
  for (int j = begin; j < end; ++j) s[j] -= slope * static_cast<float>(std::abs(distance - j));
}

template <class Isa>
class ScoreTile {
 public:
  // One cache line more than the tile, so that the rows of a block do not share cache sets.
  static constexpr int kStride = kKeyTile + 16;
  static constexpr int kRows = simd::Traits<Isa>::kRows;
  static constexpr int kWidth = kPanel<Isa>;
  static_assert(kQueryTile % kRows == 0 && kKeyTile % kWidth == 0);

  /// A range of keys, counted from the first key of the tile.
  struct Range {
    int begin;
    int end;
    bool empty() const noexcept { return begin >= end; }
  };

  /// The place of a key, counted from the first key of the tile, limited to the tile.
  static int inside(std::int64_t key) noexcept {
    return static_cast<int>(std::clamp<std::int64_t>(key, 0, kKeyTile));
  }

  static std::int64_t scratch(std::int64_t head_size) noexcept {
    // Byte queries take a quarter of this, but their rows are padded to multiples of 8, and a
    // rotated row of floats needs room too.
    return kQueryTile * (std::max<std::int64_t>(head_size, 4) + kStride);
  }

  ScoreTile(const AttentionTile& tile, float* memory) noexcept
      : t_(tile), q_(memory), s_(memory + scratch(tile.head_size) - kQueryTile * kStride) {
    if (t_.key_mean)
      quantise_queries();
    else if (!t_.packed_q)
      pack_queries(t_, q_);
  }

  /// Packs the queries, times the scale, as the left factor of the scores: one register block after
  /// another. Writes whole vectors, so up to one vector more than the blocks need.
  static void pack_queries(const AttentionTile& t, float* q) noexcept {
    pack_blocks<Isa, kRows>(t.q, t.q_stride, t.queries, t.head_size, q);
    const V scale(t.scale);
    const std::int64_t packed = (t.queries + kRows - 1) / kRows * kRows * t.head_size;
    for (std::int64_t i = 0; i < packed; i += kLanes)
      (scale * V::load_aligned(q + i)).store_aligned(q + i);
  }

  float* row(int r) noexcept { return s_ + r * kStride; }

  /// The range, in whole panels, over which the block of row r was computed.
  Range range(int r) const noexcept { return ranges_[r / kRows]; }

  /// Bounds of the keys that some row of the tile sees, apart from masks. The ranges of later rows
  /// neither begin nor end earlier.
  std::int64_t first_key() const noexcept { return key_begin(0); }
  std::int64_t last_key() const noexcept { return key_end(t_.queries - 1); }

  /// Whether a block mask allows any key of this key tile.
  bool block_mask_allows(std::int64_t first) const noexcept {
    return !t_.blocks.kinds || t_.blocks.kinds[first / kKeyTile] != BlockMaskSlice::kEmpty;
  }

  /// Sets the ranges to the keys from `first` on that the rows see, apart from masks.
  void set_visible_ranges(std::int64_t first) noexcept {
    for (int r = 0; r < t_.queries; r += kRows) {
      const int last = std::min(r + kRows, t_.queries) - 1;
      ranges_[r / kRows] = whole_panels(key_begin(r) - first, key_end(last) - first);
    }
  }

  /// Sets the ranges to all keys of the tile.
  void set_full_ranges(std::int64_t first) noexcept {
    const Range all = whole_panels(t_.visible.first - first, t_.scored_keys - first);
    std::fill_n(ranges_, kQueryTile / kRows, all);
  }

  /// Writes -inf to row r where the tile has no key.
  void hide_missing_keys(int r, std::int64_t first) noexcept {
    std::fill_n(row(r), inside(t_.visible.first - first), kHidden);
    std::fill(row(r) + inside(t_.scored_keys - first), row(r) + kKeyTile, kHidden);
  }

  /// s = scale Q K^T over the ranges.
  void multiply(std::int64_t first) noexcept {
    if (t_.key_mean) return multiply_bytes(first);
    multiply(t_.packed_q ? t_.packed_q : q_, t_.tiles[first / kKeyTile].keys, t_.head_size, s_);
  }

  /// x = left right^T over the ranges, for a tile x with the layout of the scores.
  [[gnu::noinline]] void multiply(const float* left, const float* right, std::int64_t depth,
                                  float* x) noexcept {
    const int end = range(t_.queries - 1).end;
    for (int column = 0; column < end; column += kWidth, right += kWidth * depth)
      for (int r = 0; r < t_.queries; r += kRows)
        if (column >= range(r).begin && column < range(r).end)
          multiply_rows<Isa, false>(t_.queries - r, FixedLeft<1, kRows>{left + r * depth}, right,
                                    depth, x + r * kStride + column, kStride);
  }

  /// y += x right over the ranges, for a tile x with the layout of the scores; y has whole panels.
  /// Unless `finite`, a row of `right` is not read where x is zero.
  [[gnu::noinline]] void add_product(const float* x, const float* right, std::int64_t depth,
                                     bool finite, float* y, std::int64_t y_stride) noexcept {
    if (!finite) return add_product_skipping_zeros(x, right, depth, y, y_stride);
    for (std::int64_t column = 0; column < y_stride; column += kWidth, right += depth * kWidth)
      for (int r = 0; r < t_.queries; r += kRows) {
        if (range(r).empty()) continue;
        const int begin = range(r).begin;
        multiply_rows<Isa, true>(t_.queries - r, FixedLeft<kStride, 1>{x + r * kStride + begin},
                                 right + begin * kWidth, range(r).end - begin,
                                 y + r * y_stride + column, y_stride);
      }
  }

  [[gnu::noinline]] void cap() noexcept {
    if (t_.softcap == 0.0f) return;
    for (int r = 0; r < t_.queries; ++r)
      cap_scores<Isa>(row(r), range(r).begin, range(r).end, t_.softcap);
  }

  /// The part of its block's range that row r sees, apart from masks.
  Range visible_range(int r, std::int64_t first) const noexcept {
    const Range whole = range(r);
    const auto within = [&](std::int64_t key) {
      return static_cast<int>(
          std::clamp<std::int64_t>(key - first, whole.begin, std::max(whole.begin, whole.end)));
    };
    const int begin = within(key_begin(r));
    return {begin, std::max(begin, within(key_end(r)))};
  }

  /// Adds bias and ALiBi to row r, and writes -inf where a key is hidden. Returns whether the row
  /// sees any key of the tile.
  bool add_bias_and_mask(int r, std::int64_t first) noexcept {
    float* s = row(r);
    const Range whole = range(r);
    const auto [begin, end] = visible_range(r, first);
    std::fill(s + whole.begin, s + begin, kHidden);
    if (end < whole.end) std::fill(s + end, s + whole.end, kHidden);
    if (t_.alibi_slope != 0.0f)
      add_alibi<Isa>(s, begin, end, t_.alibi_slope, t_.first_query + r + t_.visible.offset - first);
    const std::int32_t block =
        t_.blocks.kinds ? t_.blocks.kinds[first / kKeyTile] : BlockMaskSlice::kFull;
    if (!t_.mask.allowed.data && !t_.mask.bias.data && block == BlockMaskSlice::kFull)
      return begin < end;
    return apply_masks(r, first, block, begin, end);
  }

 private:
  using V = simd::Vector<Isa>;
  using Sums = simd::Sums<Isa>;
  static constexpr int kLanes = static_cast<int>(V::size);

  [[gnu::noinline]] void quantise_queries() noexcept {
    const std::int64_t size = t_.head_size;
    const float scale = t_.scale / static_cast<float>(rotation_growth(size));
    float* const rotated = s_ - size;
    for (int r = 0; r < t_.queries; ++r) {
      const float* const q = t_.q + r * t_.q_stride;
      std::copy_n(q, size, rotated);
      rotate<Isa>(rotated, size);
      steps_[r] =
          scale * quantise_query<Isa>(rotated, size, byte_queries() + byte_row<Isa>(r, size));
      mean_scores_[r] = t_.scale * dot(q, t_.key_mean, size);
    }
  }

  static float dot(const float* x, const float* y, std::int64_t size) noexcept {
    V sum(0.0f);
    std::int64_t d = 0;
    for (; d + kLanes <= size; d += kLanes)
      sum = simd::madd<Isa>(V::load_unaligned(x + d), V::load_unaligned(y + d), sum);
    float rest = simd::reduce_add(sum);
    for (; d < size; ++d) rest += x[d] * y[d];
    return rest;
  }

  /// multiply() for int8 scores, with a key k = mean + scale b and a query q = step (a - zero).
  ///     Then q k^T = q mean^T + step scale (a b - zero sum(b)).
  [[gnu::noinline]] void multiply_bytes(std::int64_t first) noexcept {
    const KeyValueTile& tile = t_.tiles[first / kKeyTile];
    const std::int64_t depth = byte_depth(t_.head_size);
    const int end = range(t_.queries - 1).end;
    for (int column = 0; column < end; column += kWidth) {
      const float* const scales = tile.key_scales + column;
      const std::int32_t* const corrections = tile.key_corrections + column;
      for (int r = 0; r < t_.queries; r += kRows) {
        if (column < range(r).begin || column >= range(r).end) continue;
        float* const s = row(r) + column;
        const float* const steps = steps_ + r;
        const float* const means = mean_scores_ + r;
        multiply_byte_rows<Isa>(
            std::min(kRows, t_.queries - r), byte_queries() + r * depth,
            tile.key_bytes + column * depth, depth,
            [=](int v) { return Sums::load_aligned(corrections + v * kLanes); },
            [=](int i, int v, Sums sum) {
              const V product = simd::to_float(sum) * V::load_aligned(scales + v * kLanes);
              simd::madd<Isa>(product, V(steps[i]), V(means[i]))
                  .store_aligned(s + i * kStride + v * kLanes);
            });
      }
    }
  }

  [[gnu::noinline]] void add_product_skipping_zeros(const float* x, const float* right,
                                                    std::int64_t depth, float* y,
                                                    std::int64_t y_stride) noexcept {
    for (std::int64_t column = 0; column < y_stride; column += kWidth, right += depth * kWidth)
      for (int r = 0; r < t_.queries; ++r)
        multiply_row_skipping_zeros<Isa>(x + r * kStride + range(r).begin, 1,
                                         right + range(r).begin * kWidth,
                                         range(r).end - range(r).begin, y + r * y_stride + column);
  }

  std::int8_t* byte_queries() noexcept { return reinterpret_cast<std::int8_t*>(q_); }

  static Range whole_panels(std::int64_t begin, std::int64_t end) noexcept {
    return {inside(begin) / kWidth * kWidth, (inside(end) + kWidth - 1) / kWidth * kWidth};
  }

  std::int64_t key_begin(int r) const noexcept { return t_.visible.begin_of(t_.first_query + r); }
  std::int64_t key_end(int r) const noexcept { return t_.visible.end_of(t_.first_query + r); }

  [[gnu::noinline]] bool apply_masks(int r, std::int64_t first, std::int32_t block, int begin,
                                     int end) noexcept {
    const PairSlice<std::uint8_t>& allowed = t_.mask.allowed;
    const PairSlice<float>& bias = t_.mask.bias;
    float* s = row(r);
    const std::int64_t query = t_.first_query + r;
    std::uint8_t see[kKeyTile];
    std::fill(see + begin, see + end, static_cast<std::uint8_t>(block != BlockMaskSlice::kEmpty));
    if (block >= 0) {
      const std::uint8_t* bits =
          t_.blocks.bits + (static_cast<std::int64_t>(block) * kQueryTile + r) * kKeyTile;
      for (int j = begin; j < end; ++j) see[j] = bits[j] != 0;
    }
    if (allowed.data) {
      const std::uint8_t* at =
          allowed.data + query * allowed.row_stride + first * allowed.column_stride;
      for (int j = begin; j < end; ++j) see[j] &= at[j * allowed.column_stride] != 0;
    }
    if (bias.data) {
      const float* at = bias.data + query * bias.row_stride + first * bias.column_stride;
      for (int j = begin; j < end; ++j) {
        s[j] += at[j * bias.column_stride];
        see[j] &= at[j * bias.column_stride] != kHidden;
      }
    }
    std::uint8_t any = 0;
    for (int j = begin; j < end; ++j) {
      s[j] = see[j] ? s[j] : kHidden;
      any |= see[j];
    }
    return any != 0;
  }

  const AttentionTile& t_;
  float* q_;  // [kQueryTile / kRows][head_size][kRows], scaled: one register block after another
  float* s_;  // [kQueryTile, kStride]
  Range ranges_[kQueryTile / kRows];
  // For int8 scores; q_ then holds bytes.
  float steps_[kQueryTile];
  float mean_scores_[kQueryTile];
};

}  // namespace heed::kernels
