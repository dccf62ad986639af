#pragma once

// Steps of optimisers. They change the parameter p and the optimiser's arrays in place.
//   SGD    g += wd p;   b = g at first, then momentum b + (1 - dampening) g.
//   Then   p -= lr b, or lr (g + momentum b) with Nesterov momentum (Sutskever et al., 2013).
//   Adam   g += wd p;   m = beta1 m + (1 - beta1) g;   v = beta2 v + (1 - beta2) g^2.
//   Then   p -= lr (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps).
//          Kingma and Ba, algorithm 1, 2015; eps is added where torch adds it.
//   AdamW  As Adam, with p -= lr wd p instead of g += wd p.
//          Loshchilov and Hutter, algorithm 2, 2019.
//   Clip   g *= min(1, most / (|g| + 1e-6)), |g| over all arrays. Pascanu et al., 2013.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "heed/optim.hpp"
#include "reference/array.hpp"

namespace heed::reference {

inline void sgd_step(Array& parameter, const Array& gradient, Array& buffer, bool is_first,
                     const SgdOptions& options) {
  for (std::size_t i = 0; i < parameter.values.size(); ++i) {
    double& p = parameter.values[i];
    double& b = buffer.values[i];
    const double g = gradient.values[i] + options.weight_decay * p;
    b = is_first ? g : options.momentum * b + (1.0 - options.dampening) * g;
    if (options.momentum == 0.0) b = g;
    p -= options.learning_rate * (options.nesterov ? g + options.momentum * b : b);
  }
}

inline void adam_step(Array& parameter, const Array& gradient, Array& average,
                      Array& average_of_squares, std::int64_t step, const AdamOptions& options) {
  const auto t = static_cast<double>(step);
  for (std::size_t i = 0; i < parameter.values.size(); ++i) {
    double& p = parameter.values[i];
    double& m = average.values[i];
    double& v = average_of_squares.values[i];
    double g = gradient.values[i];
    if (options.is_decoupled)
      p -= options.learning_rate * options.weight_decay * p;
    else
      g += options.weight_decay * p;
    m = options.beta1 * m + (1.0 - options.beta1) * g;
    v = options.beta2 * v + (1.0 - options.beta2) * g * g;
    const double mean = m / (1.0 - std::pow(options.beta1, t));
    const double deviation = std::sqrt(v / (1.0 - std::pow(options.beta2, t)));
    p -= options.learning_rate * mean / (deviation + options.eps);
  }
}

inline double clip_gradients(std::vector<Array>& gradients, double max_norm) {
  double sum = 0.0;
  for (const Array& gradient : gradients)
    for (const double g : gradient.values) sum += g * g;
  const double norm = std::sqrt(sum);
  for (Array& gradient : gradients)
    for (double& g : gradient.values) g *= std::min(1.0, max_norm / (norm + 1e-6));
  return norm;
}

}  // namespace heed::reference
