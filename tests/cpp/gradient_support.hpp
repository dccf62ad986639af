#pragma once

// Compares the gradients of a reference with central differences.

#include <cmath>
#include <cstdint>
#include <string>

#include "support.hpp"

namespace heed::test {

/// Whether d_x is the gradient of the sum of d_y f(x) with respect to x, where f(x) has the shape
/// of d_y. In double precision with steps of 1e-5, the error of the quotient is about 1e-10 times
/// the third derivative plus 1e-11 times the numbers.
template <class Function>
testing::AssertionResult is_gradient(const reference::Array& d_x, reference::Array x,
                                     const reference::Array& d_y, const Function& f,
                                     double limit = 1e-7) {
  if (d_x.shape != x.shape)
    return testing::AssertionFailure()
           << "got shape " << to_string(d_x.shape) << ", want " << to_string(x.shape);
  constexpr double kStep = 1e-5;
  const auto loss = [&] {
    const reference::Array y = f(x);
    double sum = 0.0;
    for (std::int64_t i = 0; i < d_y.shape.elements(); ++i) sum += d_y[i] * y[i];
    return sum;
  };
  for (std::int64_t i = 0; i < x.shape.elements(); ++i) {
    const double middle = x[i];
    x[i] = middle + kStep;
    const double above = loss();
    x[i] = middle - kStep;
    const double below = loss();
    x[i] = middle;
    const double want = (above - below) / (2.0 * kStep);
    if (!(std::abs(d_x[i] - want) <= limit * (1.0 + std::abs(want))))
      return testing::AssertionFailure() << "at " << coordinates(i, x.shape) << ": got " << d_x[i]
                                         << ", differences give " << want;
  }
  return testing::AssertionSuccess();
}

}  // namespace heed::test
