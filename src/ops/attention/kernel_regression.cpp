#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/origins.hpp"
#include "ops/validate.hpp"
#include "runtime/runtime.hpp"

// In double throughout: where the bandwidth is narrow, differences of large numbers decide.

namespace heed {
namespace {

/// The arguments, checked.
struct Problem {
  Problem(const TensorView& x_query, const TensorView& x_train, const TensorView& y_train,
          const TensorView& bandwidth) {
    ops::require_dtype("x_query", x_query, DType::kFloat32);
    const int rank = x_query.shape().rank();
    if (rank != 1 && rank != 2)
      throw ShapeError("x_query", "rank 1 or 2", to_string(x_query.shape()));
    Q = x_query.shape()[0];
    F = rank == 1 ? 1 : x_query.shape()[1];
    ops::require_floats("x_train", x_train, rank);
    N = x_train.shape()[0];
    if (rank == 2) ops::require_shape("x_train", x_train, {N, F});
    ops::require_floats("y_train", y_train, 2);
    M = y_train.shape()[1];
    ops::require_shape("y_train", y_train, {N, M});
    ops::require_floats("bandwidth", bandwidth, Shape{1});
    h = static_cast<double>(bandwidth.data<float>()[0]);
    if (!(h > 0.0) || !std::isfinite(h))
      throw OptionError("bandwidth", "a positive number", std::to_string(h));
    query = x_query.data<float>().data();
    train = x_train.data<float>().data();
    y = y_train.data<float>().data();
  }

  double difference(std::int64_t i, std::int64_t j, std::int64_t f) const {
    return static_cast<double>(query[i * F + f]) - static_cast<double>(train[j * F + f]);
  }
  double squared_distance(std::int64_t i, std::int64_t j) const {
    double sum = 0.0;
    for (std::int64_t f = 0; f < F; ++f) sum += difference(i, j, f) * difference(i, j, f);
    return sum;
  }
  bool alone() const {
    return static_cast<double>(Q * N) * static_cast<double>(F + M + 20) < ops::kWorthSharing;
  }

  std::int64_t Q, F, N, M;
  double h;
  const float* query;
  const float* train;
  const float* y;
};

void write(const double* numbers, Tensor& to) {
  for (float& number : to.data()) number = static_cast<float>(*numbers++);
}

}  // namespace

KernelRegressionResult kernel_regression(Context& context, const TensorView& x_query,
                                         const TensorView& x_train, const TensorView& y_train,
                                         const TensorView& bandwidth) {
  const Problem p(x_query, x_train, y_train, bandwidth);
  KernelRegressionResult result{Tensor(Shape{p.Q, p.M}), Tensor(Shape{p.Q, p.N})};
  if (p.N == 0) {
    std::ranges::fill(result.output.data(), 0.0f);
    return result;
  }
  Context::Runtime& runtime = context.runtime();
  Arena::Scope scratch(runtime.arena());
  const std::int64_t own_size = p.N + p.M;
  double* const own = scratch.take<double>(own_size * runtime.pool().threads());
  float* const weights = result.weights.data().data();
  float* const output = result.output.data().data();
  runtime.pool().run(p.Q, p.alone(), [&](std::int64_t i, int thread) {
    double* const w = own + thread * own_size;
    double* const o = w + p.N;
    double least = std::numeric_limits<double>::infinity();
    for (std::int64_t j = 0; j < p.N; ++j) {
      w[j] = p.squared_distance(i, j);
      least = std::min(least, w[j]);
    }
    double sum = 0.0;
    std::fill_n(o, p.M, 0.0);
    for (std::int64_t j = 0; j < p.N; ++j) {
      w[j] = std::exp((least - w[j]) / (2.0 * p.h * p.h));
      sum += w[j];
    }
    for (std::int64_t j = 0; j < p.N; ++j) {
      w[j] /= sum;
      weights[i * p.N + j] = static_cast<float>(w[j]);
      for (std::int64_t m = 0; m < p.M; ++m) o[m] += w[j] * static_cast<double>(p.y[j * p.M + m]);
    }
    for (std::int64_t m = 0; m < p.M; ++m) output[i * p.M + m] = static_cast<float>(o[m]);
  });
  return result;
}

KernelRegressionGradients kernel_regression_backward(Context& context, const TensorView& d_output,
                                                     const TensorView& x_query,
                                                     const TensorView& x_train,
                                                     const TensorView& y_train,
                                                     const TensorView& bandwidth,
                                                     const TensorView& weights) {
  const Problem p(x_query, x_train, y_train, bandwidth);
  ops::require_floats("d_output", d_output, Shape{p.Q, p.M});
  ops::require_floats("weights", weights, Shape{p.Q, p.N});
  KernelRegressionGradients result{Tensor(x_query.shape()), Tensor(x_train.shape()),
                                   Tensor(y_train.shape()), Tensor(bandwidth.shape())};
  if (p.N == 0) {
    std::ranges::fill(result.x_query.data(), 0.0f);
    std::ranges::fill(result.bandwidth.data(), 0.0f);
    return result;
  }
  Arena::Scope scratch(context.runtime().arena());
  double* const d_weights = scratch.take<double>(p.N);
  double* const d_query = scratch.take<double>(p.F);
  double* const d_train = scratch.take<double>(p.N * p.F);
  double* const d_y = scratch.take<double>(p.N * p.M);
  std::fill_n(d_train, p.N * p.F, 0.0);
  std::fill_n(d_y, p.N * p.M, 0.0);
  double d_bandwidth = 0.0;
  const double inverse = 1.0 / (p.h * p.h);
  for (std::int64_t i = 0; i < p.Q; ++i) {
    const float* const d_o = d_output.data<float>().data() + i * p.M;
    const float* const w = weights.data<float>().data() + i * p.N;
    double mean = 0.0;
    for (std::int64_t j = 0; j < p.N; ++j) {
      const auto weight = static_cast<double>(w[j]);
      d_weights[j] = 0.0;
      for (std::int64_t m = 0; m < p.M; ++m) {
        const auto gradient = static_cast<double>(d_o[m]);
        d_weights[j] += gradient * static_cast<double>(p.y[j * p.M + m]);
        d_y[j * p.M + m] += weight * gradient;
      }
      mean += weight * d_weights[j];
    }
    std::fill_n(d_query, p.F, 0.0);
    for (std::int64_t j = 0; j < p.N; ++j) {
      const double d_score = static_cast<double>(w[j]) * (d_weights[j] - mean);
      d_bandwidth += d_score * p.squared_distance(i, j) * inverse / p.h;
      for (std::int64_t f = 0; f < p.F; ++f) {
        const double pull = d_score * p.difference(i, j, f) * inverse;
        d_query[f] -= pull;
        d_train[j * p.F + f] += pull;
      }
    }
    for (std::int64_t f = 0; f < p.F; ++f)
      result.x_query.data().data()[i * p.F + f] = static_cast<float>(d_query[f]);
  }
  write(d_train, result.x_train);
  write(d_y, result.y_train);
  write(&d_bandwidth, result.bandwidth);
  return result;
}

}  // namespace heed
