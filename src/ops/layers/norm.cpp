#include <cmath>
#include <string>

#include "heed/layers.hpp"
#include "ops/arrays/sums.hpp"
#include "ops/parallel_for.hpp"
#include "ops/validate.hpp"

namespace heed {
namespace {

/// Operations for each number, forward and backward.
constexpr double kNormOperations = 10.0;
constexpr double kNormBackwardOperations = 25.0;
/// The number of rows whose gradients of the parameters are summed in float.
constexpr std::int64_t kRows = 64;

/// The checked arguments of either norm.
struct Norm {
  bool is_centred;
  float eps;
  Shape normalised;  // the shape of the parameters
  std::int64_t rows;
  std::int64_t size;
  // The parameters, or ones and zeros instead.
  Tensor ones, zeros;
  const float* weight;
  const float* bias;

  Norm(const TensorView& x, bool centred, int axes, float epsilon,
       const std::optional<TensorView>& weights, const std::optional<TensorView>& biases)
      : is_centred(centred), eps(epsilon) {
    ops::require_dtype("x", x, DType::kFloat32);
    const int rank = x.shape().rank();
    if (axes < 1 || axes > rank)
      ops::refuse<OptionError>("axes", {"a number from 1 to the rank of x ", x.shape()}, axes);
    if (!(eps >= 0.0f) || std::isinf(eps))
      ops::refuse<OptionError>("eps", "a number that is not negative", eps);
    normalised = Shape(x.shape().sizes().last(static_cast<std::size_t>(axes)));
    if (weights) ops::require_floats("weight", *weights, normalised);
    if (biases) ops::require_floats("bias", *biases, normalised);
    size = normalised.elements();
    rows = size == 0 ? 0 : x.shape().elements() / size;
    weight = weights ? weights->data<float>().data() : filled(ones, 1.0f);
    bias = biases ? biases->data<float>().data() : filled(zeros, 0.0f);
  }

  /// The array used if a parameter is not given. It is empty without rows, because the size of a
  /// row is then not limited.
  const float* filled(Tensor& tensor, float value) const {
    tensor = Tensor(rows > 0 ? normalised : Shape{0});
    std::ranges::fill(tensor.data(), value);
    return tensor.data().data();
  }

  kernels::NormTile tile(const float* x, std::int64_t row, std::int64_t count) const {
    return {x + row * size, count, size, is_centred, eps, weight, bias};
  }
};

Tensor normalise(Context& context, const TensorView& x, const Norm& norm) {
  Tensor y(x.shape());
  const float* const from = x.data<float>().data();
  float* const to = y.data().data();
  Context::Runtime& runtime = context.runtime();
  ops::parallel_for(
      runtime, norm.rows, ops::piece_rows(norm.size),
      kNormOperations * static_cast<double>(norm.size), [&](std::int64_t row, std::int64_t count) {
        runtime.kernels().layers.norm(norm.tile(from, row, count), to + row * norm.size);
      });
  return y;
}

NormGradients normalise_backward(Context& context, const TensorView& d_output, const TensorView& x,
                                 const Norm& norm, bool has_weight, bool has_bias) {
  ops::require_floats("d_output", d_output, x.shape());
  NormGradients gradients{Tensor(x.shape()), {}, {}};
  if (has_weight) gradients.weight = Tensor(norm.normalised);
  if (has_bias) gradients.bias = Tensor(norm.normalised);
  const float* const d_y = d_output.data<float>().data();
  const float* const from = x.data<float>().data();
  float* const d_x = gradients.x.data().data();
  const std::int64_t pieces = ops::divide_up(norm.rows, kRows);
  // The gradients of the parameters from each piece: first of the weight, then of the bias.
  Tensor parts(Shape{2, pieces, norm.size});
  float* const d_weights = parts.data().data();
  float* const d_biases = d_weights + pieces * norm.size;
  Context::Runtime& runtime = context.runtime();
  ops::parallel_for(
      runtime, norm.rows, kRows, kNormBackwardOperations * static_cast<double>(norm.size),
      [&](std::int64_t row, std::int64_t count) {
        runtime.kernels().layers.norm_backward(norm.tile(from, row, count),
                                               {.d_y = d_y + row * norm.size,
                                                .d_x = d_x + row * norm.size,
                                                .d_weight = d_weights + row / kRows * norm.size,
                                                .d_bias = d_biases + row / kRows * norm.size});
      });
  if (gradients.weight)
    ops::sum_rows(runtime, d_weights, 1, pieces, norm.size, gradients.weight->data().data());
  if (gradients.bias)
    ops::sum_rows(runtime, d_biases, 1, pieces, norm.size, gradients.bias->data().data());
  return gradients;
}

Norm checked(const TensorView& x, const LayerNormOptions& o) {
  return {x, true, o.axes, o.eps, o.weight, o.bias};
}

Norm checked(const TensorView& x, const RmsNormOptions& o) {
  return {x, false, o.axes, o.eps, o.weight, {}};
}

}  // namespace

Tensor layer_norm(Context& context, const TensorView& x, const LayerNormOptions& options) {
  return normalise(context, x, checked(x, options));
}

NormGradients layer_norm_backward(Context& context, const TensorView& d_output, const TensorView& x,
                                  const LayerNormOptions& options) {
  return normalise_backward(context, d_output, x, checked(x, options), options.weight.has_value(),
                            options.bias.has_value());
}

Tensor rms_norm(Context& context, const TensorView& x, const RmsNormOptions& options) {
  return normalise(context, x, checked(x, options));
}

NormGradients rms_norm_backward(Context& context, const TensorView& d_output, const TensorView& x,
                                const RmsNormOptions& options) {
  return normalise_backward(context, d_output, x, checked(x, options), options.weight.has_value(),
                            false);
}

}  // namespace heed
