#pragma once

// The cross-entropy of each row is (1 - e) (-log p[target]) + e mean_c(-log p[c]),
// p = softmax(logits). Label smoothing: Szegedy et al., "Rethinking the Inception Architecture",
// section 7, 2016.
//
//   logits [..., C]    targets int32 [...]    -> [...], or [] for the mean or the sum

#include <cstdint>

#include "heed/layers.hpp"
#include "reference/array.hpp"
#include "reference/softmax.hpp"

namespace heed::reference {

inline bool is_ignored(std::int32_t target, const CrossEntropyOptions& options) {
  return options.ignore_index && target == *options.ignore_index;
}

/// The divisor of the loss of each row.
inline double divisor(const TensorView& targets, const CrossEntropyOptions& options) {
  if (options.reduction != Reduction::kMean) return 1.0;
  double counted = 0.0;
  for (const std::int32_t target : targets.data<std::int32_t>())
    counted += is_ignored(target, options) ? 0.0 : 1.0;
  return counted;
}

inline Array cross_entropy(const Array& logits, const TensorView& targets,
                           const CrossEntropyOptions& options) {
  const std::int64_t C = logits.shape[-1];
  const double e = static_cast<double>(options.label_smoothing);
  const bool is_whole = options.reduction != Reduction::kNone;
  const Array log_sums = logsumexp(logits);
  Array loss(is_whole ? Shape{} : targets.shape());
  std::int64_t row = 0;
  for (const std::int32_t target : targets.data<std::int32_t>()) {
    const double* const x = logits.from(row * C);
    if (!is_ignored(target, options)) {
      double smooth = 0.0;
      for (std::int64_t c = 0; c < C; ++c)
        smooth += (log_sums[row] - x[c]) / static_cast<double>(C);
      loss[is_whole ? 0 : row] +=
          (1.0 - e) * (log_sums[row] - x[target]) + (e > 0.0 ? e * smooth : 0.0);
    }
    ++row;
  }
  if (is_whole) loss[0] /= divisor(targets, options);
  return loss;
}

/// dx[c] = dloss (p[c] - (1 - e) [c is the target] - e / C), divided as the loss is.
inline Array cross_entropy_backward(const Array& d_loss, const Array& logits,
                                    const TensorView& targets, const CrossEntropyOptions& options) {
  const std::int64_t C = logits.shape[-1];
  const double e = static_cast<double>(options.label_smoothing);
  const double count = divisor(targets, options);
  Array d = softmax(logits);
  std::int64_t row = 0;
  for (const std::int32_t target : targets.data<std::int32_t>()) {
    const double factor = d_loss[options.reduction == Reduction::kNone ? row : 0] / count;
    for (std::int64_t c = 0; c < C; ++c) {
      double& to = d[row * C + c];
      to -= e / static_cast<double>(C) + (c == target ? 1.0 - e : 0.0);
      to = is_ignored(target, options) ? 0.0 : to * factor;
    }
    ++row;
  }
  return d;
}

}  // namespace heed::reference
