#include <limits>
#include <string>

#include "heed/layers.hpp"
#include "ops/parallel_for.hpp"
#include "ops/validate.hpp"

namespace heed {
namespace {

/// Operations for each number.
constexpr double kLossOperations = 20.0;

/// The arguments, checked.
struct LossProblem : kernels::LossRows {
  std::int64_t counted = 0;  // rows that are not ignored
  Reduction reduction;
  Shape loss;

  LossProblem(const TensorView& x, const TensorView& y, const CrossEntropyOptions& options)
      : reduction(options.reduction) {
    ignored = options.ignore_index ? &*options.ignore_index : nullptr;
    smoothing = options.label_smoothing;
    ops::require_dtype("logits", x, DType::kFloat32);
    ops::require_dtype("targets", y, DType::kInt32);
    if (x.shape().rank() < 1) ops::refuse<ShapeError>("logits", "rank 1 or more", x.shape());
    ops::require_shape("targets", y, x.shape().without_last());
    if (!(smoothing >= 0.0 && smoothing <= 1.0))
      ops::refuse<OptionError>("label_smoothing", "a number from 0 to 1", smoothing);
    logits = x.data<float>().data();
    targets = y.data<std::int32_t>().data();
    rows = y.shape().elements();
    classes = x.shape()[-1];
    for (std::int64_t row = 0; row < rows; ++row) {
      if (is_ignored(row)) continue;
      if (targets[row] < 0 || targets[row] >= classes)
        ops::refuse<OptionError>("targets", {"numbers from 0 to below ", classes}, targets[row]);
      ++counted;
    }
    if (reduction == Reduction::kNone) loss = y.shape();
  }

  /// Calls part(row, count) for some rows at a time.
  template <class Part>
  void for_rows(Context::Runtime& runtime, const Part& part) const {
    ops::parallel_for(runtime, rows, ops::piece_rows(classes),
                      kLossOperations * static_cast<double>(classes), part);
  }
};

}  // namespace

Tensor cross_entropy(Context& context, const TensorView& logits, const TensorView& targets,
                     const CrossEntropyOptions& options) {
  const LossProblem r(logits, targets, options);
  Tensor result(r.loss);
  Context::Runtime& runtime = context.runtime();
  Arena::Scope scratch(runtime.arena());
  auto* const sums = scratch.take<kernels::RowSums>(r.rows);
  r.for_rows(runtime, [&](std::int64_t first, std::int64_t count) {
    runtime.kernels().layers.softmax_sums(r.logits + first * r.classes, count, r.classes,
                                          sums + first);
  });
  float* const out = result.data().data();
  const bool is_reduced = r.reduction != Reduction::kNone;
  double sum = runtime.kernels().training.cross_entropy(r, sums, is_reduced ? nullptr : out);
  if (!is_reduced) return result;
  if (r.reduction == Reduction::kMean)
    sum = r.counted > 0 ? sum / static_cast<double>(r.counted)
                        : std::numeric_limits<double>::quiet_NaN();
  *out = static_cast<float>(sum);
  return result;
}

Tensor cross_entropy_backward(Context& context, const TensorView& d_loss, const TensorView& logits,
                              const TensorView& targets, const CrossEntropyOptions& options) {
  const LossProblem r(logits, targets, options);
  ops::require_floats("d_loss", d_loss, r.loss);
  Tensor d_logits(logits.shape());
  const bool is_reduced = r.reduction != Reduction::kNone;
  const float* const given = d_loss.data<float>().data();
  const float shared_factor = !is_reduced ? 0.0f
                              : r.reduction == Reduction::kMean
                                  ? *given / static_cast<float>(r.counted)
                                  : *given;
  const float* const factors = is_reduced ? &shared_factor : given;
  float* const to = d_logits.data().data();
  Context::Runtime& runtime = context.runtime();
  r.for_rows(runtime, [&](std::int64_t first, std::int64_t count) {
    runtime.kernels().layers.softmax(r.logits + first * r.classes, count, r.classes,
                                     to + first * r.classes);
    runtime.kernels().training.cross_entropy_backward(r, first, first + count, factors, is_reduced,
                                                      to);
  });
  return d_logits;
}

}  // namespace heed
