#pragma once

// The arguments of the kernels of training, and the list of these kernels.

#include <cstdint>

#include "kernels/layers/table.hpp"

namespace heed::kernels {

/// A step of stochastic gradient descent.
struct SgdStep {
  float* parameter;
  const float* gradient;
  float* buffer;  // or null
  float learning_rate;
  float momentum;
  float share;  // factor of the gradient in the buffer
  float weight_decay;
  bool is_first;
  bool nesterov;
};

/// A step of Adam: torch's equations with the terms that all numbers share computed beforehand.
struct AdamStep {
  float* parameter;
  const float* gradient;
  float* average;
  float* average_of_squares;
  float share1;  // 1 - beta1
  float beta2;
  float share2;             // 1 - beta2
  float step_size;          // learning rate / (1 - beta1^t)
  float inverse_deviation;  // 1 / sqrt(1 - beta2^t)
  float eps;
  float weight_decay;  // added to the gradient
  float shrink;        // factor of the parameter, applied first
};

/// Rows of logits with their targets.
struct LossRows {
  const float* logits;          // [rows, classes]
  const std::int32_t* targets;  // [rows]
  std::int64_t rows;
  std::int64_t classes;
  const std::int32_t* ignored;  // the target of rows that do not count, or null
  double smoothing;

  bool is_ignored(std::int64_t row) const noexcept { return ignored && targets[row] == *ignored; }
};

/// The kernels of training of one instruction set.
struct TrainingKernels {
  /// Writes the losses [rows], unless that is null, and returns their sum.
  double (*cross_entropy)(const LossRows& rows, const RowSums* sums, float* losses) noexcept;
  /// For the rows [begin, end), where d_logits holds their softmax; with `repeats` all rows have
  /// the same factor.
  void (*cross_entropy_backward)(const LossRows& rows, std::int64_t begin, std::int64_t end,
                                 const float* factors, bool repeats, float* d_logits) noexcept;
  // Over the numbers [begin, end).
  void (*sgd_step)(const SgdStep& step, std::int64_t begin, std::int64_t end) noexcept;
  void (*adam_step)(const AdamStep& step, std::int64_t begin, std::int64_t end) noexcept;
  double (*sum_of_squares)(const float* x, std::int64_t count) noexcept;
};

}  // namespace heed::kernels
