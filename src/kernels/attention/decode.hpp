#pragma once

// Attention of a few queries over many cached keys: a decode step.
//
// Such a step reads the whole cache and computes little with each number, so memory bandwidth
// limits it. The rows of a register block are the query heads that share a key/value head, for each
// of the few tokens. So the cache is read once for all of them, in the format in which it is
// stored.
//   `float32`  As in flash_attention.hpp.
//   `float16`  Widened in registers, once for all rows of a block.
//   `int8`     Q K^T and P V are products of 16-bit by 8-bit integers, two to a lane, summed in 32
//              bits. This takes half the multiplications of floats and no conversion. Each row of
//              Q, and each row of P times the scales of the values, has one scale.
// Rounding to 16 bits adds little to the error of 8 bits for K and V. The error of a score is at
// most max|q| / 65534 sum|k|. The error of an output is at most half of the error from rounding V,
// and mostly much less. Products of 8 bits for both factors (relaxed_dot_i8x16_i7x16) are no faster
// on machines without VNNI.
//
// Keys are split into chunks that are computed in parallel (Flash-Decoding: Dao et al., 2023). The
// result of a chunk is a state (m, l, o), and merge_states merges these states. A block is 4 x 2
// vectors: groups of 4 query heads are the most common ones, and the conversions need the other
// registers.

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "kernels/attention/cache_tiles.hpp"
#include "kernels/attention/online_softmax.hpp"
#include "kernels/attention/score_tile.hpp"
#include "kernels/product/micro_kernel.hpp"
#include "simd/widen.hpp"

namespace heed::kernels {

/// A right factor of micro_kernel.hpp: a panel of float16.
template <class Isa, bool Exact>
struct HalfPanel {
  const std::uint16_t* at;
  simd::Halves<Isa, Exact> load{};
};

template <class Isa, bool Exact>
inline void next_row(HalfPanel<Isa, Exact>& panel,
                     simd::Vector<Isa> (&row)[simd::Traits<Isa>::kVectors]) noexcept {
  panel.load(panel.at, row);
  panel.at += kPanel<Isa>;
}

template <class Isa, bool Exact>
inline void hide(HalfPanel<Isa, Exact>& panel) noexcept {
  asm("" : "+r"(panel.at));
}

template <class Isa>
class Decode {
 public:
  static std::int64_t scratch(std::int64_t head_size) noexcept {
    return kDecodeRows * (even(head_size) + kStride + kKeyTile / 2);
  }

  static void run(const DecodeChunk& chunk) noexcept { Decode(chunk).run(); }

 private:
  using V = simd::Vector<Isa>;
  using Sums = simd::Sums<Isa>;
  static constexpr int kLanes = static_cast<int>(V::size);
  static constexpr int kVectors = simd::Traits<Isa>::kVectors;
  static constexpr int kWidth = kPanel<Isa>;
  static constexpr int kRows = 4;
  using Scores = ScoreTile<Isa>;
  using Range = typename Scores::Range;
  static constexpr int kStride = Scores::kStride;
  static_assert(kVectors == 2 && kDecodeRows % kRows == 0);
  // Halves are read as numbers that are too small by the factor kScale. If kScale is 2^112, q is
  // multiplied by 2^56 and the score by the rest, so that neither leaves the range of floats.
  static constexpr float kHalfScale = simd::Halves<Isa, false>::kScale;
  static constexpr float kHalfQueryScale = kHalfScale == 1.0f ? 1.0f : 0x1p56f;

  explicit Decode(const DecodeChunk& chunk) noexcept
      : c_(chunk),
        rows_(chunk.heads * chunk.queries),
        o_stride_(whole_panels<Isa>(chunk.value_size)),
        q_(chunk.scratch),
        s_(q_ + kDecodeRows * even(chunk.head_size)),
        words_(reinterpret_cast<std::int16_t*>(s_ + kDecodeRows * kStride)) {
    for (int r = 0; r < rows_; ++r) state(r).init();
    std::fill_n(state(0).o, rows_ * o_stride_, 0.0f);
  }

  static constexpr std::int64_t even(std::int64_t size) noexcept { return (size + 1) / 2 * 2; }

  void run() noexcept {
    for (int r = 0; r < rows_; ++r) {
      if (c_.format == NumberFormat::kInt8)
        quantise_query(r);
      else
        pack_query(r);
    }
    for (int tile = 0; tile < c_.tile_count; ++tile) {
      const std::int64_t first = c_.first_key + std::int64_t{tile} * kKeyTile;
      const int begin = Scores::inside(c_.visible.begin_of(0) - first);
      const int end = Scores::inside(c_.visible.end_of(c_.queries - 1) - first);
      if (begin >= end) continue;
      const Range range{begin / kWidth * kWidth, (end + kWidth - 1) / kWidth * kWidth};
      switch (c_.format) {
        case NumberFormat::kFloat32:
          update<const float*>(static_cast<const float*>(c_.tiles[tile].keys),
                               static_cast<const float*>(c_.tiles[tile].values), tile, first,
                               range);
          break;
        case NumberFormat::kFloat16: {
          const auto* keys = static_cast<const std::uint16_t*>(c_.tiles[tile].keys);
          const auto* values = static_cast<const std::uint16_t*>(c_.tiles[tile].values);
          if (c_.tiles[tile].finite)
            update<HalfPanel<Isa, false>>(keys, values, tile, first, range);
          else
            update<HalfPanel<Isa, true>>(keys, values, tile, first, range);
          break;
        }
        case NumberFormat::kInt8:
          update_from_int8(c_.tiles[tile], first, range);
          break;
      }
    }
  }

  float* row(int r) noexcept { return s_ + r * kStride; }
  std::int16_t* words(int r) noexcept { return words_ + r * kKeyTile; }

  const float* query(int r) const noexcept {
    return c_.q + r % c_.heads * c_.q_head_stride + r / c_.heads * c_.q_stride;
  }

  /// Packs a query, times the scale, into blocks of [head_size][kRows].
  void pack_query(int r) noexcept {
    const float scale = c_.format == NumberFormat::kFloat16 ? c_.scale * kHalfQueryScale : c_.scale;
    const float* const q = query(r);
    float* const block = q_ + r / kRows * kRows * c_.head_size + r % kRows;
    for (std::int64_t d = 0; d < c_.head_size; ++d) block[d * kRows] = scale * q[d];
  }

  /// Packs a query into blocks of [ceil(head_size / 2)][kRows][2] words, small enough for a score
  /// to fit 32 bits.
  void quantise_query(int r) noexcept {
    const std::int64_t size = even(c_.head_size);
    const float* const q = query(r);
    float largest = 0.0f;
    float not_finite = 0.0f;  // x - x is 0 for a finite x and NaN for any other
    for (std::int64_t d = 0; d < c_.head_size; ++d) {
      largest = std::max(largest, std::fabs(q[d]));
      not_finite += q[d] - q[d];
    }
    const float limit = std::min(32767.0f, std::floor(0x1p31f / static_cast<float>(128 * size)));
    const float factor = limit / largest;
    const bool has_words = not_finite == 0.0f && std::isfinite(factor);
    auto* const block = reinterpret_cast<std::int16_t*>(q_) + r / kRows * kRows * size;
    for (std::int64_t d = 0; d < size; ++d)
      block[d / 2 * 2 * kRows + r % kRows * 2 + d % 2] =
          has_words && d < c_.head_size ? to_word(q[d] * factor) : std::int16_t{0};
    query_scale_[r] = c_.scale * largest / limit + not_finite;
  }

  /// Rounds |x| < 2^15.
  static std::int16_t to_word(float x) noexcept {
    return static_cast<std::int16_t>(std::bit_cast<std::int32_t>(x + kRoundToLowBits));
  }

  /// Whether the values of a tile are finite. Halves have a right factor for each case, so each
  /// instance of `update` has one of the two products.
  static bool is_finite(const float*, const StoredTile& tile) noexcept { return tile.finite; }
  template <bool Exact>
  static bool is_finite(const HalfPanel<Isa, Exact>&, const StoredTile&) noexcept {
    return !Exact;
  }

  /// Updates the state of every row with a tile of floats or halves.
  template <class Right, class Number>
  void update(const Number* keys, const Number* values, int tile, std::int64_t first,
              Range range) noexcept {
    for (int column = range.begin; column < range.end; column += kWidth)
      for (int r = 0; r < rows_; r += kRows)
        multiply_rows<Isa, false, kRows, true>(
            rows_ - r, FixedLeft<1, kRows>{q_ + r * c_.head_size},
            Right{keys + column * c_.head_size}, c_.head_size, row(r) + column, kStride);
    constexpr bool kIsHalf = sizeof(Number) == 2;
    for (int r = 0; r < rows_; ++r) {
      if (kIsHalf && kHalfScale != 1.0f) scale(row(r), range, kHalfScale / kHalfQueryScale);
      compute_weights(r, first, range);
      if (kIsHalf && kHalfScale != 1.0f) scale(row(r), range, kHalfScale);
    }
    const int depth = range.end - range.begin;
    for (std::int64_t column = 0; column < o_stride_; column += kWidth) {
      const Right panel{values + column * kKeyTile + range.begin * kWidth};
      float* const o = c_.state.o + column;
      if (is_finite(panel, c_.tiles[tile])) {
        for (int r = 0; r < rows_; r += kRows)
          multiply_rows<Isa, true, kRows, true>(rows_ - r,
                                                FixedLeft<kStride, 1>{row(r) + range.begin}, panel,
                                                depth, o + r * o_stride_, o_stride_);
      } else {
        for (int r = 0; r < rows_; ++r) {
          const int sums = sums_of_few_rows(std::min(kRows, rows_ - r / kRows * kRows));
          add_values_skipping_zeros(row(r) + range.begin, panel, depth, sums, o + r * o_stride_);
        }
      }
    }
  }

  /// o += p V without the values whose weight is zero, because 0 * NaN is NaN. Apart from that, the
  /// bits are the same as in a block that has this row and `sums` (1 or 2) sums of each entry.
  template <class Right>
  static void add_values_skipping_zeros(const float* p, Right values, int depth, int sums,
                                        float* o) noexcept {
    V sum[2][kVectors] = {{V::load_unaligned(o), V::load_unaligned(o + kLanes)},
                          {V(0.0f), V(0.0f)}};
    for (int j = 0; j < depth; ++j) {
      V value[kVectors];
      next_row<Isa>(values, value);
      if (p[j] == 0.0f) continue;
      V(&to)[kVectors] = sum[j % sums];
      for (int v = 0; v < kVectors; ++v) to[v] = simd::madd<Isa>(V(p[j]), value[v], to[v]);
    }
    for (int v = 0; v < kVectors; ++v)
      (sums == 1 ? sum[0][v] : sum[0][v] + sum[1][v]).store_unaligned(o + v * kLanes);
  }

  static void scale(float* s, Range range, float factor) noexcept {
    for (int j = range.begin; j < range.end; j += kLanes)
      (V::load_aligned(s + j) * V(factor)).store_aligned(s + j);
  }

  OnlineSoftmax<Isa> state(int r) const noexcept {
    return {c_.state.m[r], c_.state.l[r], c_.state.o + r * o_stride_, o_stride_};
  }

  /// Replaces the scores of row r by p, and updates its state, except o.
  void compute_weights(int r, std::int64_t first, Range range) noexcept {
    transform_scores(r, first, range);
    state(r).update(exp2_, row(r), range.begin, range.end);
  }

  /// Applies softcap and ALiBi to row r, and writes -inf where a key is hidden from it.
  void transform_scores(int r, std::int64_t first, Range range) noexcept {
    float* const s = row(r);
    if (c_.softcap != 0.0f) cap_scores<Isa>(s, range.begin, range.end, c_.softcap);
    const std::int64_t query = r / c_.heads;
    const int begin =
        std::clamp(Scores::inside(c_.visible.begin_of(query) - first), range.begin, range.end);
    const int end = std::clamp(Scores::inside(c_.visible.end_of(query) - first), begin, range.end);
    std::fill(s + range.begin, s + begin, kHidden);
    std::fill(s + end, s + range.end, kHidden);
    const float slope = c_.alibi_slopes ? c_.alibi_slopes[r % c_.heads * c_.alibi_stride] : 0.0f;
    if (slope == 0.0f) return;
    add_alibi<Isa>(s, begin, end, slope, query + c_.visible.offset - first);
  }

  /// The same with a tile of int8.
  void update_from_int8(const StoredTile& tile, std::int64_t first, Range range) noexcept {
    const std::int64_t size = even(c_.head_size);
    const auto* const keys = static_cast<const std::int8_t*>(tile.keys);
    for (int column = range.begin; column < range.end; column += kWidth)
      for (int r = 0; r < rows_; r += kRows) {
        const auto* const q = reinterpret_cast<const std::int16_t*>(q_) + r * size;
        const float* const query_scales = query_scale_ + r;
        const float* const key_scales = tile.key_scales + column;
        float* const s = row(r) + column;
        multiply_words<2, 2 * kRows>(
            rows_ - r, q, keys + column * size, size / 2, [=](int i, int v, V products) {
              const V scales = V(query_scales[i]) * V::load_aligned(key_scales + v * kLanes);
              (products * scales).store_aligned(s + i * kStride + v * kLanes);
            });
      }
    for (int r = 0; r < rows_; ++r) {
      compute_weights(r, first, range);
      quantise_weights(r, tile.value_scales, range);
    }
    const auto* const values = static_cast<const std::int8_t*>(tile.values);
    const std::int64_t stride = o_stride_;
    for (std::int64_t column = 0; column < stride; column += kWidth)
      for (int r = 0; r < rows_; r += kRows) {
        const float* const weight_scales = weight_scale_ + r;
        float* const o = c_.state.o + r * stride + column;
        multiply_words<kKeyTile, 2>(
            rows_ - r, words(r) + range.begin, values + column * kKeyTile + range.begin * kWidth,
            (range.end - range.begin) / 2, [=](int i, int v, V products) {
              float* const at = o + i * stride + v * kLanes;
              simd::madd<Isa>(products, V(weight_scales[i]), V::load_unaligned(at))
                  .store_unaligned(at);
            });
      }
  }

  /// Rounds the weights of row r, times the scales of the values, to words.
  void quantise_weights(int r, const float* value_scales, Range range) noexcept {
    float* const s = row(r);
    V highest(0.0f);
    V not_finite(0.0f);  // or NaN
    for (int j = range.begin; j < range.end; j += kLanes) {
      const V p = V::load_aligned(s + j);
      // The scale of a hidden value may be NaN.
      const V w = simd::select(p == V(0.0f), V(0.0f), p * V::load_aligned(value_scales + j));
      w.store_aligned(s + j);
      highest = simd::max(highest, w);
      not_finite += w - w;
    }
    const float largest = simd::reduce_max(highest);
    const float factor = 32767.0f / largest;
    weight_scale_[r] = largest / 32767.0f + simd::reduce_add(not_finite);
    if (std::isfinite(factor) && std::isfinite(weight_scale_[r])) {
      for (int j = range.begin; j < range.end; ++j) words(r)[j] = to_word(s[j] * factor);
    } else {
      std::fill(words(r) + range.begin, words(r) + range.end, std::int16_t{0});
    }
  }

  /// The block of micro_kernel.hpp for words times bytes; the depth counts pairs of them. A's entry
  /// (row, pair) is at row * RowStride + pair * Step.
  template <int RowStride, int Step, int Rows = kRows, class Store>
  static void multiply_words(int rows, const std::int16_t* a, const std::int8_t* b,
                             std::int64_t pairs, Store store) noexcept {
    if constexpr (Rows > 1) {
      if (rows < Rows) return multiply_words<RowStride, Step, Rows - 1>(rows, a, b, pairs, store);
    }
    Sums sum[Rows][kVectors];
    for (auto& of_row : sum)
      for (Sums& s : of_row) s = Sums(0);
    for (std::int64_t pair = 0; pair < pairs; ++pair, a += Step, b += 2 * kWidth) {
      const simd::Words<Isa> column[kVectors] = {simd::load_words<Isa>(b),
                                                 simd::load_words<Isa>(b + kWidth)};
      for (int r = 0; r < Rows; ++r) {
        const simd::Words<Isa> left = simd::broadcast_pair<Isa>(a + r * RowStride);
        for (int v = 0; v < kVectors; ++v)
          sum[r][v] = simd::add_products<Isa>(left, column[v], sum[r][v]);
      }
    }
    for (int r = 0; r < Rows; ++r)
      for (int v = 0; v < kVectors; ++v) store(r, v, simd::to_float(sum[r][v]));
  }

  const DecodeChunk& c_;
  const simd::Exp2<Isa> exp2_;
  int rows_;
  std::int64_t o_stride_;
  float* q_;             // packed queries; words for int8
  float* s_;             // [rows, kStride] scores, then weights p
  std::int16_t* words_;  // [rows, kKeyTile]
  float query_scale_[kDecodeRows];
  float weight_scale_[kDecodeRows];
};

}  // namespace heed::kernels
