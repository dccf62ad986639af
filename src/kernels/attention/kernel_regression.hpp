#pragma once

// Kernel regression (Nadaraya, 1964; Watson, 1964) with a Gaussian kernel:
//   w_ij = softmax_j(-|x_i - t_j|^2 / (2 h^2)),  o_i = sum_j w_ij y_j.
// Computed in double, because with a small bandwidth h the weights depend on small differences of
// large numbers.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/elementary.hpp"

namespace heed::kernels {

/// A kernel regression.
struct Regression {
  const float* query;  // [queries, features]
  const float* train;  // [points, features]
  const float* y;      // [points, values]
  std::int64_t queries;
  std::int64_t points;
  std::int64_t features;
  std::int64_t values;
  double bandwidth;
};

/// The arguments and results of the backward pass of a kernel regression.
struct RegressionGradients {
  const float* d_output;  // [queries, values]
  const float* weights;   // [queries, points]
  double* scratch;        // [points + features + points features + points values]
  float* query;           // [queries, features]
  float* train;           // [points, features]
  float* y;               // [points, values]
  float* bandwidth;
};

template <class Isa>
double squared_distance(const Regression& p, std::int64_t i, std::int64_t j) noexcept {
  double sum = 0.0;
  for (std::int64_t f = 0; f < p.features; ++f) {
    const double difference = static_cast<double>(p.query[i * p.features + f]) -
                              static_cast<double>(p.train[j * p.features + f]);
    sum += difference * difference;
  }
  return sum;
}

/// Output and weights of query i.
template <class Isa>
void kernel_regression(const Regression& p, std::int64_t i, double* scratch, float* weights,
                       float* output) noexcept {
  double* const w = scratch;
  double* const o = scratch + p.points;
  double nearest = std::numeric_limits<double>::infinity();
  for (std::int64_t j = 0; j < p.points; ++j) {
    w[j] = squared_distance<Isa>(p, i, j);
    nearest = std::min(nearest, w[j]);
  }
  double sum = 0.0;
  std::fill_n(o, p.values, 0.0);
  for (std::int64_t j = 0; j < p.points; ++j) {
    w[j] = exponential((nearest - w[j]) / (2.0 * p.bandwidth * p.bandwidth));
    sum += w[j];
  }
  for (std::int64_t j = 0; j < p.points; ++j) {
    w[j] /= sum;
    weights[j] = static_cast<float>(w[j]);
    for (std::int64_t m = 0; m < p.values; ++m)
      o[m] += w[j] * static_cast<double>(p.y[j * p.values + m]);
  }
  for (std::int64_t m = 0; m < p.values; ++m) output[m] = static_cast<float>(o[m]);
}

template <class Isa>
void kernel_regression_backward(const Regression& p, const RegressionGradients& g) noexcept {
  const std::int64_t N = p.points, F = p.features, M = p.values;
  double* const d_weights = g.scratch;
  double* const d_query = d_weights + N;
  double* const d_train = d_query + F;
  double* const d_y = d_train + N * F;
  std::fill_n(d_train, N * F, 0.0);
  std::fill_n(d_y, N * M, 0.0);
  double d_bandwidth = 0.0;
  const double inverse = 1.0 / (p.bandwidth * p.bandwidth);
  for (std::int64_t i = 0; i < p.queries; ++i) {
    const float* const d_o = g.d_output + i * M;
    const float* const w = g.weights + i * N;
    double mean = 0.0;
    for (std::int64_t j = 0; j < N; ++j) {
      const auto weight = static_cast<double>(w[j]);
      d_weights[j] = 0.0;
      for (std::int64_t m = 0; m < M; ++m) {
        const auto gradient = static_cast<double>(d_o[m]);
        d_weights[j] += gradient * static_cast<double>(p.y[j * M + m]);
        d_y[j * M + m] += weight * gradient;
      }
      mean += weight * d_weights[j];
    }
    std::fill_n(d_query, F, 0.0);
    for (std::int64_t j = 0; j < N; ++j) {
      const double d_score = static_cast<double>(w[j]) * (d_weights[j] - mean);
      d_bandwidth += d_score * squared_distance<Isa>(p, i, j) * inverse / p.bandwidth;
      for (std::int64_t f = 0; f < F; ++f) {
        const double difference =
            static_cast<double>(p.query[i * F + f]) - static_cast<double>(p.train[j * F + f]);
        const double d_difference = d_score * difference * inverse;
        d_query[f] -= d_difference;
        d_train[j * F + f] += d_difference;
      }
    }
    for (std::int64_t f = 0; f < F; ++f) g.query[i * F + f] = static_cast<float>(d_query[f]);
  }
  for (std::int64_t n = 0; n < N * F; ++n) g.train[n] = static_cast<float>(d_train[n]);
  for (std::int64_t n = 0; n < N * M; ++n) g.y[n] = static_cast<float>(d_y[n]);
  *g.bandwidth = static_cast<float>(d_bandwidth);
}

}  // namespace heed::kernels
