#pragma once

// Tiles of queries and keys, for attention and its backward pass.

#include <span>

#include "ops/attention/attention_problem.hpp"

namespace heed::ops {

/// A tile of queries of one sequence; the unit of work is one of them for one head.
struct QueryTile {
  std::size_t sequence;
  std::int64_t first;
};

/// All tiles of queries. The tiles of a sequence are in descending order, because the last one has
/// the most work under a causal mask.
std::span<const QueryTile> query_tiles(const AttentionProblem& p, Arena::Scope& scratch);

/// The addresses of keys and values.
struct KeyValueRows {
  const float* keys;
  const float* values;
};

/// The keys and values of the call. With a past, `keys` [B, G, S, D] and `values` [B, G, S, Dv]
/// become the past followed by the new rows, and the layouts in p are set to these arrays.
KeyValueRows join_past(AttentionProblem& p, const AttentionOptions& options, const TensorView& k,
                       const TensorView& v, std::optional<Tensor>& keys,
                       std::optional<Tensor>& values);

/// Floating-point operations of the two products.
double operations(const AttentionProblem& p);

/// The arguments of a tile of queries that determine its scores, without the addresses of arrays.
kernels::AttentionTile tile_of_scores(const AttentionProblem& p, const AttentionOptions& options,
                                      const QueryTile& tile, std::int64_t h);

/// The shape of AttentionResult::statistics: the maxima of all rows, and their sums.
inline Shape statistics_shape(const AttentionProblem& p) {
  return p.is_packed ? Shape{2, p.H, p.L} : Shape{2, p.B, p.H, p.L};
}

}  // namespace heed::ops
