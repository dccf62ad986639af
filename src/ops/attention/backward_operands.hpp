#pragma once

// The operands of the backward pass of attention, packed once for all its tiles.

#include <span>

#include "ops/attention/attention_tiles.hpp"
#include "ops/validate.hpp"

namespace heed::ops {

/// The results of attention, and their gradients.
struct AttentionOutputs {
  const float* output;
  const float* maxima;
  const float* sums;
  const float* d_output;
  const float* d_lse;  // or null
};

/// Makes the gradients of all arguments that need one.
AttentionGradients allocate(const TensorView& q, const TensorView& k, const TensorView& v,
                            const AttentionOptions& options,
                            const AttentionGradientOptions& needed);

/// Fills all gradients with zeros.
void clear(AttentionGradients& gradients);

/// Tiles of queries are numbered sequence by sequence, separately for each head; tiles of keys are
/// numbered within their sequence.
///
/// If `regions` is not 0, memory holds only this number of key/value heads, with their query heads,
/// at a time. Packing a head into a region overwrites the previous one. The operands of many small
/// heads then stay in the second-level cache.
class BackwardOperands {
 public:
  BackwardOperands(const AttentionProblem& p, const AttentionOptions& options,
                   const kernels::KernelTable& kernels, std::int64_t regions,
                   Arena::Scope& scratch);

  /// The number of query tiles of one head.
  std::int64_t query_tiles() const noexcept { return std::ssize(tiles_); }
  std::int64_t first_query_tile(std::size_t sequence) const noexcept {
    return query_starts_[sequence];
  }
  std::int64_t key_tiles(std::size_t sequence) const noexcept {
    return key_starts_[sequence + 1] - key_starts_[sequence];
  }
  /// The number of key tiles of all sequences, for one head: the pieces of work for pack_keys.
  std::int64_t all_key_tiles() const noexcept { return key_starts_[p_.sequences.size()]; }

  const QueryTile& tile(std::int64_t t) const noexcept {
    return tiles_[static_cast<std::size_t>(t)];
  }
  /// The number of queries of tile t, and the capacity of a tile.
  std::int64_t count(std::int64_t t) const noexcept;
  std::int64_t query_depth() const noexcept { return query_depth_; }
  /// Slot of a query tile, in [0, query_slots()). `region` is ignored if there are no regions.
  std::int64_t query_slot(std::int64_t h, std::int64_t t, std::int64_t region) const noexcept;
  std::int64_t query_slots() const noexcept { return query_slots_; }

  void pack_queries(std::int64_t h, std::int64_t t, std::int64_t region, const float* q,
                    const AttentionOutputs& outputs) noexcept;
  /// Packs one tile of all heads; `tile` counts the tiles of all sequences.
  void pack_keys(std::int64_t tile, const float* k, const float* v) noexcept;
  /// Packs one tile of one head.
  void pack_keys(std::size_t sequence, std::int64_t g, std::int64_t tile, std::int64_t region,
                 const float* k, const float* v) noexcept;

  const kernels::BackwardQueries& queries(std::int64_t h, std::int64_t t) const noexcept {
    return queries_[h * query_tiles() + t];
  }

  /// The arguments of a pair of tiles, without its gradients and its scratch memory.
  kernels::BackwardTile pair(std::int64_t h, std::int64_t t, std::int64_t key_tile) const noexcept;

 private:
  std::int64_t key_slot(std::size_t sequence, std::int64_t g) const noexcept {
    return key_starts_[sequence] * p_.G + g * key_tiles(sequence);
  }

  const AttentionProblem& p_;
  const AttentionOptions& options_;
  const kernels::KernelTable& kernels_;
  std::span<const QueryTile> tiles_;
  std::int64_t query_depth_, key_depth_;  // capacities of tiles, which are smaller for short inputs
  std::int64_t regions_;
  std::int64_t max_query_tiles_ = 0, max_key_tiles_ = 0;  // of a sequence
  std::int64_t query_slots_;
  std::int64_t* query_starts_;         // the first tile of each sequence
  std::int64_t* key_starts_;           // the same, counted for one head
  kernels::BackwardQueries* queries_;  // [H, query tiles]
  // Sequence by sequence, then head by head; values are packed by rows, like keys.
  kernels::KeyValueTile* keys_;
  const float** columns_;  // the same keys by columns
  // The memory that queries_, keys_ and columns_ point to, slot by slot.
  std::int64_t q_size_, d_output_size_, q_columns_size_, d_output_columns_size_;
  float* q_;
  float* d_output_;
  float* q_columns_;
  float* d_output_columns_;
  float* key_rows_;     // [.., key_depth_, D]
  float* value_rows_;   // [.., key_depth_, Dv]
  float* key_columns_;  // [.., key_columns_size_]
  std::int64_t key_columns_size_;
};

}  // namespace heed::ops
