#pragma once

// What the kernels of training take, and the list of them.

#include <cstdint>

namespace heed::kernels {

/// A step of stochastic gradient descent.
struct SgdStep {
  float* parameter;
  const float* gradient;
  float* buffer;  // or null
  float learning_rate;
  float momentum;
  float share;  // of the gradient in the buffer
  float weight_decay;
  bool is_first;
  bool nesterov;
};

/// A step of Adam: torch's equations with what does not depend on the number taken together.
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
  float weight_decay;  // into the gradient
  float shrink;        // of the parameter, before all else
};

/// The kernels of training of one instruction set.
struct TrainingKernels {
  // Over the numbers [begin, end).
  void (*sgd_step)(const SgdStep& step, std::int64_t begin, std::int64_t end) noexcept;
  void (*adam_step)(const AdamStep& step, std::int64_t begin, std::int64_t end) noexcept;
  double (*sum_of_squares)(const float* x, std::int64_t count) noexcept;
};

}  // namespace heed::kernels
