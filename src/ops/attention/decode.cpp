#include "ops/attention/decode.hpp"

#include <algorithm>

#include "ops/attention/kv_pages.hpp"
#include "ops/validate.hpp"

namespace heed::ops {
namespace {

using kernels::kKeyTile;

/// Tiles of a chunk. With 512 keys the cost of merging its state is small, and 1024 keys are enough
/// work for two threads.
constexpr int kChunkTiles = 4;

/// Scores of int8 are summed in 32 bits, so longer keys would need coarser queries.
constexpr std::int64_t kMaxHeadSize = 4096;

}  // namespace

bool Decode::supports(const AttentionProblem& p, const AttentionOptions& options) noexcept {
  if (!options.cache || p.G == 0 || p.L == 0 || p.L * (p.H / p.G) > kernels::kDecodeRows ||
      p.D > kMaxHeadSize)
    return false;
  return !options.mask && !options.bias && !options.block_mask && options.dropout == 0.0;
}

Decode::Decode(const AttentionProblem& p, const AttentionOptions& options,
               Context::Runtime& runtime, Arena::Scope& scratch)
    : p_(p),
      options_(options),
      runtime_(runtime),
      scratch_size_(runtime.kernels().attention.decode_scratch(p.D)) {
  for (std::size_t n = 0; n < p.sequences.size(); ++n) {
    starts_.push_back(chunks_.size());
    const kernels::VisibleKeys keys = p.visible(n);
    const std::int64_t begin = std::max<std::int64_t>(keys.begin_of(0), 0) / kKeyTile;
    const std::int64_t end =
        divide_up(std::max<std::int64_t>(keys.end_of(p.L - 1), 0), std::int64_t{kKeyTile});
    for (std::int64_t tile = begin; tile < end; tile += kChunkTiles)
      chunks_.push_back(
          {n, tile, static_cast<int>(std::min<std::int64_t>(kChunkTiles, end - tile))});
  }
  starts_.push_back(chunks_.size());
  const std::int64_t rows = p.L * group();
  const std::int64_t o_size = rows * round_up(p.Dv, runtime.kernels().panel);
  const std::int64_t state_size = 2 * kernels::kDecodeRows + o_size;
  const std::int64_t count = p.G * static_cast<std::int64_t>(chunks_.size());
  states_ = scratch.take<kernels::PartialState>(count);
  float* memory = scratch.take<float>(count * state_size);
  for (std::int64_t n = 0; n < count; ++n, memory += state_size)
    states_[n] = {memory, memory + kernels::kDecodeRows, memory + 2 * kernels::kDecodeRows};
  thread_scratch_ = scratch.take<float>(runtime.pool().threads() * scratch_size_);
}

void Decode::run(const float* q, float* output, float* lse, double operations) {
  // A page holds all heads, so consecutive pieces read adjacent memory.
  runtime_.pool().run(p_.G * static_cast<std::int64_t>(chunks_.size()), operations,
                      [&](std::int64_t piece, int thread) {
                        attend(piece, q, thread_scratch_ + thread * scratch_size_);
                      });
  // Serial, because there is too little work for several threads.
  for (std::size_t n = 0; n < p_.sequences.size(); ++n)
    for (std::int64_t g = 0; g < p_.G; ++g) merge(n, g, output, lse);
}

void Decode::attend(std::int64_t piece, const float* q, float* scratch) const noexcept {
  const auto chunk_count = static_cast<std::int64_t>(chunks_.size());
  const std::int64_t g = piece % p_.G;
  const Chunk& chunk = chunks_[static_cast<std::size_t>(piece / p_.G)];
  const KvCache::Pages& pages = options_.cache->pages();
  const std::int64_t b = p_.batch_of(chunk.sequence);
  const std::int64_t h = g * group();
  kernels::StoredTile tiles[kChunkTiles];
  for (int t = 0; t < chunk.tiles; ++t) tiles[t] = pages.stored(b, g, chunk.tile + t);
  runtime_.kernels().attention.decode({
      .q = p_.q_layout.at(q, b, h, 0),
      .q_head_stride = static_cast<std::ptrdiff_t>(p_.q_layout.head),
      .q_stride = static_cast<std::ptrdiff_t>(p_.q_layout.row),
      .heads = group(),
      .queries = static_cast<int>(p_.L),
      .head_size = p_.D,
      .value_size = p_.Dv,
      .scale = p_.scale,
      .format = pages.format(),
      .tiles = tiles,
      .tile_count = chunk.tiles,
      .first_key = chunk.tile * kKeyTile,
      .visible = p_.visible(chunk.sequence),
      .softcap = options_.softcap,
      .alibi_slopes = p_.alibi_slopes.at(chunk.sequence, h),
      .alibi_stride = static_cast<std::ptrdiff_t>(p_.alibi_slopes.head),
      .state = states_[g * chunk_count + piece / p_.G],
      .scratch = scratch,
  });
}

void Decode::merge(std::size_t n, std::int64_t g, float* output, float* lse) const noexcept {
  const std::int64_t b = p_.batch_of(n);
  const std::int64_t h = g * group();
  const auto chunk_count = static_cast<std::int64_t>(chunks_.size());
  runtime_.kernels().attention.merge_states({
      .parts = states_ + g * chunk_count + static_cast<std::int64_t>(starts_[n]),
      .part_count = static_cast<std::int64_t>(starts_[n + 1] - starts_[n]),
      .heads = group(),
      .queries = static_cast<int>(p_.L),
      .value_size = p_.Dv,
      .visible = p_.visible(n),
      .sinks = p_.sinks.at(n, h),
      .sink_stride = static_cast<std::ptrdiff_t>(p_.sinks.head),
      .output = p_.output_layout.at(output, b, h, 0),
      .output_head_stride = static_cast<std::ptrdiff_t>(p_.output_layout.head),
      .output_stride = static_cast<std::ptrdiff_t>(p_.output_layout.row),
      .lse = lse ? p_.row_layout.at(lse, b, h, 0) : nullptr,
      .lse_head_stride = static_cast<std::ptrdiff_t>(p_.row_layout.head),
      .lse_stride = static_cast<std::ptrdiff_t>(p_.row_layout.row),
  });
}

}  // namespace heed::ops
