#include "heed/layers.hpp"
#include "ops/parallel_for.hpp"
#include "ops/product/product.hpp"

namespace heed {
namespace {

/// Operations for each number; the exponential needs most of them.
constexpr double kActivationOperations = 20.0;

/// Calls part(kernels, first, count) for ranges of x's numbers.
template <class Part>
void for_numbers(Context& context, const TensorView& x, const Part& part) {
  Context::Runtime& runtime = context.runtime();
  ops::parallel_for(
      runtime, x.shape().elements(), ops::kPieceNumbers, kActivationOperations,
      [&](std::int64_t first, std::int64_t count) { part(runtime.kernels(), first, count); });
}

}  // namespace

Tensor activate(Context& context, const TensorView& x, Activation activation) {
  ops::require_dtype("x", x, DType::kFloat32);
  Tensor y(x.shape());
  const float* const from = x.data<float>().data();
  float* const to = y.data().data();
  for_numbers(context, x, [&](const auto& kernels, std::int64_t first, std::int64_t count) {
    kernels.layers.activate(ops::for_kernel(activation), from + first, count, to + first);
  });
  return y;
}

Tensor activate_backward(Context& context, const TensorView& d_output, const TensorView& x,
                         Activation activation) {
  ops::require_dtype("x", x, DType::kFloat32);
  ops::require_floats("d_output", d_output, x.shape());
  Tensor d_x(x.shape());
  const float* const from = x.data<float>().data();
  const float* const d_y = d_output.data<float>().data();
  float* const to = d_x.data().data();
  for_numbers(context, x, [&](const auto& kernels, std::int64_t first, std::int64_t count) {
    kernels.layers.activate_backward(ops::for_kernel(activation), from + first, d_y + first, count,
                                     to + first);
  });
  return d_x;
}

Tensor swiglu(Context& context, const TensorView& gate, const TensorView& up) {
  ops::require_dtype("gate", gate, DType::kFloat32);
  ops::require_floats("up", up, gate.shape());
  Tensor y(gate.shape());
  const float* const g = gate.data<float>().data();
  const float* const u = up.data<float>().data();
  float* const to = y.data().data();
  for_numbers(context, gate, [&](const auto& kernels, std::int64_t first, std::int64_t count) {
    kernels.layers.swiglu(g + first, u + first, count, to + first);
  });
  return y;
}

SwigluGradients swiglu_backward(Context& context, const TensorView& d_output,
                                const TensorView& gate, const TensorView& up) {
  ops::require_dtype("gate", gate, DType::kFloat32);
  ops::require_floats("up", up, gate.shape());
  ops::require_floats("d_output", d_output, gate.shape());
  SwigluGradients gradients{Tensor(gate.shape()), Tensor(gate.shape())};
  const float* const d_y = d_output.data<float>().data();
  const float* const g = gate.data<float>().data();
  const float* const u = up.data<float>().data();
  float* const d_gate = gradients.gate.data().data();
  float* const d_up = gradients.up.data().data();
  for_numbers(context, gate, [&](const auto& kernels, std::int64_t first, std::int64_t count) {
    kernels.layers.swiglu_backward(d_y + first, g + first, u + first, count, d_gate + first,
                                   d_up + first);
  });
  return gradients;
}

}  // namespace heed
