#pragma once

// What attention and its backward pass share where they go tile by tile.

#include <span>

#include "ops/attention/attention_problem.hpp"

namespace heed::ops {

/// A tile of queries of one sequence; the unit of work is one of them for one head.
struct QueryTile {
  std::size_t sequence;
  std::int64_t first;
};

/// Under a causal mask a sequence's last tile has the most work: it comes first.
std::span<const QueryTile> query_tiles(const AttentionProblem& p, Arena::Scope& scratch);

/// Where keys and values stand.
struct KeyValueRows {
  const float* keys;
  const float* values;
};

/// With a past: keeps it and what came with the call together in `keys` and `values`, [B, G, S, D]
/// and [B, G, S, Dv], and lets p say how they lie there.
KeyValueRows join_past(AttentionProblem& p, const AttentionOptions& options, const TensorView& k,
                       const TensorView& v, std::optional<Tensor>& keys,
                       std::optional<Tensor>& values);

/// Floating-point operations of the two products.
double operations(const AttentionProblem& p);

/// What a tile of queries says about its scores; where its numbers are is left open.
kernels::AttentionTile tile_of_scores(const AttentionProblem& p, const AttentionOptions& options,
                                      const QueryTile& tile, std::int64_t h);

/// Of AttentionResult::statistics: the maxima of all rows, and then their sums.
inline Shape statistics_shape(const AttentionProblem& p) {
  return p.is_packed ? Shape{2, p.H, p.L} : Shape{2, p.B, p.H, p.L};
}

inline float* data_or_null(std::optional<Tensor>& tensor) {
  return tensor ? tensor->data().data() : nullptr;
}

inline const float* data_or_null(const std::optional<TensorView>& tensor) {
  return tensor ? tensor->data<float>().data() : nullptr;
}

}  // namespace heed::ops
