#include <cmath>
#include <limits>
#include <string>

#include "heed/layers.hpp"
#include "ops/share.hpp"

namespace heed {
namespace {

/// Operations for each number.
constexpr double kOperations = 20.0;

/// The arguments, checked.
struct Rows {
  const float* logits;
  const std::int32_t* targets;
  std::int64_t rows;
  std::int64_t classes;
  std::int64_t counted = 0;  // that are not ignored
  std::optional<std::int32_t> ignored;
  double smoothing;
  Reduction reduction;
  Shape loss;

  Rows(const TensorView& x, const TensorView& y, const CrossEntropyOptions& options)
      : ignored(options.ignore_index),
        smoothing(options.label_smoothing),
        reduction(options.reduction) {
    ops::require_dtype("logits", x, DType::kFloat32);
    ops::require_dtype("targets", y, DType::kInt32);
    if (x.shape().rank() < 1) throw ShapeError("logits", "rank 1 or more", to_string(x.shape()));
    ops::require_shape(
        "targets", y,
        Shape(x.shape().sizes().first(static_cast<std::size_t>(x.shape().rank()) - 1)));
    if (!(smoothing >= 0.0 && smoothing <= 1.0))
      throw OptionError("label_smoothing", "a number from 0 to 1", std::to_string(smoothing));
    logits = x.data<float>().data();
    targets = y.data<std::int32_t>().data();
    rows = y.shape().elements();
    classes = x.shape()[-1];
    for (std::int64_t row = 0; row < rows; ++row) {
      if (is_ignored(row)) continue;
      if (targets[row] < 0 || targets[row] >= classes)
        throw OptionError("targets", "numbers from 0 to below " + std::to_string(classes),
                          std::to_string(targets[row]));
      ++counted;
    }
    if (reduction == Reduction::kNone) loss = y.shape();
  }

  bool is_ignored(std::int64_t row) const { return ignored && targets[row] == *ignored; }

  /// Calls part(row, count) for some rows at a time.
  template <class Part>
  void for_rows(Context::Runtime& runtime, const Part& part) const {
    ops::share(runtime, rows, ops::piece_rows(classes), kOperations * static_cast<double>(classes),
               part);
  }

  /// (1 - e) (log sum_c exp(x_c) - x[target]) + e (log sum_c exp(x_c) - mean(x))
  double loss_of(std::int64_t row, const kernels::RowSums& sums) const {
    double result = std::log(sums.powers);
    if (smoothing < 1.0)
      result += (1.0 - smoothing) *
                (static_cast<double>(sums.maximum) - logits[row * classes + targets[row]]);
    if (smoothing > 0.0) result -= smoothing * sums.differences / static_cast<double>(classes);
    return result;
  }
};

}  // namespace

Tensor cross_entropy(Context& context, const TensorView& logits, const TensorView& targets,
                     const CrossEntropyOptions& options) {
  const Rows r(logits, targets, options);
  Tensor result(r.loss);
  Context::Runtime& runtime = context.runtime();
  Arena::Scope scratch(runtime.arena());
  auto* const sums = scratch.take<kernels::RowSums>(r.rows);
  r.for_rows(runtime, [&](std::int64_t first, std::int64_t count) {
    runtime.kernels().layers.softmax_sums(r.logits + first * r.classes, count, r.classes,
                                          sums + first);
  });
  const auto loss_of = [&](std::int64_t row) {
    return r.is_ignored(row) ? 0.0 : r.loss_of(row, sums[row]);
  };
  float* const out = result.data().data();
  if (r.reduction == Reduction::kNone) {
    for (std::int64_t row = 0; row < r.rows; ++row) out[row] = static_cast<float>(loss_of(row));
    return result;
  }
  double sum = 0.0;
  for (std::int64_t row = 0; row < r.rows; ++row) sum += loss_of(row);
  if (r.reduction == Reduction::kMean)
    sum = r.counted > 0 ? sum / static_cast<double>(r.counted)
                        : std::numeric_limits<double>::quiet_NaN();
  *out = static_cast<float>(sum);
  return result;
}

Tensor cross_entropy_backward(Context& context, const TensorView& d_loss, const TensorView& logits,
                              const TensorView& targets, const CrossEntropyOptions& options) {
  const Rows r(logits, targets, options);
  ops::require_floats("d_loss", d_loss, r.loss);
  Tensor d_logits(logits.shape());
  const float* const given = d_loss.data<float>().data();
  float* const to = d_logits.data().data();
  Context::Runtime& runtime = context.runtime();
  // Of the loss of a row: softmax(x) - e / C, and 1 - e less for the target.
  const auto share = static_cast<float>(r.smoothing / static_cast<double>(r.classes));
  const auto target_share = static_cast<float>(1.0 - r.smoothing);
  r.for_rows(runtime, [&](std::int64_t first, std::int64_t count) {
    runtime.kernels().layers.softmax(r.logits + first * r.classes, count, r.classes,
                                     to + first * r.classes);
    for (std::int64_t row = first; row < first + count; ++row) {
      float* const d = to + row * r.classes;
      if (r.is_ignored(row)) {
        std::fill_n(d, r.classes, 0.0f);
        continue;
      }
      const float factor = r.reduction == Reduction::kNone ? given[row]
                           : r.reduction == Reduction::kMean
                               ? *given / static_cast<float>(r.counted)
                               : *given;
      d[r.targets[row]] -= target_share;
      for (std::int64_t c = 0; c < r.classes; ++c) d[c] = (d[c] - share) * factor;
    }
  });
  return d_logits;
}

}  // namespace heed
