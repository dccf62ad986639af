#include "heed/optim.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/elementary.hpp"
#include "ops/parallel_for.hpp"
#include "ops/validate.hpp"

namespace heed {
namespace {

float* read_state(const char* argument, Tensor& state, const Tensor& parameter) {
  ops::require_floats(argument, state, parameter.shape());
  return state.data().data();
}

void require_from_zero(const char* argument, double number, double below) {
  if (number >= 0.0 && number < below) return;
  ops::refuse<OptionError>(argument,
                           std::isfinite(below) ? MessagePart("a number from 0 to below ", below)
                                                : MessagePart("a finite number from 0 on"),
                           number);
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

void sgd_step(Context& context, Tensor& parameter, const TensorView& gradient, Tensor* buffer,
              bool is_first, const SgdOptions& options) {
  ops::require_dtype("parameter", parameter, DType::kFloat32);
  ops::require_floats("gradient", gradient, parameter.shape());
  require_from_zero("learning_rate", options.learning_rate, kInfinity);
  require_from_zero("momentum", options.momentum, kInfinity);
  require_from_zero("weight_decay", options.weight_decay, kInfinity);
  if (!std::isfinite(options.dampening))
    ops::refuse<OptionError>("dampening", "a finite number", options.dampening);
  const bool has_momentum = options.momentum > 0.0;
  if (options.nesterov && (!has_momentum || options.dampening != 0.0))
    ops::refuse<OptionError>(
        "nesterov", "a momentum and no dampening",
        has_momentum ? MessagePart("dampening ", options.dampening) : MessagePart("momentum 0"));
  if (has_momentum && !buffer)
    ops::refuse<OptionError>("buffer", "an array for the momentum", "nothing");

  const kernels::SgdStep step{
      .parameter = parameter.data().data(),
      .gradient = gradient.data<float>().data(),
      .buffer = has_momentum ? read_state("buffer", *buffer, parameter) : nullptr,
      .learning_rate = static_cast<float>(options.learning_rate),
      .momentum = static_cast<float>(options.momentum),
      .share = static_cast<float>(1.0 - options.dampening),
      .weight_decay = static_cast<float>(options.weight_decay),
      .is_first = is_first,
      .nesterov = options.nesterov,
  };
  Context::Runtime& runtime = context.runtime();
  const ThreadPool::Finishing finishing(runtime.pool());
  constexpr double kOperations = 8.0;
  ops::parallel_for(runtime, parameter.shape().elements(), ops::kPieceNumbers, kOperations,
                    [&](std::int64_t first, std::int64_t count) {
                      runtime.kernels().training.sgd_step(step, first, first + count);
                    });
}

void adam_step(Context& context, Tensor& parameter, const TensorView& gradient, Tensor& average,
               Tensor& average_of_squares, std::int64_t step, const AdamOptions& options) {
  ops::require_dtype("parameter", parameter, DType::kFloat32);
  ops::require_floats("gradient", gradient, parameter.shape());
  float* const first = read_state("average", average, parameter);
  float* const second = read_state("average_of_squares", average_of_squares, parameter);
  if (step < 1) ops::refuse<OptionError>("step", "a number from 1 on", step);
  require_from_zero("learning_rate", options.learning_rate, kInfinity);
  require_from_zero("beta1", options.beta1, 1.0);
  require_from_zero("beta2", options.beta2, 1.0);
  require_from_zero("eps", options.eps, kInfinity);
  require_from_zero("weight_decay", options.weight_decay, kInfinity);

  const auto number = static_cast<double>(step);
  const double share = options.learning_rate * options.weight_decay;
  const kernels::AdamStep values{
      .parameter = parameter.data().data(),
      .gradient = gradient.data<float>().data(),
      .average = first,
      .average_of_squares = second,
      .share1 = static_cast<float>(1.0 - options.beta1),
      .beta2 = static_cast<float>(options.beta2),
      .share2 = static_cast<float>(1.0 - options.beta2),
      .step_size =
          static_cast<float>(options.learning_rate / (1.0 - kernels::power(options.beta1, number))),
      .inverse_deviation =
          static_cast<float>(1.0 / std::sqrt(1.0 - kernels::power(options.beta2, number))),
      .eps = static_cast<float>(options.eps),
      .weight_decay = options.is_decoupled ? 0.0f : static_cast<float>(options.weight_decay),
      .shrink = options.is_decoupled ? static_cast<float>(1.0 - share) : 1.0f,
  };
  Context::Runtime& runtime = context.runtime();
  const ThreadPool::Finishing finishing(runtime.pool());
  constexpr double kOperations = 40.0;  // a square root and a division among them
  ops::parallel_for(runtime, parameter.shape().elements(), ops::kPieceNumbers, kOperations,
                    [&](std::int64_t begin, std::int64_t count) {
                      runtime.kernels().training.adam_step(values, begin, begin + count);
                    });
}

double clip_gradients(Context& context, std::span<Tensor* const> gradients, double max_norm) {
  for (const Tensor* gradient : gradients)
    ops::require_dtype("gradients", *gradient, DType::kFloat32);
  if (!(max_norm >= 0.0)) ops::refuse<OptionError>("max_norm", "a number from 0 on", max_norm);
  Context::Runtime& runtime = context.runtime();
  double sum = 0.0;
  for (const Tensor* gradient : gradients) {
    const float* const x = gradient->data().data();
    const std::int64_t count = gradient->shape().elements();
    // Sums of ranges are added in their order, independent of the threads that computed them.
    const std::int64_t stretches = ops::divide_up(count, ops::kPieceNumbers);
    Arena::Scope scratch(runtime.arena());
    double* const parts = scratch.take<double>(stretches);
    ops::parallel_for(runtime, count, ops::kPieceNumbers, 2.0,
                      [&](std::int64_t first, std::int64_t size) {
                        parts[first / ops::kPieceNumbers] =
                            runtime.kernels().training.sum_of_squares(x + first, size);
                      });
    for (std::int64_t i = 0; i < stretches; ++i) sum += parts[i];
  }
  const double norm = std::sqrt(sum);
  // torch's constant, which avoids a division by zero.
  const double factor = max_norm / (norm + 1e-6);
  if (!std::isfinite(norm) || !(factor < 1.0)) return norm;
  const ThreadPool::Finishing finishing(runtime.pool());
  for (Tensor* gradient : gradients) {
    float* const x = gradient->data().data();
    ops::parallel_for(runtime, gradient->shape().elements(), ops::kPieceNumbers, 1.0,
                      [&](std::int64_t first, std::int64_t count) {
                        for (std::int64_t i = first; i < first + count; ++i)
                          x[i] *= static_cast<float>(factor);
                      });
  }
  return norm;
}

}  // namespace heed
