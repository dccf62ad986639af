#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

#include "ops/attention/attention_tiles.hpp"
#include "ops/attention/decode.hpp"
#include "ops/attention/kv_pages.hpp"
#include "ops/validate.hpp"
#include "runtime/runtime.hpp"

namespace heed {
namespace {

using kernels::KeyValueTile;
using kernels::kKeyTile;
using ops::AttentionProblem;
using ops::divide_up;
using ops::Layout;
using ops::Sequence;

/// Keys and values in the layout that the kernel reads, shared by the query heads of a group and by
/// all their tiles.
class PackedKeyValues {
 public:
  /// With `packs_hidden_keys` all keys are packed, not only the visible ones; hidden values are
  /// never packed.
  PackedKeyValues(const AttentionProblem& p, const KvCache* cache, bool packs_hidden_keys,
                  Precision precision, const kernels::KernelTable& kernels, Arena::Scope& scratch)
      : p_(p),
        cache_(cache),
        kernels_(kernels),
        packs_hidden_keys_(packs_hidden_keys),
        depth_(cache ? kKeyTile
                     : std::min<std::int64_t>(kKeyTile, ops::round_up(p.S, kernels.panel))),
        key_size_(depth_ * p.D),
        value_size_(depth_ * ops::round_up(p.Dv, kernels.panel)),
        has_bytes_(precision == Precision::kInt8Scores),
        starts_(scratch.take<std::int64_t>(static_cast<std::int64_t>(p.sequences.size()) + 1)) {
    starts_[0] = 0;
    for (std::size_t n = 0; n < p.sequences.size(); ++n)
      starts_[n + 1] = starts_[n] + divide_up(scored(n), kKeyTile);
    const std::int64_t tiles = pieces();
    tiles_ = scratch.take<KeyValueTile>(tiles);
    if (cache && cache->options().format == KvCache::Format::kFloat32) return;
    if (has_bytes_) {
      bytes_ = scratch.take<std::int8_t>(tiles * depth_ * kernels::byte_depth(p.D));
      scales_ = scratch.take<float>(tiles * depth_);
      key_corrections_ = scratch.take<std::int32_t>(tiles * depth_);
      means_ = scratch.take<float>(std::ssize(p.sequences) * p.G * p.D);
      smoothed_ = scratch.take<float>(tiles * p.D);
    } else {
      keys_ = scratch.take<float>(tiles * key_size_);
    }
    values_ = scratch.take<float>(tiles * value_size_);
  }

  /// The number of keys of a sequence that are packed.
  std::int64_t scored(std::size_t sequence) const noexcept {
    const Sequence& s = p_.sequences[sequence];
    return packs_hidden_keys_ ? s.keys : s.visible;
  }

  /// Tiles of all sequences and key/value heads: sequence by sequence, then head by head.
  std::int64_t pieces() const noexcept { return starts_[p_.sequences.size()] * p_.G; }

  const KeyValueTile* tiles(std::size_t sequence, std::int64_t g) const noexcept {
    return tiles_ + starts_[sequence] * p_.G + g * (starts_[sequence + 1] - starts_[sequence]);
  }

  /// The mean of a head's keys, for int8 scores.
  const float* mean(std::size_t sequence, std::int64_t g) const noexcept {
    return has_bytes_ ? means_ + (static_cast<std::int64_t>(sequence) * p_.G + g) * p_.D : nullptr;
  }

  /// The number of means to compute before packing.
  std::int64_t means() const noexcept { return has_bytes_ ? std::ssize(p_.sequences) * p_.G : 0; }

  void compute_mean(std::int64_t piece, const float* k) noexcept {
    const auto n = static_cast<std::size_t>(piece / p_.G);
    const Sequence& sequence = p_.sequences[n];
    float* const mean = means_ + piece * p_.D;
    std::fill_n(mean, p_.D, 0.0f);
    // A key that a mask hides may have any value. Keys are weighted by the inverse of their
    // magnitude, so that a single huge key cannot move the mean far away from the others. Otherwise
    // rounding to bytes would lose the differences between those others.
    float weights = 0.0f;
    for (std::int64_t j = 0; j < sequence.visible; ++j) {
      const float* const key =
          p_.k_layout.at(k, p_.batch_of(n), piece % p_.G, sequence.first_key + j);
      std::int32_t bits = 0;  // of a magnitude; these integers compare as the floats do
      for (std::int64_t d = 0; d < p_.D; ++d)
        bits = std::max(bits, std::bit_cast<std::int32_t>(key[d]) & 0x7fffffff);
      const float largest = std::bit_cast<float>(bits);
      if (largest < 1e-30f || !std::isfinite(largest)) continue;
      const float weight = 1.0f / largest;
      weights += weight;
      for (std::int64_t d = 0; d < p_.D; ++d) mean[d] += weight * key[d];
    }
    if (weights == 0.0f) return;
    for (std::int64_t d = 0; d < p_.D; ++d) mean[d] /= weights;
  }

  void pack(std::int64_t piece, const float* k, const float* v) noexcept {
    const auto n = static_cast<std::size_t>(
        std::upper_bound(starts_, starts_ + p_.sequences.size() + 1, piece / p_.G) - starts_ - 1);
    const std::int64_t count = starts_[n + 1] - starts_[n];
    const std::int64_t g = (piece - starts_[n] * p_.G) / count;
    const std::int64_t tile = (piece - starts_[n] * p_.G) % count;
    // A cache in float32 is read in place.
    float* const values = values_ ? values_ + piece * value_size_ : nullptr;
    float* const keys = keys_ ? keys_ + piece * key_size_ : nullptr;
    if (cache_)
      tiles_[piece] = cached_tile(n, g, tile, keys, values);
    else
      tiles_[piece] = packed_tile(n, g, tile * kKeyTile, k, v, piece, keys, values);
  }

 private:
  KeyValueTile cached_tile(std::size_t n, std::int64_t g, std::int64_t tile, float* keys,
                           float* values) const noexcept {
    // The kernel skips this tile, and a rolling cache may have dropped it.
    if ((tile + 1) * kKeyTile <= p_.sequences[n].oldest) return {};
    return cache_->pages().tile(static_cast<std::int64_t>(n), g, tile, keys, values);
  }

  KeyValueTile packed_tile(std::size_t n, std::int64_t g, std::int64_t first, const float* k,
                           const float* v, std::int64_t piece, float* keys,
                           float* values) const noexcept {
    const Sequence& sequence = p_.sequences[n];
    const auto inside = [&](std::int64_t end) {
      return std::clamp<std::int64_t>(end - first, 0, kKeyTile);
    };
    const std::int64_t b = p_.batch_of(n);
    const std::int64_t row = sequence.first_key + first;
    const float* const key_rows = p_.k_layout.at(k, b, g, row);
    const auto key_stride = static_cast<std::ptrdiff_t>(p_.k_layout.row);
    KeyValueTile tile{.values = values, .depth = depth_};
    if (has_bytes_) {
      std::int8_t* const bytes = bytes_ + piece * depth_ * kernels::byte_depth(p_.D);
      float* const scales = scales_ + piece * depth_;
      std::int32_t* const corrections = key_corrections_ + piece * depth_;
      kernels_.product.quantise_keys({.rows = key_rows,
                                      .row_stride = key_stride,
                                      .count = inside(scored(n)),
                                      .depth = p_.D,
                                      .mean = mean(n, g),
                                      .scratch = smoothed_ + piece * p_.D,
                                      .panels = bytes,
                                      .scales = scales,
                                      .corrections = corrections});
      tile.key_bytes = bytes;
      tile.key_scales = scales;
      tile.key_corrections = corrections;
    } else {
      kernels_.product.pack_rows(key_rows, key_stride, inside(scored(n)),
                                 static_cast<std::ptrdiff_t>(p_.D), keys);
      tile.keys = keys;
    }
    tile.finite = kernels_.product.pack_columns(
        p_.v_layout.at(v, b, g, row), static_cast<std::ptrdiff_t>(p_.v_layout.row),
        inside(sequence.visible), static_cast<std::ptrdiff_t>(p_.Dv),
        static_cast<std::ptrdiff_t>(depth_), values);
    return tile;
  }

  const AttentionProblem& p_;
  const KvCache* cache_;
  const kernels::KernelTable& kernels_;
  bool packs_hidden_keys_;
  std::int64_t depth_;  // capacity of a tile: a page, or fewer keys if there are fewer
  std::int64_t key_size_;
  std::int64_t value_size_;
  bool has_bytes_;
  std::int64_t* starts_;  // the first tile of each sequence, counted for one head
  KeyValueTile* tiles_;
  float* keys_ = nullptr;
  float* values_ = nullptr;
  std::int8_t* bytes_ = nullptr;             // instead of keys_
  float* scales_ = nullptr;                  // [tiles, depth_]
  std::int32_t* key_corrections_ = nullptr;  // the same
  float* means_ = nullptr;                   // [sequences, G, D]
  float* smoothed_ = nullptr;                // [tiles, D] scratch
};

AttentionResult allocate(const AttentionProblem& p, const AttentionOptions& options) {
  AttentionResult result;
  result.output = Tensor(p.output_shape);
  const auto make = [](bool wanted, std::optional<Tensor>& tensor, const Shape& shape) {
    if (wanted) tensor.emplace(shape);
  };
  make(options.need_lse, result.lse, p.row_shape);
  if (options.need_statistics) result.statistics.emplace(ops::statistics_shape(p));
  make(options.capture_entropy, result.entropy, p.row_shape);
  make(options.need_weights, result.weights, p.pairs_shape);
  make(options.capture_scores, result.scores, p.pairs_shape);
  make(options.capture_capped, result.capped, p.pairs_shape);
  make(options.capture_masked, result.masked, p.pairs_shape);
  return result;
}

/// Attention by tiles of queries. The constructor takes all the memory that it needs.
class TiledAttention {
 public:
  TiledAttention(const AttentionProblem& p, const AttentionOptions& options,
                 Context::Runtime& runtime, Arena::Scope& scratch)
      : p_(p),
        options_(options),
        runtime_(runtime),
        // The scores before the masks include hidden keys.
        packed_(p, options.cache, options.capture_scores || options.capture_capped,
                options.precision, runtime.kernels(), scratch),
        tiles_(ops::query_tiles(p, scratch)),
        scratch_size_(runtime.kernels().attention.forward_scratch(p.D, p.Dv)),
        thread_scratch_(scratch.take<float>(runtime.pool().threads() * scratch_size_)) {}

  void run(const float* q, const float* k, const float* v, AttentionResult& result,
           double operations) {
    runtime_.pool().run(packed_.means(), operations,
                        [&](std::int64_t piece, int) { packed_.compute_mean(piece, k); });
    runtime_.pool().run(packed_.pieces(), operations,
                        [&](std::int64_t piece, int) { packed_.pack(piece, k, v); });
    const auto tile_count = static_cast<std::int64_t>(tiles_.size());
    float* const output = result.output.data().data();
    float* const maxima = ops::data_or_null(result.statistics);
    float* const sums = maxima ? maxima + p_.row_shape.elements() : nullptr;

    runtime_.pool().run(p_.H * tile_count, operations, [&](std::int64_t piece, int thread) {
      const auto [n, first] = tiles_[static_cast<std::size_t>(piece % tile_count)];
      const Sequence& sequence = p_.sequences[n];
      const std::int64_t b = p_.batch_of(n);
      const std::int64_t h = piece / tile_count;
      const std::int64_t query = sequence.first_query + first;
      const std::int64_t pair_row = (b * p_.H + h) * p_.L + query;
      const auto row_of = [&](float* all) {
        return all ? p_.row_layout.at(all, b, h, query) : nullptr;
      };
      const auto pairs_of = [&](std::optional<Tensor>& all) {
        return all ? all->data().data() + pair_row * p_.S : nullptr;
      };
      kernels::AttentionTile tile = ops::tile_of_scores(p_, options_, {n, first}, h);
      tile.q = p_.q_layout.at(q, b, h, query);
      tile.tiles = packed_.tiles(n, h / (p_.H / p_.G));
      tile.scored_keys = packed_.scored(n);
      tile.key_mean = packed_.mean(n, h / (p_.H / p_.G));
      tile.output = p_.output_layout.at(output, b, h, query);
      tile.lse = row_of(ops::data_or_null(result.lse));
      tile.maxima = row_of(maxima);
      tile.sums = row_of(sums);
      tile.entropy = row_of(ops::data_or_null(result.entropy));
      tile.scores = pairs_of(result.scores);
      tile.capped = pairs_of(result.capped);
      tile.masked = pairs_of(result.masked);
      tile.weights = pairs_of(result.weights);
      tile.scratch = thread_scratch_ + thread * scratch_size_;
      runtime_.kernels().attention.forward(tile);
    });
  }

 private:
  const AttentionProblem& p_;
  const AttentionOptions& options_;
  Context::Runtime& runtime_;
  PackedKeyValues packed_;
  std::span<const ops::QueryTile> tiles_;
  std::int64_t scratch_size_;
  float* thread_scratch_;
};

/// Computes on copies in float32; output and present have the type of q.
AttentionResult attention_in_float32(Context& context, const TensorView& q, const TensorView& k,
                                     const TensorView& v, AttentionOptions options) {
  const DType dtype = q.dtype();
  ops::require_dtype("k", k, dtype);
  ops::require_dtype("v", v, dtype);
  std::optional<Tensor> past_key, past_value;
  const auto widen = [&](const char* argument, std::optional<TensorView>& view,
                         std::optional<Tensor>& memory) {
    if (!view) return;
    ops::require_dtype(argument, *view, dtype);
    view = memory.emplace(cast(context, *view, DType::kFloat32));
  };
  widen("past_key", options.past_key, past_key);
  widen("past_value", options.past_value, past_value);
  AttentionResult result =
      attention(context, cast(context, q, DType::kFloat32), cast(context, k, DType::kFloat32),
                cast(context, v, DType::kFloat32), options);
  result.output = cast(context, result.output, dtype);
  if (result.present_key) result.present_key = cast(context, *result.present_key, dtype);
  if (result.present_value) result.present_value = cast(context, *result.present_value, dtype);
  return result;
}

}  // namespace

AttentionResult attention(Context& context, const TensorView& q, const TensorView& k,
                          const TensorView& v, const AttentionOptions& options) {
  if (q.dtype() == DType::kFloat16 || q.dtype() == DType::kBFloat16)
    return attention_in_float32(context, q, k, v, options);
  Context::Runtime& runtime = context.runtime();
  Arena::Scope scratch(runtime.arena());
  AttentionProblem p(q, k, v, options, scratch);
  AttentionResult result = allocate(p, options);
  const auto [k_data, v_data] =
      ops::join_past(p, options, k, v, result.present_key, result.present_value);

  if (p.sequences.empty()) return result;

  const kernels::KernelTable& kernels = runtime.kernels();
  if (options.cache && options.cache->pages().panel() != kernels.panel)
    ops::refuse<OptionError>("cache",
                             "one made for panels of " + std::to_string(kernels.panel) +
                                 " columns, as this context's instruction set has",
                             options.cache->pages().panel());
  // A decode step computes output and lse only. Tiled attention computes the other results; then
  // the decode step writes the same output as without them.
  const bool decodes = ops::Decode::supports(p, options);
  std::optional<ops::Decode> decode;
  std::optional<TiledAttention> tiled;
  if (decodes) decode.emplace(p, options, runtime, scratch);
  if (!decodes || ops::needs_more_than_lse(options)) tiled.emplace(p, options, runtime, scratch);

  // All memory except new pages of the cache has been allocated. If there is none for the pages,
  // append() throws before it changes the cache. After append(), a call can only be cancelled.
  if (options.cache)
    options.cache->pages().append(p.appended, k_data, p.k_layout, v_data, p.v_layout);

  const double operations = ops::operations(p);
  const float* const q_data = q.data<float>().data();
  try {
    if (tiled) tiled->run(q_data, k_data, v_data, result, operations);
    if (decode)
      decode->run(q_data, result.output.data().data(), ops::data_or_null(result.lse), operations);
  } catch (const CancelledError&) {
    for (std::size_t n = 0; options.cache && n < p.appended.size(); ++n)
      options.cache->pages().rewind(static_cast<std::int64_t>(n), p.appended[n]);
    throw;
  }
  if (options.cache) options.cache->pages().roll(p.appended);
  return result;
}

}  // namespace heed
