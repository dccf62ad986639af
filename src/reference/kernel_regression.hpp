#pragma once

// Kernel regression with a Gaussian kernel of bandwidth h:
//   y_i = sum_j P_ij y_train_j,  P = softmax_j(s),  s_ij = -|x_i - x_train_j|^2 / (2 h^2).
// Nadaraya, "On Estimating Regression", 1964; Watson, "Smooth Regression Analysis", 1964.
//
//   x_query [Q] or [Q, F]    x_train [N] or [N, F]    y_train [N, M]    bandwidth [1]
//   -> output [Q, M], weights [Q, N].
//
// Backward, to the scores:
//   ds = P (dP - sum_j P dP),  dP = dY y_train^T,  dy_train = P^T dY.
// From the scores to the points:
//   dx_i = -sum_j ds (x_i - x_train_j) / h^2,  dx_train_j = sum_i ds (x_i - x_train_j) / h^2.
// From the scores to the bandwidth:
//   dh = sum_ij ds |x_i - x_train_j|^2 / h^3.

#include <cstdint>

#include "heed/attention_pooling.hpp"
#include "reference/arithmetic.hpp"
#include "reference/array.hpp"
#include "reference/softmax.hpp"

namespace heed::reference {

inline WeightedResult kernel_regression(const Array& x_query, const Array& x_train,
                                        const Array& y_train, const Array& bandwidth) {
  const std::int64_t Q = x_query.shape[0], N = x_train.shape[0];
  const std::int64_t F = x_query.shape.rank() == 1 ? 1 : x_query.shape[1];
  Array scores(Shape{Q, N});
  for (std::int64_t i = 0; i < Q; ++i)
    for (std::int64_t j = 0; j < N; ++j)
      for (std::int64_t f = 0; f < F; ++f) {
        const double d = x_query[i * F + f] - x_train[j * F + f];
        scores[i * N + j] -= d * d / (2.0 * bandwidth[0] * bandwidth[0]);
      }
  const Array weights = softmax(scores);
  return {matmul(weights, y_train, false, false), weights};
}

struct KernelRegressionGradients {
  Array x_query, x_train, y_train, bandwidth;
};

inline KernelRegressionGradients kernel_regression_backward(
    const Array& d_output, const Array& x_query, const Array& x_train, const Array& y_train,
    const Array& bandwidth, const Array& weights) {
  const std::int64_t Q = x_query.shape[0], N = x_train.shape[0];
  const std::int64_t F = x_query.shape.rank() == 1 ? 1 : x_query.shape[1];
  const Array d_scores = softmax_backward(matmul(d_output, y_train, false, true), weights);
  const double h = bandwidth[0];
  KernelRegressionGradients result{Array(x_query.shape), Array(x_train.shape),
                                   matmul(weights, d_output, true, false), Array(bandwidth.shape)};
  for (std::int64_t i = 0; i < Q; ++i)
    for (std::int64_t j = 0; j < N; ++j)
      for (std::int64_t f = 0; f < F; ++f) {
        const double d_score = d_scores[i * N + j];
        const double d = x_query[i * F + f] - x_train[j * F + f];
        result.x_query[i * F + f] -= d_score * d / (h * h);
        result.x_train[j * F + f] += d_score * d / (h * h);
        result.bandwidth[0] += d_score * d * d / (h * h * h);
      }
  return result;
}

}  // namespace heed::reference
