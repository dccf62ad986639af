#pragma once

// What attention and its backward pass share where they go tile by tile.

#include <span>

#include "ops/attention_problem.hpp"

namespace heed::ops {

/// A tile of queries of one sequence; the unit of work is one of them for one head.
struct QueryTile {
  std::size_t sequence;
  std::int64_t first;
};

/// Under a causal mask a sequence's last tile has the most work: it comes first.
std::span<const QueryTile> query_tiles(const AttentionProblem& p, Arena::Scope& scratch);

/// Past rows followed by those that came with the call: [B, G, P + new, size].
Tensor append(const TensorView& past, const TensorView& fresh, const Layout& layout,
              std::int64_t new_rows);

/// Scores of all heads: so many multiplications and additions with keys, and as many with values.
double operations(const AttentionProblem& p);

/// What a tile of queries says about its scores; where its numbers are is left open.
kernels::AttentionTile tile_of_scores(const AttentionProblem& p, const AttentionOptions& options,
                                      const QueryTile& tile, std::int64_t h);

inline float* data_or_null(std::optional<Tensor>& tensor) {
  return tensor ? tensor->data().data() : nullptr;
}

inline const float* data_or_null(const std::optional<TensorView>& tensor) {
  return tensor ? tensor->data<float>().data() : nullptr;
}

}  // namespace heed::ops
