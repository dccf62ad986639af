#include <algorithm>
#include <cmath>
#include <span>

#include "heed/layers.hpp"
#include "kernels/elementary.hpp"
#include "ops/parallel_for.hpp"
#include "ops/validate.hpp"

namespace heed {
namespace {

/// Operations for each number: an exponential and its sum, and a product.
constexpr double kSoftmaxOperations = 20.0;
constexpr double kSoftmaxBackwardOperations = 6.0;

void require_rows(const char* argument, const TensorView& x) {
  ops::require_dtype(argument, x, DType::kFloat32);
  if (x.shape().rank() < 1) ops::refuse<ShapeError>(argument, "rank 1 or more", x.shape());
}

/// The logarithm of a row's sum of exponentials. If the maximum is infinite, `exponentials` is not
/// meaningful, so the result is the maximum, or NaN if the row has one.
float log_of_sum(const kernels::RowSums& sums, std::span<const float> row) {
  const auto is_nan = [](float number) { return std::isnan(number); };
  if (std::isinf(sums.maximum) && std::ranges::none_of(row, is_nan)) return sums.maximum;
  return static_cast<float>(sums.maximum + kernels::logarithm(sums.exponentials));
}

}  // namespace

Tensor softmax(Context& context, const TensorView& x) {
  require_rows("x", x);
  Tensor y(x.shape());
  const std::int64_t columns = x.shape()[-1];
  if (columns == 0) return y;
  Context::Runtime& runtime = context.runtime();
  const float* const from = x.data<float>().data();
  float* const to = y.data().data();
  ops::parallel_for(
      runtime, x.shape().elements() / columns, ops::piece_rows(columns),
      kSoftmaxOperations * static_cast<double>(columns), [&](std::int64_t row, std::int64_t count) {
        runtime.kernels().layers.softmax(from + row * columns, count, columns, to + row * columns);
      });
  return y;
}

Tensor softmax_backward(Context& context, const TensorView& d_output, const TensorView& output) {
  require_rows("output", output);
  ops::require_floats("d_output", d_output, output.shape());
  Tensor d_x(output.shape());
  const std::int64_t columns = output.shape()[-1];
  if (columns == 0) return d_x;
  Context::Runtime& runtime = context.runtime();
  const float* const d_y = d_output.data<float>().data();
  const float* const y = output.data<float>().data();
  float* const to = d_x.data().data();
  ops::parallel_for(runtime, output.shape().elements() / columns, ops::piece_rows(columns),
                    kSoftmaxBackwardOperations * static_cast<double>(columns),
                    [&](std::int64_t row, std::int64_t count) {
                      const std::int64_t at = row * columns;
                      runtime.kernels().layers.softmax_backward(d_y + at, y + at, count, columns,
                                                                to + at);
                    });
  return d_x;
}

Tensor logsumexp(Context& context, const TensorView& x) {
  require_rows("x", x);
  const std::int64_t columns = x.shape()[-1];
  Tensor y(x.shape().without_last());
  Context::Runtime& runtime = context.runtime();
  const float* const from = x.data<float>().data();
  float* const to = y.data().data();
  ops::parallel_for(runtime, y.shape().elements(), ops::piece_rows(columns),
                    kSoftmaxOperations * static_cast<double>(columns),
                    [&](std::int64_t first, std::int64_t count) {
                      for (std::int64_t row = first; row < first + count; ++row) {
                        const float* const numbers = from + row * columns;
                        kernels::RowSums sums;
                        runtime.kernels().layers.softmax_sums(numbers, 1, columns, &sums);
                        to[row] = log_of_sum(sums, {numbers, static_cast<std::size_t>(columns)});
                      }
                    });
  return y;
}

}  // namespace heed
