#include "ops/attention/attention_tiles.hpp"

#include <algorithm>

#include "ops/validate.hpp"

namespace heed::ops {

using kernels::kKeyTile;
using kernels::kQueryTile;

static_assert(BlockMask::kQueries == kQueryTile && BlockMask::kKeys == kKeyTile &&
              BlockMask::kEmpty == kernels::BlockMaskSlice::kEmpty &&
              BlockMask::kFull == kernels::BlockMaskSlice::kFull);

namespace {

/// A number for query i of (b, h) that does not depend on any size.
std::uint64_t dropout_row(std::int64_t b, std::int64_t h, std::int64_t i) {
  return static_cast<std::uint64_t>(b) << 48 ^ static_cast<std::uint64_t>(h) << 32 ^
         static_cast<std::uint64_t>(i);
}

/// The part of a block mask for one batch, head and tile of queries.
kernels::BlockMaskSlice blocks_of(const BlockMask* mask, std::int64_t b, std::int64_t h,
                                  std::int64_t first_query) {
  if (!mask) return {};
  const Shape& shape = mask->kinds().shape();
  const std::int64_t slice = (shape[0] == 1 ? 0 : b) * shape[1] + (shape[1] == 1 ? 0 : h);
  const std::int64_t row = slice * shape[2] + first_query / kQueryTile;
  return {mask->kinds().data<std::int32_t>().data() + row * shape[3],
          reinterpret_cast<const std::uint8_t*>(mask->bits().data<bool>().data())};
}

/// Past rows followed by new ones: [B, G, P + new, size].
Tensor append(const TensorView& past, const TensorView& fresh, const Layout& layout,
              std::int64_t new_rows) {
  const std::int64_t B = past.shape()[0], G = past.shape()[1], P = past.shape()[2];
  const std::int64_t size = past.shape()[3];
  Tensor both(Shape{B, G, P + new_rows, size});
  if (both.shape().elements() == 0) return both;
  const float* from = past.data<float>().data();
  const float* const added = fresh.data<float>().data();
  float* to = both.data().data();
  for (std::int64_t b = 0; b < B; ++b)
    for (std::int64_t g = 0; g < G; ++g) {
      to = std::copy_n(from, P * size, to);
      from += P * size;
      for (std::int64_t i = 0; i < new_rows; ++i)
        to = std::copy_n(layout.at(added, b, g, i), size, to);
    }
  return both;
}

}  // namespace

std::span<const QueryTile> query_tiles(const AttentionProblem& p, Arena::Scope& scratch) {
  std::int64_t count = 0;
  for (const Sequence& sequence : p.sequences) count += divide_up(sequence.queries, kQueryTile);
  QueryTile* const tiles = scratch.take<QueryTile>(count);
  QueryTile* next = tiles;
  for (std::size_t n = 0; n < p.sequences.size(); ++n)
    for (std::int64_t tile = divide_up(p.sequences[n].queries, kQueryTile) - 1; tile >= 0; --tile)
      *next++ = {n, tile * kQueryTile};
  return {tiles, next};
}

KeyValueRows join_past(AttentionProblem& p, const AttentionOptions& options, const TensorView& k,
                       const TensorView& v, std::optional<Tensor>& keys,
                       std::optional<Tensor>& values) {
  if (!options.past_key) return {k.data<float>().data(), v.data<float>().data()};
  keys = append(*options.past_key, k, p.k_layout, p.S - p.past);
  values = append(*options.past_value, v, p.v_layout, p.S - p.past);
  p.k_layout = {p.G * p.S * p.D, p.S * p.D, p.D};
  p.v_layout = {p.G * p.S * p.Dv, p.S * p.Dv, p.Dv};
  return {keys->data().data(), values->data().data()};
}

double operations(const AttentionProblem& p) {
  double pairs = 0;
  for (const Sequence& s : p.sequences)
    pairs += static_cast<double>(s.queries) * static_cast<double>(s.visible);
  return 2.0 * pairs * static_cast<double>(p.H) * static_cast<double>(p.D + p.Dv);
}

kernels::AttentionTile tile_of_scores(const AttentionProblem& p, const AttentionOptions& options,
                                      const QueryTile& tile, std::int64_t h) {
  const auto [n, first] = tile;
  const Sequence& sequence = p.sequences[n];
  const std::int64_t b = p.batch_of(n);
  const float* const slope = p.alibi_slopes.at(n, h);
  return {
      .q_stride = static_cast<std::ptrdiff_t>(p.q_layout.row),
      .queries = static_cast<int>(std::min<std::int64_t>(kQueryTile, sequence.queries - first)),
      .first_query = first,
      .head_size = p.D,
      .value_size = p.Dv,
      .scale = p.scale,
      .visible = p.visible(n),
      .mask = p.mask.slice(b, h),
      .blocks = blocks_of(options.block_mask, b, h, first),
      .softcap = options.softcap,
      .alibi_slope = slope ? *slope : 0.0f,
      .sink = p.sinks.at(n, h),
      .dropout = kernels::Dropout::of(options.dropout, options.dropout_seed),
      .row = dropout_row(b, h, sequence.first_query + first),
      .output_stride = static_cast<std::ptrdiff_t>(p.output_layout.row),
      .all_keys = p.is_packed ? sequence.keys : p.S,
  };
}

}  // namespace heed::ops
