#pragma once

// softmax(scale Q K^T + bias) V for a tile of queries, keys tile after tile.
//
// With the state (m, l, o) of a row - its maximum, the sum of exp(s - m), and the output before
// division by l - a tile of scores s is taken in by
//     m' = max(m, max s),  a = exp(m - m'),  p = exp(s - m'),
//     l' = a l + sum p,    o' = a o + p V,
// and o / l is the result when no keys are left (Milakov and Gimelshein, "Online normalizer
// calculation for softmax", 2018; Dao et al., "FlashAttention", 2022; the division kept for the
// end: Dao, "FlashAttention-2", 2023). No more than one tile of scores exists at a time.
//
// Tiles: 48 queries is a multiple of every instruction set's register block (4, 6, 8, 12) and lets
// a tile of packed keys be used eight times from the first-level cache; 128 keys of 64 numbers are
// 32 KB, the size of that cache on most machines, and make the work on a row outside the products
// (maximum, exponential, rescaling) about a tenth of that inside (`./dev bench`).
//
// Which keys a query may see is a range, from lengths and causality, and within it what the mask
// allows. A block of rows computes only up to the last key that one of its rows may see, and a tile
// that no row sees is not visited. Hidden scores are replaced, not multiplied, so that NaN in a
// hidden key goes nowhere; a tile whose values are not all finite takes a slower path that reads
// only the values that a row sees, because 0 * NaN is NaN.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/micro_kernel.hpp"
#include "kernels/table.hpp"

namespace heed::kernels {

inline constexpr float kHidden = -std::numeric_limits<float>::infinity();

template <class Isa>
class FlashAttention {
 public:
  static std::int64_t scratch(std::int64_t head_size, std::int64_t value_size) noexcept {
    return kQueryTile * (head_size + kScoreStride + padded(value_size));
  }

  static void run(const AttentionTile& tile) noexcept { FlashAttention(tile).run(); }

 private:
  using V = simd::Vector<Isa>;
  static constexpr int kLanes = static_cast<int>(V::size);
  static constexpr int kRows = simd::Traits<Isa>::kRows;
  static constexpr int kWidth = kPanel<Isa>;
  // One cache line more than the tile, so that the rows of a block do not share cache sets.
  static constexpr int kScoreStride = kKeyTile + 16;
  static_assert(kQueryTile % kRows == 0 && kKeyTile % kWidth == 0);

  explicit FlashAttention(const AttentionTile& tile) noexcept
      : t_(tile),
        q_(tile.scratch),
        s_(q_ + kQueryTile * tile.head_size),
        o_(s_ + kQueryTile * kScoreStride),
        o_stride_(padded(tile.value_size)) {}

  static std::int64_t padded(std::int64_t columns) noexcept {
    return (columns + kWidth - 1) / kWidth * kWidth;
  }

  void run() noexcept {
    load_queries();
    std::fill_n(o_, kQueryTile * o_stride_, 0.0f);
    for (int r = 0; r < kQueryTile; ++r) {
      m_[r] = kHidden;
      l_[r] = 0.0f;
      sees_a_key_[r] = false;
    }
    const std::int64_t end = key_end(t_.queries - 1);  // the last row sees furthest
    for (std::int64_t first = 0; first < end; first += kKeyTile) {
      for (int r = 0; r < t_.queries; r += kRows)
        set_limit(r, std::min<std::int64_t>(key_end(last_row(r)) - first, kKeyTile));
      compute_scores(first);
      if (!hide(first)) continue;
      absorb(first);
    }
    store();
    if (t_.weights || t_.scores || t_.masked) observe();
  }

  /// One past the last key that query `row` of this tile may see, masks aside.
  std::int64_t key_end(int row) const noexcept {
    if (!t_.is_causal) return t_.keys;
    return std::clamp<std::int64_t>(t_.first_query + row + t_.offset + 1, 0, t_.keys);
  }

  int last_row(int block) const noexcept { return std::min(block + kRows, t_.queries) - 1; }

  /// The keys of the present tile that the block of rows from `row` on needs, in whole panels.
  int& limit(int row) noexcept { return limits_[row / kRows]; }
  void set_limit(int row, std::int64_t keys) noexcept {
    limit(row) = keys <= 0 ? 0 : static_cast<int>(padded(keys));
  }

  void load_queries() noexcept {
    for (int r = 0; r < t_.queries; ++r)
      for (std::int64_t d = 0; d < t_.head_size; ++d)
        q_[r * t_.head_size + d] = t_.scale * t_.q[r * t_.q_stride + d];
  }

  /// s = scale Q K^T for the tile of keys that begins at `first`, as far as the limits go.
  void compute_scores(std::int64_t first) noexcept {
    const float* panel = t_.k_panels + first * t_.head_size;
    for (int column = 0; column < kKeyTile; column += kWidth, panel += kWidth * t_.head_size)
      for (int r = 0; r < t_.queries; r += kRows)
        if (column < limit(r))
          multiply_rows<Isa, false>(t_.queries - r, q_ + r * t_.head_size, t_.head_size, panel,
                                    t_.head_size, s_ + r * kScoreStride + column, kScoreStride);
  }

  /// Adds the bias and puts -inf where a key may not be seen, within the limits. Whether any row
  /// sees any key of the tile.
  bool hide(std::int64_t first) noexcept {
    bool any = false;
    for (int r = 0; r < t_.queries; ++r) {
      float* s = s_ + r * kScoreStride;
      const int width = limit(r);
      const int end = static_cast<int>(
          std::clamp<std::int64_t>(key_end(r) - first, 0, static_cast<std::int64_t>(width)));
      std::fill(s + end, s + width, kHidden);
      const bool seen = apply_mask(r, first, end, s);
      sees_a_key_[r] |= seen;
      any |= seen;
    }
    return any;
  }

  /// Whether one of the row's keys [first, first + count) is left by the mask.
  bool apply_mask(int row, std::int64_t first, int count, float* s) const noexcept {
    const MaskSlice& mask = t_.mask;
    const std::ptrdiff_t step = mask.column_stride;
    const std::ptrdiff_t start = (t_.first_query + row) * mask.row_stride + first * step;
    if (mask.allowed) {
      const std::uint8_t* allowed = mask.allowed + start;
      int seen = 0;
      for (int j = 0; j < count; ++j) {
        const bool see = allowed[j * step] != 0;
        s[j] = see ? s[j] : kHidden;
        seen |= see;
      }
      return seen != 0;
    }
    if (mask.bias) {
      const float* bias = mask.bias + start;
      int seen = 0;
      for (int j = 0; j < count; ++j) {
        const bool see = bias[j * step] != kHidden;
        s[j] = see ? s[j] + bias[j * step] : kHidden;
        seen |= see;
      }
      return seen != 0;
    }
    return count > 0;
  }

  /// Takes the tile of scores into the state of every row.
  void absorb(std::int64_t first) noexcept {
    for (int r = 0; r < t_.queries; ++r) {
      float* s = s_ + r * kScoreStride;
      const int width = limit(r);
      V highest(m_[r]);
      for (int j = 0; j < width; j += kLanes) highest = xsimd::max(highest, V::load_aligned(s + j));
      const float m = xsimd::reduce_max(highest);
      // Nothing seen so far: subtract 0, because -inf - -inf is NaN.
      const float shift = m == kHidden ? 0.0f : m;
      V sum(0.0f);
      for (int j = 0; j < width; j += kLanes) {
        const V p = simd::exp<Isa>(V::load_aligned(s + j) - V(shift));
        p.store_aligned(s + j);
        sum += p;
      }
      const float decay = simd::exp<Isa>(V(m_[r] - shift)).get(0);
      l_[r] = decay * l_[r] + xsimd::reduce_add(sum);
      if (m_[r] != m) scale_row(o_ + r * o_stride_, decay);
      m_[r] = m;
    }
    const float* panels = t_.v_panels + first * o_stride_;
    if (t_.v_finite[first / kKeyTile])
      add_values(panels);
    else
      add_seen_values(panels);
  }

  void scale_row(float* row, float factor) const noexcept {
    for (std::int64_t c = 0; c < o_stride_; c += kLanes)
      (V::load_aligned(row + c) * V(factor)).store_aligned(row + c);
  }

  /// o += p V
  void add_values(const float* panel) noexcept {
    for (std::int64_t column = 0; column < o_stride_; column += kWidth, panel += kKeyTile * kWidth)
      for (int r = 0; r < t_.queries; r += kRows)
        if (limit(r) > 0)
          multiply_rows<Isa, true>(t_.queries - r, s_ + r * kScoreStride, kScoreStride, panel,
                                   limit(r), o_ + r * o_stride_ + column, o_stride_);
  }

  /// The same, but a value whose weight is zero is not read.
  void add_seen_values(const float* panel) noexcept {
    for (std::int64_t column = 0; column < o_stride_; column += kWidth, panel += kKeyTile * kWidth)
      for (int r = 0; r < t_.queries; ++r)
        for (int j = 0; j < limit(r); ++j) {
          const float p = s_[r * kScoreStride + j];
          if (p == 0.0f) continue;
          for (int c = 0; c < kWidth; ++c)
            o_[r * o_stride_ + column + c] += p * panel[j * kWidth + c];
        }
  }

  void store() noexcept {
    for (int r = 0; r < t_.queries; ++r) {
      float* out = t_.output + r * t_.output_stride;
      if (!sees_a_key_[r]) {
        std::fill_n(out, t_.value_size, 0.0f);
      } else {
        scale_row(o_ + r * o_stride_, 1.0f / l_[r]);
        std::copy_n(o_ + r * o_stride_, t_.value_size, out);
      }
      if (t_.lse) t_.lse[r] = sees_a_key_[r] ? m_[r] + std::log(l_[r]) : kHidden;
    }
  }

  /// Computes the scores once more, now that m and l are final, and writes down what was asked for.
  void observe() noexcept {
    for (std::int64_t first = 0; first < t_.all_keys; first += kKeyTile) {
      const int count = static_cast<int>(std::min<std::int64_t>(kKeyTile, t_.all_keys - first));
      const std::int64_t packed = std::clamp<std::int64_t>(t_.packed_keys - first, 0, count);
      for (int r = 0; r < t_.queries; r += kRows) set_limit(r, packed);
      compute_scores(first);
      for (int r = 0; r < t_.queries; ++r) {
        const std::int64_t at = r * t_.all_keys + first;
        float* s = s_ + r * kScoreStride;
        if (t_.scores) std::copy_n(s, count, t_.scores + at);
        const int end = static_cast<int>(std::clamp<std::int64_t>(key_end(r) - first, 0, packed));
        std::fill(s + end, s + kKeyTile, kHidden);
        apply_mask(r, first, end, s);
        if (t_.masked) std::copy_n(s, count, t_.masked + at);
        if (t_.weights) store_weights(r, s, count, t_.weights + at);
      }
    }
  }

  void store_weights(int row, float* s, int count, float* weights) const noexcept {
    if (!sees_a_key_[row]) {
      std::fill_n(weights, count, 0.0f);
      return;
    }
    const float scale = 1.0f / l_[row];
    for (int j = 0; j < count; j += kLanes)
      (simd::exp<Isa>(V::load_aligned(s + j) - V(m_[row])) * V(scale)).store_aligned(s + j);
    std::copy_n(s, count, weights);
  }

  const AttentionTile& t_;
  float* q_;  // [kQueryTile, head_size], scaled
  float* s_;  // [kQueryTile, kScoreStride] scores, then probabilities p
  float* o_;  // [kQueryTile, o_stride_]
  std::int64_t o_stride_;
  float m_[kQueryTile];
  float l_[kQueryTile];
  bool sees_a_key_[kQueryTile];
  int limits_[kQueryTile / kRows];
};

}  // namespace heed::kernels
