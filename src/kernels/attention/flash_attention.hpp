#pragma once

// softmax(scores) V for a tile of queries, one tile of keys after another; score_tile.hpp computes
// the scores.
//
// The output is computed by online softmax (online_softmax.hpp): at most one tile of scores exists
// at a time.
//
// A tile has 48 queries, a multiple of every instruction set's register block (4, 6, 8, 12). So a
// tile of packed keys is read eight times from the first-level cache. A tile of 128 keys of 64
// numbers has 32 KB, the size of that cache on most machines. The work on a row outside the
// products (maximum, exponential, rescaling) is then about a tenth of the products' work
// (`./dev bench`).
//
// Rare parts and long parts are separate functions, because browsers optimise whole functions and
// run them slowly until then. bindings/wasm.cmake keeps the linker from joining the large ones
// again.
//
// A tile that no row sees is skipped. A tile whose values are not all finite takes a slower path
// that reads only the values that a row sees, because 0 * NaN is NaN. It adds the same terms in the
// same order with the same rounding, so a hidden value changes no bit of the output.

#include <algorithm>
#include <cmath>

#include "kernels/attention/online_softmax.hpp"
#include "kernels/attention/score_tile.hpp"
#include "kernels/layers/dropout.hpp"

namespace heed::kernels {

template <class Isa>
class FlashAttention {
 public:
  static std::int64_t scratch(std::int64_t head_size, std::int64_t value_size) noexcept {
    return Scores::scratch(head_size) + kQueryTile * whole_panels<Isa>(value_size);
  }

  static void run(const AttentionTile& tile) noexcept { FlashAttention(tile).run(); }

 private:
  using V = simd::Vector<Isa>;
  using Scores = ScoreTile<Isa>;
  static constexpr int kLanes = static_cast<int>(V::size);

  explicit FlashAttention(const AttentionTile& tile) noexcept
      : t_(tile),
        scores_(tile, tile.scratch),
        o_(tile.scratch + Scores::scratch(tile.head_size)),
        o_stride_(whole_panels<Isa>(tile.value_size)) {
    for (int r = 0; r < t_.queries; ++r) state(r).init(t_.sink ? *t_.sink : kHidden);
    std::fill_n(o_, t_.queries * o_stride_, 0.0f);
  }

  void run() noexcept {
    const std::int64_t begin = std::max<std::int64_t>(0, scores_.first_key()) / kKeyTile * kKeyTile;
    const std::int64_t end = scores_.last_key();
    for (std::int64_t first = begin; first < end; first += kKeyTile) {
      if (!scores_.block_mask_allows(first)) continue;
      scores_.set_visible_ranges(first);
      scores_.multiply(first);
      scores_.cap();
      bool any = false;
      for (int r = 0; r < t_.queries; ++r) {
        const bool seen = scores_.add_bias_and_mask(r, first);
        sees_a_key_[r] |= seen;
        any |= seen;
      }
      if (any) update(first);
    }
    store();
    if (t_.scores || t_.capped || t_.masked || t_.weights || t_.entropy) write_captures();
  }

  /// Updates the state of every row with the tile of scores.
  void update(std::int64_t first) noexcept {
    const simd::Exp2<Isa> exp2;
    for (int r = 0; r < t_.queries; ++r) {
      const auto [begin, end] = scores_.range(r);
      if (begin >= end) continue;
      state(r).update(exp2, scores_.row(r), begin, end);
      if (t_.dropout.scale != 1.0f)
        drop<Isa>(t_.dropout, t_.row + static_cast<std::uint64_t>(r), first, begin, end,
                  scores_.row(r));
    }
    const KeyValueTile& tile = t_.tiles[first / kKeyTile];
    scores_.add_product(scores_.row(0), tile.values, tile.depth, tile.finite, o_, o_stride_);
  }

  OnlineSoftmax<Isa> state(int r) noexcept { return {m_[r], l_[r], o_ + r * o_stride_, o_stride_}; }

  void store() noexcept {
    for (int r = 0; r < t_.queries; ++r) {
      float* out = t_.output + r * t_.output_stride;
      if (!sees_a_key_[r]) {
        std::fill_n(out, t_.value_size, 0.0f);
      } else {
        state(r).normalise(t_.value_size, out);
      }
      if (t_.lse) t_.lse[r] = state(r).lse();
      if (t_.maxima) t_.maxima[r] = m_[r];
      if (t_.sums) t_.sums[r] = l_[r];
    }
  }

  /// Computes the scores again, when m and l are final, and writes the requested results: scores of
  /// each stage, weights, entropy.
  [[gnu::noinline]] void write_captures() noexcept {
    float entropy[kQueryTile] = {};
    for (std::int64_t first = 0; first < t_.all_keys; first += kKeyTile) {
      const int count = static_cast<int>(std::min<std::int64_t>(kKeyTile, t_.all_keys - first));
      scores_.set_full_ranges(first);
      if (!scores_.range(0).empty()) scores_.multiply(first);
      // Keys that a rolling cache has dropped and columns beyond the last key have no scores.
      hide_missing_keys(first);
      write(t_.scores, first, count);
      scores_.cap();
      hide_missing_keys(first);  // the softcap of -inf is finite
      write(t_.capped, first, count);
      for (int r = 0; r < t_.queries; ++r) scores_.add_bias_and_mask(r, first);
      write(t_.masked, first, count);
      if (!t_.weights && !t_.entropy) continue;
      for (int r = 0; r < t_.queries; ++r) entropy[r] += compute_weights(r, count);
      if (t_.dropout.scale != 1.0f)
        for (int r = 0; r < t_.queries; ++r)
          drop<Isa>(t_.dropout, t_.row + static_cast<std::uint64_t>(r), first, 0, count,
                    scores_.row(r));
      write(t_.weights, first, count);
    }
    if (t_.entropy) std::copy_n(entropy, t_.queries, t_.entropy);
  }

  void hide_missing_keys(std::int64_t first) noexcept {
    for (int r = 0; r < t_.queries; ++r) scores_.hide_missing_keys(r, first);
  }

  void write(float* to, std::int64_t first, int count) noexcept {
    if (!to) return;
    for (int r = 0; r < t_.queries; ++r)
      std::copy_n(scores_.row(r), count, to + r * t_.all_keys + first);
  }

  /// Replaces a row of scores by weights; returns their part of the entropy -sum w log w.
  float compute_weights(int r, int count) noexcept {
    float* s = scores_.row(r);
    if (!sees_a_key_[r]) {
      std::fill_n(s, count, 0.0f);
      return 0.0f;
    }
    const V shift(m_[r]);
    const V scale(1.0f / l_[r]);
    const V log_sum(std::log(l_[r]));
    const simd::Exp2<Isa> exp2;
    V entropy(0.0f);
    for (int j = 0; j < count; j += kLanes) {
      const V difference = V::load_aligned(s + j) - shift;
      const V w = exp2(difference * V(kLog2E)) * scale;
      w.store_aligned(s + j);
      // -log w = log l - difference. A weight of 0 adds 0, although its logarithm is -inf.
      entropy += simd::select(w == V(0.0f), V(0.0f), w * (log_sum - difference));
    }
    return simd::reduce_add(entropy);
  }

  const AttentionTile& t_;
  Scores scores_;  // rows of scores, then of probabilities p
  float* o_;       // [kQueryTile, o_stride_]
  std::int64_t o_stride_;
  float m_[kQueryTile];
  float l_[kQueryTile];
  bool sees_a_key_[kQueryTile] = {};
};

}  // namespace heed::kernels
