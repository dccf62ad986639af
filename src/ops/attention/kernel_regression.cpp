#include <algorithm>

#include "heed/attention_pooling.hpp"
#include "ops/validate.hpp"
#include "runtime/runtime.hpp"

namespace heed {
namespace {

kernels::Regression checked(const TensorView& x_query, const TensorView& x_train,
                            const TensorView& y_train, const TensorView& bandwidth) {
  ops::require_dtype("x_query", x_query, DType::kFloat32);
  const int rank = x_query.shape().rank();
  if (rank != 1 && rank != 2) ops::refuse<ShapeError>("x_query", "rank 1 or 2", x_query.shape());
  const std::int64_t F = rank == 1 ? 1 : x_query.shape()[1];
  ops::require_floats("x_train", x_train, rank);
  const std::int64_t N = x_train.shape()[0];
  if (rank == 2) ops::require_shape("x_train", x_train, {N, F});
  ops::require_floats("y_train", y_train, 2);
  const std::int64_t M = y_train.shape()[1];
  ops::require_shape("y_train", y_train, {N, M});
  ops::require_floats("bandwidth", bandwidth, Shape{1});
  const auto h = static_cast<double>(bandwidth.data<float>()[0]);
  ops::require_positive("bandwidth", h);
  return {
      .query = x_query.data<float>().data(),
      .train = x_train.data<float>().data(),
      .y = y_train.data<float>().data(),
      .queries = x_query.shape()[0],
      .points = N,
      .features = F,
      .values = M,
      .bandwidth = h,
  };
}

}  // namespace

KernelRegressionResult kernel_regression(Context& context, const TensorView& x_query,
                                         const TensorView& x_train, const TensorView& y_train,
                                         const TensorView& bandwidth) {
  const kernels::Regression p = checked(x_query, x_train, y_train, bandwidth);
  KernelRegressionResult result{Tensor(Shape{p.queries, p.values}),
                                Tensor(Shape{p.queries, p.points})};
  if (p.points == 0) {
    std::ranges::fill(result.output.data(), 0.0f);
    return result;
  }
  Context::Runtime& runtime = context.runtime();
  Arena::Scope scratch(runtime.arena());
  const std::int64_t size = p.points + p.values;
  double* const own = scratch.take<double>(size * runtime.pool().threads());
  float* const weights = result.weights.data().data();
  float* const output = result.output.data().data();
  const double operations =
      static_cast<double>(p.queries * p.points) * static_cast<double>(p.features + p.values + 20);
  runtime.pool().run(p.queries, operations, [&](std::int64_t i, int thread) {
    runtime.kernels().attention.kernel_regression(p, i, own + thread * size, weights + i * p.points,
                                                  output + i * p.values);
  });
  return result;
}

KernelRegressionGradients kernel_regression_backward(Context& context, const TensorView& d_output,
                                                     const TensorView& x_query,
                                                     const TensorView& x_train,
                                                     const TensorView& y_train,
                                                     const TensorView& bandwidth,
                                                     const TensorView& weights) {
  const kernels::Regression p = checked(x_query, x_train, y_train, bandwidth);
  ops::require_floats("d_output", d_output, Shape{p.queries, p.values});
  ops::require_floats("weights", weights, Shape{p.queries, p.points});
  KernelRegressionGradients result{Tensor(x_query.shape()), Tensor(x_train.shape()),
                                   Tensor(y_train.shape()), Tensor(bandwidth.shape())};
  if (p.points == 0) {
    std::ranges::fill(result.x_query.data(), 0.0f);
    std::ranges::fill(result.bandwidth.data(), 0.0f);
    return result;
  }
  Arena::Scope scratch(context.runtime().arena());
  context.runtime().kernels().attention.kernel_regression_backward(
      p, {
             .d_output = d_output.data<float>().data(),
             .weights = weights.data<float>().data(),
             .scratch = scratch.take<double>(p.points + p.features + p.points * p.features +
                                             p.points * p.values),
             .query = result.x_query.data().data(),
             .train = result.x_train.data().data(),
             .y = result.y_train.data().data(),
             .bandwidth = result.bandwidth.data().data(),
         });
  return result;
}

}  // namespace heed
