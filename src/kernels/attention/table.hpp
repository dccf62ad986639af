#pragma once

// The list of the attention kernels. The headers of their arguments include no vectors.

#include <cstdint>

#include "kernels/attention/additive_tile.hpp"
#include "kernels/attention/average.hpp"
#include "kernels/attention/cache_tiles.hpp"
#include "kernels/attention/kernel_regression.hpp"
#include "kernels/attention/linear_attention.hpp"
#include "kernels/attention/tiles.hpp"

namespace heed::kernels {

/// The attention kernels of one instruction set.
struct AttentionKernels {
  std::int64_t (*forward_scratch)(std::int64_t head_size, std::int64_t value_size) noexcept;
  void (*forward)(const AttentionTile& tile) noexcept;
  std::int64_t (*backward_scratch)(std::int64_t head_size) noexcept;
  void (*pack_backward)(const AttentionTile& tile, const BackwardInputs& inputs,
                        BackwardQueries& queries) noexcept;
  void (*backward)(const BackwardTile& tile) noexcept;
  void (*store_gradient)(const GradientRows& rows) noexcept;
  /// Returns whether the stored row is finite.
  bool (*store_cache_row)(const CacheRow& row) noexcept;
  void (*widen_cache_panels)(const CachePanels& panels) noexcept;
  std::int64_t (*decode_scratch)(std::int64_t head_size) noexcept;
  void (*decode)(const DecodeChunk& chunk) noexcept;
  void (*merge_states)(const DecodeMerge& merge) noexcept;
  void (*merge_outputs)(const OutputMerge& merge) noexcept;
  void (*average)(const AverageRows& rows) noexcept;
  void (*average_backward)(const AverageRows& rows) noexcept;
  /// For one query; scratch [points + values].
  void (*kernel_regression)(const Regression& regression, std::int64_t query, double* scratch,
                            float* weights, float* output) noexcept;
  void (*kernel_regression_backward)(const Regression& regression,
                                     const RegressionGradients& gradients) noexcept;
  void (*linear_attention)(const LinearAttentionHead& head) noexcept;
  /// `allowed` [keys] is true where a key is visible; null if all are visible.
  void (*additive_attention)(const AdditiveTile& tile, const bool* allowed, float* weights,
                             float* output) noexcept;
  void (*additive_attention_backward)(const AdditiveTile& tile,
                                      const AdditiveGradients& gradients) noexcept;
};

}  // namespace heed::kernels
