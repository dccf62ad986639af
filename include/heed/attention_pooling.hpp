#pragma once

// Attention pooling without learned queries and keys, or with additive scores: averages,
// dot-product similarity, kernel regression, means over the pixels of an image, and additive
// attention.

#include <cstdint>
#include <optional>

#include "heed/context.hpp"
#include "heed/tensor.hpp"

namespace heed {

/// Options of average.
struct AverageOptions {
  /// Position i averages the positions j <= i only.
  bool is_causal = false;
  /// bool [B, L], true where a position counts.
  std::optional<TensorView> key_mask;
};

/// The mean over the visible positions: attention whose scores are all equal.
/// x [B, L, E] -> [B, L, E]; zeros where no position is visible. Throws ShapeError, DTypeError.
Tensor average(Context& context, const TensorView& x, const AverageOptions& options = {});

/// The results of self_similarity.
struct SelfSimilarityResult {
  Tensor output;   ///< [B, L, E]
  Tensor weights;  ///< [B, L, L]
};

/// softmax(X X^T) X: dot-product attention with no parameters and no scale.
/// x [B, L, E]. Throws ShapeError, DTypeError.
SelfSimilarityResult self_similarity(Context& context, const TensorView& x);

/// d_output [B, L, E] -> [B, L, E]. Throws as average.
Tensor average_backward(Context& context, const TensorView& d_output,
                        const AverageOptions& options = {});

/// The results of additive_attention.
struct AdditiveAttentionResult {
  Tensor output;   ///< [B, L, Dv]
  Tensor weights;  ///< [B, L, S]
};

/// Attention with the scores w . tanh(q_i + k_j), without a scale (Bahdanau et al., 2015). Queries
/// and keys must already be projected to A numbers, a bias included. If the projections are the
/// halves of one matrix W, this is Luong's "concat" (2015). The shapes are q [B, L, A],
/// k [B, S, A], v [B, S, Dv], weight [A] and key_mask bool [B, S], true where a key is visible.
/// Zeros where no key is visible. Throws ShapeError, DTypeError, MemoryError.
AdditiveAttentionResult additive_attention(Context& context, const TensorView& q,
                                           const TensorView& k, const TensorView& v,
                                           const TensorView& weight,
                                           const std::optional<TensorView>& key_mask = {});

/// The gradients of additive_attention, each in the shape of its argument.
struct AdditiveAttentionGradients {
  Tensor q;
  Tensor k;
  Tensor v;
  Tensor weight;
};

/// `weights` must be the result of additive_attention; d_weights may be missing.
AdditiveAttentionGradients additive_attention_backward(Context& context, const TensorView& d_output,
                                                       const std::optional<TensorView>& d_weights,
                                                       const TensorView& q, const TensorView& k,
                                                       const TensorView& v,
                                                       const TensorView& weight,
                                                       const TensorView& weights);

/// The results of kernel_regression.
struct KernelRegressionResult {
  Tensor output;   ///< [Q, M]
  Tensor weights;  ///< [Q, N]
};

/// The Nadaraya-Watson estimate (1964): the mean of y_train, weighted by
/// softmax_j(-|x_query_i - x_train_j|^2 / (2 bandwidth^2)). x_query [Q] or [Q, F], x_train [N] or
/// [N, F], y_train [N, M], bandwidth [1]. Where every kernel underflows the nearest point wins.
/// Throws ShapeError, DTypeError, OptionError for a bandwidth that is not positive.
KernelRegressionResult kernel_regression(Context& context, const TensorView& x_query,
                                         const TensorView& x_train, const TensorView& y_train,
                                         const TensorView& bandwidth);

/// The gradients of kernel_regression, each in the shape of its argument.
struct KernelRegressionGradients {
  Tensor x_query;
  Tensor x_train;
  Tensor y_train;
  Tensor bandwidth;
};

/// d_output [Q, M]. Throws as kernel_regression.
KernelRegressionGradients kernel_regression_backward(Context& context, const TensorView& d_output,
                                                     const TensorView& x_query,
                                                     const TensorView& x_train,
                                                     const TensorView& y_train,
                                                     const TensorView& bandwidth,
                                                     const TensorView& weights);

/// The pixels outside an image.
enum class Border {
  kReflect,  ///< mirrored, the edge pixel not repeated: c b | a b c
  kZero,
};

/// The mean over the square of 2 radius + 1 pixels a side, cut at the image's edge.
/// image [H, W] -> [H, W]. Throws ShapeError, DTypeError, OptionError.
Tensor local_mean(Context& context, const TensorView& image, std::int64_t radius);

/// Options of non_local_means.
struct NonLocalMeansOptions {
  /// Patches have 2 patch_radius + 1 pixels a side, search windows 2 search_radius + 1.
  std::int64_t patch_radius = 3;
  std::int64_t search_radius = 10;
  /// Filter strength, in the units of the image: a distance greater by h^2 divides the weight by e.
  float h = 0.1f;
  /// Standard deviation of the noise: 2 sigma^2 is subtracted from the distances.
  float sigma = 0.0f;
  /// The pixels that patches read outside the image; the search window ends at its edge.
  Border border = Border::kReflect;
};

/// The results of non_local_means.
struct NonLocalMeansResult {
  Tensor output;  ///< [H, W]
  /// [H, W] the sum of each pixel's weights before they are divided by it
  Tensor weight_sum;
};

/// Each pixel becomes a mean of the pixels around it, weighted by the similarity of their patches
/// (Buades et al., "A non-local algorithm for image denoising", 2005):
///   w_ij = exp(-max(d_ij - 2 sigma^2, 0) / h^2), d the mean squared difference of two patches.
/// The search window is cut at the image's edge. image [H, W]. Throws ShapeError, DTypeError,
/// OptionError, MemoryError.
NonLocalMeansResult non_local_means(Context& context, const TensorView& image,
                                    const NonLocalMeansOptions& options = {});

/// The weights of the mean for one pixel, divided by their sum: [H, W], zero outside its search
/// window.
Tensor non_local_means_weights(Context& context, const TensorView& image, std::int64_t row,
                               std::int64_t column, const NonLocalMeansOptions& options = {});

}  // namespace heed
