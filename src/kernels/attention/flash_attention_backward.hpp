#pragma once

// The gradients of softmax(scores) V for a tile of queries and a tile of keys (Dao,
// "FlashAttention-2", algorithm 2, 2023). The scores S are computed again by score_tile.hpp. For
// each row, m is the maximum of S, l the sum of exp(S - m), and delta = sum dO O - d lse.
//     P = exp(S - m) / l,  dP = dO V^T,  dS = P (dP - delta),
//     dV += P^T dO,      dQ += dS K,   dK += dS^T Q.
//
// A softcap c multiplies dS by 1 - (s / c)^2, where s is the capped score, after the gradients of
// biases and slopes are taken. Dropout multiplies dP, and the P of dV, by the factors that it gave
// P in the forward pass (Dao et al., "FlashAttention", appendix B.4, 2022).
//
// A pair of tiles has five products, which share two arrays of 48 x 128. The left factors P^T and
// dS^T are not transposed in memory, because a left factor can be read by columns or by rows
// (FixedLeft). Queries and dO are both left and right factors, and keys are right factors by rows
// and by columns, so all three are packed twice.
//
// P is not computed as exp(S - lse): for large scores lse = m + log l has few digits after the
// point. delta is summed in the same order as dP. So if one key has all the weight and O is its
// value, their difference is exactly zero.
//
// A key that a query does not see has P = dS = 0 and adds nothing. If a number is not finite, these
// zeros are not enough, because 0 * NaN is NaN. Such a pair of tiles takes a slower path: it sets
// hidden P and dS to zero for any m, l and delta, and skips the products with zeros. The other sums
// have the same bits.

#include <algorithm>
#include <cmath>

#include "kernels/attention/score_tile.hpp"
#include "kernels/layers/dropout.hpp"
#include "simd/transpose.hpp"

namespace heed::kernels {

template <class Isa>
class FlashAttentionBackward {
 public:
  static std::int64_t scratch(std::int64_t head_size) noexcept {
    return Scores::scratch(head_size) + 2 * kQueryTile * kStride;
  }

  static void pack(const AttentionTile& tile, const BackwardInputs& inputs,
                   BackwardQueries& to) noexcept {
    const auto depth = static_cast<std::ptrdiff_t>(to.depth);
    Scores::pack_queries(tile, to.q);
    pack_blocks<Isa, Scores::kRows>(inputs.d_output, tile.output_stride, tile.queries,
                                    tile.value_size, to.d_output);
    const bool finite_q =
        pack_columns<Isa>(tile.q, tile.q_stride, tile.queries, tile.head_size, depth, to.q_columns);
    const bool finite_d_output =
        pack_columns<Isa>(inputs.d_output, tile.output_stride, tile.queries, tile.value_size, depth,
                          to.d_output_columns);
    to.finite = finite_q && finite_d_output;
    for (int r = 0; r < tile.queries; r += kLanes)
      compute_delta(inputs.output + r * tile.output_stride,
                    inputs.d_output + r * tile.output_stride, tile.output_stride,
                    std::min(kLanes, tile.queries - r), tile.value_size, to.delta + r);
    for (int r = 0; r < tile.queries; ++r) {
      if (inputs.d_lse) to.delta[r] -= inputs.d_lse[r];
      const float m = inputs.maxima[r], l = inputs.sums[r];
      // For a row without a key, -inf - -inf would be NaN.
      to.shifts[r] = m == kHidden ? 0.0f : m;
      to.scales[r] = l == 0.0f ? 0.0f : 1.0f / l;
      to.finite = to.finite && std::isfinite(to.shifts[r]) && std::isfinite(to.scales[r]) &&
                  std::isfinite(to.delta[r]);
    }
  }

  static void run(const BackwardTile& tile) noexcept { FlashAttentionBackward(tile).run(); }

  static void store(const GradientRows& rows) noexcept {
    for (std::int64_t r = 0; r < rows.count; ++r) {
      const float* const from = rows.from + r * rows.from_stride;
      float* const to = rows.to + r * rows.to_stride;
      const auto sum = [&]<class T>(std::int64_t c, const auto& load) {
        T total(0.0f);
        for (std::int64_t part = 0; part < rows.parts; ++part)
          total += load(from + part * rows.part_stride + c);
        return total * T(rows.scale);
      };
      std::int64_t c = 0;
      for (; c + kLanes <= rows.size; c += kLanes)
        sum.template operator()<V>(c, [](const float* x) { return V::load_unaligned(x); })
            .store_unaligned(to + c);
      for (; c < rows.size; ++c)
        to[c] = sum.template operator()<float>(c, [](const float* x) { return *x; });
    }
  }

 private:
  using V = simd::Vector<Isa>;
  using Scores = ScoreTile<Isa>;
  static constexpr int kLanes = static_cast<int>(V::size);
  static constexpr int kRows = Scores::kRows;
  static constexpr int kWidth = Scores::kWidth;
  static constexpr int kStride = Scores::kStride;

  explicit FlashAttentionBackward(const BackwardTile& tile) noexcept
      : t_(tile),
        scores_(tile.scores, tile.scores.scratch),
        d_s_(tile.scores.scratch + Scores::scratch(tile.scores.head_size)),
        cap_slope_(d_s_ + kQueryTile * kStride),
        finite_(tile.finite && tile.queries.finite) {}

  /// delta = sum output * d_output for `count` rows, at most kLanes, one in each lane: the terms
  /// are added in the order of the product dO V^T. The output of a query that sees no key is zero,
  /// and its gradient then has no effect, even if it is NaN.
  static void compute_delta(const float* output, const float* d_output, std::ptrdiff_t stride,
                            int count, std::int64_t size, float* to) noexcept {
    V sum(0.0f);
    const auto add = [&](V o, V d_o) {
      sum = simd::madd<Isa>(simd::select(o == V(0.0f), V(0.0f), d_o), o, sum);
    };
    V o[kLanes], d_o[kLanes];
    std::int64_t c = 0;
    for (; c + kLanes <= size; c += kLanes) {
      for (int r = 0; r < kLanes; ++r) {
        // Lanes without a row read the last one.
        const std::ptrdiff_t at = std::min(r, count - 1) * stride + c;
        o[r] = V::load_unaligned(output + at);
        d_o[r] = V::load_unaligned(d_output + at);
      }
      simd::transpose<Isa>(o);
      simd::transpose<Isa>(d_o);
      for (int i = 0; i < kLanes; ++i) add(o[i], d_o[i]);
    }
    for (; c < size; ++c) {
      alignas(64) float column[kLanes], d_column[kLanes];
      for (int r = 0; r < kLanes; ++r) {
        const std::ptrdiff_t at = std::min(r, count - 1) * stride + c;
        column[r] = output[at];
        d_column[r] = d_output[at];
      }
      add(V::load_aligned(column), V::load_aligned(d_column));
    }
    alignas(64) float sums[kLanes];
    sum.store_aligned(sums);
    std::copy_n(sums, count, to);
  }

  void run() noexcept {
    const std::int64_t first = t_.first_key;
    const std::int64_t head_size = t_.scores.head_size;
    const std::int64_t value_size = t_.scores.value_size;
    if (!scores_.block_mask_allows(first)) return;
    scores_.set_visible_ranges(first);
    scores_.multiply(first);
    scores_.cap();
    if (t_.scores.softcap != 0.0f) compute_cap_slopes();
    bool any = false;
    for (int r = 0; r < t_.scores.queries; ++r) any |= scores_.add_bias_and_mask(r, first);
    if (!any) return;
    scores_.multiply(t_.queries.d_output, t_.value_rows, value_size, d_s_);
    finite_ ? compute_p_and_d_s<true>() : compute_p_and_d_s<false>();
    find_query_ranges();
    add_transposed(scores_.row(0), t_.queries.d_output_columns, value_size, t_.d_v);
    add_transposed(d_s_, t_.queries.q_columns, head_size, t_.d_k);
    scores_.add_product(d_s_, t_.key_columns, t_.depth, finite_, t_.d_q,
                        whole_panels<Isa>(head_size));
  }

  /// d/dx c tanh(x / c), from the capped scores.
  void compute_cap_slopes() noexcept {
    const V inverse(1.0f / t_.scores.softcap);
    for (int r = 0; r < t_.scores.queries; ++r)
      for (int j = scores_.range(r).begin; j < scores_.range(r).end; j += kLanes) {
        const V share = V::load_aligned(scores_.row(r) + j) * inverse;
        (V(1.0f) - share * share).store_aligned(cap_slope_ + r * kStride + j);
      }
  }

  /// Replaces the scores by P, for the product dV, and dP by dS, for the products dQ and dK.
  template <bool Finite>
  void compute_p_and_d_s() noexcept {
    const AttentionTile& t = t_.scores;
    const simd::Exp2<Isa> exp2;
    for (int r = 0; r < t.queries; ++r) {
      float* const p = scores_.row(r);
      float* const d_s = d_s_ + r * kStride;
      const auto [begin, end] = scores_.range(r);
      if (begin < end) {
        const bool drops = t.dropout.scale != 1.0f;
        const auto drop_row = [&](float* w) {
          drop<Isa>(t.dropout, t.row + static_cast<std::uint64_t>(r), t_.first_key, begin, end, w);
        };
        if (drops) drop_row(d_s);
        differentiate<Finite>(exp2, p, d_s, begin, end, t_.queries.shifts[r], t_.queries.scales[r],
                              t_.queries.delta[r]);
        if (drops) drop_row(p);
        if (t_.d_bias) add_to_bias(r, d_s);
        if (t_.d_slope) add_to_slope(r, d_s);
        if (t.softcap != 0.0f) multiply_by_cap_slopes(cap_slope_ + r * kStride, begin, end, d_s);
      }
      // The transposed products read blocks of keys, which may extend beyond the ranges. Mostly
      // there is nothing to fill; the checks save calls of std::fill, which WebAssembly does not
      // inline.
      const int before = begin < end ? begin : t_.keys;
      for (float* const row : {p, d_s}) {
        if (before > 0) std::fill(row, row + before, 0.0f);
        if (begin < end && end < t_.keys) std::fill(row + end, row + t_.keys, 0.0f);
      }
    }
  }

  /// dS *= slope. Where dS is zero, the slope is not used: for a hidden score it may be NaN.
  static void multiply_by_cap_slopes(const float* slopes, int begin, int end, float* d_s) noexcept {
    for (int j = begin; j < end; j += kLanes) {
      const V x = V::load_aligned(d_s + j);
      simd::select(x == V(0.0f), x, x * V::load_aligned(slopes + j)).store_aligned(d_s + j);
    }
  }

  template <bool Finite>
  static void differentiate(const simd::Exp2<Isa>& exp2, float* p, float* d_s, int begin, int end,
                            float shift, float scale, float delta) noexcept {
    const V log2_e = simd::held<Isa>(kLog2E);
    const V shifts(shift), scales(scale), deltas(delta);
    for (int j = begin; j < end; j += kLanes) {
      const V s = V::load_aligned(p + j);
      V weight = exp2((s - shifts) * log2_e) * scales;
      V d_score = weight * (V::load_aligned(d_s + j) - deltas);
      if constexpr (!Finite) {
        weight = simd::select(s == V(kHidden), V(0.0f), weight);
        d_score = simd::select(s == V(kHidden), V(0.0f), d_score);
      }
      weight.store_aligned(p + j);
      d_score.store_aligned(d_s + j);
    }
  }

  void add_to_bias(int r, const float* d_s) noexcept {
    const PairSlice<float>& bias = t_.scores.mask.bias;
    float* const to = t_.d_bias + (t_.scores.first_query + r) * bias.row_stride +
                      t_.first_key * bias.column_stride;
    const auto [begin, end] = scores_.visible_range(r, t_.first_key);
    if (bias.column_stride == 0) {
      float sum = 0.0f;
      for (int j = begin; j < end; ++j) sum += d_s[j];
      *to += sum;
      return;
    }
    for (int j = begin; j < end; ++j) to[j] += d_s[j];
  }

  void add_to_slope(int r, const float* d_s) noexcept {
    const std::int64_t distance =
        t_.scores.first_query + r + t_.scores.visible.offset - t_.first_key;
    const auto [begin, end] = scores_.visible_range(r, t_.first_key);
    float sum = 0.0f;
    for (int j = begin; j < end; ++j) sum += d_s[j] * static_cast<float>(std::abs(distance - j));
    *t_.d_slope -= static_cast<double>(sum);
  }

  /// Finds, for each block of keys, the rows whose range overlaps it. The bounds of the ranges do
  /// not decrease from row to row, so these rows are contiguous.
  void find_query_ranges() noexcept {
    for (int j = 0; j < t_.keys; j += kRows) {
      typename Scores::Range rows = {kQueryTile, 0};
      for (int r = 0; r < t_.scores.queries; r += kRows) {
        const auto range = scores_.range(r);
        if (range.empty() || range.begin >= j + kRows || range.end <= j) continue;
        rows.begin = std::min(rows.begin, r);
        rows.end = std::min(r + kRows, t_.scores.queries);
      }
      query_ranges_[j / kRows] = rows;
    }
  }

  /// y += x^T right, where x is P or dS.
  void add_transposed(const float* x, const float* right, std::int64_t size, float* y) noexcept {
    const std::int64_t y_stride = whole_panels<Isa>(size);
    for (std::int64_t column = 0; column < y_stride;
         column += kWidth, right += t_.queries.depth * kWidth)
      for (int j = 0; j < t_.keys; j += kRows) {
        const auto [begin, end] = query_ranges_[j / kRows];
        if (begin >= end) continue;
        float* const to = y + j * y_stride + column;
        const int rows = std::min(kRows, t_.keys - j);
        if (finite_)
          multiply_rows<Isa, true>(rows, FixedLeft<1, kStride>{x + begin * kStride + j},
                                   right + begin * kWidth, end - begin, to, y_stride);
        else
          add_transposed_skipping_zeros(x + j, right, rows, begin, end, to, y_stride);
      }
  }

  /// The same, but a row of `right` is not read where x is zero.
  static void add_transposed_skipping_zeros(const float* x, const float* right, int rows, int begin,
                                            int end, float* y, std::int64_t y_stride) noexcept {
    for (int j = 0; j < rows; ++j)
      multiply_row_skipping_zeros<Isa>(x + begin * kStride + j, kStride, right + begin * kWidth,
                                       end - begin, y + j * y_stride);
  }

  const BackwardTile& t_;
  Scores scores_;     // rows of scores, then of P
  float* d_s_;        // [kQueryTile, kStride] dP, then dS
  float* cap_slope_;  // [kQueryTile, kStride] derivative of the softcap
  bool finite_;
  typename Scores::Range query_ranges_[(kKeyTile + kRows - 1) / kRows];
};

}  // namespace heed::kernels
