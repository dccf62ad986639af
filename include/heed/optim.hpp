#pragma once

// Steps of optimisers. They change parameters and the optimiser's own arrays in place; all arrays
// of a call have the parameter's shape.

#include <cstdint>
#include <span>

#include "heed/context.hpp"
#include "heed/tensor.hpp"

namespace heed {

/// Options of sgd_step.
struct SgdOptions {
  double learning_rate = 1e-2;
  double momentum = 0.0;
  /// The gradient's factor in the momentum is 1 - dampening.
  double dampening = 0.0;
  bool nesterov = false;
  double weight_decay = 0.0;
};

/// As torch.optim.SGD: g += weight_decay p; buffer = momentum buffer + (1 - dampening) g, or g in
/// the first step; p -= learning_rate (nesterov ? g + momentum buffer : buffer). Without momentum
/// the buffer is null and g takes its place. Throws ShapeError, DTypeError, OptionError.
void sgd_step(Context& context, Tensor& parameter, const TensorView& gradient, Tensor* buffer,
              bool is_first, const SgdOptions& options);

/// Options of adam_step.
struct AdamOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  /// A double, like the others, because 1 - beta2 would lose digits in float.
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0.0;
  /// AdamW: the decay is subtracted from the parameter and not added to the gradient (Loshchilov
  /// and Hutter, 2019).
  bool is_decoupled = false;
};

/// Step number `step`, from 1 (Kingma and Ba, "Adam", 2015), as torch.optim.Adam and AdamW compute
/// it. The averages begin as zeros. Throws ShapeError, DTypeError, OptionError.
void adam_step(Context& context, Tensor& parameter, const TensorView& gradient, Tensor& average,
               Tensor& average_of_squares, std::int64_t step, const AdamOptions& options);

/// Scales all gradients by min(1, max_norm / (norm + 1e-6)) and returns norm, the 2-norm of all of
/// them together (Pascanu et al., 2013). If norm is not finite, the gradients are not changed.
/// Throws DTypeError, OptionError.
double clip_gradients(Context& context, std::span<Tensor* const> gradients, double max_norm);

}  // namespace heed
